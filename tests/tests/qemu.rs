//! QEMUs that aren't there, don't suit, or die.

use std::fs;
use std::time::Duration;

use pathmeter_e2e::{Run, Scene, built, pathmeter};
use rustix::process::{Pid, Signal, geteuid, kill_process};

/// Makes a program of the scene out of a shell script.
fn script(scene: &Scene, name: &str, text: &str) -> String {
    scene.executable(name, &format!("#!/bin/sh\n{text}\n"))
}

#[test]
fn none_on_path_names_the_package() {
    let scene = Scene::cold();
    let mut command = scene.command(&["measure", &built("base")]);
    command.env("PATH", scene.path("empty"));
    let words = ["qemu-system-x86_64 was not found on PATH", "apt-get install qemu-system-x86"];
    scene.run_command(command).assert_unmeasured(&words);
}

#[test]
fn one_that_is_not_there_is_named() {
    let run = Scene::cold().run(&["measure", &built("base"), "--qemu", "/nonexistent/qemu"]);
    run.assert_unmeasured(&["/nonexistent/qemu was not found", "--qemu FILE"]);
}

#[test]
fn one_too_old_is_told_with_what_is_needed() {
    let scene = Scene::cold();
    let old = script(&scene, "old-qemu", "echo 'QEMU emulator version 5.2.0'");
    let run = scene.run(&["measure", &built("base"), "--qemu", &old]);
    run.assert_unmeasured(&["old-qemu is QEMU 5.2.0", "7.2 or newer is needed", "install a newer"]);
}

#[test]
fn one_that_ends_at_once_is_quoted() {
    let scene = Scene::cold();
    let text = "[ \"$1\" = --version ] && echo 'QEMU emulator version 7.2.0' && exit\n\
                echo 'qemu: there is no room' >&2; exit 1";
    let broken = script(&scene, "broken-qemu", text);
    let run = scene.run(&["measure", &built("base"), "--qemu", &broken]);
    run.assert_unmeasured(&["base.bzImage: starting QEMU: ", "qemu: there is no room"]);
    assert_eq!(scene.cached(), [""; 0]);
}

/// A script that is the installed QEMU, but for what `case` does first.
fn wrapped(scene: &Scene, case: &str) -> String {
    script(scene, "wrapped-qemu", &format!("{case}\nexec qemu-system-x86_64 \"$@\""))
}

#[test]
fn a_wrapper_script_is_as_good_as_the_program() {
    let scene = Scene::cold();
    let qemu = wrapped(&scene, "");
    scene.run(&["measure", "lab", "--perturb", "1", "--qemu", &qemu]).succeeded();
    scene.assert_nothing_running();
}

/// The second argument after `-m` or `-cpu` is what was asked for; one word of it is changed.
#[test]
fn a_wrapper_script_that_changes_the_machine_is_refused() {
    let change = |option: &str, to: &str| {
        let scene = Scene::cold();
        let case = format!(
            "last=; for word; do shift; case $last in {option}) word={to} ;; esac\n\
             set -- \"$@\" \"$word\"; last=$word; done"
        );
        let qemu = wrapped(&scene, &case);
        let run = scene.run(&["measure", "lab", "--perturb", "1", "--qemu", &qemu]);
        assert_eq!(scene.cached(), [""; 0]);
        run
    };
    let other = "this QEMU made another machine than was asked for: ";
    let memory = change("-m", "256");
    memory.assert_unmeasured(&[other, "256 MiB of memory for ", "name QEMU itself"]);
    change("-cpu", "$word,erms=off").assert_unmeasured(&[other, "erms is off"]);
    change("-cpu", "$word,fsrm=on").assert_unmeasured(&[other, "fsrm is on"]);
}

/// A guest that idles has the clock moved on, and only a plugin keeps that from going too far: one
/// that boots has one as well, and one that is asked for symbols.
#[test]
fn every_guest_has_a_plugin_that_keeps_its_clock_right() {
    let scene = Scene::cold();
    let qemu = wrapped(&scene, "echo \"$*\" >>\"$(dirname \"$0\")/started\"");
    scene.run(&["measure", "lab", "--perturb", "1", "--qemu", &qemu]).succeeded();
    let started = fs::read_to_string(scene.path("started")).unwrap();
    let guests: Vec<&str> = started.lines().filter(|line| line.contains("-icount")).collect();
    for origin in [" -kernel ", " -incoming "] {
        assert!(guests.iter().any(|words| words.contains(origin)), "{started}");
    }
    assert!(guests.iter().all(|words| words.contains(" -plugin ")), "{started}");
}

/// The installed QEMU, passing for a version that nobody has tested.
fn untested(scene: &Scene, case: &str) -> String {
    let version = "[ \"$1\" = --version ] && echo 'QEMU emulator version 99.1.0' && exit\n";
    wrapped(scene, &format!("{version}{case}"))
}

