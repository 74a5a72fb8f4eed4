//! The sentences at the top: what changed most, by how much, and in which function.

mod folders;
mod program;

use pathmeter_model::{Comparison, PathComparison, Unit, Verdict, median_percent};
use pathmeter_trace::{Difference, Explain, FunctionDifference, SubjectWindow};

pub(crate) use self::folders::describe_folders;
use self::program::describe_program;
pub(crate) use self::program::describe_work;
use crate::causes::origin;
use crate::number::{grouped, percent, signed, unit_word};
use crate::severity::worst_first;
use crate::style::Style;

const WORSE: [Verdict; 3] = [Verdict::Higher, Verdict::ModeAppeared, Verdict::LongerTail];
const BETTER: [Verdict; 2] = [Verdict::Lower, Verdict::ShorterTail];
/// As many paths must differ for their median to say more than they do by themselves.
const WORTH_A_MEDIAN: usize = 3;

/// The first line of a comparison on a terminal: what it comes to, and the causes if they are
/// known.
pub(crate) fn write_first_line(comparison: &Comparison, style: Style) -> String {
    let causes = origin(comparison).filter(|_| comparison.causes.is_some());
    let all: Vec<String> = std::iter::once(describe(comparison, &[])).chain(causes).collect();
    style.fill(&all.join(" "), 0) + "\n"
}

/// What a comparison comes to.
pub(crate) fn describe(comparison: &Comparison, explanations: &[Explain]) -> String {
    describe_program(comparison).unwrap_or_else(|| describe_paths(comparison, explanations))
}

/// `3 of 43 paths cost more, 2 less: switch.yield +34 instructions (+1.02 %), in
/// finish_task_switch; the median of these 5 is +0.40 %.`
fn describe_paths(comparison: &Comparison, explanations: &[Explain]) -> String {
    let mut sorted = worst_first(&comparison.paths);
    sorted.retain(|row| row.is_own_work());
    let summary = comparison.own_summary();
    let count = |verdict| summary.count(verdict);
    let first = |verdicts: &[Verdict]| sorted.iter().find(|it| verdicts.contains(&it.verdict));
    let executed = summary.paths - count(Verdict::Unsupported);
    let of = |number: usize| format!("{number} of {}", count_paths(executed));
    let higher = WORSE.map(count).iter().sum();
    let lower: usize = BETTER.map(count).iter().sum();
    let less = if lower > 0 { format!(", {lower} less") } else { String::new() };
    let median = describe_median(&comparison.paths);
    let mut parts = Vec::new();
    if let Some(broken) = first(&[Verdict::Broken]) {
        let verb = if count(Verdict::Broken) == 1 { "is" } else { "are" };
        parts.push(format!("{} {verb} broken: {}.", of(count(Verdict::Broken)), broken.path));
    }
    match (first(&WORSE), first(&BETTER), first(&[Verdict::EventsDiffer])) {
        (Some(worst), ..) => {
            let change = describe_change(worst, explanations);
            let verb = conjugate_cost(higher);
            parts.push(format!("{} {verb} more{less}: {change}{median}.", of(higher)));
        }
        (_, Some(best), _) => parts.push(format!(
            "Nothing costs more; {} {} less: {}{median}.",
            of(lower),
            conjugate_cost(lower),
            describe_change(best, explanations)
        )),
        (_, _, Some(other)) => parts.push(format!(
            "{}; {} {} in other events: {}.",
            describe_equality(&comparison.paths),
            of(count(Verdict::EventsDiffer)),
            if executed == 1 { "differs" } else { "differ" },
            describe_events(other)
        )),
        _ if parts.is_empty() && count(Verdict::Same) > 0 => {
            let same = count_paths(count(Verdict::Same));
            let verb = conjugate_cost(count(Verdict::Same));
            parts.push(match comparison.threshold_percent {
                None => format!("Nothing differs: {same} {verb} the same."),
                Some(threshold) => {
                    format!("Nothing differs by the threshold of {threshold} %: {same} compared.")
                }
            });
        }
        _ if parts.is_empty() => parts.push("No path could be compared.".to_owned()),
        _ => {}
    }
    parts.join(" ")
}

/// The verb of so many paths.
fn conjugate_cost(paths: usize) -> &'static str {
    if paths == 1 { "costs" } else { "cost" }
}

/// What is said of the instructions where no path costs more or less: the median pair of runs may
/// differ all the same, if not all pairs differ in one direction.
fn describe_equality(paths: &[PathComparison]) -> &'static str {
    if paths.iter().all(|path| path.difference.is_none_or(|by| by == 0)) {
        "As many instructions everywhere"
    } else {
        "No path differs in instructions by a verdict"
    }
}

