//! Rows, verdicts and sums of the comparison of a program on two kernels.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::collections::BTreeMap;

use common::{measurement, path, runs::*};
use pathmeter_model::example::runs::ProgramExample;
use pathmeter_model::{
    Comparison, Ended, FunctionCost, OWN_WORK, PathComparison, PathResult, ProgramRow, ProgramRun,
    RowFunctions, RowKind, SUM, Threshold, Unit, Verdict, WorkComparison, compare, differences,
};
use pathmeter_trace::{Event, EventDifferences, SlowInstruction};
use proptest::prelude::*;

use RowKind::{Interrupt, PageFault, Syscall, User};
use Verdict::{EventsDiffer, Higher, Lower, ModeAppeared, Same};

const EVERY_CHANGE: Threshold = Threshold { percent: 0.0 };

/// Whether a row of the program's own work costs more, or shows a new mode.
fn costs_more(comparison: &Comparison) -> bool {
    let worse = |row: &&PathComparison| matches!(row.verdict, Higher | ModeAppeared);
    rows(comparison).into_iter().filter(worse).any(PathComparison::is_own_work)
}

/// The rows of a program without the totals.
fn rows(comparison: &Comparison) -> Vec<&PathComparison> {
    let is_row =
        |row: &&PathComparison| row.work.as_ref().is_some_and(|work| !work.kind.is_total());
    comparison.paths.iter().filter(is_row).collect()
}

fn find_path<'a>(comparison: &'a Comparison, name: &str) -> &'a PathComparison {
    comparison.paths.iter().find(|row| row.path == name).unwrap()
}

fn work(row: &PathComparison) -> &WorkComparison {
    row.work.as_ref().unwrap()
}

/// A result with these rows in the first run, and the others in each of six later ones.
fn result(first: &[ProgramRow], later: &[ProgramRow]) -> ProgramExample {
    let mut runs = vec![run(first)];
    runs.resize(7, run(later));
    program("vmlinuz", runs)
}

/// A result with these rows in all of seven runs.
fn steady(rows: &[ProgramRow]) -> ProgramExample {
    result(rows, rows)
}

/// A result of one row that has another number of instructions in each run.
fn moving(kind: RowKind, name: &str, instructions: &[u64]) -> ProgramExample {
    let run_of = |instructions: &u64| run(&[row(kind, name, 1, *instructions)]);
    program("vmlinuz", instructions.iter().map(run_of).collect())
}

fn compare_programs(base: &ProgramExample, new: &ProgramExample) -> Comparison {
    compare(&base.result(), &new.result(), EVERY_CHANGE)
}

fn only(comparison: &Comparison) -> &PathComparison {
    let [row] = &rows(comparison)[..] else { panic!("{:?}", comparison.paths) };
    row
}

/// Whether nothing differs in a row, nor in the first run.
fn is_unchanged(row: &PathComparison) -> bool {
    let work = work(row);
    (row.verdict, work.first.difference, work.calls_differ) == (Same, 0, false)
        && row.events.is_empty()
}

fn numbers(row: &PathComparison) -> (u64, u64, i64) {
    (row.base.unwrap(), row.new.unwrap(), row.difference.unwrap())
}

fn first(row: &PathComparison) -> (u64, u64, i64) {
    let first = &work(row).first;
    (first.base, first.new, first.difference)
}

#[test]
fn a_program_is_the_same_as_itself() {
    let comparison = compare_programs(&whole_program(), &whole_program());
    assert!(rows(&comparison).into_iter().all(is_unchanged));
    assert_eq!(first(find_path(&comparison, SUM)), (6900, 6900, 0));
    assert_eq!(first(find_path(&comparison, OWN_WORK)), (6000, 6000, 0));
    assert_eq!(comparison.summary.same, 3 + 2 + 1, "rows, totals, and a region");
    assert!(!costs_more(&comparison));
}

