//! `explain ROW KERNEL -- PROGRAM`: in which functions the instructions of a row of a program are,
//! or those of its difference to another row of that program or to another kernel.

use pathmeter_measure::program::tree::{
    AskedTree, has_callers, refuse_odd_row, row_tree, two_row_trees,
};
use pathmeter_measure::session::Session;
use pathmeter_measure::subject;
use pathmeter_measure::subject::image::Image;
use pathmeter_measure::threads::at_once;
use pathmeter_trace::{Explain, SubjectWindow};
use pathmeter_vm::Progress;

use super::args::ExplainArgs;
use super::request;
use crate::comparison::causes;
use crate::comparison::sides::refuse_few;
use crate::failure::Failure;
use crate::packing::pack_cell_program;
use crate::screen::output::Screen;
use crate::screen::progress::{Board, Line};

/// Where the row's instructions are, or the difference to another row or kernel.
pub(super) fn explained(args: &ExplainArgs, screen: &Screen) -> Result<Explain, Failure> {
    refuse_of_paths(args)?;
    let against = args.against.as_deref();
    refuse_rows(&args.path, against)?;
    subject::refuse_results(std::iter::once(&args.subject).chain(&args.new))?;
    let of = &args.program;
    let program = pack_cell_program(of.packing.words(), &args.guest, of.exit_code, screen)?;
    let regions = program.packed.regions(&of.region_function)?;
    let (row, callers) = (&*args.path, of.callers);
    let asked = AskedTree { packed: &program.packed, row, regions: &regions, callers };
    let (session, images) = request::prepare(args)?;
    let images = args.debug.of(images, args.new.is_none());
    let guests = session.with_memory(program.memory_mib);
    let board = Board::new(screen);
    let line = |role: &str, image: &Image| board.line(format!("{role}{}", image.subject().name));
    if let Some(base) = against {
        let asked = set_side_by_side(AskedTree { row: base, ..asked }, asked);
        let line = line("", &images[0]);
        let progress = |progress: Progress<'_>| line.show(progress);
        let [base, new] = two_row_trees([&session, &guests], &images[0], asked, &progress)?;
        return Ok(Explain::new(base, Some(new)));
    }
    let tree_of = |image: &Image, line: &Line<'_>| tree([&session, &guests], image, &asked, line);
    let Some([base, new]) = images.first_chunk() else {
        let image = &images[0];
        return Ok(Explain::new(tree_of(image, &line("", image))?, None));
    };
    refuse_few(Some(args.guest.runs() as usize))?;
    let lines = (line("base ", base), line("new ", new));
    // A thread each, which outlives the guest that it starts: QEMU is killed when that thread ends.
    let trees = at_once(|| tree_of(base, &lines.0), || tree_of(new, &lines.1));
    let (of_base, of_new) = Failure::both(trees.0, trees.1)?;
    let explain = Explain::new(of_base, Some(of_new));
    Ok(with_causes(explain, &session, [base, new], screen))
}

/// The two, of which the tree of one begins with processes if the other's always does.
fn set_side_by_side<'a>(base: AskedTree<'a>, new: AskedTree<'a>) -> [AskedTree<'a>; 2] {
    let like = |it: AskedTree<'a>, other: &str| AskedTree {
        callers: it.callers || has_callers(other) && !has_callers(it.row),
        ..it
    };
    [like(base, new.row), like(new, base.row)]
}

/// The explanation with what its difference comes from. If that can't be had, a note says why.
fn with_causes(
    explain: Explain,
    session: &Session,
    images: [&Image; 2],
    screen: &Screen,
) -> Explain {
    let causes = causes::of_trees(&explain, session, images);
    let causes = causes.unwrap_or_else(|why| {
        screen.note(&format!("no causes: {why}"));
        None
    });
    Explain { causes, ..explain }
}

fn tree(
    sessions: [&Session; 2],
    image: &Image,
    asked: &AskedTree<'_>,
    line: &Line<'_>,
) -> Result<SubjectWindow, Failure> {
    Ok(row_tree(sessions, image, asked, &|progress: Progress<'_>| line.show(progress))?)
}

/// Refuses what only paths have.
fn refuse_of_paths(args: &ExplainArgs) -> Result<(), Failure> {
    let of_paths =
        [(!args.windows.window.is_empty(), "--window"), (args.output.placement, "--placement")];
    match of_paths.into_iter().find(|(given, _)| *given) {
        Some((_, option)) => Err(Failure::Usage {
            message: format!("{option} is about paths, and here a program is explained"),
            help: format!("leave out {option}, or the two dashes and the program"),
        }),
        None => Ok(()),
    }
}

/// Refuses what is no row's name, and a row that is set against itself.
fn refuse_rows(row: &str, against: Option<&str>) -> Result<(), Failure> {
    if against == Some(row) {
        return Err(Failure::Usage {
            message: format!("{row} is set against itself, from which it can't differ"),
            help: "name another row of the program with --against, or leave it out".to_owned(),
        });
    }
    Ok(std::iter::once(row).chain(against).try_for_each(refuse_odd_row)?)
}
