//! What a budget makes of a comparison, in a table.

use std::collections::BTreeSet;

use pathmeter_model::{
    BudgetOutcome, BudgetReport, BudgetRow, GateReport, Unit, Verdict, clean, percent_of,
};

use crate::number::{grouped, percent};
use crate::style::{Style, of_verdict};
use crate::table::{Align, Cell, Table};

/// A row for each rule that is not simply kept, how many are, and by what else `gate` fails; empty
/// without rules.
pub fn budget_table(report: &BudgetReport, gate: Option<&GateReport>, style: Style) -> String {
    let within = |row: &&BudgetRow| row.outcome == BudgetOutcome::Within;
    let kept = report.rows.iter().filter(within).count();
    let mut table = Table::new(&[
        ("budget", Align::Left),
        ("event", Align::Left),
        ("base", Align::Right),
        ("new", Align::Right),
        ("limit", Align::Left),
        ("outcome", Align::Left),
        ("reason", Align::Left),
    ])
    .sparing(&["base"])
    .with_whole_remarks();
    let others = report.rows.iter().filter(|row| !within(row));
    let mut empty = true;
    for row in others {
        table.row(cells(row));
        empty = false;
    }
    let table = if empty { String::new() } else { format!("\n{}\n", table.render(style)) };
    let sum = format!("{}: {kept} of {} limits are met", clean(&report.file), report.rows.len());
    let beyond = gate.and_then(beyond_limits).map(|it| format!("; {it}")).unwrap_or_default();
    table + &style.quiet(&format!("{sum}{beyond}"))
}

/// By which events the gate fails that no limit names, and how to leave them out.
fn beyond_limits(gate: &GateReport) -> Option<String> {
    let beyond = gate.worse.iter().filter(|reason| reason.line.is_none());
    let events: BTreeSet<&str> = beyond.filter_map(|reason| reason.event.as_deref()).collect();
    let own = [Unit::Instructions, Unit::Clock].map(|unit| unit.to_string());
    let is_own = |event: &&str| own.iter().any(|unit| unit == event);
    let (own, others): (Vec<&str>, Vec<&str>) = events.into_iter().partition(is_own);
    let names = |events: &[&str]| events.join(", ");
    match (&own[..], &others[..]) {
        ([], []) => None,
        (own, []) => Some(format!("--check fails by {}, where no limit names them", names(own))),
        (own, others) => Some(format!(
            "--check fails by {}, which no limit names: --check=instructions gates nothing but \
             instructions and the limits",
            names(&[own, others].concat())
        )),
    }
}

fn cells(row: &BudgetRow) -> [Cell; 7] {
    let paint = of_verdict(match row.outcome {
        BudgetOutcome::Within => Verdict::Same,
        BudgetOutcome::Over | BudgetOutcome::Expired => Verdict::Higher,
        BudgetOutcome::Accepted => Verdict::ModeAppeared,
        BudgetOutcome::NotJudged => Verdict::Unsupported,
    });
    let number = |value: Option<u64>| value.map_or_else(String::new, grouped);
    [
        row.path.as_str().into(),
        row.event.as_str().into(),
        number(row.base).into(),
        number(row.new).into(),
        limit(row).into(),
        Cell::painted(&row.outcome.to_string(), paint),
        reason(row, "line ").into(),
    ]
}

/// `max 3,800, +0.5%`; empty for what is accepted without a rule.
fn limit(row: &BudgetRow) -> String {
    let max = row.max.map(|max| format!("max {}", grouped(max)));
    let increase = row.max_increase.as_ref().map(|increase| format!("+{}", clean(increase)));
    max.into_iter().chain(increase).collect::<Vec<_>>().join(", ")
}

