//! The steps of `witness`.

use std::path::PathBuf;

use pathmeter_witness::{Bochs, Both, Show, WitnessProgram};

use super::args::WitnessArgs;
use super::request::Request;
use crate::arguments::{GuestArgs, PackingArgs};
use crate::command_line::given::Given;
use crate::failure::{Exit, Failure};
use crate::packing;
use crate::screen::output::{self, Screen};
use crate::screen::progress::Board;
use crate::setup;
use pathmeter_measure::error::MeasureError;
use pathmeter_measure::interrupt;
use pathmeter_measure::session::Report;
use pathmeter_model::clean;

/// Measures each subject in both, and prints a table of each.
pub(crate) fn run(
    args: &mut WitnessArgs,
    given: &Given<'_>,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let (Request { names, guest }, args) = Request::new(args, given, screen)?;
    let interrupt = interrupt::listen();
    let bochs = Bochs::find(args.bochs.as_deref(), &interrupt).map_err(MeasureError::Host)?;
    let names: Vec<_> = names.iter().map(PathBuf::as_path).collect();
    let (session, images) = setup::prepare(&guest, interrupt, &names)?;
    if let Some(image) = images.iter().find(|image| image.cpus() > 1) {
        return Err(Failure::Usage {
            message: format!("{}: Bochs is given one CPU", image.subject().name),
            help: "name a subject with one".to_owned(),
        });
    }
    let program = program(&args.packing, &guest, screen)?;
    let mut all_agree = true;
    for image in &images {
        let show = Lines { name: image.subject().name, board: Board::new(screen) };
        let both = Both { session: &session, bochs: &bochs, image, show };
        let (table, agree) = match &program {
            Some(program) => both.compare_program(program, screen.style())?,
            None => both.compare_paths(screen.style())?,
        };
        let title = format!(
            "{}: QEMU {} and Bochs {}",
            image.subject().name,
            session.qemu_version(),
            bochs.version
        );
        output::print(format!("{}\n\n{table}\n", clean(&title)).as_bytes())?;
        all_agree &= agree;
    }
    Ok(if all_agree { Exit::Done } else { Exit::Worse })
}

/// The program that the arguments name; None if they name none.
fn program(
    packing: &PackingArgs,
    guest: &GuestArgs,
    screen: &Screen,
) -> Result<Option<WitnessProgram>, Failure> {
    if packing.command.is_empty() {
        return Ok(None);
    }
    let packed = packing::pack(&packing.command, &packing.files, screen)?;
    Ok(Some(WitnessProgram::new(packed, guest.runs(), guest.memory)?))
}

/// The lines of a kernel on the board.
struct Lines {
    name: String,
    board: Board,
}

impl Show for Lines {
    fn during<T>(&self, place: &str, work: impl FnOnce(Report<'_>) -> T) -> T {
        self.board.during(format!("{} {place}", self.name), work)
    }
}
