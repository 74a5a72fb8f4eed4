//! CPU profiles: a kernel patches itself as on the machine that `--cpu` names.

use pathmeter_e2e::{Run, Scene, assert_identical, built, debian, path};
use serde_json::Value;

/// Few runs: what is looked at has one value.
const FEW: &[&str] = &["--perturb", "2", "--json"];

fn compare_cpus(scene: &Scene, kernel: &str, cpus: [&str; 2], more: &[&str]) -> Run {
    let cpus = ["--cpu", cpus[0], "--cpu", cpus[1]];
    scene.run(&[&["compare", kernel][..], &cpus, FEW, more].concat())
}

fn base_and_new(row: &Value) -> (u64, u64) {
    (row["base"].as_u64().unwrap(), row["new"].as_u64().unwrap())
}

#[test]
fn a_system_call_costs_what_the_machines_mitigations_add() {
    let scene = Scene::warm();
    let kernel = built("base");
    // Page table isolation and IBRS at each entry, against retpolines alone.
    let skylake = compare_cpus(&scene, &kernel, ["plain", "skylake"], &[]).json();
    let (plain, with_pti) = base_and_new(path(&skylake, "syscall.getppid"));
    // The loop that clears the branch history, which a kernel has only if MSR 0x10a says that the
    // CPU's IBRS is the enhanced one.
    let icelake = compare_cpus(&scene, &kernel, ["skylake", "icelake"], &[]).json();
    let (again, with_loop) = base_and_new(path(&icelake, "syscall.getppid"));
    assert_eq!(with_pti, again);
    assert!(plain < with_pti && with_pti < with_loop, "{plain}, {with_pti}, {with_loop}");
    assert!(with_loop - with_pti > 50, "{with_pti}, {with_loop}");
}

#[test]
fn one_kernel_on_two_cpus_is_compared_without_being_told_that_they_differ() {
    let scene = Scene::warm();
    let compared = compare_cpus(&scene, &built("base"), ["plain", "zen2"], &[]).json();
    for (side, cpu) in [("base", "plain"), ("new", "zen2")] {
        let name = compared[side]["name"].as_str().unwrap();
        assert!(name.ends_with(&format!("base.bzImage on {cpu}")), "{name}");
    }
    assert_eq!(compared["base"]["image_sha256"], compared["new"]["image_sha256"]);
    let differences = compared["configuration_differences"].as_array().unwrap();
    let fields: Vec<_> = differences.iter().map(|one| one["field"].as_str().unwrap()).collect();
    assert_eq!(fields, ["cpu"]);
    assert!(differences[0]["new"].as_str().unwrap().starts_with("zen2: base,"));
    let getppid = path(&compared, "syscall.getppid");
    let (base, new) = base_and_new(getppid);
    assert!(getppid["verdict"] == "higher" && base < new, "{getppid}");
}

#[test]
fn what_differs_between_two_cpus_is_explained() {
    let scene = Scene::warm();
    let arguments = ["explain", "syscall.getppid", &built("base")];
    let cpus = ["--cpu", "skylake", "--cpu", "icelake"];
    let explained = scene.run(&[&arguments[..], &cpus, FEW].concat()).json();
    let functions = explained["new"]["window"]["functions"].as_array().unwrap();
    let names: Vec<_> = functions.iter().filter_map(|one| one["name"].as_str()).collect();
    assert!(names.contains(&"clear_bhb_loop"), "{names:?}");
    let functions = explained["base"]["window"]["functions"].as_array().unwrap();
    assert!(functions.iter().all(|one| one["name"] != "clear_bhb_loop"));
}

#[test]
fn a_profile_gives_the_same_twice() {
    let kernel = built("base");
    let measured = |scene: Scene| {
        let arguments = ["measure", &kernel, "--cpu", "icelake"];
        scene.run(&[&arguments[..], FEW].concat()).json()
    };
    let (one, other) = (measured(Scene::warm()), measured(Scene::cold()));
    assert_identical(&one, &other);
    assert_eq!(one["configuration"]["portable"], true);
    let cpu = one["configuration"]["cpu"].as_str().unwrap();
    assert!(cpu.starts_with("icelake: base,") && cpu.ends_with("msr-0x10a=0x202016b"), "{cpu}");
    let same = compare_cpus(&Scene::warm(), &kernel, ["icelake", "icelake"], &["--check"]);
    assert_eq!(same.json()["configuration_differences"], serde_json::json!([]));
}

