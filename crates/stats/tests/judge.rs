//! [`judge`]'s verdicts on sets as they come from kernels, fact by fact, and its general
//! properties.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::ops::RangeInclusive;

use pathmeter_stats::{Histogram, Judgement, Verdict, judge};
use proptest::prelude::*;

/// A histogram of `(value, count)` pairs.
fn set(counts: &[(u64, usize)]) -> Histogram {
    counts.iter().flat_map(|&(value, count)| std::iter::repeat_n(value, count)).collect()
}

fn each_once(values: RangeInclusive<u64>) -> Histogram {
    values.collect()
}

fn judged(base: &Histogram, new: &Histogram) -> (Verdict, u64, u64) {
    let Judgement { verdict, base, new } = judge(base, new).unwrap();
    (verdict, base, new)
}

use Verdict::{Higher, Lower, ModeAppeared, Same};

#[test]
fn nothing_is_said_without_samples() {
    let (none, one) = (set(&[]), set(&[(330, 1)]));
    assert_eq!(judge(&none, &one), None);
    assert_eq!(judge(&one, &none), None);
    assert_eq!(judge(&none, &none), None);
}

#[test]
fn one_sample_a_side_is_enough_for_an_exact_clock() {
    assert_eq!(judged(&set(&[(330, 1)]), &set(&[(330, 1)])), (Same, 330, 330));
    assert_eq!(judged(&set(&[(330, 1)]), &set(&[(331, 1)])), (Higher, 330, 331));
}

#[test]
fn one_added_instruction_is_exactly_one() {
    assert_eq!(judged(&set(&[(330, 800)]), &set(&[(331, 800)])), (Higher, 330, 331));
    assert_eq!(judged(&set(&[(331, 800)]), &set(&[(330, 800)])), (Lower, 331, 330));
}

#[test]
fn strays_neither_hide_nor_make_a_change() {
    let base = set(&[(330, 95), (1801, 2), (2711, 3)]);
    assert_eq!(judged(&base, &set(&[(330, 93), (1795, 4), (2702, 3)])), (Same, 330, 330));
    assert_eq!(judged(&base, &set(&[(331, 93), (1795, 4), (2702, 3)])), (Higher, 330, 331));
}

#[test]
fn a_stray_at_the_other_sides_value_does_not_make_them_the_same() {
    assert_eq!(judged(&set(&[(330, 99), (331, 1)]), &set(&[(331, 100)])), (Higher, 330, 331));
}

#[test]
fn twice_as_many_strays_over_many_values_are_not_a_mode() {
    let base = set(&[(330, 92), (900, 2), (901, 2), (902, 2), (903, 2)]);
    let new = set(&[(330, 84), (910, 4), (911, 4), (912, 4), (913, 4)]);
    assert_eq!(judged(&base, &new), (Same, 330, 330));
}

#[test]
fn overlapping_sets_are_the_same_at_their_most_frequent_common_value() {
    let base = set(&[(4739, 60), (6781, 40)]);
    assert_eq!(judged(&base, &set(&[(4739, 20), (6781, 80)])), (Same, 6781, 6781));
}

#[test]
fn a_set_of_several_values_moves_as_a_whole() {
    assert_eq!(judged(&each_once(100..=111), &each_once(103..=114)), (Higher, 100, 103));
    assert_eq!(judged(&each_once(103..=114), &each_once(100..=111)), (Lower, 103, 100));
}

#[test]
fn a_dense_set_moved_by_one_agrees_in_nine_tenths_and_is_still_a_change() {
    assert_eq!(judged(&each_once(100..=111), &each_once(101..=112)), (Higher, 100, 101));
}

#[test]
fn a_moved_set_is_known_whatever_its_frequencies() {
    let base = set(&[(4739, 50), (6781, 50)]);
    assert_eq!(judged(&base, &set(&[(4740, 80), (6782, 20)])), (Higher, 4739, 4740));
    assert_eq!(judged(&base, &set(&[(4738, 20), (6780, 80)])), (Lower, 6781, 6780));
}

#[test]
fn a_new_mode_is_told_and_a_vanished_one_is_not() {
    let (one, two) = (set(&[(4739, 100)]), set(&[(4739, 50), (6781, 50)]));
    assert_eq!(judged(&one, &two), (ModeAppeared, 4739, 6781));
    assert_eq!(judged(&two, &one), (Same, 4739, 4739));
}

#[test]
fn two_starts_of_six_make_a_mode_and_one_does_not() {
    let base = set(&[(4739, 100)]);
    assert_eq!(judged(&base, &set(&[(4739, 4), (6781, 2)])), (ModeAppeared, 4739, 6781));
    assert_eq!(judged(&base, &set(&[(4739, 5), (6781, 1)])), (Same, 4739, 4739));
}