#[test]
fn one_added_instruction_a_call_is_found() {
    let user = row(User, "", 1, 5000);
    let base = steady(&[user.clone(), row(Syscall, "read", 10, 4000)]);
    let new = steady(&[user, row(Syscall, "read", 10, 4010)]);
    let comparison = compare_programs(&base, &new);
    let read = find_path(&comparison, "read");
    assert_eq!((read.verdict, numbers(read)), (Higher, (4000, 4010, 10)));
    assert_eq!((work(read).per_call_difference, work(read).calls_differ), (Some(1), false));
    assert_eq!(numbers(find_path(&comparison, SUM)), (9000, 9010, 10));
    assert_eq!(find_path(&comparison, OWN_WORK).verdict, Higher);
    assert!(costs_more(&comparison));
    let back = compare_programs(&new, &base);
    assert_eq!(find_path(&back, "read").verdict, Lower);
    assert!(!costs_more(&back));
}

#[test]
fn a_row_of_one_side_costs_nothing_on_the_other() {
    let user = row(User, "", 1, 5000);
    let base = steady(std::slice::from_ref(&user));
    let new = steady(&[user, row(Syscall, "openat", 2, 700)]);
    let comparison = compare_programs(&base, &new);
    let openat = find_path(&comparison, "openat");
    assert_eq!((openat.verdict, work(openat).calls_differ), (Higher, true));
    assert_eq!(numbers(openat), (0, 700, 700));
    assert_eq!((openat.percent, work(openat).per_call_difference), (None, None));
    let back = compare_programs(&new, &base);
    let openat = find_path(&back, "openat");
    assert_eq!((openat.verdict, work(openat).first.difference), (Lower, -700));
}

#[test]
fn a_program_that_did_other_work_is_compared_by_the_call() {
    let base = steady(&[row(Syscall, "read", 10, 4000)]);
    let new = steady(&[row(Syscall, "read", 12, 4800)]);
    let comparison = compare_programs(&base, &new);
    let read = only(&comparison);
    assert!(work(read).calls_differ);
    assert_eq!(read.verdict, Higher);
    assert_eq!(work(read).per_call_difference, Some(0));
}

#[test]
fn other_calls_of_the_first_run_alone_are_told_too() {
    let same = [row(Syscall, "read", 10, 4000)];
    let other = [row(Syscall, "read", 11, 4000)];
    let comparison = compare_programs(&result(&same, &same), &result(&other, &same));
    let read = only(&comparison);
    assert_eq!((read.verdict, work(read).calls_differ), (Same, true));
    assert!(!is_unchanged(read));
}

#[test]
fn calls_that_vary_from_run_to_run_do_not_differ() {
    let result_of_calls = |calls: &[u64]| {
        let run_of = |calls: &u64| run(&[row(PageFault, "read", *calls, calls * 500)]);
        program("vmlinuz", calls.iter().map(run_of).collect())
    };
    let comparison = compare_programs(
        &result_of_calls(&[9, 3, 4, 4, 3, 4, 3]),
        &result_of_calls(&[9, 4, 3, 3, 4, 3, 4]),
    );
    let faults = only(&comparison);
    assert_eq!((faults.verdict, work(faults).calls_differ), (Same, false));
    let calls = work(faults).new_calls;
    assert_eq!((calls.least, calls.most), (3, 4));
}

#[test]
fn the_first_run_has_numbers_and_the_later_ones_the_verdict() {
    let later = [row(Syscall, "execve", 1, 9000)];
    let base = result(&[row(Syscall, "execve", 1, 20_000)], &later);
    let new = result(&[row(Syscall, "execve", 1, 25_000)], &later);
    let comparison = compare_programs(&base, &new);
    let execve = only(&comparison);
    assert_eq!(first(execve), (20_000, 25_000, 5000));
    assert_eq!(numbers(execve), (9000, 9000, 0));
    assert_eq!(execve.verdict, Same);
    assert!(!is_unchanged(execve) && !costs_more(&comparison));
}

