//! Where results go: files appear whole or not at all, closed pipes are no error.

use std::fs::File;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use pathmeter_model::Measurement;
use pathmeter_model::example::{self, unsupported};
use pathmeter_report::FORMATS;

use crate::results::{base, large, more_expensive};
use crate::scene::Scene;

const COMPARE: &[&str] = &["compare", "base.json", "new.json"];

#[test]
fn the_file_gets_the_document_and_stdout_the_table() {
    let scene = Scene::with(&base(), &more_expensive());
    let ran = scene.run(&[COMPARE, &["-o", "out.json"]].concat());
    assert!(ran.stdout.contains("\nbase  "));
    assert!(scene.read("out.json").starts_with(r#"{"schema":"pathmeter.comparison/1""#));
    assert_eq!(scene.files(".").len(), 3, "a temporary file was left");
}

#[test]
fn in_a_pipe_tables_fit_100_columns_or_as_many_as_the_user_says() {
    let path = |name: &str, cost: u64, reason: &str| match cost {
        0 => unsupported(name, reason),
        cost => example::path(name, &[cost; 4]),
    };
    let reason = "this kernel has no such thing, ".repeat(5);
    let result = |cost| Measurement {
        paths: vec![path("switch.yield", cost, ""), path("switch.pipe", 0, reason.trim_end())],
        ..base()
    };
    let scene = Scene::with(&result(1000), &result(1010));
    let widest = |columns: Option<&str>| {
        let mut command = scene.command(COMPARE);
        command.env_remove("COLUMNS").envs(columns.map(|it| ("COLUMNS", it)));
        let stdout = String::from_utf8(command.output().unwrap().stdout).unwrap();
        let table = stdout.lines().skip_while(|line| !line.starts_with("path")).take(8);
        let lines: Vec<&str> = table.take_while(|line| !line.is_empty()).collect();
        // A remark that goes on in another line is marked there.
        let words = lines.join(" ").replace("… ", "");
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(reason.trim_end()), "{stdout}");
        lines.iter().map(|line| line.chars().count()).max().unwrap()
    };
    let [default, narrow, wide] = [None, Some("70"), Some("0")].map(widest);
    assert!(default <= 100 && default > 70 && narrow <= 70 && wide > 150, "{default} {narrow}");
}

#[test]
fn with_json_the_file_gets_all_there_is() {
    let scene = Scene::with(&base(), &more_expensive());
    let ran = scene.run(&[COMPARE, &["--json", "-o", "out.json"]].concat());
    assert_eq!(ran.stdout, "");
    assert_eq!(scene.run(&[COMPARE, &["--json"]].concat()).stdout, scene.read("out.json"));
}

#[test]
fn a_written_result_is_a_subject_again() {
    let scene = Scene::with(&base(), &more_expensive());
    scene.run(&["measure", "new.json", "-o", "again.json", "--only", "switch.*"]);
    let ran = scene.run(&["compare", "again.json", "new.json", "--only", "switch.*"]);
    assert!(ran.stdout.ends_with("2 paths: 2 same\n"), "{}", ran.stdout);
}

#[test]
fn a_full_disk_is_exit_code_3_and_named() {
    let scene = Scene::with(&base(), &more_expensive());
    let ran = scene.run(&[COMPARE, &["-o", "/dev/full"]].concat());
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("writing /dev/full: No space left on device"), "{}", ran.stderr);
    let full = File::options().write(true).open("/dev/full").unwrap();
    let pathmeter = assert_cmd::cargo::cargo_bin!("pathmeter");
    let output = Command::new(pathmeter).args(["list", "paths"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8(output.stderr).unwrap().contains("writing standard output"));
}

#[test]
fn a_folder_that_is_not_there_is_told_before_anything_is_measured() {
    let scene = Scene::new();
    let ran = scene.run(&["measure", "kernel", "-o", "missing/out.json"]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("writing missing/out.json: "), "{}", ran.stderr);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("pathmeter"))
        .args(["completions", "zsh"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), vec![]));
}

const EXPLAIN: &[&str] = &["explain", "syscall.getppid", "missing-kernel"];

fn make_pipe(scene: &Scene, name: &str) {
    assert!(Command::new("mkfifo").arg(scene.path(name)).status().unwrap().success());
}

