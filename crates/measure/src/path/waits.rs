//! The catalogue's waits, which are paths that are measured between two points of the kernel: where
//! these are in one kernel.

use std::collections::HashMap;

use pathmeter_model::SubjectKind;
use pathmeter_probes::{Origin, Suite, WAITS, Wait, WaitPoint};
use pathmeter_trace::{Origins, Place, Point, PointFinder, PointTable, PointWindow};
use pathmeter_vm::{PathOutcome, PathStatus};

use crate::subject::image::Image;

/// The points of one kernel's waits; none by default.
#[derive(Default)]
pub(crate) struct WaitPoints {
    /// As the plugins read them.
    pub(crate) table: PointTable,
    /// Why a path can't be measured, by its index.
    missing: HashMap<usize, String>,
}

/// The points of the kernel in `image`, whose `/proc/kallsyms` has this text.
pub(crate) fn points(image: &Image, kallsyms: &[u8]) -> WaitPoints {
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
    WaitPoints { table, missing }
}

impl WaitPoints {
    /// Why the path with this index has no windows, if so.
    pub(crate) fn why_none(&self, index: usize) -> Option<&str> {
        self.missing.get(&index).map(String::as_str)
    }

    /// The outcome; of a path that only the counter can measure, and that has no points in this
    /// kernel, that it is unsupported.
    pub(crate) fn or_missing(&self, index: usize, outcome: PathOutcome) -> PathOutcome {
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
