//! `pathmeter run`: what a kernel costs a program of the user's, or how two kernels differ in it.

use std::ffi::OsString;
use std::path::Path;

use pathmeter_model::{Configuration, LEAST_LATER_RUNS, Measurement, differences};
use pathmeter_report::{AreaSums, Placement, Shown, ShownOptions};
use pathmeter_trace::Event;

use crate::cli::{FilesArgs, GuestArgs, RunArgs, Words};
use crate::packing;
use crate::screen::formats::{Formats, Places};
use crate::screen::output::Screen;
use crate::verbs::benchmarks;
use crate::verbs::causes;
use crate::verbs::compare::two;
use crate::verbs::judge::{Judge, budget};
use crate::verbs::sides::{Sides, subjects};
use pathmeter_gate::BudgetFile;
use pathmeter_measure::failure::{Exit, Failure};
use pathmeter_measure::image::{Image, Pair};
use pathmeter_measure::packed_program::{PackedProgram, memory_for};
use pathmeter_measure::process_choice::of_process;
use pathmeter_measure::program_point_windows::refuse_twice;
use pathmeter_measure::program_result::{self, Asked};
use pathmeter_measure::selection::Selection;
use pathmeter_measure::session::{Report, Session};
use pathmeter_measure::subject::{self, Subject};

/// Runs the program, or reads earlier results of it, and puts the document out.
pub(crate) fn run(args: &RunArgs, screen: &Screen) -> Result<Exit, Failure> {
    args.gate.exit(ran(args, screen), |failure| screen.report(failure))
}

fn ran(args: &RunArgs, screen: &Screen) -> Result<Exit, Failure> {
    let pair = args.guest.pair()?;
    let budget = budget(args.gate.budget.as_deref(), screen)?;
    let names: Vec<&Path> = std::iter::once(&*args.base).chain(args.new.as_deref()).collect();
    refuse_sides(args, pair.is_some(), budget.as_ref())?;
    let subjects = subjects(&names)?;
    refuse_unlike_runs(args, &subjects, pair)?;
    refuse_of_process(args)?;
    benchmarks::refuse(args)?;
    let inputs: Vec<&Path> = names.into_iter().chain(args.gate.budget.as_deref()).collect();
    let formats = formats(args, &inputs, screen)?;
    let whole = match args.benchmarks.filter(|_| has_kernel(&subjects)) {
        Some(framework) if !args.packing.command.is_empty() => {
            benchmarks::results(framework, args, subjects, screen)?
        }
        _ => results(args, subjects, screen)?,
    };
    let results = only_process(args.only_process.as_deref(), &whole)?;
    let names = results.iter().flat_map(|result| &result.paths).map(|path| &*path.path);
    let selection = Selection::of_rows(&args.rows.only.only, &names.collect::<Vec<_>>())?;
    let check = args.check.as_ref();
    let judge = Judge {
        selection: &selection,
        check: check.map(|check| &check.events),
        regions_only: check.is_some_and(|check| check.regions_only),
        budget: budget.as_ref(),
        threshold: args.threshold,
    };
    match <[Measurement; 1]>::try_from(results) {
        Ok([result]) => {
            let (places, rows) = (&formats.places, args.rows.rows());
            let whole = whole.first().unwrap_or(&result);
            let (gate, delivered) = judge.alone(&result, whole, places, rows, screen)?;
            let exit = judge.exit(&gate, delivered, screen)?;
            Ok(benchmarks::exit(exit, &result, &selection, check.is_some()))
        }
        Err(results) => {
            let results = two(results)?;
            refuse_unlike(&results, args.across || pair.is_some())?;
            note_paths(&results, screen);
            let (mut comparison, gate) = judge.compare(results)?;
            comparison.causes = causes::of_rows(&comparison);
            if args.sums.sums() == AreaSums::Shown && comparison.causes.is_none() {
                screen.note("--by-area: functions were not counted: --explain counts them");
            }
            judge.exit(&gate, formats.deliver(&comparison, &gate, screen), screen)
        }
    }
}

