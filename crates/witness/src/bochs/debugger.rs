//! What the debugger of Bochs prints, and what is made of it.
//!
//! Every answer ends with the prompt, `<bochs:7> `. Where it stops, it says so first: `Next at
//! t=1234` with the clock before the instruction, and a line with the instruction's address after
//! the segment, `0010:ffffffff81c00080`. Before an answer it may repeat the command.

/// Between the prompt's beginning and its end stands the number of the next command.
const PROMPT: &[u8] = b"<bochs:";
const PROMPT_END: &[u8] = b"> ";
/// Breakpoints of each of the two kinds that Bochs has room for (`bx_debug/debug.h`).
const SLOTS: usize = 16;
/// The most places at which it can be told to stop.
pub(crate) const MOST_PLACES: usize = 2 * SLOTS;
/// The kernel's code segment: `__KERNEL_CS` of Linux for x86-64.
const KERNEL_SEGMENT: u64 = 0x10;

/// Where it stopped: before the instruction at `address`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Halt {
    /// Steps of its clock until then.
    pub(crate) clock: u64,
    pub(crate) address: u64,
}

/// Whether an answer is complete.
pub(crate) fn is_whole(answer: &[u8]) -> bool {
    let place = answer.windows(PROMPT.len()).rposition(|bytes| bytes == PROMPT);
    let number = place.and_then(|place| answer[place + PROMPT.len()..].strip_suffix(PROMPT_END));
    number.is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
}

/// The command that has it stop at the place that is the `number`th, counted from 0. One kind of
/// breakpoint goes by the linear address, one by the segment's, which is the kernel's.
pub(crate) fn stop_at(number: usize, address: u64) -> String {
    if number < SLOTS {
        format!("lb {address:#x}")
    } else {
        format!("vb {KERNEL_SEGMENT:#x}:{address:#x}")
    }
}

/// Of an answer to a command that is done without a word.
pub(crate) fn is_refusal(answer: &str) -> bool {
    answer.contains("Error") || answer.contains("syntax")
}

/// Where it stopped, of an answer that tells.
pub(crate) fn halt(answer: &str) -> Option<Halt> {
    let after = answer.rsplit_once("Next at t=")?.1;
    let (clock, line) = after.split_once('\n')?;
    let place = line.split_once("] ")?.1;
    let address = place.split_once(':')?.1.split_once(' ')?.0;
    let address = u64::from_str_radix(address, 16).ok()?;
    Some(Halt { clock: clock.trim().parse().ok()?, address })
}

/// A register, of the answer to `r`.
pub(crate) fn register(answer: &str, name: &str) -> Option<u64> {
    let line = answer.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))?;
    u64::from_str_radix(&line.trim().replace('_', ""), 16).ok()
}

/// What stands in memory, of the answer to `x`: the numbers after each line's address.
pub(crate) fn numbers(answer: &str) -> Option<Vec<u64>> {
    let lines = answer.lines().filter_map(|line| line.split_once(">:\t"));
    let words = lines.flat_map(|(_, words)| words.split_whitespace());
    words.map(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// As Bochs 2.7 prints it.
    const STOP: &str = "c\n(0) Breakpoint 3, 0xffffffff81c00080 in ?? ()\nNext at t=414861256\n\
        (0) [0x000001c00080] 0010:ffffffff81c00080 (unk. ctxt): swapgs ; 0f01f8\n<bochs:18> ";

    #[test]
    fn an_answer_ends_with_a_prompt() {
        assert!(is_whole(STOP.as_bytes()));
        let texts = ["", "<bochs:", "<bochs:1>", "<bochs:> ", "<bochs:x> ", "<bochs:1> c\n"];
        assert!(!texts.iter().any(|text| is_whole(text.as_bytes())));
    }

    #[test]
    fn where_it_stopped_is_read() {
        let at = Halt { clock: 414_861_256, address: 0xffff_ffff_81c0_0080 };
        assert_eq!(halt(STOP), Some(at));
        for cut in [12, 60, 80, 110] {
            assert_eq!(halt(&STOP[..cut]), None, "{}", &STOP[..cut]);
        }
        assert_eq!(halt(&STOP.replace("t=414", "t=x")), None);
    }

    #[test]
    fn registers_and_memory_are_read() {
        let registers = "r\nCPU0:\nrax: 45454545_454c252f\nrbx: 00000000_000dcdaf\n<bochs:1> ";
        assert_eq!(register(registers, "rax"), Some(0x4545_4545_454c_252f));
        assert_eq!(register(registers, "rcx"), None);
        let memory = "x /3bx 0\n[bochs]:\n0x0 <bogus+       0>:\t0xea\t0x00\n\
            0x8 <bogus+       8>:\t0x7\n<bochs:2> ";
        assert_eq!(numbers(memory), Some(vec![0xea, 0, 7]));
        assert_eq!(numbers("0x0 <bogus+       0>:\tno\n"), None);
    }

    #[test]
    fn there_are_two_kinds_of_breakpoints() {
        assert_eq!(stop_at(15, 0x20), "lb 0x20");
        assert_eq!(stop_at(16, 0x20), "vb 0x10:0x20");
        assert!(is_refusal("Error: no more linear breakpoint slots left."));
        assert!(!is_refusal("lb 0x20\n<bochs:2> "));
    }
}
