//! Kernels that can't be measured, and QEMUs that don't run them: exit code 3, a message that names
//! the file and what to do, nothing left behind.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::results::base;
use crate::scene::{Ran, Scene, document, kernel, qemu};

fn measure(scene: &Scene, kernel: &str, state: &str) -> Ran {
    scene.run(&["measure", kernel, "--qemu", &qemu(state), "--timeout", "1"])
}

/// Exit code 3, nothing on stdout, and `words` in the message.
fn assert_unmeasured(ran: &Ran, words: &[&str]) {
    assert_eq!((ran.code, &ran.stdout[..]), (Some(3), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("pathmeter: error: "), "{}", ran.stderr);
    for word in words {
        assert!(ran.stderr.contains(word), "{word} is not in: {}", ran.stderr);
    }
}

#[test]
fn without_qemu_the_package_to_install_is_named() {
    let scene = Scene::new();
    let output = scene.command(&["measure", &kernel("vmlinux.elf")]).env("PATH", "").output();
    let words = ["qemu-system-x86_64 was not found on PATH", "apt-get install qemu-system-x86"];
    assert_unmeasured(&output.unwrap().into(), &words);
}

#[test]
fn an_old_qemu_and_another_program_are_refused() {
    let scene = Scene::new();
    let ran = measure(&scene, &kernel("vmlinux.elf"), "old");
    assert_unmeasured(&ran, &["is QEMU 5.2.0; 7.2 or newer is needed", "help: install a newer"]);
    let ran = measure(&scene, &kernel("vmlinux.elf"), "foreign");
    assert_unmeasured(&ran, &["is not QEMU", "GNU bash"]);
}

#[test]
fn a_kernel_that_would_be_measured_differently_is_refused_before_it_boots() {
    let scene = Scene::with(&base(), &base());
    let (kernel, qemu) = (kernel("vmlinux.elf"), qemu("ends"));
    for sides in [["base.json", &kernel], [&kernel, "base.json"]] {
        let ran = scene.run(&[&["compare"][..], &sides, &["--qemu", &qemu]].concat());
        assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{}", ran.stderr);
        for words in ["measured differently:\n", "other versions of pathmeter measured them ("] {
            assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
        }
        assert!(!ran.stderr.contains("booting"), "{}", ran.stderr);
        let across = [&["compare", "--across"][..], &sides, &["--qemu", &qemu]].concat();
        assert_unmeasured(&scene.run(&across), &["vmlinux.elf: "]);
    }
}

#[test]
fn a_qemu_that_ends_or_hangs_names_the_kernel_and_leaves_nothing() {
    let scene = Scene::new();
    for state in ["ends", "hangs"] {
        let ran = measure(&scene, &kernel("vmlinux.elf"), state);
        assert_unmeasured(&ran, &["vmlinux.elf: "]);
        assert_eq!(scene.files("cache/pathmeter"), [""; 0]);
    }
}

#[test]
fn the_time_limit_holds_for_the_self_test_of_an_untested_qemu() {
    let scene = Scene::new();
    let begun = Instant::now();
    let ran = measure(&scene, &kernel("vmlinux.elf"), "untested");
    assert_unmeasured(&ran, &["QEMU 99.1.0 fails the self-test: ", "not done after 1 s"]);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

#[test]
fn a_qemu_that_ends_is_noticed_though_whoever_started_us_ignores_its_children() {
    let scene = Scene::new();
    let pathmeter = assert_cmd::cargo::cargo_bin!("pathmeter");
    let begun = Instant::now();
    let output = Command::new("timeout")
        .args(["60", "env", "--ignore-signal=CHLD"])
        .arg(pathmeter)
        .args(["measure", &kernel("vmlinux.elf"), "--qemu", &qemu("ends"), "--timeout", "50"])
        .current_dir(scene.path("."))
        .env("XDG_CACHE_HOME", scene.path("cache"))
        .output();
    assert_unmeasured(&output.unwrap().into(), &["vmlinux.elf: "]);
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
}

#[test]
fn a_file_that_is_no_kernel_is_named_with_what_it_is() {
    let scene = Scene::new();
    scene.write("notes.txt", "a shopping list");
    assert_unmeasured(&measure(&scene, "notes.txt", "ends"), &["notes.txt: not an x86-64 kernel"]);
    scene.write("empty", "");
    assert_unmeasured(&measure(&scene, "empty", "ends"), &["empty: the file is empty"]);
    assert_unmeasured(&measure(&scene, "missing", "ends"), &["missing: cannot open"]);
    assert_unmeasured(&measure(&scene, ".", "ends"), &["a folder without arch/x86/boot/bzImage"]);
}

#[test]
fn a_document_that_is_no_result_is_named() {
    let scene = Scene::new();
    scene.write("cut.json", &document(&base())[..200]);
    assert_unmeasured(&scene.run(&["measure", "cut.json"]), &["cut.json: not JSON"]);
    scene.write("other.json", document(&serde_json::json!({"schema": "pathmeter.comparison/1"})));
    assert_unmeasured(&scene.run(&["measure", "other.json"]), &["other.json: the schema is"]);
}

#[test]
fn a_result_with_a_byte_order_mark_is_one_and_utf16_is_named() {
    let scene = Scene::new();
    let text = document(&base());
    scene.write("marked.json", format!("\u{feff}{text}"));
    assert_eq!(scene.run(&["measure", "marked.json"]).code, Some(0));
    let text = format!("\u{feff}{text}");
    let units = text.encode_utf16().flat_map(u16::to_le_bytes);
    scene.write("wide.json", units.collect::<Vec<u8>>());
    let words = ["wide.json: UTF-16, which JSON is not", "iconv -f UTF-16 -t UTF-8"];
    assert_unmeasured(&scene.run(&["measure", "wide.json"]), &words);
}

#[test]
fn if_both_sides_fail_both_errors_are_told() {
    let scene = Scene::new();
    scene.write("one.txt", "one");
    scene.write("two.txt", "two");
    let ran = scene.run(&["compare", "one.txt", "two.txt", "--qemu", &qemu("ends"), "-q"]);
    insta::assert_snapshot!(ran.stderr);
    assert_eq!(ran.code, Some(3));
}

#[test]
fn the_same_image_twice_is_measured_once() {
    let scene = Scene::new();
    scene.write("copy", std::fs::read(kernel("vmlinux.elf")).unwrap());
    let ran = scene.run(&["compare", &kernel("vmlinux.elf"), "copy", "--qemu", &qemu("ends")]);
    assert_unmeasured(&ran, &["note: BASE and NEW are the same image; it is measured once"]);
    assert_eq!(ran.stderr.matches("error: ").count(), 1);
}

#[test]
fn a_cache_that_cannot_be_is_named_once_and_done_without() {
    let scene = Scene::new();
    scene.write("cache", "a file where the folder should be");
    let base = kernel("vmlinux.elf");
    scene.write("new.elf", [&std::fs::read(&base).unwrap()[..], b"\0"].concat());
    let run = |more: &[&str]| {
        let compare = ["compare", &base, "new.elf", "--qemu", &qemu("ends")];
        scene.run(&[&compare[..], more].concat())
    };
    let ran = run(&[]);
    // QEMU was started all the same.
    assert_unmeasured(&ran, &["vmlinux.elf: ", "; going on without a cache"]);
    let folder = scene.path("cache/pathmeter").display().to_string();
    assert_eq!(ran.stderr.matches(&format!("the cache folder {folder}: ")).count(), 1);
    for unasked in [["--no-cache"], ["--quiet"]] {
        assert!(!run(&unasked).stderr.contains("the cache folder"), "{unasked:?}");
    }
}

#[test]
fn with_no_home_there_is_no_cache() {
    let scene = Scene::new();
    for relative in ["", "cache"] {
        let mut command =
            scene.command(&["measure", &kernel("vmlinux.elf"), "--qemu", &qemu("ends")]);
        let output = command.env_remove("HOME").env("XDG_CACHE_HOME", relative).output();
        let words = ["neither XDG_CACHE_HOME nor HOME is set", "; going on without a cache"];
        assert_unmeasured(&output.unwrap().into(), &words);
        assert!(!scene.path("cache").exists());
    }
}

#[test]
fn a_relative_cache_home_is_ignored() {
    let scene = Scene::new();
    let mut command = scene.command(&["measure", &kernel("vmlinux.elf"), "--qemu", &qemu("ends")]);
    command.env("HOME", scene.path("home")).env("XDG_CACHE_HOME", "relative");
    assert_unmeasured(&command.output().unwrap().into(), &["vmlinux.elf: "]);
    assert!(scene.path("home/.cache/pathmeter").is_dir() && !scene.path("relative").exists());
}

#[test]
fn an_interrupt_ends_the_run_with_one_line_and_code_130() {
    let scene = Scene::new();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("pathmeter"))
        .args(["measure", &kernel("vmlinux.elf"), "--qemu", &qemu("hangs")])
        .env("XDG_CACHE_HOME", scene.path("cache"))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let guest = wait_for_child_of(child.id());
    Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.ends_with("pathmeter: interrupted; nothing was left running\n"), "{said}");
    assert!(!said.contains("error"));
    assert!(!std::path::Path::new(&format!("/proc/{guest}")).exists());
    assert_eq!(scene.files("cache/pathmeter"), [""; 0]);
}

/// The number of the guest's process, once it is asleep.
fn wait_for_child_of(parent: u32) -> u32 {
    let deadline = Instant::now() + Duration::from_secs(20);
    while Instant::now() < deadline {
        if let Some(child) = sleeping_child_of(parent) {
            return child;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("the guest was never started");
}

/// By proc(5)'s `N (sleep) S PARENT …`.
fn sleeping_child_of(parent: u32) -> Option<u32> {
    let wanted = format!(" (sleep) S {parent} ");
    std::fs::read_dir("/proc").unwrap().flatten().find_map(|entry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let child = stat.contains(&wanted).then(|| entry.file_name());
        child?.to_str()?.parse().ok()
    })
}
