//! The paths that further perturbed runs can tell nothing about: those that gave no samples in the
//! first one, since they can't be executed here, failed, or only pass or fail.
//!
//! Each run is a fresh execution of the agent, so the first one leaves the set in a file.

use pathmeter_probes::sys::{self, CStr, flag};
use pathmeter_wire::message::MAX_PATHS;

const FILE: &[u8] = b"/spent\0";
const BYTES: usize = (MAX_PATHS / 8) as usize;

/// A set of paths, by their indices.
#[derive(Default)]
pub(crate) struct Spent {
    bits: [u8; BYTES],
}

impl Spent {
    /// The set that the first run left; empty if there is none, and every path is executed again.
    pub(crate) fn recall() -> Self {
        let mut spent = Self::default();
        let Ok(fd) = sys::open(CStr::new(FILE), flag::O_RDONLY, 0) else { return spent };
        let whole = sys::read(fd, &mut spent.bits) == Ok(BYTES);
        let _ = sys::close(fd);
        if whole { spent } else { Self::default() }
    }

    /// Leaves the set for later runs, instead of any before it.
    pub(crate) fn leave(&self) {
        let flags = flag::O_WRONLY | flag::O_CREAT | flag::O_TRUNC;
        if let Ok(fd) = sys::open(CStr::new(FILE), flags, 0o600) {
            // Cut short it is taken for none.
            let _ = sys::write(fd, &self.bits);
            let _ = sys::close(fd);
        }
    }

    /// Whether the path with this index is one of them.
    pub(crate) fn holds(&self, index: usize) -> bool {
        self.bits.get(index / 8).is_some_and(|byte| byte >> (index % 8) & 1 != 0)
    }

    /// Adds the path with this index.
    pub(crate) fn add(&mut self, index: usize) {
        if let Some(byte) = self.bits.get_mut(index / 8) {
            *byte |= 1 << (index % 8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_what_was_added_and_nothing_else() {
        let mut spent = Spent::default();
        let added = [0, 7, 8, 100, MAX_PATHS as usize - 1];
        for index in [&added[..], &[MAX_PATHS as usize]].concat() {
            spent.add(index);
        }
        let held: Vec<_> =
            (0..2 * MAX_PATHS as usize).filter(|index| spent.holds(*index)).collect();
        assert_eq!(held, added);
    }
}