#[test]
fn without_later_runs_the_first_is_judged() {
    let alone = |instructions| moving(Syscall, "read", &[instructions]);
    let comparison = compare_programs(&alone(400), &alone(401));
    let read = only(&comparison);
    let later_runs = comparison.program.as_ref().unwrap().later_runs;
    assert_eq!((read.verdict, later_runs), (Higher, 0));
    assert_eq!(only(&compare_programs(&alone(401), &alone(400))).verdict, Lower);
    let one_percent = Threshold { percent: 1.0 };
    let small = compare(&alone(400).result(), &alone(401).result(), one_percent);
    assert_eq!((only(&small).verdict, first(only(&small)).2), (Same, 1));
    // The first run of the other side is compared, and not its later ones.
    let more = moving(Syscall, "read", &[400, 390, 390, 390, 390, 390, 390]);
    let first_alone = compare_programs(&more, &alone(401));
    assert_eq!(numbers(only(&first_alone)), (400, 401, 1));
}

#[test]
fn what_the_timer_does_is_shown_and_makes_nothing_worse() {
    let user = row(User, "", 1, 5000);
    let tick = |instructions| row(Interrupt, "timer", 3, instructions);
    let base = steady(&[user.clone(), tick(900)]);
    let new = steady(&[user, tick(1900)]);
    let comparison = compare_programs(&base, &new);
    let verdict = |name: &str| find_path(&comparison, name).verdict;
    assert_eq!(verdict("timer interrupt (timer)"), Higher);
    assert_eq!((verdict(SUM), verdict(OWN_WORK)), (Higher, Same));
    assert!(!costs_more(&comparison));
}

#[test]
fn a_mode_that_appears_in_own_work_is_worse_if_it_is_large() {
    let base = moving(Syscall, "read", &[400; 11]);
    let with = |mode: u64| {
        let runs = [400, 400, 400, 400, mode, mode, mode, 400, 400, 400, 400];
        compare_programs(&base, &moving(Syscall, "read", &runs))
    };
    let slow = with(700);
    assert_eq!(only(&slow).verdict, ModeAppeared);
    assert!(costs_more(&slow));
    assert_eq!(only(&with(420)).verdict, Same);
}

#[test]
fn runs_are_compared_with_those_that_were_disturbed_alike() {
    // As sets all of new's values lie among base's, but pair by pair each is one more.
    let base = moving(Syscall, "read", &[400, 410, 450, 430, 420, 440, 460]);
    let one_more = moving(Syscall, "read", &[401, 411, 451, 431, 421, 441, 461]);
    assert_eq!(only(&compare_programs(&base, &one_more)).verdict, Higher);
    assert_eq!(only(&compare_programs(&one_more, &base)).verdict, Lower);
    // As sets they are apart, but the differences of the pairs are no one change.
    let scattered = moving(Syscall, "read", &[400, 470, 500, 465, 490, 610, 480]);
    assert_eq!(only(&compare_programs(&base, &scattered)).verdict, Same);
}

#[test]
fn another_end_is_told_and_a_region_judged() {
    let base = steady(&[row(User, "", 1, 5000)]);
    let died = ProgramExample { ended: Ended::Signal(11), ..base.clone() };
    let ended = compare_programs(&base, &died);
    let ended = ended.program.unwrap();
    assert_ne!(ended.base_ended, ended.new_ended);
    let with = |cost: u64| ProgramExample {
        regions: vec![path("user.parse", &[cost; 4])],
        ..base.clone()
    };
    let comparison = compare_programs(&with(70), &with(71));
    assert_eq!(
        (find_path(&comparison, "user.parse").verdict, comparison.summary.higher),
        (Higher, 1)
    );
    assert!(!costs_more(&comparison));
}

