//! The tables as printed. `INSTA_UPDATE=always cargo test -p pathmeter-report` writes them anew.

mod common;

use common::configuration;
use pathmeter_model::example::{check, in_runs, unsupported};
use pathmeter_model::{
    Comparison, EventChange, GateReason, GateReport, Measurement, PathComparison, PathResult,
    RowShare, SettingChange, SettingCost, SettingGate, SettingOutcome, SettingRow, SettingsResult,
    SettingsSet, Subject, Threshold, Unit, Verdict, compare, example,
};
use pathmeter_report::{
    AreaSums, Content, Format, Judged, Outcome, PathRow, Placement, Rows, RowsOf, SettingsRows,
    Style, paths_table, settings_tables,
};

use Placement::{Hidden, Shown};

const PLAIN: Style = Style { colour: false, width: None, table_width: None };
const COLOURED: Style = Style { colour: true, width: None, table_width: None };
const NARROW: Style = Style { colour: false, width: Some(100), table_width: None };

fn comparison_table(comparison: &Comparison, placement: Placement, style: Style) -> String {
    let shown = pathmeter_report::Shown { placement, rows: Rows::Folded, sums: AreaSums::Hidden };
    pathmeter_report::comparison_table(comparison, shown, style)
}

fn measurement_table(measurement: &Measurement, style: Style) -> String {
    pathmeter_report::measurement_table(measurement, Rows::Folded, style)
}

fn measurement(name: &str, release: &str, paths: Vec<PathResult>) -> Measurement {
    example::measurement(name, configuration(release, 2), paths)
}

fn cloud() -> Measurement {
    let paths = vec![
        in_runs("syscall.getppid", &[&[330, 330], &[330, 330]]),
        in_runs("switch.yield", &[&[3723, 3723], &[3723, 3723]]),
        in_runs("switch.pipe", &[&[5210, 5210], &[5210, 5210]]),
        in_runs("process.fork-exit", &[&[111_632, 112_874], &[115_001, 117_680]]),
        in_runs("tcp.round-trip", &[&[4739, 4739], &[4739, 4739]]),
        check("flags.isolation"),
        unsupported("getcpu.rdpid", "this CPU model has no rdpid: QEMU 7.2 does not interpret it"),
        in_runs("softirq.net-rx", &[&[742, 742], &[742, 742]]),
    ];
    measurement("/boot/vmlinuz-cloud", "6.1.0-18-cloud-amd64", paths)
}

fn rt() -> Measurement {
    let dead = "the guest panicked: BUG: unable to handle page fault for address: ffffffffdeadbeef";
    let paths = vec![
        in_runs("syscall.getppid", &[&[331, 331], &[331, 331]]),
        in_runs("switch.yield", &[&[3537, 3537], &[3537, 3537]]),
        in_runs("switch.pipe", &[&[5210, 5210], &[5210, 5210]]),
        in_runs("process.fork-exit", &[&[111_633, 112_875], &[115_002, 117_681]]),
        in_runs("tcp.round-trip", &[&[4739, 4739], &[6781, 6781]]),
        check("flags.isolation"),
        unsupported("getcpu.rdpid", "this CPU model has no rdpid: QEMU 7.2 does not interpret it"),
        example::failed("softirq.net-rx", dead),
    ];
    measurement("vmlinuz-rt", "6.1.0-18-rt-amd64", paths)
}

fn comparison() -> Comparison {
    compare(&cloud(), &rt(), Threshold::default())
}

#[test]
fn a_measurement() {
    let mut rt = rt();
    rt.notes.push("the guest panicked once and was started again".into());
    insta::assert_snapshot!(measurement_table(&rt, PLAIN));
}

#[test]
fn a_measurement_in_colour() {
    insta::assert_snapshot!(coloured(&measurement_table(&rt(), COLOURED)));
}

#[test]
fn a_comparison() {
    insta::assert_snapshot!(comparison_table(&comparison(), Hidden, PLAIN));
}

#[test]
fn a_comparison_in_colour() {
    insta::assert_snapshot!(coloured(&comparison_table(&comparison(), Hidden, COLOURED)));
}

#[test]
fn a_comparison_on_a_narrow_terminal() {
    let table = comparison_table(&comparison(), Hidden, NARROW);
    assert!(table.lines().all(|line| line.chars().count() <= 100));
    insta::assert_snapshot!(table);
}

#[test]
fn a_comparison_without_change() {
    let paths = vec![in_runs("syscall.getppid", &[&[330]]), in_runs("switch.yield", &[&[3723]])];
    let same = measurement("vmlinuz", "6.1.0", paths);
    insta::assert_snapshot!(comparison_table(
        &compare(&same, &same, Threshold::default()),
        Hidden,
        PLAIN
    ));
}

