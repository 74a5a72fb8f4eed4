//! The functions of [`pathmeter_stats::time`]: known values, and their general properties.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![allow(clippy::cast_precision_loss, reason = "samples are small")]

use std::time::{Duration, Instant};

use pathmeter_stats::time::{
    CONFIDENCE, Cause, Finite, Interval, Judgement, Location, Numbers, PathLevels, PathPairs,
    Quantile, Rules, Verdict, bootstrap, hodges_lehmann, holm, judge_family, judge_unpaired_family,
    level, log_ratio, median, percent, quantile,
};
use proptest::prelude::*;

/// The first example of R's `wilcox.test` (Hollander & Wolfe, 1973, 29f.): a depression scale of
/// nine patients at a first and a second visit.
const FIRST: [f64; 9] = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
#[allow(clippy::approx_constant, reason = "a measurement, not pi")]
const SECOND: [f64; 9] = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];

/// The second (69f.): permeability constants of a membrane at term, and earlier.
const AT_TERM: [f64; 10] = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
const EARLIER: [f64; 5] = [1.15, 0.88, 0.90, 0.74, 1.21];

fn pairs(differences: &[f64]) -> Location {
    Location::of_pairs(&Finite::of(differences)).unwrap()
}

fn sides(base: &[f64], new: &[f64]) -> Location {
    Location::of_sides(&Finite::of(base), &Finite::of(new)).unwrap()
}

/// One path of a family of `rules.family`.
fn judge(pairs: &[f64], null: &[f64], rules: &Rules) -> Judgement {
    judge_family(&[PathPairs { pairs, null }], rules)[0]
}

/// Sides without pairs, of which `copy` is base again, in a family of `rules.family`.
fn judge_unpaired(base: &[f64], new: &[f64], copy: &[f64], rules: &Rules) -> Judgement {
    judge_unpaired_family(&[PathLevels { base, new, null: [base, copy] }], rules)[0]
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
    let both = (0..20).flat_map(|one| (one..20).map(move |other| (one, other)));
    let mut averages: Vec<f64> =
        both.map(|(one, other)| powers[one].midpoint(powers[other])).collect();
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
    for time in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!((log_ratio(time, 5.0), log_ratio(5.0, time)), (None, None));
    }
    assert_close(percent(log_ratio(200.0, 202.0).unwrap()), 1.0, 1e-12);
}

#[test]
fn a_level_is_finer_than_the_clock() {
    assert_eq!(level(&mut [], 26), None);
    assert_eq!(level(&mut [700; 60], 26), Some(700.0));
    // Of 15 samples below the level 10 are below what 126 stands for.
    let mut even: Vec<u64> = [100, 126, 152, 178].repeat(10);
    even.extend([126; 20]);
    assert_eq!(level(&mut even, 26), Some(126.0 + 26.0 * (5.0 / 30.0 - 0.5)));
    assert_eq!(level(&mut even, 0), Some(126.0));
    let mut far: Vec<u64> = [vec![100; 20], vec![900_000; 40]].concat();
    assert_eq!(level(&mut far, 4), Some(100.0 + 4.0 * (15.0 / 20.0 - 0.5)));
}

/// So many pairs with this difference, more or less.
fn about(centre: f64, spread: f64, count: u32) -> Vec<f64> {
    let at = |pair: u32| f64::from(pair * 7 % count) / f64::from(count - 1) - 0.5;
    (0..count).map(|pair| centre + spread * at(pair)).collect()
}

const RULES: Rules = Rules { margin: 0.02, alpha: 0.001, family: 1 };

fn verdict(pairs: &[f64], null: &[f64]) -> (Verdict, Option<usize>) {
    let judgement = judge(pairs, null, &RULES);
    (judgement.verdict, judgement.more)
}

use Cause::{IntervalWide, NullShifted, NullWide, TooFew};
use Verdict::{Equal, Faster, Slower, Undecidable};

