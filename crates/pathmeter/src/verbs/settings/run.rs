//! The steps of `settings`.

use pathmeter_report::{Format, Rows, SettingsRows, slope_table};
use pathmeter_vm::{Condition, Cpu};

use super::args::SettingsArgs;
use super::request::Request;
use super::results::Results;
use super::set::Set;
use super::under::Under;
use crate::command_line::given::Given;
use crate::comparison::sides::refuse_few;
use crate::failure::{Exit, Failure};
use crate::packing::pack_cell_program;
use crate::screen::output::{self, Screen};
use crate::screen::progress::Board;
use crate::setup;
use pathmeter_measure::interrupt;
use pathmeter_measure::session::Session;
use pathmeter_measure::session::cell::CellProgram;
use pathmeter_measure::subject::image::Image;
use pathmeter_measure::subject::modules::Modules;

/// Measures the kernel under each setting, and puts out what they cost.
pub(crate) fn run(
    args: &mut SettingsArgs,
    given: &Given<'_>,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let (Request { sets, gates, selection, places }, args) = Request::new(args, given, screen)?;
    let program = pack_program(args, screen)?;
    let (session, image) = open_kernel(args, &sets)?;
    let session = session.narrow_to(|path| selection.holds(path));
    let common = args.guest.under().map(|under| under.condition.clone()).unwrap_or_default();
    let board = Board::new(screen);
    let under = |image| Under {
        session: &session,
        image,
        common: &common,
        program: program.as_ref(),
        explain: args.explain,
        gates: gates.as_ref(),
        selection: &selection,
        board: &board,
    };
    let shown = if args.all { Rows::All } else { Rows::Folded };
    if let Some(slope) = &args.slope {
        let result = under(&image).slope(slope)?;
        let table = |result: &_, style| slope_table(result, shown, style);
        places.deliver(&result, table, |_| String::new(), screen)?;
        return Ok(Exit::Done);
    }
    let settings: usize = sets.iter().map(|set| set.in_order().count()).sum();
    let images = on_each(&image, &args.guest.cpu);
    if args.guest.results.is_none() {
        let verb = if settings == 1 { "setting is" } else { "settings are" };
        screen.note(&format!("{settings} {verb} measured, two at a time"));
    }
    let results = images.iter().map(|image| under(image).all(sets.clone()));
    let results = Results::from(results.collect::<Result<Vec<_>, _>>()?);
    let rows = SettingsRows::of(results.all());
    let text =
        |format: Format| rows.as_ref().map_or_else(String::new, |it| format.render(it.judged()));
    places.deliver(&results, |results, style| results.tables(shown, style), text, screen)?;
    if !places.shows_tables() {
        // The tables have it.
        output::fails(&results.failing());
    }
    Ok(results.exit())
}

/// Opens the kernel, with the folder of its modules if anything that is measured needs some.
fn open_kernel(args: &SettingsArgs, sets: &[Set]) -> Result<(Session, Image), Failure> {
    let of_sets = sets.iter().flat_map(Set::in_order).map(|entry| &entry.condition);
    let of_slope = args.slope.iter().flat_map(|slope| &slope.steps).map(|(_, condition)| condition);
    let needed = of_sets.chain(of_slope).any(Condition::needs_modules);
    let mut guest = args.guest.clone();
    if needed && !guest.needs_modules() {
        guest.modules = None;
    }
    let (session, images) = setup::prepare(&guest, interrupt::listen(), &[&args.kernel])?;
    let modules = Modules::new(&args.guest.module, args.guest.modules.clone())?;
    Ok((session, images[0].clone().with_modules(modules).unpacked_once()))
}

/// The kernel on each CPU, if there are several; else on the session's.
fn on_each(image: &Image, cpus: &[Cpu]) -> Vec<Image> {
    match cpus {
        [] | [_] => vec![image.clone()],
        several => several.iter().map(|cpu| image.clone().on(cpu)).collect(),
    }
}

/// Packs the program of the command line, if it has one.
fn pack_program(args: &SettingsArgs, screen: &Screen) -> Result<Option<CellProgram>, Failure> {
    if args.packing.command.is_empty() {
        return Ok(None);
    }
    refuse_few(Some(args.guest.runs() as usize))?;
    pack_cell_program(args.packing.words(), &args.guest, 0, screen).map(Some)
}
