//! `pathmeter.joined-comparison/1`: exact counts and times of the same two sides, path by path, and
//! what both together mean.
//!
//! A count is exact, but it is not a time. A time belongs to one machine, and may differ for
//! reasons that no count shows. Together they confirm or contradict each other.

use pathmeter_seal::schema_name;
use pathmeter_trace::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Comparison, EventComparison, Measurement, PathComparison, Prediction, Prices, TimeComparison,
    TimeRow, TimeVerdict, Times, Verdict,
};

schema_name!(pub JoinedSchema = "pathmeter.joined-comparison/1");

/// Counts and times of two sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Joined {
    pub schema: JoinedSchema,
    pub exact: Comparison,
    pub times: TimeComparison,
    /// One entry for each path that both have: contradictions first, then by meaning, the largest
    /// difference in time first.
    pub paths: Vec<JoinedRow>,
    /// What things cost on this machine, by which differences are predicted; null if too few
    /// paths of base were measured both ways.
    pub prices: Option<Prices>,
    /// Notes that a reader needs.
    pub notes: Vec<String>,
}

/// What count and time mean together.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Meaning {
    /// More is executed in less time, or less in more.
    Contradiction,
    /// As much is executed, in another time: placement or the cache.
    Placement,
    /// More takes longer, or less takes less long.
    Confirmed,
    /// More or less is executed in as much time: the processor's width hides it.
    Hidden,
    /// Neither count nor time shows anything.
    Same,
    /// One of the two has no verdict.
    Open,
}

impl Meaning {
    /// All, in the order in which they are shown.
    pub const ALL: [Self; 6] = [
        Self::Contradiction,
        Self::Placement,
        Self::Confirmed,
        Self::Hidden,
        Self::Same,
        Self::Open,
    ];

    pub fn words(self) -> &'static str {
        match self {
            Self::Contradiction => "contradiction",
            Self::Placement => "placement or cache",
            Self::Confirmed => "confirmed",
            Self::Hidden => "hidden by width",
            Self::Same => "same",
            Self::Open => "open",
        }
    }

    fn of(count: Option<Direction>, time: TimeVerdict) -> Self {
        use Direction::{Less, More, None as Nothing};
        match (count, time) {
            (None, _) | (_, TimeVerdict::Undecidable | TimeVerdict::Unmeasured) => Self::Open,
            (Some(Nothing), TimeVerdict::Equal) => Self::Same,
            (Some(Nothing), _) => Self::Placement,
            (Some(_), TimeVerdict::Equal) => Self::Hidden,
            (Some(More), TimeVerdict::Slower) | (Some(Less), TimeVerdict::Faster) => {
                Self::Confirmed
            }
            (Some(_), _) => Self::Contradiction,
        }
    }
}

/// A path that has both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JoinedRow {
    pub path: String,
    pub meaning: Meaning,
    /// The verdict on the counts.
    pub exact: Verdict,
    /// New's instructions less base's.
    pub instructions: Option<i64>,
    /// The other events that differ and are worth showing: those that cost, and where only the
    /// time differs those of placement too.
    pub events: Vec<EventComparison>,
    /// The verdict on the times.
    pub time: TimeVerdict,
    /// New's nanoseconds less base's; null without times.
    pub nanoseconds: Option<f64>,
    /// Where they are, with a confidence of 95 % for this path alone.
    pub interval: Option<[f64; 2]>,
    /// The predicted difference in time; null without prices, or beyond their range.
    pub predicted: Option<Prediction>,
    /// Why it is not predicted.
    pub unpredicted: Option<String>,
}

/// Which side has more of what costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    More,
    Less,
    None,
}

impl Direction {
    /// None if the counts have no verdict, or what differs does not point in one direction.
    fn of(path: &PathComparison) -> Option<Self> {
        match path.verdict {
            // A mode may appear on either side of what base shows.
            Verdict::ModeAppeared if path.difference.is_some_and(|it| it < 0) => Some(Self::Less),
            Verdict::Higher | Verdict::ModeAppeared | Verdict::LongerTail => Some(Self::More),
            Verdict::Lower | Verdict::ShorterTail => Some(Self::Less),
            Verdict::Same => Some(Self::None),
            Verdict::EventsDiffer => {
                let counted = path.events.iter().filter(|event| event.counts());
                let mut signs: Vec<bool> = counted.map(|event| event.difference > 0).collect();
                signs.dedup();
                match signs[..] {
                    [more] => Some(if more { Self::More } else { Self::Less }),
                    _ => None,
                }
            }
            Verdict::Unsupported | Verdict::Broken => None,
        }
    }
}

impl Joined {
    /// Joins the two; prices are fitted on base's count and times.
    pub fn new(
        exact: Comparison,
        times: TimeComparison,
        (result, of_base): (&Measurement, &Times),
    ) -> Self {
        let mut notes = Vec::new();
        let prices = Prices::fit_to_times(result, of_base);
        let prices = prices.map_err(|why| notes.push(format!("nothing is predicted: {why}"))).ok();
        notes.extend(prices.as_ref().and_then(Prices::badly));
        let usable = prices.as_ref().filter(|prices| prices.badly().is_none());
        let row = |path: &PathComparison| {
            let timed = times.paths.iter().find(|timed| timed.path == path.path)?;
            Some(JoinedRow::new(path, timed, usable, waits(result, &path.path)))
        };
        let mut paths: Vec<JoinedRow> = exact.paths.iter().filter_map(row).collect();
        let size = |row: &JoinedRow| row.nanoseconds.map_or(0.0, f64::abs);
        paths.sort_by(|a, b| a.meaning.cmp(&b.meaning).then_with(|| size(b).total_cmp(&size(a))));
        notes.extend(untimed(&exact, &times));
        notes.extend(other_kernel(&exact, &times));
        Self { schema: JoinedSchema::V1, exact, times, paths, prices, notes }
    }

