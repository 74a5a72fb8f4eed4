//! Files of the kernel and of the parcel, read as far as there is room for them.

use pathmeter_probes::{
    sys::{self, CStr, errno, flag},
    text::Text,
};
use pathmeter_wire::{condition::MAX_SHOWN_TEXT, plan};

use crate::path::Path;
use crate::refusal::{Refusal, kernel_refusal};

/// Longest value that is read back.
const MAX_VALUE: usize = MAX_SHOWN_TEXT;

/// Longest number, with the end of its line.
const MAX_DIGITS: usize = 16;

/// What shows that a setting was made: of a file, what it holds after it was written.
pub(crate) struct Held {
    text: [u8; MAX_VALUE],
    length: usize,
    /// Why it can't be read; 0 if it can.
    pub(crate) error: u64,
}

impl Held {
    /// The proof, in words, of a setting that no file shows.
    #[inline(never)]
    pub(crate) fn from_message(what: core::fmt::Arguments<'_>) -> Self {
        let what = Text::<MAX_VALUE>::format(what);
        let mut held = Self { text: [0; MAX_VALUE], length: what.as_bytes().len(), error: 0 };
        held.text[..held.length].copy_from_slice(what.as_bytes());
        held
    }

    pub(crate) fn text(&self) -> &[u8] {
        &self.text[..self.length]
    }
}

/// Whether what a file reads after it was written is what it should be.
pub(crate) fn holds(path: &Path, is_right: impl Fn(&[u8]) -> bool) -> Result<Held, Refusal> {
    let mut held = Held { text: [0; MAX_VALUE], length: 0, error: 0 };
    match contents(path.as_c(), &mut held.text) {
        Ok(length) => held.length = length,
        // Some can only be written.
        Err(error) => {
            held.error = u64::from(error.unsigned_abs());
            return Ok(held);
        }
    }
    if is_right(held.text()) {
        return Ok(held);
    }
    let held = held.text();
    let held = core::str::from_utf8(held).unwrap_or("?").trim_end();
    Err(kernel_refusal(format_args!("the kernel holds {held} after this was written")))
}

/// The words of a text, without the white space between them.
pub(crate) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// The number that a file of the kernel's holds.
pub(crate) fn number(path: CStr<'_>) -> Result<u64, i32> {
    let mut text = [0; MAX_DIGITS];
    let length = contents(path, &mut text)?;
    let digits = words(&text[..length]).next().and_then(plan::number);
    digits.map(u64::from).ok_or(errno::EINVAL)
}

/// Reads a file into `space` as far as it fits: the bytes read.
#[inline(never)]
pub(crate) fn contents(path: CStr<'_>, space: &mut [u8]) -> sys::Ret {
    let fd = sys::open(path, flag::O_RDONLY, 0)?;
    let mut length = 0;
    let read = loop {
        match sys::read(fd, &mut space[length..]) {
            Ok(0) => break Ok(length),
            Ok(count) => length += count,
            Err(error) => break Err(error),
        }
    };
    let _ = sys::close(fd);
    read
}
