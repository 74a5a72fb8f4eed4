//! The formats for CI, read back by parsers that others wrote.
//! `INSTA_UPDATE=always cargo test -p pathmeter-report` writes the snapshots anew.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on shall end")]

mod common;

use common::configuration;
use pathmeter_model::{
    BudgetOutcome, BudgetReport, BudgetRow, Comparison, EventComparison, GateReason, GateReport,
    Measurement, PathResult, Threshold, Unit, Verdict, compare, example,
};
use pathmeter_report::{AreaSums, Content, FORMATS, Format, Judged, Outcome, RowsOf};
use pulldown_cmark::{Event, Options, Tag, TagEnd};

/// What would be markup, another row, another metric, a directive or a formula.
const HOSTILE: [&str; 8] = [
    "</failure><script>alert(1)</script>",
    "a|b`c``|``` <img src=x> @somebody #1 [l](http://x)\n| x |",
    "x\"} 1\npathmeter_cost 9\n# EOF\\",
    "ok # SKIP\nnot ok 9 x",
    "=cmd|' /C calc'!A0,\"x\"\r\ny",
    "]]>&amp;\u{0}\u{ffff}\u{202e}",
    "`",
    "\\",
];

fn path(name: &str, samples: &[u64]) -> PathResult {
    example::in_runs(name, &[samples])
}

fn measurement(name: &str, release: &str, paths: Vec<PathResult>) -> Measurement {
    example::measurement(name, configuration(release, 1), paths)
}

/// What the formats show, with the outcomes of its paths.
fn usual() -> (Comparison, Vec<Outcome>, GateReport) {
    let rdpid = example::unsupported("getcpu.rdpid", "no rdpid");
    let check = PathResult::ok("flags.isolation", Unit::Check, &[], vec![]);
    let base = vec![
        path("syscall.getppid", &[330, 330]),
        path("switch.yield", &[3300, 3300]),
        path("switch.pipe", &[11_331]),
        path("file.stat", &[900]),
        path("futex.wake", &[700]),
        check.clone(),
        rdpid.clone(),
    ];
    let new = vec![
        path("syscall.getppid", &[330, 330]),
        path("switch.yield", &[3333, 3333]),
        path("switch.pipe", &[11_000]),
        path("file.stat", &[1800]),
        example::unsupported("futex.wake", "not measured"),
        check,
        rdpid,
    ];
    let base = measurement("old/bzImage", "6.12.0-rc1-00041-g0123456789ab", base);
    let new = measurement("new/bzImage", "6.12.0-rc1-00042-gba9876543210", new);
    let mut comparison = compare(&base, &new, Threshold::default());
    comparison.paths[1].events = vec![EventComparison {
        event: "lfence".into(),
        base: 0,
        new: 1,
        difference: 1,
        verdict: Verdict::Higher,
    }];
    comparison.budget = Some(budget());
    let outcomes = vec![
        Outcome::Passed,
        Outcome::Worse,
        Outcome::Passed,
        Outcome::Passed,
        Outcome::Missing,
        Outcome::Passed,
        Outcome::Skipped,
    ];
    let why = "budget: instructions 3,333 over (limit: max 3,320), budget.toml:3".to_owned();
    let over = reason("switch.yield", "instructions", (3300, 3333), why);
    let why = "lfence 0 → 1 (+1, higher)".to_owned();
    let worse = vec![over, reason("switch.yield", "lfence", (0, 1), why)];
    (comparison, outcomes, GateReport { worse, unjudged: vec![] })
}

fn reason(row: &str, event: &str, (base, new): (u64, u64), why: String) -> GateReason {
    let (row, event) = (row.to_owned(), Some(event.to_owned()));
    GateReason { row, event, base: Some(base), new: Some(new), why, ..GateReason::default() }
}

fn budget() -> BudgetReport {
    let over = BudgetRow {
        path: "switch.yield".into(),
        event: "instructions".into(),
        rule: Some("switch.*".into()),
        line: 3,
        base: Some(3300),
        new: Some(3333),
        max: Some(3320),
        max_increase: None,
        outcome: BudgetOutcome::Over,
        reason: None,
        expires: None,
    };
    let accepted = BudgetRow {
        path: "file.stat".into(),
        rule: None,
        max: None,
        line: 9,
        outcome: BudgetOutcome::Accepted,
        reason: Some("the fix is on its way".into()),
        expires: Some("2027-03-31".into()),
        ..over.clone()
    };
    BudgetReport { file: "budget.toml".into(), rows: vec![over, accepted] }
}

