//! What the arguments of `run` come to, before the program is packed, and what can't be had.

use std::path::Path;

use super::args::RunArgs;
use super::benchmarks;
use crate::command_line::given::{Given, Need, Needs};
use crate::comparison::judge::budget;
use crate::comparison::sides::{refuse_few, subjects};
use crate::failure::Failure;
use crate::screen::formats::{Formats, Places};
use crate::screen::output::Screen;
use crate::setup::open_results;
use crate::subject_files::find_files;
use pathmeter_gate::BudgetFile;
use pathmeter_measure::subject::image::Pair;
use pathmeter_measure::subject::{self, Subject};
use pathmeter_model::Measurement;
use pathmeter_report::{Placement, Shown};
use pathmeter_trace::Event;

/// What options need to change something.
pub(crate) const NEEDS: Needs = &[
    (&["against", "FilesArgs"], Need::Program),
    (&["by_area", "threshold", "across"], Need::Sides),
    (
        &[
            "command",
            "benchmarks",
            "only_benchmark",
            "iterations",
            "region_function",
            "slope",
            "exit_code",
            "explain",
            "lines",
            "returns",
        ],
        Need::Kernel,
    ),
];

/// Refuses options that would change nothing, and finds the files of the subjects.
///
/// # Errors
/// There is such an option, no such kernel, or a folder that can't be read.
pub(super) fn find_subjects(
    args: &mut RunArgs,
    given: &Given<'_>,
    screen: &Screen,
) -> Result<(), Failure> {
    args.edited.apply();
    given.refuse_idle(NEEDS)?;
    find_files([&mut args.base].into_iter().chain(&mut args.new), screen)?;
    open_results(&args.results, &mut args.guest)
}

/// One side or two, what they are held to, and where all goes.
pub(crate) struct Request<'a> {
    /// Kernels that the program is executed on, and results of it.
    pub(crate) subjects: Vec<Subject>,
    pub(crate) budget: Option<BudgetFile>,
    /// Whether more than the kernel may differ.
    pub(crate) across: bool,
    /// Where all goes and in which form; the files are open.
    pub(crate) formats: Formats<'a>,
}

impl<'a> Request<'a> {
    /// # Errors
    /// Whatever of the command line can't be had.
    pub(crate) fn new(args: &'a RunArgs, screen: &Screen) -> Result<Self, Failure> {
        let pair = args.guest.pair()?;
        let budget = budget(args.gate.budget.as_deref(), screen)?;
        refuse_sides(args, pair.is_some(), budget.as_ref())?;
        let names: Vec<&Path> = std::iter::once(&*args.base).chain(args.new.as_deref()).collect();
        let subjects = subjects(&names)?;
        refuse_unlike_runs(args, &subjects, pair.as_ref())?;
        refuse_of_process(args)?;
        benchmarks::refuse(args)?;
        let inputs: Vec<&Path> = names.into_iter().chain(args.gate.budget.as_deref()).collect();
        let formats = formats(args, &inputs, screen)?;
        let across = args.across || pair.is_some();
        Ok(Self { subjects, budget, across, formats })
    }
}

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
        Some(budget) => budget.refuse_increases(help).map_err(Failure::from),
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

/// Refuses results that are of no program, or in which not all was counted that is asked for; and a
/// comparison of so few later runs that layout alone could pass for a change. Under two conditions
/// the code of the one kernel is laid out alike.
fn refuse_unlike_runs(
    args: &RunArgs,
    subjects: &[Subject],
    pair: Option<&Pair<'_>>,
) -> Result<(), Failure> {
    let mut later = Vec::new();
    for subject in subjects {
        let Subject::Result(result) = subject else {
            later.push(args.guest.runs() as usize);
            continue;
        };
        let Some(runs) = result.later_runs() else {
            return Err(Failure::Usage {
                message: format!("the result of {} has paths, and no program", result.subject.name),
                help: "compare results of paths with `pathmeter compare`".to_owned(),
            });
        };
        later.push(runs);
        if result.execution.is_some() {
            counted_alike(args, result)?;
        }
    }
    let two = subjects.len() > 1 || args.against.is_some();
    if two || matches!(pair, Some(Pair::Cpus(_))) {
        refuse_few(later.into_iter().min())?;
    }
    Ok(())
}

/// Refuses to count in one side what the result of the other one does not have.
fn counted_alike(args: &RunArgs, result: &Measurement) -> Result<(), Failure> {
    let lacks = |event| !result.counts_in_rows(event);
    let options = [
        (args.explain && !result.has_functions(), "--explain"),
        (args.lines && lacks(Event::DataLines), "--lines"),
        (args.returns && lacks(Event::MispredictedReturns), "--returns"),
    ];
    let Some((_, lacks)) = options.into_iter().find(|(lacks, _)| *lacks) else { return Ok(()) };
    Err(Failure::Usage {
        message: format!(
            "{lacks} would change nothing: the result of {} was measured without it",
            result.subject.name
        ),
        help: format!("leave it out, or measure the result again with {lacks}"),
    })
}
