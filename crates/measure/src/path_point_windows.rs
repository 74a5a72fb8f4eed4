//! `--window`: what the kernel executes between two points of its code, in each path in which it
//! comes there.
//!
//! A guest of its own counts each window, so that nothing else is counted differently because of
//! it. A begin counts if it comes in a window of the path after the warm-up; the end may come
//! later, until the path's execution has ended.

use pathmeter_catalogue::{Kind, Path, Suite, WARMUP};
use pathmeter_model::{Check, PathResult, Unit};
use pathmeter_trace::{CountedPath, CountedWindow, LoosePoints, PointWindow};

use crate::failure::Failure;
use crate::image::Image;
use crate::path_rows::{Counted, events_of};
use crate::points;
use crate::selection::NO_PATH;
use crate::session::{Report, Session};

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
) -> Result<(), Failure> {
    if windows.is_empty() {
        return Ok(());
    }
    let kallsyms = session.symbols(image, progress)?;
    let finder = points::finder(image, &kallsyms)?;
    windows.iter().try_for_each(|window| {
        let found = finder.chosen(window).map(drop);
        found.map_err(|error| points::refused(image, window, &error, &finder))
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
) -> Result<Vec<PathResult>, Failure> {
    let kallsyms = session.symbols(image, progress)?;
    let table = points::table_of(image, &kallsyms, window, windows_of_paths())?;
    let (executions, counting) = session.count_window(image, &table, progress)?;
    let counted = Counted::new(&executions, counting);
    if let Some(fault) = counted.fault() {
        let error = std::io::Error::other(format!("{window}: {fault}"));
        return Err(Failure::System { doing: "counting a window", error });
    }
    let (mut rows, loose) = rows(window, &counted);
    let chosen = points::alternatives(window, &points::finder(image, &kallsyms)?);
    for row in &mut rows {
        row.checks.extend(chosen.iter().cloned());
    }
    if loose.misplaced > 0 || rows.is_empty() {
        let why = why_none(loose, counted.any_without_end());
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
fn why_none(loose: LoosePoints, without_end: bool) -> String {
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
    match loose.elsewhere {
        0 => "it began in no path: is that function executed, and called so? `pathmeter explain \
              PATH` shows what a path executes"
            .to_owned(),
        times => format!(
            "it began in no path; {times} times its points came for another reason: from= and \
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
fn rows(window: &PointWindow, counted: &Counted) -> (Vec<PathResult>, LoosePoints) {
    let mut loose = LoosePoints::default();
    let mut rows = Vec::new();
    for (index, path) in Suite::Exact.paths().iter().enumerate() {
        let runs = counted.runs(index);
        for run in &runs {
            loose.add(run.loose);
        }
        rows.extend(row(window, path, &runs, counted));
    }
    (rows, loose)
}

/// None if no window began in the path after the warm-up.
fn row(
    window: &PointWindow,
    path: &Path,
    runs: &[&CountedPath],
    counted: &Counted,
) -> Option<PathResult> {
    let name = format!("{}/{}", path.name, window.name);
    let after_warmup = |window: &&CountedWindow| window.marker > WARMUP;
    let (mut samples, mut events, mut lower_bounds, mut more) = (vec![], vec![], vec![], 0);
    let mut loose = LoosePoints::default();
    for run in runs {
        loose.add(run.loose);
        let windows: Vec<&CountedWindow> = run.windows.iter().filter(after_warmup).collect();
        more += windows.len().saturating_sub(SAMPLES) as u64;
        let mut of_run = Vec::new();
        for window in windows.into_iter().take(SAMPLES) {
            let seen = match counted.events(window) {
                Ok(seen) => seen,
                Err(why) => return Some(PathResult::failed(&name, Unit::Instructions, &why)),
            };
            if !window.ended || seen.idle_unknown {
                lower_bounds.push(u32::try_from(events.len()).unwrap_or(u32::MAX));
            }
            of_run.push(seen.events.retired());
            events.push(seen);
        }
        samples.push(of_run);
    }
    if events.is_empty() {
        return None;
    }
    more += loose.omitted;
    let notes = [
        ("more windows", more),
        ("overlapping", loose.overlapping),
        ("loose ends", loose.ends),
        ("elsewhere", loose.elsewhere),
        ("hidden", loose.hidden),
    ];
    let checks = notes.into_iter().filter(|(_, count)| *count > 0);
    let checks = checks.map(|(name, count)| Check { name: name.into(), value: count.to_string() });
    let result = PathResult::ok(&name, Unit::Instructions, &samples, checks.collect());
    Some(result.with_lower_bounds(lower_bounds).counting(events_of(&events)))
}