#[test]
fn one_of_an_untested_version_is_tried_once() {
    let scene = Scene::cold();
    let qemu = untested(&scene, "");
    // A profile of a machine has words for newer versions, which the installed one does not know.
    let arguments = ["measure", "lab", "--perturb", "1", "--cpu", "plain", "--qemu", &qemu];
    let note = "QEMU 99.1.0 is not among the tested versions";
    let first = scene.run(&arguments);
    first.succeeded().assert_printed(&[note]);
    assert!(!scene.run(&arguments).succeeded().stderr.contains(note));
}

#[test]
fn one_of_an_untested_version_that_does_not_work_is_refused_for_what_failed() {
    let scene = Scene::cold();
    let qemu = untested(&scene, "echo 'no such option' >&2; exit 1");
    let run = scene.run(&["measure", &built("base"), "--qemu", &qemu]);
    run.assert_unmeasured(&["QEMU 99.1.0", "fails the self-test", "no such option"]);
}

/// A QEMU that was built without something: its list lacks the word, and it refuses the option.
fn assert_lack_is_told(case: &str, words: &[&str]) {
    let scene = Scene::cold();
    let qemu = wrapped(&scene, case);
    scene.run(&["measure", &built("base"), "--qemu", &qemu]).assert_unmeasured(words);
    let doctor = scene.run(&["doctor", "--qemu", &qemu]);
    assert!(words.iter().all(|word| doctor.stdout.contains(word)), "{}", doctor.stdout);
    assert_eq!(doctor.code, 3);
    scene.assert_nothing_running();
}

#[test]
fn one_without_the_interpreter_says_so() {
    let case = "case \"$*\" in '-accel help') echo kvm; exit;; *'-accel tcg'*) \
                echo 'invalid accelerator tcg' >&2; exit 1;; esac";
    assert_lack_is_told(case, &["this QEMU was built without TCG"]);
}

#[test]
fn one_without_the_machine_says_so() {
    let case = "case \"$*\" in *'-M help') echo q35; exit;; *'-M microvm'*) \
                echo 'unsupported machine type' >&2; exit 1;; esac";
    assert_lack_is_told(case, &["this QEMU was built without the microvm machine"]);
}

#[test]
fn one_without_a_sandbox_says_so() {
    let case =
        "case \"$*\" in *-sandbox*) echo 'sandbox support is not enabled' >&2; exit 1;; esac";
    assert_lack_is_told(case, &["this QEMU can't enter its sandbox"]);
}

#[test]
fn one_whose_interpreter_is_a_module_that_is_missing_is_quoted() {
    let scene = Scene::cold();
    let case = "case \"$*\" in *'-accel tcg'*) echo 'module accel-tcg-x86_64 not found' >&2; \
                kill -ABRT $$;; esac";
    let qemu = wrapped(&scene, case);
    let doctor = scene.run(&["doctor", "--qemu", &qemu]);
    let words = ["fail  clock", "accel-tcg-x86_64 not found", "another package", "don't work here"];
    assert!(words.iter().all(|word| doctor.stdout.contains(word)), "{}", doctor.stdout);
    assert_eq!(doctor.code, 3);
}

#[test]
fn one_killed_while_it_starts_is_not_told_about_its_options() {
    let scene = Scene::cold();
    let qemu = wrapped(&scene, "case \"$*\" in *'-accel tcg'*) kill -KILL $$;; esac");
    let run = scene.run(&["measure", &built("base"), "--qemu", &qemu]);
    run.assert_unmeasured(&["starting QEMU: QEMU was killed (signal: 9", "memory ran out"]);
    assert!(!run.stderr.contains("--cpu"), "{}", run.stderr);
    let doctor = scene.run(&["doctor", "--qemu", &qemu]);
    assert!(doctor.stdout.contains("QEMU was killed (signal: 9"), "{}", doctor.stdout);
    assert_eq!(doctor.code, 3);
}

/// What is said of a QEMU that says `event`, closes its control channel, and then does `at_last`.
fn closed_before(event: &str, at_last: &str) -> Run {
    let scene = Scene::cold();
    let case = format!(
        "case \"$*\" in *'-accel tcg'*) printf '{{\"return\": {{}}}}\\n%s\\n' '{event}' >&5; \
         exec 5>&-; {at_last};; esac"
    );
    let qemu = wrapped(&scene, &case);
    scene.run(&["measure", &built("base"), "--timeout", "4", "--qemu", &qemu])
}

#[test]
fn one_that_takes_long_to_end_is_told_by_what_it_said_or_how_it_ended() {
    let reset = r#"{"event": "SHUTDOWN", "data": {"guest": true, "reason": "guest-reset"}}"#;
    let run = closed_before(reset, "exec sleep 600");
    run.assert_unmeasured(&["base.bzImage: ", "the guest rebooted"]);
    assert!(run.elapsed < Duration::from_secs(4), "{:?}", run.elapsed);
    let run = closed_before("", "sleep 3; echo 'qemu: no room' >&2; exit 7");
    run.assert_unmeasured(&["QEMU ended by itself (exit status: 7)", "qemu: no room"]);
    closed_before("", "exec sleep 600").assert_unmeasured(&["QEMU closed its control channel"]);
}