#[test]
fn each_rule_decides_where_it_is_the_first() {
    let flat = about(0.0, 0.002, 20);
    let of = |centre, spread| about(centre, spread, 20);
    assert_eq!(verdict(&of(0.005, 0.004), &flat), (Slower, None));
    assert_eq!(verdict(&of(-0.005, 0.004), &flat), (Faster, None));
    assert_eq!(verdict(&of(0.0, 0.004), &flat), (Equal, None));
    assert_eq!(verdict(&of(0.001, 0.02), &flat), (Equal, None));
    // Significant, but the null shows as much, in its width or its centre.
    assert_eq!(verdict(&of(0.001, 0.001), &of(0.0, 0.01)), (Equal, None));
    assert_eq!(verdict(&of(0.001, 0.001), &of(0.001, 0.001)), (Equal, None));
    let (wide, more) = verdict(&of(0.0203, 0.002), &of(0.0, 0.0));
    assert_eq!((wide, more), (Slower, None));
    // The null is off, however large the difference.
    let off = of(0.003, 0.001);
    assert_eq!(verdict(&of(0.5, 0.004), &off), (Undecidable(NullShifted), None));
    assert_eq!(verdict(&of(0.0, 0.0), &off), (Undecidable(NullShifted), None));
    // The null is wide: a larger difference is found all the same.
    let wide = of(0.0, 0.1);
    assert_eq!(verdict(&of(0.2, 0.1), &wide), (Slower, None));
    assert!(matches!(verdict(&of(0.0, 0.001), &wide), (Undecidable(NullWide), Some(_))));
    assert!(matches!(verdict(&of(0.02, 0.1), &flat), (Undecidable(IntervalWide), Some(_))));
}

#[test]
fn a_null_is_flat_up_to_a_tenth_of_the_margin() {
    // The margin is 0.0198 as a logarithm, on both sides.
    let equal = [0.0; 20];
    assert_eq!(verdict(&equal, &[0.001_98; 20]), (Equal, None));
    assert_eq!(verdict(&equal, &[0.001_981; 20]), (Undecidable(NullShifted), None));
    let half = |half: f64| [vec![half; 10], vec![-half; 10]].concat();
    assert_eq!(verdict(&equal, &half(0.009_9)), (Equal, None));
    assert_eq!(verdict(&equal, &half(0.009_902)), (Undecidable(NullWide), Some(1)));
}

#[test]
fn equal_is_what_lies_within_the_margin_on_both_sides() {
    let half = |half, at: f64| [vec![at + half; 10], vec![at - half; 10]].concat();
    let of = |differences: Vec<f64>| verdict(&differences, &[0.0; 20]).0;
    assert_eq!(of(half(0.0198, 0.0)), Equal);
    assert_eq!(of(half(0.019_803, 0.0)), Undecidable(IntervalWide));
    assert_eq!(of(half(0.017, 0.002)), Equal);
    assert_eq!(of(half(0.018, 0.002)), Undecidable(IntervalWide));
    assert_eq!(of(half(0.018, -0.002)), Undecidable(IntervalWide));
}

#[test]
fn too_few_replicates_decide_nothing_and_say_how_many_are_missing() {
    assert_eq!(Rules::default(), RULES);
    // 2 of 2^11 outcomes are less than a thousandth.
    assert_eq!(RULES.fewest_pairs(), 11);
    assert_eq!(Rules { family: 100, ..RULES }.fewest_pairs(), 18);
    assert_eq!(Rules { family: 524, ..RULES }.fewest_pairs(), 20);
    assert_eq!(Rules { family: 525, ..RULES }.fewest_pairs(), 21);
    assert_eq!(Rules { family: 100, ..RULES }.robust_pairs(), 29);
    // 2 of 3,432 choices of seven of fourteen are, and 2 of 924 are not.
    assert_eq!(RULES.fewest_a_side(), 7);
    assert_eq!(Rules { alpha: 0.0, ..RULES }.fewest_pairs(), usize::MAX);
    assert_eq!(Rules { alpha: 0.0, ..RULES }.fewest_a_side(), usize::MAX);
    assert_eq!(Rules { alpha: 0.0, ..RULES }.robust_pairs(), usize::MAX);
    let flat = about(0.0, 0.002, 20);
    assert_eq!(verdict(&about(0.5, 0.002, 11), &flat), (Slower, None));
    assert_eq!(verdict(&about(0.5, 0.002, 10), &flat), (Undecidable(TooFew), Some(1)));
    assert_eq!(verdict(&flat, &flat[..6]).0, Equal);
    assert_eq!(verdict(&flat, &flat[..5]), (Undecidable(TooFew), Some(1)));
    assert_eq!(verdict(&[], &[]), (Undecidable(TooFew), Some(11)));
    let none = judge(&flat, &flat, &Rules { alpha: 0.0, ..RULES });
    assert_eq!((none.verdict, none.more), (Undecidable(TooFew), None));
}

#[test]
fn as_many_more_replicates_as_it_says_decide() {
    for (centre, spread) in [(0.0, 0.2), (0.015, 0.12), (0.03, 0.2), (0.019, 0.1)] {
        let of = |count| judge(&about(centre, spread, count), &[0.0; 20], &RULES);
        let before = of(20);
        assert_eq!(before.verdict, Undecidable(IntervalWide), "{centre} {spread}");
        let more = u32::try_from(before.more.unwrap()).unwrap();
        let after = of(20 + more + more / 10 + 1);
        assert_eq!(after.more, None, "{centre} {spread}: {more}, {after:?}");
        assert_ne!(of(20 + more / 2).more, None, "{centre} {spread}: {more}");
    }
}

