//! Kernels that panic, hang, reboot or lie: an error that names the file and the step and shows
//! the console's last lines; and no process or file left over. One that only dies on a path costs
//! that path.

use std::process::Command;

use pathmeter_e2e::{NOT_ON_BUILT, NOT_ON_LINUX, Run, Scene, built, fake, rows, with_status};
use serde_json::Value;

/// How the console's tail is announced, and the first line that all fakes print.
const CONSOLE: &[&str] = &["the end of the guest's console:\n", "| Linux version 6.1.0-fake"];
const PANIC: &str = "Kernel panic - not syncing: fixture";
const SILENCE: &str = "not done after 3 s";
/// Many times what the command needs, which is mostly the image.
const MOST_MEMORY_KIB: u64 = 200 << 10;

/// Measures the fake kernel, which must fail with an error that contains `words`.
fn unmeasured(name: &str, words: &[&str]) -> Run {
    unmeasured_under(&[], name, words)
}

/// The same with these options.
fn unmeasured_under(options: &[&str], name: &str, words: &[&str]) -> Run {
    let scene = Scene::cold();
    let run = scene.run(&[&["measure", &fake(name), "--timeout", "3"], options].concat());
    run.assert_unmeasured(&[&format!("{name}.elf: ")]);
    run.assert_unmeasured(words);
    scene.assert_cache_is_tidy();
    run
}

#[test]
fn a_panic_during_boot() {
    unmeasured("panics-early", &["booting the kernel: ", PANIC, "help: "]).assert_printed(CONSOLE);
}

#[test]
fn a_panic_that_may_be_qemus_is_told_from_one_that_is_the_kernels() {
    let mut words = vec!["booting the kernel: ", PANIC, "help: "];
    if qemu_says().contains("version 7.") {
        words.extend(["no processor can have the EFLAGS that it printed", "--append printk.any=1"]);
    }
    let run = unmeasured("panics-by-qemu", &words);
    assert_eq!(run.stderr.contains("QEMU's doing"), words.len() > 3, "{}", run.stderr);
    let run = unmeasured("panics-early", &[PANIC]);
    assert!(!run.stderr.contains("QEMU's doing"), "{}", run.stderr);
}

/// What the QEMU on PATH says of its version.
fn qemu_says() -> String {
    let asked = Command::new("qemu-system-x86_64").arg("--version").output().unwrap();
    String::from_utf8(asked.stdout).unwrap()
}

#[test]
fn a_reboot_in_a_loop() {
    unmeasured("reboots", &["booting the kernel: ", PANIC]).assert_printed(CONSOLE);
}

#[test]
fn a_panic_after_the_start() {
    unmeasured("ready-then-panics", &["running the agent: ", PANIC, "guest's console:\n"]);
}

#[test]
fn a_guest_that_pauses_itself_is_not_waited_for() {
    // The limit's words are others.
    unmeasured("ready-then-pauses", &["running the agent: the guest paused itself"]);
}

#[test]
fn a_hang() {
    unmeasured("hangs", &["booting the kernel: ", SILENCE, "--timeout"]).assert_printed(CONSOLE);
}

#[test]
fn a_hang_while_its_condition_is_made() {
    let words = ["putting the guest under its condition: ", SILENCE, "--timeout"];
    let under = ["--under", "sysctl:vm.swappiness=1"];
    unmeasured_under(&under, "hangs-under-condition", &words);
    // Without a condition it is the agent that does not go on.
    unmeasured("hangs-under-condition", &["running the agent: ", SILENCE]);
}

#[test]
fn silence_from_the_first_instruction() {
    let run = unmeasured("silent-hlt", &["booting the kernel: ", SILENCE, "--timeout"]);
    assert!(!run.stderr.contains("console:"), "{}", run.stderr);
}

#[test]
fn garbage_on_the_protocol_port() {
    let words = ["booting the kernel: ", "the protocol port carried bytes", "help: "];
    unmeasured("garbage-on-port", &words).assert_printed(CONSOLE);
}

