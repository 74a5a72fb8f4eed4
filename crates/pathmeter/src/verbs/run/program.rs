//! The program that is executed: packed, and measured on each kernel.

use std::ffi::OsString;

use crate::cli::{FilesArgs, GuestArgs, RunArgs, Words};
use crate::packing;
use crate::screen::output::Screen;
use crate::verbs::sides::Sides;
use pathmeter_measure::failure::Failure;
use pathmeter_measure::image::Image;
use pathmeter_measure::packed_program::{PackedProgram, memory_for};
use pathmeter_measure::program_point_windows::refuse_twice;
use pathmeter_measure::program_result::{self, Asked};
use pathmeter_measure::session::{Report, Session};
use pathmeter_measure::subject::Subject;
use pathmeter_model::Measurement;

/// The results of both sides, or of the only one, kernels measured at once.
pub(crate) fn results(
    args: &RunArgs,
    subjects: Vec<Subject>,
    screen: &Screen,
) -> Result<Vec<Measurement>, Failure> {
    if subjects.iter().all(|subject| subject.kernel().is_none()) {
        let unnamed = |_: &Session, _: &Image, _: Report<'_>| Err(unnamed(&[]));
        return Sides::prepare(subjects, &args.guest)?.results(&unnamed, screen);
    }
    if args.packing.command.is_empty() {
        return Err(unnamed(&subjects));
    }
    refuse_twice(&args.window)?;
    let (programs, memory) = programs(args, screen)?;
    let regions = programs.iter().map(|packed| packed.regions(&args.region_function));
    let regions = regions.collect::<Result<Vec<_>, _>>()?;
    let asked = programs.iter().zip(&regions).map(|(packed, regions)| Asked {
        packed,
        functions: args.explain,
        lines: args.lines,
        regions,
        windows: &args.window,
    });
    let asked: Vec<Asked<'_>> = asked.collect();
    let measures = asked.iter().map(|asked| {
        move |session: &Session, image: &Image, progress: Report<'_>| {
            one_of([session, &session.with_memory(memory)], image, asked, progress)
        }
    });
    let measures: Vec<_> = measures.collect();
    let mut sides = Sides::prepare(subjects, &args.guest)?;
    if !args.window.is_empty() {
        let find = |session: &Session, image: &Image, progress: Report<'_>| {
            program_result::kernel_names(session, image, &args.window, progress).map(drop)
        };
        sides.find(&find, screen)?;
    }
    match &measures[..] {
        [base, new] => sides.of_both([base, new], screen),
        [measure, ..] => sides.results(measure, screen),
        [] => Err(unnamed(&[])),
    }
}

/// The program, after the one that it is compared against if there is one, and the memory in MiB
/// that is enough for each.
fn programs(args: &RunArgs, screen: &Screen) -> Result<(Vec<PackedProgram>, u32), Failure> {
    let (command, files) = args.packing.words();
    let against = args.against.as_ref().map(|Words(words)| &words[..]);
    let commands = against.into_iter().chain([command]);
    let packed = commands.map(|command| packing::pack(command, files, screen));
    let packed = packed.collect::<Result<Vec<_>, _>>()?;
    let needed = packed.iter().map(|packed| memory_for(packed.bytes)).max().unwrap_or(0);
    let memory = args.guest.memory.max(needed);
    let (later, exit_code) = (args.guest.perturb, args.exit_code);
    let program = |packed| PackedProgram::new(packed, later, memory, exit_code);
    let programs: Vec<PackedProgram> = packed.into_iter().map(program).collect();
    programs.iter().try_for_each(PackedProgram::check)?;
    Ok((programs, memory))
}

/// There is nothing to run. Results do not hold the files of their program, but its words.
fn unnamed(subjects: &[Subject]) -> Failure {
    let again = match subjects.iter().find_map(Subject::command) {
        Some(command) => format!("again after the kernels and two dashes: -- {command}"),
        None => "after the kernels and two dashes: pathmeter run KERNEL -- PROGRAM ARGS".to_owned(),
    };
    Failure::Usage { message: "no program is named".to_owned(), help: format!("name it {again}") }
}

/// The program with its files, and the guest's memory for it, in MiB.
pub(crate) fn packed(
    (command, files): (&[OsString], &FilesArgs),
    guest: &GuestArgs,
    exit_code: u8,
    screen: &Screen,
) -> Result<(PackedProgram, u32), Failure> {
    let packed = packing::pack(command, files, screen)?;
    let memory = guest.memory.max(memory_for(packed.bytes));
    let packed = PackedProgram::new(packed, guest.perturb, memory, exit_code);
    packed.check()?;
    Ok((packed, memory))
}

/// What the program costs on one kernel; the second session's guests have memory for it.
pub(crate) fn one_of(
    [session, guests]: [&Session; 2],
    image: &Image,
    asked: &Asked<'_>,
    progress: Report<'_>,
) -> Result<Measurement, Failure> {
    let names = || program_result::kernel_names(session, image, asked.windows, progress);
    program_result::measure(guests, image, asked, names, progress)
}
