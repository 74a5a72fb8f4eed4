//! `compare --explain`: each path that changed, explained, and the document of both,
//! `pathmeter.explained-comparison/1`.

use pathmeter_model::{Comparison, PathComparison, Verdict, clean};
use pathmeter_report::{Placement, beside_row};
use pathmeter_seal::schema_name;
use pathmeter_trace::{Explain, PointWindow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::arguments::ExplainOutput;
use crate::comparison::causes;
use crate::comparison::differences::differences;
use crate::failure::Failure;
use crate::screen::formats::{Formats, failed};
use crate::screen::output::{self, Screen};
use crate::screen::progress::Board;
use pathmeter_gate::Gate;
use pathmeter_measure::path::additions::REGIONS;
use pathmeter_measure::path::selection::NO_PATH;
use pathmeter_measure::recording::RecordablePath;
use pathmeter_measure::recording::cache::kept_recordings;
use pathmeter_measure::session::Session;
use pathmeter_measure::subject::builds::Builds;
use pathmeter_measure::subject::image::Image;

/// Verdicts of the rows that are explained.
const CHANGED: [Verdict; 6] = [
    Verdict::Higher,
    Verdict::Lower,
    Verdict::ModeAppeared,
    Verdict::LongerTail,
    Verdict::ShorterTail,
    Verdict::EventsDiffer,
];

/// Why a region of a program is not explained.
const OF_A_PROGRAM: &str = "it is a region of a program: `pathmeter run OLD NEW --explain -- \
    PROGRAM` shows the functions";

schema_name!(ExplainedSchema = "pathmeter.explained-comparison/1");

/// Two kernels, path by path, and where the differences are.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ExplainedComparison {
    schema: ExplainedSchema,
    pub(crate) comparison: Comparison,
    /// One for each path that changed and has windows to record, in the comparison's order.
    pub(crate) explanations: Vec<Explain>,
    /// The other rows that changed, and why they are not explained.
    #[serde(default)]
    pub(crate) unexplained: Vec<Unexplained>,
}

/// A row that changed and has no explanation.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Unexplained {
    pub(crate) path: String,
    pub(crate) reason: String,
}

/// How much is shown of where differences come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// The causes, if the cache has the recordings that tell them.
    Kept,
    /// The causes, of recordings that are made where there are none.
    Causes,
    /// The same, and each path that changed, function by function.
    Functions,
}

