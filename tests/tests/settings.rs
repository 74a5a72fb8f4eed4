//! What settings cost: a row for each, whatever becomes of it; a gate, a page. One Debian kernel.

use pathmeter_e2e::{Scene, debian};
use serde_json::Value;

use crate::programs::program;

/// Few runs: what is looked at has one value, unlike some other paths in so few.
const FEW: [&str; 2] = ["--perturb=2", "--only=syscall.getppid,getcpu.syscall"];

const SET: &str = r#"
title = "one of each kind"
[[setting]]
condition = "boot:audit=1"
source = "kernel-parameters.txt, audit="
[[setting]]
condition = "boot:mem=24M"
source = "kernel-parameters.txt, mem="
[[setting]]
condition = "sysctl:kernel.nosuch=1"
source = "none"
[[setting]]
condition = "boot:tsa=off"
source = "kernel-parameters.txt, tsa="
[[setting]]
condition = "boot:nosmt"
source = "kernel-parameters.txt, nosmt"
unseen = "the guest has one CPU"
[[setting]]
condition = "sysctl:kernel.kptr_restrict=2"
source = "kernel.rst, kptr_restrict"
[[setting]]
condition = "boot:skew_tick=1"
source = "kernel-parameters.txt, skew_tick="
[[setting]]
condition = "boot:clocksource=hpet"
source = "kernel-parameters.txt, clocksource="
"#;

#[test]
fn each_setting_has_a_row_and_a_gate_fails_for_what_one_costs() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    let set = scene.write("set.toml", SET);
    let budget = scene.write("budget.toml", "[paths.\"getcpu.syscall\"]\nmax-increase = 100\n");
    let [set, budget] = [&set, &budget].map(|path| path.to_str().unwrap());
    let arguments = ["settings", &cloud, "--set", set, "--json"];
    let gate = ["--check=instructions", "--budget", budget];
    let run = scene.run(&[&arguments[..], &gate, &FEW].concat());
    assert_eq!(run.code, 1, "{}", run.stderr);
    run.assert_printed(&["8 settings are measured", "1 of 8 done", "settings: 8 of 8 done"]);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();

    let rows = document["sets"][0]["rows"].as_array().unwrap();
    let outcomes: Vec<&str> = rows.iter().map(|row| row["outcome"].as_str().unwrap()).collect();
    // An Intel CPU needs no mitigation of TSA.
    let first = ["changed", "failed", "unknown", "unseen", "unseen"];
    let last = ["no-effect", "unproved", "refused"];
    assert_eq!(outcomes, [&first[..], &last].concat());
    let reason_at = |at: usize| rows[at]["reason"].as_str().unwrap();
    assert!(
        reason_at(3).contains("Not affected") && reason_at(7).contains("available_clocksource")
    );
    assert_eq!(rows[0]["proofs"][0]["state"], "proved");
    let panic = rows[1]["reason"].as_str().unwrap();
    assert!(panic.contains("Kernel panic"), "{panic}");
    let changed = rows[0]["changed"].as_array().unwrap();
    let of = |name: &str| changed.iter().find(|change| change["path"] == name).unwrap();
    // What every system call pays for an audit.
    let paid = of("syscall.getppid")["difference"].as_i64().unwrap();
    assert!(paid > 100 && of("getcpu.syscall")["difference"] == paid, "{paid}");
    let worse = rows[0]["gate"]["worse"].as_array().unwrap();
    let failing = worse.iter().find(|reason| reason["row"] == "getcpu.syscall").unwrap();
    assert_eq!((&failing["difference"], &failing["line"]), (&paid.into(), &1.into()), "{failing}");

    let document = scene.write("settings.json", &run.stdout);
    let page = scene.path("settings.html");
    let [document, page] = [&document, &page].map(|path| path.to_str().unwrap());
    // A setting that could not be measured shows in the exit code.
    let report = scene.run(&["report", document, "-o", page]);
    assert_eq!(report.code, 3, "{}", report.stderr);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("1 of 8 settings changes what 6.1.0"), "{}", report.stderr);

    // Without the two that can't pass, a larger budget is kept.
    let fewer: String = SET.replace("boot:mem=24M", "boot:nospectre_v1");
    let set = scene.write("fewer.toml", fewer);
    let set = set.to_str().unwrap();
    let budget = scene.write("large.toml", "[paths.\"*\"]\nmax-increase = \"100%\"\n");
    let arguments = ["settings", &cloud, "--set", set, "--quiet"];
    let gate = ["--check=instructions", "--budget", budget.to_str().unwrap()];
    let run = scene.run(&[&arguments[..], &gate, &FEW].concat());
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
}

/// Settings of which one makes a program execute more, and one makes it execute other things.
const PROGRAM_SET: &str = r#"
title = "of a program"
[[setting]]
condition = "boot:audit=1"
source = "kernel-parameters.txt, audit="
[[setting]]
condition = "boot:nopti"
source = "kernel-parameters.txt, nopti"
"#;

/// The row of a setting, and the program's row of that name among the reasons why it fails.
fn reason<'a>(document: &'a Value, setting: usize, row: &str) -> Option<&'a Value> {
    let worse = document["sets"][0]["rows"][setting]["gate"]["worse"].as_array().unwrap();
    worse.iter().find(|reason| reason["row"] == format!("the program's {row}"))
}

#[test]
fn a_program_under_each_setting_shows_its_events_and_is_gated() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    let set = scene.write("set.toml", PROGRAM_SET);
    let kernel = ["settings", &cloud, "--cpu", "skylake", "--set", set.to_str().unwrap()];
    let program = ["--", &program("processes")];
    let gated = |gate: &[&str]| {
        let run = scene.run(&[&kernel[..], &["--json"], gate, &program].concat());
        (run.code, serde_json::from_str::<Value>(&run.stdout).expect(&run.stderr))
    };
    let (code, document) = gated(&["--check=instructions"]);
    assert_eq!(code, 1);
    let calls = reason(&document, 0, "getppid").unwrap();
    let (base, more) = (&calls["base"], calls["difference"].as_u64().unwrap());
    assert!(base.as_u64().unwrap() > 0 && more > 28 * 100, "{calls}");
    assert_eq!(reason(&document, 1, "getppid"), None, "it saves");
    // Without page table isolation nothing switches the page tables of a system call.
    let events = document["sets"][0]["rows"][1]["program"]["events"].as_array().unwrap();
    let switches = events.iter().find(|event| event["event"] == "mov-cr3").unwrap();
    assert!(switches["difference"].as_i64().unwrap() <= -28 * 2, "{events:?}");

    let limit = |more: u64| format!("[rows.getppid]\nmax-increase = {more}\n");
    let rest = "[rows.\"*\"]\nmax-increase = 1000000\n[paths.\"*\"]\nmax-increase = \"100%\"\n";
    for (limit, code) in [(limit(more), 0), (limit(more - 1), 1)] {
        let budget = scene.write("budget.toml", limit + rest);
        let gate = ["--check=instructions", "--budget", budget.to_str().unwrap()];
        let (found, document) = gated(&gate);
        assert_eq!(found, code, "{}", document["sets"][0]["rows"][0]["gate"]["worse"]);
        let line = reason(&document, 0, "getppid").map(|reason| &reason["line"]);
        assert_eq!(line, (code == 1).then_some(&1.into()));
    }
}