#[test]
fn a_comparison_across_machines() {
    let (base, mut new) = (cloud(), rt());
    new.configuration.qemu = "8.0.0".into();
    new.paths.truncate(1);
    let comparison = compare(&base, &new, Threshold { percent: 1.0 });
    insta::assert_snapshot!(comparison_table(&comparison, Hidden, PLAIN));
}

/// The timer softirq in a kernel that leaves it to the tick, and in one that never runs it.
fn waits() -> [Measurement; 3] {
    let timer = |samples: [u64; 2]| in_runs("softirq.timer+user", &[&samples, &samples]);
    let net = || in_runs("softirq.net-rx", &[&[742, 742], &[742, 742]]);
    let some = timer([4_000_123, 8_000_000]).with_lower_bounds(vec![1, 3]);
    let all = timer([8_000_000; 2]).with_lower_bounds(vec![0, 1, 2, 3]);
    [timer([1384, 1499]), some, all].map(|timer| measurement("vmlinuz", "6.1", vec![timer, net()]))
}

#[test]
fn a_measurement_with_lower_bounds() {
    let [_, some, all] = waits();
    let tables = [some, all].map(|measurement| measurement_table(&measurement, PLAIN));
    insta::assert_snapshot!(tables.join("\n"));
}

#[test]
fn a_comparison_with_lower_bounds() {
    let [exact, some, all] = waits();
    let pairs = [(&exact, &all), (&all, &exact), (&some, &all), (&all, &all)];
    let tables = pairs.map(|(base, new)| compare(base, new, Threshold::default()));
    insta::assert_snapshot!(tables.map(|it| comparison_table(&it, Hidden, PLAIN)).join("\n"));
}

/// Rows of instructions and one of steps of the clock.
fn of_two_units(more: u64) -> Measurement {
    let steps = PathResult::ok("b.wait", Unit::Clock, &[vec![4_000_000 + more; 4]], vec![]);
    Measurement { paths: vec![in_runs("a.call", &[&[330 + more], &[330 + more]]), steps], ..rt() }
}

#[test]
fn rows_of_several_units_each_have_theirs() {
    let (base, new) = (of_two_units(0), of_two_units(10));
    let both = compare(&base, &new, Threshold::default());
    let tables = [measurement_table(&base, PLAIN), comparison_table(&both, Hidden, PLAIN)];
    let tables = tables.join("\n");
    let row = |name: &str, unit: &str| {
        let mut lines = tables.lines().filter(|line| line.starts_with(name));
        assert!(lines.clone().count() == 2 && lines.all(|line| line.contains(unit)), "{tables}");
    };
    row("b.wait", " steps of the clock");
    assert!(tables.contains("a.call        330  instructions"), "{tables}");
    assert!(tables.contains("\nnumbers without a unit are instructions\n"), "{tables}");
    // Of one unit the heading has it.
    let steps = Measurement { paths: base.paths[1..].to_vec(), ..rt() };
    let table = measurement_table(&steps, PLAIN);
    assert!(table.lines().next().unwrap().contains("steps of the clock"), "{table}");
}

/// A path with what was counted beside its instructions.
fn build_counted_path(name: &str, further: &[(&str, u64)], placement: &[u8]) -> PathResult {
    let events = [&[("kernel", 330)], further].concat();
    example::counting(in_runs(name, &[&[330], &[330]]), &events, placement)
}

/// One path with an event more, one with less memory touched, one that only moved, one identical.
fn other_events() -> Comparison {
    let base = vec![
        build_counted_path("syscall.getppid", &[], &[0, 16]),
        build_counted_path("file.read-zero", &[("data-lines", 40), ("data-pages", 9)], &[0, 16]),
        build_counted_path("switch.yield", &[], &[0, 16, 32]),
        build_counted_path("switch.pipe", &[], &[0]),
        in_runs("softirq.net-rx", &[&[742]]),
    ];
    let new = vec![
        build_counted_path("syscall.getppid", &[("lfence", 2)], &[0, 16]),
        build_counted_path("file.read-zero", &[("data-lines", 37), ("data-pages", 8)], &[0, 16]),
        build_counted_path("switch.yield", &[], &[0, 48, 48]),
        build_counted_path("switch.pipe", &[], &[0]),
        in_runs("softirq.net-rx", &[&[742]]),
    ];
    let (base, new) = (measurement("old", "6.1.0", base), measurement("new", "6.1.0", new));
    compare(&base, &new, Threshold::default())
}

#[test]
fn a_comparison_in_which_other_events_differ() {
    let mut comparison = other_events();
    insta::assert_snapshot!(comparison_table(&comparison, Hidden, PLAIN));
    // The median pair of runs differs, and not all pairs in one direction.
    let differs = |row: &&mut PathComparison| row.verdict == Verdict::EventsDiffer;
    comparison.paths.iter_mut().find(differs).unwrap().difference = Some(-485);
    let table = comparison_table(&comparison, Hidden, PLAIN);
    assert!(table.starts_with("No path differs in instructions by a verdict; 2 of 5 paths differ"));
}

