//! `bisect`, over result files: what a build leaves is measured like a kernel, and a result is its
//! own measurement.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::documents::faults;
use crate::results::{base, cheaper, leaking, more_expensive};
use crate::scene::{Ran, Scene, document};

fn write(scene: &Scene, name: &str, result: &pathmeter_model::Measurement) {
    scene.write(name, document(result));
}

/// Result files by what they are like.
fn scene() -> Scene {
    let scene = Scene::new();
    write(&scene, "same", &base());
    write(&scene, "other", &cheaper());
    write(&scene, "more", &more_expensive());
    write(&scene, "dead", &leaking());
    scene.write("garbage", "no kernel");
    scene
}

#[test]
fn ready_images_are_searched_in_order() {
    let scene = scene();
    for (number, like) in ["same", "other", "same", "other", "more", "more"].iter().enumerate() {
        std::fs::copy(scene.path(like), scene.path(&format!("k{number}"))).unwrap();
    }
    let ran = scene.run(&["bisect", "k0", "k1", "k2", "k3", "k4", "k5", "--path", "switch.yield"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("first that differs: k4 (3 measurements)\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("switch.yield  3,300  3,333"), "{}", ran.stdout);
}

#[test]
fn the_answer_is_a_document_too() {
    let scene = scene();
    let ran = scene.run(&[
        "bisect",
        "same",
        "same",
        "garbage",
        "same",
        "more",
        "--path",
        "switch.yield",
        "--json",
    ]);
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(faults("pathmeter.bisect-1.json", &document), [""; 0]);
    assert_eq!((&document["first"], &document["skipped"]), (&"more".into(), &1.into()));
    assert_eq!(document["comparison"]["paths"][0]["difference"], 33);
    tree(&scene, &["same", "same", "more", "more"]);
    let ran = bisect(&scene, BUILD, &["--output", "../found.json"]);
    assert!(ran.stdout.contains("(\"change 2\")"), "{}{}", ran.stdout, ran.stderr);
    let document: serde_json::Value = serde_json::from_str(&scene.read("found.json")).unwrap();
    assert_eq!(faults("pathmeter.bisect-1.json", &document), [""; 0]);
    assert_eq!(document["first"], *git(&scene, &["rev-parse", "HEAD~1"]));
    let about = document["commit"]["about"].as_str().unwrap();
    assert!(about.ends_with(" (\"change 2\")"), "{about}");
    assert_untouched(&scene);
}

#[test]
fn the_example_finds_the_commit_and_leaves_the_document() {
    let scene = scene();
    tree(&scene, &["same", "other", "more", "more"]);
    std::fs::create_dir(scene.path("bin")).unwrap();
    // A make that "builds" what the tree says, into the folder that it is told.
    let make = "#!/bin/sh\ncd ../pathmeter-objects && [ \"$2\" = O=../pathmeter-objects ] &&\n\
                mkdir -p arch/x86/boot && cp ../$(cat ../tree/like) arch/x86/boot/bzImage\n";
    scene.write("bin/make", make);
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(scene.path("bin/make"), executable).unwrap();
    scene.write("config", "CONFIG_64BIT=y\n");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bisect.sh");
    let pathmeter = assert_cmd::cargo::cargo_bin!("pathmeter").parent().unwrap();
    let (bin, path) = (scene.path("bin"), std::env::var("PATH").unwrap());
    let mut script = Command::new("sh");
    script.arg(example).args(["HEAD~3", "HEAD", "switch.yield", "../config"]);
    script.env("PATH", format!("{}:{}:{path}", bin.display(), pathmeter.display()));
    let ran: Ran = script.current_dir(scene.path("tree")).output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("(\"change 2\")"), "{}", ran.stdout);
    assert!(scene.read("found.json").contains("pathmeter.bisect/1"));
    assert_eq!(scene.read("pathmeter-objects/.config"), "CONFIG_64BIT=y\n");
    assert_untouched(&scene);
}

#[test]
fn images_without_a_difference_or_a_path_are_said_so() {
    let scene = scene();
    let ran = scene.run(&["bisect", "same", "same", "other", "--path", "switch.yield"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(3), ""));
    assert!(ran.stderr.contains("other does not differ from same (3 measurements)"));
    let ran = scene.run(&["bisect", "same", "other", "--path", "switch.yeild"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("did you mean switch.yield"), "{}", ran.stderr);
    assert_eq!(scene.run(&["bisect", "same", "--path", "switch.yield"]).code, Some(2));
    let ran = scene.run(&["bisect", "same", "more", "--path", "getcpu.rdpid"]);
    assert!(ran.stderr.contains("getcpu.rdpid: the CPU has no rdpid"), "{}", ran.stderr);
    let ran = scene.run(&["bisect", "same", "more", "--path", "switch.yield", "--event", "lfence"]);
    assert!(ran.stderr.contains("its events were not counted"), "{}", ran.stderr);
    assert_eq!(
        scene.run(&["bisect", "same", "more", "--path", "x", "--event", "clock"]).code,
        Some(2)
    );
}

#[test]
fn what_can_not_be_measured_is_skipped() {
    let scene = scene();
    let path = ["--path", "switch.yield"];
    let ran =
        scene.run(&[&["bisect", "same", "same", "garbage", "more", "more"][..], &path].concat());
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("comes after same and not after more"), "{}", ran.stderr);
    let ran =
        scene.run(&[&["bisect", "same", "garbage", "same", "more", "more"][..], &path].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}

#[test]
fn what_is_misspelt_is_refused_before_anything_is_measured() {
    let scene = scene();
    let good = &scene.run(&["bisect", "same", "none", "more", "lost", "--path", "switch.yield"]);
    let pattern = &scene.run(&["bisect", "same", "more", "--path", "switch.*"]);
    let files = &scene.run(&["bisect", "--good", "same", "--bad=more", "--path", "switch.yield"]);
    for (ran, words) in [
        (good, "there is no file none, lost"),
        (pattern, "--path switch.*: one path, not a pattern"),
        (files, "--bad name commits, and same and more are files"),
    ] {
        assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{}", ran.stderr);
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
    assert!(files.stderr.contains("pathmeter bisect same more --path"), "{}", files.stderr);
}

#[test]
fn each_step_tells_its_values_and_a_larger_one_that_comes_later_is_a_note() {
    let scene = scene();
    let mut most = more_expensive();
    most.subject.name = "most".to_owned();
    let path = most.paths.iter_mut().find(|path| path.path == "switch.yield").unwrap();
    *path = pathmeter_model::example::path("switch.yield", &[4000; 2]);
    write(&scene, "most", &most);
    let path = ["--path", "switch.yield"];
    let ran = scene.run(&[&["bisect", "same", "more", "most", "most"][..], &path].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for words in [
        "most: 4,000, first 3,300: differs\n",
        "more: 3,333, first 3,300: differs\n",
        "a later step is larger: most differs by +700, the one found by +33; --threshold",
    ] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    let ran = scene.run(
        &[&["bisect", "same", "more", "most", "most"][..], &path, &["--threshold", "2"]].concat(),
    );
    assert!(ran.stdout.contains("first that differs: most"), "{}", ran.stdout);
    assert!(!ran.stderr.contains("a later step"), "{}", ran.stderr);
}

fn git(scene: &Scene, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=A", "-c", "user.email=a@b.invalid"]).args(arguments);
    let done = git.current_dir(scene.path("tree")).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().trim_end().to_owned()
}

/// A tree with a commit for each of `like`, numbered from 0: its kernel is like that file.
fn tree(scene: &Scene, like: &[&str]) {
    std::fs::create_dir(scene.path("tree")).unwrap();
    git(scene, &["init", "--quiet", "--initial-branch=main"]);
    let mut stream = String::new();
    for (number, like) in like.iter().enumerate() {
        let subject = format!("change {number}");
        let file = format!("{like}\n");
        write!(
            stream,
            "commit refs/heads/main\nmark :{}\ncommitter A <a@b.invalid> {number} +0000\n\
             data {}\n{subject}\n",
            number + 1,
            subject.len()
        )
        .unwrap();
        if number > 0 {
            writeln!(stream, "from :{number}").unwrap();
        }
        let count = number.to_string();
        write!(stream, "M 644 inline like\ndata {}\n{file}\n", file.len()).unwrap();
        write!(stream, "M 644 inline count\ndata {}\n{count}\n\n", count.len()).unwrap();
    }
    let mut import = Command::new("git");
    import.args(["fast-import", "--quiet"]).current_dir(scene.path("tree")).stdin(Stdio::piped());
    let mut import = import.spawn().unwrap();
    import.stdin.take().unwrap().write_all(stream.as_bytes()).unwrap();
    assert!(import.wait().unwrap().success());
    git(scene, &["reset", "--hard", "--quiet"]);
}

/// What "builds": a commit that is like a file gets a copy of it.
const BUILD: &str = "cp ../$(cat like) image";

fn command(scene: &Scene, build: &str, more: &[&str]) -> assert_cmd::Command {
    let good = git(scene, &["rev-list", "--max-parents=0", "HEAD"]);
    let ends = ["bisect", "--good", &good, "--bad", "main", "--path", "switch.yield"];
    let rest = ["--image", "image", "--", "sh", "-c", build];
    let mut command = scene.command(&[&ends[..], more, &rest].concat());
    command.current_dir(scene.path("tree"));
    command
}

fn bisect(scene: &Scene, build: &str, more: &[&str]) -> Ran {
    command(scene, build, more).output().unwrap().into()
}

/// The tree is as it was found.
fn assert_untouched(scene: &Scene) {
    assert_eq!(git(scene, &["symbolic-ref", "HEAD"]), "refs/heads/main");
    assert_eq!(git(scene, &["status", "--porcelain"]), "");
    let left = ["pathmeter-bisect", "BISECT_START", "BISECT_LOG"];
    let left: Vec<_> = left.iter().filter(|it| scene.path("tree/.git").join(it).exists()).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// So many seeded histories of 1,000 commits, one of which changes the path: it is found.
fn found_in_histories(seeds: u64) {
    for seed in 1..=seeds {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let changed = usize::try_from(1 + random(999)).unwrap();
        let like = |number| if number >= changed { "more" } else { ["same", "other"][number % 2] };
        let scene = scene();
        tree(&scene, &(0..1000).map(like).collect::<Vec<_>>());
        let ran = bisect(&scene, BUILD, &[]);
        assert_eq!(ran.code, Some(0), "{seed}: {}", ran.stderr);
        assert!(
            ran.stdout.contains(&format!("(\"change {changed}\")\n")),
            "{seed}: {}",
            ran.stdout
        );
        let (_, cost) = ran.stdout.split_once(">, 1970-01-01 (").unwrap();
        let measured: usize = cost.split(' ').next().unwrap().parse().unwrap();
        // log2(999 candidates), and GOOD; and BAD if the search ends there.
        assert!(measured <= 11 + usize::from(changed == 999), "{seed}: {measured}");
        assert_untouched(&scene);
    }
}

#[test]
fn the_commit_is_found_in_a_thousand() {
    let long = std::env::var_os("PATHMETER_SOAK").is_some();
    found_in_histories(if long { 20 } else { 2 });
}

#[test]
fn the_answer_names_the_commit_and_the_difference() {
    let scene = scene();
    tree(&scene, &["same", "other", "more"]);
    let ran = bisect(&scene, BUILD, &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let commit = git(&scene, &["rev-parse", "--short=12", "main"]);
    let head = format!("first commit that differs: {commit} (\"change 2\")\n");
    assert!(ran.stdout.starts_with(&head), "{}", ran.stdout);
    assert!(ran.stdout.contains("switch.yield  3,300  3,333         +33  +1.00 %  higher"));
    assert!(ran.stdout.ends_with(&format!("\nFixes: {commit} (\"change 2\")\n")), "{}", ran.stdout);
}

#[test]
fn commits_that_do_not_build_or_measure_are_skipped() {
    let scene = scene();
    let like = ["same", "none", "same", "same", "none", "garbage", "more", "more", "none", "more"];
    tree(&scene, &like);
    let ran = bisect(&scene, BUILD, &[]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    for number in 4..=6 {
        assert!(ran.stderr.contains(&format!("(\"change {number}\")\n")), "{}", ran.stderr);
    }
    assert!(ran.stderr.contains("is one of these"), "{}", ran.stderr);
    assert_untouched(&scene);
}

#[test]
fn ends_that_can_not_be_ends_are_refused() {
    let scene = scene();
    tree(&scene, &["same", "other", "same"]);
    let ran = bisect(&scene, BUILD, &[]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("BAD does not differ from GOOD (3 meas"), "{}", ran.stderr);
    assert_untouched(&scene);
    let ran = bisect(&scene, "exit 9", &[]);
    assert!(ran.stderr.contains("GOOD can't be measured: the build ended with exit code 9"));
    assert_untouched(&scene);
    let run = |good: &str, bad: &str| -> Ran {
        let arguments =
            ["bisect", "--good", good, "--bad", bad, "--path", "switch.yield", "--", "x"];
        let mut command = scene.command(&arguments);
        command.current_dir(scene.path("tree")).output().unwrap().into()
    };
    for (good, bad, words) in [
        ("main", "main~1", "GOOD is no ancestor of BAD"),
        ("main", "main", "GOOD and BAD are one commit"),
        ("v0", "main", "v0 is no commit of this tree"),
        ("--help", "main", "is no commit of this tree"),
    ] {
        let ran = if good.starts_with('-') { run("HEAD:like", bad) } else { run(good, bad) };
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    std::fs::write(scene.path("tree/like"), "mine").unwrap();
    let ran = run("main~1", "main");
    assert!(ran.stderr.contains("changes that are not committed"), "{}", ran.stderr);
    assert_eq!(scene.read("tree/like"), "mine");
}

#[test]
fn no_git_no_tree_and_a_shallow_clone_are_refused() {
    let scene = scene();
    let arguments = ["bisect", "--good", "a", "--bad", "b", "--path", "switch.yield", "--", "x"];
    let ran = scene.run(&arguments);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("is in no git tree"), "{}", ran.stderr);
    let ran: Ran = scene.command(&arguments).env("PATH", "/nonexistent").output().unwrap().into();
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("there is no git"), "{}", ran.stderr);
    tree(&scene, &["same", "more"]);
    let from = format!("file://{}", scene.path("tree").display());
    let clone = ["clone", "--quiet", "--depth=1", &from, "../shallow"];
    git(&scene, &clone);
    let mut shallow = scene.command(&arguments);
    let ran: Ran = shallow.current_dir(scene.path("shallow")).output().unwrap().into();
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("this clone is shallow"), "{}", ran.stderr);
}

#[test]
fn what_a_build_leaves_or_changes_is_undone() {
    let scene = scene();
    tree(&scene, &["same", "same", "same", "other", "more"]);
    std::fs::write(scene.path("tree/mine"), "kept").unwrap();
    let build = format!("{BUILD}; echo x > like; echo y > rubbish; test $(cat count) != 1");
    let ran = bisect(&scene, &build, &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(git(&scene, &["status", "--porcelain"]), "?? mine");
    assert_eq!(scene.read("tree/mine"), "kept");
}

#[test]
fn a_build_that_hangs_is_skipped() {
    let scene = scene();
    tree(&scene, &[&["same"; 9][..], &["more"; 15]].concat());
    let hangs = "test $(cat count) = 0 || test -e ../hung || { touch ../hung; sleep 1000; }";
    let build = format!("{BUILD}; {hangs}");
    let ran = bisect(&scene, &build, &["--build-timeout", "1"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("the build took longer than 1 seconds"), "{}", ran.stderr);
    assert!(ran.stdout.contains("(\"change 9\")"), "{}", ran.stdout);
}

#[test]
fn an_interrupted_bisection_goes_on_with_the_same_command() {
    let scene = scene();
    tree(&scene, &[&["same"; 40][..], &["more"; 24]].concat());
    for signal in ["INT", "KILL"] {
        // The third build kills the whole command, once.
        let marker = scene.path(signal);
        let build = format!(
            "{BUILD}; echo x >> ../{signal}.builds; \
             if test $(wc -l < ../{signal}.builds) = 3 && ! test -e ../{signal}; then \
             touch ../{signal}; git checkout -q -- .; kill -{signal} $PPID; sleep 3; fi"
        );
        let ran = bisect(&scene, &build, &[]);
        assert_eq!(ran.code, if signal == "INT" { Some(130) } else { None }, "{}", ran.stderr);
        assert!(marker.exists() && scene.path("tree/.git/pathmeter-bisect").is_dir());
        std::thread::sleep(Duration::from_millis(100));
        let other = bisect(&scene, "another build", &[]);
        assert_eq!(other.code, Some(2), "{}", other.stderr);
        assert!(other.stderr.contains("another bisection was begun"), "{}", other.stderr);
        let ran = bisect(&scene, &build, &[]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(ran.stderr.contains("going on: 2 measurements so far"), "{}", ran.stderr);
        assert!(ran.stdout.contains("(\"change 40\")"), "{}", ran.stdout);
        let builds = scene.read(&format!("{signal}.builds")).lines().count();
        assert!(builds <= 1 + 6 + 1, "only the interrupted one was built again: {builds}");
        assert_untouched(&scene);
    }
}

#[test]
fn a_bisection_of_the_users_own_is_left_alone() {
    let scene = scene();
    tree(&scene, &["same", "more"]);
    git(&scene, &["bisect", "start"]);
    let ran = bisect(&scene, BUILD, &[]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("a bisection of yours is under way"), "{}", ran.stderr);
    assert!(scene.path("tree/.git/BISECT_START").exists());
}
