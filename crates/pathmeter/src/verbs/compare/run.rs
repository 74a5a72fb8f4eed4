//! The steps of `compare`.

use pathmeter_model::{Comparison, Measurement, Verdict, differences};

use super::args::CompareArgs;
use super::folders;
use super::request::{self, Request};
use crate::command_line::given::Given;
use crate::comparison::explanation;
use crate::comparison::judge::note_uncompared;
use crate::comparison::sides::{Sides, two};
use crate::failure::{Exit, Failure};
use crate::results_folder::is_results;
use crate::screen::formats::Formats;
use crate::screen::output::Screen;
use pathmeter_measure::path::additions::Probes;
use pathmeter_measure::session::{Report, Session};
use pathmeter_measure::subject::image::Image;
use pathmeter_report::Placement;

/// Compares the two subjects, or all cells of two folders, and puts the comparison out.
pub(crate) fn run(
    args: &mut CompareArgs,
    given: &Given<'_>,
    screen: &Screen,
) -> Result<Exit, Failure> {
    request::find_subjects(args, given, screen)?;
    let args = &*args;
    // A folder of one result has the result in its place.
    let compare = if is_results(&args.base) { folders::compare } else { compare_sides };
    args.gate.exit(compare(args, screen), |failure| screen.report(failure))
}

fn compare_sides(args: &CompareArgs, screen: &Screen) -> Result<Exit, Failure> {
    let Request { mut sides, probes, judge, times, detail, across, formats } =
        Request::new(args, screen)?;
    if !across {
        sides.refuse_unlike()?;
    }
    let results = measure_sides(&mut sides, &probes, screen)?;
    refuse_unlike(&results, across)?;
    note_uncompared(&results, screen);
    let timed = times.map(|times| (times, results[0].clone()));
    let (comparison, gate) = judge.compare(results)?;
    note_placement(&comparison, &formats, screen);
    let is_broken = comparison.summary.count(Verdict::Broken) > 0;
    let delivered = match (timed, sides.kernels()) {
        (Some((times, base)), _) => times.deliver(&formats, (comparison, &base, &gate), screen),
        (None, Some(kernels)) => {
            let known = (kernels, probes.windows());
            explanation::deliver(detail, &formats, (comparison, &gate), known, screen)
        }
        (None, None) => formats.deliver(&comparison, &gate, screen),
    };
    let exit = judge.exit(&gate, delivered, screen)?;
    Ok(if is_broken && judge.check.is_none() { Exit::Unmeasured } else { exit })
}

/// The results of both sides. All windows are found before the first guest is measured.
fn measure_sides(
    sides: &mut Sides,
    probes: &Probes<'_>,
    screen: &Screen,
) -> Result<[Measurement; 2], Failure> {
    let find = |session: &Session, image: &Image, progress: Report<'_>| {
        probes.find(session, image, progress).map_err(Failure::from)
    };
    sides.find(&find, screen)?;
    let measure = |session: &Session, image: &Image, progress: Report<'_>| {
        probes.measure(session, image, progress).map_err(Failure::from)
    };
    two(sides.results(&measure, screen)?)
}

/// Says so where the results do not tell what the user asked for.
fn note_placement(comparison: &Comparison, formats: &Formats<'_>, screen: &Screen) {
    let is_known = comparison.paths.iter().any(|path| path.moved.is_some());
    if formats.shown.placement == Placement::Shown && !is_known {
        screen.note("--placement: where functions stand was not recorded in these results");
    }
}

/// Numbers that depend on more than the kernel show nothing about the kernel.
fn refuse_unlike([base, new]: &[Measurement; 2], across: bool) -> Result<(), Failure> {
    let differences = differences(base, new);
    if across || differences.is_empty() { Ok(()) } else { Err(Failure::Incomparable(differences)) }
}