/// Measures with `hidden` replaced by an empty folder, which must be named as the reason; `doctor`
/// must say so too.
fn assert_named_where_it_is_hidden(hidden: &str, what: &str) {
    let scene = Scene::cold();
    let hide = format!("mount -t tmpfs none {hidden} && exec \"$@\"");
    let pathmeter = pathmeter().to_str().unwrap();
    let run = |arguments: &[&str]| {
        let user = if geteuid().is_root() { "--mount" } else { "--map-root-user" };
        let shell = ["--mount", user, "sh", "-c", &hide, "sh", pathmeter];
        scene.run_command(scene.marked("unshare", &[&shell[..], arguments].concat()))
    };
    let words = [&format!("{what} can't be used: ")[..], "mount -t proc"];
    run(&["measure", &built("base"), "--perturb", "1"]).assert_unmeasured(&words);
    let doctor = run(&["doctor"]);
    assert!(words.iter().all(|word| doctor.stdout.contains(word)), "{}", doctor.stdout);
    assert_eq!(doctor.code, 3);
}

#[test]
fn without_proc_or_dev_that_is_named() {
    assert_named_where_it_is_hidden("/proc", "/proc/self/fd");
    assert_named_where_it_is_hidden("/dev", "/dev/null");
}

#[test]
fn a_shortage_of_descriptors_is_named_wherever_it_strikes() {
    let pathmeter = pathmeter().to_str().unwrap();
    for limit in [8, 11, 14, 17, 20] {
        let scene = Scene::cold();
        let limited = format!("ulimit -n {limit}; exec \"$@\"");
        let shell = ["-c", &limited, "sh", pathmeter, "measure", &built("base"), "--no-cache"];
        let run = scene.run_command(scene.marked("sh", &shell));
        run.assert_unmeasured(&["Too many open files", "this machine has run out", "ulimit"]);
    }
}

#[test]
fn one_without_plugins_measures_and_does_not_explain() {
    let scene = Scene::cold();
    let case = "case \"$*\" in *-plugin*) echo 'plugin: invalid option' >&2; exit 1;; esac";
    let qemu = wrapped(&scene, case);
    let doctor = scene.run(&["doctor", "--qemu", &qemu]);
    let words = ["warn  recorder", "plugin: invalid option", "exact runs work here"];
    assert!(words.iter().all(|word| doctor.stdout.contains(word)), "{}", doctor.stdout);
    doctor.succeeded();
    let run = scene.run(&["explain", "file.stat", &built("base"), "--qemu", &qemu]);
    run.assert_unmeasured(&["does not take the recorder plugin", "plugin: invalid option"]);
}

#[test]
fn one_that_never_answers_is_given_up() {
    let scene = Scene::cold();
    // It answers what it is asked about itself, and not once it shall run a guest.
    let silent = wrapped(&scene, "case $* in --version|'-M none'*) ;; *) exec sleep 600 ;; esac");
    let run = scene.run(&["measure", &built("base"), "--qemu", &silent, "--timeout", "1"]);
    run.assert_unmeasured(&["starting QEMU: not done after 1 s", "does not answer"]);
    scene.assert_nothing_running();
}

#[test]
fn one_that_answers_late_is_waited_for() {
    let scene = Scene::cold();
    let late = wrapped(&scene, "[ \"$1\" = --version ] || sleep 2");
    scene.run(&["measure", "lab", "--perturb", "1", "--qemu", &late]).succeeded();
}

#[test]
fn one_that_lacks_a_library_is_quoted() {
    let scene = Scene::cold();
    let loader = script(&scene, "no-library", "echo 'libslirp.so.0: cannot open' >&2; exit 127");
    let run = scene.run(&["measure", &built("base"), "--qemu", &loader]);
    run.assert_unmeasured(&["could not say its version", "libslirp.so.0: cannot open"]);
}

/// Kills QEMU once the command has printed `phase`.
fn killed_while(phase: &str) {
    let scene = Scene::cold();
    let mut running = scene.start(&["measure", &built("base"), "--perturb", "64"]);
    running.until_printed(phase);
    running.until("a guest runs", || !scene.guests_at_work().is_empty());
    for guest in scene.guests_at_work() {
        let guest = Pid::from_raw(i32::try_from(guest).unwrap()).unwrap();
        kill_process(guest, Signal::KILL).unwrap();
    }
    let run = running.wait();
    run.assert_unmeasured(&["base.bzImage: ", "QEMU", "signal: 9", "help: "]);
    scene.assert_nothing_running();
    scene.assert_cache_is_tidy();
}

#[test]
fn one_killed_during_boot() {
    killed_while("booting");
}

#[test]
fn one_killed_while_it_measures() {
    killed_while("running the paths");
}