#[test]
fn a_comparison_that_shows_what_moved() {
    insta::assert_snapshot!(comparison_table(&other_events(), Shown, PLAIN));
}

#[test]
fn a_comparison_with_the_lab_kernel_shows_shares() {
    let mut floor = measurement("lab", "lab", vec![in_runs("syscall.getppid", &[&[66]])]);
    floor.subject = Subject::lab("lab");
    let comparison = compare(&cloud(), &floor, Threshold::default());
    insta::assert_snapshot!(comparison_table(&comparison, Hidden, PLAIN));
}

#[test]
fn long_remarks_are_cut_unless_all_is_shown() {
    let mut result = cloud();
    result.paths[5].checks[0].value = "x".repeat(300);
    let of = |rows| pathmeter_report::measurement_table(&result, rows, PLAIN);
    let longest = |table: &str| table.lines().map(|line| line.chars().count()).max().unwrap();
    let (folded, all) = (of(Rows::Folded), of(Rows::All));
    assert!(folded.contains("xx…\n") && all.contains(&"x".repeat(300)), "{folded}");
    assert!(longest(&folded) < 200 && longest(&all) > 300, "{folded}");
}

#[test]
fn nothing_to_compare() {
    let nothing = measurement("vmlinuz", "6.1.0", vec![]);
    let comparison = compare(&nothing, &nothing, Threshold::default());
    insta::assert_snapshot!(comparison_table(&comparison, Hidden, PLAIN));
}

#[test]
fn what_can_be_measured() {
    let rows = [
        ("syscall.getppid", Unit::Instructions, "the cheapest system call, by syscall"),
        ("flags.isolation", Unit::Check, "NT, AC, ID and DF of one task never show in another"),
    ];
    let rows = rows.map(|(name, unit, about)| PathRow { name, unit, about });
    insta::assert_snapshot!(paths_table(&rows, PLAIN));
}

#[test]
fn without_colour_there_is_no_escape_sequence() {
    let mut hostile = cloud();
    hostile.subject.name = "\x1b[2Jvmlinuz".into();
    hostile.paths[6].reason = Some("\x1b]0;title\x07".into());
    let comparison = compare(&hostile, &hostile, Threshold::default());
    for table in [measurement_table(&hostile, PLAIN), comparison_table(&comparison, Hidden, PLAIN)]
    {
        assert!(!table.contains(['\x1b', '\x07']), "{table:?}");
    }
}

/// The table with its escape sequences made visible.
fn coloured(table: &str) -> String {
    table.replace('\x1b', "␛")
}

fn cost(difference: i64, percent: f64, row: Option<RowShare>) -> SettingCost {
    let verdict = if difference == 0 { Verdict::Same } else { Verdict::Higher };
    SettingCost { verdict, base: 1_000_000, difference, percent, price: None, row, events: vec![] }
}

#[test]
fn settings_show_what_they_cost_the_paths_and_the_program() {
    let base = measurement("vmlinuz", "6.1.0", vec![in_runs("a.a", &[&[100, 100]])]);
    let audited = measurement("vmlinuz", "6.1.0", vec![in_runs("a.a", &[&[150, 150]])]);
    let moved = SettingChange {
        path: "a.a".to_owned(),
        verdict: Verdict::EventsDiffer,
        base: Some(100),
        difference: 0,
        percent: 0.0,
        price: None,
        pairs: None,
        events: vec![EventChange { event: "string-bytes".to_owned(), difference: -24 }],
    };
    let about = |name: &str| (name.to_owned(), "a source".to_owned());
    let row = |name: &str, new| SettingRow::compare(about(name), [&base, new]);
    let read =
        RowShare { name: "read".to_owned(), difference: 1200, per_call_difference: Some(50) };
    let unseen = |name: &str| {
        let why = Some("the guest has one CPU".to_owned());
        let about = (name.to_owned(), "a source".to_owned());
        SettingRow::without(about, SettingOutcome::Unseen, why)
    };
    let fails = "instructions 100 → 262 (+162, higher)".to_owned();
    let fails = GateReason { row: "a.a".to_owned(), why: fails, ..GateReason::default() };
    let rows = vec![
        SettingRow {
            gate: Some(SettingGate { worse: vec![fails], rules: vec![] }),
            ..row("boot:audit=1", &audited).with_program(cost(1234, 0.1234, Some(read)))
        },
        SettingRow {
            outcome: SettingOutcome::Changed,
            changed: vec![moved],
            ..row("boot:nomerge", &base)
        },
        row("boot:small=1", &base).with_program(cost(20, 0.002, None)),
        row("boot:nothing=1", &base).with_program(cost(0, 0.0, None)),
        unseen("boot:nosmt"),
        unseen("boot:isolcpus=1"),
    ];
    let set = SettingsSet::new("mine".to_owned(), "a few".to_owned(), rows);
    let program = Some(vec!["ls".to_owned(), "-R".to_owned(), "a folder".to_owned()]);
    let result = SettingsResult { program, ..example::settings(&base, set) };
    let results = std::slice::from_ref(&result);
    insta::assert_snapshot!(settings_tables(results, Rows::Folded, PLAIN));
    let all = settings_tables(results, Rows::All, PLAIN);
    assert!(all.contains("show: boot:nosmt (the guest has one CPU), boot:isolcpus=1 ("), "{all}");
    let rows = SettingsRows::of(results).unwrap();
    let formats = Format::of(Content::Rows).map(|format| format.render(rows.judged()));
    insta::assert_snapshot!("settings_in_every_format", formats.collect::<Vec<_>>().join("\n"));
}