fn has_kernel(subjects: &[Subject]) -> bool {
    subjects.iter().any(|subject| subject.kernel().is_some())
}

/// The results with the rows of one process, if the user named one.
fn only_process(name: Option<&str>, results: &[Measurement]) -> Result<Vec<Measurement>, Failure> {
    let Some(name) = name else { return Ok(results.to_vec()) };
    Failure::gather(results.iter().map(|result| of_process(result, name)))
}

/// Refuses what is known of the whole program only where one process is asked for.
fn refuse_of_process(args: &RunArgs) -> Result<(), Failure> {
    if args.only_process.is_none() {
        return Ok(());
    }
    let regions_only = args.check.as_ref().is_some_and(|check| check.regions_only);
    let whole = [
        (args.explain, "--explain"),
        (!args.window.is_empty(), "--window"),
        (!args.region_function.is_empty(), "--region-function"),
        (regions_only, "--check=regions"),
    ];
    match whole.into_iter().find(|(given, _)| *given) {
        Some((_, option)) => Err(Failure::Usage {
            message: format!("{option} shows the whole program, and --only-process one process"),
            help: "leave out one of the two".to_owned(),
        }),
        None => Ok(()),
    }
}

/// Where all goes and in which form; the files are opened.
fn formats<'a>(
    args: &'a RunArgs,
    inputs: &[&Path],
    screen: &Screen,
) -> Result<Formats<'a>, Failure> {
    Ok(Formats {
        places: Places::open(&args.document, &args.formats, inputs, screen)?,
        shown: Shown {
            placement: Placement::Hidden,
            rows: args.rows.rows(),
            sums: args.sums.sums(),
        },
        options: ShownOptions::Few,
    })
}

/// Refuses what can't be done with as many kernels as there are.
fn refuse_sides(
    args: &RunArgs,
    with_itself: bool,
    budget: Option<&BudgetFile>,
) -> Result<(), Failure> {
    if args.against.is_some() {
        return refuse_against(args, with_itself);
    }
    if with_itself {
        return refuse_second(args);
    }
    if args.new.is_some() {
        return Ok(());
    }
    args.formats.refuse_without_gate(args.check.is_some())?;
    if args.check.is_some() { checkable_alone(budget) } else { Ok(()) }
}

/// Refuses to check one kernel alone, unless a budget says what it may cost.
fn checkable_alone(budget: Option<&BudgetFile>) -> Result<(), Failure> {
    let help = "name NEW, or another program (--against COMMAND), two conditions (--under A \
                --under B) or CPUs (--cpu A --cpu B)";
    match budget {
        Some(budget) => budget.refuse_increases(help),
        None => Err(Failure::Usage {
            message: "--check has nothing to compare KERNEL with".to_owned(),
            help: help.to_owned(),
        }),
    }
}