#[test]
fn the_default_can_be_named() {
    let scene = Scene::warm();
    let kernel = built("base");
    let measured =
        |more: &[&str]| scene.run(&[&["measure", &kernel][..], FEW, more].concat()).json();
    let usual = measured(&[]);
    assert_eq!(measured(&["--cpu", "skylake"]), usual);
}

#[test]
fn what_the_machine_has_and_the_interpreter_has_not_is_said() {
    let arguments = ["measure", &built("base"), "--cpu", "icelake"];
    let result = Scene::warm().run(&[&arguments[..], FEW].concat()).json();
    let rdpid = path(&result, "getcpu.rdpid");
    assert_eq!(rdpid["status"], "unsupported");
    let reason = rdpid["reason"].as_str().unwrap();
    assert!(reason.contains("the machine has it") && reason.contains("interpreter"), "{reason}");
}

#[test]
fn an_unknown_name_brings_up_what_was_meant() {
    let run = Scene::warm().run(&["measure", &built("base"), "--cpu", "skylakee"]);
    assert_eq!((run.code, &*run.stdout), (2, ""), "{}", run.stderr);
    run.assert_printed(&["--cpu skylakee: no profile", "did you mean skylake,", "list cpus"]);
}

#[test]
fn a_kernel_that_unpacks_itself_reads_what_the_cpu_is_not_vulnerable_to() {
    let arguments = ["measure", &built("no-pvh"), "--cpu", "icelake"];
    let run = Scene::warm().run(&[&arguments[..], FEW].concat());
    let guest = &run.json()["guest"];
    let line = guest["vulnerabilities"]["spectre_v2"].as_str().unwrap();
    assert!(line.starts_with("Mitigation: Enhanced"), "{line}");
    assert_eq!(guest["unexpected"], serde_json::json!([]), "{}", run.stderr);
}

