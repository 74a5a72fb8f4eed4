//! `pathmeter run --slope`: what a program costs by a number among its arguments.

use std::os::unix::ffi::OsStringExt;

use pathmeter_measure::interrupt;
use pathmeter_measure::path::selection::Selection;
use pathmeter_measure::program::packed::memory_for;
use pathmeter_measure::program::point_windows::refuse_twice;
use pathmeter_measure::program::process_choice::of_process;
use pathmeter_measure::program::result::Asked;
use pathmeter_measure::program::slope::ProgramSlope;
use pathmeter_measure::session::Session;
use pathmeter_measure::session::cell::CellProgram;
use pathmeter_measure::subject;
use pathmeter_measure::subject::image::Image;
use pathmeter_measure::threads::each;
use pathmeter_model::{LEAST_LATER_RUNS, Measurement, ProgramSlopeResult};
use pathmeter_pack::Packed;
use pathmeter_report::program_slope_table;
use pathmeter_trace::AlsoCounted;

use super::args::RunArgs;
use super::program::{self, NamedInKernels};
use crate::failure::{Exit, Failure};
use crate::packing;
use crate::screen::formats::Places;
use crate::screen::output::Screen;
use crate::screen::progress::Board;
use crate::setup;

/// A guest's QEMU keeps to one CPU, and most machines have another.
const AT_A_TIME: usize = 2;

/// Measures the program with each number, and puts out what it costs by the number.
pub(super) fn run(args: &RunArgs, slope: &ProgramSlope, screen: &Screen) -> Result<Exit, Failure> {
    refuse(args, slope)?;
    let places = Places::open(&args.document, &args.formats, &[&args.base], screen)?;
    let programs = programs(args, slope, screen)?;
    let (session, images) = setup::prepare(&args.guest, interrupt::listen(), &[&args.base])?;
    let image = images[0].clone().unpacked_once();
    let results = results(args, &programs, (&session, &image), screen)?;
    let named = (&*slope.word, command(args));
    let Some(result) = ProgramSlopeResult::of(named, &slope.steps, &results) else {
        return Ok(Exit::Unmeasured);
    };
    let names: Vec<&str> = result.rows.iter().map(|row| &*row.row).collect();
    let selection = Selection::of_rows(&args.rows.only.only, &names)?;
    let (rows, is_shown) = (args.rows.rows(), |row: &str| selection.holds(row));
    let table = |result: &_, style| program_slope_table(result, rows, is_shown, style);
    places.deliver(&result, table, |_| String::new(), screen)?;
    Ok(Exit::Done)
}

/// Refuses, before a file is packed, what has no slope.
fn refuse(args: &RunArgs, slope: &ProgramSlope) -> Result<(), Failure> {
    args.guest.refuse_pairs()?;
    subject::refuse_results([&args.base])?;
    if args.packing.command.is_empty() {
        return Err(program::unnamed(&[]));
    }
    slope.check(&args.packing.command)?;
    let later = args.guest.runs() as usize;
    if later >= LEAST_LATER_RUNS {
        return Ok(());
    }
    Err(Failure::Usage {
        message: format!("--slope of {later} later runs: what scatters could pass for a function"),
        help: format!("--perturb {LEAST_LATER_RUNS} or more; 6 is the default"),
    })
}

/// The program with each number, packed once; the guests of all have the same memory.
fn programs(
    args: &RunArgs,
    slope: &ProgramSlope,
    screen: &Screen,
) -> Result<Vec<CellProgram>, Failure> {
    refuse_twice(&args.window)?;
    let (command, files) = args.packing.words();
    // `--find-files` executes the program here, which opens most with the largest number.
    let largest = slope.steps.last().map_or("", |(_, digits)| digits.as_str());
    let packed = packing::pack(&slope.replace_words(command, largest), files, screen)?;
    let memory = args.guest.memory.max(memory_for(packed.bytes));
    let program = |(_, digits): &(u64, String)| {
        let words = slope.replace_words(command, digits).into_iter();
        let arguments = words.map(OsStringExt::into_vec).collect();
        let packed = Packed { arguments, ..packed.clone() };
        CellProgram::new(packed, args.guest.runs(), memory, args.exit_code)
    };
    Ok(slope.steps.iter().map(program).collect::<Result<_, _>>()?)
}

/// The result with each number, two at a time.
fn results(
    args: &RunArgs,
    programs: &[CellProgram],
    (session, image): (&Session, &Image),
    screen: &Screen,
) -> Result<Vec<Measurement>, Failure> {
    let board = Board::new(screen);
    if NamedInKernels::is_needed(args) {
        let named = NamedInKernels::default();
        board.during(image.subject().name, |it| named.find(args, (session, image), it))?;
        named.refuse_unknown(args)?;
    }
    let measured = each(programs, AT_A_TIME, |program| {
        let regions = program.packed.regions(&args.region_function)?;
        let asked = Asked {
            packed: &program.packed,
            functions: false,
            also: AlsoCounted::default(),
            regions: &regions,
            windows: &args.window,
        };
        let name = program.packed.command().join(" ");
        let result =
            board.during(name, |progress| program.measure(session, image, &asked, progress))?;
        match &args.only_process {
            Some(name) => of_process(&result, name),
            None => Ok(result),
        }
    });
    Ok(measured.into_iter().collect::<Result<_, _>>()?)
}

/// The program and its arguments, as documents have them.
fn command(args: &RunArgs) -> Vec<String> {
    args.packing.command.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}