#[test]
fn a_mode_that_base_showed_rarely_is_not_new() {
    let base = set(&[(4739, 99), (6781, 1)]);
    assert_eq!(judged(&base, &set(&[(4739, 50), (6781, 50)])), (Same, 4739, 4739));
}

#[test]
fn a_diffuse_slow_path_is_a_mode_though_no_value_of_it_is_frequent() {
    let slow: Vec<(u64, usize)> = (1000..1040).map(|value| (value, 1)).collect();
    let new = set(&[&[(330, 60)], slow.as_slice()].concat());
    assert_eq!(judged(&set(&[(330, 100)]), &new), (ModeAppeared, 330, 1000));
}

#[test]
fn a_partial_shift_is_never_the_same() {
    let base = set(&[(100, 60), (200, 40)]);
    assert_eq!(judged(&base, &set(&[(103, 60), (200, 40)])), (ModeAppeared, 100, 103));
    assert_eq!(judged(&base, &set(&[(100, 60), (203, 40)])), (ModeAppeared, 200, 203));
}

#[test]
fn sets_apart_differ_by_their_medians() {
    let (low, high) = (set(&[(330, 100)]), set(&[(331, 60), (340, 40)]));
    assert_eq!(judged(&low, &high), (Higher, 330, 331));
    assert_eq!(judged(&high, &low), (Lower, 331, 330));
}

#[test]
fn a_value_between_two_modes_is_a_mode_by_itself() {
    let (outer, inner) = (set(&[(100, 50), (110, 50)]), set(&[(105, 100)]));
    assert_eq!(judged(&outer, &inner), (ModeAppeared, 100, 105));
    assert_eq!(judged(&inner, &outer), (ModeAppeared, 105, 100));
}

#[test]
fn diffuse_sets_without_a_common_value_differ_by_their_medians() {
    let evens: Histogram = (0..12).map(|i| 111_632 + 500 * i).collect();
    let odds: Histogram = (0..12).map(|i| 111_700 + 510 * i).collect();
    assert_eq!(judged(&evens, &odds), (Higher, 114_132, 114_250));
    assert_eq!(judged(&odds, &evens), (Lower, 114_250, 114_132));
}

#[test]
fn a_set_that_moved_and_shows_other_modes_in_one_start_has_moved() {
    // switch.futex and tcp.round-trip, base against one nop in the entry, as measured (6 runs).
    let futex = [set(&[(7029, 154), (7037, 31), (7090, 1)]), set(&[(7033, 185), (7094, 1)])];
    assert_eq!(judged(&futex[0], &futex[1]), (Higher, 7029, 7033));
    assert_eq!(judged(&futex[1], &futex[0]), (Lower, 7033, 7029));
    let base = set(&[
        (20_462, 81),
        (20_470, 26),
        (20_469, 25),
        (20_526, 22),
        (23_110, 11),
        (20_533, 8),
        (20_477, 5),
        (20_523, 2),
    ]);
    let nop = set(&[
        (20_466, 79),
        (23_114, 29),
        (20_473, 26),
        (20_530, 21),
        (20_537, 9),
        (20_457, 6),
        (20_450, 6),
        (20_527, 3),
    ]);
    assert_eq!(judged(&base, &nop), (Higher, 20_462, 20_466));
}

#[test]
fn diffuse_sets_that_share_a_rare_value_only_are_a_change() {
    // The anonymous page fault of Debian's cloud and rt kernels, as measured (6 runs).
    let cloud = set(&[(6325, 180), (6331, 90), (6330, 14), (7081, 8), (11_704, 14)]);
    let rt = set(&[(6476, 170), (6482, 98), (6484, 16), (7081, 6), (12_262, 16)]);
    assert_eq!(judged(&cloud, &rt), (Higher, 6325, 6476));
    assert_eq!(judged(&rt, &cloud), (Lower, 6476, 6325));
}

#[test]
fn diffuse_sets_that_barely_interleave_are_a_change() {
    let low: Histogram = (0..12).map(|i| 111_632 + 500 * i).collect();
    let high: Histogram = (0..12).map(|i| 111_632 + 4900 + 570 * i).collect();
    assert_eq!(judge(&high, &low).unwrap().verdict, ModeAppeared, "far below base's lowest");
    let narrow: Histogram = (0..8).map(|i| 116_530 + 101 * i).collect();
    assert_eq!(judged(&low, &narrow), (Higher, 114_132, 116_833));
    assert_eq!(judged(&narrow, &low).0, ModeAppeared);
}

#[test]
fn a_mode_far_from_a_diffuse_base_is_told() {
    let base = each_once(4739..=4750);
    let new = set(&[(4740, 30), (4745, 30), (4750, 30), (6781, 25)]);
    assert_eq!(judged(&base, &new), (ModeAppeared, 4749, 6781));
}