#[test]
fn string_bytes_differ_where_instructions_do_not() {
    let copying = |bytes| {
        let copy = row(Syscall, "read", 1, 400);
        let events = events([("string-bytes", bytes)]);
        steady(&[ProgramRow { steps: 400 + bytes, events, ..copy }])
    };
    let comparison = compare_programs(&copying(64), &copying(4096));
    let read = only(&comparison);
    assert_eq!(read.verdict, EventsDiffer);
    assert_eq!(find_path(&comparison, SUM).verdict, EventsDiffer);
    let [event] = &read.events[..] else { panic!("{:?}", read.events) };
    assert_eq!(
        (event.event.as_str(), event.difference, event.verdict),
        ("string-bytes", 4032, Higher)
    );
    assert!(!is_unchanged(read));
}

#[test]
fn slow_instructions_differ_in_pairs_of_runs_where_instructions_do_not() {
    let with = |counts: [u64; 4]| {
        let run_of = |count| {
            let slow = events([("mov-cr3", count), ("verw", 3)]);
            run(&[ProgramRow { events: slow, ..row(Syscall, "read", 1, 400) }])
        };
        program("vmlinuz", counts.map(run_of).to_vec())
    };
    let differing = |base, new| {
        let comparison = compare_programs(&with(base), &with(new));
        let row = only(&comparison);
        let events: Vec<_> =
            row.events.iter().map(|event| (event.event.clone(), event.difference)).collect();
        (row.verdict, events)
    };
    let moved = [("mov-cr3".to_owned(), -2)];
    // The first runs are no part of the verdict.
    assert_eq!(differing([9, 2, 2, 2], [9, 0, 0, 0]), (EventsDiffer, moved.to_vec()));
    assert_eq!(differing([9, 2, 2, 2], [5, 2, 2, 2]), (Same, vec![]));
    // Lower in one pair and higher in another.
    assert_eq!(differing([9, 20, 22, 21], [9, 21, 20, 22]), (Same, vec![]));
    // Instructions that differ decide, and the events are there all the same.
    let one = |count, instructions| {
        let events = events([("mov-cr3", count)]);
        steady(&[ProgramRow { events, ..row(Syscall, "read", 1, instructions) }])
    };
    let comparison = compare_programs(&one(2, 400), &one(0, 390));
    assert_eq!((only(&comparison).verdict, only(&comparison).events.len()), (Lower, 1));
}

#[test]
fn lines_are_compared_where_one_qemu_counted_them_on_both_sides() {
    let counting = |lines: Option<u64>| {
        let row = row(Syscall, "read", 1, 400);
        let counts = events([("data-lines", lines.unwrap_or(0))]);
        match lines {
            Some(_) => steady(&[ProgramRow { events: counts, ..row }]),
            None => ProgramExample { events: COUNTED[2..].to_vec(), ..steady(&[row]) },
        }
    };
    let events = |base: &ProgramExample, new: &ProgramExample| {
        only(&compare_programs(base, new)).events.len()
    };
    assert_eq!(events(&counting(Some(4)), &counting(Some(9))), 1);
    assert_eq!(events(&counting(Some(4)), &counting(None)), 0);
    let mut other = counting(Some(9));
    other.configuration.qemu = "11.1".into();
    assert_eq!(events(&counting(Some(4)), &other), 0);
}

/// A row of six later runs that differ by these numbers from a base of which every second is long.
fn waiting(by: [i64; 6]) -> [ProgramExample; 2] {
    let base: [u64; 7] = [1000, 14_781, 230_000, 15_100, 246_200, 14_900, 229_000];
    let mut new = base;
    for (new, by) in new.iter_mut().skip(1).zip(by) {
        *new = new.saturating_add_signed(by);
    }
    [base, new].map(|runs: [u64; 7]| moving(Syscall, "pause", &runs))
}

#[test]
fn the_pair_that_is_shown_is_of_two_runs_that_differ_as_most_do() {
    let [base, new] = waiting([9, 20, 230_897, -230_900, 5, 10]);
    let comparison = compare_programs(&base, &new);
    let row = only(&comparison);
    assert_eq!((row.verdict, numbers(row)), (Same, (14_781, 14_790, 9)));
    let range = row.pairs.unwrap();
    assert_eq!((range.least, range.most), (-230_900, 230_897));
    assert_eq!(work(row).per_call_difference, Some(9));
}

