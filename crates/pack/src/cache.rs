//! `/etc/ld.so.cache`, by which glibc's loader finds libraries outside a program's own search path.
//! The guest's names what was packed, and nothing else.
//!
//! ```text
//! "glibc-ld.so.cache1.1"  libraries u32  string_bytes u32  flags u8  0 u8 ×3
//! extension_offset u32  0 u32 ×3
//! { flags u32, name u32, path u32, 0 u32, hwcap u64 }…    names and paths: offsets in the file
//! strings, each with a final NUL
//! ```
//!
//! Source: glibc's `sysdeps/generic/dl-cache.h` and `elf/dl-cache.c`.

use std::cmp::Ordering;

use crate::libraries::Cached;

/// Where the loader expects it, without the leading `/`.
pub(crate) const PATH: &str = "etc/ld.so.cache";

const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
const HEADER_BYTES: usize = 48;
const ENTRY_BYTES: usize = 24;
const LITTLE_ENDIAN: u32 = 2;
/// `FLAG_ELF_LIBC6`, and with `FLAG_X8664_LIB64`.
const FLAGS_32: u32 = 0x0003;
const FLAGS_64: u32 = 0x0303;

/// The cache of these libraries; of two with one name, for the same mode, the first is in it.
pub(crate) fn of(libraries: &[Cached]) -> Vec<u8> {
    let mut sorted: Vec<&Cached> = libraries.iter().collect();
    // The loader searches by halves, in descending order.
    sorted
        .sort_by(|one, other| compare(&other.name, &one.name).then(other.bits64.cmp(&one.bits64)));
    sorted.dedup_by_key(|library| (&library.name, library.bits64));
    let start = HEADER_BYTES + sorted.len() * ENTRY_BYTES;
    let (mut entries, mut strings) = (Vec::new(), Vec::new());
    for library in &sorted {
        let mut offset = |text: &str| {
            let at = start + strings.len();
            strings.extend(text.as_bytes());
            strings.push(0);
            u32_of(at)
        };
        let flags = if library.bits64 { FLAGS_64 } else { FLAGS_32 };
        let fields = [flags, offset(&library.name), offset(&library.path), 0, 0, 0];
        entries.extend(fields.into_iter().flat_map(u32::to_le_bytes));
    }
    let counts = [u32_of(sorted.len()), u32_of(strings.len()), LITTLE_ENDIAN, 0, 0, 0, 0];
    let header = [MAGIC, &counts.map(u32::to_le_bytes).concat()].concat();
    [header, entries, strings].concat()
}

/// The number of libraries is bounded, and so are their names.
fn u32_of(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// glibc's order of names: numbers in them by their value.
fn compare(one: &str, other: &str) -> Ordering {
    let (mut one, mut other) = (one.as_bytes(), other.as_bytes());
    loop {
        let order = match (one.first(), other.first()) {
            (None, None) => return Ordering::Equal,
            (Some(a), Some(b)) if a.is_ascii_digit() && b.is_ascii_digit() => {
                number(&mut one).cmp(&number(&mut other))
            }
            (a, b) => {
                one = one.get(1..).unwrap_or_default();
                other = other.get(1..).unwrap_or_default();
                let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
                // Bytes are signed in C on x86.
                let signed = |byte: Option<&u8>| byte.copied().unwrap_or(0).cast_signed();
                digit(a).cmp(&digit(b)).then(signed(a).cmp(&signed(b)))
            }
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// Takes the number off the front. glibc's own overflows at 32 bits, in names that nobody has.
fn number(text: &mut &[u8]) -> u32 {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = text.split_at(digits);
    *text = rest;
    let add = |sum: u32, digit: &u8| sum.wrapping_mul(10).wrapping_add(u32::from(digit - b'0'));
    number.iter().fold(0, add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_the_loader() {
        let ascending = ["liba.so", "libb.so.2", "libb.so.9", "libb.so.10", "libb1.so"];
        for pair in ascending.windows(2) {
            assert_eq!(compare(pair[0], pair[1]), Ordering::Less, "{pair:?}");
            assert_eq!(compare(pair[1], pair[0]), Ordering::Greater, "{pair:?}");
        }
        assert_eq!(compare("libb.so.2", "libb.so.2"), Ordering::Equal);
        assert_eq!(compare("lib", "libb"), Ordering::Less);
    }

    #[test]
    fn the_hosts_ldconfig_reads_the_cache() {
        let library = |name: &str, bits64| Cached {
            name: name.to_owned(),
            path: format!("/opt/{name}"),
            bits64,
        };
        let libraries =
            [library("liba.so.1", true), library("libb.so.2", true), library("liba.so.1", false)];
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), of(&libraries)).unwrap();
        let ldconfig = ["/sbin/ldconfig", "/usr/sbin/ldconfig"];
        let ldconfig = ldconfig.into_iter().find(|path| std::path::Path::new(path).exists());
        let mut command = std::process::Command::new(ldconfig.unwrap_or("ldconfig"));
        let output = command.arg("-p").arg("-C").arg(file.path()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<_> = text.lines().skip(1).map(str::trim).take(3).collect();
        let expected = [
            "libb.so.2 (libc6,x86-64) => /opt/libb.so.2",
            "liba.so.1 (libc6,x86-64) => /opt/liba.so.1",
            "liba.so.1 (libc6) => /opt/liba.so.1",
        ];
        assert_eq!(lines, expected, "{text}");
    }
}
