//! [`judge_pairs`]'s verdicts on runs as they come from programs, and its general properties.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use pathmeter_stats::{Judgement, PairJudgement, Place, Verdict, judge_pairs, judge_pairs_by};
use proptest::prelude::*;

use Verdict::{Higher, Lower, ModeAppeared, Same};

fn judged(base: &[Vec<u64>], new: &[Vec<u64>]) -> (Verdict, u64, u64) {
    let judgement = judge_pairs(base, new).unwrap().judgement;
    (judgement.verdict, judgement.base, judgement.new)
}

/// Runs of one execution each.
fn rows(costs: &[u64]) -> Vec<Vec<u64>> {
    costs.iter().map(|cost| vec![*cost]).collect()
}

/// As many runs, each of which has these executions, a hundred times.
fn runs(executions: &[(u64, usize)]) -> Vec<Vec<u64>> {
    let run = executions.iter().flat_map(|&(cost, times)| std::iter::repeat_n(cost, times));
    vec![run.collect(); 6]
}

fn moved(runs: &[Vec<u64>], by: impl Fn(usize, usize, u64) -> u64) -> Vec<Vec<u64>> {
    let run = |(run, costs): (usize, &Vec<u64>)| {
        costs.iter().enumerate().map(|(at, cost)| by(run, at, *cost)).collect()
    };
    runs.iter().enumerate().map(run).collect()
}

#[test]
fn without_a_pair_nothing_is_said() {
    let empty = vec![vec![], vec![]];
    assert_eq!(judge_pairs(&rows(&[1, 2]), &empty), None);
    assert_eq!(judge_pairs::<Vec<u64>>(&[], &rows(&[1])), None);
}

#[test]
fn the_pair_that_is_shown_is_typical_of_the_differences() {
    // `pause` of a program that waits: as sets 14,781 and 245,997 carried the verdict.
    let base = rows(&[14_781, 230_000, 15_100, 246_200, 14_900, 229_000]);
    let new = rows(&[14_790, 230_020, 245_997, 15_300, 14_905, 229_010]);
    let judged = judge_pairs(&base, &new).unwrap();
    assert_eq!((judged.judgement.verdict, judged.judgement.base), (Same, 14_781));
    assert_eq!((judged.judgement.new, judged.place.map(|it| it.run)), (14_790, Some(0)));
    assert_eq!(judged.range, [-230_900, 230_897]);
}

#[test]
fn a_region_that_is_lower_in_all_pairs_is_lower() {
    // Three of the executions' typical costs, which depend on the run's addresses: each of new's
    // is lower than its counterpart, and half are at values that base never showed.
    let base = [12_529, 11_540, 11_124, 11_644, 12_529, 12_060].map(|cost| vec![cost; 60]);
    let new = [10_652, 9_505, 9_037, 9_622, 10_652, 10_090].map(|cost| vec![cost; 60]);
    assert_eq!(judged(&base, &new), (Lower, 12_060, 10_090));
    assert_eq!(judged(&new, &base), (Higher, 10_090, 12_060));
}

#[test]
fn one_instruction_is_found_where_the_kernels_memory_moves_more() {
    // Every third execution costs up to 300 more or less, on each kernel by another plan.
    let usual: Vec<Vec<u64>> = vec![(0..60).map(|at| 1000 + at % 40).collect(); 6];
    let kernel = |plan: usize, by: u64| {
        moved(&usual, |run, at, cost| match (at + run + plan) % 3 {
            0 => cost + by + [0, 100, 200, 400, 500, 600][(run * 61 + at * plan) % 6] - 300,
            _ => cost + by,
        })
    };
    let base = kernel(17, 0);
    assert_eq!(judged(&base, &kernel(23, 0)).0, Same);
    let (verdict, from, to) = judged(&base, &kernel(23, 1));
    assert_eq!((verdict, to - from), (Higher, 1));
    assert_eq!(judged(&kernel(23, 1), &base).0, Lower);
    // Even if most executions of one run go astray.
    let mut astray = kernel(23, 1);
    astray[3].iter_mut().skip(20).for_each(|cost| *cost -= 200);
    assert_eq!(judged(&base, &astray).0, Higher);
}

