//! What the arguments of `compare` come to, before the first guest is started.

use std::path::{Path, PathBuf};

use super::args::CompareArgs;
use super::time_columns::TimeColumns;
use crate::command_line::given::{Given, Need, Needs};
use crate::comparison::explanation::Detail;
use crate::comparison::judge::{Judge, budget};
use crate::comparison::sides::{Sides, refuse_few, subjects};
use crate::failure::Failure;
use crate::results_folder::are_results;
use crate::screen::formats::{Formats, Places};
use crate::screen::output::Screen;
use crate::setup::open_results;
use crate::subject_files::find_files;
use pathmeter_measure::path::additions::Probes;
use pathmeter_measure::path::selection::Selection;
use pathmeter_measure::subject::image::Pair;
use pathmeter_measure::subject::{self, Subject};
use pathmeter_probes::Suite;
use pathmeter_report::{Placement, Rows, Shown};

/// What options need to change something.
pub(crate) const NEEDS: Needs =
    &[(&["explain"], Need::Kernels), (&["full", "by_area", "VmlinuxArgs"], Need::Given("explain"))];

/// Refuses options that would change nothing, and finds the files of the subjects; two folders that
/// are compared stay.
///
/// # Errors
/// There is such an option, no such kernel, or a folder that can't be read.
pub(super) fn find_subjects(
    args: &mut CompareArgs,
    given: &Given<'_>,
    screen: &Screen,
) -> Result<(), Failure> {
    args.edited.apply();
    given.refuse_idle(NEEDS)?;
    if args.new.as_ref().is_none_or(|new| !are_results(&args.base, new)) {
        find_files([&mut args.base].into_iter().chain(&mut args.new), screen)?;
    }
    open_results(&args.results, &mut args.guest)
}

/// Two sides, what is measured and judged of them, and what is shown of that.
pub(crate) struct Request<'a> {
    pub(crate) sides: Sides,
    /// What is measured beside the built-in paths.
    pub(crate) probes: Probes<'a>,
    pub(crate) judge: Judge<'a>,
    /// Times that the counts are joined with.
    pub(crate) times: Option<TimeColumns<'a>>,
    /// How much is shown of where differences come from.
    pub(crate) detail: Detail,
    /// Whether more than the kernel may differ.
    pub(crate) across: bool,
    /// Where all goes and in which form; the files are open.
    pub(crate) formats: Formats<'a>,
}

impl<'a> Request<'a> {
    /// # Errors
    /// Whatever of the command line can't be had, all of it before the first guest.
    pub(crate) fn new(args: &'a CompareArgs, screen: &Screen) -> Result<Self, Failure> {
        let pair = args.guest.pair()?;
        refuse_sides(args, pair.as_ref())?;
        let names = args.names();
        let detail = detail(args);
        if detail != Detail::Kept || pair.is_some() {
            subject::refuse_results(&names)?;
        }
        let across = args.across || pair.is_some();
        let times = TimeColumns::new(args)?;
        let subjects = subjects(&names)?;
        refuse_program(&subjects, &names)?;
        refuse_few_runs(&subjects)?;
        let partial = find_partial_result(args, &subjects);
        let only = partial.as_ref().map_or(&args.rows.only.only, |partial| &partial.asked);
        let probes = Probes::new(args.probes.additions(), args.guest.size(), only)?;
        let more = probes.names();
        let named = subjects.iter().flat_map(Subject::paths).collect();
        let mut judge = judge(args, named, &more, screen)?;
        if let Some(PartialResult { shown, asked }) = &partial {
            judge.selection = Selection::of_paths(shown);
            screen.note(&describe_partial_result(asked.len()));
        }
        let formats = formats(args, &names, screen)?;
        let sides = sides(args, subjects, pair.is_some())?;
        if let Some(times) = &times {
            times.refuse_foreign(&sides, args.across, screen)?;
        }
        Ok(Self { sides, probes, judge, times, detail, across, formats })
    }
}

/// A result that has only some of the paths.
struct PartialResult {
    /// The names of its rows.
    shown: Vec<String>,
    /// Those of them that are the kernel's paths.
    asked: Vec<String>,
}

/// The result that has only some of the paths, if nothing says which paths are measured of the
/// kernel beside it: the kernel is asked for no others.
fn find_partial_result(args: &CompareArgs, subjects: &[Subject]) -> Option<PartialResult> {
    let asks_more = args.probes.has_any() || args.gate.budget.is_some();
    if asks_more || !args.rows.only.only.is_empty() {
        return None;
    }
    let ([Subject::Result(result), kernel @ Subject::Kernel(_)]
    | [kernel @ Subject::Kernel(_), Subject::Result(result)]) = subjects
    else {
        return None;
    };
    let has = |name: &&str| result.paths.iter().any(|path| path.path == **name);
    let of_kernel = kernel.paths();
    let found: Vec<&str> = of_kernel.iter().copied().filter(|name| has(name)).collect();
    let asked = found.iter().map(|name| (*name).to_owned()).collect();
    let shown = result.paths.iter().map(|path| path.path.clone()).collect();
    let is_partial = !found.is_empty() && found.len() < of_kernel.len();
    is_partial.then_some(PartialResult { shown, asked })
}

