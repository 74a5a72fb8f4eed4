//! Ctrl-C and its kin, at any moment: nothing is left running, and nothing half-written.

use std::thread::sleep;
use std::time::{Duration, Instant};

use pathmeter_e2e::{Run, Running, Scene, built, debian, fake};
use rustix::process::Signal;

/// From the first steps over reading images and booting to running paths.
const MOMENTS_MS: [u64; 4] = [50, 300, 1000, 2500];

/// Runs a comparison that takes minutes.
fn start(scene: &Scene, kernels: &[String; 2]) -> Running {
    scene.start(&["compare", &kernels[0], &kernels[1], "--perturb", "512"])
}

/// Kernels that boot in a second or less.
fn small() -> [String; 2] {
    ["base", "nop"].map(built)
}

fn interrupted_after(milliseconds: u64, signal: Signal) {
    let scene = Scene::cold();
    let running = start(&scene, &["cloud", "rt"].map(debian));
    sleep(Duration::from_millis(milliseconds));
    running.signal(signal);
    assert_interrupted(&scene, running);
}

/// What the end of a run takes at most once the signal has come.
const AT_ONCE: Duration = Duration::from_millis(500);

fn assert_interrupted(scene: &Scene, running: Running) {
    let run = running.wait();
    assert_eq!((run.code, &run.stdout[..]), (130, ""), "{}", run.stderr);
    assert!(!run.stderr.contains("error"), "{}", run.stderr);
    scene.assert_nothing_running();
    scene.assert_cache_is_tidy();
}

#[test]
fn at_any_moment_ctrl_c_ends_it_with_code_130() {
    for moment in MOMENTS_MS {
        interrupted_after(moment, Signal::INT);
    }
}

#[test]
fn a_service_manager_ends_it_likewise() {
    interrupted_after(500, Signal::TERM);
}

#[test]
fn a_closed_terminal_and_a_quit_end_it_likewise() {
    interrupted_after(500, Signal::HUP);
    interrupted_after(500, Signal::QUIT);
}

/// Starts the command with a QEMU that falls silent when it is run with arguments like `pattern`.
fn start_silent(scene: &Scene, pattern: &str, arguments: &[&str]) -> Running {
    let asked = scene.path("asked");
    let text = format!(
        "#!/bin/sh\ncase \"$*\" in {pattern}) touch '{}'; exec sleep 600;; esac\n\
         exec qemu-system-x86_64 \"$@\"\n",
        asked.display()
    );
    let silent = scene.executable("silent-qemu", &text);
    let mut running = scene.start(&[arguments, &["--qemu", &silent]].concat());
    running.until("QEMU is asked", || asked.exists());
    running
}

#[test]
fn while_qemu_is_asked_about_itself_ctrl_c_ends_it_at_once() {
    let kernel = built("base");
    let measure = ["measure", &kernel];
    let explain = ["explain", "file.stat", &kernel];
    let questions: [(&str, &[&str]); 5] = [
        ("--version", &measure),
        ("--version", &["doctor"]),
        ("'-accel help'", &["doctor"]),
        ("*-sandbox*'-M help'", &["doctor"]),
        ("*ask=on*", &explain),
    ];
    for (pattern, arguments) in questions {
        for signal in [Signal::INT, Signal::TERM] {
            let scene = Scene::cold();
            let running = start_silent(&scene, pattern, arguments);
            let begin = Instant::now();
            running.signal(signal);
            assert_interrupted(&scene, running);
            assert!(begin.elapsed() < AT_ONCE, "{pattern}: {:?}", begin.elapsed());
        }
    }
}

#[test]
fn killed_while_qemu_is_asked_it_takes_that_along() {
    let scene = Scene::cold();
    let running = start_silent(&scene, "--version", &["measure", &built("base")]);
    running.signal(Signal::KILL);
    assert_eq!(running.wait().code, 128 + 9);
    scene.assert_nothing_running_soon();
}

#[test]
fn in_each_phase_ctrl_c_says_so_in_one_line() {
    for phase in ["reading the image", "booting", "running the paths"] {
        let scene = Scene::cold();
        let mut running = start(&scene, &small());
        running.until_printed(phase);
        running.signal(Signal::INT);
        assert_interrupted(&scene, running);
    }
}

#[test]
fn an_explanation_ends_in_each_phase_and_on_both_sides() {
    // Each hangs in its phase until the signal comes.
    let phases = [("booting", fake("hangs")), ("running the paths", built("hangs-in-stat"))];
    for (phase, kernel) in phases {
        // Two paths of one kernel share a guest. Of the same kernel twice one side executes it and
        // the other waits for that, unless nothing is kept.
        let both = [&*kernel, "--no-cache"];
        for (against, guests) in
            [(&["--against", "file.stat"][..], 1), (&both[..1], 1), (&both, 2), (&[], 1)]
        {
            let scene = Scene::cold();
            let arguments = ["explain", "file.stat", &kernel];
            let mut running = scene.start(&[&arguments[..], against].concat());
            running.until_printed(phase);
            running.until("its guests run", || scene.guests().len() == guests);
            running.signal(Signal::INT);
            assert_interrupted(&scene, running);
        }
    }
}

/// Stops the command for longer than its time limit, in `phase`.
fn stopped_in(phase: &str, kernel: &str, limit: u64) -> Run {
    let scene = Scene::cold();
    let arguments = ["measure", kernel, "--perturb", "1", "--timeout", &limit.to_string()];
    let mut running = scene.start(&arguments);
    running.until_printed(phase);
    running.signal(Signal::STOP);
    sleep(Duration::from_secs(limit + 1));
    running.signal(Signal::CONT);
    let run = running.wait();
    scene.assert_nothing_running();
    run
}

#[test]
fn stopped_and_continued_it_goes_on() {
    stopped_in("booting", &built("base"), 8).succeeded();
    stopped_in("running the paths", &built("base"), 8).succeeded();
    // The guest has its time after that, and no more.
    let run = stopped_in("booting", &fake("hangs"), 3);
    run.assert_unmeasured(&["booting the kernel: not done after 3 s"]);
    assert!(run.elapsed < Duration::from_secs(30), "{:?}", run.elapsed);
}

#[test]
fn killed_it_takes_its_guests_along_and_the_next_run_works() {
    let scene = Scene::cold();
    let mut running = start(&scene, &small());
    running.until("two guests run", || scene.guests().len() == 2);
    running.signal(Signal::KILL);
    assert_eq!(running.wait().code, 128 + 9);
    scene.assert_nothing_running_soon();
    scene.run(&["measure", &built("base"), "--perturb", "1"]).succeeded();
}