    /// Of how many predicted differences the measured one lies in the predicted range.
    pub fn predicted_well(&self) -> [usize; 2] {
        let both = |row: &JoinedRow| Some((row.nanoseconds?, row.predicted.as_ref()?.interval));
        let all: Vec<(f64, [f64; 2])> = self.paths.iter().filter_map(both).collect();
        let lies = |(measured, [low, high]): &&(f64, [f64; 2])| low <= measured && measured <= high;
        [all.iter().filter(lies).count(), all.len()]
    }

    /// How many paths have this meaning.
    pub fn count(&self, meaning: Meaning) -> usize {
        self.paths.iter().filter(|row| row.meaning == meaning).count()
    }
}

/// Whether the CPU waits in this path of base.
fn waits(result: &Measurement, path: &str) -> bool {
    let events = result.paths.iter().find(|it| it.path == path).and_then(|it| it.events.as_ref());
    events.is_some_and(|events| events.value(Event::Idle) > 0)
}

/// The counted paths that have no times.
fn untimed(exact: &Comparison, times: &TimeComparison) -> Option<String> {
    let timed = |path: &str| times.paths.iter().any(|timed| timed.path == path);
    let left: Vec<&str> =
        exact.paths.iter().map(|path| &*path.path).filter(|path| !timed(path)).collect();
    (!left.is_empty()).then(|| format!("counted, and without times: {}", left.join(", ")))
}

/// That a side was counted with another kernel than it was timed with, by their releases.
fn other_kernel(exact: &Comparison, times: &TimeComparison) -> Vec<String> {
    let sides = [("base", &exact.base, &times.base), ("new", &exact.new, &times.new)];
    let differing = sides.into_iter().filter_map(|(side, exact, times)| {
        let (counted, timed) = (exact.release.as_ref()?, &times.host.release);
        (counted != timed).then(|| {
            format!("{side} was counted with Linux {counted} and timed with Linux {timed}")
        })
    });
    differing.collect()
}

impl JoinedRow {
    fn new(path: &PathComparison, timed: &TimeRow, prices: Option<&Prices>, waits: bool) -> Self {
        let meaning = Meaning::of(Direction::of(path), timed.verdict);
        let nanoseconds = |share: f64| Some(timed.base? * share / 100.0);
        let told = |event: &&EventComparison| event.is_shown() || meaning == Meaning::Placement;
        let predicted = match prices {
            Some(_) if waits => Some(Err("the CPU waits in it".to_owned())),
            Some(prices) => prices.predict(path),
            None => None,
        };
        let (predicted, unpredicted) = match predicted {
            Some(Ok(predicted)) => (Some(predicted), None),
            Some(Err(why)) => (None, Some(why)),
            None => (None, None),
        };
        Self {
            path: path.path.clone(),
            meaning,
            exact: path.verdict,
            instructions: path.difference,
            events: path.events.iter().filter(told).cloned().collect(),
            time: timed.verdict,
            nanoseconds: timed.difference.and_then(nanoseconds),
            interval: timed
                .interval
                .and_then(|[low, high]| Some([nanoseconds(low)?, nanoseconds(high)?])),
            predicted,
            unpredicted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_windows_that_changed_points_to_where_it_went() {
        let result = |values: &[u64]| {
            let path = crate::example::path("a.b", values);
            let configuration = crate::example::configuration("6.1", 1);
            crate::example::measurement("vmlinuz", configuration, vec![path])
        };
        let part = [
            (9000, Verdict::ModeAppeared, Direction::More),
            (300, Verdict::Lower, Direction::Less),
        ];
        for (other, verdict, direction) in part {
            let sides = [result(&[3000; 6]), result(&[3000, 3000, 3000, other, other, other])];
            let compared = crate::compare(&sides[0], &sides[1], crate::Threshold::default());
            assert_eq!(compared.paths[0].verdict, verdict, "{compared:?}");
            assert_eq!(Direction::of(&compared.paths[0]), Some(direction));
        }
    }

    #[test]
    fn count_and_time_confirm_hide_or_contradict_each_other() {
        use Direction::{Less, More, None as Nothing};
        use TimeVerdict::{Equal, Faster, Slower, Undecidable};
        let expected = [
            (Some(More), Slower, Meaning::Confirmed),
            (Some(Less), Faster, Meaning::Confirmed),
            (Some(More), Equal, Meaning::Hidden),
            (Some(Nothing), Equal, Meaning::Same),
            (Some(Nothing), Slower, Meaning::Placement),
            (Some(More), Faster, Meaning::Contradiction),
            (Some(Less), Slower, Meaning::Contradiction),
            (Some(More), Undecidable, Meaning::Open),
            (None, Slower, Meaning::Open),
        ];
        for (count, time, meaning) in expected {
            assert_eq!(Meaning::of(count, time), meaning, "{count:?} {time:?}");
        }
    }
}
