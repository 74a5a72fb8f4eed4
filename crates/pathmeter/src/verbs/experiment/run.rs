//! The steps of `experiment`.

use pathmeter_experiment::{ExpectationOutcome, Experiment, ExperimentReport};
use pathmeter_report::{Style, counter_examples, experiment_page};

use super::args::ExperimentArgs;
use crate::failure::{Exit, Failure};
use crate::screen::formats::{Places, failed};
use crate::screen::output::{self, Screen};
use crate::setup;
use pathmeter_measure::interrupt;

use super::bundled::{GAP, choose};
use super::observe::Guests;

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

fn list(chosen: &[Experiment]) -> Result<Exit, Failure> {
    let widest = chosen.iter().map(|one| one.name.len()).max().unwrap_or(0);
    let lines = chosen.iter().map(|one| format!("{:<widest$}  {}\n", one.name, one.title));
    output::print(lines.collect::<String>().as_bytes())?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

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
