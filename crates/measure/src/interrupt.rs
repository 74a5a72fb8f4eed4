//! Ctrl-C, Ctrl-\, a termination, a closed terminal: while guests run, the first asks the
//! measurements to end, and the second ends the process. While nothing but a reader is waited for,
//! the first ends it.
//!
//! Contract: what a signal ends, it ends with the exit code that the program registered.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, LazyLock};
use std::thread::Builder;
use std::time::Duration;

use pathmeter_vm::{Interrupt, VmError};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use crate::error::MeasureError;

/// How long a signal may be overlooked.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

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

/// Takes over the signals: from here on each of them ends the process with this exit code.
pub fn register(exit_code: i32) -> Result<(), MeasureError> {
    let Signals { interrupt, at_once } = &*SIGNALS;
    for signal in [SIGINT, SIGQUIT, SIGTERM, SIGHUP] {
        // `nohup` wants the run to outlive its terminal.
        if signal == SIGHUP && is_ignored(signal) {
            continue;
        }
        // In this order: the first signal must find the flag unset, and the second set. Should the
        // process end so, its guests are killed with it.
        flag::register_conditional_shutdown(signal, exit_code, Arc::clone(at_once))
            .and_then(|_| flag::register_conditional_shutdown(signal, exit_code, interrupt.flag()))
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

fn listening(error: std::io::Error) -> MeasureError {
    MeasureError::System { doing: "listening for signals", error }
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
pub fn check() -> Result<(), MeasureError> {
    SIGNALS.interrupt.check().map_err(|_| MeasureError::Interrupted)
}

/// Does `act`, which may block for as long as somebody else likes: a signal ends the process.
///
/// # Errors
/// A signal came before.
pub fn blocking<R>(act: impl FnOnce() -> R) -> Result<R, MeasureError> {
    with(true, || check().map(|()| act()))
}

/// Does `act`, which computes or reads for seconds and changes nothing. A signal ends the wait for
/// it, and leaves it to the end of the process.
///
/// # Errors
/// A signal came before, or meanwhile.
pub fn abandoning<R: Send + 'static>(
    act: impl Fn() -> R + Send + Sync + 'static,
) -> Result<R, MeasureError> {
    wait(&SIGNALS.interrupt, act).map_err(|_| MeasureError::Interrupted)
}

fn wait<R: Send + 'static>(
    interrupt: &Interrupt,
    act: impl Fn() -> R + Send + Sync + 'static,
) -> Result<R, VmError> {
    interrupt.check()?;
    let (sender, done) = mpsc::channel();
    let act = Arc::new(act);
    let theirs = Arc::clone(&act);
    let thread = Builder::new().spawn(move || {
        // Nobody may wait for it any more.
        let _ = sender.send(theirs());
    });
    if thread.is_err() {
        return Ok(act());
    }
    loop {
        match done.recv_timeout(LOOK_AGAIN) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => interrupt.check()?,
            Err(RecvTimeoutError::Disconnected) => return Ok(act()),
        }
    }
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

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn what_reads_for_long_is_waited_for_until_a_signal_comes() {
        let interrupt = Interrupt::default();
        assert_eq!(wait(&interrupt, || 7).ok(), Some(7));
        let (begin, flag) = (Instant::now(), interrupt.flag());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(LOOK_AGAIN);
                flag.store(true, Ordering::SeqCst);
            });
            let long = || std::thread::sleep(Duration::from_secs(60));
            assert!(matches!(wait(&interrupt, long), Err(VmError::Interrupted)));
        });
        assert!(matches!(wait(&interrupt, || 7), Err(VmError::Interrupted)));
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    }
}