#[test]
fn one_pair_that_differs_by_more_hides_no_change_that_all_have() {
    // `readlink` from 6.1 to 6.12, and `exit_group` of a shell on two layouts of one kernel.
    let higher = |base: u64, by: &[u64]| {
        let new: Vec<u64> = by.iter().map(|by| base + by).collect();
        judged(&rows(&vec![base; by.len()]), &rows(&new)).0
    };
    assert_eq!(higher(11_510, &[3_732, 1_616, 1_616, 1_606, 1_616, 1_453]), Higher);
    assert_eq!(higher(230_000, &[946, 20, 26, 26, 26, 30]), Same);
}

#[test]
fn what_goes_up_and_down_is_no_change_of_a_region() {
    let base = [1_300_000, 1_262_000, 1_254_000, 1_266_000, 1_294_000, 1_272_000];
    let new = [1_299_990, 1_262_000, 1_254_004, 1_265_476, 1_294_520, 1_271_811];
    let runs_of =
        |costs: [u64; 6]| costs.map(|cost| (0..20).map(|at| cost + at).collect::<Vec<u64>>());
    assert_eq!(judged(&runs_of(base), &runs_of(new)).0, Same);
}

#[test]
fn a_part_of_the_executions_that_costs_more_is_a_mode_and_one_that_costs_less_is_lower() {
    let base = runs(&[(100, 70), (200, 30)]);
    assert_eq!(judged(&base, &runs(&[(100, 70), (250, 30)])), (ModeAppeared, 200, 250));
    assert_eq!(judged(&base, &runs(&[(100, 70), (150, 30)])), (Lower, 200, 150));
    assert_eq!(judged(&base, &runs(&[(100, 85), (9000, 15)])).0, Lower, "strays are left out");
    // Most cost less, and the rest cost more.
    assert_eq!(judged(&base, &runs(&[(90, 70), (250, 30)])).0, ModeAppeared);
    assert_eq!(judged(&base, &runs(&[(110, 70), (150, 30)])), (Higher, 100, 110));
}

#[test]
fn a_mode_is_shown_by_the_value_that_appeared_and_not_by_a_step_of_layout_beside_it() {
    let base = runs(&[(100, 25), (101, 26), (100, 26), (101, 23)]);
    let new = runs(&[(100, 25), (100, 26), (101, 26), (800, 23)]);
    assert_eq!(judged(&base, &new), (ModeAppeared, 101, 800));
}

#[test]
fn a_slow_path_in_two_of_the_runs_is_a_mode_if_it_is_large() {
    let with = |mode: u64| rows(&[400, 400, mode, 400, mode, 400]);
    assert_eq!(judged(&rows(&[400; 6]), &with(700)), (ModeAppeared, 400, 700));
    let shown = judge_pairs(&rows(&[400; 6]), &with(700)).unwrap();
    assert_eq!(shown.place, Some(Place { run: 2, execution: Some(0) }));
    assert_eq!(judged(&rows(&[400; 6]), &with(420)).0, Same);
    assert_eq!(judged(&with(700), &rows(&[400; 6])).0, Same, "a mode may vanish");
}

#[test]
fn where_a_run_has_more_executions_their_medians_are_its_pair() {
    let base = vec![vec![100, 100, 100, 5000]; 6];
    let new = vec![vec![103, 103, 103, 103, 103, 5000]; 6];
    assert_eq!(judged(&base, &new), (Higher, 100, 103));
}

/// The windows of a fork, of one kernel: eleven in each run, whose values depend on memory.
fn forks() -> Vec<Vec<u64>> {
    let usual = [54_754, 57_796, 53_136, 61_742, 54_500, 55_216];
    usual.map(|usual| (0..11).map(|at| usual + [0, 2, 0, 66][at % 4]).collect()).to_vec()
}

#[test]
fn three_instructions_more_in_a_fork_are_three_whatever_its_modes_are() {
    let base = forks();
    assert_eq!(judged(&base, &moved(&base, |_, _, cost| cost + 3)).0, Higher);
    // Layout moves a mode in two of the runs, up and down.
    let new = moved(&base, |run, at, cost| match (run, at % 3) {
        (1, 0) => cost + 3 + 63,
        (4, _) => cost + 3 - 129,
        _ => cost + 3,
    });
    let three = judge_pairs(&base, &new).unwrap();
    let Judgement { verdict, base: from, new: to } = three.judgement;
    assert_eq!((verdict, to - from, three.agreeing, three.of), (Higher, 3, 51, 66));
    let back = judge_pairs(&new, &base).unwrap().judgement;
    assert_eq!((back.verdict, back.base - back.new), (Lower, 3));
}

