//! The steps of `measure`.

use pathmeter_gate::EventGate;
use pathmeter_model::{Measurement, Status};

use super::args::MeasureArgs;
use super::request::Request;
use crate::command_line::given::Given;
use crate::failure::{Exit, Failure};
use crate::screen::output::Screen;
use crate::screen::progress::Board;
use crate::setup;
use pathmeter_measure::interrupt;
use pathmeter_measure::path::additions::Probes;
use pathmeter_measure::subject::Subject;

/// Measures the subject and puts its result out.
pub(crate) fn run(
    args: &mut MeasureArgs,
    given: &Given<'_>,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let usual = EventGate::usual();
    let (request, args) = Request::new(args, &usual, given, screen)?;
    let Request { subject, probes, judge, places } = request;
    let result = measure_subject(subject, args, &probes, screen)?;
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
    Ok(board.during(images[0].subject().name, |it| probes.measure(&session, &images[0], it))?)
}
