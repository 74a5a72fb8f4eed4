//! What instructions and events cost in time on one machine, by the paths measured both ways.
//!
//! The time of a path is fitted as the sum of its instructions, slow instructions, string bytes and
//! lines of data, each by its price, which is 0 or more; every path weighs as much, whatever its
//! length. How far that holds is measured with each path left out in turn. Only *differences* are
//! predicted from prices, within the range that they were fitted on.

use std::collections::{BTreeMap, BTreeSet};

use pathmeter_stats::time::nonnegative_fit;
use pathmeter_trace::{Event, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::times::document::float;
use crate::{Measurement, PathComparison, PathResult, Status, Times, Unit};

/// The name of the price of any instruction.
const INSTRUCTIONS: &str = "instructions";
/// The fewest paths that prices are fitted on.
const FEWEST: usize = 12;
/// The most: each is left out once, so the work grows with the square of their number.
const MOST: usize = 300;
/// The fewest paths that must have an event for it to have a price.
const FEWEST_OF_EVENT: usize = 4;
/// A median error beyond which nothing is predicted.
const WORST: f64 = 0.25;
/// Of the paths left out in turn, so many in a hundred lie within the spread.
const COVERED: usize = 90;

/// The price of each thing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prices {
    /// By name: `instructions`, and events.
    pub prices: BTreeMap<String, Price>,
    /// How many paths they were fitted on.
    pub paths: usize,
    /// The median, over the paths left out in turn, of the error without its sign: 0.1 is 10 %.
    pub error: f64,
    /// 90 % of the paths left out in turn were within a factor of 1 + this.
    pub spread: f64,
}

/// The price of one thing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Price {
    /// Nanoseconds of one more.
    pub nanoseconds: f64,
    /// The most that any of the paths had.
    pub most: u64,
    /// How many of them had any.
    pub paths: usize,
}

/// By how much a path's time should differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prediction {
    /// Nanoseconds more; negative if fewer.
    pub nanoseconds: f64,
    /// Where they are, if the path is as well described as 90 % of those fitted.
    pub interval: [f64; 2],
}

/// A path that was measured both ways.
struct Point {
    features: BTreeMap<String, u64>,
    nanoseconds: f64,
}

impl Prices {
    /// Fits the prices of instructions and events to the times of the paths that have both.
    ///
    /// # Errors
    /// The reason, if too few paths were measured both ways.
    pub fn fit_to_times(result: &Measurement, times: &Times) -> Result<Self, String> {
        let points: Vec<Point> =
            result.paths.iter().filter_map(|path| Point::of(path, times)).collect();
        Self::of(&points)
    }

    fn of(points: &[Point]) -> Result<Self, String> {
        if points.len() > MOST {
            return Err(format!("more than {MOST} paths were measured both ways"));
        }
        if points.len() < FEWEST {
            let have = points.len();
            return Err(format!("{have} paths were measured both ways, and {FEWEST} are needed"));
        }
        let sets = name_sets(points).into_iter().map(|names| (errors(points, &names), names));
        let middle = |errors: &[f64]| quantile(errors, 50);
        let best = sets.min_by(|(one, _), (other, _)| middle(one).total_cmp(&middle(other)));
        let (errors, names) = best.unwrap_or_default();
        let all = fit_prices(points, &names, None);
        let [error, spread] = [50, COVERED].map(|percent| quantile(&errors, percent).exp_m1());
        if !spread.is_finite() {
            return Err("many paths have nothing that has a price".to_owned());
        }
        Ok(Self {
            paths: points.len(),
            error,
            spread,
            prices: names
                .iter()
                .zip(all)
                .map(|(name, nanoseconds)| (name.clone(), price(name, nanoseconds, points)))
                .collect(),
        })
    }

    /// Why nothing is predicted by them; None if they describe the paths well enough.
    pub(crate) fn badly(&self) -> Option<String> {
        let error = 100.0 * self.error;
        let why = "nothing is predicted: no prices of instructions and events describe";
        (self.error > WORST).then(|| {
            format!("{why} the {} paths of base; the median error is {error:.0} %", self.paths)
        })
    }

    /// Predicts how much longer a path takes. None if nothing differs that has a price.
    ///
    /// # Errors
    /// The reason, if the difference is beyond what they were fitted on.
    pub fn predict(&self, path: &PathComparison) -> Option<Result<Prediction, String>> {
        let differences = differences(path);
        (!differences.is_empty()).then(|| self.price(&differences))
    }

