//! Single calls of a path, for the tails of its times.

use pathmeter_model::SingleCalls;
use pathmeter_stats::time::{Quantile, quantile};

use super::Session;
use super::error::SessionError;
use crate::server::Request;

/// Calls that are timed one by one.
const SINGLE: usize = 1000;
/// A call that is shorter than so many steps is not timed by itself.
const SINGLE_STEPS: u64 = 20;

impl Session<'_> {
    /// Times calls one by one, for the tails.
    pub(super) fn single_calls(&mut self) -> Result<(), SessionError> {
        for at in 0..self.paths.len() {
            let times = &self.paths[at].times;
            let first = times.replicates.first().and_then(|it| it.sides.first()?.first().copied());
            let call = first.unwrap_or(0) / times.calls;
            // Calls of single instructions overlap, and none has a time of its own.
            let overlaps = ["clock.", "insn."].iter().any(|group| times.path.starts_with(group));
            if !self.paths[at].is_open() || overlaps || call < SINGLE_STEPS * self.step {
                continue;
            }
            let request = Request { calls: 1, ..self.paths[at].request(1, SINGLE) };
            if let Some([mut ticks]) = self.process(0, at, &request)? {
                self.paths[at].times.single = single(&mut ticks);
            }
        }
        Ok(())
    }
}

fn single(ticks: &mut [u64]) -> Option<SingleCalls> {
    Some(SingleCalls {
        calls: u32::try_from(ticks.len()).ok()?,
        p50: quantile(ticks, Quantile::P50)?,
        p99: quantile(ticks, Quantile::P99)?,
        p999: quantile(ticks, Quantile::P999)?,
        longest: ticks.iter().copied().max()?,
    })
}
