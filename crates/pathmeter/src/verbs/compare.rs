//! `pathmeter compare`: which paths of NEW cost something else than BASE's, and by how much.

use std::path::{Path, PathBuf};

use pathmeter_model::{Measurement, Threshold, Verdict, compare, differences};

use crate::cli::CompareArgs;
use crate::screen::formats::Formats;
use crate::screen::output::{self, Screen};
use crate::screen::progress::{Board, Line};
use crate::setup;
use crate::verbs::explained;
use pathmeter_gate::BudgetFile;
use pathmeter_gate::EventGate;
use pathmeter_gate::{Gate, Wanted};
use pathmeter_measure::beside::Probes;
use pathmeter_measure::build_options::BuildOptions;
use pathmeter_measure::failure::{Exit, Failure};
use pathmeter_measure::image::{Image, Pair};
use pathmeter_measure::interrupt;
use pathmeter_measure::selection::Selection;
use pathmeter_measure::session::Session;
use pathmeter_measure::subject::{self, Subject};
use pathmeter_measure::threads::at_once;

/// Compares the two subjects and puts the comparison out.
pub(crate) fn run(args: &CompareArgs, screen: &Screen) -> Result<Exit, Failure> {
    let ended = compared(args, screen);
    if !args.formats.bisect {
        return ended;
    }
    let exit = ended.unwrap_or_else(|failure| screen.report(&failure));
    Ok(exit.for_git_bisect())
}