    fn price(&self, differences: &BTreeMap<&str, i64>) -> Result<Prediction, String> {
        let factor = 1.0 + self.spread;
        // Each thing has a range of its own, so that what cancels out is not certain.
        let (mut nanoseconds, mut low, mut high) = (0.0, 0.0, 0.0);
        for (name, difference) in differences {
            let Some(price) = self.prices.get(*name) else {
                return Err(format!("no price of {name}: too few paths have any"));
            };
            if difference.unsigned_abs() > price.most {
                return Err(format!("more {name} than any of the {} paths has", self.paths));
            }
            let one: f64 = signed(*difference) * price.nanoseconds;
            nanoseconds += one;
            low += (one / factor).min(one * factor);
            high += (one / factor).max(one * factor);
        }
        Ok(Prediction { nanoseconds, interval: [low, high] })
    }
}

impl Point {
    /// None if a side lacks the path, if the CPU waits in it, whose time is no work's, or if it
    /// does not enter the kernel, or is not resolved: a few instructions overlap with those around
    /// them.
    fn of(path: &PathResult, times: &Times) -> Option<Self> {
        let timed = times.path(&path.path).filter(|it| it.status == Status::Ok)?;
        let measured = path.status == Status::Ok && path.unit == Unit::Instructions;
        let events = path.events.as_ref().filter(|_| measured && timed.repeats == 1)?;
        let enters = events.value(Event::Kernel) > 0 && events.value(Event::Idle) == 0;
        let level = times.level(timed, 0).filter(|level| level.is_resolved)?;
        let nanoseconds = times.nanoseconds(level.ticks);
        let priced = Event::all().filter(|event| has_price(*event));
        let mut features: BTreeMap<String, u64> =
            priced.map(|event| (event.word().to_owned(), events.value(event))).collect();
        features.retain(|_, count| *count > 0);
        features.insert(INSTRUCTIONS.to_owned(), path.value()?);
        (enters && nanoseconds > 0.0).then_some(Self { features, nanoseconds })
    }
}

/// Whether an event costs something that the instructions don't tell.
fn has_price(event: Event) -> bool {
    let by_role = event.role() == Role::Cost || event == Event::DataLines;
    let is_odd = matches!(event, Event::Idle | Event::Halts | Event::SplitAccesses);
    by_role && !is_odd && !event.is_of_programs()
}

/// What prices are tried of, each set with the one before it: instructions, memory, and slow
/// instructions, as far as enough of the paths have any.
fn name_sets(points: &[Point]) -> [Vec<String>; 3] {
    let all: BTreeSet<&String> = points.iter().flat_map(|point| point.features.keys()).collect();
    let have = |name: &str| points.iter().filter(|it| it.features.contains_key(name)).count();
    let enough: Vec<&String> =
        all.into_iter().filter(|name| have(name) >= FEWEST_OF_EVENT).collect();
    let memory = [Event::StringBytes.word(), Event::DataLines.word()];
    let sum_where = |holds: &dyn Fn(&str) -> bool| {
        enough.iter().filter(|name| holds(name)).map(|name| (*name).clone()).collect()
    };
    [
        sum_where(&|name| name == INSTRUCTIONS),
        sum_where(&|name| name == INSTRUCTIONS || memory.contains(&name)),
        sum_where(&|_| true),
    ]
}

/// By how much each point, left out, is missed: the logarithm of the factor, ascending.
fn errors(points: &[Point], names: &[String]) -> Vec<f64> {
    let error = |left_out: usize| {
        let prices = fit_prices(points, names, Some(left_out));
        let predicted = total(&points[left_out].features, names, &prices);
        (predicted / points[left_out].nanoseconds).ln().abs()
    };
    let mut errors: Vec<f64> = (0..points.len()).map(error).collect();
    errors.sort_unstable_by(f64::total_cmp);
    errors
}

/// Fits the prices to all points but `without`. Each point's features are shares of its time,
/// which is 1.
fn fit_prices(points: &[Point], names: &[String], without: Option<usize>) -> Vec<f64> {
    let used = points.iter().enumerate().filter(|(at, _)| Some(*at) != without);
    let share =
        |point: &Point, name: &String| of(&point.features, name).unwrap_or(0.0) / point.nanoseconds;
    let row = |point: &Point| names.iter().map(|name| share(point, name)).collect();
    let rows: Vec<Vec<f64>> = used.map(|(_, point)| row(point)).collect();
    nonnegative_fit(&rows, &vec![1.0; rows.len()])
}

