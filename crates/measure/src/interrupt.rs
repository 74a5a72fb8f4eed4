//! Ctrl-C, Ctrl-\, a termination, a closed terminal: while guests run, the first asks the
//! measurements to end, and the second ends the process. While nothing but a reader is waited for,
//! the first ends it.
//!
//! Contract: the exit code is 130 either way.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use pathmeter_vm::Interrupt;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use crate::failure::{Exit, Failure};

/// What signals do to this process.
struct Signals {
    interrupt: Interrupt,
    /// Whether the next one ends the process.
    at_once: Arc<AtomicBool>,
}

static SIGNALS: LazyLock<Signals> = LazyLock::new(|| Signals {
    interrupt: Interrupt::default(),
    at_once: Arc::new(AtomicBool::new(true)),
});

/// Takes over the signals: from here on each of them ends the process with its own exit code.
pub fn register() -> Result<(), Failure> {
    let Signals { interrupt, at_once } = &*SIGNALS;
    let ends = Exit::Interrupted as i32;
    for signal in [SIGINT, SIGQUIT, SIGTERM, SIGHUP] {
        // `nohup` wants the run to outlive its terminal.
        if signal == SIGHUP && is_ignored(signal) {
            continue;
        }
        // In this order: the first signal must find the flag unset, and the second set. Should the
        // process end so, its guests are killed with it.
        flag::register_conditional_shutdown(signal, ends, Arc::clone(at_once))
            .and_then(|_| flag::register_conditional_shutdown(signal, ends, interrupt.flag()))
            .and_then(|_| flag::register(signal, interrupt.flag()))
            .map_err(listening)?;
    }
    // Handled, it kills nobody, and what is written beyond the limit fails with an error.
    flag::register(SIGXFSZ, Arc::default()).map_err(listening)?;
    // Whoever ignores it never learns that a QEMU has ended: the kernel reaps it at once. A program
    // that starts us may have had it ignored.
    if is_ignored(SIGCHLD) {
        flag::register(SIGCHLD, Arc::default()).map_err(listening)?;
    }
    Ok(())
}

fn listening(error: std::io::Error) -> Failure {
    Failure::System { doing: "listening for signals", error }
}

/// Whether this process was started with `signal` ignored.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// An interrupt that is set when the user asks the process to end. From here on a signal does that
/// first, since guests run.
pub fn listen() -> Interrupt {
    SIGNALS.at_once.store(false, Ordering::SeqCst);
    SIGNALS.interrupt.clone()
}

/// An error once a signal came that did not end the process.
pub fn check() -> Result<(), Failure> {
    SIGNALS.interrupt.check().map_err(|_| Failure::Interrupted)
}

/// Does `act`, which may block for as long as somebody else likes: a signal ends the process.
///
/// # Errors
/// A signal came before.
pub fn blocking<R>(act: impl FnOnce() -> R) -> Result<R, Failure> {
    with(true, || check().map(|()| act()))
}

/// Does `act`, which takes a moment and should not be left half done: the first signal waits.
pub fn undisturbed<R>(act: impl FnOnce() -> R) -> R {
    with(false, act)
}

fn with<R>(at_once: bool, act: impl FnOnce() -> R) -> R {
    let before = SIGNALS.at_once.swap(at_once, Ordering::SeqCst);
    let done = act();
    SIGNALS.at_once.store(before, Ordering::SeqCst);
    done
}
