//! When a path has enough replicates: as soon as its intervals are narrow, wherever they lie.
//!
//! A rule that looked at where they lie would end a session when chance shows a difference, and
//! call too many paths different. One that looks at widths alone is that of Chow and Robbins ("On
//! the asymptotic theory of fixed-width sequential confidence intervals for the mean", Ann. Math.
//! Stat. 36, 1965). `crates/stats/tests/time_simulation.rs` counts what is called different so.

use pathmeter_model::{Around, PathTimes};
use pathmeter_stats::time::{is_narrower, log_ratio};

/// Whether the intervals of this path are as narrow as `width`: those of the differences of new
/// and of the copy from base or, of one condition, that of base's level. What stands around the
/// calls is no part of them. A path that takes no more than that has no wide interval.
pub(crate) fn is_narrow(path: &PathTimes, around: &Around, width: f64) -> bool {
    let base = around.executions(path, 0);
    let sides = path.replicates.first().map_or(0, |replicate| replicate.sides.len());
    if sides < 3 {
        return is_narrower(&base.iter().map(|level| level.ln()).collect::<Vec<_>>(), width);
    }
    (1..sides).all(|side| {
        let sides = around.executions(path, side);
        let ratios = base.iter().zip(&sides).filter_map(|(base, side)| log_ratio(*base, *side));
        is_narrower(&ratios.collect::<Vec<_>>(), width)
    })
}
