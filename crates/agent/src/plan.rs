//! The plan: `/plan` in the initramfs, lines of text.
//!
//! ```text
//! starts 8
//! skip 17
//! suite elapsed
//! ```
//!
//! `starts` is how many perturbed starts to make, `skip` the index of a path (as in the suite's
//! table) that shall not be walked, because the kernel died in it before. `suite elapsed` is about
//! the batches in elapsed time; without it, it is all paths in exact windows.

use pathmeter_probes::{
    Suite,
    sys::{self, CStr, flag},
    text::Text,
};
use pathmeter_wire::message::{MAX_PATHS, MAX_STARTS};

use crate::Trouble;

/// What to walk, and how often.
pub(crate) struct Plan {
    /// Perturbed starts.
    pub(crate) starts: u64,
    /// The table of paths.
    pub(crate) suite: Suite,
    skip: [bool; MAX_PATHS as usize],
}

impl Plan {
    /// Reads `/plan`.
    pub(crate) fn read() -> Result<Self, Trouble> {
        let mut text = [0; 4096];
        let length = sys::open(CStr::new(b"/plan\0"), flag::O_RDONLY, 0)
            .and_then(|fd| {
                let got = sys::read(fd, &mut text);
                let _ = sys::close(fd);
                got
            })
            .map_err(|error| -> Trouble {
                Text::format(format_args!("/plan can't be read (error {error})"))
            })?;
        Self::parse(&text[..length])
    }

    fn parse(text: &[u8]) -> Result<Self, Trouble> {
        let skip = [false; MAX_PATHS as usize];
        let mut plan = Self { starts: 0, suite: Suite::Exact, skip };
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match line.split(|byte| *byte == b' ').next() {
                Some(b"suite") if line == b"suite elapsed" => plan.suite = Suite::Elapsed,
                Some(b"starts") => plan.starts = number(&line[7..])?.min(MAX_STARTS),
                Some(b"skip") => {
                    let index = number(&line[5..])?.min(MAX_PATHS - 1);
                    plan.skip[index as usize] = true;
                }
                _ => return Err(Text::format(format_args!("/plan has a line that is unknown"))),
            }
        }
        Ok(plan)
    }

    /// Whether the path with this index shall be left out.
    pub(crate) fn skips(&self, index: u64) -> bool {
        self.skip.get(index as usize).copied().unwrap_or(true)
    }
}

/// A decimal number.
pub(crate) fn number(digits: &[u8]) -> Result<u64, Trouble> {
    core::str::from_utf8(digits)
        .ok()
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| Text::format(format_args!("a number in /plan or an argument is malformed")))
}
