//! Ctrl-C, Ctrl-\, a termination, a closed terminal: the first asks the measurements to end, the second
//! ends the process.

use std::sync::Arc;

use pathmeter_vm::Interrupt;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use crate::failure::{Exit, Failure};

/// An interrupt that is set when the user asks the process to end.
pub(crate) fn listen() -> Result<Interrupt, Failure> {
    let failed = |error| Failure::System { doing: "listening for signals", error };
    let interrupt = Interrupt::default();
    // A file beyond `ulimit -f` is an error where it is written, not the end of the process.
    flag::register(SIGXFSZ, Arc::default()).map_err(failed)?;
    for signal in [SIGINT, SIGQUIT, SIGTERM, SIGHUP] {
        // In this order: the first signal must find the flag unset, and the second set. Should the
        // process end so, its guests are killed with it.
        flag::register_conditional_shutdown(signal, Exit::Interrupted as i32, interrupt.flag())
            .and_then(|_| flag::register(signal, interrupt.flag()))
            .map_err(failed)?;
    }
    Ok(interrupt)
}
