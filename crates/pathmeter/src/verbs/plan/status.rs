//! `plan status`: what is done, failed and missing.

use std::io::ErrorKind;
use std::path::Path;

use pathmeter_model::clean;
use pathmeter_plan::{FailedCell, FailureClass, Folder, FolderError, Plan, Status, status};

use super::args::PlanStatusArgs;
use super::loaded::read;
use super::node::failed;
use crate::failure::{Exit, Failure};
use crate::screen::output::{self, Screen};

/// Cells of a kind that are shown.
const MOST_SHOWN: usize = 20;

/// Prints how far a plan is.
pub(super) fn run(args: &PlanStatusArgs, screen: &Screen) -> Result<Exit, Failure> {
    let plan = read(&args.plan)?;
    let folder = find_folder(&args.results, screen)?;
    let [file] = args.document.named_files(&[&args.plan]).open(screen)?;
    let about = match folder {
        Some(folder) => status(&plan, &folder).map_err(failed)?,
        None => Status::before_first_run(&plan),
    };
    output::document(args.document.json(), file.as_ref(), &about)?;
    if !args.document.json() {
        let text = if args.missing { ids(&about) } else { table(&plan, &about) };
        output::print(text.as_bytes())?;
    }
    Ok(exit(&about))
}

/// The folder of results; None before the first run, which makes it.
fn find_folder(path: &Path, screen: &Screen) -> Result<Option<Folder>, Failure> {
    match Folder::open(path) {
        Err(FolderError { error, .. }) if error.kind() == ErrorKind::NotFound => {
            screen.note(&format!("{}: there is no such folder yet", path.display()));
            Ok(None)
        }
        folder => folder.map(Some).map_err(failed),
    }
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
    let lines: Vec<&str> = ids.iter().flat_map(|id| [&***id, "\n"]).collect();
    lines.concat()
}

fn table(plan: &Plan, about: &Status) -> String {
    let Status { cells, done, failed, missing, conflicts, damaged, others, .. } = about;
    let titled = |id: &String| {
        let title = plan.cell(id).map(|cell| plan.title(cell)).unwrap_or_default();
        format!("{id}  {title}")
    };
    let titles =
        |ids: &[String]| -> Vec<String> { ids.iter().take(MOST_SHOWN).map(titled).collect() };
    let failures: Vec<String> = failed.iter().take(MOST_SHOWN).map(describe_failed_cell).collect();
    let (failed, missing_count) = (failed.len(), missing.len());
    let mut lines =
        vec![format!("{cells} cells: {done} done, {failed} failed, {missing_count} missing")];
    lines.extend(list("failed", &failures, failed));
    lines.extend(list("missing", &titles(missing), missing_count));
    lines.extend(list("two different results, each kept", &titles(conflicts), conflicts.len()));
    let heading = "a file that is no result, which a run replaces";
    lines.extend(list(heading, &titles(damaged), damaged.len()));
    if *others > 0 {
        lines.extend([String::new(), format!("{others} results are of no cell of this plan")]);
    }
    lines.join("\n") + "\n"
}

/// A heading and the first of so many lines; nothing if there are none.
fn list(heading: &str, first: &[String], all: usize) -> Vec<String> {
    if first.is_empty() {
        return Vec::new();
    }
    let more = all - first.len();
    let more = (more > 0).then(|| format!("  and {more} more, which --json lists"));
    let lines = first.iter().map(|line| format!("  {}", clean(line)));
    [String::new(), format!("{heading}:")].into_iter().chain(lines).chain(more).collect()
}

fn describe_failed_cell(cell: &FailedCell) -> String {
    let FailedCell { cell, title, tries, class, node, message } = cell;
    let tries = if *tries == 1 { "1 try".to_owned() } else { format!("{tries} tries") };
    let class = match class {
        Some(FailureClass::Permanent) => "another try would not help",
        Some(FailureClass::Transient) => "another try may help",
        None => "its record can't be read",
    };
    format!("{cell}  {title}: {tries}, the last one on {node}; {class}: {message}")
}
