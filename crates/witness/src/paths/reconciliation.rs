//! Why two interpreters' counts of a path differ: one window of it is recorded in each, and what
//! was executed is compared instruction by instruction.
//!
//! Which window that is does not depend on what it would explain: it is the first with the value
//! that the path's row shows.

use std::fs::File;

use pathmeter_probes::WARMUP;
use pathmeter_trace::{
    Claims, NoSymbols, NotExecuted, Reconciled, RecordedWindow, Resolve, Symbols, executed,
    reconciled, traced,
};
use pathmeter_vm::VmError;

use crate::bochs::traces::TracedWindow;
use crate::both::{Both, Show};
use crate::session;
use crate::table::WitnessCounts;
use pathmeter_measure::error::MeasureError;
use pathmeter_measure::session::Report;

/// A path whose counts differ.
pub(super) struct Differing {
    /// Its index in the suite.
    pub(super) index: usize,
    pub(super) counts: WitnessCounts,
}

impl Differing {
    /// The number of the window that is shown of QEMU (0) or Bochs (1), the warm-up included.
    fn window(&self, side: usize) -> u64 {
        u64::from(WARMUP) + self.counts.shown[side] as u64
    }
}

/// Why the counts of these paths differ, in their order.
pub(super) fn reconciliations(
    both: &Both<'_, impl Show>,
    differing: &[Differing],
) -> Result<Vec<Reconciled>, MeasureError> {
    if differing.is_empty() {
        return Ok(Vec::new());
    }
    let Both { session: guests, bochs, image, .. } = both;
    let (symbols, in_qemu) = both.during("recorded in QEMU", |progress| {
        let symbols = Symbols::parse(&guests.symbols(image, progress)?).ok();
        Ok::<_, MeasureError>((symbols, in_qemu(both, differing, progress)?))
    })?;
    let names: &dyn Resolve = symbols.as_ref().map_or(&NoSymbols, |symbols| symbols);
    let wanted = differing.iter().zip(&in_qemu).filter_map(|(one, recorded)| {
        let stamps = recorded.as_ref().ok()?.stamps.clone();
        Some(TracedWindow { path: one.index, stamps, window: one.window(1) })
    });
    let wanted: Vec<TracedWindow> = wanted.collect();
    let in_bochs = both.during("traced in Bochs", |progress| {
        session::witness_traced(guests, image, bochs, &wanted, progress, traced)
    })?;
    let mut in_bochs = in_bochs.into_iter();
    let reconciled = differing.iter().zip(in_qemu).map(|(one, qemu)| {
        let qemu = qemu.map_err(|why| format!("in QEMU, {why}"))?.executed;
        let bochs = in_bochs.next().unwrap_or(Err(NotExecuted::Short));
        let bochs = bochs.map_err(|why| format!("in Bochs, {why}"))?;
        let WitnessCounts { clock, checks, faults, bochs: steps, .. } = one.counts;
        Ok(reconciled(&qemu, &bochs, Claims { clock, checks, faults, bochs: steps }, names))
    });
    let or_why = |one: Result<_, String>| one.unwrap_or_else(Reconciled::Incomplete);
    Ok(reconciled.map(or_why).collect())
}

/// The windows that are shown of QEMU, recorded.
fn in_qemu(
    both: &Both<'_, impl Show>,
    differing: &[Differing],
    progress: Report<'_>,
) -> Result<Vec<Result<RecordedWindow, String>>, MeasureError> {
    let paths: Vec<usize> = differing.iter().map(|one| one.index).collect();
    let read = |path: usize, trace: File| {
        let one = differing.iter().find(|one| one.index == path);
        executed(trace, one.map_or(0, |one| one.window(0)))
    };
    let windows = session::record_witnessed(both.session, both.image, &paths, progress, read)?;
    Ok(windows.into_iter().map(recorded).collect())
}

fn recorded(
    recorded: Result<Result<RecordedWindow, NotExecuted>, VmError>,
) -> Result<RecordedWindow, String> {
    recorded.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
}
