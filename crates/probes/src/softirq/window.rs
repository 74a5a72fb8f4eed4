//! The last instructions before an idle CPU sleeps: what an interrupt raises there, after the
//! scheduler has looked for softirqs, only the idle loop's own check can see.
//!
//! The probe searches for the shortest delay after which the device finds the CPU in `hlt`. The
//! delays right below it meet the idle task awake, with interrupts on.
//!
//! Proof: the lab's record says of each raise that it interrupted the idle task, and no `hlt`.

use crate::{
    failure::{Failure, Outcome, broken, unsupported},
    lab::{self, SoftirqRecord},
    report::ProbeReport,
    softirq::ring::{Armed, NET_RX_ONCE, ROUNDS, STEP, forget, raised, wait},
    task::sleep,
};

/// A delay in which no program gets to sleep.
const NOT_ASLEEP: u64 = 64;

pub(super) fn before_hlt(report: &mut ProbeReport) -> Outcome {
    forget()?;
    if after(STEP)?.context != lab::IN_HALT {
        return unsupported!("an idle CPU of this kernel does not halt");
    }
    for _ in 0..ROUNDS {
        let first = first_in_hlt()?;
        while !report.is_full() {
            let delay = first - 1 - report.samples().len() as u64;
            let run = after(delay)?;
            // Otherwise a tick was in the way, now or in the search.
            if run.context != lab::IN_IDLE {
                break;
            }
            report.push(wait(&run));
        }
        if report.is_full() {
            return Ok(());
        }
    }
    broken!("the last instructions before hlt were not found in {ROUNDS} searches")
}

/// The shortest delay after which the CPU is in `hlt`.
fn first_in_hlt() -> Result<u64, Failure> {
    let (mut awake, mut asleep) = (NOT_ASLEEP, STEP);
    while asleep - awake > 1 {
        let middle = awake.midpoint(asleep);
        if after(middle)?.context == lab::IN_HALT {
            asleep = middle;
        } else {
            awake = middle;
        }
    }
    Ok(asleep)
}

/// What came of an interrupt so many instructions after it was asked for, by a program that goes to
/// sleep at once.
fn after(delay: u64) -> Result<SoftirqRecord, Failure> {
    raised(Armed { delay, ..NET_RX_ONCE }, sleep).map(|[run]| run)
}