fn compared(args: &CompareArgs, screen: &Screen) -> Result<Exit, Failure> {
    let pair = args.guest.pair()?;
    let names = sides(args, pair)?;
    if args.explain || pair.is_some() {
        subject::refuse_results(names)?;
    }
    let budget =
        args.formats.budget.as_deref().map(|path| BudgetFile::read(path, |note| screen.note(note)));
    let budget = budget.transpose()?;
    let [base, new] = names;
    let subjects = both(Subject::open(base), Subject::open(new))?;
    let [base, new] = &subjects;
    let probes = Probes::new(args.probes.beside(), args.guest.size(), &args.output.only)?;
    let mut named = [base.paths(), new.paths()].concat();
    if let Some(budget) = &budget {
        budget.check_early(&named)?;
    }
    let more = probes.names();
    named.extend(more.iter().map(String::as_str));
    let selection = Selection::new(&args.output.only, &named)?;
    let inputs: Vec<&Path> =
        names.into_iter().chain(&args.formats.budget).map(PathBuf::as_path).collect();
    let document = args.output.document.named(&inputs);
    let ([file], written) = document.open_with(args.formats.outputs(), screen)?;
    let kernels = Kernels::prepare(&subjects, args)?;
    let sides = kernels.measured(subjects, &probes, screen)?;
    refuse_unlike(&sides, args.across || pair.is_some())?;
    if let Some(budget) = &budget {
        budget.check(&sides)?;
    }
    let [base, new] = sides.map(|side| selection.apply(side));
    let mut comparison = compare(&base, &new, Threshold { percent: args.threshold });
    let events = args.check.clone().unwrap_or_else(EventGate::usual);
    let budget = budget.as_ref();
    let wanted = Wanted { selection: &selection, events: &events, regions_only: false, budget };
    let mut gate = Gate::new(&comparison, [&base, &new], &wanted);
    comparison.budget = gate.budget.take();
    let report = gate.report();
    comparison.gate = args.check.is_some().then(|| report.clone());
    if args.placement && comparison.paths.iter().all(|path| path.moved.is_none()) {
        screen.note("--placement: where functions stand was not recorded in these results");
    }
    let broken = comparison.summary.count(Verdict::Broken) > 0;
    let (outcomes, file) = (&gate.outcomes[..], file.as_ref());
    let put = Formats { args, outcomes, gate: &report, file, written: &written };
    let delivered = match (&kernels.session, &kernels.images[..]) {
        (Some(session), [base, new]) => {
            let options = BuildOptions::of(session, [base, new]);
            if args.options && options.is_none() {
                screen.note(
                    "--options: there are no two build configurations: the kernels are one, or a \
                     file has none",
                );
            }
            if args.explain {
                let options = options.as_ref();
                explained::deliver(&put, comparison, (session, options), [base, new], screen)
            } else {
                comparison.options = options.map(|it| it.differences(&[]));
                put.deliver(&comparison, screen)
            }
        }
        _ => put.deliver(&comparison, screen),
    };
    match args.check {
        Some(_) => judged(&gate, delivered, screen),
        None => delivered.map(|()| if broken { Exit::Unmeasured } else { Exit::Done }),
    }
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

/// What the gate says, even if not all could be put out; that counts unless NEW is worse.
pub(crate) fn judged(
    gate: &Gate,
    delivered: Result<(), Failure>,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let delivered = match delivered {
        Ok(()) => Exit::Done,
        Err(Failure::Interrupted) => return Err(Failure::Interrupted),
        Err(failure) => screen.report(&failure),
    };
    if delivered == Exit::Interrupted {
        return Ok(delivered);
    }
    Ok(match output::gate(gate, screen) {
        Exit::Done => delivered,
        judged => judged,
    })
}

/// Both, or all that is wrong with them.
fn both<T>(base: Result<T, Failure>, new: Result<T, Failure>) -> Result<[T; 2], Failure> {
    match (base, new) {
        (Ok(base), Ok(new)) => Ok([base, new]),
        (base, new) => Err(Failure::all([base.err(), new.err()].into_iter().flatten().collect())),
    }
}

/// The subjects that have to be measured, in their order, and what measures them.
struct Kernels {
    /// None if both subjects are results.
    session: Option<Session>,
    images: Vec<Image>,
}

impl Kernels {
    fn prepare(subjects: &[Subject; 2], args: &CompareArgs) -> Result<Self, Failure> {
        let names: Vec<&Path> = subjects.iter().filter_map(Subject::kernel).collect();
        if names.is_empty() {
            return Ok(Self { session: None, images: vec![] });
        }
        let (guest, interrupt) = (&args.guest, interrupt::listen());
        let (session, images) = match guest.pair()? {
            Some(pair) => setup::prepare_on(guest, interrupt, &args.base, pair)?,
            None => setup::prepare(guest, interrupt, &names)?,
        };
        Ok(Self { session: Some(session), images })
    }

    /// The results of both sides: those that are kernels are measured.
    fn measured(
        &self,
        subjects: [Subject; 2],
        probes: &Probes<'_>,
        screen: &Screen,
    ) -> Result<[Measurement; 2], Failure> {
        let board = Board::new(screen);
        match (subjects, &self.session, &self.images[..]) {
            ([Subject::Result(base), Subject::Result(new)], ..) => Ok([*base, *new]),
            ([Subject::Kernel(_), Subject::Result(new)], Some(session), [image]) => {
                Ok([measured_side(session, probes, image, &line(&board, "base", image))?, *new])
            }
            ([Subject::Result(base), Subject::Kernel(_)], Some(session), [image]) => {
                Ok([*base, measured_side(session, probes, image, &line(&board, "new", image))?])
            }
            (_, Some(session), [base, new]) => pair((session, probes), base, new, &board, screen),
            // `prepare` opens an image for each kernel, or fails.
            _ => Err(Failure::System {
                doing: "preparing the comparison",
                error: std::io::Error::other("a kernel was not opened"),
            }),
        }
    }
}

/// Measures both sides at once.
fn pair(
    (session, probes): (&Session, &Probes<'_>),
    base: &Image,
    new: &Image,
    board: &Board,
    screen: &Screen,
) -> Result<[Measurement; 2], Failure> {
    let (upper, lower) = (line(board, "base", base), line(board, "new", new));
    if base.is_same_as(new) {
        screen.note("BASE and NEW are the same image; it is measured once");
        let result = measured_side(session, probes, base, &upper)?;
        return Ok([result.clone(), Measurement { subject: new.subject(), ..result }]);
    }
    // A thread each, which outlives the guest that it starts: QEMU is killed when that thread ends.
    let (base, new) = at_once(
        || measured_side(session, probes, base, &upper),
        || measured_side(session, probes, new, &lower),
    );
    both(base, new)
}

fn line<'a>(board: &'a Board, side: &str, image: &Image) -> Line<'a> {
    board.line(format!("{side} {}", image.subject().name))
}

/// Clears the line as soon as its side is done.
fn measured_side(
    session: &Session,
    probes: &Probes<'_>,
    image: &Image,
    line: &Line<'_>,
) -> Result<Measurement, Failure> {
    let result = probes.measure(session, image, &|progress| line.show(progress));
    line.clear();
    result
}

/// Numbers that depend on more than the kernel show nothing about the kernel.
fn refuse_unlike([base, new]: &[Measurement; 2], across: bool) -> Result<(), Failure> {
    let differences = differences(base, new);
    if across || differences.is_empty() { Ok(()) } else { Err(Failure::Incomparable(differences)) }
}
