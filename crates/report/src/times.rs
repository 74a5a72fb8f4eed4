//! The tables of times: of one session, and of two sides compared.

use anstyle::{AnsiColor, Style as Paint};
use pathmeter_model::{
    Host, Level, MOST_REPLICATES, NoCycle, PathTimes, Status, TimeComparison, TimeRow, TimeVerdict,
    Times, float,
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
    let scaled = |scale: &dyn Fn(f64) -> f64| text(level.map(|level| show_level(level, scale)));
    [
        path.path.as_str().into(),
        scaled(&|ticks| times.nanoseconds(ticks)),
        text(level.and_then(half_width)),
        scaled(&|ticks| ticks),
        cycle.map_or_else(|| "".into(), |cycle| scaled(&|ticks| ticks / cycle)),
        text(level.and_then(|_| times.copy_difference(path)).map(|share| format!("{share:+.2} %"))),
        text(single.map(|single| ns(single.p99))),
        text(single.map(|single| ns(single.p999))),
        text(level.filter(|it| it.stalls > 0).map(|it| grouped(it.stalls as u64))),
        if path.status == Status::Ok { "".into() } else { path.status.to_string().into() },
        explain_level(path, level).unwrap_or_default().into(),
    ]
}

/// Why a path has no times, or no more than a bound of them.
pub(crate) fn explain_level(path: &PathTimes, level: Option<Level>) -> Option<String> {
    let hidden = level.filter(|level| !level.is_resolved);
    let bound = hidden.map(|_| "less than the loop around it takes".to_owned());
    path.reason.clone().or(bound)
}