/// Of ascending values the one that so many percent do not exceed.
fn quantile(values: &[f64], percent: usize) -> f64 {
    values[(values.len() * percent).div_ceil(100).saturating_sub(1)]
}

fn total(features: &BTreeMap<String, u64>, names: &[String], prices: &[f64]) -> f64 {
    names.iter().zip(prices).filter_map(|(name, price)| Some(of(features, name)? * price)).sum()
}

fn of(features: &BTreeMap<String, u64>, name: &str) -> Option<f64> {
    features.get(name).map(|count| float(*count))
}

fn price(name: &str, nanoseconds: f64, points: &[Point]) -> Price {
    let counts = || points.iter().filter_map(|point| point.features.get(name));
    Price { nanoseconds, most: counts().copied().max().unwrap_or(0), paths: counts().count() }
}

/// The differences of a path that have prices.
fn differences(path: &PathComparison) -> BTreeMap<&str, i64> {
    let priced = |event: &str| Event::from_name(event).is_some_and(has_price);
    let events = path.events.iter().filter(|event| priced(&event.event));
    let mut all: BTreeMap<&str, i64> =
        events.map(|event| (&*event.event, event.difference)).collect();
    if let Some(difference) = path.difference.filter(|difference| *difference != 0) {
        all.insert(INSTRUCTIONS, difference);
    }
    all
}

#[allow(clippy::cast_precision_loss, reason = "a difference of a path's counts")]
fn signed(count: i64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Paths of so many instructions and string bytes that take `nanoseconds`.
    fn points(nanoseconds: impl Fn(u64, u64) -> f64) -> Vec<Point> {
        (1..20)
            .map(|at| {
                let (instructions, bytes) = (at * at * 37 % 900 + 200, at * 53 % 400 + 1);
                let named_count = |name: &str, count| (name.to_owned(), count);
                let features =
                    [named_count(INSTRUCTIONS, instructions), named_count("string-bytes", bytes)];
                Point { features: features.into(), nanoseconds: nanoseconds(instructions, bytes) }
            })
            .collect()
    }

    fn prices(points: &[Point]) -> Prices {
        Prices::of(points).unwrap()
    }

    #[test]
    fn prices_that_hold_predict_a_difference() {
        let prices =
            prices(&points(|instructions, bytes| 0.5 * float(instructions) + 2.0 * float(bytes)));
        assert!(prices.error < 1e-6 && prices.spread < 1e-6, "{prices:?}");
        let prediction = prices.price(&[(INSTRUCTIONS, -40), ("string-bytes", 3)].into()).unwrap();
        assert!((prediction.nanoseconds + 14.0).abs() < 1e-3, "{prediction:?}");
    }

    #[test]
    fn beyond_what_was_fitted_nothing_is_predicted() {
        let prices = prices(&points(|instructions, _| float(instructions)));
        let error = prices.price(&[(INSTRUCTIONS, 1_000_000)].into()).unwrap_err();
        assert!(error.contains("more instructions than any"), "{error}");
    }

    #[test]
    fn prices_that_describe_a_machine_badly_predict_nothing() {
        let prices = prices(&points(|instructions, bytes| float(1 + instructions * bytes % 97)));
        assert!(prices.badly().is_some(), "{prices:?}");
    }

    #[test]
    fn what_cancels_out_has_a_range_all_the_same() {
        let noisy = |instructions: u64, bytes: u64| {
            float(instructions + bytes) * if instructions.is_multiple_of(2) { 1.0 } else { 1.1 }
        };
        let prices = prices(&points(noisy));
        let difference = [(INSTRUCTIONS, -40), ("string-bytes", 40)].into();
        let [low, high] = prices.price(&difference).unwrap().interval;
        assert!(prices.spread > 0.0 && low < -1.0 && high > 1.0, "{low} {high} {prices:?}");
    }

    #[test]
    fn few_paths_have_no_prices() {
        let few = &points(|instructions, _| float(instructions))[..FEWEST - 1];
        assert!(Prices::of(few).is_err());
    }
}
