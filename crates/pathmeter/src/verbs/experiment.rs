//! `pathmeter experiment`: a mechanism's old and new form, measured on the lab kernel, as one page.
//!
//! Every subject is measured as `measure` does it, and if the page shows what only a recording
//! holds, each path of the experiment is recorded as `explain` does. A subject or path that can't
//! run here is a cell that states it, never a number; the other pages are printed all the same.
//! Elapsed times never decide the exit code.
//!
//! With `--counter-examples` each expectation is judged once more, with the subjects that its
//! counter-example names in place of others: then it must fail, or it shows nothing.

mod observe;

use pathmeter_experiment::{ExpectationOutcome, Experiment, ExperimentReport};
use pathmeter_report::{Style, counter_examples, experiment_page};

use crate::cli::ExperimentArgs;
use crate::failure::{Exit, Failure};
use crate::screen::formats::{Places, failed};
use crate::screen::output::{self, Screen};
use crate::setup;
use pathmeter_measure::interrupt;
use pathmeter_model::suggestion::suggest;

use observe::Guests;

/// What is between two pages.
pub(crate) const GAP: &str = "\n\n";

/// The experiments that are bundled, in the order of their subjects' history.
const ALL: &[&str] = &[
    include_str!("../../../../experiments/softirq-2001.toml"),
    include_str!("../../../../experiments/ioperm-2004.toml"),
    include_str!("../../../../experiments/compat-ioctl-2004.toml"),
    include_str!("../../../../experiments/eflags-2006.toml"),
    include_str!("../../../../experiments/vgetcpu-2007.toml"),
];

/// Runs the experiment of this name, or all.
pub(crate) fn run(args: &ExperimentArgs, screen: &Screen) -> Result<Exit, Failure> {
    let chosen = choose(args.name.as_deref())?;
    if args.list {
        return list(&chosen);
    }
    args.guest.refuse_pairs()?;
    let places = Places::open(&args.document, &args.formats, &[], screen)?;
    let session = setup::session(&args.guest, interrupt::listen())?;
    let mut guests = Guests::new(session, args.guest.perturb, screen);
    let mut reports: Vec<ExperimentReport> = Vec::new();
    let page = page(args);
    for experiment in chosen {
        let report = report(args, &experiment, &mut guests)?;
        if places.shows_tables() {
            let gap = if reports.is_empty() { "" } else { GAP };
            output::print(format!("{gap}{}", page(&report, screen.style())).as_bytes())?;
        }
        reports.push(report);
    }
    let verdict = reports.iter().map(ExperimentReport::verdict).max();
    let pages: Vec<String> = reports.iter().map(|report| page(report, Style::default())).collect();
    let written = places.document(&reports).err();
    let formats = places.formats(|format| format.page(&pages.join(GAP)));
    failed(written.into_iter().chain(formats).collect())?;
    let failures = guests.into_failures();
    if !failures.is_empty() {
        let told = screen.report(&Failure::all(failures));
        if told == Exit::Interrupted {
            return Ok(told);
        }
    }
    Ok(exit(verdict.unwrap_or(ExpectationOutcome::Holds)))
}

/// What is printed of a report.
fn page(args: &ExperimentArgs) -> fn(&ExperimentReport, Style) -> String {
    if args.counter_examples { counter_examples } else { experiment_page }
}

/// Measures the experiment's subjects, and those of its counter-examples if they are wanted.
fn report(
    args: &ExperimentArgs,
    experiment: &Experiment,
    guests: &mut Guests<'_>,
) -> Result<ExperimentReport, Failure> {
    let countered = if args.counter_examples { experiment.countered() } else { Vec::new() };
    guests.measure(std::iter::once(experiment).chain(&countered))?;
    let report = ExperimentReport::new(experiment.clone(), guests.observed(experiment));
    let observed = countered.into_iter().map(|other| (guests.observed(&other), other));
    Ok(report.with_counter_examples(observed))
}

fn exit(verdict: ExpectationOutcome) -> Exit {
    match verdict {
        ExpectationOutcome::Holds => Exit::Done,
        ExpectationOutcome::Inconclusive => Exit::Unmeasured,
        ExpectationOutcome::Fails => Exit::Worse,
    }
}

/// The names of all experiments.
pub(crate) fn names() -> Vec<String> {
    choose(None).unwrap_or_default().into_iter().map(|experiment| experiment.name).collect()
}

/// The experiment of this name, or all.
pub(crate) fn choose(name: Option<&str>) -> Result<Vec<Experiment>, Failure> {
    let all = ALL.iter().map(|text| Experiment::parse(text)).collect::<Result<Vec<_>, _>>();
    // They are tested to be well-formed.
    let all = all.map_err(|error| Failure::Usage {
        message: format!("an experiment that is bundled is damaged: {error}"),
        help: "report this".to_owned(),
    })?;
    let Some(name) = name else { return Ok(all) };
    let names: Vec<&str> = all.iter().map(|experiment| &*experiment.name).collect();
    let found = all.iter().find(|experiment| experiment.name == name).cloned();
    found.map(|experiment| vec![experiment]).ok_or_else(|| Failure::Usage {
        message: format!("{name}: no experiment has this name"),
        help: suggest(name, &names) + "there are " + &names.join(", "),
    })
}

fn list(chosen: &[Experiment]) -> Result<Exit, Failure> {
    let widest = chosen.iter().map(|one| one.name.len()).max().unwrap_or(0);
    let lines = chosen.iter().map(|one| format!("{:<widest$}  {}\n", one.name, one.title));
    output::print(lines.collect::<String>().as_bytes())?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathmeter_probes::Suite;

    #[test]
    fn every_path_and_check_of_an_experiment_exists() {
        let names: Vec<&str> = Suite::Exact.paths().iter().map(|path| path.name).collect();
        for experiment in choose(None).unwrap() {
            let paths = experiment.paths.iter().map(|path| &path.path);
            for path in paths.chain(&experiment.checks_of) {
                assert!(names.contains(&path.as_str()), "{}: {path}", experiment.name);
            }
            for row in &experiment.host.as_ref().unwrap().rows {
                let known = pathmeter_host::host_paths();
                assert!(known.iter().any(|path| path.name == row.path), "{}", row.path);
            }
            for path in experiment.elapsed.iter().map(|path| &path.path) {
                let found = Suite::Elapsed.find(path).is_some();
                assert!(found, "{}: {path}", experiment.name);
            }
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_all() {
        let Err(failure) = choose(Some("ioperm")) else { panic!() };
        assert!(failure.advice().unwrap().contains("ioperm-2004, compat-ioctl-2004, eflags-2006"));
    }

    #[test]
    fn the_exit_code_is_the_verdicts() {
        let codes = [
            ExpectationOutcome::Holds,
            ExpectationOutcome::Fails,
            ExpectationOutcome::Inconclusive,
        ]
        .map(|v| exit(v) as u8);
        assert_eq!(codes, [0, 1, 3]);
    }
}
