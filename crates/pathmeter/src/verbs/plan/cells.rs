//! `plan run`: measures the cells of a shard that have no result yet.
//!
//! Contract: a cell is measured, fails with a record, or is left as it was. A results folder that
//! can't be written ends the run, since all that follows would be measured in vain.

use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use pathmeter_plan::{
    Cell, FailureClass, FailureRecord, FailureSchema, Folder, Kept, Lists, Plan, Put,
};

use super::args::PlanRunArgs;
use super::loaded::{absolute, cells, read};
use super::measured::{Measured, Stand};
use super::node::{failed, format_counts, node};
use super::pace::Pace;
use super::share;
use crate::failure::{Exit, Failure};
use crate::screen::output::{self, Screen, print_line};
use crate::screen::progress::Board;
use pathmeter_measure::threads::each;
use pathmeter_model::Measurement;

/// Most lines of messages that a record keeps, the last ones.
const MOST_LINES: usize = 40;

/// Runs the cells and tells what came of them.
pub(super) fn run(args: &PlanRunArgs, screen: &Screen) -> Result<Exit, Failure> {
    let plan = read(&args.runner.plan)?;
    let cells = select_cells(args, &plan, screen)?;
    let results = absolute(&args.runner.results)?;
    let folder = Folder::create(&results).map_err(failed)?;
    let stand = Stand::new(&plan, (&args.runner, args.no_cache), screen)?;
    let board = Board::new(screen);
    let run = Run {
        plan: &plan,
        stand: &stand,
        folder: &folder,
        lists: Lists::of([&folder]).map_err(failed)?,
        node: node(),
        screen,
        board: &board,
        pace: Pace::new(&board, cells.len()),
        tally: Mutex::default(),
    };
    let ended = each(&cells, usize::from(args.jobs), |cell| run.one(cell));
    let Run { tally, .. } = run;
    let tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    output::print(format!("{}\n", tally.format_summary(cells.len())).as_bytes())?;
    tally.exit(ended.into_iter().find_map(Result::err), screen)
}

/// The cells that the command line and the engine choose.
fn select_cells<'a>(
    args: &PlanRunArgs,
    plan: &'a Plan,
    screen: &Screen,
) -> Result<Vec<&'a Cell>, Failure> {
    if !args.cell.is_empty() {
        return cells(plan, &args.cell);
    }
    let chosen = share::choose_shard(args.shard, plan.shards)?;
    let cells: (&[Cell], fn(&Cell) -> &str) = (&plan.cells, |cell| &cell.id);
    Ok(share::share(chosen.as_ref(), cells, "cells", screen))
}

/// A run, shared by those that measure at the same time.
struct Run<'a> {
    plan: &'a Plan,
    stand: &'a Stand<'a>,
    folder: &'a Folder,
    /// What was written there before.
    lists: Lists,
    node: String,
    screen: &'a Screen,
    board: &'a Board,
    pace: Pace<'a>,
    tally: Mutex<Tally>,
}

/// What came of all cells so far.
#[derive(Default)]
struct Tally {
    measured: usize,
    there: usize,
    permanent: usize,
    transient: usize,
    findings: usize,
    /// Results in which a path failed.
    with_failed_path: usize,
}