#[test]
fn a_frame_that_claims_four_gibibytes() {
    let run = unmeasured("huge-frame", &["the protocol port carried a frame that claims"]);
    assert!(run.peak_kib < MOST_MEMORY_KIB, "{} KiB", run.peak_kib);
}

#[test]
fn a_window_without_end_is_given_up_before_the_time_limit() {
    // The words are those of the window: those of the limit, which the measurement before the
    // recording comes to, are others.
    let scene = Scene::cold();
    let kernel = fake("window-without-end");
    let run = scene.run(&["explain", "syscall.getppid", &kernel, "--timeout", "10"]);
    run.assert_unmeasured(&["running syscall.getppid: a window did not end within 20000000"]);
    scene.assert_cache_is_tidy();
}

#[test]
fn garbage_in_the_middle_of_a_path() {
    unmeasured("garbage-in-path", &["running syscall.getppid: ", "the protocol port carried"]);
}

#[test]
fn a_path_begun_for_ever() {
    unmeasured("begins-forever", &["running syscall.getppid: ", "the plan doesn't have"]);
}

#[test]
fn events_without_end_are_not_kept() {
    let run = unmeasured("floods-events", &["running the agent: ", SILENCE]);
    assert!(run.peak_kib < MOST_MEMORY_KIB, "{} KiB", run.peak_kib);
}

#[test]
fn a_console_that_never_stops_is_kept_within_bounds() {
    let run = unmeasured("floods-console", &["booting the kernel: ", SILENCE]);
    run.assert_printed(CONSOLE);
    assert!(run.stderr.len() < 10_000, "{} bytes", run.stderr.len());
    assert!(run.peak_kib < MOST_MEMORY_KIB, "{} KiB", run.peak_kib);
}

/// Measures a kernel that dies in stat(2): there is a result, in which that path alone is `failed`,
/// with `words` as its reason; stderr tells of it, and exit code 3 that something was not measured.
// The limit is that of a run of all paths, which takes seconds on a loaded machine.
fn costs_only_stat(variant: &str, words: &str) {
    let scene = Scene::cold();
    let run =
        scene.run(&["measure", &built(variant), "--perturb", "2", "--timeout", "20", "--json"]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    let result: Value = serde_json::from_str(&run.stdout).unwrap();
    run.assert_printed(&["running file.stat: ", words]);
    let [(name, reason)] = with_status(&result, "failed")[..] else {
        panic!("not one failed: {:?}", with_status(&result, "failed"));
    };
    assert_eq!(name, "file.stat");
    assert!(reason.contains(words), "{reason}");
    let lacking = NOT_ON_LINUX.len() + NOT_ON_BUILT.len();
    assert_eq!(with_status(&result, "unsupported").len(), lacking);
    assert!(result["notes"][0].as_str().unwrap().contains(words));
    scene.assert_cache_is_tidy();
}

#[test]
fn a_panic_in_a_path_costs_that_path() {
    costs_only_stat("panics-in-stat", PANIC);
}

#[test]
fn a_hang_in_a_path_costs_that_path() {
    costs_only_stat("hangs-in-stat", "not done after 20 s");
}

#[test]
fn a_kernel_that_dies_in_a_path_is_broken_there_in_a_comparison() {
    let kernels = [built("base"), built("panics-in-stat")];
    let arguments = ["compare", &kernels[0], &kernels[1], "--perturb", "2", "--json"];
    let run = Scene::warm().run(&[&arguments[..], &["--check"]].concat());
    assert_eq!(run.code, 1, "{}", run.stderr);
    let comparison: Value = serde_json::from_str(&run.stdout).unwrap();
    let broken: Vec<_> =
        rows(&comparison).iter().filter(|row| row["verdict"] == "broken").collect();
    assert_eq!(broken.len(), 1);
    assert_eq!(broken[0]["path"], "file.stat");
    assert!(broken[0]["reason"].as_str().unwrap().contains(PANIC));
}
