//! `pathmeter compare … --times …`: exact counts, joined with times of the same two sides.

use std::path::Path;

use pathmeter_gate::Gate;
use pathmeter_measure::failure::Failure;
use pathmeter_model::{Comparison, Joined, Measurement};
use pathmeter_report::joined_table;

use crate::cli::CompareArgs;
use crate::screen::formats::Formats;
use crate::screen::output::Screen;
use crate::verbs::host;

/// Refuses before anything is measured times that can't be compared.
pub(crate) fn refuse_early(args: &CompareArgs) -> Result<(), Failure> {
    if args.times.is_empty() { Ok(()) } else { host::refuse_early(&names(args), args) }
}

fn names(args: &CompareArgs) -> Vec<&Path> {
    args.times.iter().map(|name| &**name).collect()
}

/// Takes or reads the times, and puts both out together. Formats for other programs have the
/// counts, which gates judge.
pub(crate) fn deliver(
    args: &CompareArgs,
    formats: &Formats<'_>,
    (comparison, base, gate): (Comparison, &Measurement, &Gate),
    screen: &Screen,
) -> Result<(), Failure> {
    let counted = |path: &str| comparison.paths.iter().any(|it| it.path == path);
    let taken = host::taken(&names(args), args, &counted, screen)?;
    let times = taken.compare(counted, host::margin(args)).ok_or_else(host::nothing_to_compare)?;
    let of_base = taken.base().ok_or_else(host::nothing_to_compare)?;
    let joined = Joined::new(comparison, times, (base, of_base));
    let shown = &joined.exact;
    formats.places.deliver(
        &joined,
        |joined, style| joined_table(joined, args.rows.rows(), style),
        |format| formats.rendered(format, shown, gate, &[]),
        screen,
    )
}
