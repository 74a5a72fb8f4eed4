//! Rows, verdicts and reasons of a comparison.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{check, measurement, path};
use pathmeter_model::{
    Comparison, PairShown, PathComparison, PathEvents, PathResult, Threshold, Unit, Verdict,
    compare, example,
};

use Verdict::{Broken, Same, Unsupported};

const EVERY_CHANGE: Threshold = Threshold { percent: 0.0 };

fn compare_every_change(base: Vec<PathResult>, new: Vec<PathResult>) -> Comparison {
    compare(&measurement("old", base), &measurement("new", new), EVERY_CHANGE)
}

fn row(base: PathResult, new: PathResult) -> PathComparison {
    compare_every_change(vec![base], vec![new]).paths.remove(0)
}

fn unsupported(reason: &str) -> PathResult {
    example::unsupported("a.b", reason)
}

fn failed(reason: &str) -> PathResult {
    example::failed("a.b", reason)
}

#[test]
fn one_added_instruction_is_a_difference_of_one() {
    let row = row(path("a.b", &[330; 10]), path("a.b", &[331; 10]));
    assert_eq!((row.base, row.new, row.difference), (Some(330), Some(331), Some(1)));
    assert_eq!(row.verdict, Verdict::Higher);
    assert!((row.percent.unwrap() - 0.303).abs() < 0.001);
    assert_eq!((row.base_values, row.new_values), (1, 1));
}

#[test]
fn a_measurement_is_the_same_as_itself() {
    let all = compare_every_change(common::whole().paths, common::whole().paths);
    let verdicts: Vec<Verdict> = all.paths.iter().map(|path| path.verdict).collect();
    assert_eq!(verdicts, [Same, Same, Unsupported, Broken]);
    assert_eq!(all.paths[0].difference, Some(0));
    assert_eq!(all.configuration_differences, []);
}

#[test]
fn every_path_of_either_side_has_a_row_in_bases_order() {
    let base = vec![path("c.c", &[1]), path("a.a", &[1])];
    let new = vec![path("b.b", &[1]), path("a.a", &[1]), path("d.d", &[1])];
    let comparison = compare_every_change(base, new);
    let rows: Vec<(&str, Verdict)> =
        comparison.paths.iter().map(|row| (row.path.as_str(), row.verdict)).collect();
    let expected =
        [("c.c", Unsupported), ("a.a", Same), ("b.b", Unsupported), ("d.d", Unsupported)];
    assert_eq!(rows, expected);
    assert_eq!(comparison.paths[0].reason.as_deref(), Some("new: not measured"));
    assert_eq!(comparison.paths[2].reason.as_deref(), Some("base: not measured"));
    assert_eq!((comparison.paths[0].base, comparison.paths[0].new), (Some(1), None));
    assert_eq!(comparison.paths[0].difference, None);
}

#[test]
fn an_unsupported_path_names_the_side_and_the_reason() {
    let one = row(path("a.b", &[330]), unsupported("no rdpid"));
    assert_eq!((one.verdict, one.reason.as_deref()), (Verdict::Unsupported, Some("new: no rdpid")));
    let both = row(unsupported("no tracefs"), unsupported("no rdpid"));
    assert_eq!(both.reason.as_deref(), Some("base: no tracefs; new: no rdpid"));
    let alike = row(unsupported("no rdpid"), unsupported("no rdpid"));
    assert_eq!(alike.reason.as_deref(), Some("both: no rdpid"));
}

#[test]
fn a_failure_on_either_side_is_broken_whatever_the_other_says() {
    for (base, new) in [
        (failed("lost"), path("a.b", &[330])),
        (path("a.b", &[330]), failed("lost")),
        (unsupported("no rdpid"), failed("lost")),
    ] {
        let row = row(base, new);
        assert_eq!(row.verdict, Verdict::Broken);
        assert!(row.reason.unwrap().ends_with("lost"));
    }
}

#[test]
fn a_check_is_the_same_or_broken_and_has_no_numbers() {
    let passed = row(check("a.b"), check("a.b"));
    assert_eq!((passed.verdict, passed.base, passed.difference), (Verdict::Same, None, None));
    let leaked = PathResult::failed("a.b", Unit::Check, "NT leaked");
    assert_eq!(row(check("a.b"), leaked).verdict, Verdict::Broken);
}