/// `; the median of these 5 is +0.40 %`; nothing of few paths.
fn describe_median(paths: &[PathComparison]) -> String {
    let is_changed = |path: &&PathComparison| {
        path.is_own_work() && (WORSE.contains(&path.verdict) || BETTER.contains(&path.verdict))
    };
    let changed: Vec<&PathComparison> = paths.iter().filter(is_changed).collect();
    let differ: Vec<f64> = changed.iter().filter_map(|path| path.percent).collect();
    match differ.len() {
        few if few < WORTH_A_MEDIAN => String::new(),
        many => {
            let median = median_percent(differ).map_or_else(String::new, percent);
            let are_all = many == changed.len();
            let of = if are_all { format!("these {many}") } else { format!("{many} of these") };
            format!("; the median of {of} is {median}")
        }
    }
}

fn is_different(path: &PathComparison) -> bool {
    !matches!(path.verdict, Verdict::Same | Verdict::Unsupported)
}

/// `+7,999 instructions (+0.08 %)`.
pub(crate) fn describe_amount(path: &PathComparison) -> String {
    let changed = match path.difference.unwrap_or(0) {
        0 => "as many".to_owned(),
        difference => signed(difference),
    };
    let part = path.percent.map(percent).filter(|part| !part.is_empty());
    let part = part.map_or_else(String::new, |part| format!(" ({part})"));
    format!("{changed} {}{part}", name_unit(path.difference.unwrap_or(0), path.unit))
}

/// `instruction` of one more or less, `instructions` of others.
fn name_unit(change: i64, unit: Unit) -> &'static str {
    match (change, unit) {
        (1 | -1, Unit::Instructions) => "instruction",
        _ => unit_word(unit),
    }
}

pub(crate) fn count_paths(paths: usize) -> String {
    format!("{paths} {}", if paths == 1 { "path" } else { "paths" })
}

/// `switch.yield +34 instructions (+1.02 %), in finish_task_switch`.
fn describe_change(path: &PathComparison, explanations: &[Explain]) -> String {
    let explained = explanations.iter().find(|explain| explain.path == path.path);
    describe_step(path, explained.and_then(|explain| explain.difference.as_ref()))
}

/// A row and its change, with the function that it is in if that is known.
pub(crate) fn describe_step(path: &PathComparison, difference: Option<&Difference>) -> String {
    let mut text = path.path.clone();
    if let Some(changed) = path.difference.filter(|difference| *difference != 0) {
        text.extend([" ", &signed(changed), " ", name_unit(changed, path.unit)]);
    }
    if let Some(part) = path.percent.map(percent).filter(|part| !part.is_empty()) {
        text.extend([" (", &part, ")"]);
    }
    if matches!(path.verdict, Verdict::ModeAppeared | Verdict::LongerTail) {
        text += ", at times";
    }
    let place = difference.and_then(find_culprit);
    place.map_or(text.clone(), |place| format!("{text}, {place}"))
}

fn describe_events(path: &PathComparison) -> String {
    let shown = path.shown_events().take(3);
    let texts: Vec<String> =
        shown.map(|event| format!("{} {}", event.event, signed(event.difference))).collect();
    format!("{} {}", path.path, texts.join(", "))
}

/// A row and its change: `openat +5,822 instructions (+5.26 %)`, `read string-bytes +4,096`.
fn describe_row(path: &PathComparison) -> String {
    match path.verdict {
        Verdict::Broken => format!("{} is broken", path.path),
        _ if path.difference == Some(0) => describe_events(path),
        _ => describe_step(path, None),
    }
}

/// What a recording by itself shows.
pub(crate) fn describe_explanation(explain: &Explain) -> String {
    let Some((new, difference)) = explain.new.as_ref().zip(explain.difference.as_ref()) else {
        return describe_window(&explain.base);
    };
    let base = &explain.base;
    let sides = if base.path == new.path {
        format!("{}, {} → {}", new.path, base.name, new.name)
    } else {
        format!("{} → {} on {}", base.path, new.path, new.name)
    };
    let place = find_culprit(difference).map(|place| format!(", {place}")).unwrap_or_default();
    let unit = name_unit(difference.total, Unit::Instructions);
    format!("{sides}: {} {unit}{place}.", signed(difference.total))
}