/// Two paths for each hostile text: one of that name, one failed for that reason.
fn hostile() -> (Comparison, Vec<Outcome>, GateReport) {
    let paths = |value| -> Vec<PathResult> {
        let named = HOSTILE.iter().map(|name| path(name, &[value]));
        let failed = HOSTILE.iter().enumerate().map(|(index, reason)| {
            PathResult::failed(&format!("p.{index}"), Unit::Instructions, reason)
        });
        named.chain(failed).collect()
    };
    let base = measurement(HOSTILE[0], HOSTILE[2], paths(5));
    let new = measurement(HOSTILE[1], HOSTILE[4], paths(6));
    let comparison = compare(&base, &new, Threshold::default());
    let outcomes = comparison.paths.iter().enumerate().map(|(index, _)| match index % 4 {
        0 => Outcome::Worse,
        1 => Outcome::Passed,
        2 => Outcome::Skipped,
        _ => Outcome::Missing,
    });
    let outcomes = outcomes.collect();
    // Of a row that is there, and of one that is not.
    let rows = HOSTILE.iter().flat_map(|row| [(*row).to_owned(), format!("not there{row}")]);
    let worse = rows.map(|row| reason(&row, HOSTILE[1], (5, 6), HOSTILE.concat())).collect();
    (comparison, outcomes, GateReport { worse, unjudged: vec![] })
}

fn render(
    format: &str,
    (comparison, outcomes, gate): &(Comparison, Vec<Outcome>, GateReport),
) -> String {
    let (of, sums) = (RowsOf::Two, AreaSums::Hidden);
    let judged = Judged { of, comparison, outcomes, gate, explanations: &[], sums };
    render_judged(format, judged)
}

fn render_judged(format: &str, judged: Judged<'_>) -> String {
    FORMATS.iter().find(|one| one.word == format).unwrap().render(judged)
}

fn words() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().map(|format| format.word)
}

/// Formats that have no room for words.
const NUMBERS: [&str; 1] = ["bencher"];

#[test]
fn every_format_says_why_the_gate_fails() {
    for format in words().filter(|format| !NUMBERS.contains(format)) {
        let text = render(format, &usual()).replace("\n      ", " ").replace("->", "→");
        for reason in &usual().2.worse {
            assert!(text.contains(&reason.why), "{format}: {text}");
        }
    }
}

#[test]
fn what_fails_beside_all_paths_fails_in_every_format() {
    let none = measurement("k", "1", vec![path("a.b", &[7])]);
    let comparison = compare(&none, &none, Threshold::default());
    let (row, why) = ("program".to_owned(), "it ended with signal 11".to_owned());
    let worse = vec![GateReason { row, why, ..GateReason::default() }];
    let judged = (comparison, vec![Outcome::Passed], GateReport { worse, unjudged: vec![] });
    let junit = render("junit", &judged);
    let report = quick_junit::Report::deserialize_from_str(&junit).unwrap();
    assert_eq!((report.tests, report.failures), (2, 1), "{junit}");
    let ktap = render("ktap", &judged);
    assert_eq!(ktap_results(&ktap)[1], (2, false, "program".into(), String::new()), "{ktap}");
    let markdown = render("markdown", &judged);
    assert!(markdown.starts_with("### ❌ ") && markdown.contains("signal 11"), "{markdown}");
    for format in ["text", "openmetrics"] {
        let text = render(format, &judged);
        assert!(text.contains("signal 11"), "{text}");
    }
}

#[test]
fn every_format_by_example() {
    for format in words() {
        insta::assert_snapshot!(format!("format_{format}"), render(format, &usual()));
    }
}

#[test]
fn no_format_has_control_characters_of_hostile_text() {
    for format in words() {
        let text = render(format, &hostile());
        assert!(!text.contains(|c: char| c.is_control() && c != '\n' && c != '\t'), "{format}");
        assert!(!text.contains('\u{202e}'), "{format}");
    }
}