#[test]
fn counts_of_different_things_are_not_compared() {
    let cycles = PathResult::ok("a.b", Unit::Cycles, &[vec![330]], vec![]);
    let row = row(path("a.b", &[330]), cycles);
    assert_eq!(row.verdict, Verdict::Unsupported);
    let reason = "units differ: instructions in base, cycles in new";
    assert_eq!((row.reason.as_deref(), row.difference), (Some(reason), None));
}

#[test]
fn changes_below_the_threshold_keep_their_difference_and_are_the_same() {
    let (base, new) = (vec![path("a.b", &[1000])], vec![path("a.b", &[1009])]);
    let sides = (measurement("old", base), measurement("new", new));
    let verdict = |percent| {
        let row = compare(&sides.0, &sides.1, Threshold { percent }).paths.remove(0);
        assert_eq!(row.difference, Some(9));
        row.verdict
    };
    assert_eq!([0.0, 0.9, 1.0].map(verdict), [Verdict::Higher, Verdict::Higher, Verdict::Same]);
}

#[test]
fn a_path_with_several_values_says_how_many() {
    let row = row(path("a.b", &[4739, 6781]), path("a.b", &[4739]));
    assert_eq!((row.base_values, row.new_values, row.verdict), (2, 1, Verdict::Same));
    assert!(row.is_many_valued());
}

/// A path whose samples are all lower bounds.
fn bound(value: u64) -> PathResult {
    path("a.b", &[value; 2]).with_lower_bounds(vec![0, 1, 2, 3])
}

#[test]
fn a_lower_bound_that_decides_is_shown_as_one() {
    let higher = row(path("a.b", &[1000; 2]), bound(8000));
    assert_eq!((higher.verdict, higher.difference), (Verdict::Higher, Some(7000)));
    assert_eq!((higher.base_at_least, higher.new_at_least), (false, true));
    let lower = row(bound(8000), path("a.b", &[1000; 2]));
    assert_eq!((lower.verdict, lower.difference), (Verdict::Lower, Some(-7000)));
    assert_eq!((lower.base_at_least, lower.new_at_least), (true, false));
    assert_eq!(row(bound(8000), bound(8000)).verdict, Same);
}

#[test]
fn lower_bounds_from_which_nothing_follows_have_no_verdict() {
    let exact = || path("a.b", &[9000; 2]);
    for (base, new, side) in [
        (bound(8000), exact(), "base"),
        (bound(9000), exact(), "base"),
        (exact(), bound(8000), "new"),
        (exact(), bound(9000), "new"),
        (bound(8000), bound(9000), "base"),
        (bound(9000), bound(8000), "base"),
    ] {
        let row = row(base, new);
        assert_eq!(row.verdict, Unsupported, "{row:?}");
        assert!(row.reason.unwrap().starts_with(side));
    }
}

#[test]
fn a_lower_bound_is_never_below_the_threshold() {
    let (base, new) = (vec![path("a.b", &[1000; 2])], vec![bound(1009)]);
    let threshold = Threshold { percent: 5.0 };
    let all = compare(&measurement("old", base), &measurement("new", new), threshold);
    assert_eq!((all.summary.unsupported, all.paths[0].difference), (1, Some(9)));
}

#[test]
fn the_summary_counts_every_path_once() {
    let base = vec![path("a.a", &[1]), path("b.b", &[1]), path("c.c", &[2])];
    let new = vec![path("a.a", &[1]), path("b.b", &[2]), path("c.c", &[1])];
    let summary = compare_every_change(base, new).summary;
    assert_eq!((summary.paths, summary.same, summary.higher, summary.lower), (3, 1, 1, 1));
    let counted: usize = Verdict::ALL.iter().map(|&verdict| summary.count(verdict)).sum();
    assert_eq!(counted, summary.paths);
}

#[test]
fn what_else_differs_is_carried_along() {
    let (base, mut new) = (measurement("old", vec![]), measurement("new", vec![]));
    new.configuration.qemu = "8.0.0".into();
    let comparison = compare(&base, &new, EVERY_CHANGE);
    assert_eq!(comparison.configuration_differences[0].field, "qemu");
}

