//! `pathmeter run`: what a kernel costs a program of the user's, or how two kernels differ in it.

use std::path::{Path, PathBuf};

use pathmeter_model::{
    Checked, Comparison, LEAST_LATER_RUNS, Measurement, ProgramResult, Threshold, compare,
    compare_programs, parse_program, program_differences,
};
use pathmeter_report::{Judged, budget_table, program_comparison_table, program_table};
use pathmeter_trace::Event;

use crate::cli::{GuestArgs, PackingArgs, RunArgs};
use crate::packing;
use crate::screen::destination::Destination;
use crate::screen::formats;
use crate::screen::output::{self, Screen};
use crate::screen::progress::Board;
use crate::setup;
use crate::verbs::compare::judged;
use pathmeter_gate::BudgetFile;
use pathmeter_gate::EventGate;
use pathmeter_gate::{Gate, Wanted};
use pathmeter_measure::failure::{Exit, Failure};
use pathmeter_measure::image::{Image, Pair};
use pathmeter_measure::interrupt;
use pathmeter_measure::program::{self, Asked, ModuleRequest, PackedProgram};
use pathmeter_measure::program_windows;
use pathmeter_measure::selection::Selection;
use pathmeter_measure::session::Session;
use pathmeter_measure::subject;
use pathmeter_measure::threads::at_once;

/// Runs the program, or reads earlier results of it, and puts the document out.
pub(crate) fn run(args: &RunArgs, screen: &Screen) -> Result<Exit, Failure> {
    let ended = ran(args, screen);
    if !args.formats.bisect {
        return ended;
    }
    let exit = ended.unwrap_or_else(|failure| screen.report(&failure));
    Ok(exit.for_git_bisect())
}

/// Where all goes that is put out.
struct Outputs {
    /// The JSON document's file.
    file: Option<Destination>,
    /// Those of `--write`, in its order.
    written: Vec<Option<Destination>>,
}

fn ran(args: &RunArgs, screen: &Screen) -> Result<Exit, Failure> {
    let pair = args.guest.pair()?;
    let budget = args
        .formats
        .budget
        .as_deref()
        .map(|path| BudgetFile::read(path, |note| screen.note(note)))
        .transpose()?;
    let names: Vec<&Path> = std::iter::once(&*args.base).chain(args.new.as_deref()).collect();
    if pair.is_some() {
        refuse_second(args)?;
    } else if args.check.is_some() && args.new.is_none() {
        checkable_alone(budget.as_ref())?;
    }
    let sides = names.iter().map(|name| Side::open(name)).collect::<Result<Vec<_>, _>>()?;
    counted_alike(args, &sides)?;
    // Under two conditions the code of the one kernel is laid out alike.
    if sides.len() > 1 || matches!(pair, Some(Pair::Cpus(_))) {
        enough_runs(&sides, args.guest.perturb)?;
    }
    let inputs: Vec<&Path> = names.into_iter().chain(args.formats.budget.as_deref()).collect();
    let named = args.document.named(&inputs);
    let ([file], written) = named.open_with(args.formats.outputs(), screen)?;
    let outputs = Outputs { file, written };
    let results = measured(args, sides, screen)?;
    match &results[..] {
        [base, new] => compared(args, &outputs, [base, new], budget.as_ref(), screen),
        [result, ..] => alone(args, &outputs, result, budget.as_ref(), screen),
        [] => Ok(Exit::Done),
    }
}

/// Refuses to check one kernel alone, unless a budget says what it may cost.
fn checkable_alone(budget: Option<&BudgetFile>) -> Result<(), Failure> {
    let help = "name NEW, or two conditions (--under A --under B) or CPUs (--cpu A --cpu B)";
    match budget {
        Some(budget) => budget.refuse_increases(help),
        None => Err(Failure::Usage {
            message: "--check has nothing to compare KERNEL with".to_owned(),
            help: help.to_owned(),
        }),
    }
}

/// One kernel, held to the largest values that a budget states.
fn alone(
    args: &RunArgs,
    outputs: &Outputs,
    result: &ProgramResult,
    budget: Option<&BudgetFile>,
    screen: &Screen,
) -> Result<Exit, Failure> {
    // Beside itself nothing is more than before, and what remains are the largest values.
    let itself = Rows::of(args, [result; 2], budget)?;
    let gate = args.check.is_some().then(|| itself.gate.report());
    let checked = Checked { document: result, budget: itself.gate.budget.clone(), gate };
    screen.deliver(args.document.json, outputs.file.as_ref(), &checked, |checked, style| {
        if args.formats.format.is_some() {
            return String::new();
        }
        let budget = checked.budget.as_ref().map(|budget| budget_table(budget, style));
        program_table(result, args.rows(), style) + &budget.unwrap_or_default()
    })?;
    itself.put(args, outputs)?;
    Ok(if args.check.is_some() { output::gate(&itself.gate, screen) } else { Exit::Done })
}

