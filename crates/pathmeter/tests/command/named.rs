//! Kernels that go by a name. A script plays apt-get(8), and a result plays a package: what is in
//! one is not looked at here.

use std::os::unix::fs::PermissionsExt as _;

use assert_cmd::Command;
use pathmeter_measure::digest::sha256;

use crate::results::base;
use crate::scene::{Ran, Scene, document, kernel};

/// Knows `linux-image-x`, whose file is `package` in the scene, and `linux-image-meta`, whose file
/// is `meta`; writes down what it fetched.
const APT: &str = r#"#!/bin/sh
for last; do :; done
case "$last" in
linux-image-meta) HASH=$META_HASH; PACKAGE=$META ;;
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
    command(scene, hash, arguments).output().unwrap().into()
}

fn command(scene: &Scene, hash: &str, arguments: &[&str]) -> Command {
    let mut command = scene.command(arguments);
    let path = format!("{}:{}", scene.path("bin").display(), std::env::var("PATH").unwrap());
    command.env("PATH", path).env("HASH", hash);
    command.env("PACKAGE", scene.path("package")).env("FETCHED", scene.path("fetched"));
    command
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

/// A package without a kernel that needs another one, as dpkg-deb packs it.
fn metapackage(scene: &Scene, needs: &str) -> Vec<u8> {
    let control = format!("Package: linux-image-meta\nVersion: 1\nDepends: {needs} (= 1)\n");
    scene.write("control", control);
    let tar = |files: &[&str]| {
        let mut command = std::process::Command::new("tar");
        let names = ["--files-from=/dev/null"];
        let files = if files.is_empty() { &names[..] } else { files };
        command.current_dir(scene.path(".")).args(["-cf", "-"]).args(files).output().unwrap().stdout
    };
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar", tar(&["control"])),
        ("data.tar", tar(&["control"])),
    ];
    let mut deb = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let size = bytes.len();
        deb.extend(
            format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, 100_644).bytes(),
        );
        deb.extend(bytes);
        deb.resize(deb.len().next_multiple_of(2), b'\n');
    }
    deb
}

#[test]
fn a_metapackage_stands_for_the_package_that_it_leads_to() {
    let scene = scene();
    let meta = metapackage(&scene, "linux-image-x");
    scene.write("meta", &meta);
    let hash = sha256(scene.read("package").as_bytes());
    let by_name = |name: &str| {
        let arguments = ["measure", name];
        let mut command = command(&scene, &hash, &arguments);
        command.env("META_HASH", sha256(&meta)).env("META", scene.path("meta"));
        Ran::from(command.output().unwrap())
    };
    let (meta, direct) = (by_name("apt:linux-image-meta"), by_name("apt:linux-image-x"));
    assert_eq!((meta.code, &meta.stdout), (Some(0), &direct.stdout), "{}", meta.stderr);
    let told = "apt:linux-image-meta: the kernel is in linux-image-x";
    assert!(meta.stderr.contains(told), "{}", meta.stderr);
    assert_eq!(scene.read("fetched"), "linux-image-meta\nlinux-image-x\n");
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
