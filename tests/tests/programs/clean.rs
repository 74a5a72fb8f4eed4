//! Each run finds the files as they were packed, whatever the runs before it did.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use pathmeter_e2e::{Scene, built, debian};

use super::{kernels, program, run};

/// The time of all packed files.
const TIME: &str = "1577836800";

/// The program changes and removes files, mounts, unmounts, leaves a process and what is shared by
/// names; a run of it that finds another list of files than the first one fails.
#[test]
fn every_run_finds_the_same_files_and_nothing_of_the_runs_before() {
    let scene = Scene::warm();
    // Debian's kernel has more that is shared by names.
    run(&scene, &[&debian("cloud")], &[], &[&program("clean")]).succeeded();
    // Where its own file is in /tmp, as where none is.
    let here = scene.path("clean");
    fs::copy(program("clean"), &here).unwrap();
    let to = format!("{}:/tmp/clean", here.display());
    for kernel in kernels() {
        run(&scene, &[&kernel], &["--file", &to], &["/tmp/clean"]).succeeded();
    }
}

#[test]
fn the_files_are_as_they_were_packed() {
    let scene = Scene::warm();
    let folder = scene.path("given");
    fs::create_dir(&folder).unwrap();
    for (name, mode, text) in [("a", 0o4755, "text"), ("empty", 0o600, ""), ("b", 0o444, "more")] {
        let file = scene.write(&format!("given/{name}"), text);
        fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
    }
    symlink("a", folder.join("link")).unwrap();
    fs::set_permissions(&folder, PermissionsExt::from_mode(0o1777)).unwrap();
    let to = format!("{}:/given", folder.display());
    // Wherever its own file is here, even in /tmp, it is nowhere among these there.
    let own = format!("{}:/opt/clean", program("clean"));
    let options = ["--json", "--file", &to, "--file", &own];
    let result = run(&scene, &[&built("base")], &options, &["/opt/clean", "list"]).json();
    let list = result["execution"]["output"]["stdout"]["text"].as_str().unwrap();
    for expected in [
        format!("/given 41777 0 {TIME} 2 0:0 "),
        format!("/given/a 104755 4 {TIME} 1 0:0 "),
        format!("/given/b 100444 4 {TIME} 1 0:0 "),
        format!("/given/empty 100600 0 {TIME} 1 0:0 "),
        format!("/given/link 120777 1 {TIME} 1 0:0 "),
        format!("/tmp 41777 0 {TIME} 2 0:0 "),
        "/dev/null 20".to_owned(),
        "/dev/fd 120777 ".to_owned(),
    ] {
        assert!(list.lines().any(|line| line.starts_with(&expected)), "{expected}: {list}");
    }
    // Nothing of the agent's own is there.
    for name in ["/init", "/program", "/condition", "/run/"] {
        assert!(!list.lines().any(|line| line.starts_with(name)), "{name}: {list}");
    }
}