/// Says that a result decided what is measured.
fn describe_partial_result(paths: usize) -> String {
    let all = Suite::Exact.paths().len();
    format!("the result has {paths} of {all} paths: no others are measured and compared")
}

fn detail(args: &CompareArgs) -> Detail {
    match (args.explain, args.full) {
        (false, _) => Detail::Kept,
        (true, false) => Detail::Causes,
        (true, true) => Detail::Functions,
    }
}

/// Which paths, windows and regions are looked at, and what fails, of paths with these names and
/// of what is measured beside them.
pub(super) fn judge<'a, 'n>(
    args: &'a CompareArgs,
    mut named: Vec<&'n str>,
    more: &'n [String],
    screen: &Screen,
) -> Result<Judge<'a>, Failure> {
    let budget = budget(args.gate.budget.as_deref(), screen)?;
    if let Some(budget) = &budget {
        budget.check_early(&named)?;
    }
    named.extend(more.iter().map(String::as_str));
    let selection = Selection::new(&args.rows.only.only, &named)?;
    let (check, threshold) = (args.check.as_ref(), args.threshold);
    Ok(Judge { selection, check, regions_only: false, budget, threshold })
}

/// Where all goes and in which form; the files are opened.
pub(super) fn formats<'a>(
    args: &'a CompareArgs,
    names: &[&Path],
    screen: &Screen,
) -> Result<Formats<'a>, Failure> {
    let more = args.gate.budget.as_deref().into_iter().chain(args.debug.files());
    let more = more.chain(args.times.iter().map(PathBuf::as_path));
    let inputs: Vec<&Path> = names.iter().copied().chain(more).collect();
    let placement = if args.placement { Placement::Shown } else { Placement::Hidden };
    Ok(Formats {
        places: Places::open(&args.document, &args.formats, &inputs, screen)?,
        shown: Shown {
            placement,
            rows: if args.rows.all || args.full { Rows::All } else { Rows::Folded },
            sums: args.sums.sums(),
        },
    })
}

/// The sides, whose kernels have the debug information that is named for them.
fn sides(args: &CompareArgs, subjects: Vec<Subject>, is_one: bool) -> Result<Sides, Failure> {
    let mut sides = Sides::prepare(subjects, &args.guest)?;
    sides.images = args.debug.of(sides.images, is_one);
    // Before anything is measured: the user may have to name another file.
    if args.debug.files().next().is_some() {
        sides.images.iter().try_for_each(|image| image.debug_info(&|_| {}).map(drop))?;
    }
    Ok(sides)
}

/// Refuses all but two subjects, or one kernel with itself.
fn refuse_sides(args: &CompareArgs, pair: Option<&Pair<'_>>) -> Result<(), Failure> {
    let usage = |message: &str, help: &str| Failure::Usage {
        message: message.to_owned(),
        help: help.to_owned(),
    };
    match (&args.new, pair) {
        (Some(_), None) | (None, Some(_)) => Ok(()),
        (None, None) => Err(usage(
            "there is nothing to compare BASE with",
            "name NEW, or two CPUs (--cpu A --cpu B) or conditions (--under A --under B) in which \
             BASE is compared",
        )),
        (Some(_), Some(Pair::Cpus(_))) => Err(usage(
            "two kernels can't be compared on two CPUs",
            "leave out NEW to compare BASE on them, or one --cpu to compare the kernels",
        )),
        (Some(_), Some(Pair::Conditions(_))) => Err(usage(
            "two kernels can't be compared under two conditions",
            "leave out NEW to compare BASE under them, or one --under to compare the kernels",
        )),
    }
}

/// Refuses the result of a program beside what is none: it is `run` that runs programs.
fn refuse_program(subjects: &[Subject], names: &[&Path]) -> Result<(), Failure> {
    let mut sides = subjects.iter().zip(names);
    let found = sides.find_map(|(subject, name)| Some((name, subject.command()?)));
    match found {
        Some((name, command)) if subjects.iter().any(|subject| subject.command().is_none()) => {
            let names: Vec<String> = names.iter().map(|it| it.display().to_string()).collect();
            Err(Failure::Usage {
                message: format!("{} is the result of a program", name.display()),
                help: format!("run compares it: pathmeter run {} -- {command}", names.join(" ")),
            })
        }
        _ => Ok(()),
    }
}

/// Refuses programs and benchmarks of so few runs that another layout could pass for a change.
fn refuse_few_runs(subjects: &[Subject]) -> Result<(), Failure> {
    let runs = subjects.iter().filter_map(|subject| match subject {
        Subject::Result(result) => result.later_runs(),
        Subject::Kernel(_) => None,
    });
    refuse_few(runs.min())
}