#[test]
fn the_ends_of_the_range_do_not_overflow() {
    let (zero, top) = (set(&[(0, 3)]), set(&[(u64::MAX, 3)]));
    assert_eq!(judged(&zero, &top), (Higher, 0, u64::MAX));
    assert_eq!(judged(&top, &zero), (Lower, u64::MAX, 0));
}

/// A small generator (Marsaglia, "Xorshift RNGs", 2003), so that the values below never change.
struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }
}

/// Values of a population, one for each perturbed run.
fn starts_of(population: &[u64], runs: usize, random: &mut Xorshift) -> Vec<u64> {
    (0..runs).map(|_| one_of(population, random)).collect()
}

fn one_of(population: &[u64], random: &mut Xorshift) -> u64 {
    population[usize::try_from(random.below(population.len() as u64)).unwrap()]
}

/// Samples of a kernel whose runs show `values`, but for one in ten, which shows another one of the
/// population; and a stray in 50.
fn samples_of(values: &[u64], population: &[u64], random: &mut Xorshift) -> Histogram {
    let mut samples = Vec::new();
    for &usual in values {
        let value = if random.below(10) == 0 { one_of(population, random) } else { usual };
        samples
            .extend((0..50).map(|i| if i == 0 { value + 2000 + random.below(500) } else { value }));
    }
    samples.into_iter().collect()
}

/// How many of `trials` pairs of kernels measured over the same runs are judged the same.
fn same_of(population: &[u64], runs: usize, trials: usize) -> usize {
    let mut random = Xorshift(0x9e37_79b9_7f4a_7c15);
    (0..trials)
        .filter(|_| {
            let values = starts_of(population, runs, &mut random);
            let base = samples_of(&values, population, &mut random);
            let new = samples_of(&values, population, &mut random);
            judge(&base, &new).unwrap().verdict == Same
        })
        .count()
}

#[test]
fn two_kernels_over_the_same_starts_are_the_same() {
    let dense: Vec<u64> = (0..12).map(|i| 115_000 + i).collect();
    let sparse: Vec<u64> = (0..60).map(|i| 111_632 + 100 * i).collect();
    for (name, population) in [("dense", dense), ("sparse", sparse)] {
        for runs in [6, 8, 16] {
            let same = same_of(&population, runs, 200);
            assert!(same >= 190, "{name}, {runs} runs: only {same} of 200 the same");
        }
    }
}

fn any_histogram() -> impl Strategy<Value = Histogram> {
    proptest::collection::vec((0_u64..40, 1_usize..30), 1..8).prop_map(|counts| set(&counts))
}

fn mirrored(verdict: Verdict) -> Verdict {
    match verdict {
        Higher => Lower,
        Lower => Higher,
        other => other,
    }
}

proptest! {
    #[test]
    fn a_set_is_the_same_as_itself(samples in proptest::collection::vec(any::<u64>(), 1..200)) {
        let histogram: Histogram = samples.into_iter().collect();
        let judgement = judge(&histogram, &histogram).unwrap();
        prop_assert_eq!(judgement.verdict, Same);
        prop_assert_eq!(judgement.base, judgement.new);
    }

    #[test]
    fn any_set_moved_by_any_distance_is_a_change_by_that_distance(
        samples in proptest::collection::vec(0_u64..300, 1..200),
        distance in 1_u64..1000,
    ) {
        let low: Histogram = samples.iter().copied().collect();
        let high: Histogram = samples.iter().map(|sample| sample + distance).collect();
        let (up, down) = (judge(&low, &high).unwrap(), judge(&high, &low).unwrap());
        prop_assert_eq!((up.verdict, up.new - up.base), (Higher, distance));
        prop_assert_eq!((down.verdict, down.base - down.new), (Lower, distance));
    }

    #[test]
    fn swapped_sides_mirror_the_judgement(base in any_histogram(), new in any_histogram()) {
        let (there, back) = (judge(&base, &new).unwrap(), judge(&new, &base).unwrap());
        if there.verdict != ModeAppeared && back.verdict != ModeAppeared {
            prop_assert_eq!(mirrored(there.verdict), back.verdict);
            prop_assert_eq!((there.base, there.new), (back.new, back.base));
        }
    }

    #[test]
    fn the_verdict_agrees_with_the_sign_of_the_difference(
        base in any_histogram(), new in any_histogram(),
    ) {
        let Judgement { verdict, base, new } = judge(&base, &new).unwrap();
        prop_assert!(verdict != Higher || new > base);
        prop_assert!(verdict != Lower || new < base);
        prop_assert!(verdict != ModeAppeared || new != base);
    }

    #[test]
    fn hostile_values_never_panic(
        base in proptest::collection::vec(any::<u64>(), 0..50),
        new in proptest::collection::vec(any::<u64>(), 0..50),
    ) {
        judge(&base.into_iter().collect(), &new.into_iter().collect());
    }
}