#[test]
fn a_sum_that_is_no_one_change_says_where_its_difference_is() {
    let [base, new] = waiting([9, 20, 230_897, -230_900, 5, 10]);
    let with = |result: ProgramExample, read: u64| {
        let runs = result
            .runs
            .iter()
            .map(|it| run(&[it.rows.clone(), vec![row(Syscall, "read", 1, read)]].concat()));
        program("vmlinuz", runs.collect())
    };
    let comparison = compare_programs(&with(base, 4000), &with(new, 3900));
    let own = find_path(&comparison, OWN_WORK);
    assert_eq!((own.verdict, own.difference), (Same, Some(-90)));
    let parts = work(own).parts.unwrap();
    assert_eq!((parts.higher, parts.lower, parts.same), (0, -100, 10));
}

#[test]
fn a_region_is_judged_run_by_run_and_execution_by_execution() {
    // `mmap-munmap` of `brk-lower` in six runs, Debian's 6.1 and 6.12: a fifth of new's values are
    // at places where base had none, and each is lower than its counterpart.
    let base = [12_529, 11_540, 11_124, 11_644, 12_529, 12_060];
    let new = [10_652, 9_505, 9_037, 9_622, 10_652, 10_090];
    let with = |runs: [u64; 6]| {
        let runs = runs.map(|cost| vec![cost; 60]);
        let region = PathResult::ok("user.mmap", Unit::Instructions, &runs, vec![]);
        ProgramExample { regions: vec![region], ..steady(&[row(User, "", 1, 5000)]) }
    };
    let region =
        |base, new| find_path(&compare_programs(&with(base), &with(new)), "user.mmap").clone();
    let lower = region(base, new);
    assert_eq!((lower.verdict, lower.base, lower.new), (Lower, Some(12_060), Some(10_090)));
    let range = lower.pairs.unwrap();
    assert_eq!((range.least, range.most), (-2087, -1877));
    assert_eq!(region(new, base).verdict, Higher);
    // What goes up and down by as little as layout moves it is no change.
    let layout = [12_529, 11_550, 11_120, 11_640, 12_539, 12_060];
    assert_eq!(region(base, layout).verdict, Same);
    // So are the regions of probes.
    let measured = |runs| measurement("vmlinuz", with(runs).regions);
    let compared = compare(&measured(base), &measured(new), EVERY_CHANGE);
    assert_eq!(compared.paths[0].verdict, Lower);
}

#[test]
fn another_program_is_a_difference_and_another_kernel_is_none() {
    let base = steady(&[row(User, "", 1, 5000)]);
    let mut new = base.clone();
    new.configuration.image_sha256 = "ff".repeat(32);
    new.program.modules = vec!["ext4".into()];
    assert_eq!(differences(&base.result(), &new.result()), []);
    new.program.command = vec!["/bin/echo".into(), "good bye".into()];
    new.program.environment.clear();
    new.program.packed_sha256 = "ee".repeat(32);
    new.configuration.runs = 9;
    let differences = differences(&base.result(), &new.result());
    let fields: Vec<&str> = differences.iter().map(|it| it.field.as_str()).collect();
    let expected = ["program.command", "program.environment", "program.packed_sha256", "runs"];
    assert_eq!(fields, expected);
    assert_eq!(differences[0].new, "/bin/echo 'good bye'");
    assert_eq!(compare_programs(&base, &new).configuration_differences, differences);
}