/// In which line the rule is, with what stands before its number, why it is accepted, and until
/// when.
fn reason(row: &BudgetRow, before: &str) -> String {
    let place = format!("{before}{}", row.line);
    let until = row.expires.as_ref().map(|day| match row.outcome {
        BudgetOutcome::Expired => format!("accepted until {}", clean(day)),
        _ => format!("until {}", clean(day)),
    });
    let is_less = row.base.zip(row.new).is_some_and(|(base, new)| new < base);
    let is_mode = row.outcome == BudgetOutcome::Over && row.is_of_pair() && is_less;
    let mode = is_mode.then(|| "a new mode counts wherever it lies".to_owned());
    let parts = std::iter::once(place).chain(mode).chain(until);
    let parts = parts.chain(row.reason.as_deref().map(clean));
    parts.collect::<Vec<_>>().join(", ")
}

/// The same in a line, of a budget in `file`; none of a limit that is kept.
pub fn sentence(row: &BudgetRow, file: &str) -> Option<String> {
    if row.outcome == BudgetOutcome::Within {
        return None;
    }
    let (limit, reason) = (limit(row), reason(row, &format!("{}:", clean(file))));
    let limit = if limit.is_empty() { limit } else { format!(" (limit: {limit})") };
    Some(format!("budget: {}{} {}{limit}, {reason}", clean(&row.event), values(row), row.outcome))
}

/// ` 3,300 → 3,333 (+1.00 %)`; where `max` is the limit, the value of new alone.
fn values(row: &BudgetRow) -> String {
    match (row.base.filter(|_| row.is_of_pair()), row.new) {
        (Some(base), Some(new)) => {
            let percent = percent_of((base, new)).map(percent).filter(|it| !it.is_empty());
            let percent = percent.map_or_else(String::new, |percent| format!(" ({percent})"));
            format!(" {} → {}{percent}", grouped(base), grouped(new))
        }
        (None, Some(new)) => format!(" {}", grouped(new)),
        (_, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathmeter_model::GateReason;

    #[test]
    fn a_failure_that_no_limit_names_is_told_beside_the_limits_that_are_met() {
        let report = BudgetReport { file: "b.toml".to_owned(), rows: Vec::new() };
        let table = |failing: &[(&str, Option<usize>)]| {
            let reason_of_budget = |(event, line): &(&str, Option<usize>)| GateReason {
                row: "openat".to_owned(),
                event: Some((*event).to_owned()),
                line: *line,
                ..GateReason::default()
            };
            let worse = failing.iter().map(reason_of_budget).collect();
            let gate = GateReport { worse, unjudged: Vec::new() };
            budget_table(
                &report,
                Some(&gate),
                Style { colour: false, width: None, table_width: None },
            )
        };
        let met = "b.toml: 0 of 0 limits are met";
        assert_eq!(table(&[("loads", Some(3))]), format!("{met}\n"));
        assert_eq!(
            table(&[("lfence", None), ("lfence", None), ("loads", Some(3))]),
            format!(
                "{met}; --check fails by lfence, which no limit names: --check=instructions gates \
                 nothing but instructions and the limits\n"
            )
        );
        let own = "; --check fails by instructions, where no limit names them\n";
        assert_eq!(table(&[("instructions", None)]), format!("{met}{own}"));
    }

    #[test]
    fn a_smaller_number_that_is_over_a_limit_is_said_to_be_a_new_mode() {
        let row = |new| BudgetRow {
            path: "process.thread".to_owned(),
            event: "instructions".to_owned(),
            rule: Some("*".to_owned()),
            line: 1,
            base: Some(24_891),
            new: Some(new),
            max: None,
            max_increase: Some("1%".to_owned()),
            outcome: BudgetOutcome::Over,
            reason: None,
            expires: None,
        };
        assert_eq!(
            sentence(&row(22_135), "b.toml").unwrap(),
            "budget: instructions 24,891 → 22,135 (-11.07 %) over (limit: +1%), b.toml:1, a new \
             mode counts wherever it lies"
        );
        assert!(!sentence(&row(26_000), "b.toml").unwrap().contains("mode"));
    }
}