#[test]
fn the_pair_shown_is_at_a_typical_value_of_base_and_the_first_of_these() {
    let base = vec![vec![100, 300, 100], vec![300, 300, 300]];
    let shown = judge_pairs(&base, &moved(&base, |_, _, cost| cost + 1)).unwrap();
    assert_eq!(shown.place, Some(Place { run: 0, execution: Some(1) }));
    assert_eq!((shown.judgement.base, shown.judgement.new), (300, 301));
}

#[test]
fn steps_of_layout_are_no_change_if_some_runs_have_none() {
    // `process.fork-exit` of 6.1 against the same kernel with a dead function: no instruction more.
    let base = forks();
    let new = moved(&base, |run, _, cost| cost + [0, 0, 4, 4, 10, 10][run]);
    let (verdict, from, to) = judged(&base, &new);
    assert_eq!((verdict, to), (Same, from), "a pair without a difference is shown");
    // `poll.100` of Debian's cloud kernel under a boot word without meaning, four down and one up.
    let new =
        moved(&base, |run, _, cost| [cost, cost - 3, cost - 3, cost + 3, cost - 3, cost - 3][run]);
    assert_eq!(judged(&base, &new).0, Same);
}

#[test]
fn pairs_that_scatter_in_one_direction_are_a_change_by_their_median() {
    let base = forks();
    let new = moved(&base, |run, at, cost| cost + 70 + (run * 53 + at * 29) as u64 % 280);
    let judged = judge_pairs(&base, &new).unwrap();
    assert_eq!(judged.judgement.verdict, Higher);
    let by = judged.judgement.new - judged.judgement.base;
    assert!((70..350).contains(&by) && 2 * judged.agreeing < judged.of, "{judged:?}");
    // Where base scatters as widely, pairs differ to both sides, and that is no change.
    let as_wide = moved(&base, |run, at, cost| cost + 70 + (run * 31 + at * 97) as u64 % 280);
    assert_eq!(judge_pairs(&as_wide, &new).unwrap().judgement.verdict, Same);
}

#[test]
fn one_run_alone_is_judged_by_its_windows() {
    let base = vec![vec![100, 100, 105, 100]];
    assert_eq!(judged(&base, &moved(&base, |_, _, cost| cost + 1)), (Higher, 100, 101));
    assert_eq!(judged(&base, &base), (Same, 100, 100));
}

fn series() -> impl Strategy<Value = Vec<Vec<u64>>> {
    let run = proptest::collection::vec(0_u64..400, 1..6);
    proptest::collection::vec(run, 5..8)
}

fn of(judged: PairJudgement) -> (Verdict, u64, u64) {
    (judged.judgement.verdict, judged.judgement.base, judged.judgement.new)
}

proptest! {
    #[test]
    fn swapped_sides_have_the_opposite_verdict(base in series(), new in series()) {
        let there = of(judge_pairs(&base, &new).unwrap());
        let back = of(judge_pairs(&new, &base).unwrap());
        match there.0 {
            Higher => prop_assert!([Lower, ModeAppeared].contains(&back.0)),
            Lower => prop_assert!([Higher, ModeAppeared].contains(&back.0)),
            _ => {}
        }
        prop_assert!(there.0 != Same || [Same, ModeAppeared].contains(&back.0));
        prop_assert!(there.0 != Higher || there.1 < there.2);
        prop_assert!(there.0 != Lower || there.1 > there.2);
    }

    #[test]
    fn runs_are_the_same_as_themselves_and_moved_by_one_one_higher(runs in series()) {
        let (verdict, base, new) = of(judge_pairs(&runs, &runs).unwrap());
        prop_assert_eq!((verdict, base), (Same, new));
        let more = moved(&runs, |_, _, cost| cost + 1);
        let (verdict, base, new) = of(judge_pairs(&runs, &more).unwrap());
        prop_assert_eq!((verdict, base + 1), (Higher, new));
    }
}

