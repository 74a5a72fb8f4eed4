//! How long the paths of this group keep the CPU in user mode.

use crate::clock;

/// Instructions of a user-mode round; a tick comes every 1 to 10 million.
const SPIN: u64 = 4_000_000;

/// A round in user mode, without any system call.
pub(super) fn spin() {
    clock::busy(SPIN);
}
