//! `pathmeter measure`: all paths of one subject.

use std::path::Path;

use pathmeter_gate::EventGate;
use pathmeter_model::{Measurement, Status};

use crate::cli::MeasureArgs;
use crate::failure::{Exit, Failure};
use crate::screen::formats::Places;
use crate::screen::output::Screen;
use crate::screen::progress::Board;
use crate::setup;
use crate::verbs::judge::{Judge, budget};
use pathmeter_measure::interrupt;
use pathmeter_measure::path::additions::Probes;
use pathmeter_measure::path::selection::Selection;
use pathmeter_measure::subject::Subject;

/// Measures the subject and puts its result out.
pub(crate) fn run(args: &MeasureArgs, screen: &Screen) -> Result<Exit, Failure> {
    args.guest.refuse_pairs()?;
    let subject = Subject::open(&args.subject)?;
    let probes = Probes::new(args.probes.to_beside(), args.guest.size(), &args.rows.only.only)?;
    let more = probes.names();
    let names: Vec<&str> =
        subject.paths().into_iter().chain(more.iter().map(String::as_str)).collect();
    let selection = Selection::new(&args.rows.only.only, &names)?;
    let budget = budget(args.budget.as_deref(), screen)?;
    if let Some(budget) = &budget {
        let help = "compare two subjects: pathmeter compare BASE NEW --check";
        budget.refuse_increases(help)?;
    }
    let inputs: Vec<&Path> = [&*args.subject].into_iter().chain(args.budget.as_deref()).collect();
    args.formats.refuse_without_gate(args.check)?;
    let places = Places::open(&args.document, &args.formats, &inputs, screen)?;
    let result = measure_subject(subject, args, &probes, screen)?;
    let usual = EventGate::usual();
    let judge = Judge {
        selection,
        check: args.check.then_some(&usual),
        regions_only: false,
        budget,
        threshold: 0.0,
    };
    let (gate, delivered) = judge.alone(&result, &result, &places, args.rows.rows(), screen)?;
    let exit = judge.exit(&gate, delivered, screen)?;
    let mut shown = result.paths.iter().filter(|path| judge.selection.holds(&path.path));
    let failed = !args.check && shown.any(|path| path.status == Status::Failed);
    Ok(if failed { Exit::Unmeasured } else { exit })
}

fn measure_subject(
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
    let name = images[0].subject().name;
    Ok(board.during(name, |it| probes.measure(&session, &images[0], it))?)
}
