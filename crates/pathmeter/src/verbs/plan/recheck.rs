//! `plan recheck`: finished cells measured again, anew, wherever this runs: are they the same?

use std::collections::HashSet;
use std::time::{SystemTime, UNIX_EPOCH};

use pathmeter_plan::{Cell, Folder, Plan, Put, status};

use super::args::RecheckArgs;
use super::cells::{class, exit};
use super::loaded::{absolute, cells, read};
use super::measured::Stand;
use super::node::{failed, node};
use crate::failure::{Exit, Failure};
use crate::screen::output::{self, Screen, print_line};
use crate::screen::progress::Board;
use pathmeter_measure::digest::sha256;

/// Measures the cells and compares them with what is there.
pub(super) fn run(args: &RecheckArgs, screen: &Screen) -> Result<Exit, Failure> {
    let plan = read(&args.runner.plan)?;
    let results = absolute(&args.runner.results)?;
    let folder = Folder::open(&results).map_err(failed)?;
    let cells = select_cells(args, &plan, &folder)?;
    let stand = Stand::new(&plan, (&args.runner, true), screen)?;
    let (board, node) = (Board::new(screen), node());
    let (mut same, mut worst) = (0, Exit::Done);
    for cell in &cells {
        let title = plan.title(cell);
        let measured = match board.during(title, |progress| stand.measure(cell, progress)) {
            Ok(measured) => measured,
            Err(failure @ Failure::Interrupted) => return Err(failure),
            Err(failure) => {
                screen.report(&failure);
                worst = if worst == Exit::Worse { worst } else { exit(class(&failure)) };
                continue;
            }
        };
        match folder.put(&cell.id, &measured.bytes, &node).map_err(failed)? {
            Put::New | Put::Same => same += 1,
            Put::Different(finding) => {
                print_line(&format!("finding: {finding}"));
                worst = Exit::Worse;
            }
        }
    }
    let all = cells.len();
    output::print(format!("{same} of {all} cells gave the same bytes on {node}\n").as_bytes())?;
    Ok(worst)
}

/// The cells that are named, or some of the finished ones, which are others each time.
fn select_cells<'a>(
    args: &RecheckArgs,
    plan: &'a Plan,
    folder: &Folder,
) -> Result<Vec<&'a Cell>, Failure> {
    let about = status(plan, folder).map_err(failed)?;
    let failed_ones = about.failed.iter().map(|cell| &*cell.cell);
    let unfinished: HashSet<&str> =
        about.missing.iter().map(|id| &**id).chain(failed_ones).collect();
    let is_finished = |cell: &&Cell| !unfinished.contains(&*cell.id);
    let named = cells(plan, &args.cell)?;
    if let Some(cell) = named.iter().find(|cell| !is_finished(cell)) {
        return Err(Failure::Usage {
            message: format!("--cell {}: it has no result to compare with", cell.id),
            help: "pathmeter plan run PLAN --results FOLDER --cell ID".to_owned(),
        });
    }
    let Some(sample) = args.sample else { return Ok(named) };
    let mut finished: Vec<&Cell> = plan.cells.iter().filter(is_finished).collect();
    if finished.is_empty() {
        return Err(Failure::Usage {
            message: format!("{}: no cell of the plan is finished", folder.path().display()),
            help: "pathmeter plan run PLAN --results FOLDER".to_owned(),
        });
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    finished.sort_by_cached_key(|cell| sha256(format!("{now} {}", cell.id).as_bytes()));
    finished.truncate(usize::try_from(sample.get()).unwrap_or(usize::MAX));
    Ok(finished)
}