/// As in `tcp.connect` of a kernel with five instructions more: steps of eight in windows of all
/// runs, up and down alike.
#[test]
fn a_difference_that_stands_out_among_steps_may_be_absent_from_one_run_and_from_no_more() {
    let runs_of = |runs: [[i64; 7]; 6]| {
        let base = vec![vec![36_166; 7]; 6];
        let new = moved(&base, |run, window, cost| cost.saturating_add_signed(runs[run][window]));
        judged(&base, &new)
    };
    let mut runs = [
        [5, 5, 13, -3, 5, 5, -3],
        [13, 5, 5, 5, 13, 5, 13],
        [13, -3, 13, -3, -3, -3, 13],
        [5, -3, 5, -3, 13, -3, 13],
        [13, 5, 13, 5, 5, -3, 13],
        [-3, 5, -3, -3, 5, 5, 13],
    ];
    assert_eq!(runs_of(runs), (Verdict::Higher, 36_166, 36_171));
    runs[3] = [13, -3, -3, -3, 13, -3, 13];
    assert_ne!(runs_of(runs).0, Verdict::Higher);
}

/// Runs of 31 executions of which each costs `base` and new's the run's step more; a tick falls
/// into every tenth.
fn step_runs(steps: [i64; 6]) -> [Vec<Vec<u64>>; 2] {
    let base = vec![vec![28_453; 31]; 6];
    let new = moved(&base, |run, at, cost| {
        let tick = if at % 10 == 3 { 60 } else { 0 };
        cost.saturating_add_signed(steps[run]) + tick
    });
    [base, new]
}

#[test]
fn steps_of_whole_runs_in_one_direction_are_no_change() {
    // A TCP round trip on a kernel whose command line had a word more: its buffers lay in the
    // first pages of their slabs in all runs, and base's never.
    for steps in [[-2, -4, -2, -4, -2, -2], [-4, -2, -2, -4, -2, -4], [2, 4, 6, 2, 2, 4]] {
        let [base, new] = step_runs(steps);
        assert_eq!(judged(&base, &new).0, Same, "{steps:?}");
        assert!(!judge_pairs(&base, &new).unwrap().is_even(), "{steps:?}");
    }
    let [base, new] = step_runs([3; 6]);
    assert_eq!(judged(&base, &new), (Higher, 28_453, 28_456));
    let [base, new] = step_runs([49, 57, 53, 53, 51, 55]);
    assert_eq!(judged(&base, &new).0, Higher);
}

#[test]
fn a_step_up_in_five_runs_and_down_in_the_sixth_is_no_change() {
    // `poll.100` of Debian's cloud kernel, without and with `no_console_suspend`: the object that
    // it allocates lies in the first page of its slab in half of the runs.
    let runs_of = |costs: [u64; 6]| costs.map(|cost| vec![cost; 13]).to_vec();
    let base = runs_of([12_734, 12_734, 12_734, 12_737, 12_734, 12_734]);
    let mut new = runs_of([12_737, 12_737, 12_737, 12_734, 12_737, 12_737]);
    assert_eq!(judged(&base, &new).0, Same);
    assert_eq!(judged(&new, &base).0, Same);
    // A change that a few pairs of a run hide.
    new[3] = vec![12_740; 13];
    new[3][..5].fill(12_734);
    assert_eq!(judged(&base, &new), (Higher, 12_734, 12_737));
}

#[test]
fn base_has_the_value_that_stands_for_it_in_the_pair_shown_whatever_the_caller_prefers() {
    let base: Vec<Vec<u64>> = (0..6).map(|run| vec![1_161 + run, 1_206, 1_240 + run]).collect();
    let new = moved(&base, |_, _, cost| cost + 4_232);
    let first = |place: Place| usize::from(place.execution == Some(0));
    let shown = judge_pairs_by(&base, &new, first).unwrap().judgement;
    assert_eq!((shown.base, shown.new), (1_206, 5_438));
    // No pair with the difference is there: the caller's choice, and else the nearest.
    let odd = moved(&base, |_, _, cost| if cost == 1_206 { cost + 5_000 } else { cost + 4_232 });
    let shown = |rank: &dyn Fn(Place) -> usize| {
        let Judgement { base, new, .. } = judge_pairs_by(&base, &odd, rank).unwrap().judgement;
        (base, new)
    };
    assert_eq!(shown(&first), (1_166, 5_398));
    assert_eq!(shown(&|_| 0), (1_240, 5_472));
}

#[test]
fn of_the_pairs_with_the_difference_one_of_the_highest_rank_is_shown() {
    let base = vec![vec![100; 10]; 6];
    let new = moved(&base, |_, _, cost| cost + 5);
    let rank = |place: Place| usize::from(place.run == 4 && place.execution == Some(7));
    let shown = judge_pairs_by(&base, &new, rank).unwrap().place.unwrap();
    assert_eq!((shown.run, shown.execution), (4, Some(7)));
}
