//! `pathmeter compare … --times …`: exact counts, joined with times of the same two sides.

use pathmeter_gate::Gate;
use pathmeter_measure::failure::Failure;
use pathmeter_model::{Comparison, Joined, Measurement};
use pathmeter_report::{Rows, joined_table};

use crate::cli::CompareArgs;
use crate::screen::formats::Formats;
use crate::screen::output::Screen;
use crate::verbs::host::TimedSides;

/// Times of the two sides that are compared, and which rows of both are shown.
pub(crate) struct TimeColumns<'a> {
    sides: TimedSides<'a>,
    rows: Rows,
}

impl<'a> TimeColumns<'a> {
    /// What `--times` names, if it is given.
    ///
    /// # Errors
    /// These can't be compared.
    pub(crate) fn new(args: &'a CompareArgs) -> Result<Option<Self>, Failure> {
        if args.times.is_empty() {
            return Ok(None);
        }
        let names = args.times.iter().map(|name| &**name).collect();
        Ok(Some(Self { sides: TimedSides::new(names, args)?, rows: args.rows.rows() }))
    }

    /// Takes or reads the times, and puts both out together. Formats for other programs have the
    /// counts, which gates judge.
    pub(crate) fn deliver(
        &self,
        formats: &Formats<'_>,
        (comparison, base, gate): (Comparison, &Measurement, &Gate),
        screen: &Screen,
    ) -> Result<(), Failure> {
        let counted = |path: &str| comparison.paths.iter().any(|it| it.path == path);
        let (of_base, times) = self.sides.compared(&counted, screen)?;
        let joined = Joined::new(comparison, times, (base, &of_base));
        formats.places.deliver(
            &joined,
            |joined, style| joined_table(joined, self.rows, style),
            |format| formats.rendered(format, &joined.exact, gate, &[]),
            screen,
        )
    }
}
