//! `plan status`: what is done, failed and missing.

use pathmeter_model::clean;
use pathmeter_plan::{FailedCell, FailureClass, Folder, Plan, Status, status};

use super::loaded::read;
use super::node::failed;
use crate::cli::PlanStatusArgs;
use crate::screen::output::{self, Screen};
use pathmeter_measure::failure::{Exit, Failure};

/// Cells of a kind that are shown.
const MOST_SHOWN: usize = 20;

/// Prints how far a plan is.
pub(super) fn run(args: &PlanStatusArgs, screen: &Screen) -> Result<Exit, Failure> {
    args.document.refuse_format()?;
    let plan = read(&args.plan)?;
    let folder = Folder::open(&args.results).map_err(failed)?;
    let [file] = args.document.named(&[&args.plan]).open(screen)?;
    let about = status(&plan, &folder).map_err(failed)?;
    output::document(args.document.json(), file.as_ref(), &about)?;
    if !args.document.json() {
        let text = if args.missing { ids(&about) } else { table(&plan, &about) };
        output::print(text.as_bytes())?;
    }
    Ok(exit(&about))
}

/// How it stands, as an exit code: something to look at, to run again, to give up, or nothing.
fn exit(about: &Status) -> Exit {
    if !about.conflicts.is_empty() {
        Exit::Worse
    } else if about.goes_on() {
        Exit::TryAgain
    } else if !about.failed.is_empty() {
        Exit::Unmeasured
    } else {
        Exit::Done
    }
}

/// The ids of all cells without a result.
fn ids(about: &Status) -> String {
    let failed = about.failed.iter().map(|cell| &cell.cell);
    let mut ids: Vec<&String> = about.missing.iter().chain(failed).collect();
    ids.sort();
    ids.into_iter().map(|id| format!("{id}\n")).collect()
}

fn table(plan: &Plan, about: &Status) -> String {
    let Status { cells, done, failed, missing, conflicts, damaged, others, .. } = about;
    let mut text =
        format!("{cells} cells: {done} done, {} failed, {} missing\n", failed.len(), missing.len());
    let titled = |id: &String| {
        let title = plan.cell(id).map(|cell| plan.title(cell)).unwrap_or_default();
        format!("{id}  {title}")
    };
    let mut list = |heading: &str, lines: Vec<String>| {
        if lines.is_empty() {
            return;
        }
        text += &format!("\n{heading}:\n");
        for line in lines.iter().take(MOST_SHOWN) {
            text += &format!("  {}\n", clean(line));
        }
        if let Some(more) = lines.len().checked_sub(MOST_SHOWN).filter(|more| *more > 0) {
            text += &format!("  and {more} more, which --json lists\n");
        }
    };
    // Of very many a title each would take long, and nobody would see it.
    let some = |ids: &[String]| -> Vec<String> {
        let shown = ids.iter().take(MOST_SHOWN).map(titled);
        shown.chain(ids.iter().skip(MOST_SHOWN).cloned()).collect()
    };
    list("failed", failed.iter().map(told).collect());
    list("missing", some(missing));
    list("two different results, each kept", some(conflicts));
    list("a file that is no result, which a run replaces", some(damaged));
    if *others > 0 {
        text += &format!("\n{others} results are of no cell of this plan\n");
    }
    text
}

fn told(cell: &FailedCell) -> String {
    let FailedCell { cell, title, tries, class, node, message } = cell;
    let tries = if *tries == 1 { "1 try".to_owned() } else { format!("{tries} tries") };
    let class = match class {
        Some(FailureClass::Permanent) => "another try would not help",
        Some(FailureClass::Transient) => "another try may help",
        None => "its record can't be read",
    };
    format!("{cell}  {title}: {tries}, the last one on {node}; {class}: {message}")
}