/// The kernels that are compared, and what their paths were recorded with.
pub(crate) type Kernels<'a> = (&'a Session, [&'a Image; 2]);

/// Puts the comparison of two kernels out, with what is known, or asked for, of where the
/// differences come from.
///
/// # Errors
/// Those of the paths that could not be explained, once all others have been put out.
pub(crate) fn deliver(
    detail: Detail,
    put: &Formats<'_>,
    compared: (Comparison, &Gate),
    (kernels, windows): (Kernels<'_>, &[PointWindow]),
    screen: &Screen,
) -> Result<(), Failure> {
    match detail {
        Detail::Kept => with_kept_causes(put, compared, (kernels, windows), screen),
        Detail::Causes | Detail::Functions => {
            let in_full = detail == Detail::Functions;
            explained(in_full, put, compared, (kernels, windows), screen)
        }
    }
}

/// Puts the comparison out with the causes that the cache can tell, or with an offer to find them.
fn with_kept_causes(
    put: &Formats<'_>,
    (mut comparison, gate): (Comparison, &Gate),
    ((session, images), windows): (Kernels<'_>, &[PointWindow]),
    screen: &Screen,
) -> Result<(), Failure> {
    add_builds(&mut comparison, &[], session, images);
    // A document never depends on what the cache has.
    let kept = explain_from_cache(&comparison, windows, (session, images));
    let causes = kept.and_then(|it| causes::of_explanations(&it, session, images).ok());
    let known = causes.is_some();
    put.deliver_with(&comparison, causes, gate, screen)?;
    if put.places.shows_tables() && !known {
        output::print(offer(&comparison, windows).as_bytes())?;
    }
    Ok(())
}

/// Explains every path that changed and has windows, all in one guest of each kernel.
fn explained(
    in_full: bool,
    put: &Formats<'_>,
    (mut comparison, gate): (Comparison, &Gate),
    ((session, [base, new]), windows): (Kernels<'_>, &[PointWindow]),
    screen: &Screen,
) -> Result<(), Failure> {
    let paths: Vec<_> = changed(&comparison, windows).collect();
    let unexplained: Vec<Unexplained> = unexplained(&comparison, windows).collect();
    let (explanations, mut failures) = explanations(session, [base, new], &paths, screen)?;
    let no_causes = attribute(&mut comparison, &explanations, session, [base, new]);
    let no_causes = no_causes.map(|why| format!("\nno causes: {why}\n"));
    put.table(&comparison, screen)?;
    if put.places.shows_tables() {
        if in_full {
            output::print(tables(&explanations, &comparison, put, screen).as_bytes())?;
        }
        let left_over = left_over(&explanations, &failures, &unexplained);
        output::print((no_causes.unwrap_or_default() + &left_over).as_bytes())?;
    }
    failures.extend(put.formats(&comparison, gate, &explanations));
    let schema = ExplainedSchema::V1;
    let document = ExplainedComparison { schema, comparison, explanations, unexplained };
    failures.extend(put.places.document(&document).err());
    failed(failures)
}

/// Adds what the differences come from: the causes, and the options of the two builds. If there are
/// no causes, says why.
#[must_use = "it is told why there are no causes"]
pub(crate) fn attribute(
    comparison: &mut Comparison,
    explanations: &[Explain],
    session: &Session,
    images: [&Image; 2],
) -> Option<String> {
    add_builds(comparison, explanations, session, images);
    let causes = causes::of_explanations(explanations, session, images);
    let why = causes.as_ref().err().cloned();
    comparison.causes = causes.ok();
    why
}

/// Adds how the two kernels were built, as far as that is known.
fn add_builds(
    comparison: &mut Comparison,
    explanations: &[Explain],
    session: &Session,
    images: [&Image; 2],
) {
    let builds = Builds::of(session, images);
    comparison.compilers = builds.as_ref().and_then(Builds::compilers);
    comparison.options = builds.and_then(|it| it.options(explanations));
}

/// The explanations of all paths that changed, if the cache has the recordings; none if nothing
/// changed that could be recorded.
fn explain_from_cache(
    comparison: &Comparison,
    windows: &[PointWindow],
    (session, images): Kernels<'_>,
) -> Option<Vec<Explain>> {
    let paths: Vec<_> = changed(comparison, windows).collect();
    if paths.is_empty() {
        return None;
    }
    let base = kept_recordings(session, images[0], &paths)?;
    let new = kept_recordings(session, images[1], &paths)?;
    Some(base.into_iter().zip(new).map(|(base, new)| Explain::new(base, Some(new))).collect())
}

/// What is said where functions were not asked for: how to have them, and what that takes.
fn offer(comparison: &Comparison, windows: &[PointWindow]) -> String {
    match changed(comparison, windows).count() {
        0 => String::new(),
        1 => "--explain shows which functions changed: it executes the path again\n".to_owned(),
        paths => {
            format!(
                "--explain shows which functions changed: it executes {paths} paths again, those \
                 in which any count differs\n"
            )
        }
    }
}

/// An explanation of each path, or why there is none.
pub(crate) fn explanations(
    session: &Session,
    [base, new]: [&Image; 2],
    paths: &[RecordablePath<'_>],
    screen: &Screen,
) -> Result<(Vec<Explain>, Vec<Failure>), Failure> {
    if paths.is_empty() {
        return Ok((vec![], vec![]));
    }
    let board = Board::new(screen);
    let explained = match differences(session, [base, new], paths, &board) {
        Err(Failure::Interrupted) => return Err(Failure::Interrupted),
        explained => explained.unwrap_or_else(|failure| vec![Err(failure)]),
    };
    let (mut explanations, mut failures) = (Vec::new(), Vec::new());
    for explain in explained {
        match explain {
            Ok(explain) => explanations.push(explain),
            Err(failure) => failures.push(failure),
        }
    }
    Ok((explanations, failures))
}

/// All paths, function by function.
fn tables(
    explanations: &[Explain],
    comparison: &Comparison,
    put: &Formats<'_>,
    screen: &Screen,
) -> String {
    let placement = put.shown.placement == Placement::Shown;
    let output = ExplainOutput { placement, ..ExplainOutput::default() };
    explanations.iter().map(|explain| table(&output, explain, comparison, screen)).collect()
}

/// One path, function by function, and what its row says beside it.
fn table(
    output: &ExplainOutput,
    explain: &Explain,
    comparison: &Comparison,
    screen: &Screen,
) -> String {
    let row = comparison.paths.iter().find(|row| row.path == explain.path);
    let beside = row.map(|row| beside_row(explain, row)).unwrap_or_default();
    let beside: String = beside.into_iter().map(|it| it + "\n").collect();
    format!("\n{}{beside}", output.tables(explain, screen.style()))
}

/// The paths that are explained, as far as they have windows to record.
pub(crate) fn changed<'a>(
    comparison: &'a Comparison,
    windows: &'a [PointWindow],
) -> impl Iterator<Item = RecordablePath<'a>> {
    all_changed(comparison).filter_map(|row| {
        let path = RecordablePath::or_window(&row.path, windows).ok()?;
        Some(path.showing(row.pairs))
    })
}

fn all_changed(comparison: &Comparison) -> impl Iterator<Item = &PathComparison> {
    comparison.paths.iter().filter(|path| CHANGED.contains(&path.verdict))
}

/// The rows that changed and can't be explained, with the reasons.
fn unexplained<'a>(
    comparison: &'a Comparison,
    windows: &'a [PointWindow],
) -> impl Iterator<Item = Unexplained> {
    all_changed(comparison).map(|row| &*row.path).filter_map(|path| {
        let failure = RecordablePath::or_window(path, windows).err()?;
        let reason = match path.strip_prefix(REGIONS) {
            Some(_) => OF_A_PROGRAM.to_owned(),
            None if path.starts_with(NO_PATH) => "its windows begin in no path".to_owned(),
            None => failure.help().map_or_else(|| failure.to_string(), str::to_owned),
        };
        Some(Unexplained { path: path.to_owned(), reason })
    })
}

/// What is said of rows without an explanation, and where there is nothing to explain.
fn left_over(
    explanations: &[Explain],
    failures: &[Failure],
    unexplained: &[Unexplained],
) -> String {
    if explanations.is_empty() && failures.is_empty() && unexplained.is_empty() {
        return "\nno path changed, so there is nothing to explain\n".to_owned();
    }
    let line =
        |it: &Unexplained| format!("\nnot explained: {}: {}\n", clean(&it.path), clean(&it.reason));
    unexplained.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema_test::assert_published;

    #[test]
    fn the_schema_is_published() {
        assert_published::<ExplainedComparison>("pathmeter.explained-comparison-1");
    }
}
