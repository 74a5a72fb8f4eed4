//! Where a document goes: stdout, its file, and files in formats for other programs.

use std::path::Path;

use pathmeter_gate::Gate;
use pathmeter_model::{Causes, Comparison};
use pathmeter_report::{Format, Judged, RowsOf, Shown, Style, comparison_table, options_table};
use pathmeter_trace::Explain;
use serde::Serialize;

use crate::arguments::{DocumentArgs, FormatArgs};
use crate::failure::Failure;
use crate::screen::destination::Destination;
use crate::screen::output::{self, Screen};

/// Where all goes that the user asked for; the files are open.
pub(crate) struct Places<'a> {
    /// Whether JSON is printed in place of a table.
    json: bool,
    args: &'a FormatArgs,
    /// The file that the JSON document goes to, if one is named.
    file: Option<Destination>,
    /// Those of `--write`, in its order.
    written: Vec<Option<Destination>>,
}

impl<'a> Places<'a> {
    /// Finds out before a long run whether its results can be written.
    ///
    /// # Errors
    /// One file is named twice or is read, or a place can't be written to.
    pub(crate) fn open(
        document: &DocumentArgs,
        args: &'a FormatArgs,
        inputs: &[&Path],
        screen: &Screen,
    ) -> Result<Self, Failure> {
        let ([file], written) = document.named_files(inputs).open_with(args.outputs(), screen)?;
        Ok(Self { json: document.json(), args, file, written })
    }

    /// Whether tables go to stdout.
    pub(crate) fn shows_tables(&self) -> bool {
        !self.json && self.args.format.is_none()
    }

    /// The document, if it is wanted.
    pub(crate) fn document<D: Serialize>(&self, document: &D) -> Result<(), Failure> {
        output::document(self.json, self.file.as_ref(), document)
    }

    /// All formats that are wanted; what could not be put out.
    pub(crate) fn formats(&self, text: impl Fn(Format) -> String) -> Vec<Failure> {
        let text = |format: Format| text(format).into_bytes();
        let printed = self.args.format.map(|format| output::print(&text(format)));
        let files = self.args.write.iter().zip(&self.written).map(|(wanted, file)| match file {
            Some(file) => file.write(&text(wanted.format)),
            None => Ok(()),
        });
        printed.into_iter().chain(files).filter_map(Result::err).collect()
    }

    /// The document, its table and all formats. What can't be written costs nothing of the rest.
    pub(crate) fn deliver<D: Serialize>(
        &self,
        document: &D,
        table: impl FnOnce(&D, Style) -> String,
        text: impl Fn(Format) -> String,
        screen: &Screen,
    ) -> Result<(), Failure> {
        let written = self.document(document);
        let printed = if self.shows_tables() {
            output::print(table(document, screen.style()).as_bytes())
        } else {
            Ok(())
        };
        let failures = [written, printed].into_iter().filter_map(Result::err);
        failed(failures.chain(self.formats(text)).collect())
    }
}

/// Where a comparison goes, and what is shown of it.
pub(crate) struct Formats<'a> {
    pub(crate) places: Places<'a>,
    pub(crate) shown: Shown,
}

impl Formats<'_> {
    /// The table, if it is wanted.
    pub(crate) fn table(&self, comparison: &Comparison, screen: &Screen) -> Result<(), Failure> {
        if !self.places.shows_tables() {
            return Ok(());
        }
        output::print(comparison_table(comparison, self.shown, screen.style()).as_bytes())?;
        self.options(comparison, screen)
    }

    /// The options in which the kernels differ, if that is known and tables are wanted.
    pub(crate) fn options(&self, comparison: &Comparison, screen: &Screen) -> Result<(), Failure> {
        let options = comparison.options.as_deref().filter(|_| self.places.shows_tables());
        let Some(options) = options else { return Ok(()) };
        output::print(options_table(options, screen.style()).as_bytes())
    }

    /// Everything that is wanted of a comparison without explanations. What can't be written costs
    /// nothing of the rest.
    pub(crate) fn deliver(
        &self,
        comparison: &Comparison,
        gate: &Gate,
        screen: &Screen,
    ) -> Result<(), Failure> {
        self.deliver_with(comparison, None, gate, screen)
    }

    /// The same, in which all but the document has these causes.
    pub(crate) fn deliver_with(
        &self,
        comparison: &Comparison,
        causes: Option<Causes>,
        gate: &Gate,
        screen: &Screen,
    ) -> Result<(), Failure> {
        let document = self.places.document(comparison);
        let causes = causes.or_else(|| comparison.causes.clone());
        let shown = Comparison { causes, ..comparison.clone() };
        let table = self.table(&shown, screen);
        let failures = [document.err(), table.err()].into_iter().flatten();
        failed(failures.chain(self.formats(&shown, gate, &[])).collect())
    }

    /// All other formats; what could not be written.
    pub(crate) fn formats(
        &self,
        comparison: &Comparison,
        gate: &Gate,
        explanations: &[Explain],
    ) -> Vec<Failure> {
        self.places.formats(|format| self.rendered(format, comparison, gate, explanations))
    }

    /// The comparison in one of the formats for other programs.
    pub(crate) fn rendered(
        &self,
        format: Format,
        comparison: &Comparison,
        gate: &Gate,
        explanations: &[Explain],
    ) -> String {
        let (of, outcomes, gate) = (RowsOf::Two, &gate.outcomes[..], &gate.report());
        let sums = self.shown.sums;
        format.render(Judged { of, comparison, outcomes, gate, explanations, sums })
    }
}

/// A document that is made of one file in no time, as JSON, as a table, or both.
pub(crate) fn document<D: Serialize>(
    args: &DocumentArgs,
    input: &Path,
    document: &D,
    table: impl FnOnce(&D, Style) -> String,
    screen: &Screen,
) -> Result<(), Failure> {
    let [file] = args.named_files(&[input]).open(screen)?;
    put(args, file.as_ref(), document, table, screen)
}

/// The same, with the document's file open.
pub(crate) fn put<D: Serialize>(
    args: &DocumentArgs,
    file: Option<&Destination>,
    document: &D,
    table: impl FnOnce(&D, Style) -> String,
    screen: &Screen,
) -> Result<(), Failure> {
    output::document(args.json(), file, document)?;
    if args.json() {
        return Ok(());
    }
    output::print(table(document, screen.style()).as_bytes())
}

/// All that failed, if something did.
pub(crate) fn failed(failures: Vec<Failure>) -> Result<(), Failure> {
    if failures.is_empty() { Ok(()) } else { Err(Failure::all(failures)) }
}
