//! `pathmeter compare`: which paths of NEW cost something else than BASE's, and by how much.

use std::path::{Path, PathBuf};

use pathmeter_model::{Comparison, Measurement, Verdict, differences};

use crate::cli::CompareArgs;
use crate::screen::formats::{Formats, Places};
use crate::screen::output::{self, Screen};
use crate::verbs::judge::{Judge, budget};
use crate::verbs::sides::{Sides, subjects};
use crate::verbs::{causes, explained, host, joined};
use pathmeter_gate::{BudgetFile, Gate};
use pathmeter_measure::beside::Probes;
use pathmeter_measure::failure::{Exit, Failure};
use pathmeter_measure::image::{Image, Pair};
use pathmeter_measure::selection::Selection;
use pathmeter_measure::session::{Report, Session};
use pathmeter_measure::subject::{self, Subject};
use pathmeter_report::{Placement, Rows, Shown, ShownOptions};

/// Compares the two subjects and puts the comparison out.
pub(crate) fn run(args: &CompareArgs, screen: &Screen) -> Result<Exit, Failure> {
    args.gate.exit(compared(args, screen), |failure| screen.report(failure))
}

fn compared(args: &CompareArgs, screen: &Screen) -> Result<Exit, Failure> {
    if [Some(&args.base), args.new.as_ref()].into_iter().flatten().any(|it| subject::is_timed(it)) {
        return host::compare(args, screen);
    }
    let pair = args.guest.pair()?;
    let names = sides(args, pair)?;
    if args.explain || pair.is_some() {
        subject::refuse_results(names)?;
    }
    joined::refuse_early(args)?;
    let budget = budget(args.gate.budget.as_deref(), screen)?;
    let paths: Vec<&Path> = names.into_iter().map(PathBuf::as_path).collect();
    let subjects = subjects(&paths)?;
    refuse_program(&subjects, &paths)?;
    let probes = Probes::new(args.probes.beside(), args.guest.size(), &args.rows.only.only)?;
    let selection = selection(args, &subjects, budget.as_ref(), &probes)?;
    let more = args.gate.budget.as_deref().into_iter().chain(args.debug.files());
    let more = more.chain(args.times.iter().map(PathBuf::as_path));
    let inputs: Vec<&Path> = paths.iter().copied().chain(more).collect();
    let formats = formats(args, &inputs, screen)?;
    let subjects = if pair.is_some() { subjects.into_iter().take(1).collect() } else { subjects };
    let mut sides = Sides::prepare(subjects, &args.guest)?;
    sides.images = args.debug.of(sides.images, pair.is_some());
    // Before anything is measured: the user may have to name another file.
    if args.debug.files().next().is_some() {
        sides.images.iter().try_for_each(|image| image.debug_info(&|_| {}).map(drop))?;
    }
    let measure = |session: &Session, image: &Image, progress: Report<'_>| {
        probes.measure(session, image, progress)
    };
    sides.find(&|session, image, progress| probes.find(session, image, progress), screen)?;
    let results = two(sides.results(&measure, screen)?)?;
    refuse_unlike(&results, args.across || pair.is_some())?;
    let judge = Judge {
        selection: &selection,
        check: args.check.as_ref(),
        regions_only: false,
        budget: budget.as_ref(),
        threshold: args.threshold,
    };
    let base = (!args.times.is_empty()).then(|| results[0].clone());
    let (comparison, gate) = judge.compare(results)?;
    if args.placement && comparison.paths.iter().all(|path| path.moved.is_none()) {
        screen.note("--placement: where functions stand was not recorded in these results");
    }
    let broken = comparison.summary.count(Verdict::Broken) > 0;
    let delivered = match &base {
        Some(base) => joined::deliver(args, &formats, (comparison, base, &gate), screen),
        None => deliver(args, &formats, comparison, &gate, &sides, screen),
    };
    let exit = judge.exit(&gate, delivered, screen)?;
    Ok(if broken && args.check.is_none() { Exit::Unmeasured } else { exit })
}

/// Which paths, windows and regions are looked at.
fn selection(
    args: &CompareArgs,
    subjects: &[Subject],
    budget: Option<&BudgetFile>,
    probes: &Probes<'_>,
) -> Result<Selection, Failure> {
    let mut named: Vec<&str> = subjects.iter().flat_map(Subject::paths).collect();
    if let Some(budget) = budget {
        budget.check_early(&named)?;
    }
    let more = probes.names();
    named.extend(more.iter().map(String::as_str));
    Selection::new(&args.rows.only.only, &named)
}

/// Where all goes and in which form; the files are opened.
fn formats<'a>(
    args: &'a CompareArgs,
    inputs: &[&Path],
    screen: &Screen,
) -> Result<Formats<'a>, Failure> {
    let placement = if args.placement { Placement::Shown } else { Placement::Hidden };
    Ok(Formats {
        places: Places::open(&args.document, &args.formats, inputs, screen)?,
        shown: Shown {
            placement,
            rows: if args.rows.all || args.full { Rows::All } else { Rows::Folded },
            sums: args.sums.sums(),
        },
        options: if args.rows.all { ShownOptions::All } else { ShownOptions::Few },
    })
}

/// Puts the comparison out, with what is known of the two kernels if both are at hand.
fn deliver(
    args: &CompareArgs,
    formats: &Formats<'_>,
    mut comparison: Comparison,
    gate: &Gate,
    sides: &Sides,
    screen: &Screen,
) -> Result<(), Failure> {
    let (Some(session), [base, new]) = (&sides.session, &sides.images[..]) else {
        return formats.deliver(&comparison, gate, screen);
    };
    if args.explain {
        let kernels = (session, [base, new]);
        return explained::deliver(args, formats, (comparison, gate), kernels, screen);
    }
    explained::add_builds(&mut comparison, &[], session, [base, new]);
    // A document never depends on what the cache has.
    let windows = &args.probes.windows.window;
    let kept = explained::kept(&comparison, windows, (session, [base, new]));
    let causes = kept.and_then(|it| causes::of_explanations(&it, session, [base, new]).ok());
    let known = causes.is_some();
    formats.deliver_with(&comparison, causes, gate, screen)?;
    if formats.places.shows_tables() && !known {
        output::print(explained::offer(&comparison, windows).as_bytes())?;
    }
    Ok(())
}

/// Both results. `sides` gives as many as it was asked for.
pub(crate) fn two(results: Vec<Measurement>) -> Result<[Measurement; 2], Failure> {
    results.try_into().map_err(|_| Failure::System {
        doing: "preparing the comparison",
        error: std::io::Error::other("a kernel was not opened"),
    })
}

/// What is compared: two subjects, or one kernel with itself.
fn sides<'a>(args: &'a CompareArgs, pair: Option<Pair<'_>>) -> Result<[&'a PathBuf; 2], Failure> {
    let usage = |message: &str, help: &str| Failure::Usage {
        message: message.to_owned(),
        help: help.to_owned(),
    };
    match (&args.new, pair) {
        (Some(new), None) => Ok([&args.base, new]),
        (None, Some(_)) => Ok([&args.base, &args.base]),
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

/// Numbers that depend on more than the kernel show nothing about the kernel.
fn refuse_unlike([base, new]: &[Measurement; 2], across: bool) -> Result<(), Failure> {
    let differences = differences(base, new);
    if across || differences.is_empty() { Ok(()) } else { Err(Failure::Incomparable(differences)) }
}