#[test]
fn nothing_compared_is_valid_in_every_format() {
    let none = measurement("k", "1", vec![]);
    let none = (compare(&none, &none, Threshold::default()), vec![], GateReport::default());
    assert!(render("markdown", &none).contains("none of 0 paths is worse"));
    quick_junit::Report::deserialize_from_str(&render("junit", &none)).unwrap();
    assert!(ktap_results(&render("ktap", &none)).is_empty());
    for json in ["bencher", "github-action-benchmark"] {
        serde_json::from_str::<serde_json::Value>(&render(json, &none)).unwrap();
    }
}

#[test]
fn junit_is_read_by_a_parser_of_it() {
    let report = quick_junit::Report::deserialize_from_str(&render("junit", &usual())).unwrap();
    assert_eq!((report.tests, report.failures, report.errors), (7, 1, 1));
    let suite = &report.test_suites[0];
    assert_eq!((suite.tests, suite.failures, suite.errors), (7, 1, 1));
    let case = &suite.test_cases[1];
    assert_eq!(
        (case.name.as_str(), case.classname.as_ref().unwrap().as_str()),
        ("switch.yield", "pathmeter.switch")
    );
    assert!(matches!(case.status, quick_junit::TestCaseStatus::NonSuccess { .. }));
}

#[test]
fn junit_takes_hostile_text_as_text() {
    let text = render("junit", &hostile());
    let report = quick_junit::Report::deserialize_from_str(&text).unwrap();
    let cases = &report.test_suites[0].test_cases;
    assert_eq!(cases.len(), 3 * HOSTILE.len());
    assert_eq!(cases[0].name.as_str(), HOSTILE[0]);
    assert!(!text.contains("<script") && !text.contains('\u{ffff}') && !text.contains('\0'));
}

/// Number, whether it is ok, name and directive of each test, by the rules of the kernel's
/// Documentation/dev-tools/ktap.rst. Panics at a line that is none of KTAP's.
fn ktap_results(text: &str) -> Vec<(usize, bool, String, String)> {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("KTAP version 1"));
    let (mut results, mut plan) = (Vec::new(), None);
    for line in lines {
        if let Some(number) = line.strip_prefix("1..") {
            assert!(plan.is_none() && results.is_empty(), "the plan comes once, before the tests");
            plan = Some(number.parse::<usize>().unwrap());
        } else if !line.starts_with('#') {
            let (ok, rest) = match line.strip_prefix("not ") {
                Some(rest) => (false, rest),
                None => (true, line),
            };
            let rest = rest.strip_prefix("ok ").unwrap_or_else(|| panic!("{line}"));
            let (number, rest) = rest.split_once(' ').unwrap();
            let (name, directive) = rest.split_once(" # ").unwrap_or((rest, ""));
            assert!(!name.contains('#'), "{line}");
            let word = directive.split(' ').next().unwrap_or_default();
            assert!(["", "SKIP", "TODO", "XFAIL", "TIMEOUT", "ERROR"].contains(&word), "{line}");
            results.push((number.parse().unwrap(), ok, name.to_owned(), word.to_owned()));
        }
    }
    assert_eq!(plan, Some(results.len()));
    assert!(results.iter().enumerate().all(|(index, result)| result.0 == index + 1));
    results
}

#[test]
fn ktap_keeps_its_rules() {
    let results = ktap_results(&render("ktap", &usual()));
    let of = |name: &str| results.iter().find(|result| result.2 == name).unwrap();
    assert!(of("syscall.getppid").1 && !of("switch.yield").1);
    assert_eq!((of("futex.wake").1, &*of("futex.wake").3), (false, "ERROR"));
    assert_eq!((of("getcpu.rdpid").1, &*of("getcpu.rdpid").3), (true, "SKIP"));
    let compared = hostile();
    let passed = compared.1.iter().map(|it| matches!(it, Outcome::Passed | Outcome::Skipped));
    let expected: Vec<bool> = passed.chain([false; HOSTILE.len()]).collect();
    let results = ktap_results(&render("ktap", &compared));
    assert_eq!(results.iter().map(|it| it.1).collect::<Vec<_>>(), expected);
}

