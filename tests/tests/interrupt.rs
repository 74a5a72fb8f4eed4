//! Ctrl-C and its kin, at any moment: nothing is left running, and nothing half-written.

use std::thread::sleep;
use std::time::Duration;

use pathmeter_e2e::{Running, Scene, built, debian, fake};
use rustix::process::Signal;

/// From the first steps over reading images and booting to running paths.
const MOMENTS_MS: [u64; 5] = [50, 300, 1000, 2000, 4000];

/// Runs a comparison that takes minutes.
fn start(scene: &Scene) -> Running {
    let kernels = [debian("cloud"), debian("rt")];
    scene.start(&["compare", &kernels[0], &kernels[1], "--perturb", "512"])
}

fn interrupted_after(milliseconds: u64, signal: Signal) {
    let scene = Scene::cold();
    let running = start(&scene);
    sleep(Duration::from_millis(milliseconds));
    running.signal(signal);
    assert_interrupted(&scene, running);
}

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
    interrupted_after(1500, Signal::TERM);
}

#[test]
fn in_each_phase_ctrl_c_says_so_in_one_line() {
    for phase in ["reading the image", "booting", "running the paths"] {
        let scene = Scene::cold();
        let mut running = start(&scene);
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
        for against in [&["--against", "file.stat"][..], &[&kernel], &[]] {
            let scene = Scene::cold();
            let arguments = ["explain", "file.stat", &kernel];
            let mut running = scene.start(&[&arguments[..], against].concat());
            running.until_printed(phase);
            // A guest for each kernel; two paths of one kernel share one. Of the same kernel twice
            // one side boots it and the other waits.
            let guests = if against == [&kernel] && phase != "booting" { 2 } else { 1 };
            running.until("its guests run", || scene.guests().len() == guests);
            running.signal(Signal::INT);
            assert_interrupted(&scene, running);
        }
    }
}

#[test]
fn killed_it_takes_its_guests_along_and_the_next_run_works() {
    let scene = Scene::cold();
    let mut running = start(&scene);
    running.until("two guests run", || scene.guests().len() == 2);
    running.signal(Signal::KILL);
    assert_eq!(running.wait().code, 128 + 9);
    scene.assert_nothing_running_soon();
    scene.run(&["measure", &debian("cloud"), "--perturb", "1"]).succeeded();
}