impl Run<'_> {
    /// Measures a cell, if it has no result yet.
    ///
    /// # Errors
    /// The run can't go on.
    fn one(&self, cell: &Cell) -> Result<(), Failure> {
        let done = self.finish(cell)?;
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        match done {
            Done::There => tally.there += 1,
            Done::Measured { has_failed_path } => {
                tally.measured += 1;
                tally.with_failed_path += usize::from(has_failed_path);
            }
            Done::Finding => tally.findings += 1,
            Done::Failed(FailureClass::Permanent) => tally.permanent += 1,
            Done::Failed(FailureClass::Transient) => tally.transient += 1,
        }
        drop(tally);
        self.pace.step(!matches!(done, Done::There));
        Ok(())
    }

    /// Makes sure that a cell has a result, or a record of why it has none.
    ///
    /// # Errors
    /// The run can't go on.
    fn finish(&self, cell: &Cell) -> Result<Done, Failure> {
        if self.has_result(cell)? {
            return Ok(Done::There);
        }
        let title = self.plan.title(cell);
        let note = |progress: pathmeter_vm::Progress<'_>| {
            if let pathmeter_vm::Progress::Note(text) = progress
                && !self.screen.quiet()
            {
                self.board.aside(|| print_line(&format!("note: {title}: {text}")));
            }
        };
        match self.stand.measure(cell, &note) {
            Ok(Measured { bytes, has_failed_path }) => {
                match self.folder.put(&cell.id, &bytes, &self.node).map_err(failed)? {
                    Put::New | Put::Same => Ok(Done::Measured { has_failed_path }),
                    Put::Different(finding) => {
                        self.board.aside(|| print_line(&format!("finding: {finding}")));
                        Ok(Done::Finding)
                    }
                }
            }
            Err(Failure::Interrupted) => Err(Failure::Interrupted),
            Err(failure) => self.keep(cell, &title, &failure),
        }
    }

    /// Whether the cell has its result. What lies there otherwise is named: it is measured again.
    fn has_result(&self, cell: &Cell) -> Result<bool, Failure> {
        let is_of = |result: &Measurement| self.plan.is_of(cell, result);
        match self.lists.find(self.folder, &cell.id, is_of).map_err(failed)? {
            Kept::Whole(_) => Ok(true),
            Kept::Missing => Ok(false),
            Kept::Damaged(what) => {
                let place = self.folder.place(&cell.id);
                let told = format!("note: {}: {what}; it is measured again", place.display());
                if !self.screen.quiet() {
                    self.board.aside(|| print_line(&told));
                }
                Ok(false)
            }
        }
    }

    /// Tells a failure and keeps it.
    fn keep(&self, cell: &Cell, title: &str, failure: &Failure) -> Result<Done, Failure> {
        self.board.aside(|| {
            print_line(&format!("cell {} ({title}) failed:", cell.id));
            self.screen.report(failure)
        });
        let class = class(failure);
        let tries = self.folder.failures(&cell.id).map_err(failed)?;
        let record = FailureRecord {
            schema: FailureSchema::V1,
            cell: cell.id.clone(),
            node: self.node.clone(),
            number: tries + 1,
            class,
            exit: exit(class) as u8,
            at: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
            messages: messages(failure),
        };
        self.folder.fail(&record).map_err(failed)?;
        Ok(Done::Failed(class))
    }
}

/// What came of a cell.
enum Done {
    There,
    Measured { has_failed_path: bool },
    Finding,
    Failed(FailureClass),
}

/// Whether another try may help.
pub(super) fn class(failure: &Failure) -> FailureClass {
    if failure.is_of_the_moment() { FailureClass::Transient } else { FailureClass::Permanent }
}

/// The exit code of a class.
pub(super) fn exit(class: FailureClass) -> Exit {
    match class {
        FailureClass::Permanent => Exit::Unmeasured,
        FailureClass::Transient => Exit::TryAgain,
    }
}

/// The end of what is said of a failure.
fn messages(failure: &Failure) -> Vec<String> {
    let lines = failure.each().iter().flat_map(|single| {
        let help = single.advice().map(|help| format!("help: {help}"));
        let console = single.console().unwrap_or_default();
        let console: Vec<String> = console.lines().map(str::to_owned).collect();
        single.lines().into_iter().chain(help).chain(console)
    });
    let mut lines: Vec<String> = lines.map(|line| pathmeter_model::clean(&line)).collect();
    // The first says what it is.
    let cut = lines.len().saturating_sub(MOST_LINES);
    if cut > 0 {
        lines.drain(1..=cut);
    }
    lines
}

impl Tally {
    /// How many of so many cells were measured, were there already, failed, differ or are left.
    fn format_summary(&self, cells: usize) -> String {
        let failed = self.permanent + self.transient;
        let rest = cells - self.measured - self.there - failed - self.findings;
        let parts = [
            (self.measured, "measured"),
            (self.there, "there already"),
            (failed, "failed"),
            (self.findings, "differ from the result that is there"),
            (rest, "left"),
        ];
        format_counts(cells, "cell", &parts)
    }

    /// How the run ends; `end` is what ended it, if anything did.
    fn exit(&self, end: Option<Failure>, screen: &Screen) -> Result<Exit, Failure> {
        if self.with_failed_path > 0 {
            let results = match self.with_failed_path {
                1 => "1 result".to_owned(),
                number => format!("{number} results"),
            };
            screen.note(&format!("in {results} a path failed: its row has the reason"));
        }
        match end {
            Some(failure @ Failure::Interrupted) => Err(failure),
            Some(failure) => {
                screen.report(&failure);
                Ok(exit(class(&failure)))
            }
            None if self.findings > 0 => Ok(Exit::Worse),
            None if self.transient > 0 => Ok(Exit::TryAgain),
            None if self.permanent > 0 => Ok(Exit::Unmeasured),
            None => Ok(Exit::Done),
        }
    }
}
