//! `pathmeter explain`: which functions a path's instructions, or a difference's, are in; or those
//! of a row of a program.

mod program;

use std::iter;
use std::path::{Path, PathBuf};

use pathmeter_model::{Measurement, Threshold, compare};
use pathmeter_report::{Style, callgrind, explanation, flame_graph, folded_stacks};
use pathmeter_trace::{Explain, PointWindow, SubjectWindow};
use pathmeter_vm::Progress;

use crate::cli::{ExplainArgs, ExplainOutput, GuestArgs};
use crate::failure::{Exit, Failure};
use crate::screen::destination::Destination;
use crate::screen::output::{self, Screen};
use crate::screen::progress::{Board, Line};
use crate::setup;
use pathmeter_measure::error::MeasureError;
use pathmeter_measure::interrupt;
use pathmeter_measure::path::additions::{Additions, Probes, REGIONS};
use pathmeter_measure::recording::cache::recordings;
use pathmeter_measure::recording::{Inlined, RecordablePath, only};
use pathmeter_measure::session::Session;
use pathmeter_measure::subject;
use pathmeter_measure::subject::image::Image;
use pathmeter_measure::threads::at_once;

/// Records the path, and puts out where its instructions are.
pub(crate) fn run(args: &ExplainArgs, screen: &Screen) -> Result<Exit, Failure> {
    let kernels = iter::once(&args.subject).chain(&args.new).map(PathBuf::as_path);
    let inputs: Vec<&Path> = kernels.chain(args.debug.files()).collect();
    let files = args.output.named_files(&inputs).open(screen)?;
    let explain = explained(args, screen)?;
    deliver(&args.output, &files, &explain, screen)?;
    Ok(Exit::Done)
}

/// Where the path's instructions are, or the difference to another kernel or path.
fn explained(args: &ExplainArgs, screen: &Screen) -> Result<Explain, Failure> {
    if !args.program.packing.command.is_empty() {
        return program::explained(args, screen);
    }
    refuse_regions(args)?;
    refuse_unused_windows(args)?;
    let find = |name| RecordablePath::or_window(name, &args.windows.window);
    let path = find(&args.path)?;
    let against = args.against.as_deref().map(find).transpose()?;
    subject::refuse_results(iter::once(&args.subject).chain(&args.new))?;
    let (session, images) = prepared(args)?;
    let images = args.debug.of(images, args.new.is_none());
    let board = Board::new(screen);
    if let [base, new] = &images[..] {
        let path = placed(path, &session, ([base, new], &args.guest), &board)?;
        return only(differences(&session, [base, new], &[path], &board)?);
    }
    let path = standing(path, &session, (&images[0], &args.guest), &board)?;
    let against = against.map(|it| standing(it, &session, (&images[0], &args.guest), &board));
    let against = against.transpose()?;
    let (inlined, line) = (Inlined::Apart, board.line(images[0].subject().name));
    let side = Side { image: &images[0], inlined, line };
    let Some(against) = against else {
        return Ok(Explain::new(only(side.windows(&session, &[path])?)?, None));
    };
    if against.name() == path.name() {
        let window = only(side.windows(&session, &[path])?)?;
        return Ok(Explain::new(window.clone(), Some(window)));
    }
    let mut windows = side.windows(&session, &[against, path])?.into_iter();
    let (base, new) = (windows.next(), windows.next());
    Ok(Explain::new(only(base)?, Some(only(new)?)))
}

/// Refuses regions, which only a program has.
fn refuse_regions(args: &ExplainArgs) -> Result<(), Failure> {
    let mut names = iter::once(&*args.path).chain(args.against.as_deref());
    match names.find(|name| name.starts_with(REGIONS)) {
        None => Ok(()),
        Some(region) => Err(Failure::Usage {
            message: format!("{region} is a region of a program, and no program is named"),
            help: "name it after the kernel and two dashes: pathmeter explain user.NAME KERNEL -- \
                   PROGRAM ARGS"
                .to_owned(),
        }),
    }
}

/// Refuses a window that neither path names.
fn refuse_unused_windows(args: &ExplainArgs) -> Result<(), Failure> {
    let paths = || iter::once(&*args.path).chain(args.against.as_deref());
    let is_named =
        |name: &str| paths().any(|path| path.split_once('/').is_some_and(|it| it.1 == name));
    match args.windows.window.iter().find(|window| !is_named(&window.name)) {
        None => Ok(()),
        Some(PointWindow { name, .. }) => Err(Failure::Usage {
            message: format!("--window would change nothing: no path here has the window {name}"),
            help: format!("name it with its path: {}/{name}", args.path),
        }),
    }
}

/// One kernel, two, or one on two CPUs or under two conditions.
fn prepared(args: &ExplainArgs) -> Result<(Session, Vec<Image>), Failure> {
    let (guest, interrupt) = (&args.guest, interrupt::listen());
    let Some(pair) = guest.pair()? else {
        let names: Vec<&Path> =
            iter::once(&args.subject).chain(&args.new).map(PathBuf::as_path).collect();
        return setup::prepare(guest, interrupt, &names);
    };
    if args.new.is_some() || args.against.is_some() {
        return Err(Failure::Usage {
            message: "two CPUs or conditions leave no room for a second kernel, path or row"
                .to_owned(),
            help: "leave out NEW and --against, or one --cpu or --under".to_owned(),
        });
    }
    setup::prepare_on(guest, interrupt, &args.subject, pair)
}