/// Waits of six runs, four samples each; `late` of them have one that takes a tick more.
fn wait(name: &str, usual: u64, late: usize) -> PathResult {
    let run = |run: usize| match run {
        run if run < late => vec![usual, usual + 24, 4_002_430, usual],
        _ => vec![usual, usual + 24, usual, usual],
    };
    PathResult::ok(name, Unit::Instructions, &(0..6).map(run).collect::<Vec<_>>(), vec![])
}

#[test]
fn a_wait_that_is_late_in_every_eighth_sample_has_a_longer_tail() {
    let of = |late, usual| wait("softirq.timer+user", usual, late);
    let late = row(of(0, 2658), of(3, 2682));
    assert_eq!(late.verdict, Verdict::LongerTail);
    // The same window of the same run: base's highest value, 2,682, is in another one.
    assert_eq!((late.base, late.new), (Some(2658), Some(4_002_430)));
    assert_eq!(late.difference, Some(3_999_772));
    let shown = PairShown { run: 0, execution: Some(2) };
    assert_eq!(late.pairs.unwrap().shown, Some(shown));
    let reason = late.reason.unwrap();
    let told = "3 of 24 samples, in 3 of 6 runs, are far beyond base's; the others: higher by +24";
    assert_eq!(reason, told);
    let gone = row(of(3, 2682), of(0, 2658));
    assert_eq!((gone.verdict, gone.difference), (Verdict::ShorterTail, Some(-3_999_772)));
    // One run may be chance; a shorter tail hides nothing that costs more.
    assert_eq!(row(of(0, 2658), of(1, 2658)).verdict, Same);
    assert_eq!(row(of(3, 2658), of(0, 2682)).verdict, Verdict::Higher);
    assert_eq!(row(of(3, 2658), of(4, 2658)).verdict, Same);
}

#[test]
fn a_wait_in_which_the_cpu_idles_now_and_then_is_as_long_as_the_clock_says() {
    // The tick that ends the idle time costs a few hundred instructions: no tail by themselves.
    let side = |late: usize| {
        let idle = |run: usize| u64::from(run < late) * 3_997_023;
        let row_of_run = |run: usize| [[1050, 1050, 0], [1050 + idle(run) / 2000, 1080, idle(run)]];
        let numbers: Vec<_> = (0..6).flat_map(row_of_run).map(|it| it.to_vec()).collect();
        let runs: Vec<_> = numbers.chunks(2).map(|run| vec![run[0][0], run[1][0]]).collect();
        let events = PathEvents {
            names: ["kernel", "clock", "idle"].map(str::to_owned).to_vec(),
            of_samples: (0..12).collect(),
            distinct: numbers,
            placement: vec![],
        };
        PathResult::ok("softirq.timer+idle", Unit::Instructions, &runs, vec![]).counting(events)
    };
    let late = row(side(0), side(2));
    assert_eq!((late.verdict, late.unit), (Verdict::LongerTail, Unit::Clock));
    assert_eq!((late.base, late.new), (Some(1080), Some(3_998_103)));
    assert_eq!(row(side(0), side(1)).unit, Unit::Instructions);
}

#[test]
fn only_waits_have_a_tail_and_ordinary_verdicts_that_show_it_stay() {
    let of = |name, late| wait(name, 2658, late);
    assert_eq!(row(of("file.stat", 0), of("file.stat", 3)).verdict, Same);
    let own = row(of("file.stat/punt", 0), of("file.stat/punt", 3));
    assert_eq!(own.verdict, Verdict::LongerTail);
    let often = row(of("irq.softirq", 0), of("irq.softirq", 6));
    assert_eq!((often.verdict, often.new), (Verdict::ModeAppeared, Some(4_002_430)));
}

#[test]
fn a_tail_beyond_a_lower_bound_has_no_verdict() {
    let base = wait("irq.softirq", 2658, 0).with_lower_bounds(vec![1]);
    let row = row(base, wait("irq.softirq", 2658, 3));
    assert_eq!(row.verdict, Unsupported);
    assert!(row.reason.unwrap().starts_with("base is a lower bound"));
}

#[test]
fn a_wait_is_held_to_its_worst_value_and_another_path_to_its_highest_typical_one() {
    assert_eq!(wait("irq.softirq", 2658, 2).highest(), Some(4_002_430));
    assert_eq!(wait("file.stat", 2658, 2).highest(), Some(2682));
    assert_eq!(unsupported("").highest(), None);
}