#[test]
fn results_of_two_cpus_are_not_compared_and_the_cpus_are_named() {
    let scene = Scene::warm();
    for (name, more) in [("old.json", &["--cpu", "plain"][..]), ("new.json", &[])] {
        let file = scene.path(name);
        let arguments = ["measure", &built("base"), "--perturb", "2", "-o", file.to_str().unwrap()];
        let run = scene.run(&[&arguments[..], more].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
    }
    let [old, new] = ["old.json", "new.json"].map(|name| scene.path(name));
    let run = scene.run(&["compare", old.to_str().unwrap(), new.to_str().unwrap()]);
    assert_eq!((run.code, &run.stdout[..]), (2, ""), "{}", run.stderr);
    run.assert_printed(&["cpu: plain in base, skylake in new", "--cpu plain"]);
}

#[test]
fn two_cpus_are_for_one_kernel() {
    let scene = Scene::warm();
    let (base, nop) = (built("base"), built("nop"));
    let two = ["--cpu", "zen1", "--cpu", "zen2"];
    for (arguments, word) in [
        (vec!["compare", &base, &nop], "two kernels"),
        (vec!["explain", "file.stat", &base, &nop], "no room"),
        (vec!["explain", "file.stat", &base, "--against", "file.read-zero"], "no room"),
        (vec!["measure", &base], "more than once"),
        (vec!["compare", &base, "--cpu", "plain"], "more than twice"),
    ] {
        let run = scene.run(&[&arguments[..], &two].concat());
        assert_eq!((run.code, &run.stdout[..]), (2, ""), "{arguments:?}: {}", run.stderr);
        run.assert_printed(&[word]);
    }
    let alone = scene.run(&["compare", &base]);
    assert_eq!(alone.code, 2);
    alone.assert_printed(&["NEW", "--cpu A --cpu B"]);
}

#[test]
fn doctor_lists_the_profiles_and_what_they_lack() {
    let doctor = Scene::warm().run(&["doctor", "--json"]).json();
    let profiles = doctor["profiles"].as_array().unwrap();
    let named = |name: &str| profiles.iter().find(|one| one["name"] == name).unwrap();
    assert_eq!(named("icelake")["available"], true);
    let lacks = named("icelake")["lacks"].as_array().unwrap();
    assert!(lacks.iter().any(|lack| lack["name"] == "rdpid"), "{lacks:?}");
    for profile in profiles {
        let missing = profile["missing"].as_array().unwrap();
        assert_eq!(profile["available"], missing.is_empty(), "{profile}");
    }
    let text = Scene::warm().run(&["doctor", "--profiles"]).succeeded().stdout.clone();
    let (here, elsewhere) = text.split_once("\nNot with this QEMU").unwrap_or((&text, ""));
    for profile in profiles {
        let line = format!("\n  {} ", profile["name"].as_str().unwrap());
        let list = if profile["available"] == true { here } else { elsewhere };
        assert!(list.contains(&line), "{line}: {text}");
    }
}

#[test]
fn a_result_holds_what_the_guests_kernel_prints_and_a_known_profile_is_as_expected() {
    let arguments = ["measure", &debian("cloud"), "--cpu", "skylake-guest"];
    let run = Scene::warm().run(&[&arguments[..], FEW].concat());
    let guest = &run.json()["guest"];
    let lines = &guest["vulnerabilities"];
    assert_eq!(lines["meltdown"], "Mitigation: PTI");
    assert_eq!(lines["gather_data_sampling"], "Unknown: Dependent on hypervisor status");
    assert_eq!((&guest["cpu"]["family"], &guest["cpu"]["model"]), (&6.into(), &85.into()));
    let flags = guest["cpu"]["flags"].as_array().unwrap();
    assert!(flags.iter().any(|flag| flag == "hypervisor"), "{flags:?}");
    let bugs = guest["cpu"]["bugs"].as_array().unwrap();
    assert!(bugs.iter().any(|bug| bug == "cpu_meltdown"), "{bugs:?}");
    assert_eq!(guest["compared_with"], "Debian 6.1.192");
    assert_eq!(guest["unexpected"], serde_json::json!([]), "{}", run.stderr);
}

#[test]
fn a_kernel_without_these_files_says_nothing() {
    let guest = &Scene::warm().run(&[&["measure", "lab"][..], FEW].concat()).json()["guest"];
    assert!(guest["cpu"].is_null() && guest["vulnerabilities"].is_null(), "{guest}");
    assert!(guest["compared_with"].is_null(), "{guest}");
}

/// A profile in a file that any QEMU can have.
const FILE: &str = r#"schema = "pathmeter.cpu/1"
machine = "a Skylake of ours"
vendor = "GenuineIntel"
family = 6
model = 85
stepping = 4
microcode = 0x2007006
last_extended = 0x80000008
address_bits = 46
threads = 1
features = [
    "fpu", "de", "pse", "tsc", "msr", "pae", "cx8", "apic", "sep", "mtrr", "pge", "mca", "cmov",
    "pat", "clflush", "mmx", "fxsr", "sse", "sse2", "syscall", "nx", "rdtscp", "lm",
]

[states]
kernel = "6.1.0-ours"

[states.files]
meltdown = "Mitigation: none that there is"
"#;

#[test]
fn a_profile_from_a_file_is_measured_and_what_it_says_is_checked() {
    let scene = Scene::warm();
    scene.write("my.toml", FILE);
    let file = scene.path("my.toml");
    let arguments = ["measure", &built("base"), "--cpu", file.to_str().unwrap()];
    let run = scene.run(&[&arguments[..], FEW].concat());
    let result = run.json();
    let cpu = result["configuration"]["cpu"].as_str().unwrap();
    assert!(cpu.starts_with("file ") && !cpu.contains("my.toml"), "{cpu}");
    assert_eq!(result["guest"]["cpu"]["name"], "a Skylake of ours");
    let unexpected = &result["guest"]["unexpected"][0];
    assert_eq!(unexpected["found"], "Mitigation: PTI");
    run.assert_printed(&["note", "vulnerabilities/meltdown", "none that there is"]);
}

#[test]
fn a_profile_that_is_wrong_is_refused_with_its_line() {
    let scene = Scene::warm();
    for (from, to, word) in [
        ("\"lm\"", "\"lm\", \"warp-drive\"", "line 13"),
        ("\"lm\"", "\"lm\", \"pcid\"", "left_out"),
        ("family = 6", "family = \"six\"", "line 4"),
        ("threads", "treads", "line 10"),
    ] {
        scene.write("my.toml", FILE.replacen(from, to, 1));
        let file = scene.path("my.toml");
        let run = scene.run(&["measure", "lab", "--cpu", file.to_str().unwrap()]);
        assert_eq!((run.code, &run.stdout[..]), (2, ""), "{}", run.stderr);
        run.assert_printed(&["my.toml", word]);
    }
}
