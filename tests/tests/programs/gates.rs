//! A gate of one kernel under two conditions: by events, by a budget, with few runs.

use pathmeter_e2e::{Run, Scene, debian};
use serde_json::Value;

use super::program;

/// Calls of getppid in tests/programs/processes.c, and page tables switched in one.
const SWITCHES: u64 = 28 * 2;

/// `run --check` of a program under these two conditions, three later runs of it.
fn checked(scene: &Scene, conditions: [&str; 2], gate: &[&str]) -> Run {
    let [base, new] = conditions;
    let cloud = debian("cloud");
    let options = ["--under", base, "--under", new, "--perturb", "3", "--json"];
    scene.run(&[&["run", &cloud], &options[..], gate, &["--", &program("processes")]].concat())
}

/// The reasons of a document, for this row.
fn reasons<'a>(document: &'a Value, row: &str) -> Vec<&'a Value> {
    let worse = document["gate"]["worse"].as_array().unwrap();
    worse.iter().filter(|reason| reason["row"] == row).collect()
}

#[test]
fn mitigations_fail_a_program_by_what_they_execute_and_their_absence_passes() {
    let (scene, gate) = (Scene::warm(), ["--check=mov-cr3,verw"]);
    let on = checked(&scene, ["boot:mitigations=off", "default"], &gate);
    assert_eq!(on.code, 1, "{}", on.stderr);
    let document: Value = serde_json::from_str(&on.stdout).unwrap();
    let found = reasons(&document, "getppid");
    let numbers: Vec<_> = found.iter().map(|it| (&it["event"], &it["difference"])).collect();
    let (tables, buffers) = (SWITCHES.into(), (SWITCHES / 2).into());
    assert_eq!(numbers, [(&"mov-cr3".into(), &tables), (&"verw".into(), &buffers)]);
    // Switches of tasks within the calls are in both.
    let why = found.iter().map(|it| it["why"].as_str().unwrap()).collect::<Vec<_>>().join("; ");
    let line = format!("--check fails: getppid: {why}\n");
    assert!(why.contains("(+56, higher)") && on.stderr.contains(&line), "{}", on.stderr);
    let off = checked(&scene, ["default", "boot:mitigations=off"], &gate);
    assert_eq!(off.code, 0, "{}", off.stderr);
}

#[test]
fn a_budget_of_events_holds_one_kernel_under_two_conditions_to_its_limits() {
    let scene = Scene::warm();
    let rest = "[rows.\"*\".events]\nmov-cr3 = { max-increase = 100000 }\n";
    for (limit, code) in [(SWITCHES, 0), (SWITCHES - 1, 1)] {
        let rule = format!("[rows.getppid.events]\nmov-cr3 = {{ max-increase = {limit} }}\n");
        let budget = scene.write("rows.toml", rule + rest);
        let gate = ["--check=mov-cr3", "--budget", budget.to_str().unwrap()];
        let run = checked(&scene, ["boot:mitigations=off", "default"], &gate);
        assert_eq!(run.code, code, "{limit}: {}", run.stderr);
        let document: Value = serde_json::from_str(&run.stdout).unwrap();
        let over: Vec<_> = reasons(&document, "getppid").iter().map(|it| &it["line"]).collect();
        assert_eq!(over.len(), usize::try_from(code).unwrap(), "{limit}: {over:?}");
    }
}