#[test]
fn one_pair_far_off_hides_nothing_of_robustly_many() {
    let rules = Rules { family: 100, ..RULES };
    let flat = about(0.0, 0.002, 20);
    let of = |count| {
        let mut pairs = about(0.005, 0.004, count);
        pairs[0] = -5.0;
        judge(&pairs, &flat, &rules).verdict
    };
    assert_eq!([of(28), of(29)], [Equal, Slower]);
}

#[test]
fn a_family_is_held_to_more_than_one_path() {
    let (flat, moved) = (about(0.0, 0.002, 20), about(0.005, 0.004, 20));
    let clear = PathPairs { pairs: &moved, null: &flat };
    let same = PathPairs { pairs: &flat, null: &flat };
    let p = judge(&moved, &flat, &RULES).p;
    let judged = judge_family(&[same, clear, same, clear], &RULES);
    let verdicts: Vec<Verdict> = judged.iter().map(|one| one.verdict).collect();
    assert_eq!(verdicts, [Equal, Slower, Equal, Slower]);
    assert_close(judged[1].p, 4.0 * p, 1e-18);
    // One more path than 20 pairs can tell.
    let many = Rules { family: 525, ..RULES };
    assert_eq!(judge_family(&[clear], &many)[0].verdict, Undecidable(TooFew));
    assert!(judge_family(&[], &RULES).is_empty());
}

#[test]
fn sides_without_pairs_are_judged_alike() {
    let levels = |centre| about(centre, 0.01, 20);
    let (base, copy) = (levels(5.0), levels(5.0));
    let of = |new: &[f64]| judge_unpaired(&base, new, &copy, &RULES).verdict;
    assert_eq!(of(&levels(5.02)), Slower);
    assert_eq!(of(&levels(4.98)), Faster);
    assert_eq!(of(&levels(5.0)), Equal);
    assert_eq!(of(&levels(5.02)[..6]), Undecidable(TooFew));
    let new = levels(5.02);
    let path = PathLevels { base: &base, new: &new, null: [&base, &copy] };
    let family = judge_unpaired_family(&[path, path], &RULES);
    assert_eq!(family[1].verdict, Slower);
    assert_close(family[1].p, 2.0 * judge_unpaired(&base, &new, &copy, &RULES).p, 1e-18);
}

#[test]
fn a_bootstrap_is_of_its_seed_and_of_two_replicates_or_more() {
    let values = Finite::of(&waves(20, |square| 5.0 + square.sin()));
    for statistic in [median, hodges_lehmann] {
        let of = |seed| bootstrap(&values, statistic, 0.95, seed).unwrap();
        assert_eq!(of(1), of(1));
        assert!(of(1).contains(statistic(&values).unwrap()) && of(1).width() < 1.5);
    }
    let of = |seed| bootstrap(&values, hodges_lehmann, 0.95, seed);
    assert_ne!(of(1), of(2));
    assert_eq!(bootstrap(&Finite::of(&[5.0]), median, 0.95, 1), None);
    assert_eq!(bootstrap(&values, |_: &Finite| None, 0.95, 1), None);
}

#[test]
fn hundreds_of_replicates_take_milliseconds() {
    let (new, null) = (about(0.0, 0.1, 300), about(0.0, 0.1, 300));
    let start = Instant::now();
    judge(&new, &null, &RULES);
    judge_unpaired(&new, &new, &null, &RULES);
    // The most that are counted, with ties and without.
    judge_unpaired(&new[..25], &null[..25], &null[5..30], &RULES);
    // A limit for a machine that is busy, and code that is not optimised.
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    println!("{:?}", start.elapsed());
}

#[test]
fn a_bootstrap_is_as_wide_as_the_mean_varies() {
    // Of 100 values that are 1 or -1 the mean's standard error is 0.1.
    let values = Finite::of(&[1.0, -1.0].repeat(50));
    let mean = |drawn: &Finite| Some(drawn.values().iter().sum::<f64>() / 100.0);
    for (confidence, half) in [(0.95, 0.196), (0.9, 0.164), (0.5, 0.067)] {
        let interval = bootstrap(&values, mean, confidence, 1).unwrap();
        assert_close(interval.low, -half, 0.014);
        assert_close(interval.high, half, 0.014);
    }
}

/// The judgement with sides swapped.
fn swapped(judgement: Judgement) -> Judgement {
    let verdict = match judgement.verdict {
        Slower => Faster,
        Faster => Slower,
        other => other,
    };
    let of = |interval: Interval| Interval { low: -interval.high, high: -interval.low };
    Judgement {
        verdict,
        estimate: judgement.estimate.map(|it| -it),
        interval: judgement.interval.map(of),
        ..judgement
    }
}

