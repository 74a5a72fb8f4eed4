//! The tables of times: of one session, and of two sides compared.

use anstyle::{AnsiColor, Style as Paint};
use pathmeter_model::{
    Host, Level, NoCycle, PathTimes, Status, TimeComparison, TimeRow, TimeVerdict, Times, float,
};

use crate::number::{grouped, percent, plural};
use crate::rows::Rows;
use crate::style::{PLAIN, QUIET, Style};
use crate::table::{Align, Cell, Table};

/// A row for each path, then the notes and what was measured on which machine.
pub fn times_table(
    times: &Times,
    shown: impl Fn(&str) -> bool,
    rows: Rows,
    style: Style,
) -> String {
    let cycle = times.ticks_per_cycle();
    let mut table = Table::new(&[
        ("path", Align::Left),
        ("ns", Align::Right),
        ("±", Align::Right),
        ("ticks", Align::Right),
        ("cycles", Align::Right),
        ("A/A′", Align::Right),
        ("p99 ns", Align::Right),
        ("p99.9 ns", Align::Right),
        ("stalls", Align::Right),
        ("status", Align::Left),
        ("reason", Align::Left),
    ])
    .sparing(&["p99.9 ns", "stalls", "ticks"])
    .with_remarks();
    let paths: Vec<&PathTimes> = times.paths.iter().filter(|path| shown(&path.path)).collect();
    let folded = |path: &PathTimes| rows == Rows::Folded && path.status == Status::Unsupported;
    for path in paths.iter().filter(|path| !folded(path)) {
        table.row(row(times, path, cycle.ok()));
    }
    let left_out = paths.iter().filter(|path| folded(path)).count();
    table.render(style) + &unsupported(left_out, style) + &footer(times, cycle, style)
}

fn row(times: &Times, path: &PathTimes, cycle: Option<f64>) -> [Cell; 11] {
    let level = times.level(path, 0).filter(|_| path.status == Status::Ok);
    let ns = |ticks: u64| time(times.nanoseconds(float(ticks)));
    let single = path.single.filter(|_| level.is_some());
    let text = |text: Option<String>| Cell::from(text.unwrap_or_default());
    [
        path.path.as_str().into(),
        text(level.map(|level| time(times.nanoseconds(level.ticks)))),
        text(level.and_then(half_width)),
        text(level.map(|level| time(level.ticks))),
        text(level.zip(cycle).map(|(level, cycle)| time(level.ticks / cycle))),
        text(level.and_then(|_| times.copy_difference(path)).map(|share| format!("{share:+.2} %"))),
        text(single.map(|single| ns(single.p99))),
        text(single.map(|single| ns(single.p999))),
        text(level.filter(|it| it.stalls > 0).map(|it| grouped(it.stalls as u64))),
        if path.status == Status::Ok { "".into() } else { path.status.to_string().into() },
        path.reason.as_deref().unwrap_or_default().into(),
    ]
}

/// Half of a level's interval, as a share of the level.
pub(crate) fn half_width(level: Level) -> Option<String> {
    let width = level.interval?.width() / 2.0;
    (level.ticks > 0.0).then(|| format!("{:.1} %", 100.0 * width / level.ticks))
}

/// A time: three digits or more that matter, and no more decimals than two.
pub(crate) fn time(value: f64) -> String {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a time of a path, rounded; it is not negative"
    )]
    let whole = value.round() as u64;
    match value {
        ..10.0 => format!("{value:.2}"),
        ..1000.0 => format!("{value:.1}"),
        _ => grouped(whole),
    }
}

fn unsupported(count: usize, style: Style) -> String {
    if count == 0 {
        return String::new();
    }
    let text = format!("{} can't be executed here: --all shows why", plural(count, "more path"));
    style.paint(&text, QUIET) + "\n"
}

/// The notes, then the machine and how it was measured.
pub(crate) fn footer(times: &Times, cycle: Result<f64, NoCycle>, style: Style) -> String {
    noted(&times.notes, &facts_of_session(times, cycle), style)
}

/// The machine, and how it was measured.
pub(crate) fn facts_of_session(times: &Times, cycle: Result<f64, NoCycle>) -> [String; 4] {
    let method = &times.method;
    let tick = 1e9 / float(method.ticks_per_second);
    let core = match cycle {
        Ok(cycle) => format!("a cycle of the core is {cycle:.3} ticks"),
        Err(why) => format!("there are no cycles: {why}"),
    };
    [
        machine(&times.host),
        format!(
            "{} of {} a path; the 25th percentile of each, the median of all, ± its 95 % \
             interval; a tick {tick:.3} ns, read in steps of {}",
            processes(times),
            plural(2 * method.batches as usize, "batch").replace("batchs", "batches"),
            method.step,
        ),
        core,
        "A/A′: by how much the same path differed from itself in the same processes. A time is \
         this machine's, now"
            .to_owned(),
    ]
}

