//! What a comparison makes of results whose runs are not alike, and which pair a row shows.

mod common;

use common::{measurement, path};
use pathmeter_model::{
    Measurement, PairShown, PathComparison, PathResult, Threshold, Verdict, compare, example,
};

const EVERY_CHANGE: Threshold = Threshold { percent: 0.0 };

/// A path of these runs.
fn of_runs(runs: &[Vec<u64>]) -> PathResult {
    let samples_per_run = runs.iter().map(|run| u32::try_from(run.len()).unwrap_or(0)).collect();
    PathResult { samples_per_run, ..path("a.b", &runs.concat()) }
}

fn compare_rows(base: &Measurement, new: &Measurement) -> PathComparison {
    compare(base, new, EVERY_CHANGE).paths.remove(0)
}

fn compare_runs(base: &[Vec<u64>], new: &[Vec<u64>]) -> PathComparison {
    let of = |runs| measurement("kernel", vec![of_runs(runs)]);
    compare_rows(&of(base), &of(new))
}

/// Six runs of five windows with two modes, and the same with `more` in each.
fn modes(more: u64) -> Vec<Vec<u64>> {
    let run = |number: u64| (0..5).map(|at| 1000 + 400 * ((number + at) % 2) + more).collect();
    (0..6).map(run).collect()
}

#[test]
fn results_of_two_agents_have_no_pairs_and_are_judged_as_sets() {
    let [base, mut new] = [0, 1].map(|more| measurement("kernel", vec![of_runs(&modes(more))]));
    let in_pairs = compare_rows(&base, &new);
    assert_eq!((in_pairs.verdict, in_pairs.difference), (Verdict::Higher, Some(1)));
    assert!(in_pairs.pairs.is_some_and(|pairs| (pairs.agreeing, pairs.of) == (30, 30)));
    new.configuration.agent_sha256 = "another".to_owned();
    assert_eq!(compare_rows(&base, &new).pairs, None);
}

#[test]
fn a_run_whose_windows_stopped_early_has_its_median_and_no_pairs() {
    let (base, mut new) = (modes(0), modes(3));
    new[2].truncate(2);
    let row = compare_runs(&base, &new);
    assert_eq!((row.verdict, row.difference), (Verdict::Higher, Some(3)));
    assert!(row.pairs.is_some_and(|pairs| (pairs.agreeing, pairs.of) == (25, 25)));
}

#[test]
fn where_no_run_has_as_many_windows_the_sets_decide() {
    let (base, mut new) = (modes(0), modes(0));
    for run in &mut new {
        run.truncate(3);
    }
    let row = compare_runs(&base, &new);
    assert_eq!((row.pairs, row.verdict), (None, Verdict::Same));
}

#[test]
fn one_run_alone_and_a_side_with_fewer_runs_are_judged_by_the_runs_that_both_have() {
    let (base, new) = (modes(0), modes(2));
    for runs in [1, 2] {
        let row = compare_runs(&base, &new[..runs]);
        assert_eq!((row.verdict, row.difference), (Verdict::Higher, Some(2)), "{runs}");
        assert!(row.pairs.is_some_and(|pairs| pairs.of == 5 * runs), "{runs}");
    }
}

#[test]
fn a_path_that_was_lost_on_one_side_has_no_numbers_of_pairs() {
    let base = measurement("old", vec![of_runs(&modes(0))]);
    let new = measurement("new", vec![example::failed("a.b", "the kernel did not survive it")]);
    let row = compare_rows(&base, &new);
    assert_eq!((row.verdict, row.pairs), (Verdict::Broken, None));
}

/// Six runs of six windows, each of so many instructions. Windows touch so many lines of data, by
/// run and window.
fn measure_lines(instructions: u64, lines: impl Fn(u32, u32) -> u64) -> Measurement {
    let path = of_runs(&vec![vec![instructions; 6]; 6]);
    let counts = [("user", 30), ("kernel", instructions - 30), ("data-lines", 0)];
    let mut path = example::counting(path, &counts, &[0]);
    if let Some(events) = &mut path.events {
        let of_window = |at: u32| vec![30, instructions - 30, lines(at / 6, at % 6)];
        events.distinct = (0..36).map(of_window).collect();
        events.of_samples = (0..36).collect();
    }
    measurement("kernel", vec![path])
}

#[test]
fn of_the_pairs_with_the_rows_difference_one_with_its_events_is_shown() {
    // The first window of each run touches 50 lines on both sides.
    let lines = |of_others: u64| move |_, window| if window == 0 { 50 } else { of_others };
    let row = compare_rows(&measure_lines(330, lines(51)), &measure_lines(331, lines(55)));
    let shown = row.pairs.and_then(|pairs| pairs.shown);
    assert_eq!(shown, Some(PairShown { run: 0, execution: Some(1) }));
    let lines = row.events.iter().find(|event| event.event == "data-lines");
    assert!(lines.is_some_and(|it| (it.base, it.new) == (51, 55)), "{:?}", row.events);
}

#[test]
fn lines_that_differ_unevenly_in_one_direction_are_no_difference() {
    let base = measure_lines(330, |_, _| 50);
    let steps = |steps: [u64; 6]| {
        let new = measure_lines(330, move |run, _| 50 + steps[run as usize]);
        compare_rows(&base, &new).verdict
    };
    assert_eq!(steps([2, 9, 4, 3, 8, 5]), Verdict::Same);
    assert_eq!(steps([5, 6, 5, 5, 6, 5]), Verdict::EventsDiffer);
}