/// The rows of both sides as paths, with what the gate makes of them.
struct Rows {
    comparison: Comparison,
    gate: Gate,
}

impl Rows {
    fn of(
        args: &RunArgs,
        sides: [&ProgramResult; 2],
        budget: Option<&BudgetFile>,
    ) -> Result<Self, Failure> {
        let measured: [Measurement; 2] = sides.map(ProgramResult::measured);
        if let Some(budget) = budget {
            budget.check(&measured)?;
        }
        let [base, new] = &measured;
        let comparison = compare(base, new, Threshold { percent: args.threshold });
        let check = args.check.as_ref();
        let events = check.map_or_else(EventGate::usual, |check| check.events.clone());
        let regions_only = check.is_some_and(|check| check.regions_only);
        let selection = Selection::all();
        let wanted = Wanted { selection: &selection, events: &events, regions_only, budget };
        let gate = Gate::new(&comparison, [base, new], &wanted);
        let gate = if regions_only { gate } else { gate.ended(sides.map(|side| side.ended)) };
        Ok(Self { comparison, gate })
    }

    /// Puts them out in the formats that the user named.
    fn put(&self, args: &RunArgs, outputs: &Outputs) -> Result<(), Failure> {
        let (comparison, outcomes) = (&self.comparison, &self.gate.outcomes[..]);
        let gate = &self.gate.report();
        let judged = Judged { comparison, outcomes, gate, explanations: &[] };
        match formats::put(&args.formats, judged, &outputs.written) {
            failures if failures.is_empty() => Ok(()),
            failures => Err(Failure::all(failures)),
        }
    }
}

/// Refuses all but one kernel, where that is compared with itself.
fn refuse_second(args: &RunArgs) -> Result<(), Failure> {
    subject::refuse_results([&args.base])?;
    if args.new.is_none() {
        return Ok(());
    }
    Err(Failure::Usage {
        message: "two kernels can't be compared on two CPUs or under two conditions".to_owned(),
        help: "leave out NEW, or one --cpu or --under".to_owned(),
    })
}

/// What one side of a comparison, or the only one, is.
enum Side {
    Kernel(PathBuf),
    Result(Box<ProgramResult>),
}

impl Side {
    fn open(name: &Path) -> Result<Self, Failure> {
        let Some(bytes) = subject::document(name)? else { return Ok(Self::Kernel(name.into())) };
        match parse_program(&bytes) {
            Ok(result) => Ok(Self::Result(Box::new(result))),
            Err(error) => Err(Failure::ResultFile { path: name.to_owned(), error }),
        }
    }

    fn kernel(&self) -> Option<&Path> {
        match self {
            Self::Kernel(path) => Some(path),
            Self::Result(_) => None,
        }
    }
}

/// Refuses to count in one side what the result of the other one does not have.
fn counted_alike(args: &RunArgs, sides: &[Side]) -> Result<(), Failure> {
    let has_lines = |result: &ProgramResult| result.events.contains(&Event::DataLines);
    for side in sides {
        let Side::Result(result) = side else { continue };
        let lacks = match (args.explain, args.lines) {
            (true, _) if result.functions.is_none() => "--explain",
            (_, true) if !has_lines(result) => "--lines",
            _ => continue,
        };
        return Err(Failure::Usage {
            message: format!(
                "{lacks} would change nothing: the result of {} was measured without it",
                result.subject.name
            ),
            help: format!("leave it out, or measure the result again with {lacks}"),
        });
    }
    Ok(())
}

/// Refuses a comparison of so few later runs that layout alone could pass for a change.
fn enough_runs(sides: &[Side], asked: u32) -> Result<(), Failure> {
    let later_runs = |side: &Side| match side {
        Side::Kernel(_) => asked as usize,
        Side::Result(result) => result.runs.len().saturating_sub(1),
    };
    refuse_few(sides.iter().map(later_runs).min())
}

/// Refuses a comparison of which the side with the fewest later runs has so few.
pub(crate) fn refuse_few(fewest: Option<usize>) -> Result<(), Failure> {
    match fewest {
        Some(fewest) if fewest < LEAST_LATER_RUNS => Err(Failure::Usage {
            message: format!(
                "two kernels can't be told apart by {fewest} later runs: another layout of the \
                 code could pass for a change"
            ),
            help: format!("run both with --perturb {LEAST_LATER_RUNS} or more; 6 is the default"),
        }),
        _ => Ok(()),
    }
}

