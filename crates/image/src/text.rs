//! What an unpacked kernel states about itself: banner, release, compiler, built-in configuration.
//!
//! Contract: only printable ASCII of bounded length leaves this file as a line, so that a kernel
//! file can't send escapes to a terminal.
//!
//! Sources: Linux `init/version.c` (`linux_banner`) and `kernel/configs.c` (`IKCFG_ST`).

use std::io::Read;

use flate2::bufread::GzDecoder;
use memchr::memmem;

/// Longer lines are cut here; real banners have about 250 bytes.
const MAX_LINE_BYTES: usize = 512;
/// Ten times the largest configuration of any distribution.
pub(crate) const MAX_CONFIG_BYTES: u64 = 4 << 20;

/// A kernel holds one or two; a file made of nothing else must not take long.
const MAX_BANNERS: usize = 16;

const BANNER_START: &[u8] = b"Linux version ";
/// The marker, followed at once by the gzip stream.
const CONFIG_START: &[u8] = b"IKCFG_ST";

/// The line that the kernel prints first: `Linux version 6.1.0-…`.
pub(crate) fn linux_banner(vmlinux: &[u8]) -> Option<String> {
    // Format strings begin alike, but only banners go on with a number. Since 6.1 a weak copy
    // without the build number stands beside the real one, which is therefore the longest.
    let is_banner =
        |start: &usize| vmlinux.get(start + BANNER_START.len()).is_some_and(u8::is_ascii_digit);
    memmem::find_iter(vmlinux, BANNER_START)
        .filter(is_banner)
        .take(MAX_BANNERS)
        .filter_map(|start| printable_line(&vmlinux[start..]))
        .max_by_key(String::len)
}

/// The release in a banner: its third word.
pub(crate) fn release_of_banner(banner: &str) -> Option<String> {
    banner.split_ascii_whitespace().nth(2).map(str::to_owned)
}

/// The compiler in a banner, in its own words: the kernel's build puts it before the linker's,
/// after who built the kernel where.
pub(crate) fn compiler_of_banner(banner: &str) -> Option<String> {
    let (_, rest) = banner.split_once(") (")?;
    let mut depth = 0;
    let end = rest.find(|letter| {
        depth += match letter {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth < 0 || depth == 0 && letter == ','
    });
    Some(rest[..end?].to_owned()).filter(|compiler| !compiler.is_empty())
}

/// The first word of a line: the release in the setup header's version string.
pub(crate) fn first_word(line: &str) -> Option<String> {
    line.split_ascii_whitespace().next().map(str::to_owned)
}

/// The leading printable ASCII of `bytes`, unless there is none.
pub(crate) fn printable_line(bytes: &[u8]) -> Option<String> {
    let printable = |byte: &&u8| byte.is_ascii_graphic() || **byte == b' ';
    let line: String =
        bytes.iter().take(MAX_LINE_BYTES).take_while(printable).map(|byte| *byte as char).collect();
    let line = line.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

/// The configuration that `CONFIG_IKCONFIG` built in.
pub(crate) fn built_in_config(vmlinux: &[u8]) -> Option<String> {
    let start = memmem::find(vmlinux, CONFIG_START)? + CONFIG_START.len();
    config_text(GzDecoder::new(vmlinux.get(start..)?))
}

/// All of `input` as a configuration, unless it is too long or not text.
pub(crate) fn config_text(input: impl Read) -> Option<String> {
    let mut config = String::new();
    let length = input.take(MAX_CONFIG_BYTES + 1).read_to_string(&mut config).ok()?;
    (length as u64 <= MAX_CONFIG_BYTES).then_some(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_banner_names_the_compiler_before_the_linker() {
        let banner =
            |built: &str| format!("Linux version 6.1.0-x (u@h) ({built}) #1 SMP 2026-01-01");
        for (built, compiler) in [
            (
                "gcc-12 (Debian 12.2.0-14) 12.2.0, GNU ld (GNU Binutils for Debian) 2.40",
                Some("gcc-12 (Debian 12.2.0-14) 12.2.0"),
            ),
            (
                "Debian clang version 19.1.7 (3, b), Debian LLD 19.1.7",
                Some("Debian clang version 19.1.7 (3, b)"),
            ),
            ("gcc version 8.3.0 (Debian 8.3.0-6)", Some("gcc version 8.3.0 (Debian 8.3.0-6)")),
            ("", None),
        ] {
            assert_eq!(compiler_of_banner(&banner(built)).as_deref(), compiler, "{built}");
        }
        assert_eq!(compiler_of_banner("6.1.0-x (u@h) #1 SMP 2026-01-01"), None);
        assert_eq!(compiler_of_banner("Linux version 6.1 (u@h) (gcc (cut"), None);
    }
}