/// A level in another unit; one that is a bound after the sign of one.
pub(crate) fn show_level(level: Level, scale: impl Fn(f64) -> f64) -> String {
    let sign = if level.is_resolved { "" } else { "< " };
    format!("{sign}{}", time(scale(level.ticks)))
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

/// A difference of times, as [`time`], with its sign.
fn signed_time(value: f64) -> String {
    match (time(value.abs()), value < 0.0) {
        (none, _) if none == time(0.0) => none,
        (amount, true) => format!("-{amount}"),
        (amount, false) => format!("+{amount}"),
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
pub(crate) fn facts_of_session(times: &Times, cycle: Result<f64, NoCycle>) -> [String; 5] {
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
        "p99, p99.9: of single calls, unless a call is shorter than 20 steps of the clock; stalls: \
         batches of calls that took more than twice as long as usual, as where something else had \
         the CPU"
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
        ("percent", Align::Right),
        ("95 % interval", Align::Right),
        ("A/A′ within", Align::Right),
        ("verdict", Align::Left),
        ("reason", Align::Left),
    ])
    .sparing(&["A/A′ within", "95 % interval"])
    .with_remarks();
    let folded = |row: &TimeRow| rows == Rows::Folded && row.verdict == TimeVerdict::Unmeasured;
    for row in comparison.paths.iter().filter(|row| !folded(row)) {
        table.row(compared_row(row, comparison));
    }
    let left_out = comparison.paths.iter().filter(|row| folded(row)).count();
    let facts = facts(comparison);
    style.fill(&sentence(comparison), 0)
        + "\n\n"
        + &table.render(style)
        + &unsupported(left_out, style)
        + &noted(&comparison.notes, &facts, style)
}

fn compared_row(row: &TimeRow, comparison: &TimeComparison) -> [Cell; 9] {
    let text = |text: Option<String>| Cell::from(text.unwrap_or_default());
    [
        row.path.as_str().into(),
        text(row.base.map(time)),
        text(row.new.map(time)),
        text(row.base.zip(row.new).map(|(base, new)| signed_time(new - base))),
        text(row.difference.map(percent)),
        text(row.interval.map(within)),
        text(row.null.map(|null| format!("{null:.2} %"))),
        Cell::painted(row.verdict.word(), paint(row.verdict)),
        text(reason(row, comparison)),
    ]
}

/// The interval that a difference is in, in percent.
pub(crate) fn within([low, high]: [f64; 2]) -> String {
    format!("{low:+.2} … {high:+.2} %")
}

/// Why there is no verdict, and which option would probably lead to one.
pub(crate) fn reason(row: &TimeRow, comparison: &TimeComparison) -> Option<String> {
    let reason = row.reason.clone()?;
    let option = propose_option(row, comparison).map(|option| format!(": {option}"));
    Some(reason + &option.unwrap_or_default())
}

/// The widest margin of equal, in percent, that is proposed.
const WIDEST_MARGIN: f64 = 25.0;

/// What would probably decide an undecidable row, as the user may write it.
fn propose_option(row: &TimeRow, comparison: &TimeComparison) -> Option<String> {
    let more = row.more?;
    if comparison.base.boots > 1 {
        return Some(format!("{} of each side (--boots)", plural(more, "more boot")));
    }
    let all = row.replicates.saturating_add(more);
    if all <= MOST_REPLICATES as usize {
        let both = if comparison.paired { "" } else { " on both sides" };
        return Some(format!("--replicates {all}{both}"));
    }
    let margin = row.interval.zip(row.null).map(|(interval, null)| find_margin(interval, null));
    let margin = margin.filter(|margin| *margin <= WIDEST_MARGIN);
    let threshold = margin.map(|margin| format!("--threshold {margin:.0}, or "));
    Some(threshold.unwrap_or_default() + "a quieter machine")
}

/// The margin, in whole percent, within which the interval and twice the null's reach lie.
fn find_margin(interval: [f64; 2], null: f64) -> f64 {
    let log = |percent: f64| (percent / 100.0).ln_1p().abs();
    let widest = interval.into_iter().map(log).fold(2.0 * log(null), f64::max);
    (100.0 * widest.exp_m1()).ceil()
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
    let of = format!("f {}, {}.", plural(measured, "path"), parts.join("; "));
    match (measured, comparison.count_decided()) {
        (0, _) => "No path was measured on both sides.".to_owned(),
        (_, 0) => format!("Nothing is decided: o{of}"),
        _ => format!("O{of}"),
    }
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
            "slower, faster: a difference of any size that is more than chance and A/A′; if \
             nothing differs, 1 of {:.0} such tables calls a path so. Equal: no such difference, \
             and within ±{:.1} %; {how}",
            1.0 / alpha,
            100.0 * margin
        ),
    ];
    if comparison.count(TimeVerdict::Undecidable) > 0 && comparison.paired {
        facts.push(
            "undecidable: a row names what would probably decide it. More replicates take as many \
             times as long (--limit SECONDS); --only spends the time on fewer paths"
                .to_owned(),
        );
    }
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
                (host --boots FILE)"
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
    fn a_path_that_the_loop_hides_has_a_bound_and_says_why() {
        let empty = ("clock.empty", 100, &[250; 20][..]);
        let times = example::times(&[("a.b", 100, &[260; 20]), empty]);
        let table = times_table(&times, |path| path == "a.b", Rows::Folded, Style::default());
        let row = table.lines().find(|line| line.starts_with("a.b")).unwrap();
        assert!(row.starts_with("a.b   < 2.00") && !row.contains('%'), "{table}");
        assert!(row.ends_with("less than the loop around it takes"), "{table}");
    }

    /// A comparison whose only row has these replicates, and so many more that would decide.
    fn make_undecided(replicates: usize, more: Option<usize>) -> TimeComparison {
        let times = example::times(&[("a.b", 1, &[10_050; 20])]);
        let sides = [std::slice::from_ref(&times); 2];
        let mut comparison = TimeComparison::of_two(sides, |_| true, 0.02).unwrap();
        let row = &mut comparison.paths[0];
        (row.verdict, row.replicates, row.more) = (TimeVerdict::Undecidable, replicates, more);
        row.reason = Some("it may be 0".to_owned());
        (row.interval, row.null) = (Some([-3.0, 6.2]), Some(1.5));
        comparison
    }

    #[test]
    fn an_undecidable_row_names_the_option_that_would_decide() {
        let of = |comparison: &TimeComparison| reason(&comparison.paths[0], comparison).unwrap();
        let mut together = make_undecided(30, Some(200));
        together.paired = true;
        assert_eq!(of(&together), "it may be 0: --replicates 230");
        assert!(facts(&together).last().unwrap().contains("--limit"), "{together:?}");
        assert_eq!(
            of(&make_undecided(30, Some(200))),
            "it may be 0: --replicates 230 on both sides"
        );
        let far = make_undecided(30, Some(971));
        assert_eq!(of(&far), "it may be 0: --threshold 7, or a quieter machine");
        assert_eq!(of(&make_undecided(30, None)), "it may be 0");
        let mut boots = make_undecided(4, Some(1));
        (boots.base.boots, boots.new.boots) = (4, 4);
        assert_eq!(of(&boots), "it may be 0: 1 more boot of each side (--boots)");
    }

    #[test]
    fn the_sentence_says_first_that_nothing_is_decided() {
        let mut comparison = make_undecided(30, None);
        let told = "Nothing is decided: of 1 path, 1 is undecidable.";
        assert_eq!(sentence(&comparison), told);
        comparison.paths[0].verdict = TimeVerdict::Unmeasured;
        assert_eq!(sentence(&comparison), "No path was measured on both sides.");
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
        let row_of_table = |table: &str| {
            let row = table.lines().find(|line| line.starts_with("a.b")).unwrap_or_default();
            row.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        let agreed = table(50 + 150, 50 + 50);
        let words = ["a.b", "3,000", "0.0", "%", "3,000", "6,000", "+0.00", "%"];
        assert_eq!(row_of_table(&agreed), words, "{agreed}");
        assert!(agreed.contains("\na cycle of the core is 0.500 ticks\n"), "{agreed}");
        let shortened = table(50 + 150, 50 + 12);
        assert!(!row_of_table(&shortened).contains(&"6,000".to_owned()), "{shortened}");
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
        // A batch takes twice as long, with the 50 ticks of the clock's readings, which are no part
        // of a call: 6,005 ticks for 3,000.
        assert_eq!(sentence(&comparison), "Of 2 paths, 1 is slower, by +100.17 %; 1 is equal.");
        let table = time_comparison_table(&comparison, Rows::Folded, Style::default());
        assert!(
            table.contains("base: default") && table.contains("new: seccomp:docker"),
            "{table}"
        );
    }
}
