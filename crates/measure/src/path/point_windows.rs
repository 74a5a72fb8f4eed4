//! `--window`: what the kernel executes between two points of its code, in each path in which it
//! comes there.
//!
//! A guest of its own counts each window, so that nothing else is counted differently because of
//! it. A begin counts if it comes in a window of the path after the warm-up; the end may come
//! later, until the path's execution has ended.

use pathmeter_model::{Check, PathResult, Unit};
use pathmeter_probes::{Kind, Path, Suite, WARMUP};
use pathmeter_trace::{CountedPath, CountedWindow, LoosePoints, PointWindow, WindowEvents};

use crate::error::MeasureError;
use crate::path::rows::{Counted, events_of};
use crate::path::selection::NO_PATH;
use crate::session::{Report, Session};
use crate::subject::image::Image;
use crate::subject::points;

/// Windows of each run that are samples: the first ones. The row says how many more there were.
const SAMPLES: usize = 64;

/// That the kernel in `image` has all points of these windows.
///
/// # Errors
/// A point is not in this kernel.
pub(crate) fn find(
    session: &Session,
    image: &Image,
    windows: &[PointWindow],
    progress: Report<'_>,
) -> Result<(), MeasureError> {
    if windows.is_empty() {
        return Ok(());
    }
    let kallsyms = session.symbols(image, progress)?;
    let finder = points::finder(image, &kallsyms)?;
    windows.iter().try_for_each(|window| {
        let found = finder.choose_points(window).map(drop);
        found.map_err(|error| points::window_failure(image, window, &error, &finder))
    })
}

/// A row `PATH/NAME` for each path in which the window began; if it began in none, a row `*/NAME`
/// that says why.
///
/// # Errors
/// A point is not in this kernel.
pub(crate) fn measure(
    session: &Session,
    image: &Image,
    window: &PointWindow,
    progress: Report<'_>,
) -> Result<Vec<PathResult>, MeasureError> {
    let kallsyms = session.symbols(image, progress)?;
    let table = points::table_of(image, &kallsyms, window, windows_of_paths())?;
    let counted = session.count_windows(image, &table, progress)?;
    let guests: Vec<Counted> =
        counted.into_iter().map(|(order, counting)| Counted::new(&order, counting)).collect();
    if let Some(fault) = guests.iter().find_map(Counted::fault) {
        let error = std::io::Error::other(format!("{window}: {fault}"));
        return Err(MeasureError::System { doing: "counting a window", error });
    }
    let (mut rows, loose) = rows(window, &guests);
    let chosen = points::alternatives(window, &points::finder(image, &kallsyms)?);
    for row in &mut rows {
        row.checks.extend(chosen.iter().cloned());
    }
    if loose.misplaced > 0 || rows.is_empty() {
        let all = session.measures_all_groups();
        let why = why_none(loose, guests.iter().any(Counted::any_without_end), all);
        return Ok(vec![PathResult::failed(&in_no_path(window), Unit::Instructions, &why)]);
    }
    Ok(rows)
}

/// The name of the row of a window that began in no path.
pub(crate) fn in_no_path(window: &PointWindow) -> String {
    format!("{NO_PATH}{}", window.name)
}

/// What its rows may be called.
pub(crate) fn row_names(window: &PointWindow) -> impl Iterator<Item = String> {
    let paths = windows_of_paths().filter_map(|index| Suite::Exact.paths().get(index));
    paths.map(|path| format!("{}/{}", path.name, window.name)).chain([in_no_path(window)])
}

/// Why there are no rows, and what to look at.
fn why_none(loose: LoosePoints, without_end: bool, all: bool) -> String {
    if loose.misplaced > 0 {
        return "it has a point in the middle of an instruction, where control never comes: \
                `objdump -d` of the kernel shows where instructions begin"
            .to_owned();
    }
    if without_end {
        return "it began in the warm-up of paths and did not end, so it never began again: does \
                control come to its end?"
            .to_owned();
    }
    let paths = if all { "no path" } else { "none of the paths that --only selects" };
    match loose.elsewhere {
        0 => format!(
            "it began in {paths}: is that function executed, and called so? `pathmeter explain \
             PATH` shows what a path executes"
        ),
        times => format!(
            "it began in {paths}; {times} times its points came for another reason: from= and \
             same-task decide which count"
        ),
    }
}

/// The paths that are executed in windows of their own.
pub(crate) fn windows_of_paths() -> impl Iterator<Item = usize> {
    let paths = Suite::Exact.paths().iter().enumerate();
    paths.filter(|(_, path)| matches!(path.kind, Kind::Windows(_))).map(|(index, _)| index)
}

/// The rows, and what was seen beside the windows in all paths.
fn rows(window: &PointWindow, guests: &[Counted]) -> (Vec<PathResult>, LoosePoints) {
    let paths = || Suite::Exact.paths().iter().enumerate();
    // A path is executed in one guest.
    let each = || paths().flat_map(|it| guests.iter().map(move |counted| (it, counted)));
    let rows = each()
        .filter_map(|((index, path), counted)| row(window, path, &counted.runs(index), counted));
    let loose = each().flat_map(|((index, _), counted)| counted.runs(index)).map(|run| run.loose);
    (rows.collect(), loose.sum())
}

/// None if no window began in the path after the warm-up.
fn row(
    window: &PointWindow,
    path: &Path,
    runs: &[&CountedPath],
    counted: &Counted,
) -> Option<PathResult> {
    let name = format!("{}/{}", path.name, window.name);
    let seen = runs.iter().map(|run| {
        let windows = after_warmup(run).take(SAMPLES);
        windows.map(|it| Ok((counted.events(it)?, it.ended))).collect::<Result<Vec<_>, _>>()
    });
    let seen: Vec<Vec<(&WindowEvents, bool)>> = match seen.collect::<Result<_, String>>() {
        Ok(seen) => seen,
        Err(why) => return Some(PathResult::failed(&name, Unit::Instructions, &why)),
    };
    let events: Vec<&WindowEvents> = seen.iter().flatten().map(|(events, _)| *events).collect();
    if events.is_empty() {
        return None;
    }
    let retired = |run: &Vec<(&WindowEvents, _)>| {
        run.iter().map(|(events, _)| events.events.retired()).collect()
    };
    let samples: Vec<Vec<u64>> = seen.iter().map(retired).collect();
    let open = seen.iter().flatten().zip(0_u32..);
    let open = open.filter(|((events, ended), _)| !ended || events.idle_unknown);
    let open = open.map(|(_, place)| place).collect();
    let result = PathResult::ok(&name, Unit::Instructions, &samples, checks(runs));
    Some(result.with_lower_bounds(open).counting(events_of(&events)))
}

/// The windows of a run that count.
fn after_warmup(run: &CountedPath) -> impl Iterator<Item = &CountedWindow> {
    run.windows.iter().filter(|window| window.marker > WARMUP)
}

/// What else is known of a window, in all runs together.
fn checks(runs: &[&CountedPath]) -> Vec<Check> {
    let loose: LoosePoints = runs.iter().map(|run| run.loose).sum();
    let more = |run: &&CountedPath| after_warmup(run).count().saturating_sub(SAMPLES) as u64;
    let notes = [
        ("more windows", runs.iter().map(more).sum::<u64>() + loose.omitted),
        ("overlapping", loose.overlapping),
        ("loose ends", loose.ends),
        ("elsewhere", loose.elsewhere),
        ("hidden", loose.hidden),
    ];
    let some = notes.into_iter().filter(|(_, count)| *count > 0);
    some.map(|(name, count)| Check::new(name, &count)).collect()
}
