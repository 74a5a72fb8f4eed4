//! What a history keeps of times: the level of each path, as a whole number of picoseconds.

use std::collections::HashSet;

use pathmeter_stats::time::{Finite, median};

use crate::{Boots, MAX_SAMPLE, PathTimes, Point, Status, Times, Unit};

/// How many picoseconds a nanosecond has.
const PICOSECONDS: f64 = 1000.0;

impl Boots {
    /// The names of all paths of all sessions, each once.
    pub fn path_names(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let paths = self.boots.iter().flat_map(|times| &times.paths);
        paths.map(|path| path.path.as_str()).filter(|name| seen.insert(*name)).collect()
    }

    /// The level of a path with its interval; of several boots the median of their levels, the
    /// lowest and the highest. None if no session has the path.
    pub fn point(&self, name: &str) -> Option<Point> {
        let found = self.boots.iter().filter_map(|times| Some((times, times.path(name)?)));
        let found: Vec<(&Times, &PathTimes)> = found.collect();
        let statuses: Vec<Status> = found.iter().map(|(_, path)| path.status).collect();
        let best = [Status::Ok, Status::Failed].into_iter().find(|it| statuses.contains(it));
        let levels: Vec<[f64; 3]> = found.iter().filter_map(|(it, path)| level(it, path)).collect();
        let [value, low, high] = match &levels[..] {
            [one] => one.map(Some),
            several => over_boots(several),
        };
        Some(Point {
            status: best.or(statuses.first().copied())?,
            unit: Unit::Ps,
            value: value.map(picoseconds),
            low: low.map(picoseconds),
            high: high.map(picoseconds),
        })
    }
}

/// Nanoseconds of an execution, and where they are.
fn level(times: &Times, path: &PathTimes) -> Option<[f64; 3]> {
    let level = times.level(path, 0).filter(|_| path.status == Status::Ok)?;
    let [low, high] = level.interval.map_or([level.ticks; 2], |it| [it.low, it.high]);
    Some([level.ticks, low, high].map(|ticks| times.nanoseconds(ticks)))
}

fn over_boots(levels: &[[f64; 3]]) -> [Option<f64>; 3] {
    let all: Vec<f64> = levels.iter().map(|[level, ..]| *level).collect();
    let bound = |of: fn(f64, f64) -> f64| all.iter().copied().reduce(of);
    [median(&Finite::of(&all)), bound(f64::min), bound(f64::max)]
}

fn picoseconds(nanoseconds: f64) -> u64 {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a level is not negative, and what is too large is the largest"
    )]
    let whole = (nanoseconds * PICOSECONDS).round() as u64;
    whole.min(MAX_SAMPLE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    fn boots(levels: &[u64]) -> Boots {
        let boot = |ticks: &u64| example::times(&[("a.b", 10, &[50 + 10 * ticks; 5])]);
        Boots { boots: levels.iter().map(boot).collect(), ..Boots::default() }
    }

    #[test]
    fn one_session_has_its_level_in_picoseconds() {
        let session = boots(&[300]);
        let nanoseconds = session.boots[0].nanoseconds(300.0);
        let point = session.point("a.b").unwrap();
        assert_eq!((point.status, point.unit), (Status::Ok, Unit::Ps));
        assert_eq!(point.value, Some(picoseconds(nanoseconds)));
        assert_eq!([point.low, point.high], [point.value; 2]);
        assert_eq!(session.point("a.c"), None);
    }

    #[test]
    fn several_boots_have_their_median_and_their_ends() {
        let point = boots(&[300, 200, 700]).point("a.b").unwrap();
        let of = |ticks: u64| boots(&[ticks]).point("a.b").unwrap().value;
        assert_eq!([point.low, point.value, point.high], [200, 300, 700].map(of));
    }

    #[test]
    fn a_path_that_failed_has_a_status_and_no_level() {
        let mut session = boots(&[300, 400]);
        for times in &mut session.boots {
            times.paths[0].status = Status::Unsupported;
        }
        session.boots[1].paths[0].status = Status::Failed;
        let point = session.point("a.b").unwrap();
        assert_eq!((point.status, point.value), (Status::Failed, None));
        session.boots[0].paths[0].status = Status::Ok;
        assert!(session.point("a.b").unwrap().value.is_some());
        assert_eq!(session.path_names(), ["a.b"]);
    }
}
