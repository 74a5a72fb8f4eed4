//! The file system that a program begins in. One Debian kernel, with its modules.

use pathmeter_e2e::{Scene, built, debian, path};
use serde_json::Value;

/// A program in a guest with room for a disk, twice, on a CPU for which nothing is mitigated.
fn run(scene: &Scene, kernel: &str, under: &str, script: &str) -> pathmeter_e2e::Run {
    let guest = ["--cpu", "skylake", "--memory", "512", "--perturb", "1", "--json"];
    let program = ["--file", "/bin/cat", "--under", under, "--", "/bin/sh", "-c", script];
    scene.run(&[&["run", kernel][..], &guest, &program].concat())
}

fn output(result: &Value) -> &str {
    result["execution"]["output"]["stdout"]["text"].as_str().unwrap()
}

#[test]
fn each_run_begins_in_a_new_file_system_of_its_own() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    // A run that found the file of the one before would end with 1.
    let script = "pwd; [ ! -e f ] && echo text > f && cat f && cat /proc/mounts";
    for (under, mounted) in [
        ("disk:ext4:16M", "/dev/ram0 /disk ext4 "),
        ("disk:xfs:64M", "/dev/ram0 /disk xfs "),
        ("disk:btrfs:128M", "/dev/ram0 /disk btrfs "),
    ] {
        let result = run(&scene, &cloud, under, script).json();
        let proof = &result["configuration"]["proofs"][0];
        assert_eq!(proof["state"], "proved", "{proof}");
        assert!(proof["shown"].as_str().unwrap().contains(mounted), "{proof}");
        let text = output(&result);
        assert!(text.starts_with("/disk\ntext\n") && text.contains(mounted), "{under}: {text}");
    }
}

#[test]
fn a_file_costs_more_on_a_disk_or_an_overlay_than_in_memory() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    let opened = |under: &str| {
        let result = run(&scene, &cloud, under, "echo text > f; cat /proc/mounts").json();
        let text = output(&result).to_owned();
        (path(&result, "openat")["samples"][0].as_u64().unwrap(), text)
    };
    let (memory, _) = opened("default");
    let (disk, _) = opened("disk:ext4:16M");
    let (overlay, mounts) = opened("disk:overlay");
    assert!(memory < disk && memory < overlay, "{memory}, {disk} and {overlay}");
    assert!(mounts.lines().any(|line| line.starts_with("overlay / overlay ")), "{mounts}");
}

#[test]
fn a_program_reads_its_files_from_a_squashfs_and_writes_above_it() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    let program = "[ ! -e f ] && echo text > f && cat f && cat /proc/mounts && pwd";
    let guest = ["--cpu", "skylake", "--memory", "512", "--perturb", "1", "--json", "--explain"];
    let words = ["--file", "/bin/cat", "--under", "disk:squashfs", "--", "/bin/sh", "-c", program];
    let result = scene.run(&[&["run", &cloud][..], &guest, &words].concat()).json();
    let proof = &result["configuration"]["proofs"][0];
    let shown = proof["shown"].as_str().unwrap();
    assert_eq!(proof["state"], "proved", "{proof}");
    assert!(shown.contains("0x73717368 of the lower layer, of which 64 bytes"), "{proof}");
    let text = output(&result);
    assert!(text.starts_with("text\noverlay / overlay ") && text.ends_with("/tmp\n"), "{text}");
    // The program's pages are read, and unpacked, as it touches them.
    let touched = path(&result, "page fault: execute, page not present");
    let functions = touched["functions"].as_array().unwrap();
    for name in ["squashfs_read_data", "zlib_inflate"] {
        assert!(functions.iter().any(|function| function["function"] == name), "{name}");
    }
}

#[test]
fn a_disk_that_can_not_be_had_is_named() {
    let (scene, cloud, small) = (Scene::warm(), debian("cloud"), built("base"));
    let refused = |kernel: &str, under: &str, why: &str| {
        run(&scene, kernel, under, "true").assert_unmeasured(&[&format!("{under}: {why}")]);
    };
    refused(&cloud, "disk:btrfs:16M", "mkfs.btrfs ends with 1: ");
    refused(&cloud, "disk:ext4:2048M", "it takes 2048 MiB of the guest's memory, of which ");
    refused(
        &small,
        "disk:ext4:16M",
        "this kernel has no RAM disk: the module brd is in its package",
    );
    refused(&small, "disk:squashfs", "this kernel has no RAM disk: ");
    let of_paths = ["measure", &cloud, "--under", "disk:overlay"];
    scene.run(&of_paths).assert_unmeasured(&["disk:overlay: only a program of yours can have it"]);
}