/// The path, shown by the pair of windows that the comparison of the two kernels shows. They are
/// measured for it, unless their results are at hand.
fn placed<'a>(
    path: RecordablePath<'a>,
    session: &Session,
    ([base, new], guest): ([&Image; 2], &GuestArgs),
    board: &Board,
) -> Result<RecordablePath<'a>, Failure> {
    let measure = |image: &Image| measure_path(path, session, (image, guest), board);
    let (base, new) = at_once(|| measure(base), || measure(new));
    let (base, new) = Failure::both(base, new)?;
    let compared = compare(&base, &new, Threshold::default());
    let row = compared.paths.iter().find(|row| row.path == path.name());
    Ok(path.showing(row.and_then(|row| row.pairs)))
}

/// The path, shown by a window with the value that `measure` shows.
fn standing<'a>(
    path: RecordablePath<'a>,
    session: &Session,
    (image, guest): (&Image, &GuestArgs),
    board: &Board,
) -> Result<RecordablePath<'a>, Failure> {
    let result = match measure_path(path, session, (image, guest), board) {
        Ok(result) => result,
        Err(Failure::Interrupted) => return Err(Failure::Interrupted),
        // A recording ends where a measurement may not, and says where.
        Err(failure) => {
            let note = format!("{failure}; the window that is shown is the most frequent one");
            board.line(image.subject().name).show(Progress::Note(&note));
            return Ok(path);
        }
    };
    let row = result.paths.iter().find(|row| row.path == path.name());
    Ok(row.map_or(path, |row| path.standing_for(row)))
}

/// The result of the path, measured now unless it is at hand.
fn measure_path(
    path: RecordablePath<'_>,
    session: &Session,
    (image, guest): (&Image, &GuestArgs),
    board: &Board,
) -> Result<Measurement, Failure> {
    let windows: Vec<PointWindow> = path.window().cloned().into_iter().collect();
    let additions = Additions { windows: &windows, programs: &[] };
    let name = [path.name().to_owned()];
    let probes = Probes::new(additions, guest.size(), &name)?;
    let measured =
        board.during(image.subject().name, |progress| probes.measure(session, image, progress));
    Ok(measured?)
}

/// Records `paths` of both kernels at once, in a guest each, and finds what they do differently:
/// one for each path, in their order. Inlined functions are told apart if both kernels have debug
/// information: what one has of its own and the other one does not would seem to differ.
///
/// # Errors
/// For all paths, what stands in the way of all.
pub(crate) fn differences(
    session: &Session,
    [base, new]: [&Image; 2],
    paths: &[RecordablePath<'_>],
    board: &Board,
) -> Result<Vec<Result<Explain, Failure>>, Failure> {
    let line = |role: &str, image: &Image| board.line(format!("{role} {}", image.subject().name));
    let lines = (line("base", base), line("new", new));
    let debug = at_once(
        || base.debug_info(&|progress| lines.0.show(progress)),
        || new.debug_info(&|progress| lines.1.show(progress)),
    );
    let (of_base, of_new) = Failure::both(debug.0, debug.1)?;
    let both = of_base.is_some() && of_new.is_some();
    let inlined = if both { Inlined::Apart } else { Inlined::InCallers };
    let base = Side { image: base, inlined, line: lines.0 };
    let new = Side { image: new, inlined, line: lines.1 };
    // A thread each, which outlives the guest that it starts: QEMU is killed when that thread ends.
    let windows = at_once(|| base.windows(session, paths), || new.windows(session, paths));
    let (base, new) = Failure::both(windows.0, windows.1)?;
    let explain = |(base, new)| {
        let (base, new) = Failure::both(base, new)?;
        Ok(Explain::new(base, Some(new)))
    };
    Ok(base.into_iter().zip(new).map(explain).collect())
}

/// A kernel that is recorded.
struct Side<'a> {
    image: &'a Image,
    inlined: Inlined,
    line: Line<'a>,
}

impl Side<'_> {
    /// The window that stands for all that were recorded, of each path.
    fn windows(
        &self,
        session: &Session,
        paths: &[RecordablePath<'_>],
    ) -> Result<Vec<Result<SubjectWindow, MeasureError>>, MeasureError> {
        let progress = |progress: Progress<'_>| self.line.show(progress);
        recordings(session, self.image, self.inlined, paths, &progress)
    }
}

/// The table, or the document, on stdout; everything else in files. What can't be written costs
/// nothing of the rest.
fn deliver(
    output: &ExplainOutput,
    [document, svg, folded, callgrinds]: &[Option<Destination>; 4],
    explain: &Explain,
    screen: &Screen,
) -> Result<(), Failure> {
    let put = |file: &Option<Destination>, make: &dyn Fn() -> Result<Vec<u8>, Failure>| {
        file.as_ref().map_or(Ok(()), |file| file.write(&make()?))
    };
    let shown = explain.new.as_ref().unwrap_or(&explain.base);
    let done = [
        put(folded, &|| Ok(folded_stacks(explain).into_bytes())),
        put(callgrinds, &|| Ok(callgrind(shown).into_bytes())),
        put(svg, &|| draw_flame_graph(explain)),
        put(document, &|| output::json(explain)),
        print(output, explain, screen),
    ];
    Failure::gather(done).map(drop)
}

fn draw_flame_graph(explain: &Explain) -> Result<Vec<u8>, Failure> {
    flame_graph(explain).map(String::into_bytes).map_err(Failure::Drawing)
}

fn print(output: &ExplainOutput, explain: &Explain, screen: &Screen) -> Result<(), Failure> {
    match (output.json(), &output.output) {
        (true, None) => output::print(&output::json(explain)?),
        (true, Some(_)) => Ok(()),
        (false, _) => output::print(tables(output, explain, screen.style()).as_bytes()),
    }
}

/// The explanation as people read it.
pub(crate) fn tables(output: &ExplainOutput, explain: &Explain, style: Style) -> String {
    explanation(explain, output.limits(explain.new.is_some()), style)
}