#[test]
fn csv_is_read_by_a_parser_of_it() {
    let text = render("csv", &usual());
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headings = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
    let of = |row: &csv::StringRecord, name: &str| {
        let at = headings.iter().position(|heading| heading == name).unwrap();
        row[at].to_owned()
    };
    assert_eq!(rows.len(), 8, "seven paths and an event");
    assert_eq!((of(&rows[1], "new"), of(&rows[1], "outcome")), ("3333".into(), "worse".into()));
    assert_eq!((of(&rows[2], "event"), of(&rows[2], "new")), ("lfence".into(), "1".into()));
}

#[test]
fn csv_has_neither_more_rows_nor_formulas_from_hostile_text() {
    let text = render("csv", &hostile());
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
    assert_eq!(rows.len(), 2 * HOSTILE.len());
    let formula = |field: &str| field.starts_with(['=', '+', '@', '\t']);
    assert!(rows.iter().flatten().all(|field| !formula(field)), "{text}");
}

#[test]
fn metrics_are_read_by_a_parser_of_them() {
    let compared = usual();
    let (comparison, text) = (&compared.0, render("openmetrics", &compared));
    let lines = text.lines().map(|line| Ok(line.to_owned()));
    let scrape = prometheus_parse::Scrape::parse(lines).unwrap();
    let named = |name: &str| {
        scrape.samples.iter().filter(|sample| sample.metric == name).collect::<Vec<_>>()
    };
    assert_eq!(named("pathmeter_subject_info").len(), 2);
    assert_eq!((named("pathmeter_event").len(), named("pathmeter_worse").len()), (2, 5));
    let numbers = comparison.paths.iter().flat_map(|row| [row.base, row.new]).flatten();
    assert_eq!(named("pathmeter_cost").len(), numbers.count());
}

/// Name, labels and value of a sample, by the grammar of `OpenMetrics`; panics at what is none. The
/// registry's parsers of it take no escaped quotes.
fn sample(line: &str) -> (String, Vec<(String, String)>, u64) {
    let (name, rest) = line.split_once('{').unwrap();
    let (mut labels, mut rest) = (Vec::new(), rest);
    let value = loop {
        let (label, quoted) = rest.split_once("=\"").unwrap();
        assert!(label.bytes().all(|byte| byte.is_ascii_lowercase() || b"_256".contains(&byte)));
        let (mut value, mut chars) = (String::new(), quoted.chars());
        loop {
            match chars.next().unwrap() {
                '"' => break,
                '\\' => match chars.next().unwrap() {
                    c @ ('\\' | '"') => value.push(c),
                    'n' => value.push('\n'),
                    other => panic!("an escaped {other} in {line}"),
                },
                c => value.push(c),
            }
        }
        labels.push((label.to_owned(), value));
        match chars.next() {
            Some(',') => rest = chars.as_str(),
            Some('}') => break chars.as_str().strip_prefix(' ').unwrap(),
            other => panic!("{other:?} in {line}"),
        }
    };
    (name.to_owned(), labels, value.parse().unwrap())
}

#[test]
fn metrics_take_hostile_text_as_labels() {
    for compared in [usual(), hostile()] {
        let text = render("openmetrics", &compared);
        assert!(text.ends_with("\n# EOF\n") && text.matches("\n# EOF").count() == 1);
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let samples: Vec<_> = lines.map(sample).collect();
        let unique: std::collections::HashSet<_> =
            samples.iter().map(|(name, labels, _)| (name, labels)).collect();
        assert_eq!(unique.len(), samples.len(), "each series is there once");
        let cost = samples.iter().filter(|sample| sample.0 == "pathmeter_cost").count();
        let numbers = compared.0.paths.iter().flat_map(|row| [row.base, row.new]).flatten();
        assert_eq!(cost, numbers.count());
    }
}

