//! `pathmeter host compare`: this machine under two conditions, or the times of two sessions.

use std::path::Path;

use pathmeter_measure::path::selection::Selection;
use pathmeter_model::{TimeComparison, TimeRow, TimeVerdict};
use pathmeter_report::time_comparison_table;

use super::args::HostCompareArgs;
use super::session::select;
use super::sides::{Side, TimedSides};
use crate::failure::{Exit, Failure};
use crate::screen::output::{self, Screen};

/// Compares the two sides, and puts the comparison out.
pub(super) fn run(args: &HostCompareArgs, screen: &Screen) -> Result<Exit, Failure> {
    let documents: Vec<&Path> =
        [&args.base, &args.new].into_iter().flatten().map(|it| &**it).collect();
    let sides = TimedSides::new(sides(&documents), &args.session, args.threshold)?;
    let selection = select(&args.rows, &documents)?;
    let [file] = args.document.named_files(&documents).open(screen)?;
    let (_, comparison) = sides.compare(&|path| selection.holds(path), screen)?;
    let written = output::document(args.document.json(), file.as_ref(), &comparison);
    if !args.document.json() {
        let table = time_comparison_table(&comparison, args.rows.rows(), screen.style());
        output::print(table.as_bytes())?;
    }
    written?;
    if args.check { judge(&comparison, &selection) } else { Ok(Exit::Done) }
}

/// The documents, and this machine in the place of each that is not named.
fn sides<'a>(documents: &[&'a Path]) -> [Side<'a>; 2] {
    let side = |at: usize| documents.get(at).map_or(Side::Here, |path| Side::Document(path));
    [side(0), side(1)]
}

/// Whether a path takes longer.
///
/// # Errors
/// None does, and a path that had to be decided is not: one that BASE can execute and NEW can't,
/// one that `--only` names in full, or all.
fn judge(comparison: &TimeComparison, selection: &Selection) -> Result<Exit, Failure> {
    if comparison.count(TimeVerdict::Slower) > 0 {
        return Ok(Exit::Worse);
    }
    let is_open = |row: &&TimeRow| match row.verdict {
        TimeVerdict::Unmeasured => row.base.is_some() || selection.names(&row.path),
        TimeVerdict::Undecidable => comparison.count_decided() == 0 || selection.names(&row.path),
        _ => false,
    };
    let open: Vec<&str> = comparison.paths.iter().filter(is_open).map(|row| &*row.path).collect();
    match &open[..] {
        [] if comparison.count_decided() > 0 => Ok(Exit::Done),
        [] => Err(Failure::Unchecked { message: "--check: no path was measured".to_owned() }),
        [first, more @ ..] => {
            let more =
                if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
            let message =
                format!("--check: {first}{more}: no verdict; the table says what would help");
            Err(Failure::Unchecked { message })
        }
    }
}
