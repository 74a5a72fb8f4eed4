//! Kernels that go by a name. A script plays apt-get(8), and a result plays a package: what is in
//! one is not looked at here.

use std::os::unix::fs::PermissionsExt as _;

use pathmeter_measure::results::sha256;

use crate::results::base;
use crate::scene::{Ran, Scene, document, kernel};

/// Knows `linux-image-x`, whose file is `package` in the scene; writes down what it fetched.
const APT: &str = r#"#!/bin/sh
for last; do :; done
case "$last" in
linux-image-*) ;;
*) echo "E: Unable to locate package $last" >&2; exit 100 ;;
esac
case "$*" in
*--print-uris*) echo "'http://a/x.deb' ${last}_1_amd64.deb 9 SHA256:$HASH" ;;
*) echo "$last" >> "$FETCHED"; cp "$PACKAGE" "${last}_1_amd64.deb" ;;
esac
"#;

fn scene() -> Scene {
    let result = base();
    let scene = Scene::new();
    scene.write("package", document(&result));
    std::fs::create_dir(scene.path("bin")).unwrap();
    scene.write("bin/apt-get", APT);
    let all = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(scene.path("bin/apt-get"), all).unwrap();
    scene
}

fn run(scene: &Scene, hash: &str, arguments: &[&str]) -> Ran {
    let mut command = scene.command(arguments);
    let path = format!("{}:{}", scene.path("bin").display(), std::env::var("PATH").unwrap());
    command.env("PATH", path).env("HASH", hash);
    command.env("PACKAGE", scene.path("package")).env("FETCHED", scene.path("fetched"));
    command.output().unwrap().into()
}

#[test]
fn a_package_is_fetched_once_and_read_as_a_file_is() {
    let scene = scene();
    let hash = sha256(scene.read("package").as_bytes());
    let by_name = || run(&scene, &hash, &["measure", "apt:linux-image-x"]);
    let (first, second) = (by_name(), by_name());
    let by_file = scene.run(&["measure", "package"]);
    assert_eq!((first.code, &first.stdout), (Some(0), &by_file.stdout), "{}", first.stderr);
    assert!(first.stderr.contains("fetching linux-image-x_1_amd64.deb"), "{}", first.stderr);
    assert_eq!((second.code, &*second.stderr, second.stdout), (Some(0), "", first.stdout));
    assert_eq!(scene.read("fetched"), "linux-image-x\n");
    let pair = run(&scene, &hash, &["compare", "apt:linux-image-x", "apt:linux-image-y"]);
    assert_eq!(pair.code, Some(0), "{}", pair.stderr);
    assert_eq!(scene.read("fetched"), "linux-image-x\nlinux-image-y\n");
}

/// The plan names the package, so that each machine fetches it for itself.
#[test]
fn a_plan_has_the_name_of_a_package_and_the_hash_of_its_file() {
    let scene = scene();
    std::fs::copy(kernel("vmlinux.elf"), scene.path("package")).unwrap();
    scene.write("wanted.toml", "subjects = [\"apt:linux-image-x\"]");
    let hash = sha256(&std::fs::read(scene.path("package")).unwrap());
    let ran = run(&scene, &hash, &["plan", "wanted.toml", "-o", "plan.json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let plan: serde_json::Value = serde_json::from_str(&scene.read("plan.json")).unwrap();
    assert_eq!(plan["images"][0]["place"], "apt:linux-image-x");
    assert_eq!(plan["images"][0]["subject"], "linux-image-x_1_amd64.deb");
}

#[test]
fn a_package_that_is_not_the_one_that_apt_lists_is_not_kept() {
    let scene = scene();
    let ran = run(&scene, &"0".repeat(64), &["measure", "apt:linux-image-x"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(2), ""));
    assert!(ran.stderr.contains("is not the one that apt lists"), "{}", ran.stderr);
    let folder = format!("cache/pathmeter/packages/{}", "0".repeat(64));
    assert!(scene.files(&folder).is_empty() && scene.files("cache/pathmeter/packages").len() == 1);
}

#[test]
fn a_kernel_that_no_one_has_is_named_with_the_next_step() {
    let scene = scene();
    for (name, why) in [
        ("apt:nosuch", "apt:nosuch: apt-get: Unable to locate package nosuch"),
        ("apt:", "no package has such a name"),
        ("apt:-o", "no package has such a name"),
        ("apt:a b", "no package has such a name"),
    ] {
        let ran = run(&scene, "", &["explain", "file.stat", name]);
        assert_eq!((ran.code, ran.stderr.contains(why)), (Some(2), true), "{}", ran.stderr);
    }
    let without = scene.command(&["measure", "apt:linux-image-x"]).env("PATH", "/x").output();
    let without: Ran = without.unwrap().into();
    assert!(without.stderr.contains("apt-get: No such file"), "{}", without.stderr);
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    if !std::path::Path::new(&format!("/boot/vmlinuz-{}", release.trim())).exists() {
        let ran = scene.run(&["measure", "running"]);
        assert!(ran.stderr.contains("running: /boot/vmlinuz-"), "{}", ran.stderr);
    }
}
