//! `pathmeter compare`: which paths of NEW cost something else than BASE's, and by how much.

use std::path::Path;
use std::thread;

use pathmeter_model::{Comparison, Measurement, Threshold, Verdict, compare};
use pathmeter_report::comparison_table;
use pathmeter_vm::Interrupt;

use crate::cli::{CompareArgs, GuestArgs};
use crate::exact::{self, Exact, Image, joined};
use crate::explained;
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::output::{self, Screen};
use crate::progress::{Board, Line};
use crate::selection::Selection;
use crate::subject::{self, Subject};

/// What `--check` finds fault with.
const WORSE: [Verdict; 3] = [Verdict::Higher, Verdict::ModeAppeared, Verdict::Broken];

/// Compares the two subjects and puts the comparison out.
pub(crate) fn run(args: &CompareArgs, screen: &Screen) -> Result<Exit, Failure> {
    if args.explain {
        subject::refuse_results([&args.base, &args.new])?;
    }
    let [base, new] = both(Subject::open(&args.base), Subject::open(&args.new))?;
    let selection = Selection::new(&args.output.only, &[base.paths(), new.paths()].concat())?;
    args.output.output.as_deref().map_or(Ok(()), output::check_writable)?;
    let interrupt = interrupt::listen()?;
    let sides = measured(base, new, &args.guest, &interrupt, screen)?;
    refuse_unlike(&sides, args.across)?;
    let [base, new] = sides.map(|side| selection.apply(side));
    let comparison = compare(&base, &new, Threshold { percent: args.threshold });
    let exit = judged(&comparison, args.check);
    if args.explain {
        explained::deliver(args, comparison, &interrupt, screen)?;
    } else {
        screen.deliver(&args.output, &comparison, comparison_table)?;
    }
    Ok(exit)
}

/// Both, or all that is wrong with them.
fn both<T>(base: Result<T, Failure>, new: Result<T, Failure>) -> Result<[T; 2], Failure> {
    match (base, new) {
        (Ok(base), Ok(new)) => Ok([base, new]),
        (base, new) => Err(Failure::all([base.err(), new.err()].into_iter().flatten().collect())),
    }
}

/// The results of both sides: those that are images are measured.
fn measured(
    base: Subject,
    new: Subject,
    args: &GuestArgs,
    interrupt: &Interrupt,
    screen: &Screen,
) -> Result<[Measurement; 2], Failure> {
    use Subject::{Image, Result};
    let single = |path: &Path, side| single(path, side, args, interrupt.clone(), screen);
    match (base, new) {
        (Result(base), Result(new)) => Ok([*base, *new]),
        (Image(base), Result(new)) => Ok([single(&base, "base")?, *new]),
        (Result(base), Image(new)) => Ok([*base, single(&new, "new")?]),
        (Image(base), Image(new)) => pair([&base, &new], args, interrupt.clone(), screen),
    }
}

/// Measures the one side that is an image.
fn single(
    path: &Path,
    side: &str,
    args: &GuestArgs,
    interrupt: Interrupt,
    screen: &Screen,
) -> Result<Measurement, Failure> {
    let (exact, [image]) = exact::prepare(args, interrupt, [path])?;
    let board = Board::new(screen);
    measured_side(&exact, &image, line(&board, side, &image))
}

/// Measures both sides at once.
fn pair(
    paths: [&Path; 2],
    args: &GuestArgs,
    interrupt: Interrupt,
    screen: &Screen,
) -> Result<[Measurement; 2], Failure> {
    let (exact, [base, new]) = exact::prepare(args, interrupt, paths)?;
    let board = Board::new(screen);
    let (upper, lower) = (line(&board, "base", &base), line(&board, "new", &new));
    if base.sha256 == new.sha256 && base.lab == new.lab {
        screen.note("BASE and NEW are the same image; it is measured once");
        let result = measured_side(&exact, &base, upper)?;
        return Ok([result.clone(), Measurement { subject: new.subject(), ..result }]);
    }
    // A thread each, which outlives the guest that it starts: QEMU is killed when that thread ends.
    thread::scope(|scope| {
        let base = scope.spawn(|| measured_side(&exact, &base, upper));
        let new = measured_side(&exact, &new, lower);
        both(joined(base), new)
    })
}

fn line<'a>(board: &'a Board, side: &str, image: &Image) -> Line<'a> {
    board.line(format!("{side} {}", image.subject().name))
}

/// Takes the line, so that it goes as soon as its side is done.
fn measured_side(exact: &Exact, image: &Image, line: Line<'_>) -> Result<Measurement, Failure> {
    let result = exact.measure(image, &|progress| line.show(progress));
    drop(line);
    result
}

/// Numbers that depend on more than the kernel say nothing about the kernel.
fn refuse_unlike([base, new]: &[Measurement; 2], across: bool) -> Result<(), Failure> {
    let differences = base.identity.differences(&new.identity);
    if across || differences.is_empty() { Ok(()) } else { Err(Failure::Incomparable(differences)) }
}

fn judged(comparison: &Comparison, check: bool) -> Exit {
    let any = |verdicts: &[Verdict]| {
        verdicts.iter().any(|&verdict| comparison.summary.count(verdict) > 0)
    };
    match check {
        true if any(&WORSE) => Exit::Worse,
        false if any(&[Verdict::Broken]) => Exit::Unmeasured,
        _ => Exit::Done,
    }
}
