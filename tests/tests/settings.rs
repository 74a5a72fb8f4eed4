//! What settings cost: a row for each, whatever becomes of it; a gate, a page. One Debian kernel.

use pathmeter_e2e::{Scene, debian};
use serde_json::Value;

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
    let arguments = ["settings", &cloud, "--cpu", "skylake", "--set", set, "--json"];
    let gate = ["--check=instructions", "--budget", budget];
    let run = scene.run(&[&arguments[..], &gate].concat());
    assert_eq!(run.code, 1, "{}", run.stderr);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();

    let rows = document["sets"][0]["rows"].as_array().unwrap();
    let outcomes: Vec<&str> = rows.iter().map(|row| row["outcome"].as_str().unwrap()).collect();
    // An Intel CPU needs no mitigation of TSA.
    let first = ["changed", "failed", "unknown", "unseen", "unseen"];
    let last = ["no-effect", "unproved", "refused"];
    assert_eq!(outcomes, [&first[..], &last].concat());
    let reason = |at: usize| rows[at]["reason"].as_str().unwrap();
    assert!(reason(3).contains("Not affected") && reason(7).contains("available_clocksource"));
    assert_eq!(rows[0]["proofs"][0]["state"], "proved");
    let panic = rows[1]["reason"].as_str().unwrap();
    assert!(panic.contains("Kernel panic"), "{panic}");
    let changed = rows[0]["changed"].as_array().unwrap();
    let of = |name: &str| changed.iter().find(|change| change["path"] == name).unwrap();
    // What every system call pays for an audit.
    let paid = of("syscall.getppid")["difference"].as_i64().unwrap();
    assert!(paid > 100 && of("getcpu.syscall")["difference"] == paid, "{paid}");
    let worse = rows[0]["gate"]["worse"].as_array().unwrap();
    assert!(worse.iter().any(|path| path == "getcpu.syscall"), "{worse:?}");

    let document = scene.write("settings.json", &run.stdout);
    let page = scene.path("settings.html");
    let [document, page] = [&document, &page].map(|path| path.to_str().unwrap());
    // A setting that could not be measured shows in the exit code.
    let report = scene.run(&["report", document, "-o", page]);
    assert_eq!(report.code, 3, "{}", report.stderr);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("1 of 8 settings change what 6.1.0"), "{}", report.stderr);

    // Without the two that can't pass, a larger budget is kept.
    let fewer: String = SET.replace("boot:mem=24M", "boot:nospectre_v1");
    let set = scene.write("fewer.toml", fewer);
    let set = set.to_str().unwrap();
    let budget = scene.write("large.toml", "[paths.\"*\"]\nmax-increase = \"100%\"\n");
    let arguments = ["settings", &cloud, "--cpu", "skylake", "--set", set, "--quiet"];
    let gate = ["--check=instructions", "--budget", budget.to_str().unwrap()];
    let run = scene.run(&[&arguments[..], &gate].concat());
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
}
