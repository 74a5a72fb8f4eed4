//! `pathmeter measure`: all paths of one subject.

use std::path::Path;

use pathmeter_model::{Checked, Measurement, Status};
use pathmeter_report::{Rows, Style, budget_table, measurement_table};

use crate::cli::MeasureArgs;
use crate::screen::output::{self, Screen};
use crate::screen::progress::Board;
use crate::setup;
use crate::verbs::judge::{Judge, budget};
use pathmeter_gate::Gate;
use pathmeter_measure::beside::Probes;
use pathmeter_measure::failure::{Exit, Failure};
use pathmeter_measure::interrupt;
use pathmeter_measure::selection::Selection;
use pathmeter_measure::subject::Subject;

/// Measures the subject and puts its result out.
pub(crate) fn run(args: &MeasureArgs, screen: &Screen) -> Result<Exit, Failure> {
    args.guest.refuse_pairs()?;
    let subject = Subject::open(&args.subject)?;
    let probes = Probes::new(args.probes.beside(), args.guest.size(), &args.output.only)?;
    let more = probes.names();
    let names: Vec<&str> =
        subject.paths().into_iter().chain(more.iter().map(String::as_str)).collect();
    let selection = Selection::new(&args.output.only, &names)?;
    let budget = budget(args.budget.as_deref(), screen)?;
    if let Some(budget) = &budget {
        budget.refuse_increases("compare two subjects: pathmeter compare BASE NEW --check")?;
    }
    let inputs: Vec<&Path> = [&*args.subject].into_iter().chain(args.budget.as_deref()).collect();
    let [file] = args.output.document.named(&inputs).open(screen)?;
    let result = selection.apply(measured(subject, args, &probes, screen)?);
    let judge = Judge {
        selection: &selection,
        check: None,
        regions_only: false,
        budget: budget.as_ref(),
        threshold: 0.0,
    };
    let gate = budget.is_some().then(|| judge.alone(&result)).transpose()?.map(|it| it.1);
    let budget = gate.as_ref().and_then(|gate| gate.budget.clone());
    let checked = Checked { document: &result, budget, gate: gate.as_ref().map(Gate::report) };
    screen.deliver(args.output.document.json(), file.as_ref(), &checked, checked_table)?;
    if let Some(gate) = gate {
        return Ok(output::gate(&gate, screen));
    }
    let failed = result.paths.iter().any(|path| path.status == Status::Failed);
    Ok(if failed { Exit::Unmeasured } else { Exit::Done })
}

/// The table of a result, and what a budget makes of it.
fn checked_table(checked: &Checked<&Measurement>, style: Style) -> String {
    let budget = checked.budget.as_ref().map(|budget| budget_table(budget, style));
    measurement_table(checked.document, Rows::Folded, style) + &budget.unwrap_or_default()
}

fn measured(
    subject: Subject,
    args: &MeasureArgs,
    probes: &Probes<'_>,
    screen: &Screen,
) -> Result<Measurement, Failure> {
    let path = match subject {
        Subject::Result(result) => return Ok(*result),
        Subject::Kernel(path) => path,
    };
    let (session, images) = setup::prepare(&args.guest, interrupt::listen(), &[&path])?;
    let board = Board::new(screen);
    let line = board.line(images[0].subject().name);
    probes.measure(&session, &images[0], &|progress| line.show(progress))
}
