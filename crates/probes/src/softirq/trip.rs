//! What a lost softirq costs a program: requests and their answers over a modelled link, one after
//! the other, as `lat_tcp` measures a network. A sample is the mean of [`TRIPS`] of them, or of
//! those that fit into [`LONGEST`].
//!
//! The link is the lab kernel's (`lab/kernel/link.c`); when frames come is the guest's own time, to
//! the instruction. An acknowledgement comes at a fixed time after the request, the answer at a
//! random time after that. Both raise `NET_RX`. Now and then the answer comes while the
//! acknowledgement is being handled: then `NET_RX` is raised while it runs.
//!
//! The times are chosen so that the mean is near the 109 microseconds that the thread of May 2001
//! gives for a kernel that loses nothing; and the share of answers that meet the handler, so that
//! the mean grows by as much as the thread gives where those are left to the next tick. How the
//! cases with and without losses differ is the result; the share is an assumption.
//!
//! While a request is under way another program runs, at a lower priority: the CPU does not idle,
//! so the time that passes is what was executed, and no thread of QEMU's moves the clock
//! (`docs/explanation/exactness.md`).
//!
//! Proof: the kernel says that both frames were handled, and no trip is shorter than the link.

use crate::{
    clock,
    failure::{Failure, Outcome, prove},
    lab::{self, RoundTrip},
    report::ProbeReport,
    task::{self, Partner},
};

/// The most requests of one sample.
const TRIPS: u64 = 128;
/// Instructions after which a sample has enough of them.
const LONGEST: u64 = 48_000_000;
/// Instructions (nanoseconds of the guest) until the acknowledgement comes.
const FIRST: u64 = 61_000;
/// Below this, from there until the answer comes.
const JITTER: u64 = 80_000;
/// Instructions that it takes to handle a frame.
const WORK: u64 = 7_000;
/// What the answers' times are drawn from.
const SEED: u64 = 2001;

pub(super) fn round_trip(report: &mut ProbeReport) -> Outcome {
    let _other = Partner::process(|| {
        loop {
            clock::busy(LONGEST);
        }
    })?;
    task::fifo()?;
    let mut random = SEED;
    while !report.is_full() {
        let (mut total, mut trips) = (0, 0);
        while trips < TRIPS && total < LONGEST {
            random = next(random);
            total += trip(random >> 33)?;
            trips += 1;
        }
        report.push(total / trips);
    }
    Ok(())
}

/// One request and its answer.
fn trip(random: u64) -> Result<u64, Failure> {
    let trip = RoundTrip { first: FIRST, second: random % JITTER, work: WORK };
    let (cost, answered) = clock::window(|| lab::round_trip(&trip));
    prove!(answered.is_ok(), "the link gave no answer ({answered:?})");
    prove!(cost > trip.first + trip.second, "a round trip of {cost}, shorter than the link");
    Ok(cost)
}

/// Knuth's linear congruential generator (MMIX).
const fn next(state: u64) -> u64 {
    state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
}
