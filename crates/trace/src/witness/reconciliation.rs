//! Whether what was recorded of one window in two interpreters explains their two counts of it.
//!
//! It does if each interpreter's executions add up to its own count, and the places where the
//! executions diverge add up to the difference of the two.

use crate::{
    kernel::symbols::Resolve,
    witness::{
        divergence::{FlowDifference, flow_difference},
        executions::{Executed, Faults},
    },
};

/// What the interpreters' clocks counted of one window each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claims {
    /// How many steps QEMU's clock made.
    pub clock: u64,
    /// Of these, last checks of string instructions, which Bochs does not have.
    pub checks: u64,
    /// Exceptions, which are steps of Bochs' clock only.
    pub faults: u64,
    /// How many steps Bochs' clock made.
    pub bochs: u64,
}

impl Claims {
    /// Steps that follow for Bochs' clock from QEMU's, and those that it has.
    fn steps(&self) -> [i128; 2] {
        let [clock, checks, faults] = [self.clock, self.checks, self.faults].map(i128::from);
        [clock - checks + faults, i128::from(self.bochs)]
    }
}

/// What the recordings say of two counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reconciled {
    /// The counts are right: wherever the executions diverge, the kernel itself decided
    /// differently.
    Decided(FlowDifference),
    /// The counts are right, but in a place at least the interpreters do differently with the same
    /// instruction.
    Diverged(FlowDifference),
    /// Both executed the same instructions, and one of the two counted them wrongly.
    Miscounted {
        /// Steps of Bochs' clock that follow from what both executed.
        executed: u64,
    },
    /// The recordings do not add up.
    Incomplete(String),
}

/// Compares the recordings of one window in each, of which the clocks claim this much.
pub fn reconciled(
    qemu: &Executed,
    bochs: &Executed,
    claims: Claims,
    names: &dyn Resolve,
) -> Reconciled {
    let difference = flow_difference(qemu, bochs, names);
    let [in_qemu, in_bochs] = [qemu, bochs].map(|executed| executed.faults(names));
    let (Some(in_qemu), Some(in_bochs)) = (in_qemu, in_bochs) else {
        let what = "an exception came, and its handler does not return within the window";
        return Reconciled::Incomplete(what.to_owned());
    };
    let steps = [steps(qemu, in_qemu), steps(bochs, in_bochs)];
    if difference.divergences.is_empty() && steps[0] == steps[1] {
        return Reconciled::Miscounted { executed: steps[0] };
    }
    let wrong =
        not_of_qemu(qemu, in_qemu, claims).or_else(|| not_of_bochs(bochs, in_bochs, claims));
    if let Some(what) = wrong {
        return Reconciled::Incomplete(what);
    }
    let parts: i128 = difference.divergences.iter().map(|one| i128::from(one.difference)).sum();
    let unfetched = i128::from(in_bochs.unfetched) - i128::from(in_qemu.unfetched);
    let [expected, counted] = claims.steps();
    if parts + unfetched != counted - expected {
        let what = format!("the places where they diverge add up to {}", parts + unfetched);
        return Reconciled::Incomplete(what);
    }
    if difference.divergences.iter().all(|one| one.cause.is_decision()) {
        Reconciled::Decided(difference)
    } else {
        Reconciled::Diverged(difference)
    }
}

/// Steps of Bochs' clock that these executions are.
fn steps(executed: &Executed, faults: Faults) -> u64 {
    executed.executions().saturating_add(faults.unfetched)
}

/// What of QEMU's count its recording does not have.
fn not_of_qemu(executed: &Executed, faults: Faults, claims: Claims) -> Option<String> {
    let clock = (executed.executions() + executed.checks).saturating_sub(faults.restarted);
    let all = [
        ("steps of the clock", clock, claims.clock),
        ("last checks", executed.checks, claims.checks),
        ("faults", faults.restarted + faults.unfetched, claims.faults),
    ];
    let wrong = all.into_iter().find(|(_, recorded, counted)| recorded != counted);
    wrong.map(|(what, recorded, counted)| {
        format!("QEMU's recording has {recorded} {what}, and {counted} were counted")
    })
}

/// What of Bochs' count its trace does not have.
fn not_of_bochs(executed: &Executed, faults: Faults, claims: Claims) -> Option<String> {
    let recorded = steps(executed, faults);
    if recorded == claims.bochs && executed.clock == Some(claims.bochs) {
        return None;
    }
    let clock = executed.clock.unwrap_or_default();
    Some(format!(
        "Bochs' trace has {recorded} steps, and its clock {clock} in it; {} were counted",
        claims.bochs
    ))
}
