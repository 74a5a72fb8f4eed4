//! The steps of `run`.

use pathmeter_model::{Configuration, Measurement, differences};
use pathmeter_report::AreaSums;

use super::args::RunArgs;
use super::request::{self, Request};
use super::run_verb::RunVerb;
use super::{benchmarks, new_probe, program, slope};
use crate::command_line::given::Given;
use crate::comparison::causes;
use crate::comparison::judge::{Judge, note_uncompared};
use crate::comparison::sides::two;
use crate::failure::{Exit, Failure};
use crate::screen::formats::Formats;
use crate::screen::output::Screen;
use pathmeter_gate::BudgetFile;
use pathmeter_measure::path::selection::Selection;
use pathmeter_measure::program::process_choice::of_process;
use pathmeter_measure::subject::Subject;

/// Runs the program, or reads earlier results of it, and puts the document out.
pub(crate) fn run(verb: &mut RunVerb, given: &Given<'_>, screen: &Screen) -> Result<Exit, Failure> {
    let args = match verb {
        RunVerb::Run(args) => args,
        RunVerb::NewProbe(name) => return new_probe::run(name),
    };
    request::find_subjects(args, given, screen)?;
    let args = &**args;
    args.gate.exit(measure_and_judge(args, screen), |failure| screen.report(failure))
}

fn measure_and_judge(args: &RunArgs, screen: &Screen) -> Result<Exit, Failure> {
    if let Some(slope) = &args.slope {
        return slope::run(args, slope, screen);
    }
    let Request { subjects, budget, across, formats } = Request::new(args, screen)?;
    let whole = measure_subjects(args, subjects, screen)?;
    let results = only_process(args.only_process.as_deref(), &whole)?;
    let judge = judge(args, &results, budget)?;
    match <[Measurement; 1]>::try_from(results) {
        Ok([result]) => {
            let (places, rows) = (&formats.places, args.rows.rows());
            let whole = whole.first().unwrap_or(&result);
            let (gate, delivered) = judge.alone(&result, whole, places, rows, screen)?;
            let exit = judge.exit(&gate, delivered, screen)?;
            Ok(benchmarks::exit(exit, &result, &judge.selection, judge.check.is_some()))
        }
        Err(results) => {
            let results = two(results)?;
            refuse_unlike(&results, across)?;
            note_uncompared(&results, screen);
            note_paths(&results, screen);
            deliver_comparison(&judge, results, &formats, screen)
        }
    }
}

/// The results of both sides, or of the only one: those of the program, or of each benchmark in it.
fn measure_subjects(
    args: &RunArgs,
    subjects: Vec<Subject>,
    screen: &Screen,
) -> Result<Vec<Measurement>, Failure> {
    let is_measured = subjects.iter().any(|subject| subject.kernel().is_some());
    match args.benchmarks.filter(|_| is_measured && !args.packing.command.is_empty()) {
        Some(framework) => benchmarks::results(framework, args, subjects, screen),
        None => program::results(args, subjects, screen),
    }
}

/// The results with the rows of one process, if the user named one.
fn only_process(name: Option<&str>, results: &[Measurement]) -> Result<Vec<Measurement>, Failure> {
    let Some(name) = name else { return Ok(results.to_vec()) };
    Failure::gather(results.iter().map(|result| of_process(result, name)))
}

/// Which of these rows are looked at, and what fails.
fn judge<'a>(
    args: &'a RunArgs,
    results: &[Measurement],
    budget: Option<BudgetFile>,
) -> Result<Judge<'a>, Failure> {
    let names = results.iter().flat_map(|result| &result.paths).map(|path| &*path.path);
    let check = args.check.as_ref();
    Ok(Judge {
        selection: Selection::of_rows(&args.rows.only.only, &names.collect::<Vec<_>>())?,
        check: check.map(|check| &check.events),
        regions_only: check.is_some_and(|check| check.regions_only),
        budget,
        threshold: args.threshold,
    })
}

/// Compares both results and puts the comparison out.
fn deliver_comparison(
    judge: &Judge<'_>,
    results: [Measurement; 2],
    formats: &Formats<'_>,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let (mut comparison, gate) = judge.compare(results)?;
    comparison.causes = causes::of_rows(&comparison);
    if formats.shown.sums == AreaSums::Shown && comparison.causes.is_none() {
        screen.note("--by-area: functions were not counted: --explain counts them");
    }
    judge.exit(&gate, formats.deliver(&comparison, &gate, screen), screen)
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