/// How many processes executed each path: `30 processes`, `30 to 212 processes`.
fn processes(times: &Times) -> String {
    let ok = times.paths.iter().filter(|path| path.status == Status::Ok);
    let counts: Vec<usize> = ok.map(|path| path.replicates.len()).collect();
    let most = counts.iter().copied().max().unwrap_or(0);
    let all = plural(most, "process").replace("processs", "processes");
    match counts.iter().min() {
        Some(fewest) if *fewest < most => format!("{fewest} to {all}"),
        _ => all,
    }
}

pub(crate) fn noted(notes: &[String], facts: &[String], style: Style) -> String {
    let notes = notes.iter().map(|note| style.fill(&format!("note: {note}"), 0) + "\n");
    let facts = facts.iter().map(|fact| style.paint(&style.fill(fact, 0), QUIET) + "\n");
    std::iter::once("\n".to_owned()).chain(notes).chain(facts).collect()
}

/// `Linux 6.18.44 on AMD EPYC, family 25, model 17, stepping 1, virtual, CPU 1 of 0-1`.
pub(crate) fn machine(host: &Host) -> String {
    let hypervisor = match host.hypervisor.as_deref() {
        None => String::new(),
        Some("unknown") => ", virtual".to_owned(),
        Some(name) => format!(", virtual ({name})"),
    };
    let Host { release, processor, cpu, cpus, .. } = host;
    format!("Linux {release} on {processor}{hypervisor}; CPU {cpu} of {cpus}")
}

/// The verdict in a sentence, a row for each path, and how it was compared.
pub fn time_comparison_table(comparison: &TimeComparison, rows: Rows, style: Style) -> String {
    let mut table = Table::new(&[
        ("path", Align::Left),
        ("base ns", Align::Right),
        ("new ns", Align::Right),
        ("difference", Align::Right),
        ("95 % interval", Align::Right),
        ("A/A′ within", Align::Right),
        ("verdict", Align::Left),
        ("reason", Align::Left),
    ])
    .sparing(&["A/A′ within", "95 % interval"])
    .with_remarks();
    let folded = |row: &TimeRow| rows == Rows::Folded && row.verdict == TimeVerdict::Unmeasured;
    for row in comparison.paths.iter().filter(|row| !folded(row)) {
        table.row(compared_row(row));
    }
    let left_out = comparison.paths.iter().filter(|row| folded(row)).count();
    let facts = facts(comparison);
    style.fill(&sentence(comparison), 0)
        + "\n\n"
        + &table.render(style)
        + &unsupported(left_out, style)
        + &noted(&comparison.notes, &facts, style)
}

fn compared_row(row: &TimeRow) -> [Cell; 8] {
    let text = |text: Option<String>| Cell::from(text.unwrap_or_default());
    [
        row.path.as_str().into(),
        text(row.base.map(time)),
        text(row.new.map(time)),
        text(row.difference.map(percent)),
        text(row.interval.map(within)),
        text(row.null.map(|null| format!("{null:.2} %"))),
        Cell::painted(row.verdict.word(), paint(row.verdict)),
        text(reason(row)),
    ]
}

/// Where a difference is.
pub(crate) fn within([low, high]: [f64; 2]) -> String {
    format!("{low:+.2} … {high:+.2} %")
}

/// Why there is no verdict, and what would help.
pub(crate) fn reason(row: &TimeRow) -> Option<String> {
    let more =
        row.more.map(|more| format!("; {} would probably decide", plural(more, "more replicate")));
    Some(row.reason.clone()? + &more.unwrap_or_default())
}

pub(crate) fn paint(verdict: TimeVerdict) -> Paint {
    match verdict {
        TimeVerdict::Slower => AnsiColor::Red.on_default(),
        TimeVerdict::Faster => AnsiColor::Green.on_default(),
        TimeVerdict::Undecidable => AnsiColor::Yellow.on_default(),
        TimeVerdict::Equal => PLAIN,
        TimeVerdict::Unmeasured => QUIET,
    }
}

/// `Of 40 paths 12 are slower, by 0.61 % to 43.20 %, …`.
pub(crate) fn sentence(comparison: &TimeComparison) -> String {
    let measured = comparison.paths.len() - comparison.count(TimeVerdict::Unmeasured);
    let part = |verdict: TimeVerdict| {
        let of_verdict = comparison.paths.iter().filter(|row| row.verdict == verdict);
        let mut shares: Vec<f64> = of_verdict.filter_map(|row| row.difference).collect();
        shares.sort_unstable_by(f64::total_cmp);
        let word = verdict.word();
        let range = match (&shares[..], verdict) {
            ([], _) => return None,
            ([one], TimeVerdict::Slower | TimeVerdict::Faster) => format!(", by {}", percent(*one)),
            ([first, .., last], TimeVerdict::Slower | TimeVerdict::Faster) => {
                format!(", by {} to {}", percent(*first), percent(*last))
            }
            _ => String::new(),
        };
        let is = if shares.len() == 1 { "is" } else { "are" };
        Some(format!("{} {is} {word}{range}", shares.len()))
    };
    let all =
        [TimeVerdict::Slower, TimeVerdict::Faster, TimeVerdict::Equal, TimeVerdict::Undecidable];
    let parts: Vec<String> = all.into_iter().filter_map(part).collect();
    format!("Of {}, {}.", plural(measured, "path"), parts.join("; "))
}

