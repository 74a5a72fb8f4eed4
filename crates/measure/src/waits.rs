//! Paths that are measured between two points of the kernel: where these are in one kernel.

use std::collections::HashMap;
use std::fmt::Display;

use pathmeter_catalogue::{Origin, Suite, WAITS, Wait, WaitPoint};
use pathmeter_debuginfo::DebugInfo;
use pathmeter_model::{Check, SubjectKind};
use pathmeter_trace::{Origins, Place, Point, PointFinder, PointTable, PointWindow, PointsError};
use pathmeter_vm::{PathOutcome, PathStatus};

use crate::failure::Failure;
use crate::image::Image;
use crate::meant::close_to;

/// The points of one kernel's waits.
pub struct Points {
    /// As the plugins read them.
    pub table: PointTable,
    /// Why a path can't be measured, by its index.
    missing: HashMap<usize, String>,
}

/// The points of the kernel in `image`, whose `/proc/kallsyms` has this text.
pub fn points(image: &Image, kallsyms: &[u8]) -> Points {
    let mut missing = HashMap::new();
    let mut table = PointTable::default();
    let finder = PointFinder::new(kallsyms);
    if let Ok(finder) = &finder {
        table = finder.table();
    }
    for wait in WAITS {
        let Some((index, _)) = Suite::Exact.find(wait.path) else { continue };
        let added = match &finder {
            Ok(finder) => finder.add_any(&mut table, &window(wait, image), [index]),
            Err(error) => Err(error.clone()),
        };
        if let Err(error) = added {
            missing.insert(index, error.to_string());
        }
    }
    Points { table, missing }
}

/// A table with this window alone, for the paths with these indices of the kernel in `image`, whose
/// `/proc/kallsyms` has this text.
///
/// # Errors
/// A point of it is not in the kernel.
pub fn table_of(
    image: &Image,
    kallsyms: &[u8],
    window: &PointWindow,
    paths: impl Iterator<Item = usize>,
) -> Result<PointTable, Failure> {
    let finder = finder(image, kallsyms)?;
    let mut table = finder.table();
    match finder.add(&mut table, window, paths) {
        Ok(()) => Ok(table),
        Err(error) => Err(refused(image, window, &error, &finder)),
    }
}

/// Which points a window has in this kernel, where the user named several.
pub fn alternatives(window: &PointWindow, finder: &PointFinder<'_>) -> Vec<Check> {
    let Ok(chosen) = finder.chosen(window) else { return Vec::new() };
    let ends = [("begins at", &window.from, chosen.from), ("ends at", &window.to, chosen.to)];
    let several = ends.into_iter().filter(|(_, asked, _)| asked.len() > 1);
    let check =
        |(name, point): (&str, Point)| Check { name: name.into(), value: point.to_string() };
    several
        .flat_map(|(name, _, chosen)| chosen.into_iter().map(move |it| check((name, it))))
        .collect()
}

/// What finds the points of the kernel in `image`, whose `/proc/kallsyms` has this text.
///
/// # Errors
/// The text names no functions.
pub fn finder<'a>(image: &Image, kallsyms: &'a [u8]) -> Result<PointFinder<'a>, Failure> {
    PointFinder::new(kallsyms).map_err(|error| Failure::Usage {
        message: format!("{}: {error}", image.name().display()),
        help: WHERE.to_owned(),
    })
}

/// Why a window can't be looked for in the kernel in `image`.
pub fn refused(
    image: &Image,
    window: &dyn Display,
    error: &PointsError,
    finder: &PointFinder<'_>,
) -> Failure {
    Failure::Usage {
        message: format!("{}: --window {window}: {error}", image.name().display()),
        help: proposed(error, finder),
    }
}

/// Where a kernel's functions are listed.
const WHERE: &str =
    "`pathmeter list functions KERNEL` lists its functions, but for those of modules";

/// What to try instead of the point that the kernel does not have.
fn proposed(error: &PointsError, finder: &PointFinder<'_>) -> String {
    let PointsError::Missing { functions: missing } = error else { return WHERE.to_owned() };
    let missing: Vec<&str> = missing.iter().map(String::as_str).collect();
    close_functions(&missing, finder, false)
}

