//! The line with which a vmlinux identifies itself: `Linux version …`.
//!
//! Contract: only printable ASCII of bounded length leaves this file.
//!
//! Source: Linux `init/version.c` (`linux_banner`, in `.rodata`).

use memchr::memmem;

/// Longer lines are cut here; real banners have about 250 bytes.
const MAX_LINE_BYTES: usize = 512;
/// A kernel holds one or two; a file made of nothing else must not take long.
const MAX_BANNERS: usize = 16;

const START: &str = "Linux version ";

/// The banner in a kernel's read-only data.
pub(crate) fn find(rodata: &[u8]) -> Option<String> {
    // Format strings begin alike, but only banners go on with a number. Since 6.1 a weak copy
    // without the build number stands beside the real one, which is therefore the longest.
    let is_banner = |start: &usize| rodata.get(start + START.len()).is_some_and(u8::is_ascii_digit);
    memmem::find_iter(rodata, START)
        .filter(is_banner)
        .take(MAX_BANNERS)
        .map(|start| line(&rodata[start..]))
        .max_by_key(String::len)
}

/// Whether `measured` may be the kernel with this `banner`. A bzImage that could not be unpacked
/// knows itself by its setup header only, which begins with the release: then that decides.
pub(crate) fn agrees(banner: &str, measured: &str) -> bool {
    if measured.starts_with(START) {
        banner.trim() == measured.trim()
    } else {
        banner.strip_prefix(START).and_then(first_word) == first_word(measured)
    }
}

fn first_word(text: &str) -> Option<&str> {
    text.split_ascii_whitespace().next()
}

fn line(bytes: &[u8]) -> String {
    let printable = |byte: &&u8| byte.is_ascii_graphic() || **byte == b' ';
    let line = bytes.iter().take(MAX_LINE_BYTES).take_while(printable);
    line.map(|&byte| char::from(byte)).collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REAL: &str = "Linux version 6.1.0-x (u@h) (cc 1.0) #1 SMP 2026-01-01";

    #[test]
    fn the_longest_banner_is_the_kernels() {
        let rodata = format!("..Linux version %s\0Linux version 6.1.0-x (u@h) # SMP\0{REAL}\n\0..");
        assert_eq!(find(rodata.as_bytes()).as_deref(), Some(REAL));
        assert_eq!(find(b"Linux version %s"), None);
    }

    #[test]
    fn a_banner_must_be_the_same_and_a_release_must_be_in_it() {
        assert!(agrees(REAL, &format!("{REAL}\n")));
        assert!(!agrees(REAL, &REAL.replace("#1", "#2")));
        assert!(agrees(REAL, "6.1.0-x (u@h) #1 SMP 2026-01-01"));
        assert!(!agrees(REAL, "6.1.0-y"));
    }
}