/// Settings that turn something off, of which one stands for all; and one that turns something on.
#[test]
fn what_settings_turn_off_is_priced_by_what_the_kernel_costs_with_it() {
    let of = |costs: [u64; 2]| {
        let paths = [("a.call", costs[0]), ("a.open", costs[1])];
        let paths = paths.map(|(name, cost)| in_runs(name, &[&[cost, cost]]));
        measurement("vmlinuz", "6.1.0", paths.to_vec())
    };
    let base = of([415, 4000]);
    let row = |name: &str, costs, off: Option<&str>| {
        let about = (name.to_owned(), "a source".to_owned());
        let row = SettingRow::compare(about, [&base, &of(costs)]);
        row.with_price_of(off.map(str::to_owned))
    };
    let read = RowShare { name: "read".to_owned(), difference: -50, per_call_difference: Some(-5) };
    let all = row("boot:mitigations=off", [350, 3900], Some("all mitigations"));
    let all = all.with_program(cost(-2000, -0.2, Some(read)));
    let rows = vec![
        SettingRow { all: true, ..all },
        row("boot:nopti", [405, 4000], Some("page table isolation")),
        row("boot:audit=1", [565, 4150], None),
    ];
    let set = SettingsSet::new("mine".to_owned(), "a few".to_owned(), rows);
    let program = Some(vec!["ls".to_owned()]);
    let result = SettingsResult { program, ..example::settings(&base, set) };
    let table = settings_tables(std::slice::from_ref(&result), Rows::Folded, PLAIN);
    insta::assert_snapshot!(table);
    assert!(!table.contains("-65") && !table.contains("-2,000"), "what costs does not save");
    let rows = SettingsRows::of(std::slice::from_ref(&result)).unwrap();
    let text = Format::of(Content::Rows).next().unwrap().render(rows.judged());
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("price of all mitigations: +65 (+18.57 %)"), "{text}");
    assert!(text.contains("price of all mitigations: +2,000 (+0.20 %)"), "{text}");
}

#[test]
fn the_largest_price_says_that_others_are_as_large() {
    let of = |cost| measurement("vmlinuz", "6.1.0", vec![in_runs("a.call", &[&[cost, cost]])]);
    let first_line = |costs: [u64; 2]| {
        let row = |(name, cost): (&str, u64)| {
            SettingRow::compare((name.to_owned(), String::new()), [&of(400), &of(cost)])
        };
        let rows = ["boot:a", "boot:b"].into_iter().zip(costs).map(row).collect();
        let set = SettingsSet::new("mine".to_owned(), "two".to_owned(), rows);
        let result = example::settings(&of(400), set);
        let table = settings_tables(&[result], Rows::Folded, PLAIN);
        table.lines().next().unwrap_or_default().to_owned()
    };
    let tied = first_line([411, 411]);
    assert!(tied.contains("price, of boot:b and of boot:a: +11 instructions"), "{tied}");
    let one = first_line([411, 410]);
    assert!(one.contains("price, of boot:a: +11 instructions"), "{one}");
}

#[test]
fn one_result_in_every_format_is_of_one_kernel() {
    let mut one = cloud();
    one.paths.push(example::unsupported("getcpu.rdpid", "no rdpid"));
    let mut comparison = compare(&one, &one, Threshold::default());
    comparison.keep_new(&one);
    let outcomes = vec![Outcome::Unasked; comparison.paths.len()];
    let gate = &GateReport::default();
    let judged = Judged {
        of: RowsOf::One,
        comparison: &comparison,
        outcomes: &outcomes,
        gate,
        explanations: &[],
        sums: AreaSums::Hidden,
    };
    let formats = Format::of(Content::Rows).filter(|format| !format.is_of_gate);
    let texts: Vec<String> = formats.map(|format| format.render(judged)).collect();
    insta::assert_snapshot!("a_measurement_in_every_format", texts.join("\n"));
}
