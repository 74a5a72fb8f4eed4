//! A kernel's own types, by which it knows the functions that BPF programs are attached to
//! (`Documentation/bpf/btf.rst`, `<linux/btf.h>`): for the agent in a guest, and for the host.

const MAGIC: u32 = 0xeb9f;
/// The number that no type has.
pub const NONE: u32 = 0;
/// The number of the kind that functions have.
const FUNCTION: usize = 12;
/// Bytes that every type begins with.
const HEAD: usize = 12;
/// What follows them, by the kind: bytes once, and bytes for each member.
const MORE: [[u8; 2]; 20] = [
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

/// The number of the function of this name, or [`NONE`]; nothing if the bytes are no types, or have
/// a kind whose size is not known.
pub fn find(btf: &[u8], name: &[u8]) -> Option<u32> {
    let start = word(btf, 4)?;
    let part = |at: usize| {
        let begin = start.checked_add(word(btf, at)?)?;
        btf.get(begin..begin.checked_add(word(btf, at + 4)?)?)
    };
    if word(btf, 0)? & 0xffff != MAGIC as usize {
        return None;
    }
    let (types, strings) = (part(8)?, part(16)?);
    // Newer kernels say of each kind themselves what follows.
    let more: &[[u8; 4]] = if start >= 32 { part(24)?.as_chunks().0 } else { &[] };
    let Some(name) = offset(strings, name) else { return Some(NONE) };
    let (mut at, mut number) = (0, 1);
    while at < types.len() {
        let (kind, members) = (word(types, at + 4)? >> 24 & 0x7f, word(types, at + 4)? & 0xff_ffff);
        if kind == FUNCTION && word(types, at)? == name {
            return Some(number);
        }
        let [once, each]: [u8; 2] = match more.get(kind) {
            Some([once, each, ..]) => [*once, *each],
            None => *MORE.get(kind)?,
        };
        at += HEAD + usize::from(once) + usize::from(each) * members;
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

/// The four bytes there, as a number.
fn word(bytes: &[u8], at: usize) -> Option<usize> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Types with these words, the strings `a`, `bc` and `d`, and these kinds of their own.
    fn types(words: &[u32], kinds: &[[u8; 4]]) -> Vec<u8> {
        let strings = b"\0a\0bc\0d\0\0";
        let size = |length: usize| u32::try_from(length).unwrap();
        let length = size(4 * words.len());
        let layout = [length + 9, size(4 * kinds.len())];
        let head = if kinds.is_empty() { 24 } else { 32 };
        let heads = [MAGIC | 1 << 16, head, 0, length, length, size(strings.len())];
        let heads = heads.iter().chain(if kinds.is_empty() { &[][..] } else { &layout });
        let bytes = |words: &mut dyn Iterator<Item = &u32>| {
            words.flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>()
        };
        let (head, types) = (bytes(&mut heads.into_iter()), bytes(&mut words.iter()));
        [&head[..], &types, strings, kinds.as_flattened()].concat()
    }

    const STRUCT_OF_TWO: [u32; 9] = [3, 4 << 24 | 2, 8, 1, 1, 0, 1, 1, 32];
    const FUNCTION_BC: [u32; 3] = [3, 12 << 24 | 1, 1];

    #[test]
    fn a_function_is_found_by_its_name_and_a_structure_of_this_name_is_none() {
        let words = [&[1, 1 << 24, 4, 32][..], &STRUCT_OF_TWO, &FUNCTION_BC].concat();
        let btf = types(&words, &[]);
        assert_eq!(find(&btf, b"bc"), Some(3));
        for name in [&b"a"[..], b"b", b"c", b"nosuch"] {
            assert_eq!(find(&btf, name), Some(NONE));
        }
    }

    #[test]
    fn a_kind_that_is_not_known_is_passed_where_the_types_tell_its_size() {
        let words = [&[1, 20 << 24 | 2, 0, 7, 7, 7][..], &FUNCTION_BC].concat();
        assert_eq!(find(&types(&words, &[]), b"bc"), None);
        let mut kinds = [[0; 4]; 21];
        kinds[20] = [4, 4, 0, 0];
        assert_eq!(find(&types(&words, &kinds), b"bc"), Some(2));
    }

    #[test]
    fn what_is_cut_is_no_types() {
        let btf = types(&[&STRUCT_OF_TWO[..], &FUNCTION_BC].concat(), &[]);
        for length in 0..btf.len() {
            assert_eq!(find(&btf[..length], b"bc"), None, "{length}");
        }
        assert_eq!(find(&types(&STRUCT_OF_TWO[..2], &[]), b"bc"), Some(NONE));
        assert_eq!(find(&types(&[3], &[]), b"bc"), None);
        assert_eq!(find(b"\x7fELF0000000000000000000000000000000", b"bc"), None);
    }
}
