//! `pathmeter compare`: which paths of NEW cost something else than BASE's, and by how much.

use std::path::Path;
use std::thread;

use pathmeter_model::{Comparison, Measurement, Threshold, Verdict, compare};
use pathmeter_report::comparison_table;

use crate::cli::{CompareArgs, ExplainArgs, ExplainOutput, GuestArgs};
use crate::exact::{self, Exact, Image, joined};
use crate::explain;
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::output::{self, Screen};
use crate::progress::{Board, Line};
use crate::selection::{self, Selection};
use crate::subject::Subject;

/// What `--check` finds fault with.
const WORSE: [Verdict; 3] = [Verdict::Higher, Verdict::ModeAppeared, Verdict::Broken];

/// What `--explain` explains.
const CHANGED: [Verdict; 3] = [Verdict::Higher, Verdict::Lower, Verdict::ModeAppeared];

/// Compares the two subjects and puts the comparison out.
pub(crate) fn run(args: &CompareArgs, screen: &Screen) -> Result<Exit, Failure> {
    let [base, new] = both(Subject::open(&args.base), Subject::open(&args.new))?;
    if args.explain && [&base, &new].iter().any(|side| matches!(side, Subject::Result(_))) {
        return Err(Failure::Usage {
            message: "--explain needs two kernel images: a result does not hold a kernel".into(),
            help: "name the images that the results were measured of".into(),
        });
    }
    let selection = Selection::new(&args.output.only, &[base.paths(), new.paths()].concat())?;
    args.output.output.as_deref().map_or(Ok(()), output::check_writable)?;
    let sides = measured(base, new, &args.guest, screen)?;
    refuse_unlike(&sides, args.across)?;
    let [base, new] = sides.map(|side| selection.apply(side));
    let comparison = compare(&base, &new, Threshold { percent: args.threshold });
    screen.deliver(&args.output, &comparison, comparison_table)?;
    if args.explain {
        explain_changed(args, &comparison, screen)?;
    }
    Ok(judged(&comparison, args.check))
}

/// Explains every path that changed and has windows, one after the other.
fn explain_changed(
    args: &CompareArgs,
    comparison: &Comparison,
    screen: &Screen,
) -> Result<(), Failure> {
    let changed = comparison.paths.iter().filter(|path| CHANGED.contains(&path.verdict));
    for path in changed.filter(|path| selection::one_path(&path.path).is_ok()) {
        output::print(b"\n")?;
        let explained = ExplainArgs {
            path: path.path.clone(),
            subject: args.base.clone(),
            new: Some(args.new.clone()),
            vmlinux: None,
            new_vmlinux: None,
            output: ExplainOutput::default(),
            guest: args.guest.clone(),
        };
        explain::run(&explained, screen)?;
    }
    Ok(())
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
    screen: &Screen,
) -> Result<[Measurement; 2], Failure> {
    use Subject::{Image, Result};
    match (base, new) {
        (Result(base), Result(new)) => Ok([*base, *new]),
        (Image(base), Result(new)) => Ok([single(&base, "base", args, screen)?, *new]),
        (Result(base), Image(new)) => Ok([*base, single(&new, "new", args, screen)?]),
        (Image(base), Image(new)) => pair([&base, &new], args, screen),
    }
}

/// Measures the one side that is an image.
fn single(
    path: &Path,
    side: &str,
    args: &GuestArgs,
    screen: &Screen,
) -> Result<Measurement, Failure> {
    let (exact, [image]) = exact::prepare(args, interrupt::listen()?, [path])?;
    let board = Board::new(screen);
    measured_side(&exact, &image, line(&board, side, &image))
}

/// Measures both sides at once.
fn pair(paths: [&Path; 2], args: &GuestArgs, screen: &Screen) -> Result<[Measurement; 2], Failure> {
    let (exact, [base, new]) = exact::prepare(args, interrupt::listen()?, paths)?;
    let board = Board::new(screen);
    let (upper, lower) = (line(&board, "base", &base), line(&board, "new", &new));
    if base.sha256 == new.sha256 {
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
