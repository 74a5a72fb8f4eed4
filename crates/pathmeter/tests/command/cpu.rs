//! `pathmeter list cpus`: profiles are listed, shown and written without QEMU.

use crate::scene::Scene;

#[test]
fn profiles_are_listed_and_shown() {
    let scene = Scene::new();
    let list = scene.run(&["list", "cpus"]).stdout;
    assert!(list.contains("haswell-guest") && list.contains("as a guest sees it"), "{list}");
    let shown = scene.run(&["list", "cpus", "skylake-server"]).stdout;
    assert!(shown.starts_with("skylake: Intel Xeon Scalable of 2017"), "{shown}");
    assert!(shown.contains("meltdown: Mitigation: PTI\n    https://"), "{shown}");
}

#[test]
fn what_is_no_profile_is_not_shown() {
    let scene = Scene::new();
    for name in ["qemu64", "./missing.toml"] {
        let ran = scene.run(&["list", "cpus", name]);
        assert_eq!((ran.code, &ran.stdout[..]), (Some(2), ""), "{}", ran.stderr);
        assert!(ran.stderr.contains(name.trim_start_matches("./")), "{}", ran.stderr);
    }
}

#[test]
fn a_captured_profile_is_shown_again() {
    let scene = Scene::new();
    let ran = scene.run(&["list", "cpus", "--capture", "-o", "this.toml"]);
    if ran.code == Some(2) {
        // A CPU of a vendor without profiles.
        assert!(ran.stderr.contains("this machine"), "{}", ran.stderr);
        return;
    }
    assert_eq!((ran.code, &ran.stdout[..]), (Some(0), ""), "{}", ran.stderr);
    let shown = scene.run(&["list", "cpus", "this.toml"]).stdout;
    assert!(shown.contains("QEMU is told: file "), "{shown}");
    assert_eq!(scene.run(&["list", "cpus", "--capture"]).stdout, scene.read("this.toml"));
}
