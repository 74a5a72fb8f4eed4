//! The kernel's own types, by which it knows the functions that BPF programs are attached to
//! (`Documentation/bpf/btf.rst`, `<linux/btf.h>`); the agent reads them alike (`agent/src/btf.rs`).

use std::fs;
use std::io::ErrorKind;

const FILE: &str = "/sys/kernel/btf/vmlinux";
const MAGIC: u32 = 0xeb9f;
/// The number that no type has.
const NONE: u32 = 0;
/// The kind of functions.
const FUNCTION: u32 = 12;
/// Bytes that every type begins with.
const HEAD: usize = 12;
/// What follows them, by the kind: bytes once, and bytes for each member.
const MORE: [[usize; 2]; 20] = [
    [0, 0],
    [4, 0],
    [0, 0],
    [12, 0],
    [0, 12],
    [0, 12],
    [0, 8],
    [0, 0],
    [0, 0],
    [0, 0],
    [0, 0],
    [0, 0],
    [0, 0],
    [0, 8],
    [4, 0],
    [0, 12],
    [0, 0],
    [4, 0],
    [0, 0],
    [0, 12],
];

/// The number of the running kernel's function with this name.
pub(crate) fn function(name: &str) -> Result<u32, String> {
    let types = fs::read(FILE).map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            "this kernel has no types of its own (CONFIG_DEBUG_INFO_BTF)".to_owned()
        }
        _ => format!("{FILE} can't be read: {error}"),
    })?;
    match find(&types, name.as_bytes()) {
        Some(NONE) => Err("this kernel's types have no such function".to_owned()),
        Some(number) => Ok(number),
        None => Err(format!("{FILE} has types of a form that is not known here")),
    }
}

/// The number of the function with this name, or [`NONE`]; nothing if the bytes are no types,
/// or have a kind whose size is not known.
fn find(btf: &[u8], name: &[u8]) -> Option<u32> {
    let head = word(btf, 4)? as usize;
    let part = |at: usize| {
        let begin = head.checked_add(word(btf, at)? as usize)?;
        btf.get(begin..begin.checked_add(word(btf, at + 4)? as usize)?)
    };
    if word(btf, 0)? & 0xffff != MAGIC {
        return None;
    }
    let (types, strings) = (part(8)?, part(16)?);
    // Newer kernels say of each kind themselves what follows.
    let told: &[[u8; 4]] = if head >= 32 { part(24)?.as_chunks().0 } else { &[] };
    let Some(name) = offset(strings, name) else { return Some(NONE) };
    let (mut at, mut number) = (0, 1);
    while at < types.len() {
        let information = word(types, at + 4)?;
        let (kind, members) = (information >> 24 & 0x7f, (information & 0xff_ffff) as usize);
        if kind == FUNCTION && word(types, at)? as usize == name {
            return Some(number);
        }
        let [once, each] = match told.get(kind as usize) {
            Some([once, each, ..]) => [usize::from(*once), usize::from(*each)],
            None => *MORE.get(kind as usize)?,
        };
        at += HEAD + once + each * members;
        number += 1;
    }
    Some(NONE)
}

/// Where among these strings, each of which a NUL ends, this one is.
fn offset(strings: &[u8], wanted: &[u8]) -> Option<usize> {
    let mut at = 0;
    for string in strings.split(|byte| *byte == 0) {
        if string == wanted {
            return Some(at);
        }
        at += string.len() + 1;
    }
    None
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Types with these words, and the strings `a`, `bc` and `d`.
    fn types(words: &[u32]) -> Vec<u8> {
        let strings = b"\0a\0bc\0d\0";
        let length = u32::try_from(4 * words.len()).unwrap();
        let head = [MAGIC | 1 << 16, 24, 0, length, length, 8];
        let words = head.iter().chain(words).flat_map(|word| word.to_le_bytes());
        words.chain(strings.iter().copied()).collect()
    }

    #[test]
    fn a_function_has_the_number_of_its_type() {
        // An integer `a`, a structure `bc` of one member, the function `bc`.
        let some = [1, 1 << 24, 4, 0, 3, 4 << 24 | 1, 4, 1, 1, 0, 3, 12 << 24, 0];
        assert_eq!(find(&types(&some), b"bc"), Some(3));
        assert_eq!(find(&types(&some), b"a"), Some(NONE));
        assert_eq!(find(&types(&some), b"nosuch"), Some(NONE));
    }

    /// The same, of a kernel that says that what follows its kind 20 are four bytes.
    fn types_of_a_newer_kernel(words: &[u32]) -> Vec<u8> {
        let mut kinds = [[0; 4]; 21];
        kinds[20] = [4, 0, 0, 0];
        let strings = b"\0a\0bc\0d\0";
        let length = u32::try_from(4 * words.len()).unwrap();
        let head = [MAGIC | 1 << 16, 32, 0, length, length, 8, length + 8, 4 * 21];
        let words = head.iter().chain(words).flat_map(|word| word.to_le_bytes());
        let kinds = kinds.as_flattened().iter().copied();
        words.chain(strings.iter().copied()).chain(kinds).collect()
    }

    #[test]
    fn a_kind_that_is_not_known_is_passed_where_the_kernel_tells_its_size() {
        let some = [1, 20 << 24, 0, 7, 3, 12 << 24, 0];
        assert_eq!(find(&types_of_a_newer_kernel(&some), b"bc"), Some(2));
        assert_eq!(find(&types(&some), b"bc"), None);
    }

    #[test]
    fn what_is_no_list_of_types_has_no_function() {
        let unknown = types(&[1, 77 << 24, 4]);
        assert_eq!(find(&unknown, b"bc"), None);
        let cut = &types(&[1, 1 << 24, 4, 0])[..30];
        for bytes in [&b""[..], b"\x9f\xeb\x01\x00", cut] {
            assert_eq!(find(bytes, b"bc"), None);
        }
    }
}
