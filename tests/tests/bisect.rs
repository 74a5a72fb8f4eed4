//! A bisection over kernels that run, and some that don't: what hangs or panics at boot is skipped,
//! and the change is found all the same.

use std::process::Command;

use pathmeter_e2e::{Scene, built, fake};

use crate::programs::program;

/// Long enough for the kernels that run, whose results are cached.
const TIMEOUT: &str = "5";

/// A scene in which both kernels that run have been measured.
fn scene() -> Scene {
    let scene = Scene::warm();
    scene.run(&["compare", &built("base"), &built("nop"), "--explain"]).succeeded();
    scene
}

#[test]
fn of_ready_kernels_what_hangs_or_panics_at_boot_is_skipped() {
    let scene = scene();
    let (base, nop) = (built("base"), built("nop"));
    let (hangs, panics) = (fake("hangs"), fake("panics-early"));
    let kernels = [&*base, &base, &hangs, &panics, &base, &nop, &nop];
    let rest = ["--path", "file.stat", "--timeout", TIMEOUT, "--json"];
    let run = scene.run(&[&["bisect"], &kernels[..], &rest].concat());
    let document = run.json();
    assert_eq!((&document["first"], &document["skipped"]), (&(&*nop).into(), &1.into()));
    assert_eq!(document["comparison"]["paths"][0]["difference"], 1);
    run.assert_printed(&["note: skipping ", "Kernel panic - not syncing: fixture"]);
}

#[test]
fn a_row_of_a_program_leads_to_the_kernel_that_changed_it() {
    let faults = program("faults");
    let kernels = [built("base"), built("reordered"), built("nop"), built("nop")];
    let kernels: Vec<&str> = kernels.iter().map(String::as_str).collect();
    let rest = ["--program", &faults, "--path", "rt_sigaction", "--json"];
    let document = Scene::warm().run(&[&["bisect"], &kernels[..], &rest].concat()).json();
    assert_eq!(document["first"], kernels[2]);
    let row = &document["comparison"]["paths"][0];
    assert_eq!((&row["path"], &row["verdict"]), (&"rt_sigaction".into(), &"higher".into()));
    assert!(row["functions"].to_string().contains("entry_SYSCALL_64"), "{row}");
}

fn git(scene: &Scene, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=A", "-c", "user.email=a@b.invalid"]).args(arguments);
    let done = git.current_dir(scene.path("tree")).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().trim_end().to_owned()
}

/// Bisects a tree of five commits in which the two in the middle build the kernel `dead`: the first
/// is good, the last but one too, and the last differs.
fn found_beside(dead: &str, why: &str) {
    let scene = scene();
    std::fs::create_dir(scene.path("tree")).unwrap();
    git(&scene, &["init", "--quiet", "--initial-branch=main"]);
    for (number, kernel) in
        [built("base"), fake(dead), fake(dead), built("base"), built("nop")].iter().enumerate()
    {
        let file = format!("{kernel}\n{number}\n");
        scene.write("tree/kernel", file);
        git(&scene, &["add", "kernel"]);
        git(&scene, &["commit", "--quiet", "--message", &format!("change {number}")]);
    }
    let good = git(&scene, &["rev-list", "--max-parents=0", "HEAD"]);
    let ends = ["bisect", "--good", &good, "--bad", "main", "--path", "file.stat"];
    let build = ["--image", "image", "--", "sh", "-c", "cp \"$(head -n 1 kernel)\" image"];
    let more = ["--timeout", TIMEOUT, "--json"];
    let mut command = scene.command(&[&ends[..], &more, &build].concat());
    command.current_dir(scene.path("tree"));
    let run = scene.run_command(command);
    assert_eq!(
        run.json()["commit"]["about"].as_str().unwrap().split_once(' ').unwrap().1,
        "(\"change 4\")"
    );
    run.assert_printed(&["skipped", why]);
    assert_eq!(git(&scene, &["status", "--porcelain"]), "");
}

#[test]
fn a_commit_whose_kernel_hangs_at_boot_is_skipped() {
    found_beside("hangs", "not done after 5 s");
}

#[test]
fn a_commit_whose_kernel_panics_at_boot_is_skipped() {
    found_beside("panics-early", "Kernel panic - not syncing: fixture");
}
