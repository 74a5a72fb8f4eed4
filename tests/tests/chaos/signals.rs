//! Signals at any moment, to pathmeter and to its QEMUs.

use std::thread::sleep;
use std::time::Duration;

use fastrand::Rng;
use pathmeter_e2e::Running;
use rustix::process::{Pid, Signal, kill_process};

use super::outcome::Ended;
use super::stage::Stage;

/// The signals that end a run, with their names.
const ENDING: &[(&str, Signal)] =
    &[("KILL", Signal::KILL), ("INT", Signal::INT), ("TERM", Signal::TERM), ("HUP", Signal::HUP)];
/// The exit code of an interrupted run.
const INTERRUPTED: i32 = 130;
/// Longer than a run takes that nothing holds up.
const SPAN_MS: f64 = 1500.0;

/// One or two signals end pathmeter, or a stop holds it up for a while.
pub(super) fn to_pathmeter(stage: &Stage, rng: &mut Rng) -> Ended {
    let expected = stage.any(rng);
    let running = Running::start(stage.command(expected, 60));
    let mut excused = Vec::new();
    for _ in 0..=rng.usize(..2) {
        pause(stage, rng, SPAN_MS);
        if rng.u8(..4) == 0 {
            stage.tell("STOP, CONT");
            running.signal(Signal::STOP);
            pause(stage, rng, SPAN_MS);
            running.signal(Signal::CONT);
        } else {
            let (name, signal) = ENDING[rng.usize(..ENDING.len())];
            stage.tell(name);
            running.signal(signal);
            // The signal itself ends a process that has not begun to listen.
            excused.extend([INTERRUPTED, 128 + signal.as_raw()]);
        }
    }
    expected.assert_kept(&stage.finish(running), &excused)
}

/// A program's run is killed, or its QEMU, at any moment; then the program is run again.
pub(super) fn to_a_program(stage: &Stage, rng: &mut Rng) -> Ended {
    let expected = stage.of_a_program();
    let running = Running::start(stage.command(expected, 60));
    pause(stage, rng, 2.0 * SPAN_MS);
    let guests = stage.scene.guests();
    if rng.bool() {
        stage.tell("KILL");
        running.signal(Signal::KILL);
    } else {
        stage.tell(format!("KILL to {} guests", guests.len()));
        send(&guests, Signal::KILL);
    }
    let ended = expected.assert_kept(&stage.finish(running), &[128 + Signal::KILL.as_raw()]);
    let again = stage.finish(Running::start(stage.command(expected, 60)));
    assert_eq!(again.code, 0, "{}", again.stderr);
    expected.assert_kept(&again, &[]);
    ended
}

/// One or more signals to whatever QEMUs run at that moment.
pub(super) fn to_qemu(stage: &Stage, rng: &mut Rng) -> Ended {
    let expected = stage.any(rng);
    let running = Running::start(stage.command(expected, 60));
    for _ in 0..=rng.usize(..3) {
        pause(stage, rng, SPAN_MS / 2.0);
        let (name, signal) = ENDING[rng.usize(..ENDING.len())];
        let guests = stage.scene.guests();
        stage.tell(format!("{name} to {} guests", guests.len()));
        send(&guests, signal);
    }
    expected.assert_kept(&stage.finish(running), &[])
}

/// A QEMU that falls silent for a while, or for good.
pub(super) fn stopped_qemu(stage: &Stage, rng: &mut Rng) -> Ended {
    let expected = stage.any(rng);
    let running = Running::start(stage.command(expected, 3));
    pause(stage, rng, SPAN_MS / 2.0);
    let guests = stage.scene.guests();
    stage.tell(format!("STOP to {} guests", guests.len()));
    send(&guests, Signal::STOP);
    if rng.bool() {
        pause(stage, rng, SPAN_MS);
        stage.tell("CONT");
        send(&guests, Signal::CONT);
    }
    let run = stage.finish(running);
    // Booting, restoring and running have the limit each, twice where a path is given up.
    assert!(run.elapsed < Duration::from_secs(30), "it took {:?}", run.elapsed);
    expected.assert_kept(&run, &[])
}

/// Waits a random time of at most `span`, in milliseconds: short ones as likely as long ones.
fn pause(stage: &Stage, rng: &mut Rng, span: f64) {
    let time = Duration::from_secs_f64(span.powf(rng.f64()) / 1000.0);
    stage.tell(format!("{} ms", time.as_millis()));
    sleep(time);
}

fn send(processes: &[u32], signal: Signal) {
    for process in processes {
        let process = Pid::from_raw(process.cast_signed()).unwrap();
        // It may have ended.
        let _ = kill_process(process, signal);
    }
}
