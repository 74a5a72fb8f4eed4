//! Work done at once where threads can be had, and one after the other where a limit of the user's
//! or the container's leaves none.

use std::panic::resume_unwind;
use std::thread::{Builder, scope};

/// Does `one` in a thread and `other` here. Without a thread `one` is done here too, after `other`.
pub fn at_once<A: Send, B>(one: impl Fn() -> A + Sync, other: impl FnOnce() -> B) -> (A, B) {
    scope(|scope| {
        let thread = Builder::new().spawn_scoped(scope, &one);
        let other = other();
        let one = match thread {
            // If it panicked, so does this one.
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => one(),
        };
        (one, other)
    })
}