/// Which sides were compared, and how.
pub(crate) fn facts(comparison: &TimeComparison) -> Vec<String> {
    let TimeComparison { base, new, margin, alpha, .. } = comparison;
    let how = if comparison.paired {
        "each replicate executed base, new and a copy of base within milliseconds, in an order \
         drawn at random"
    } else {
        "the two sides were measured apart: what changed between the two sessions is in the \
         differences"
    };
    let mut facts = vec![
        format!("base: {}, {}", base.condition, machine(&base.host)),
        format!("new: {}, {}", new.condition, machine(&new.host)),
        format!(
            "slower, faster: a chance of {alpha} that any path of this table is called so wrongly; \
             equal: within ±{:.1} %; {how}",
            100.0 * margin
        ),
    ];
    if !comparison.paired && base.host.boot_id != new.host.boot_id {
        facts.push(boots([base.boots, new.boots]));
    }
    facts
}

/// What boots of the two sides can show.
fn boots([base, new]: [usize; 2]) -> String {
    let layout = "no number of boots shows what another layout of the code would take";
    if base == 1 && new == 1 {
        return "each side is one boot, and boots of one kernel differ too: gather several of each \
                (measure host --boots FILE)"
            .to_owned();
    }
    format!("a replicate is a boot, {base} of base and {new} of new; {layout}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathmeter_model::example;

    #[test]
    fn a_path_is_a_row_with_its_time_and_what_can_not_run_is_counted() {
        let mut times = example::times(&[("a.b", 10, &[30_050; 20]), ("a.c", 1, &[90; 20])]);
        times.paths[1].status = Status::Unsupported;
        let table = times_table(&times, |_| true, Rows::Folded, Style::default());
        assert!(table.contains("a.b   3,000  0.0 %  3,000"), "{table}");
        assert!(table.contains("1 more path can't be executed here"), "{table}");
        assert!(table.contains("\n20 processes of 8 batches a path"), "{table}");
        times.paths[1].status = Status::Ok;
        times.paths[1].replicates.truncate(12);
        let ranged = times_table(&times, |_| true, Rows::Folded, Style::default());
        assert!(ranged.contains("\n12 to 20 processes of"), "{ranged}");
        times.paths[1].status = Status::Unsupported;
        let all = times_table(&times, |_| true, Rows::All, Style::default());
        assert!(all.contains("a.c") && all.contains("unsupported"), "{all}");
    }

    #[test]
    fn cycles_are_shown_if_two_chains_tell_them_and_else_the_reason_is() {
        let table = |multiply: u64, rotate: u64| {
            let [call, multiply, rotate] = [30_050, multiply, rotate].map(|ticks| [ticks; 20]);
            let chains =
                [("clock.multiply", 100, &multiply[..]), ("clock.rotate", 100, &rotate[..])];
            let times = example::times(&[("a.b", 10, &call[..]), chains[0], chains[1]]);
            times_table(&times, |path| path == "a.b", Rows::Folded, Style::default())
        };
        let row = |table: &str| {
            let row = table.lines().find(|line| line.starts_with("a.b")).unwrap_or_default();
            row.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        let agreed = table(50 + 150, 50 + 50);
        let words = ["a.b", "3,000", "0.0", "%", "3,000", "6,000", "+0.00", "%"];
        assert_eq!(row(&agreed), words, "{agreed}");
        assert!(agreed.contains("\na cycle of the core is 0.500 ticks\n"), "{agreed}");
        let shortened = table(50 + 150, 50 + 12);
        assert!(!row(&shortened).contains(&"6,000".to_owned()), "{shortened}");
        let reason = "\nthere are no cycles: a cycle is 0.500 ticks by clock.multiply and 0.120";
        assert!(shortened.contains(reason), "{shortened}");
    }

    #[test]
    fn the_sentence_has_what_was_found() {
        let mut times = example::times(&[("a.b", 10, &[30_050; 20]), ("a.c", 1, &[900; 20])]);
        times.conditions.push("seccomp:docker".into());
        for path in &mut times.paths {
            let factor = if path.path == "a.b" { 2 } else { 1 };
            for replicate in &mut path.replicates {
                let new = replicate.sides[0].iter().map(|ticks| ticks * factor).collect();
                replicate.sides.push(new);
            }
        }
        let comparison = TimeComparison::of_session(&times, |_| true, 0.02).unwrap();
        assert_eq!(sentence(&comparison), "Of 2 paths, 1 is slower, by +100.00 %; 1 is equal.");
        let table = time_comparison_table(&comparison, Rows::Folded, Style::default());
        assert!(
            table.contains("base: default") && table.contains("new: seccomp:docker"),
            "{table}"
        );
    }
}