/// The functions most like those that the kernel does not have; and what may have become of them,
/// unless that was `looked_up` in debug information.
pub fn close_functions(missing: &[&str], finder: &PointFinder<'_>, looked_up: bool) -> String {
    let functions: Vec<&str> = finder.functions().collect();
    let close: Vec<&str> = missing.iter().flat_map(|name| close_to(name, &functions)).collect();
    let meant = match &close[..] {
        [] => String::new(),
        close => format!("did you mean {}? ", close.join(", ")),
    };
    let inlined = match (missing.first(), looked_up) {
        (Some(name), false) => format!(
            "if the compiler inlined it, `pathmeter list functions KERNEL {name} --vmlinux FILE` \
             names the functions that hold it; "
        ),
        _ => String::new(),
    };
    format!(
        "{meant}{inlined}`pathmeter list functions KERNEL` lists all; those of modules are not \
         among them"
    )
}

/// Which functions hold the one with this name, if it was inlined and `debug` knows.
pub fn holders(name: &str, debug: Option<&DebugInfo>) -> Option<String> {
    let holders = debug?.holders(name);
    let shown = holders.iter().take(MOST_HOLDERS).map(String::as_str).collect::<Vec<_>>();
    let more = holders.len() - shown.len();
    match more {
        _ if holders.is_empty() => None,
        0 => Some(format!("the compiler inlined it into {}", shown.join(", "))),
        more => Some(format!("the compiler inlined it into {} and {more} more", shown.join(", "))),
    }
}

/// Functions that hold an inlined one, as many as an error names.
const MOST_HOLDERS: usize = 12;

impl Points {
    /// Why the path with this index has no windows, if so.
    pub fn why_none(&self, index: usize) -> Option<&str> {
        self.missing.get(&index).map(String::as_str)
    }

    /// The outcome; of a path that only the counter can measure, and that has no points in this
    /// kernel, that it is unsupported.
    pub fn or_missing(&self, index: usize, outcome: PathOutcome) -> PathOutcome {
        let sampled = outcome.runs.iter().any(|run| !run.is_empty());
        match (&outcome.status, self.missing.get(&index)) {
            (PathStatus::Ok, Some(why)) if !sampled => {
                PathOutcome { status: PathStatus::Unsupported(why.clone()), ..outcome }
            }
            _ => outcome,
        }
    }
}

/// The lab kernel stamps its softirqs' waits itself: they are recorded from stamp to stamp, so that
/// they agree with its samples.
fn window(wait: &Wait, image: &Image) -> PointWindow {
    let stamps = image.subject().kind == SubjectKind::Lab && wait.path.starts_with("softirq.");
    let origin = |origin: &Origin| match origin {
        Origin::Program => Origins::PROGRAM,
        Origin::Call => Origins::CALL,
        Origin::Kernel => Origins::KERNEL,
        Origin::Idle => Origins::IDLE,
    };
    PointWindow {
        name: wait.path.to_owned(),
        origins: wait.origins.iter().map(origin).fold(Origins::default(), Origins::or),
        same_task: false,
        latest: wait.latest,
        stamped: stamps,
        nth: 0,
        from: points_of(wait.from),
        to: match wait.to {
            [] => vec![Point { place: Place::Program, callers: Vec::new() }],
            to => points_of(to),
        },
    }
}

fn points_of(points: &[WaitPoint]) -> Vec<Point> {
    let point = |point: &WaitPoint| {
        let callers: Vec<String> = point.callers.iter().map(|name| (*name).to_owned()).collect();
        point.functions.iter().map(move |name| Point {
            place: Place::Function((*name).to_owned(), 0),
            callers: callers.clone(),
        })
    };
    points.iter().flat_map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &[u8] = b"ffffffff81000000 T ksys_read\nffffffff81000100 T ksys_write\n";

    #[test]
    fn a_function_that_a_kernel_lacks_is_answered_with_close_ones() {
        let finder = PointFinder::new(KERNEL).unwrap();
        let missing = |name: &str| PointsError::Missing { functions: vec![name.to_owned()] };
        let help = proposed(&missing("ksys_raed"), &finder);
        assert!(help.starts_with("did you mean ksys_read, ksys_write? if the"), "{help}");
        assert!(
            help.contains("`pathmeter list functions KERNEL ksys_raed --vmlinux FILE`"),
            "{help}"
        );
        assert!(proposed(&missing("zzz"), &finder).starts_with("if the compiler inlined it"));
        assert_eq!(proposed(&PointsError::NotKernel(0x12), &finder), WHERE);
    }
}
