//! The lab kernel (`lab/`), embedded: a subject that is always at hand.
#![forbid(unsafe_code)]

/// The kernel: an ELF executable with a PVH entry, which QEMU's `-kernel` takes.
pub const KERNEL: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/kernel.elf"));

/// What the kernel prints before a word on its command line that it does not know, and stops.
pub const BAD_COMMAND_LINE: &str = "lab: bad command line:";

/// What it prints, before the reason, if this machine can't run a variant; then it stops.
pub const UNSUPPORTED: &str = "lab: unsupported here:";

/// The kernel's own table of mechanisms.
const TABLE: &str = include_str!("../../../lab/kernel/variants.c");

/// The kernel's mechanisms, each with its variants: none if it is a number.
pub fn mechanisms() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    let (_, table) = TABLE.split_once("table[] = {").unwrap_or_default();
    let (table, _) = table.split_once("\n};").unwrap_or_default();
    table.split("\n\t{ ").skip(1).filter_map(|row| {
        // The name, what it is about, the variants.
        let texts = row.split('}').next()?.split('"').skip(1).step_by(2);
        let mut texts = texts.enumerate().filter(|(place, _)| *place != 1).map(|(_, text)| text);
        Some((texts.next()?, texts.collect()))
    })
}

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
    fn the_mechanisms_are_those_of_the_kernels_table() {
        let all: Vec<_> = mechanisms().collect();
        assert_eq!(all.len(), TABLE.matches("&variants.").count());
        assert_eq!(all[0].1, ["short", "full-copy", "tracked", "lazy"]);
        assert!(all.contains(&("max-cpus", vec![])));
    }

    #[test]
    fn the_kernel_is_a_64_bit_executable() {
        assert_eq!(&KERNEL[..6], b"\x7fELF\x02\x01");
    }
}
