//! The steps of `explain`.

use std::iter;
use std::path::{Path, PathBuf};

use pathmeter_model::{Measurement, Threshold, compare};
use pathmeter_report::{callgrind, flame_graph, folded_stacks};
use pathmeter_trace::{Explain, PointWindow};
use pathmeter_vm::Progress;

use super::args::ExplainArgs;
use super::{program, request};
use crate::arguments::{ExplainOutput, GuestArgs};
use crate::command_line::given::Given;
use crate::comparison::differences::{Side, differences};
use crate::failure::{Exit, Failure};
use crate::screen::destination::Destination;
use crate::screen::output::{self, Screen};
use crate::screen::progress::Board;
use pathmeter_measure::path::additions::{Additions, Probes};
use pathmeter_measure::recording::{Inlined, RecordablePath, only};
use pathmeter_measure::session::Session;
use pathmeter_measure::subject;
use pathmeter_measure::subject::image::Image;
use pathmeter_measure::threads::at_once;

/// Records the path, and puts out where its instructions are.
pub(crate) fn run(
    args: &mut ExplainArgs,
    given: &Given<'_>,
    screen: &Screen,
) -> Result<Exit, Failure> {
    request::find_subjects(args, given, screen)?;
    let args = &*args;
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
    request::refuse_of_programs(args)?;
    let find = |name| RecordablePath::or_window(name, &args.windows.window);
    let path = find(&args.path)?;
    let against = args.against.as_deref().map(find).transpose()?;
    subject::refuse_results(iter::once(&args.subject).chain(&args.new))?;
    let (session, images) = request::prepare(args)?;
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
        (false, _) => output::print(output.tables(explain, screen.style()).as_bytes()),
    }
}
