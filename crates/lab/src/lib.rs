//! The lab kernel (`lab/`), embedded: a subject that is always at hand.
#![forbid(unsafe_code)]

/// The kernel: an ELF executable with a PVH entry, which QEMU's `-kernel` takes.
pub const KERNEL: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/kernel.elf"));

/// What the kernel prints before a word on its command line that it does not know, and stops.
pub const BAD_COMMAND_LINE: &str = "lab: bad command line:";

/// What it prints, before the reason, if this machine can't run a variant; then it stops.
pub const UNSUPPORTED: &str = "lab: unsupported here:";

/// The kernel's command line for the variants of a subject: `a=b,c=d` becomes `a=b c=d`.
pub fn command_line(variants: &str) -> String {
    variants.split(',').filter(|variant| !variant.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_are_words_of_the_command_line() {
        assert_eq!(command_line(""), "");
        assert_eq!(command_line("iobitmap=lazy,flags=save"), "iobitmap=lazy flags=save");
    }

    #[test]
    fn the_kernel_is_a_64_bit_executable() {
        assert_eq!(&KERNEL[..6], b"\x7fELF\x02\x01");
    }
}