/// `nohup` around the tests would have the command ignore a signal, as it should.
fn start(scene: &Scene, arguments: &[&str], stdout: Stdio) -> Child {
    Command::new("env")
        .arg("--default-signal=HUP,INT,TERM")
        .arg(assert_cmd::cargo::cargo_bin!("pathmeter"))
        .args(arguments)
        .current_dir(scene.path("."))
        .stdout(stdout)
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits until the process sleeps, and goes on sleeping.
fn wait_until_blocked(child: &Child) {
    let stat = format!("/proc/{}/stat", child.id());
    let mut asleep = 0;
    for _ in 0..1000 {
        let sleeps = std::fs::read_to_string(&stat).unwrap().contains(") S ");
        asleep = if sleeps { asleep + 1 } else { 0 };
        // Long enough for none of the short waits before.
        if asleep == 25 {
            return;
        }
        sleep(Duration::from_millis(20));
    }
    panic!("it never blocked");
}

fn signal(child: &Child, name: &str) {
    let kill = format!("kill -{name} {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
}

/// It ends soon, with the code of an interrupt.
fn assert_interrupted(mut child: Child) {
    for _ in 0..500 {
        if let Some(status) = child.try_wait().unwrap() {
            assert_eq!(status.code(), Some(130));
            return;
        }
        sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    panic!("the first signal was lost");
}

#[test]
fn a_pipe_is_opened_once_and_gets_the_document() {
    let scene = Scene::with(&base(), &more_expensive());
    make_pipe(&scene, "pipe");
    // A reader that leaves at the first end of the stream, as any does.
    let reader =
        Command::new("cat").arg(scene.path("pipe")).stdout(Stdio::piped()).spawn().unwrap();
    wait_until_blocked(&reader);
    let ran = scene.run(&[COMPARE, &["-o", "pipe"]].concat());
    assert_eq!((ran.code, &ran.stderr[..]), (Some(0), ""));
    let read = reader.wait_with_output().unwrap().stdout;
    assert!(read.starts_with(br#"{"schema":"pathmeter.comparison/1""#), "{}", read.len());
}

#[test]
fn the_first_signal_ends_the_wait_for_a_reader() {
    for name in ["INT", "TERM", "HUP"] {
        let scene = Scene::with(&base(), &more_expensive());
        make_pipe(&scene, "pipe");
        let child = start(&scene, &[COMPARE, &["-o", "pipe"]].concat(), Stdio::null());
        wait_until_blocked(&child);
        signal(&child, name);
        assert_interrupted(child);
    }
}

#[test]
fn the_first_signal_ends_a_write_that_nobody_reads() {
    let scene = Scene::with(&large(), &large());
    let child = start(&scene, &[COMPARE, &["--json"]].concat(), Stdio::piped());
    wait_until_blocked(&child);
    signal(&child, "TERM");
    assert_interrupted(child);
}

#[test]
fn a_signal_after_a_measurement_ends_the_write_of_its_failure_too() {
    // A kernel that can't be measured comes after the interrupt's handling has begun.
    let scene = Scene::new();
    let kernel = crate::scene::kernel("vmlinux.elf");
    let arguments = ["measure", &kernel, "--qemu", &crate::scene::qemu("ends")];
    let (reader, mut writer) = std::io::pipe().unwrap();
    // The error finds no room.
    fill(&mut writer);
    let child = Command::new(assert_cmd::cargo::cargo_bin!("pathmeter"))
        .args(arguments)
        .arg("--quiet")
        .env("XDG_CACHE_HOME", scene.path("cache"))
        .stderr(writer)
        .spawn()
        .unwrap();
    wait_until_blocked(&child);
    signal(&child, "TERM");
    assert_interrupted(child);
    drop(reader);
}

/// Fills a pipe, which holds 64 KiB unless somebody asks for more.
fn fill(pipe: &mut std::io::PipeWriter) {
    std::io::Write::write_all(pipe, &vec![b'x'; 1 << 16]).unwrap();
}

#[test]
fn a_format_on_standard_output_is_as_in_a_file() {
    let scene = Scene::with(&base(), &more_expensive());
    for format in FORMATS.iter().map(|format| format.word) {
        let file = format!("{format}=made");
        let words = ["compare", "base.json", "new.json", "--format", format, "--write", &file];
        let ran = scene.run(&words);
        assert_eq!(ran.stdout, scene.read("made"), "{format}");
    }
}

#[test]
fn nohup_is_obeyed() {
    let scene = Scene::with(&base(), &more_expensive());
    make_pipe(&scene, "pipe");
    let pathmeter = assert_cmd::cargo::cargo_bin!("pathmeter").to_str().unwrap();
    let mut child = Command::new("sh")
        .args(["-c", r#"trap '' HUP; exec "$0" compare base.json new.json -o pipe"#, pathmeter])
        .current_dir(scene.path("."))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until_blocked(&child);
    signal(&child, "HUP");
    let read = std::fs::read(scene.path("pipe")).unwrap();
    assert_eq!((child.wait().unwrap().code(), read.is_empty()), (Some(0), false));
}

#[test]
fn a_socket_is_named_with_what_to_do() {
    let scene = Scene::with(&base(), &more_expensive());
    let _socket = std::os::unix::net::UnixListener::bind(scene.path("socket")).unwrap();
    let ran = scene.run(&[COMPARE, &["-o", "socket"]].concat());
    assert_eq!((ran.code, &ran.stdout[..]), (Some(3), ""));
    assert!(ran.stderr.contains("a socket can't be written to by its name"), "{}", ran.stderr);
}

#[test]
fn a_small_stack_is_enough() {
    let scene = Scene::with(&base(), &more_expensive());
    let pathmeter = assert_cmd::cargo::cargo_bin!("pathmeter").to_str().unwrap();
    let output = Command::new("prlimit")
        .args(["--stack=16384", pathmeter])
        .args(COMPARE)
        // The stack holds the environment as well.
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .current_dir(scene.path("."))
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), &*stderr), (Some(0), ""));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), scene.run(COMPARE).stdout);
}

#[test]
fn a_value_of_any_length_is_told_in_a_few_lines() {
    let scene = Scene::new();
    let long = "x".repeat(100_000);
    for line in [
        &["measure", &*long][..],
        &["measure", "lab", "--under", &format!("boot:a seccomp:{long}")],
        &["measure", "lab", "--cpu", &long],
        &["measure", "lab", "--only", &long],
        &["compare", "lab", "lab", &format!("--check={long}")],
        &["measure", "lab", "--append", &"word ".repeat(20_000)],
        &[&long],
    ] {
        let ran = scene.run(line);
        assert_eq!((ran.code == Some(2) || ran.code == Some(3), &*ran.stdout), (true, ""));
        assert!(ran.stderr.len() < 5_000, "{} bytes: {:.200}", ran.stderr.len(), ran.stderr);
        assert!(!ran.stderr.contains(&long[..1000]), "{:.200}", ran.stderr);
    }
}

#[test]
fn beyond_the_limit_on_files_it_is_an_error_and_nothing_is_left() {
    let scene = Scene::with(&large(), &large());
    for earlier in [None, Some("an earlier result")] {
        if let Some(text) = earlier {
            scene.write("out.json", text);
        }
        let before = scene.files(".").len();
        let output = Command::new("prlimit")
            .args(["--fsize=4096", assert_cmd::cargo::cargo_bin!("pathmeter").to_str().unwrap()])
            .args([COMPARE, &["-o", "out.json"]].concat())
            .current_dir(scene.path("."))
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{stderr}");
        assert!(stderr.contains("writing out.json: File too large"), "{stderr}");
        assert!(stderr.contains("ulimit -f"), "{stderr}");
        assert_eq!(scene.files(".").len(), before, "a temporary file was left");
        if let Some(text) = earlier {
            assert_eq!(scene.read("out.json"), text);
        }
    }
}

/// Wrong usage, told before the kernel, which does not exist, is looked for.
fn assert_refused(scene: &Scene, more: &[&str], words: &str) {
    let ran = scene.run(&[EXPLAIN, more].concat());
    assert_eq!((ran.code, &ran.stdout[..]), (Some(2), ""), "{more:?}: {}", ran.stderr);
    assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
}

#[test]
fn one_file_for_two_outputs_is_wrong_usage() {
    let scene = Scene::new();
    scene.write("there", "");
    std::os::unix::fs::symlink("there", scene.path("link")).unwrap();
    std::fs::create_dir(scene.path("folder")).unwrap();
    std::fs::hard_link(scene.path("there"), scene.path("second")).unwrap();
    for (one, other) in [
        ("x", "x"),
        ("x", "./x"),
        ("x", "folder/../x"),
        ("there", "link"),
        ("there", "second"),
        ("folder/new", "folder/./new"),
    ] {
        assert_refused(&scene, &["-o", one, "--svg", other], "--svg names the same file");
        assert_refused(&scene, &["--folded", one, "--callgrind", other], "as --folded");
    }
    assert_eq!(scene.files(".").len(), 4);
    let both = [EXPLAIN, &["-o", "/dev/null", "--svg", "/dev/null"]].concat();
    assert_eq!(scene.run(&both).code, Some(3), "it takes all");
}

#[test]
fn what_is_read_is_not_written_over() {
    let scene = Scene::with(&base(), &more_expensive());
    let ran = scene.run(&[COMPARE, &["-o", "./base.json"]].concat());
    assert_eq!((ran.code, &ran.stdout[..]), (Some(2), ""));
    assert!(ran.stderr.contains("--output names the same file as what is read"), "{}", ran.stderr);
    scene.write("vmlinux", "");
    assert_refused(&scene, &["--vmlinux", "vmlinux", "--svg", "vmlinux"], "--svg names the same");
    // A subject that is no file.
    assert_eq!(scene.run(&["measure", "lab", "-o", "missing/lab"]).code, Some(3));
}

#[test]
fn a_file_that_stdout_goes_to_is_not_replaced() {
    let scene = Scene::with(&base(), &more_expensive());
    let stdout = File::create(scene.path("out")).unwrap();
    let arguments = [COMPARE, &["-o", "out"]].concat();
    let status = start(&scene, &arguments, stdout.into()).wait().unwrap();
    assert_eq!((status.code(), &scene.read("out")[..]), (Some(2), ""));
}