#[test]
fn a_result_gives_the_costs_of_its_rows() {
    let result = whole_program().result();
    let costs: Vec<_> = result.row_costs().collect();
    let write = &costs[1];
    assert_eq!((write.kind, write.name), (Syscall, "write"));
    assert_eq!((write.first.instructions, write.first.per_call), (1000, Some(1000)));
    let later = write.later.as_ref().unwrap();
    assert_eq!(later.instructions, 800);
    let counted = events([("clock", 820), ("string-bytes", 160), ("data-lines", 40)]);
    assert_eq!(later.events, counted);
    assert_eq!(costs[2].later.as_ref().unwrap().instructions, 0);
    let sum = result.total(RowKind::Sum).unwrap();
    assert_eq!((sum.first.instructions, sum.later.unwrap().instructions), (6900, 5800));
}

fn any_run() -> impl Strategy<Value = ProgramRun> {
    let kinds = [User, Syscall, PageFault, Interrupt];
    let row_of = (0..kinds.len(), 0..3_usize, 0..50_u64, 0..1_000_000_u64);
    proptest::collection::vec(row_of, 0..8).prop_map(move |rows| {
        let mut rows: Vec<ProgramRow> = rows
            .into_iter()
            .map(|(kind, name, calls, cost)| row(kinds[kind], ["a", "b", "c"][name], calls, cost))
            .collect();
        rows.sort_by(|one, next| (one.kind, &one.name).cmp(&(next.kind, &next.name)));
        rows.dedup_by(|one, next| (one.kind, &one.name) == (next.kind, &next.name));
        run(&rows)
    })
}

/// A result with a first run, and six later ones that do the same as each other.
fn any_result() -> impl Strategy<Value = ProgramExample> {
    (any_run(), any_run()).prop_map(|(first, later)| {
        let mut runs = vec![first];
        runs.resize(7, later);
        program("vmlinuz", runs)
    })
}

proptest! {
    #[test]
    fn the_differences_of_all_rows_add_up(base in any_result(), new in any_result()) {
        let comparison = compare_programs(&base, &new);
        let (rows, sum) = (rows(&comparison), find_path(&comparison, SUM));
        prop_assert_eq!(rows.iter().map(|row| first(row).2).sum::<i64>(), first(sum).2);
        // Of runs that all do the same, so do the later ones'.
        let later: i64 = rows.iter().map(|row| row.difference.unwrap()).sum();
        prop_assert_eq!(later, sum.difference.unwrap());
        let own = rows.iter().filter(|row| row.is_own_work()).map(|row| first(row).2);
        prop_assert_eq!(own.sum::<i64>(), first(find_path(&comparison, OWN_WORK)).2);
    }

    #[test]
    fn a_result_compared_with_itself_is_unchanged(
        runs in proptest::collection::vec(any_run(), 1..6)
    ) {
        let result = program("vmlinuz", runs);
        let comparison = compare_programs(&result, &result);
        prop_assert!(rows(&comparison).into_iter().all(is_unchanged));
        prop_assert!(!costs_more(&comparison));
    }
}

#[test]
fn what_goes_up_in_one_run_and_down_in_another_is_no_change() {
    // `munmap` of one program, on two kernels that differ in layout only.
    let base = [101_000, 103_371, 96_830, 100_890, 101_485, 99_880, 103_715];
    let new = [101_000, 103_383, 96_830, 100_872, 101_479, 99_868, 103_703];
    let munmap = |runs: &[u64]| moving(Syscall, "munmap", runs);
    let comparison = compare_programs(&munmap(&base), &munmap(&new));
    assert_eq!(only(&comparison).verdict, Same);
    assert!(!costs_more(&comparison));

    // The same with 60 instructions more is a change, and so is a slow path in two of the runs.
    let worse = new.map(|instructions| instructions + 60);
    assert_eq!(only(&compare_programs(&munmap(&base), &munmap(&worse))).verdict, Higher);
    let mut slow = base;
    slow[2] += 20_000;
    slow[5] += 20_000;
    assert_eq!(only(&compare_programs(&munmap(&base), &munmap(&slow))).verdict, ModeAppeared);
}