/// Headings and cells of all tables, the text of all code spans; panics at HTML of others, links
/// and images.
fn markdown(text: &str) -> (Vec<usize>, Vec<String>) {
    const OWN: [&str; 5] = ["<details>", "<summary>", "</details>", "</summary>", "<br>"];
    let (mut cells, mut spans) = (Vec::new(), Vec::new());
    for event in pulldown_cmark::Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => {
                let mut rest = html.to_string();
                for own in OWN {
                    rest = rest.replace(own, "");
                }
                assert!(!rest.contains('<'), "{rest}");
            }
            Event::Start(Tag::Link { .. } | Tag::Image { .. }) => panic!("a link in {text}"),
            Event::Start(Tag::TableHead | Tag::TableRow) => cells.push(0),
            Event::End(TagEnd::TableCell) => *cells.last_mut().unwrap() += 1,
            Event::Code(code) => spans.push(code.to_string()),
            _ => {}
        }
    }
    (cells, spans)
}

#[test]
fn markdown_has_the_worst_first_and_the_rest_folded() {
    let compared = usual();
    let text = render("markdown", &compared);
    let (cells, spans) = markdown(&text);
    assert_eq!(cells, [9; 9], "two headings, four rows, three folded ones");
    let paths = spans
        .iter()
        .map(|span| &**span)
        .filter(|span: &&str| compared.0.paths.iter().any(|row| row.path == *span));
    let paths: Vec<&str> = paths.collect();
    assert_eq!(paths[..4], ["switch.yield", "futex.wake", "file.stat", "switch.pipe"], "{text}");
}

#[test]
fn markdown_takes_hostile_text_as_text() {
    let text = render("markdown", &hostile());
    let (cells, spans) = markdown(&text);
    assert!(cells.iter().all(|cells| *cells == 9), "{cells:?}");
    assert!(spans.iter().any(|span| span.contains("<script>")));
    assert!(spans.iter().any(|span| span.contains("@somebody")));
}

#[test]
fn benchmarks_have_what_the_action_wants() {
    // The action coerces these fields and takes no others (`BenchmarkResult` in `src/extract.ts`).
    const FIELDS: [&str; 5] = ["name", "value", "range", "unit", "extra"];
    let text = render("github-action-benchmark", &usual());
    let entries: Vec<serde_json::Map<String, serde_json::Value>> =
        serde_json::from_str(&text).unwrap();
    assert_eq!(entries.len(), 4, "a check has no number, and two paths were not measured");
    for entry in &entries {
        assert!(entry["name"].is_string() && entry["unit"] == "instructions");
        assert!(entry["value"].is_u64() && entry["extra"].is_string());
        assert!(entry.keys().all(|field| FIELDS.contains(&field.as_str())), "{entry:?}");
    }
}

#[test]
fn bencher_has_a_measure_a_benchmark() {
    type Bmf = std::collections::BTreeMap<
        String,
        std::collections::BTreeMap<String, std::collections::BTreeMap<String, f64>>,
    >;
    let metrics: Bmf = serde_json::from_str(&render("bencher", &usual())).unwrap();
    assert_eq!(metrics["switch.yield"]["instructions"]["value"].to_string(), "3333");
    assert_eq!(metrics["switch.yield"]["lfence"]["value"].to_string(), "1");
    // What Bencher itself refuses (`lib/bencher_valid`): longer names of benchmarks and measures.
    assert!(metrics.keys().all(|name| (1..=1024).contains(&name.len())));
    let mut measures = metrics.values().flat_map(|measures| measures.keys());
    assert!(measures.all(|measure| (1..=64).contains(&measure.len())));
}

#[test]
fn a_mail_has_short_lines_and_the_commits() {
    let text = render("text", &usual());
    assert!(text.is_ascii() && text.lines().all(|line| line.len() <= 78), "{text}");
    assert!(text.ends_with("\n#regzbot introduced: 0123456789ab..ba9876543210\n"), "{text}");
    let text = render("text", &hostile());
    assert!(!text.contains("regzbot") && !text.contains('\u{202e}'));
}

#[test]
fn a_page_of_text_is_fenced_beyond_its_own_fences() {
    let words: Vec<&str> = Format::of(Content::Page).map(|format| format.word).collect();
    assert_eq!(words, ["markdown"]);
    let page = Format::of(Content::Page).next().unwrap().page("\na ````\n@somebody\n");
    assert_eq!(page, "`````text\na ````\n@somebody\n`````\n");
}
