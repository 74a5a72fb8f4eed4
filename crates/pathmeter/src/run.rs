//! `pathmeter run`: what a kernel costs a program of the user's.

use std::path::Path;

use pathmeter_model::ProgramResult;
use pathmeter_pack::pack;

use crate::cli::RunArgs;
use crate::failure::{Exit, Failure};
use crate::image::Image;
use crate::interrupt;
use crate::output::Screen;
use crate::program::{self, PackedProgram};
use crate::progress::Board;
use crate::session::Session;
use crate::setup;

/// Runs the program and puts the document out.
pub(crate) fn run(args: &RunArgs, screen: &Screen) -> Result<Exit, Failure> {
    args.guest.refuse_two_cpus()?;
    let packed = pack(&args.packing()).map_err(Failure::Packing)?;
    packed.notes.iter().for_each(|note| screen.note(&note.to_string()));
    let names: Vec<&Path> = args.kernels().collect();
    let (session, images) = setup::prepare(&args.guest, interrupt::listen(), &names)?;
    let memory = args.guest.memory.max(program::memory_for(packed.bytes));
    let packed = PackedProgram::new(&packed, args.guest.perturb, args.exit_code);
    let board = Board::new(screen);
    let result = measured(&session, memory, &images[0], &packed, &board)?;
    println!("{}", serde_json::to_string_pretty(&result).unwrap());
    Ok(Exit::Done)
}

fn measured(
    session: &Session,
    memory: u32,
    image: &Image,
    packed: &PackedProgram,
    board: &Board,
) -> Result<ProgramResult, Failure> {
    let line = board.line(image.subject().name);
    let report = |progress: pathmeter_vm::Progress<'_>| line.show(progress);
    let places = program::places(session, image, &report)?;
    program::measure(&session.with_memory(memory), image, packed, &places, &report)
}