/// This result, with all instructions that the row has in this run in one function.
fn explained(result: ProgramExample, run: usize) -> ProgramExample {
    let ProgramRow { kind, name, instructions, .. } = result.runs[run].rows[0].clone();
    let function =
        FunctionCost { function: "f".into(), calls: 1, instructions, ..Default::default() };
    let functions = vec![RowFunctions { kind, name, functions: vec![function] }];
    ProgramExample { functions, ..result }
}

/// The program whose `read` has 100 instructions, with so many events of two functions.
fn with_events(lfences: u64, locked: u64) -> ProgramExample {
    let [lfence, lock] = [SlowInstruction::Lfence, SlowInstruction::Locked].map(Event::Slow);
    let of = |numbers: &[(Event, u64)]| -> BTreeMap<Event, u64> {
        numbers.iter().copied().filter(|(_, number)| *number > 0).collect()
    };
    let read = ProgramRow {
        events: of(&[(lfence, lfences), (lock, locked)]),
        ..row(Syscall, "read", 1, 100)
    };
    let function = |name: &str, numbers: &[(Event, u64)]| FunctionCost {
        function: name.into(),
        calls: 1,
        instructions: 50,
        events: of(numbers),
    };
    let functions =
        vec![function("fence", &[(lfence, lfences)]), function("work", &[(lock, locked)])];
    let functions = vec![RowFunctions { kind: Syscall, name: "read".into(), functions }];
    let example = program("vmlinuz", vec![run(&[read]); 7]);
    ProgramExample { events: vec![lock, lfence], functions, ..example }
}

#[test]
fn the_function_that_executes_an_event_more_is_told() {
    let comparison = compare_programs(&with_events(2, 3), &with_events(3, 3));
    let read = find_path(&comparison, "read");
    assert_eq!((read.verdict, read.difference), (EventsDiffer, Some(0)));
    let [fence] = &read.functions[..] else { panic!("{read:?}") };
    assert_eq!((&*fence.function, fence.difference), ("fence", 0));
    let lfence = Event::Slow(SlowInstruction::Lfence);
    assert_eq!(fence.events, EventDifferences::from([(lfence, 1)]));
}

/// A `read` of as many instructions in which the task slept and was preempted so often.
fn sleeping(sleeps: u64, preemptions: u64) -> ProgramExample {
    let switches = [(Event::Sleeps, sleeps), (Event::Preemptions, preemptions)];
    let events = switches.into_iter().filter(|(_, number)| *number > 0).collect();
    let read = ProgramRow { events, ..row(Syscall, "read", 1, 100) };
    let example = program("vmlinuz", vec![run(&[read]); 7]);
    ProgramExample { events: vec![Event::Sleeps, Event::Preemptions], ..example }
}

#[test]
fn a_sleep_more_is_a_cost_and_a_preemption_may_be_the_timers() {
    let slept = compare_programs(&sleeping(1, 1), &sleeping(2, 1));
    let read = find_path(&slept, "read");
    assert_eq!((read.verdict, &*read.events[0].event), (EventsDiffer, "sleeps"));
    let preempted = compare_programs(&sleeping(1, 1), &sleeping(1, 3));
    let read = find_path(&preempted, "read");
    assert_eq!(read.verdict, Same);
    let [event] = &read.events[..] else { panic!("{read:?}") };
    assert_eq!((&*event.event, event.difference, event.is_shown()), ("preemptions", 2, true));
}

#[test]
fn a_side_whose_functions_have_no_events_is_not_compared_by_them() {
    let mut earlier = with_events(2, 3);
    for one in &mut earlier.functions[0].functions {
        one.events.clear();
    }
    let comparison = compare_programs(&earlier, &with_events(2, 3));
    assert_eq!(find_path(&comparison, "read").functions, []);
}