fn log_ratios() -> impl Strategy<Value = Vec<f64>> {
    // Steps of 2^-10, so that there are ties and negation is exact.
    some_or_many(|| (-64_i32..64).prop_map(|it| f64::from(it) / 1024.0))
}

/// Every number that there is, those that are none too.
fn anything() -> impl Strategy<Value = Vec<f64>> {
    some_or_many(|| proptest::num::f64::ANY)
}

/// As many as ranks are counted of in no time, or more than they are counted of.
fn some_or_many<S: Strategy>(of: impl Fn() -> S) -> impl Strategy<Value = Vec<S::Value>> {
    use proptest::collection::vec;
    prop_oneof![vec(of(), 0..12), vec(of(), 51..53)]
}

proptest! {
    #[test]
    fn swapping_the_sides_negates(pairs in log_ratios(), null in log_ratios()) {
        let negative: Vec<f64> = pairs.iter().map(|it| -it).collect();
        let there = judge(&pairs, &null, &RULES);
        prop_assert_eq!(swapped(judge(&negative, &null, &RULES)), there);
        let back = judge_unpaired(&null, &pairs, &null, &RULES);
        let there = judge_unpaired(&pairs, &null, &pairs, &RULES);
        let p = (back.estimate.map(|it| -it), back.p, back.replicates);
        prop_assert_eq!(p, (there.estimate, there.p, there.replicates));
    }

    #[test]
    fn the_order_of_replicates_does_not_matter(
        pairs in log_ratios().prop_shuffle(),
        null in log_ratios(),
    ) {
        let mut sorted = pairs.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        prop_assert_eq!(judge(&sorted, &null, &RULES), judge(&pairs, &null, &RULES));
        let of = |levels: &[f64]| judge_unpaired(levels, &null, levels, &RULES);
        prop_assert_eq!(of(&sorted), of(&pairs));
    }

    #[test]
    fn the_unit_of_times_does_not_matter(values in log_ratios(), others in log_ratios()) {
        let moved = |values: &[f64]| -> Vec<f64> { values.iter().map(|it| it + 8.0).collect() };
        let there = judge_unpaired(&values, &others, &values, &RULES);
        let (values, others) = (moved(&values), moved(&others));
        prop_assert_eq!(judge_unpaired(&values, &others, &values, &RULES), there);
    }

    #[test]
    fn twice_the_differences_are_twice_the_estimate(values in log_ratios()) {
        let twice: Vec<f64> = values.iter().map(|it| 2.0 * it).collect();
        let (one, two) =
            (Location::of_pairs(&Finite::of(&values)), Location::of_pairs(&Finite::of(&twice)));
        let of = |location: &Location, by: f64| {
            let ends = location.interval(0.95).map(|it| (by * it.low, by * it.high));
            (by * location.estimate(), ends, location.p())
        };
        prop_assert_eq!(one.map(|it| of(&it, 2.0)), two.map(|it| of(&it, 1.0)));
    }

    #[test]
    fn intervals_contain_the_estimate_and_those_of_less_confidence(values in log_ratios()) {
        let Some(location) = Location::of_pairs(&Finite::of(&values)) else { return Ok(()) };
        let intervals: Vec<Interval> =
            [0.5, CONFIDENCE, 0.999].iter().filter_map(|it| location.interval(*it)).collect();
        for pair in intervals.windows(2) {
            prop_assert!(pair[1].contains(pair[0].low) && pair[1].contains(pair[0].high));
        }
        for interval in intervals {
            prop_assert!(interval.contains(location.estimate()));
        }
    }

    #[test]
    fn any_input_has_a_judgement(one in anything(), other in anything(), third in anything()) {
        let rules = Rules { family: 3, ..RULES };
        let paired = judge(&one, &other, &rules);
        let unpaired = judge_unpaired(&one, &other, &third, &rules);
        for judged in [paired, unpaired] {
            prop_assert!((0.0..=1.0).contains(&judged.p));
            prop_assert!(judged.estimate.is_none_or(f64::is_finite), "{judged:?}");
        }
        let finite = Finite::of(&one);
        prop_assert_eq!(paired.replicates, finite.values().len());
    }

    #[test]
    fn a_level_is_within_half_a_step_of_its_quantile(
        mut samples in proptest::collection::vec(0_u64..1000, 1..99),
        step in 0_u64..50,
    ) {
        let level = level(&mut samples, step).unwrap();
        let quantile = quantile(&mut samples, Quantile::P25).unwrap();
        prop_assert!((level - quantile as f64).abs() <= step as f64 / 2.0 + 1e-9);
    }
}