/// `syscall.getppid on cloud.deb: 356 instructions, the largest part in entry_SYSCALL_64 itself
/// (111).` What a function calls is not in its part.
fn describe_window(subject: &SubjectWindow) -> String {
    let counted = subject.window.functions.iter().map(|it| (it.counts.instructions, &it.name));
    let most = counted.filter(|(own, _)| *own > 0).max_by_key(|(own, _)| *own);
    let most = most.map(|(own, name)| {
        let total = subject.window.total;
        let part = if own > total / 2 { "most of them" } else { "the largest part" };
        format!(", {part} in {name} itself ({})", grouped(own))
    });
    format!(
        "{} on {}: {} instructions{}.",
        subject.path,
        subject.name,
        grouped(subject.window.total),
        most.unwrap_or_default()
    )
}

/// The function that a difference is in, for a sentence: the one that changed most in the same
/// direction, and whether all or most of the difference is in it.
pub(crate) fn find_culprit(difference: &Difference) -> Option<String> {
    let total = difference.total;
    let same = |function: &&FunctionDifference| function.difference.signum() == total.signum();
    let function = difference.functions.iter().filter(same).find(|it| it.difference != 0)?;
    let changed = difference.functions.iter().filter(|it| it.difference != 0).count();
    let FunctionDifference { name, difference, .. } = function;
    let most = difference.unsigned_abs() > total.unsigned_abs() / 2;
    Some(match (changed, most) {
        (1, _) => format!("in {name}"),
        (_, true) => format!("most in {name} ({})", signed(*difference)),
        (_, false) => format!("the largest part in {name} ({})", signed(*difference)),
    })
}

#[cfg(test)]
mod tests {
    use pathmeter_model::example::runs::{program, row as work, run};
    use pathmeter_model::{RowKind, Threshold, compare, example};

    use super::*;

    fn compare_syscalls(base: &[(&str, u64)], new: &[(&str, u64)]) -> Comparison {
        let result = |rows: &[(&str, u64)]| {
            let rows = rows.iter().map(|(name, cost)| work(RowKind::Syscall, name, 1, *cost));
            let rows: Vec<_> = rows.chain([work(RowKind::Interrupt, "timer", 1, 7)]).collect();
            let configuration = example::configuration("6.1.0", 6);
            program("vmlinuz", configuration, vec![run(0, rows); 7]).result()
        };
        compare(&result(base), &result(new), Threshold::default())
    }

    #[test]
    fn a_program_is_its_own_work_and_the_row_with_the_most_instructions() {
        let base = [("openat", 5_000_000), ("pipe2", 900), ("read", 10_000)];
        let new = [("openat", 5_657_295), ("pipe2", 1557), ("read", 10_000)];
        assert_eq!(
            describe(&compare_syscalls(&base, &new), &[]),
            "The program and its system calls cost 657,952 instructions more (+13.13 %), \
             5,010,900 → 5,668,852: most in openat, +657,295."
        );
        assert_eq!(
            describe(&compare_syscalls(&base, &base), &[]),
            "The program and its system calls cost the same."
        );
    }

    #[test]
    fn page_faults_that_a_processor_may_not_take_are_doubted_in_the_sentence() {
        let result = |of_qemu: &[RowKind], faults: u64| {
            let rows = of_qemu.iter().map(|kind| work(*kind, "read", 4, 4000));
            let fault = work(RowKind::PageFault, "write", faults, 1000 * faults);
            let rows: Vec<_> = rows.chain([fault]).collect();
            let configuration = example::configuration("6.1.0", 6);
            program("vmlinuz", configuration, vec![run(0, rows); 7]).result()
        };
        let sentence = |of_qemu| {
            let sides = [result(of_qemu, 3), result(of_qemu, 2051)];
            describe(&compare(&sides[0], &sides[1], Threshold::default()), &[])
        };
        let doubted = sentence(&[RowKind::InterpreterFault]);
        assert!(
            doubted.ends_with("+2,048,000. A processor may take other page faults than QEMU."),
            "{doubted}"
        );
        assert!(sentence(&[]).ends_with("+2,048,000."), "{}", sentence(&[]));
    }

    #[test]
    fn paths_have_the_median_of_those_that_differ() {
        let result = |costs: &[u64]| {
            let paths = costs.iter().zip('a'..);
            let paths = paths.map(|(cost, name)| example::path(&format!("x.{name}"), &[*cost; 4]));
            example::measurement("k", example::configuration("6.1.0", 4), paths.collect())
        };
        let sentence = |new: &[u64]| {
            let base = result(&vec![1000; new.len()]);
            describe(&compare(&base, &result(new), Threshold::default()), &[])
        };
        assert_eq!(
            sentence(&[1010, 1030, 980, 1000]),
            "2 of 4 paths cost more, 1 less: x.b +30 instructions (+3.00 %); the median of these 3 \
             is +1.00 %."
        );
        assert_eq!(
            sentence(&[1010, 1000]),
            "1 of 2 paths costs more: x.a +10 instructions (+1.00 %)."
        );
    }
}
