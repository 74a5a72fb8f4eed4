//! The table of a kernel's settings: a row a setting that changes something, the others in a line
//! each kind. Numbers are prices: what it costs to have a setting, or what a setting turns off.

mod sentence;

use pathmeter_model::{
    Configuration, EventChange, EventSpread, FunctionShare, PathSum, RowShare, SettingChange,
    SettingCost, SettingOutcome, SettingRow, SettingsResult, SettingsSet, Subject, Verdict, clean,
    command_line, gate_lines,
};

pub(crate) use self::sentence::sentence;
use crate::causes::name_causes;
use crate::measurement::footer;
use crate::number::{grouped, percent, plural, signed};
use crate::rows::Rows;
use crate::style::Style;
use crate::table::{Align, Table};

/// Heading of the settings by which prices were found.
const FOUND: &str = "found with";
/// Sums that are shown: of the paths that change most.
const SUMS: usize = 3;
/// What the prices and their percentages are.
const PRICES: &str = "a price is instructions of the kernel that has it, less those of the kernel \
     that does not, and percent are of the latter";
/// What they are of a setting that turns something off: who asks what a mitigation costs must not
/// read that it saves.
const FOUND_WITH: &str = "; where a setting turns something off, that is priced, by the kernel as \
     it is and under the setting that stands beside it";
/// What becomes of settings without numbers, in words.
pub(crate) const FOLDED: [(SettingOutcome, &str); 6] = [
    (SettingOutcome::NoEffect, "no effect here"),
    (SettingOutcome::Unproved, "unproved, and nothing changed"),
    (SettingOutcome::Unknown, "not known to this kernel"),
    (SettingOutcome::Unseen, "this guest can't show"),
    (SettingOutcome::Refused, "refused by this kernel"),
    (SettingOutcome::Failed, "not measured"),
];

/// The tables of each result, below its kernel and CPU if there are several.
pub fn settings_tables(results: &[SettingsResult], shown: Rows, style: Style) -> String {
    match results {
        [one] => settings_table(one, shown, style),
        several => {
            let table = |result: &SettingsResult| {
                format!("{}\n\n{}", clean(&result.base.name), settings_table(result, shown, style))
            };
            several.iter().map(table).collect::<Vec<_>>().join("\n")
        }
    }
}

/// The answer in a sentence, the tables of all sets, and what was measured on which machine.
fn settings_table(result: &SettingsResult, shown: Rows, style: Style) -> String {
    let program = result.program.as_deref();
    let section = |set| of_set(set, program, shown, style) + "\n";
    let sets: String = result.sets.iter().map(section).collect();
    let answer = style.fill(&sentence(result), 0) + "\n\n";
    answer + &sets + &legend(result, style) + &machine(result, style)
}

fn of_set(set: &SettingsSet, program: Option<&[String]>, shown: Rows, style: Style) -> String {
    format!(
        "{}: {}\n{}{}{}{}{}{}",
        clean(&set.name),
        clean(&set.title),
        of_paths(set, style),
        causes(set, style),
        program.map_or_else(String::new, |command| of_program(set, command, style)),
        folded(set, shown, style),
        gated(set, style),
        sums(set, style)
    )
}

/// What the settings cost the paths; nothing if none of them does.
fn of_paths(set: &SettingsSet, style: Style) -> String {
    let mut rows = changed_rows(set).filter(|row| !row.changed.is_empty()).peekable();
    if rows.peek().is_none() {
        return String::new();
    }
    let mut table = Table::new(&[
        ("price of", Align::Left),
        (FOUND, Align::Left),
        ("paths", Align::Right),
        ("most in", Align::Left),
        ("price", Align::Right),
        ("percent", Align::Right),
        ("median", Align::Right),
        ("function", Align::Left),
        ("events", Align::Left),
    ])
    .sparing(&["median"])
    .with_whole_remarks();
    for row in rows {
        let largest = row.changed.first();
        table.row([
            row.name_priced().into(),
            setting_beside(row).into(),
            format!("{} of {}", row.changed.len(), row.compared).into(),
            largest.map_or("", |change| &change.path).into(),
            largest.map_or_else(String::new, by_how_much).into(),
            largest.map_or_else(String::new, |change| percent(change.cost().percent)).into(),
            row.median_cost().map_or_else(String::new, of_median).into(),
            function(row).into(),
            events(row).into(),
        ]);
    }
    format!("\n{}", table.render(style))
}

/// The setting by which a price was found, if that is not what is priced.
pub(crate) fn setting_beside(row: &SettingRow) -> &str {
    if row.turns_off.is_some() { &row.setting } else { "" }
}