/// The results of both sides, kernels measured at once.
fn measured(
    args: &RunArgs,
    sides: Vec<Side>,
    screen: &Screen,
) -> Result<Vec<ProgramResult>, Failure> {
    let kernels: Vec<&Path> = sides.iter().filter_map(Side::kernel).collect();
    if args.guest.pair()?.is_some() {
        return measure_all(args, &kernels, screen);
    }
    let mut fresh =
        if kernels.is_empty() { Vec::new() } else { measure_all(args, &kernels, screen)? }
            .into_iter();
    let result = |side| match side {
        Side::Result(result) => Some(*result),
        Side::Kernel(_) => fresh.next(),
    };
    Ok(sides.into_iter().filter_map(result).collect())
}

fn measure_all(
    args: &RunArgs,
    kernels: &[&Path],
    screen: &Screen,
) -> Result<Vec<ProgramResult>, Failure> {
    if args.packing.command.is_empty() {
        return Err(Failure::Usage {
            message: "no program is named".to_owned(),
            help: "name it after the kernels and two dashes: pathmeter run KERNEL -- PROGRAM ARGS"
                .to_owned(),
        });
    }
    let (packed, memory) = packed(&args.packing, &args.guest, args.exit_code, screen)?;
    let (session, images) = match args.guest.pair()? {
        Some(pair) => setup::prepare_on(&args.guest, interrupt::listen(), &args.base, pair)?,
        None => setup::prepare(&args.guest, interrupt::listen(), kernels)?,
    };
    let modules = ModuleRequest { names: &args.module, folder: args.modules.as_deref() };
    let regions = packed.regions(&args.region_function)?;
    program_windows::refuse_twice(&args.window)?;
    let asked = Asked {
        packed: &packed,
        modules: &modules,
        functions: args.explain,
        lines: args.lines,
        regions: &regions,
        windows: &args.window,
    };
    let guests = session.with_memory(memory);
    let board = Board::new(screen);
    let one = |image: &Image| one_of([&session, &guests], image, &asked, &board);
    match &images[..] {
        [base, new] if !base.is_same_as(new) => {
            let (base, new) = at_once(|| one(base), || one(new));
            match (base, new) {
                (Ok(base), Ok(new)) => Ok(vec![base, new]),
                (base, new) => {
                    Err(Failure::all([base.err(), new.err()].into_iter().flatten().collect()))
                }
            }
        }
        images => images.iter().map(one).collect(),
    }
}

/// The program with its files, and the guest's memory for it, in MiB.
pub(crate) fn packed(
    packing: &PackingArgs,
    guest: &GuestArgs,
    exit_code: u8,
    screen: &Screen,
) -> Result<(PackedProgram, u32), Failure> {
    let packed = packing::pack(packing, screen)?;
    let memory = guest.memory.max(program::memory_for(packed.bytes));
    let packed = PackedProgram::new(packed, guest.perturb, memory, exit_code);
    packed.check()?;
    Ok((packed, memory))
}

/// What the program costs on one kernel; the second session's guests have memory for it.
pub(crate) fn one_of(
    [session, guests]: [&Session; 2],
    image: &Image,
    asked: &Asked<'_>,
    board: &Board,
) -> Result<ProgramResult, Failure> {
    let line = board.line(image.subject().name);
    let report = |progress: pathmeter_vm::Progress<'_>| line.show(progress);
    let names = || program::kernel_names(session, image, asked.windows, &report);
    let result = program::measure(guests, image, asked, names, &report);
    line.clear();
    result
}

/// Whether these are two programs, or two versions of one, that were measured alike on one kernel.
fn are_two_programs(base: &ProgramResult, new: &ProgramResult) -> bool {
    let same_program = ProgramResult { program: base.program.clone(), ..new.clone() };
    base.configuration.image_sha256 == new.configuration.image_sha256
        && base.subject == new.subject
        && base.program.windows == new.program.windows
        && base.program.environment == new.program.environment
        && program_differences(base, &same_program).is_empty()
}

fn compared(
    args: &RunArgs,
    outputs: &Outputs,
    [base, new]: [&ProgramResult; 2],
    budget: Option<&BudgetFile>,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let differences = program_differences(base, new);
    let admitted = args.across || args.guest.pair()?.is_some() || are_two_programs(base, new);
    if !admitted && !differences.is_empty() {
        return Err(Failure::Incomparable(differences));
    }
    let mut comparison = compare_programs(base, new, Threshold { percent: args.threshold });
    let mut rows = Rows::of(args, [base, new], budget)?;
    comparison.budget.clone_from(&rows.gate.budget);
    comparison.gate = args.check.is_some().then(|| rows.gate.report());
    rows.comparison.budget = rows.gate.budget.take();
    let delivered = screen.deliver(
        args.document.json,
        outputs.file.as_ref(),
        &comparison,
        |comparison, style| match args.formats.format {
            Some(_) => String::new(),
            None => program_comparison_table(comparison, args.rows(), style),
        },
    );
    let delivered = delivered.and_then(|()| rows.put(args, outputs));
    match args.check {
        Some(_) => judged(&rows.gate, delivered, screen),
        None => delivered.map(|()| Exit::Done),
    }
}
