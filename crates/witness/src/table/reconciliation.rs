//! Why rows of a witness' table differ: where the executions of one window in each interpreter
//! diverge, and which instructions were executed a different number of times.

use pathmeter_report::{Align, QUIET, Style, Table, grouped, signed};
use pathmeter_trace::{Cause, ExecutedOften, FlowDifference, Interpreter, Reconciled};

use super::{WitnessCounts, WitnessOutcome, WitnessRow};

/// Most lines of each list.
const MOST_LINES: usize = 12;

/// What is said below the table, of each row that differs.
pub(super) fn explanations(rows: &[WitnessRow], style: Style) -> String {
    let told = rows.iter().filter_map(|row| match (&row.outcome, &row.reconciled) {
        (WitnessOutcome::Both(counts), Some(why)) => {
            Some(explanation(&row.path, counts, why, style))
        }
        _ => None,
    });
    told.collect()
}

fn explanation(path: &str, counts: &WitnessCounts, why: &Reconciled, style: Style) -> String {
    let difference = signed(counts.difference());
    let [qemu, bochs] = counts.shown.map(|window| window + 1);
    let shift = counts
        .shift
        .map_or_else(String::new, |shift| format!(" Each window has {} in Bochs.", signed(shift)));
    let verdict = match why {
        Reconciled::Decided(_) => {
            "explained: both count right, and the kernel decided differently by its data".to_owned()
        }
        Reconciled::Diverged(_) => {
            "the interpreters do differently with the same instruction".to_owned()
        }
        Reconciled::Miscounted { executed } => format!(
            "AN ERROR OF COUNTING: both executed the same instructions, {} steps of Bochs' clock",
            grouped(*executed)
        ),
        Reconciled::Incomplete(what) => format!("not explained: {what}"),
    };
    let title = format!(
        "{path}: {difference}, {verdict}.{shift} Window {qemu} of QEMU and window {bochs} of Bochs \
         were recorded."
    );
    let lists = match why {
        Reconciled::Decided(difference) | Reconciled::Diverged(difference) => {
            lists(difference, style)
        }
        Reconciled::Miscounted { .. } | Reconciled::Incomplete(_) => String::new(),
    };
    format!("\n{}\n{lists}", style.fill(&title, 0))
}

fn lists(difference: &FlowDifference, style: Style) -> String {
    let mut table = Table::new(&[
        ("diverge at", Align::Left),
        ("", Align::Left),
        ("times", Align::Right),
        ("difference", Align::Right),
        ("why", Align::Left),
    ]);
    let divergences = &difference.divergences;
    for one in divergences.iter().take(MOST_LINES) {
        table.row([
            one.place.as_str().into(),
            one.mnemonic.as_str().into(),
            grouped(one.times).into(),
            signed(one.difference).into(),
            cause(&one.cause).into(),
        ]);
    }
    let rest = divergences.iter().skip(MOST_LINES);
    let (times, sum) =
        rest.fold((0, 0), |(times, sum), one| (times + one.times, sum + one.difference));
    if times > 0 {
        let others = format!("{} other places", divergences.len() - MOST_LINES);
        table.row([others.into(), "".into(), grouped(times).into(), signed(sum).into(), "".into()]);
    }
    let is_short = difference.instructions.len() <= MOST_LINES;
    let (heading, often) = if is_short {
        ("instruction executed", &difference.instructions)
    } else {
        ("function", &difference.functions)
    };
    table.render(style) + "\n" + &executed(heading, often, style)
}

fn cause(cause: &Cause) -> String {
    match cause {
        Cause::Taken(side) => format!("taken in {} only", name(*side)),
        Cause::Repeated(side) => format!("more iterations in {}", name(*side)),
        Cause::Led([qemu, bochs]) => format!("to {qemu} in QEMU, to {bochs} in Bochs"),
        Cause::Interrupt(side, entry) => format!("an interrupt in {} only: {entry}", name(*side)),
        Cause::Exception(side, entry) => format!("an exception in {} only: {entry}", name(*side)),
        Cause::Code([qemu, bochs]) => format!("then {qemu} in QEMU, {bochs} in Bochs"),
    }
}

fn name(side: Interpreter) -> &'static str {
    match side {
        Interpreter::Qemu => "QEMU",
        Interpreter::Bochs => "Bochs",
    }
}

/// What was executed a different number of times.
fn executed(heading: &str, often: &[ExecutedOften], style: Style) -> String {
    let mut table = Table::new(&[
        (heading, Align::Left),
        ("in QEMU", Align::Right),
        ("in Bochs", Align::Right),
        ("difference", Align::Right),
    ]);
    for one in often.iter().take(MOST_LINES) {
        let [qemu, bochs] = one.executions.map(grouped);
        table.row([
            one.place.as_str().into(),
            qemu.into(),
            bochs.into(),
            signed(one.difference()).into(),
        ]);
    }
    let rest: i64 = often.iter().skip(MOST_LINES).map(ExecutedOften::difference).sum();
    if often.len() > MOST_LINES {
        let others = format!("{} others", often.len() - MOST_LINES);
        table.row([others.into(), "".into(), "".into(), signed(rest).into()]);
    }
    let sum: i64 = often.iter().map(ExecutedOften::difference).sum();
    let sum = format!("Sum of the differences: {}.", signed(sum));
    table.render(style) + &style.paint(&sum, QUIET) + "\n"
}