/// Two results of a page fault and the timer, whose later runs are: one below all; the one that the
/// sum is shown of; that of the sum's value, 750, in which the sum differs by more; that of own
/// work's value, 700; and two above all. The fault has 51 more, in the sum's run `more`, of which
/// the timer takes back what is above 51.
fn shown_of_two_runs(more: u64) -> Comparison {
    let runs = [
        (900, 1, 51),
        (110, 1, 51),
        (640, 20, more),
        (740, 10, 55),
        (700, 201, 51),
        (1000, 1, 51),
        (1010, 1, 51),
    ];
    let rows_of =
        |fault, timer| run(&[row(PageFault, "write", 1, fault), row(Interrupt, "timer", 1, timer)]);
    let base = runs.map(|(fault, timer, _)| rows_of(fault, timer));
    let new = runs.map(|(fault, timer, more)| {
        let less = if fault == 640 { more - 51 } else { 0 };
        rows_of(fault + more, timer - less)
    });
    compare_programs(&program("vmlinuz", base.to_vec()), &program("vmlinuz", new.to_vec()))
}

#[test]
fn own_work_and_the_sum_are_shown_of_one_run_so_that_a_part_is_not_more_than_the_whole() {
    let comparison = shown_of_two_runs(51);
    let [own, sum] = [OWN_WORK, SUM].map(|name| find_path(&comparison, name));
    // Alone own work would be 700, of the run with its value.
    assert_eq!((own.base, own.difference), (Some(640), Some(51)));
    assert_eq!((sum.base, sum.difference), (Some(660), Some(51)));
    assert!(own.base < sum.base && own.new < sum.new, "{own:?} {sum:?}");
    assert_eq!(work(sum).parts.unwrap().higher, 51);
}

#[test]
fn where_own_work_differs_otherwise_in_the_sums_run_the_sum_is_shown_of_own_works() {
    let comparison = shown_of_two_runs(60);
    let [own, sum] = [OWN_WORK, SUM].map(|name| find_path(&comparison, name));
    assert_eq!((own.base, own.difference), (Some(700), Some(51)));
    // Alone the sum would be 660, less than own work.
    assert_eq!((sum.base, sum.difference), (Some(901), Some(51)));
}

#[test]
fn rows_have_the_functions_that_they_differ_in() {
    let base = explained(moving(Syscall, "read", &[900, 100, 104, 102]), 1);
    let new = explained(moving(Syscall, "read", &[950, 140, 150, 145]), 1);
    let compared = compare(&base.result(), &new.result(), EVERY_CHANGE);
    let row = compared.paths.iter().find(|row| row.path == "read").unwrap();
    let [function] = &row.functions[..] else { panic!("{row:?}") };
    assert_eq!((function.base, function.new, function.difference), (100, 140, 40));
    // Functions of one side alone say nothing of the other.
    let without = ProgramExample { functions: vec![], ..new };
    let compared = compare(&base.result(), &without.result(), EVERY_CHANGE);
    assert!(compared.paths.iter().all(|row| row.functions.is_empty()));
}

#[test]
fn processes_are_compared_by_their_place_under_the_first_one() {
    let base = two_processes();
    let comparison = compare_programs(&base, &base);
    let names: Vec<&str> = comparison.processes.iter().map(|row| &*row.path).collect();
    assert_eq!(names, ["sh", "sh/echo"]);
    assert!(comparison.processes.iter().all(|row| row.verdict == Verdict::Same));
    // Another program, with a process of another name.
    let mut new = two_processes();
    let renamed = ["dash", "dash/other"];
    for run in &mut new.runs {
        for (process, name) in run.processes.iter_mut().zip(renamed) {
            name.clone_into(&mut process.process);
        }
    }
    let comparison = compare_programs(&base, &new);
    let rows: Vec<_> =
        comparison.processes.iter().map(|row| (&*row.path, row.base, row.new)).collect();
    let expected = [
        ("dash", Some(5000), Some(5000)),
        ("dash/echo", Some(800), Some(0)),
        ("dash/other", Some(0), Some(800)),
    ];
    assert_eq!(rows, expected);
    assert_eq!(compare_programs(&base, &whole_program()).processes, []);
}