/// Refuses all but one kernel with two programs.
fn refuse_against(args: &RunArgs, with_itself: bool) -> Result<(), Failure> {
    subject::refuse_results([&args.base])?;
    let other = [
        (args.new.is_some(), "NEW"),
        (with_itself, "one --cpu or --under"),
        (args.packing.files.reads_own_input(), "--stdin -, which can be read only once"),
    ];
    match other.into_iter().find(|(given, _)| *given) {
        Some((_, what)) => Err(Failure::Usage {
            message: "--against compares two programs on one kernel, under one condition"
                .to_owned(),
            help: format!("leave out {what}"),
        }),
        None => Ok(()),
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

/// Refuses results that are of no program, or in which not all was counted that is asked for; and a
/// comparison of so few later runs that layout alone could pass for a change. Under two conditions
/// the code of the one kernel is laid out alike.
fn refuse_unlike_runs(
    args: &RunArgs,
    subjects: &[Subject],
    pair: Option<Pair<'_>>,
) -> Result<(), Failure> {
    let mut later = Vec::new();
    for subject in subjects {
        let Subject::Result(result) = subject else {
            later.push(args.guest.perturb as usize);
            continue;
        };
        if result.benchmarks().is_some() {
            let runs = result.paths.iter().map(|path| path.samples_per_run.len());
            later.push(runs.max().unwrap_or(0));
            continue;
        }
        let Some(execution) = &result.execution else {
            return Err(Failure::Usage {
                message: format!("the result of {} has paths, and no program", result.subject.name),
                help: "compare results of paths with `pathmeter compare`".to_owned(),
            });
        };
        later.push(execution.runs.len().saturating_sub(1));
        counted_alike(args, result)?;
    }
    let two = subjects.len() > 1 || args.against.is_some();
    if two || matches!(pair, Some(Pair::Cpus(_))) {
        refuse_few(later.into_iter().min())?;
    }
    Ok(())
}

/// Refuses to count in one side what the result of the other one does not have.
fn counted_alike(args: &RunArgs, result: &Measurement) -> Result<(), Failure> {
    let lacks = match (args.explain, args.lines) {
        (true, _) if !result.has_functions() => "--explain",
        (_, true) if !result.counts_in_rows(Event::DataLines) => "--lines",
        _ => return Ok(()),
    };
    Err(Failure::Usage {
        message: format!(
            "{lacks} would change nothing: the result of {} was measured without it",
            result.subject.name
        ),
        help: format!("leave it out, or measure the result again with {lacks}"),
    })
}

/// Refuses a comparison of which the side with the fewest later runs has so few.
pub(crate) fn refuse_few(fewest: Option<usize>) -> Result<(), Failure> {
    match fewest {
        Some(fewest) if fewest < LEAST_LATER_RUNS => Err(Failure::Usage {
            message: format!(
                "two sides can't be told apart by {fewest} later runs: another layout of the code \
                 could pass for a change"
            ),
            help: format!("run both with --perturb {LEAST_LATER_RUNS} or more; 6 is the default"),
        }),
        _ => Ok(()),
    }
}

/// The results of both sides, or of the only one, kernels measured at once.
fn results(
    args: &RunArgs,
    subjects: Vec<Subject>,
    screen: &Screen,
) -> Result<Vec<Measurement>, Failure> {
    if !has_kernel(&subjects) {
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

/// Refuses two results that differ in more than the kernel, or than the program.
fn refuse_unlike([base, new]: &[Measurement; 2], across: bool) -> Result<(), Failure> {
    let differences = differences(base, new);
    if across || differences.is_empty() || are_two_programs(base, new) {
        return Ok(());
    }
    Err(Failure::Incomparable(differences))
}

/// Tells that two programs have paths that differ in length or depth.
fn note_paths([base, new]: &[Measurement; 2], screen: &Screen) {
    let path = |of: &Measurement| of.configuration.program.as_ref()?.command.first().cloned();
    let (Some(base), Some(new)) = (path(base), path(new)) else { return };
    let looked_up = |path: &str| (path.len(), path.matches('/').count());
    if looked_up(&base) != looked_up(&new) {
        screen.note(&format!(
            "{base} and {new}: a program's path is part of its numbers; compare two programs at \
             the same path"
        ));
    }
}

/// Whether these are two programs, or two versions of one, that were measured alike on one kernel.
fn are_two_programs(base: &Measurement, new: &Measurement) -> bool {
    let (Some(of_base), Some(of_new)) = (&base.configuration.program, &new.configuration.program)
    else {
        return false;
    };
    let program = Some(of_base.clone());
    let configuration = Configuration { program, ..new.configuration.clone() };
    let same_program = Measurement { configuration, ..new.clone() };
    base.configuration.image_sha256 == new.configuration.image_sha256
        && base.subject == new.subject
        && of_base.windows == of_new.windows
        && of_base.environment == of_new.environment
        && differences(base, &same_program).is_empty()
}
