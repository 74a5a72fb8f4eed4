//! Windows of a program that takes times on a live host: batches of calls, of several *sides* in
//! turn.
//!
//! A step of the clock is coarse beside one call, so a window executes its path many times. What is
//! compared within one process are *sides*: the same path, executed in short blocks that alternate,
//! so that whatever changes slowly on the host changes all sides alike. A side may have a delay
//! after each call, for tests of what the method can see. The program plans which side each window
//! is of ([`plan`]); probes know nothing of it.
//!
//! The number of calls is odd: the probes that send a byte and get its complement prove the last
//! call of a batch as they prove a single one.

use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::arch::{delay, stamp};

/// Most windows that are planned: as many as a report has samples.
pub(crate) const MOST_WINDOWS: usize = 1024;
/// The most sides within one process.
pub const SIDES: usize = 3;

static CALLS: AtomicU64 = AtomicU64::new(1);
/// The side of each window.
static PLAN: [AtomicU8; MOST_WINDOWS] = [const { AtomicU8::new(0) }; MOST_WINDOWS];
/// Rotations after each call, of each side.
static DELAYS: [AtomicU32; SIDES] = [const { AtomicU32::new(0) }; SIDES];
/// Rotations after each call of the present window.
static DELAY: AtomicU32 = AtomicU32::new(0);

/// Executions of the path in a window: an odd number.
pub fn calls() -> u64 {
    CALLS.load(Relaxed)
}

/// Sets how many calls a window has, and how many dependent rotations follow each call of a side.
pub fn set(calls: u64, delays: [u32; SIDES]) {
    CALLS.store(calls | 1, Relaxed);
    for (place, delay) in DELAYS.iter().zip(delays) {
        place.store(delay, Relaxed);
    }
}

/// Plans `sides` for so many windows: blocks of each side once, in an order drawn from `bits`, and
/// once more in reverse (A B B A, B A A B): a change that is linear in time cancels out.
pub fn plan(sides: usize, windows: usize, bits: u64) {
    let sides = sides.clamp(1, SIDES);
    let mut bits = bits;
    for block in 0..windows.min(MOST_WINDOWS).div_ceil(2 * sides) {
        let mut order = [0, 1, 2];
        for last in (1..sides).rev() {
            bits = next(bits);
            order.swap(last, (bits >> 33) as usize % (last + 1));
        }
        for place in 0..2 * sides {
            let side = order[if place < sides { place } else { 2 * sides - 1 - place }];
            if let Some(window) = PLAN.get(block * 2 * sides + place) {
                window.store(side, Relaxed);
            }
        }
    }
}

/// The next of a sequence of numbers (Knuth, MMIX; the high bits are the good ones).
fn next(bits: u64) -> u64 {
    bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
}

/// The side of the window with this number.
pub fn side(window: usize) -> u8 {
    PLAN.get(window).map_or(0, |side| side.load(Relaxed))
}

/// The window with this number comes next.
pub fn begin(window: usize) {
    let rotations = DELAYS.get(usize::from(side(window))).map_or(0, |delay| delay.load(Relaxed));
    DELAY.store(rotations, Relaxed);
}

/// Runs `code` as often as a batch has calls; returns the ticks of all, and the last result.
#[inline(always)]
pub fn window<R>(mut code: impl FnMut() -> R) -> (u64, R) {
    let (mut left, rotations) = (calls(), DELAY.load(Relaxed));
    let begin = stamp();
    let result = loop {
        let result = code();
        if rotations > 0 {
            delay(rotations);
        }
        left -= 1;
        if left == 0 {
            break result;
        }
    };
    let end = stamp();
    (end.wrapping_sub(begin), result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_followed_by_its_reverse_and_has_each_side_twice() {
        for bits in 0..50 {
            plan(2, 4, bits);
            let block: [u8; 4] = core::array::from_fn(side);
            assert!([[0, 1, 1, 0], [1, 0, 0, 1]].contains(&block), "{block:?}");
            plan(3, 6, bits);
            let mut block: [u8; 6] = core::array::from_fn(side);
            assert_eq!([block[0], block[1], block[2]], [block[5], block[4], block[3]]);
            block.sort_unstable();
            assert_eq!(block, [0, 0, 1, 1, 2, 2]);
        }
    }
}
