//! What a bisection found, as a document: `pathmeter.bisect/1`.

use std::cell::RefCell;
use std::path::Path;

use pathmeter_model::Comparison;
use pathmeter_report::Style;
use pathmeter_seal::schema_name;
use pathmeter_trace::Explain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::args::BisectArgs;
use super::question::Question;
use crate::failure::Failure;
use crate::screen::formats::{Places, failed};
use crate::screen::output::{self, Screen};

schema_name!(BisectSchema = "pathmeter.bisect/1");

/// The first kernel, or commit, in which a path costs something else.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct Bisected {
    schema: BisectSchema,
    path: String,
    /// The event that was asked about; null if it was the path's own numbers.
    event: Option<String>,
    /// The first kernel that differs, as it was named; of a git tree the commit's hash.
    first: String,
    /// About that commit; null without a git tree.
    commit: Option<Commit>,
    /// How many kernels were measured.
    measured: usize,
    /// How many could not be built or measured.
    skipped: usize,
    /// The path on the kernel before and on this one; null if this one could not be measured.
    comparison: Option<Comparison>,
    /// The functions that the difference is in; null if the path has no windows to record, or a
    /// side is a result.
    explanation: Option<Explain>,
}

/// A commit, as git tells of it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct Commit {
    /// The beginning of its hash and its subject, as a `Fixes:` line has them.
    pub(super) about: String,
    /// Who wrote it, and on which day.
    pub(super) author: String,
}

/// Where the difference between two neighbours is.
#[derive(Default)]
pub(super) struct Difference {
    pub(super) comparison: Option<Comparison>,
    pub(super) explanation: Option<Explain>,
}

/// What was found, and what it took.
pub(super) struct Found {
    pub(super) first: String,
    pub(super) commit: Option<Commit>,
    pub(super) measured: usize,
    pub(super) skipped: usize,
    pub(super) difference: Difference,
}

/// The places that the answer is put in.
pub(super) struct Put<'a> {
    args: &'a BisectArgs,
    screen: &'a Screen,
    places: Places<'a>,
    /// What was said for people so far, as formats have it.
    page: RefCell<String>,
}

impl<'a> Put<'a> {
    /// Opens the document's file: the search may take hours.
    pub(super) fn new(args: &'a BisectArgs, screen: &'a Screen) -> Result<Self, Failure> {
        let inputs: Vec<&Path> = args.kernels.iter().map(AsRef::as_ref).collect();
        let places = Places::open(&args.document, &args.formats, &inputs, screen)?;
        Ok(Self { args, screen, places, page: RefCell::default() })
    }

    /// A part of the answer for people: printed at once, unless something else is wanted in its
    /// place.
    pub(super) fn text(&self, text: impl Fn(Style) -> String) -> Result<(), Failure> {
        *self.page.borrow_mut() += &text(Style::default());
        if !self.places.shows_tables() {
            return Ok(());
        }
        output::print(text(self.screen.style()).as_bytes())
    }

    /// Puts the document and all formats out, if they are wanted.
    pub(super) fn document(&self, found: Found) -> Result<(), Failure> {
        let question = Question::of(self.args);
        let Found { first, commit, measured, skipped, difference } = found;
        let document = Bisected {
            schema: BisectSchema::V1,
            path: question.path.to_owned(),
            event: question.event.map(|event| event.word().to_owned()),
            first,
            commit,
            measured,
            skipped,
            comparison: difference.comparison,
            explanation: difference.explanation,
        };
        let written = self.places.document(&document).err();
        let formats = self.places.formats(|format| format.page(&self.page.borrow()));
        failed(written.into_iter().chain(formats).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema_test::assert_published;

    #[test]
    fn the_schema_is_published() {
        assert_published::<Bisected>("pathmeter.bisect-1");
    }
}
