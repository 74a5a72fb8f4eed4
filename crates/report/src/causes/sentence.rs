//! What a comparison comes to, in one sentence.

use pathmeter_model::{Cause, CauseRow, Causes, Comparison, Summary, Verdict};

use super::wording::{each, each_execution, events, name, rows, telling};
use crate::compilers::describe_compilers;
use crate::number::{plural, signed};

/// Causes that the sentence names at most, and the least share of one.
const MOST: usize = 4;
const LEAST: f64 = 0.04;
/// What a sentence on causes begins with.
pub(crate) const INSTRUCTIONS: &str = "Instructions";
/// Most functions of a cause that are named.
const FUNCTIONS: usize = 2;
/// Other events named of each.
const EVENTS: usize = 1;

/// `40 of 51 rows differ: 34 higher, 6 lower. Instructions: entry and exit, +39 a call in 33 rows
/// (…); …; 41 more causes have 9 % of the difference.`
pub fn sentence(comparison: &Comparison) -> String {
    let counts = counts(&comparison.own_summary());
    std::iter::once(counts).chain(origin(comparison)).collect::<Vec<_>>().join(" ")
}

/// What the differences come from, as far as that is known: other compilers, the causes.
pub(crate) fn origin(comparison: &Comparison) -> Option<String> {
    let compilers = comparison.compilers.as_ref().and_then(describe_compilers);
    let causes = comparison.causes.as_ref().and_then(name_causes);
    let both: Vec<String> = compilers.into_iter().chain(causes).collect();
    (!both.is_empty()).then(|| both.join(" "))
}

/// How many of the rows that both can execute differ.
pub(crate) fn counts(summary: &Summary) -> String {
    let count = |verdict| summary.count(verdict);
    let executed = summary.paths - count(Verdict::Unsupported);
    let differ = executed - count(Verdict::Same);
    if executed == 0 {
        return "No row could be compared.".to_owned();
    }
    if differ == 0 {
        return format!("Nothing differs in {}.", plural(executed, "row"));
    }
    let kinds = Verdict::ALL.into_iter();
    let kinds = kinds.filter(|it| !matches!(it, Verdict::Same | Verdict::Unsupported));
    let kinds = kinds.filter(|verdict| count(*verdict) > 0);
    let kinds: Vec<String> = kinds.map(|verdict| format!("{} {verdict}", count(verdict))).collect();
    let verb = if differ == 1 { "differs" } else { "differ" };
    format!("{differ} of {} {verb}: {}.", plural(executed, "row"), kinds.join(", "))
}

/// The first causes, and how much the others have; nothing if there is none.
pub(crate) fn name_causes(causes: &Causes) -> Option<String> {
    describe_causes(causes, None)
}

/// The first causes of one row, without its name, and how much the others have.
pub(crate) fn name_causes_of_row(causes: &Causes, row: &CauseRow) -> Option<String> {
    describe_causes(causes, Some(row))
}

fn describe_causes(causes: &Causes, only: Option<&CauseRow>) -> Option<String> {
    if causes.causes.is_empty() {
        return None;
    }
    let named: Vec<&Cause> =
        causes.causes.iter().take(MOST).filter(|cause| cause.share >= LEAST).collect();
    let clauses: Vec<String> = named.iter().map(|cause| clause(cause, only)).collect();
    let rest = describe_rest(&causes.causes[named.len()..], named.is_empty());
    let all: Vec<String> = clauses.into_iter().chain(rest).collect();
    Some(format!("{INSTRUCTIONS}: {}.", all.join("; ")))
}

/// How much the causes have that are not named; nothing if all are.
fn describe_rest(rest: &[Cause], are_all: bool) -> Option<String> {
    let share: f64 = rest.iter().map(|cause| cause.share).sum();
    match rest.len() {
        0 => None,
        many if are_all => Some(format!(
            "{}, none of which has {:.0} % of the difference",
            plural(many, "cause"),
            100.0 * LEAST
        )),
        many => Some(format!(
            "{} {} {:.0} % of the difference",
            plural(many, "more cause"),
            if many == 1 { "has" } else { "have" },
            100.0 * share
        )),
    }
}

/// `entry and exit, +39 a call in 33 rows (prandom_u32_state (new), do_syscall_64; rdtsc -1)`; of
/// a row that is known without its name, and of a program's with what each execution costs.
fn clause(cause: &Cause, only: Option<&CauseRow>) -> String {
    let each = each(cause);
    let execution = only.and_then(|row| each_execution(cause, row)).filter(|it| !it.is_empty());
    let number = match each.contains('…') || each.is_empty() {
        _ if cause.difference == 0 => "as many".to_owned(),
        true => execution
            .map_or_else(|| signed(cause.difference), |mean| format!("{mean} an execution")),
        false => each,
    };
    let unnamed = number.ends_with("rows") || only.is_some();
    let rows = if unnamed { String::new() } else { format!(" {}", rows(cause)) };
    let names = telling(cause, FUNCTIONS).map(name).collect::<Vec<_>>().join(", ");
    let events = events(cause, EVENTS);
    let events = if events.is_empty() { events } else { format!("; {events}") };
    format!("{}, {number}{rows} ({names}{events})", cause.area.words())
}
