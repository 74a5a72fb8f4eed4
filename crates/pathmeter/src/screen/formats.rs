//! Where a comparison goes: stdout, the JSON document's file, and files in formats for CI.

use pathmeter_gate::Gate;
use pathmeter_model::Comparison;
use pathmeter_report::{Format, Judged, Shown, ShownOptions, comparison_table, options_table};
use pathmeter_trace::Explain;

use crate::cli::FormatArgs;
use crate::screen::destination::Destination;
use crate::screen::output::{self, Screen};
use pathmeter_measure::failure::Failure;

/// Where all goes that the user asked for, and in which form.
pub(crate) struct Formats<'a> {
    /// Whether JSON is printed in place of a table.
    pub(crate) json: bool,
    pub(crate) args: &'a FormatArgs,
    /// What the table shows.
    pub(crate) shown: Shown,
    /// Which options of the kernels' configurations are shown.
    pub(crate) options: ShownOptions,
    /// The JSON document's file.
    pub(crate) file: Option<Destination>,
    /// Those of `--write`, in its order.
    pub(crate) written: Vec<Option<Destination>>,
}

impl Formats<'_> {
    /// Whether tables go to stdout.
    pub(crate) fn shows_tables(&self) -> bool {
        !self.json && self.args.format.is_none()
    }

    /// The table, if it is wanted.
    pub(crate) fn table(&self, comparison: &Comparison, screen: &Screen) -> Result<(), Failure> {
        if !self.shows_tables() {
            return Ok(());
        }
        output::print(comparison_table(comparison, self.shown, screen.style()).as_bytes())?;
        self.options(comparison, screen)
    }

    /// The options in which the kernels differ, if that is known and tables are wanted.
    pub(crate) fn options(&self, comparison: &Comparison, screen: &Screen) -> Result<(), Failure> {
        let Some(options) = comparison.options.as_deref().filter(|_| self.shows_tables()) else {
            return Ok(());
        };
        output::print(options_table(options, self.options, screen.style()).as_bytes())
    }

    /// Everything that is wanted of a comparison without explanations. What can't be written costs
    /// nothing of the rest.
    pub(crate) fn deliver(
        &self,
        comparison: &Comparison,
        gate: &Gate,
        screen: &Screen,
    ) -> Result<(), Failure> {
        let document = output::document(self.json, self.file.as_ref(), comparison);
        let table = self.table(comparison, screen);
        let failures = [document.err(), table.err()].into_iter().flatten();
        failed(failures.chain(self.formats(comparison, gate, &[])).collect())
    }

    /// All other formats; what could not be written.
    pub(crate) fn formats(
        &self,
        comparison: &Comparison,
        gate: &Gate,
        explanations: &[Explain],
    ) -> Vec<Failure> {
        let (outcomes, gate) = (&gate.outcomes[..], &gate.report());
        let judged = Judged { comparison, outcomes, gate, explanations };
        let text = |format: Format| format.render(judged).into_bytes();
        let printed = self.args.format.map(|format| output::print(&text(format)));
        let files = self.args.write.iter().zip(&self.written).map(|(wanted, file)| match file {
            Some(file) => file.write(&text(wanted.format)),
            None => Ok(()),
        });
        printed.into_iter().chain(files).filter_map(Result::err).collect()
    }
}

/// All that failed, if something did.
pub(crate) fn failed(failures: Vec<Failure>) -> Result<(), Failure> {
    if failures.is_empty() { Ok(()) } else { Err(Failure::all(failures)) }
}
