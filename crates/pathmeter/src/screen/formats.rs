//! Where a comparison goes: stdout, the JSON document's file, and files in formats for CI.

use pathmeter_model::{Comparison, GateReport};
use pathmeter_report::{Format, Judged, Outcome, comparison_table, options_table};
use pathmeter_trace::Explain;

use crate::cli::{CompareArgs, FormatArgs};
use crate::screen::destination::Destination;
use crate::screen::output::{self, Screen};
use pathmeter_measure::failure::Failure;

/// What the user asked for, and where it goes.
pub(crate) struct Formats<'a> {
    pub(crate) args: &'a CompareArgs,
    /// The outcomes of the comparison's paths, in its order.
    pub(crate) outcomes: &'a [Outcome],
    /// Why paths are worse.
    pub(crate) gate: &'a GateReport,
    /// The JSON document's file.
    pub(crate) file: Option<&'a Destination>,
    /// Those of `--write`, in its order.
    pub(crate) written: &'a [Option<Destination>],
}

impl Formats<'_> {
    /// Whether tables go to stdout.
    pub(crate) fn shows_tables(&self) -> bool {
        !self.args.output.document.json && self.args.formats.format.is_none()
    }

    /// The table, if it is wanted.
    pub(crate) fn table(&self, comparison: &Comparison, screen: &Screen) -> Result<(), Failure> {
        if !self.shows_tables() {
            return Ok(());
        }
        output::print(comparison_table(comparison, self.args.shown(), screen.style()).as_bytes())?;
        self.options(comparison, screen)
    }

    /// The options in which the kernels differ, if that is known and tables are wanted.
    pub(crate) fn options(&self, comparison: &Comparison, screen: &Screen) -> Result<(), Failure> {
        let Some(options) = comparison.options.as_deref().filter(|_| self.shows_tables()) else {
            return Ok(());
        };
        let table = options_table(options, self.args.shown_options(), screen.style());
        output::print(table.as_bytes())
    }

    /// Everything that is wanted of a comparison without explanations. What can't be written costs
    /// nothing of the rest.
    pub(crate) fn deliver(&self, comparison: &Comparison, screen: &Screen) -> Result<(), Failure> {
        let document = output::document(self.args.output.document.json, self.file, comparison);
        let table = self.table(comparison, screen);
        let failures = [document.err(), table.err()].into_iter().flatten();
        match failures.chain(self.formats(comparison, &[])).collect::<Vec<_>>() {
            failures if failures.is_empty() => Ok(()),
            failures => Err(Failure::all(failures)),
        }
    }

    /// All other formats; what could not be written.
    pub(crate) fn formats(
        &self,
        comparison: &Comparison,
        explanations: &[Explain],
    ) -> Vec<Failure> {
        let judged = Judged { comparison, outcomes: self.outcomes, gate: self.gate, explanations };
        put(&self.args.formats, judged, self.written)
    }
}

/// Puts a comparison out in the formats that the user named; what could not be written.
pub(crate) fn put(
    formats: &FormatArgs,
    judged: Judged<'_>,
    written: &[Option<Destination>],
) -> Vec<Failure> {
    let text = |format: Format| format.render(judged).into_bytes();
    let printed = formats.format.map(|format| output::print(&text(format)));
    let files = formats.write.iter().zip(written).map(|(wanted, file)| match file {
        Some(file) => file.write(&text(wanted.format)),
        None => Ok(()),
    });
    printed.into_iter().chain(files).filter_map(Result::err).collect()
}