/// The causes of the differences of each setting, if they are known.
fn causes(set: &SettingsSet, style: Style) -> String {
    let line = |row: &SettingRow| Some(style.fill(&describe_setting(row)?, 2) + "\n");
    let lines: String = changed_rows(set).filter_map(line).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// `With boot:audit=1, 31 of 49 paths differ. Instructions: entry and exit, +162 in 31 rows (…).`
/// The causes are of the kernel under the setting, so they say `without` of what that turns off.
pub(crate) fn describe_setting(row: &SettingRow) -> Option<String> {
    let named = row.causes.as_ref().and_then(name_causes)?;
    let changed = row.changed.len();
    let verb = if changed == 1 { "differs" } else { "differ" };
    let which = if row.turns_off.is_some() { "Without" } else { "With" };
    let of = plural(row.compared, "path");
    Some(format!("{which} {}, {changed} of {of} {verb}. {named}", row.name_priced()))
}

fn changed_rows(set: &SettingsSet) -> impl Iterator<Item = &SettingRow> {
    set.rows.iter().filter(|row| row.outcome == SettingOutcome::Changed)
}

/// What the settings cost the user's program: its own work in the later runs.
fn of_program(set: &SettingsSet, command: &[String], style: Style) -> String {
    let mut table = Table::new(&[
        ("price of", Align::Left),
        (FOUND, Align::Left),
        ("price", Align::Right),
        ("percent", Align::Right),
        ("most in", Align::Left),
        ("events", Align::Left),
    ])
    .with_whole_remarks();
    let costs = changed_rows(set).filter_map(|row| row.program.as_ref().map(|cost| (row, cost)));
    let costs: Vec<_> = costs.collect();
    let base = describe_base(&costs.iter().map(|(_, cost)| cost.base).collect::<Vec<_>>());
    let (same, changed): (Vec<_>, Vec<_>) = costs.into_iter().partition(|(_, cost)| is_same(cost));
    for (row, cost) in &changed {
        let sign = row.sign();
        let most = cost.row.as_ref().map_or_else(String::new, |share| share_of_row(share, sign));
        table.row([
            row.name_priced().into(),
            setting_beside(row).into(),
            signed(cost.cost().difference).into(),
            percent(cost.cost().percent).into(),
            most.into(),
            changes(&cost.events, sign).into(),
        ]);
    }
    let heading = format!("program: {}{base}", clean(&command_line(command)));
    let heading = format!("\n{}\n\n", style.fill(&heading, 2));
    let table = if changed.is_empty() { String::new() } else { table.render(style) };
    let same: Vec<&str> = same.iter().map(|(row, _)| row.setting.as_str()).collect();
    let same = match &same[..] {
        [] => String::new(),
        same => style.fill(&format!("the program is the same: {}", same.join(", ")), 2) + "\n",
    };
    heading + &table + &same
}

/// `; 1,183,347 to 1,230,435 instructions on the kernel as it is, by run`: the levels that the
/// prices are added to. Each level is that of the pair of runs whose difference is the price.
fn describe_base(levels: &[u64]) -> String {
    let ends = levels.iter().min().zip(levels.iter().max());
    ends.map_or_else(String::new, |ends| match ends {
        (least, most) if least == most => {
            format!("; {} instructions on the kernel as it is", grouped(*least))
        }
        (least, most) => format!(
            "; {} to {} instructions on the kernel as it is, by run",
            grouped(*least),
            grouped(*most)
        ),
    })
}

fn is_same(cost: &SettingCost) -> bool {
    cost.verdict == Verdict::Same && cost.row.is_none() && cost.events.is_empty()
}

/// `openat +1,234 (+12 a call)`, with the differences times `sign`.
pub(crate) fn share_of_row(row: &RowShare, sign: i64) -> String {
    let a_call = row.per_call_difference.filter(|difference| *difference != 0);
    let a_call =
        a_call.map_or_else(String::new, |it| format!(" ({} a call)", times_sign(it, sign)));
    format!("{} {}{a_call}", row.name, times_sign(row.difference, sign))
}

/// The function that has most of the price, and how much.
pub(crate) fn function(row: &SettingRow) -> String {
    let share =
        |it: &FunctionShare| format!("{} {}", it.name, times_sign(it.difference, row.sign()));
    row.function.as_ref().map_or_else(String::new, share)
}

/// `string-bytes -24, lfence +1`, with the differences times `sign`.
pub(crate) fn changes(events: &[EventChange], sign: i64) -> String {
    let event = |it: &EventChange| format!("{} {}", it.event, times_sign(it.difference, sign));
    events.iter().map(event).collect::<Vec<_>>().join(", ")
}

fn times_sign(difference: i64, sign: i64) -> String {
    signed(difference.saturating_mul(sign))
}

/// The price in instructions; where there are as many, what else it costs: `string-bytes +24`.
pub(crate) fn by_how_much(change: &SettingChange) -> String {
    if change.difference != 0 || change.events.is_empty() {
        return signed(change.cost().difference);
    }
    changes(&change.events, if change.price.is_some() { -1 } else { 1 })
}

/// `verw -1 (23), string-bytes +80…+4,776 (7)`: by how much, in how many paths.
pub(crate) fn events(row: &SettingRow) -> String {
    let event = |it: &EventSpread| {
        let mut ends = [it.least, it.most].map(|end| end.saturating_mul(row.sign()));
        ends.sort_unstable();
        let by = match ends {
            [least, most] if least == most => signed(least),
            [least, most] => format!("{}…{}", signed(least), signed(most)),
        };
        format!("{} {by} ({})", it.event, it.paths)
    };
    row.events.iter().map(event).collect::<Vec<_>>().join(", ")
}

/// The settings without numbers, by what became of them. Why a guest can't show some is long, and
/// the same for every kernel.
fn folded(set: &SettingsSet, shown: Rows, style: Style) -> String {
    let line = |(outcome, heading): (SettingOutcome, &str)| {
        let rows = set.rows.iter().filter(|row| row.outcome == outcome);
        let named: Vec<String> = rows.map(|row| format_setting_name(row, outcome)).collect();
        let is_folded =
            shown == Rows::Folded && outcome == SettingOutcome::Unseen && named.len() > 1;
        let text = if is_folded {
            format!("{heading} {} settings: --all names them, and why", named.len())
        } else {
            format!("{heading}: {}", named.join(", "))
        };
        if named.is_empty() { String::new() } else { style.fill(&text, 2) + "\n" }
    };
    let lines: String = FOLDED.into_iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// A setting with the reason why it has no numbers, where the outcome does not say all.
pub(crate) fn format_setting_name(row: &SettingRow, outcome: SettingOutcome) -> String {
    let reasoned = matches!(
        outcome,
        SettingOutcome::Unproved
            | SettingOutcome::Unseen
            | SettingOutcome::Refused
            | SettingOutcome::Failed
    );
    match (&row.reason, reasoned) {
        (Some(reason), true) => format!("{} ({reason})", row.setting),
        _ => row.setting.clone(),
    }
}

/// A median, which may be 0 though some paths differ.
pub(crate) fn of_median(median: f64) -> String {
    if median == 0.0 { "0 %".to_owned() } else { percent(median) }
}

/// The settings that fail `--check`, and why.
fn gated(set: &SettingsSet, style: Style) -> String {
    let line = |row: &SettingRow| {
        let gate = row.gate.as_ref().filter(|gate| !gate.worse.is_empty())?;
        let head = format!("--check fails: {}\n", clean(&row.setting));
        let why = gate_lines(&gate.worse);
        let why = why.iter().map(|why| style.fill(&format!("  {why}"), 4) + "\n");
        Some(head + &why.collect::<String>())
    };
    let lines: String = set.rows.iter().filter_map(line).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// What the parts come to, against the setting that stands for all.
fn sums(set: &SettingsSet, style: Style) -> String {
    let Some(all) = set.rows.iter().find(|row| row.all) else { return String::new() };
    let line = |sum: &PathSum| {
        let [parts, whole] = [sum.parts, sum.all].map(|it| times_sign(it, all.sign()));
        let text = match &all.turns_off {
            Some(all) => format!("{}: priced alone they sum to {parts}, {all} {whole}", sum.path),
            None => format!(
                "{}: the settings alone sum to {parts}, all together ({}) {whole}",
                sum.path, all.setting
            ),
        };
        style.fill(&text, 2) + "\n"
    };
    let lines: String = set.sums.iter().take(SUMS).map(line).collect();
    let head = "paths in which single settings and all together differ most:";
    if lines.is_empty() { lines } else { format!("\n{}\n{lines}", style.fill(head, 0)) }
}

fn legend(result: &SettingsResult, style: Style) -> String {
    let turned_off = result.sets.iter().flat_map(changed_rows).any(|row| row.turns_off.is_some());
    let text = format!("{PRICES}{}", if turned_off { FOUND_WITH } else { "" });
    let more = "events: by how much they differ, in how many of the changed paths";
    style.fill(&text, 0) + "\n" + &style.fill(more, 0) + "\n"
}

fn machine(result: &SettingsResult, style: Style) -> String {
    let subject = Subject::kernel_image(&result.base.name);
    let configuration: &Configuration = &result.configuration;
    footer(&subject, configuration, &[], style)
}
