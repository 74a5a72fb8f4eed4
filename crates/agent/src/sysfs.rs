//! Files below `/sys` that a condition writes.

use pathmeter_probes::sys::{self, errno, flag};

use crate::file::{Held, holds, words};
use crate::path::Path;
use crate::refusal::{Refusal, kernel_refusal, not_taken, unknown};

const EACCES: i32 = 13;
const EISDIR: i32 = 21;

/// Writes this value to the file, and reads it back where that can be done.
#[inline(never)]
pub(crate) fn set(file: &[u8], value: &[u8]) -> Result<Held, Refusal> {
    let path = Path::from_parts(&[b"/sys/", file]);
    let fd = sys::open(path.as_c(), flag::O_WRONLY, 0).map_err(|error| match error {
        errno::ENOENT => unknown("this kernel has no such file below /sys"),
        EACCES => kernel_refusal(format_args!("this file of the kernel's can't be written to")),
        EISDIR => kernel_refusal(format_args!("this is a folder")),
        error => kernel_refusal(format_args!("it can't be written to (error {error})")),
    })?;
    let written = sys::write(fd, value);
    let _ = sys::close(fd);
    written.map_err(not_taken)?;
    holds(&path, |held| shows(held, value))
}

/// Whether a file that reads so holds the value: as it stands, as a truth in another notation, or
/// as the word in brackets among those that can be chosen.
fn shows(held: &[u8], value: &[u8]) -> bool {
    let same =
        |word: &[u8]| word == value || truth(word).is_some_and(|it| truth(value) == Some(it));
    let chosen = |word: &[u8]| {
        word.strip_prefix(b"[").and_then(|word| word.strip_suffix(b"]")).is_some_and(same)
    };
    let mut held = words(held);
    match (held.clone().count(), held.clone().next()) {
        (1, Some(only)) => same(only) || chosen(only),
        _ => held.any(chosen),
    }
}

/// As the kernel reads it (`kstrtobool`).
fn truth(word: &[u8]) -> Option<bool> {
    match word {
        b"1" | b"y" | b"Y" | b"on" => Some(true),
        b"0" | b"n" | b"N" | b"off" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_shown_as_it_stands_or_in_brackets_or_as_a_truth() {
        for (held, value) in [
            (&b"10\n"[..], &b"10"[..]),
            (b"always [madvise] never\n", b"madvise"),
            (b"[none]\n", b"none"),
            (b"Y\n", b"1"),
            (b"0\n", b"off"),
        ] {
            assert!(shows(held, value), "{value:?}");
        }
        for (held, value) in [
            (&b"11\n"[..], &b"10"[..]),
            (b"always [madvise] never\n", b"always"),
            (b"Y\n", b"0"),
            (b"", b"1"),
        ] {
            assert!(!shows(held, value), "{value:?}");
        }
    }
}
