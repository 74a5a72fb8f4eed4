//! `clock.multiply` and `clock.rotate`: chains of instructions, each of which needs the result of
//! the one before. Their latencies tell what a cycle of the core is (`model`'s `cycle.rs`).
//!
//! A chain of `add $1` does not tell. Cores since Alder Lake and Sapphire Rapids (2021) add small
//! immediates up while they rename registers, several additions each cycle (A. Abel, uops.info; T.
//! Barnes, "The Alder Lake anomaly, explained", 2025). On Emerald Rapids such an addition took 0.20
//! ticks, where a cycle took 0.80. Renamers of some core also remove `inc`, `dec`, `lea`, `mov`
//! between registers, `nop`, and `xor` of a register with itself. So the two kinds here change all
//! bits of their operand, which a renamer can't do, and each has an execution unit of its own:
//!
//! - `imul $imm8, r32, r32` takes three cycles: on Intel's large cores since Core, on Silvermont
//!   and its successors, on K8 to K10, Jaguar and Zen (A. Fog, "Instruction tables"; the
//!   scheduling models of LLVM). With 64 bits it would take five on Core and Silvermont, and six
//!   on Jaguar. Bulldozer and its successors take four, and Bonnell five: there the two kinds
//!   disagree.
//! - `ror $imm8, r64` takes one cycle on all of these. With a count of 1 it is two operations on
//!   some of Intel's cores, or waits for the flags (LLVM's D59077).
//!
//! Both have one register as their only operand: Alder Lake may be slow to use a register that its
//! renamer has set, as T. Barnes shows. And each call begins with the result of the one before:
//! chains that begin anew would overlap.
//!
//! Proof: the result is that of as many multiplications or rotations.

use core::arch::asm;

use pathmeter_probes::{CHAIN_LENGTH, MULTIPLY, ROTATE};
use pathmeter_probes::{Probe, ProbeReport, clock};

use crate::failure::{Outcome, prove};

/// The paths' names in the catalogue, and their probes.
pub(crate) const PROBES: &[(&str, Probe)] = &[(MULTIPLY, multiply), (ROTATE, rotate)];

/// Odd, so that no product is 0, and no sum of two powers of two.
const FACTOR: u32 = 77;
const TURN: u32 = 7;
/// What the chains begin with, odd.
const BEGIN: u64 = 0x9e37_79b9_7f4a_7c15;

fn multiply(report: &mut ProbeReport) -> Outcome {
    let after = |value: u32, links| value.wrapping_mul(FACTOR.wrapping_pow(links));
    chain(report, BEGIN as u32, product, after)
}

fn rotate(report: &mut ProbeReport) -> Outcome {
    let after = |value: u64, links: u32| value.rotate_right(links.wrapping_mul(TURN));
    chain(report, BEGIN, rotation, after)
}

/// Takes times of calls of `links`, and proves the result of each window by that of so many links
/// `after` the one before.
#[inline(always)]
fn chain<T: Copy + PartialEq>(
    report: &mut ProbeReport,
    begin: T,
    links: impl Fn(T) -> T,
    after: impl Fn(T, u32) -> T,
) -> Outcome {
    let mut last = begin;
    report.execute(|| {
        let mut value = last;
        let (ticks, ()) = clock::window(|| value = links(value));
        // What of the count does not fit makes no difference: 2^32 rotations, or multiplications of
        // odd numbers with 32 bits, leave a value as it is.
        last = after(last, CHAIN_LENGTH.wrapping_mul(clock::calls() as u32));
        prove!(value == last, "another result than that of so many links");
        Ok(ticks)
    })
}

/// The product of the value and the factor's power.
#[inline(always)]
fn product(mut value: u32) -> u32 {
    // SAFETY: arithmetic on a register; the same below.
    unsafe {
        asm!(".rept {links}", "imul {value:e}, {value:e}, {factor}", ".endr",
            value = inout(reg) value, links = const CHAIN_LENGTH, factor = const FACTOR,
            options(nomem, nostack));
    }
    value
}

/// The value, so often rotated.
#[inline(always)]
fn rotation(mut value: u64) -> u64 {
    // SAFETY: as above.
    unsafe {
        asm!(".rept {links}", "ror {value}, {turn}", ".endr", value = inout(reg) value,
            links = const CHAIN_LENGTH, turn = const TURN, options(nomem, nostack));
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_has_as_many_links_as_it_says() {
        assert_eq!(product(5), 5_u32.wrapping_mul(FACTOR.wrapping_pow(CHAIN_LENGTH)));
        assert_eq!(rotation(BEGIN), BEGIN.rotate_right(CHAIN_LENGTH * TURN % 64));
    }

    /// What a count of links loses beyond 32 bits makes no difference.
    #[test]
    fn so_many_links_that_their_count_does_not_fit_leave_a_value_as_it_is() {
        let odd = |value: u32| (0..32).fold(value, |value, _| value.wrapping_mul(value));
        assert_eq!([odd(FACTOR), odd(u32::MAX), odd(BEGIN as u32)], [1; 3]);
        assert_eq!((1_u64 << 32) % 64, 0);
    }
}
