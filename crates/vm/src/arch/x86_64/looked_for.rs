//! The words of the command line that a kernel looks for by its own code, beside the parameters
//! that it registers. It does not know such a word when it reads the whole line, and so hands the
//! word to pid 1, as it does with words that mean nothing to it.
//!
//! Contract: the words are those in the kernel's code, and no list of ours. Code that looks for a
//! word loads the word's address as the second argument and calls `cmdline_find_option` or
//! `cmdline_find_option_bool` (Linux `arch/x86/lib/cmdline.c`). Both functions are found by the
//! words that every kernel for this architecture has looked for so since 4.4. Where neither is
//! found, there are no such words.

use std::collections::{BTreeMap, BTreeSet};

use pathmeter_image::executable_segments;

/// Words that no code has but code that looks for them (`kernel/fpu/init.c`,
/// `kernel/cpu/common.c`), and what stands behind one in the line: by one of them a function is
/// known to look for words of that form.
const LANDMARKS: [(&str, &str); 4] =
    [("clearcpuid", "="), ("noxsave", ""), ("noxsaveopt", ""), ("noxsaves", "")];
/// The words that the agent takes without asking, as in its own `arch/x86_64/words.rs`.
pub(crate) const KNOWN_TO_AGENT: [&str; 16] = [
    "spectre_v2",
    "nospectre_v2",
    "spectre_v2_user",
    "spec_store_bypass_disable",
    "nospec_store_bypass_disable",
    "pti",
    "nopti",
    "no387",
    "nofxsr",
    "noxsave",
    "noxsaveopt",
    "noxsaves",
    "clearcpuid",
    "setcpuid",
    "nokaslr",
    "no5lvl",
];
/// `mov $address, %rsi`, whose address is sign-extended, and `lea offset(%rip), %rsi`.
const LOAD_ADDRESS: [u8; 3] = [0x48, 0xc7, 0xc6];
const LOAD_RELATIVE: [u8; 3] = [0x48, 0x8d, 0x35];
/// Bytes of an instruction that loads, and of a call.
const LOAD_BYTES: usize = 7;
const CALL_BYTES: usize = 5;
/// `call` with a relative address.
const CALL: u8 = 0xe8;
/// Most bytes between the load and the call: those that load the other arguments.
const MOST_BETWEEN: usize = 48;
/// Longest word that is looked for.
const MOST_WORD: usize = 64;

/// A word whose address is loaded as a second argument, and the function that is called next.
struct Call<'a> {
    word: &'a str,
    function: u64,
}

/// The words that a kernel's code looks for: those that have a value with an equals sign.
pub fn find_own_words(vmlinux: &[u8]) -> BTreeSet<String> {
    // The executable segment has the read-only data, too (Linux `vmlinux.lds.S`, `PHDRS`).
    let segments: Vec<(u64, &[u8])> = executable_segments(vmlinux).collect();
    let calls: Vec<Call<'_>> = segments.iter().flat_map(|it| calls(*it, &segments)).collect();
    let function = |call: &Call<'_>| {
        let form = LANDMARKS.iter().find(|(word, _)| *word == call.word);
        form.map(|(_, end)| (call.function, *end))
    };
    let functions: BTreeMap<u64, &str> = calls.iter().filter_map(function).collect();
    let word = |call: &Call<'_>| Some([call.word, functions.get(&call.function)?].concat());
    calls.iter().filter_map(word).collect()
}

/// The calls in one segment that may look for words.
fn calls<'a>(
    (address, bytes): (u64, &'a [u8]),
    segments: &[(u64, &'a [u8])],
) -> impl Iterator<Item = Call<'a>> {
    let places = bytes.windows(LOAD_BYTES).enumerate();
    places.filter_map(move |(at, load)| {
        let operand = relative(*load.last_chunk()?);
        let after = address.wrapping_add((at + LOAD_BYTES) as u64);
        let text = match *load.first_chunk()? {
            LOAD_ADDRESS => operand,
            LOAD_RELATIVE => after.wrapping_add(operand),
            _ => return None,
        };
        let word = word_at(text, segments)?;
        let function = called_next(after, bytes.get(at + LOAD_BYTES..)?, segments)?;
        Some(Call { word, function })
    })
}

/// The function that the code at `address` calls first.
fn called_next(address: u64, code: &[u8], segments: &[(u64, &[u8])]) -> Option<u64> {
    let places = code.windows(CALL_BYTES).take(MOST_BETWEEN).enumerate();
    places.filter(|(_, call)| call[0] == CALL).find_map(|(at, call)| {
        let after = address.wrapping_add((at + CALL_BYTES) as u64);
        let function = after.wrapping_add(relative(*call.last_chunk()?));
        bytes_at(function, segments).map(|_| function)
    })
}

/// The word at this address, up to its NUL.
fn word_at<'a>(address: u64, segments: &[(u64, &'a [u8])]) -> Option<&'a str> {
    let bytes = bytes_at(address, segments)?;
    let length = bytes.iter().take(MOST_WORD).position(|byte| *byte == 0)?;
    let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let word = bytes.get(..length).filter(|word| !word.is_empty())?;
    word.iter().all(is_of_word).then(|| std::str::from_utf8(word).ok()).flatten()
}

