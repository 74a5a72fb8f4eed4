//! `pathmeter measure`: all paths of one subject.

use pathmeter_model::{Measurement, Status};
use pathmeter_report::measurement_table;

use crate::cli::MeasureArgs;
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::output::Screen;
use crate::probes::Probes;
use crate::progress::Board;
use crate::selection::Selection;
use crate::setup;
use crate::subject::Subject;

/// Measures the subject and puts its result out.
pub(crate) fn run(args: &MeasureArgs, screen: &Screen) -> Result<Exit, Failure> {
    args.guest.refuse_pairs()?;
    let subject = Subject::open(&args.subject)?;
    let probes = Probes::new(&args.probes, &args.guest, &args.output.only)?;
    let more = probes.names();
    let names: Vec<&str> =
        subject.paths().into_iter().chain(more.iter().map(String::as_str)).collect();
    let selection = Selection::new(&args.output.only, &names)?;
    let [file] = args.output.document.named(&[&args.subject]).open(screen)?;
    let result = selection.apply(measured(subject, args, &probes, screen)?);
    screen.deliver(&args.output.document, file.as_ref(), &result, measurement_table)?;
    let failed = result.paths.iter().any(|path| path.status == Status::Failed);
    Ok(if failed { Exit::Unmeasured } else { Exit::Done })
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
