//! Panics that may be the interpreter's and not the kernel's.
//!
//! Before 8.0, QEMU computes the guest's flags wrongly after some `cmpxchg16b`
//! (docs/explanation/exactness.md, "A panic that is QEMU's"; the helper went with QEMU's commit
//! 5f0dd8cd33). Mostly nobody looks at them. If an interrupt falls just there, the kernel goes on
//! with flags that it never had, and may die. A kernel that dies of it prints a register that no
//! processor can have; one that had any other oops may have died of it, too.

use std::fmt;

use crate::console::Tail;

/// First version of QEMU that does not do it.
const CURED: (u32, u32) = (8, 0);
/// What stands before the flags where a kernel prints registers.
const FLAGS: &str = "EFLAGS: ";
/// How it prints where in itself it was, at an oops.
const OOPS: &str = "RIP: 0010:";
/// The bits that EFLAGS can have in 64-bit mode. Bits 3, 5, 15 and all from 22 on are reserved and
/// read 0; bit 17, of virtual 8086 mode, can't be set. Source: Intel's manual, volume 1, 3.4.3.
const POSSIBLE: u32 = 0x003d_7fd7;

/// Whether a panic may be QEMU's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// This QEMU is not known to make kernels die so, or the kernel ended without an oops.
    None,
    /// This QEMU may be why the kernel had an oops.
    Possible,
    /// This QEMU may, and the kernel printed flags that no processor can have.
    Shown,
}

impl Doubt {
    /// What to think of a panic in a QEMU of this version, after a kernel printed this.
    pub(crate) fn of(version: (u32, u32), printed: &Tail) -> Self {
        if version >= CURED {
            return Self::None;
        }
        let after = |mark, holds: fn(&str) -> bool| printed.after(mark, holds);
        match (after(FLAGS, impossible), after(OOPS, |_| true)) {
            (true, _) => Self::Shown,
            (false, true) => Self::Possible,
            (false, false) => Self::None,
        }
    }
}

/// What follows a panic's message.
impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Possible => f.write_str(" (which may be QEMU's doing)"),
            Self::Shown => f.write_str(
                " (which may well be QEMU's doing: no processor can have the EFLAGS that it \
                 printed)",
            ),
        }
    }
}

/// Whether this text's first word is flags that no processor can have.
fn impossible(text: &str) -> bool {
    let word = text.split_whitespace().next().unwrap_or_default();
    u32::from_str_radix(word, 16).is_ok_and(|flags| flags & !POSSIBLE != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> Tail {
        let mut tail = Tail::default();
        tail.extend(text.as_bytes());
        tail
    }

    #[test]
    fn flags_that_no_processor_has_are_shown_and_newer_ones_are_not_suspected() {
        let oops = printed("[    0.1] RSP: 0018:ffffc90000013e10 EFLAGS: 04268a42\r\nRAX: 0\n");
        assert_eq!(Doubt::of((7, 2), &oops), Doubt::Shown);
        assert_eq!(Doubt::of((8, 0), &oops), Doubt::None);
    }

    #[test]
    fn a_kernels_own_flags_are_only_a_possibility() {
        for flags in ["00010046", "00010286", "003d7fd7", "", "zzz", "ffffffffffffffffff"] {
            let oops = printed(&format!("RIP: 0010:kfree+0x1/0x2\nRSP: 0 EFLAGS: {flags}\n"));
            assert_eq!(Doubt::of((7, 2), &oops), Doubt::Possible, "{flags}");
            assert_eq!(Doubt::of((10, 0), &oops), Doubt::None);
        }
    }

    #[test]
    fn a_kernel_that_ends_without_an_oops_has_nobody_else_to_blame() {
        let trace = "Kernel panic - not syncing: No working init found.\nCall Trace:\n";
        let user = "RIP: 0033:0x401000\nRSP: 002b:7ffe EFLAGS: 00000246\n";
        for text in ["", trace, user] {
            assert_eq!(Doubt::of((7, 2), &printed(text)), Doubt::None, "{text}");
        }
    }

    #[test]
    fn of_several_registers_the_impossible_one_is_found() {
        let oops = printed("EFLAGS: 00010046\nRIP: 0010:x EFLAGS: 00020046\nEFLAGS: 00000246\n");
        assert_eq!(Doubt::of((7, 2), &oops), Doubt::Shown);
    }
}