/// What lies at this address and after it.
fn bytes_at<'a>(address: u64, segments: &[(u64, &'a [u8])]) -> Option<&'a [u8]> {
    segments.iter().find_map(|(begin, bytes)| {
        let offset = usize::try_from(address.checked_sub(*begin)?).ok()?;
        bytes.get(offset..).filter(|rest| !rest.is_empty())
    })
}

/// An operand of 32 bits, with its sign.
fn relative(operand: [u8; 4]) -> u64 {
    i64::from(i32::from_le_bytes(operand)).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the segment of [`vmlinux`] lies.
    const BASE: u64 = 0xffff_ffff_8100_0000;
    /// Where it has two functions that look for words, and one that compares texts.
    const FUNCTIONS: [u64; 3] = [BASE + 0x800, BASE + 0x900, BASE + 0xa00];

    /// A vmlinux whose code has these calls: the word, whether it is loaded by a relative address,
    /// and the number of the function.
    fn vmlinux(calls: &[(&str, bool, usize)]) -> Vec<u8> {
        let mut segment = vec![0x90_u8; 0x1000];
        let mut text = 0xb00;
        for ((word, is_relative, function), at) in calls.iter().zip((0..).step_by(0x40)) {
            let after = BASE + at as u64 + LOAD_BYTES as u64;
            let address = BASE + text as u64;
            let (load, operand) = match is_relative {
                true => (LOAD_RELATIVE, address - after),
                false => (LOAD_ADDRESS, address),
            };
            segment[at..at + 3].copy_from_slice(&load);
            segment[at + 3..at + 7].copy_from_slice(&operand.to_le_bytes()[..4]);
            let call = FUNCTIONS[*function].wrapping_sub(after + 3 + CALL_BYTES as u64);
            segment[at + 10] = CALL;
            segment[at + 11..at + 15].copy_from_slice(&call.to_le_bytes()[..4]);
            segment[text..text + word.len()].copy_from_slice(word.as_bytes());
            segment[text + word.len()] = 0;
            text += word.len() + 1;
        }
        elf(&segment)
    }

    /// An ELF file for x86-64 with one executable segment.
    fn elf(segment: &[u8]) -> Vec<u8> {
        let mut file = vec![0; 64 + 56];
        file[..20].copy_from_slice(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0");
        file[20] = 1;
        for (at, value) in [(32, 64_u16), (52, 64), (54, 56), (56, 1)] {
            file[at..at + 2].copy_from_slice(&value.to_le_bytes());
        }
        file[64..72].copy_from_slice(b"\x01\0\0\0\x05\0\0\0");
        let length = segment.len() as u64;
        for (at, value) in [(72, 120), (80, BASE), (96, length), (104, length)] {
            file[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        file.extend(segment);
        file
    }

    #[test]
    fn words_are_those_that_are_looked_for_as_the_known_ones_are() {
        let kernel = vmlinux(&[
            ("clearcpuid", false, 0),
            ("split_lock_detect", false, 0),
            ("noxsave", true, 1),
            ("nousershstk", true, 1),
            ("mitigation", false, 2),
            ("two words", false, 1),
        ]);
        let words: Vec<String> = find_own_words(&kernel).into_iter().collect();
        assert_eq!(words, ["clearcpuid=", "nousershstk", "noxsave", "split_lock_detect="]);
    }

    #[test]
    fn a_kernel_without_a_known_word_and_what_is_no_kernel_look_for_nothing() {
        assert!(find_own_words(&vmlinux(&[("split_lock_detect", false, 0)])).is_empty());
        assert!(find_own_words(b"no kernel").is_empty());
        assert!(find_own_words(pathmeter_lab::KERNEL).is_empty());
    }

    #[test]
    fn the_agent_takes_the_same_words_without_asking() {
        let agent = include_str!("../../../../agent/src/arch/x86_64/words.rs");
        let words = agent.lines().filter_map(|line| line.trim().strip_prefix("b\""));
        let words: Vec<&str> = words.filter_map(|word| word.strip_suffix("\",")).collect();
        assert_eq!(words, KNOWN_TO_AGENT);
    }
}
