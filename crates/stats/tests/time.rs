//! The functions of [`pathmeter_stats::time`]: known values, and their general properties.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use pathmeter_stats::time::{
    Finite, Interval, Location, Numbers, Quantile, Rules, holm, judge, log_ratio, percent, quantile,
};

/// Hollander & Wolfe's example 3.1 in R's documentation of `wilcox.test`: a depression scale of
/// nine patients at a first and a second visit.
const FIRST: [f64; 9] = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
const SECOND: [f64; 9] = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];

/// Their example 4.1, there too: permeability constants of a membrane at term, and earlier.
const AT_TERM: [f64; 10] = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
const EARLIER: [f64; 5] = [1.15, 0.88, 0.90, 0.74, 1.21];

fn pairs(differences: &[f64]) -> Location {
    Location::of_pairs(&Finite::of(differences)).unwrap()
}

fn sides(base: &[f64], new: &[f64]) -> Location {
    Location::of_sides(&Finite::of(base), &Finite::of(new)).unwrap()
}

#[track_caller]
fn assert_close(value: f64, expected: f64, by: f64) {
    assert!((value - expected).abs() <= by, "{value}, not {expected}");
}

/// What R said: estimate, 95 % interval, p-value.
#[track_caller]
fn assert_is(location: &Location, estimate: f64, [low, high]: [f64; 2], p: f64, by: f64) {
    let interval = location.interval(0.95).unwrap();
    assert_close(location.estimate(), estimate, by);
    assert_close(interval.low, low, by);
    assert_close(interval.high, high, by);
    assert_close(location.p() / p, 1.0, 1e-6);
}

fn visits() -> Vec<f64> {
    FIRST.iter().zip(SECOND).map(|(first, second)| second - first).collect()
}

#[test]
fn pairs_differ_by_as_much_as_r_says() {
    let location = pairs(&visits());
    assert_is(&location, -0.46, [-0.786, -0.010], 0.039_062_5, 1e-12);
    let narrower = location.interval(0.9).unwrap();
    assert_close(narrower.low, -0.726, 1e-12);
    assert_close(narrower.high, -0.175, 1e-12);
}

#[test]
fn sides_differ_by_as_much_as_r_says() {
    let location = sides(&EARLIER, &AT_TERM);
    assert_is(&location, 0.305, [-0.15, 0.76], 0.254_412_254_412, 1e-12);
}

/// Numbers without a pattern: a wave of the squares of 1 to `count`.
fn waves(count: u32, wave: impl Fn(f64) -> f64) -> Vec<f64> {
    (1..=count).map(|at| wave(f64::from(at * at))).collect()
}

#[test]
fn many_replicates_differ_by_as_much_as_r_says() {
    // R 4.2.2: wilcox.test(sin((1:120)^2) + 0.15, conf.int = TRUE), exact = TRUE for the ends
    let location = pairs(&waves(120, |square| square.sin() + 0.15));
    assert_is(&location, 0.151_827_6, [0.025_497, 0.256_018], 0.020_969_503_398_9, 3e-4);
    // The same of cos((1:70)^2) * .9 + 0.3 and sin((1:60)^2)
    let new = waves(70, |square| square.cos() * 0.9 + 0.3);
    let location = sides(&waves(60, f64::sin), &new);
    assert_is(&location, 0.464_848_1, [0.247_407, 0.747_743], 3.333_136_550_99e-5, 3e-4);
}

#[test]
fn many_tied_replicates_differ_as_r_says() {
    let tenths = |count: u32, step: u32, modulus: u32, less: f64| -> Vec<f64> {
        (1..=count).map(|at| (f64::from(at * step % modulus) - less) / 10.0).collect()
    };
    // R 4.2.2: d = (((1:120) * 37) %% 101 - 45) / 10, with the ends that qsignrank cuts at
    let location = pairs(&tenths(120, 37, 101, 45.0));
    assert_is(&location, 0.5, [-0.05, 1.05], 0.064_928_205_423, 1e-9);
    // e = (((1:60) * 53) %% 97) / 10, f = (((1:70) * 29) %% 89 + 3) / 10
    let location = sides(&tenths(60, 53, 97, 0.0), &tenths(70, 29, 89, -3.0));
    assert_is(&location, 0.3, [-0.7, 1.3], 0.537_567_678_161, 1e-9);
}

#[test]
fn ends_are_the_candidates_that_r_cuts_at() {
    // R 4.2.2: qsignrank(c(.025, .005, .0005), 20) is 53 38 22, so that 52, 37 and 21 are cut off.
    let powers: Vec<f64> = (0..20).map(|at| 3.0_f64.powi(at)).collect();
    let mut averages: Vec<f64> = (0..20)
        .flat_map(|one| (one..20).map(move |other| (one, other)))
        .map(|(one, other)| (powers[one] + powers[other]) / 2.0)
        .collect();
    averages.sort_unstable_by(f64::total_cmp);
    for (confidence, rank) in [(0.95, 53), (0.99, 38), (0.999, 22)] {
        let interval = pairs(&powers).interval(confidence).unwrap();
        let ends = Interval { low: averages[rank - 1], high: averages[averages.len() - rank] };
        assert_eq!(interval, ends, "{confidence}");
    }
}

#[test]
fn too_few_replicates_have_no_interval() {
    assert!(pairs(&[1.0, 2.0, 3.0, 4.0, 5.0]).interval(0.95).is_none());
    assert!(pairs(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).interval(0.95).is_some());
    assert!(sides(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).interval(0.95).is_none());
    assert!(sides(&[1.0, 2.0, 3.0, 4.0], &[4.0, 5.0, 6.0, 7.0]).interval(0.95).is_some());
    assert!(Location::of_pairs(&Finite::of(&[])).is_none());
    assert!(Location::of_sides(&Finite::of(&[1.0]), &Finite::of(&[f64::NAN])).is_none());
}

#[test]
fn ties_are_counted() {
    // Of 2^4 choices of the ranks 2.5, 2.5, 2.5, 2.5 five sum up to 2.5 or less.
    assert_close(pairs(&[-1.0, 1.0, -1.0, -1.0]).p(), 2.0 * 5.0 / 16.0, 1e-15);
    // Differences of 0 say nothing.
    assert_close(pairs(&[0.0, -1.0, 1.0, 0.0, -1.0, -1.0]).p(), 2.0 * 5.0 / 16.0, 1e-15);
    assert_close(pairs(&[0.0; 20]).p(), 1.0, 0.0);
    assert_close(pairs(&[0.0; 200]).p(), 1.0, 0.0);
    // Ranks 1.5, 1.5, 3, 4: of six choices of two, one has the least sum.
    assert_close(sides(&[1.0, 1.0], &[2.0, 3.0]).p(), 2.0 / 6.0, 1e-15);
    assert_close(sides(&[7.0; 40], &[7.0; 40]).p(), 1.0, 0.0);
}

#[test]
fn quantiles_are_samples_and_rs_first_definition() {
    // R 4.2.2: quantile(c(15, 20, 35, 40, 50), c(.25, .5, .99), type = 1)
    let of = |of| quantile(&mut [50, 15, 40, 20, 35], of);
    assert_eq!([of(Quantile::P25), of(Quantile::P50)], [Some(20), Some(35)]);
    assert_eq!([of(Quantile::P99), of(Quantile::P999)], [Some(50), Some(50)]);
    assert_eq!(quantile(&mut [], Quantile::P50), None);
    assert_eq!(quantile(&mut [u64::MAX], Quantile::P25), Some(u64::MAX));
    let mut thousands: Vec<u64> = (1..=4000).rev().collect();
    assert_eq!(quantile(&mut thousands, Quantile::P25), Some(1000));
    assert_eq!(quantile(&mut thousands, Quantile::P999), Some(3996));
    assert_eq!(quantile(&mut (1..=4).collect::<Vec<u64>>(), Quantile::P25), Some(1));
    assert_eq!(quantile(&mut (1..=5).collect::<Vec<u64>>(), Quantile::P25), Some(2));
}

#[test]
fn adjusted_p_values_are_those_of_r() {
    let assert_all = |adjusted: Vec<f64>, expected: &[f64]| {
        assert_eq!(adjusted.len(), expected.len());
        adjusted.iter().zip(expected).for_each(|(one, other)| assert_close(*one, *other, 1e-15));
    };
    // R 4.2.2: p.adjust(p, "holm"), and with n = 10
    assert_all(holm(&[0.01, 0.02, 0.03, 0.04, 0.05], 5), &[0.05, 0.08, 0.09, 0.09, 0.09]);
    assert_all(holm(&[0.04, 0.001, 0.01, 0.2, 0.03], 0), &[0.09, 0.005, 0.04, 0.2, 0.09]);
    assert_all(holm(&[0.04, 0.001, 0.01], 10), &[0.32, 0.01, 0.09]);
    assert_all(holm(&[f64::NAN, 0.001], 2), &[1.0, 0.002]);
    assert_all(holm(&[], 9), &[]);
}

#[test]
fn a_seed_has_the_published_numbers() {
    // The first of SplitMix64's with the seed 1234567, in many libraries' tests.
    let mut numbers = Numbers::of(1_234_567);
    assert_eq!(numbers.word(), 6_457_827_717_110_365_317);
    assert_eq!(numbers.word(), 3_203_168_211_198_807_973);
    assert_eq!(numbers.word(), 9_817_491_932_198_370_423);
    assert_eq!(numbers.below(0), 0);
}

#[test]
fn what_is_not_finite_is_left_out_and_counted() {
    let values = [1.0, f64::NAN, f64::INFINITY, -f64::INFINITY, f64::MAX, 3.0];
    let finite = Finite::of(&values);
    assert_eq!((finite.values(), finite.ignored()), (&[1.0, 3.0][..], 4));
    let judgement = judge(&values, &[f64::NAN], &Rules::default());
    assert_eq!((judgement.replicates, judgement.ignored), (2, 5));
    assert_eq!((log_ratio(0, 5), log_ratio(5, 0)), (None, None));
    assert_close(percent(log_ratio(200, 202).unwrap()), 1.0, 1e-12);
}
