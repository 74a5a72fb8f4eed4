//! A row has one number: a random document in every form that shows it, and two documents whose
//! comparison is shown. The rule is docs/explanation/method.md#the-value-of-a-row.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on shall end")]

use std::collections::BTreeMap;

use pathmeter_history::{Date, NewResult, Store};
use pathmeter_model::example::runs::{program, row, run};
use pathmeter_model::example::{configuration, in_runs, measurement, settings};
use pathmeter_model::{
    Comparison, GateReport, Measurement, PathComparison, PathEvents, PathResult, ProgramRow,
    ProgramSlopeResult, RowKind, SettingRow, SettingsSet, SlopeRows, Threshold, Verdict, compare,
    parse_measurement,
};
use pathmeter_report::{
    AreaSums, FORMATS, HeatBase, Judged, Outcome, PageSection, Placement, Rows, RowsOf,
    SettingsRows, Shown, Style, comparison_table, grouped, heat_map_svg, history_svg,
    history_table, measurement_table, program_slope_table, report_page, settings_tables,
};
use pathmeter_seal::{to_document, unsealed};
use pathmeter_trace::Event;
use proptest::prelude::*;

const PLAIN: Style = Style { colour: false, width: None, table_width: None };
/// Names that occur in no other word of any form.
const ROWS: [&str; 3] = ["zeta_alpha", "zeta_beta", "zeta_gamma"];

/// What a row costs each time, run by run, with the bytes of its string instructions.
type Costs = Vec<Vec<(u64, u64)>>;

/// A cost and bytes: some often, so that values are equally frequent, and some once.
fn cost() -> impl Strategy<Value = (u64, u64)> {
    let often = prop::sample::select(vec![20_001_u64, 30_002, 40_003]);
    (prop_oneof![often, 10_007_u64..9_999_991], 1_000_u64..9_999)
}

fn paths() -> impl Strategy<Value = Vec<Costs>> {
    prop::collection::vec(
        prop::collection::vec(prop::collection::vec(cost(), 1..5), 1..6),
        ROWS.len(),
    )
}

/// The runs of a program, the first of them cold, with the costs of each row.
fn program_runs() -> impl Strategy<Value = Vec<Vec<(u64, u64)>>> {
    prop::collection::vec(prop::collection::vec(cost(), ROWS.len()), 1..9)
}

/// The number that stands for all.
fn middle(numbers: impl Iterator<Item = u64>) -> u64 {
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.sort_unstable();
    numbers[(numbers.len() - 1) / 2]
}

fn result_of_paths(all: &[Costs]) -> Measurement {
    let path = |(name, costs): (&&str, &Costs)| {
        let runs: Vec<Vec<u64>> =
            costs.iter().map(|run| run.iter().map(|it| it.0).collect()).collect();
        let runs: Vec<&[u64]> = runs.iter().map(Vec::as_slice).collect();
        let distinct: Vec<Vec<u64>> =
            costs.iter().flatten().map(|(cost, bytes)| vec![*cost, *bytes]).collect();
        in_runs(name, &runs).counting(PathEvents {
            names: vec!["kernel".to_owned(), Event::StringBytes.word().to_owned()],
            of_samples: (0..distinct.len()).map(|at| u32::try_from(at).unwrap()).collect(),
            distinct,
            placement: Vec::new(),
        })
    };
    let runs = u32::try_from(all.first().map_or(0, Vec::len)).unwrap();
    measurement("a", configuration("6.1.0", runs), ROWS.iter().zip(all).map(path).collect())
}

fn result_of_program(runs: &[Vec<(u64, u64)>]) -> Measurement {
    let row = |(name, (cost, bytes)): (&&str, &(u64, u64))| ProgramRow {
        events: BTreeMap::from([(Event::StringBytes, *bytes)]),
        ..row(RowKind::Syscall, name, 3, *cost)
    };
    let of_run = |costs: &Vec<(u64, u64)>| run(0, ROWS.iter().zip(costs).map(row).collect());
    let runs: Vec<_> = runs.iter().map(of_run).collect();
    let mut example = program("a", configuration("6.1.0", runs.len().try_into().unwrap()), runs);
    example.events = vec![Event::StringBytes];
    example.result()
}

/// Whether the text says this number of the row: between the row's name and the next row's, or in
/// the row's own object of an array, whose fields may be in any order.
fn shows(text: &str, row: &str, number: u64) -> bool {
    if let Ok(objects) = serde_json::from_str::<Vec<serde_json::Value>>(text) {
        return objects.iter().any(|object| {
            let text = object.to_string();
            text.contains(row)
                && (has(&text, &number.to_string(), "0123456789")
                    || has(&text, &grouped(number), "0123456789,"))
        });
    }
    // A page has a script in its head, too.
    let body = text.split_once("<body").map_or(text, |(_, body)| body);
    let body = body.split("<script").next().unwrap_or_default();
    let after = body.match_indices(row).map(|(at, _)| &body[at + row.len()..]);
    after.into_iter().any(|rest| {
        let end = ROWS.iter().filter_map(|row| rest.find(row)).min().unwrap_or(rest.len());
        has(&rest[..end], &number.to_string(), "0123456789")
            || has(&rest[..end], &grouped(number), "0123456789,")
    })
}

/// Whether the number stands in the text, with none of these characters beside it.
fn has(text: &str, number: &str, beside: &str) -> bool {
    let is_digit = |char: Option<char>| char.is_some_and(|it| it.is_ascii_digit());
    let is_free = |neighbour: Option<char>| neighbour.is_none_or(|it| !beside.contains(it));
    let mut places = text.match_indices(number);
    places.any(|(at, _)| {
        let mut after = text[at + number.len()..].chars();
        // A comma after a number may end a part of a sentence.
        let next = after.next().filter(|next| *next != ',' || is_digit(after.next()));
        is_free(text[..at].chars().next_back()) && is_free(next)
    })
}

/// Every format of a comparison that is no mere list of failures, by its name.
fn forms(comparison: &Comparison, of: RowsOf) -> Vec<(&'static str, String)> {
    let outcomes = vec![Outcome::Unasked; comparison.paths.len()];
    let gate = GateReport::default();
    let judged = Judged {
        of,
        comparison,
        outcomes: &outcomes,
        gate: &gate,
        explanations: &[],
        sums: AreaSums::Hidden,
    };
    let formats = FORMATS.iter().filter(|format| !format.is_of_gate);
    formats.map(|format| (format.word, format.render(judged))).collect()
}

fn page(section: PageSection) -> String {
    report_page(&[section], &[]).unwrap().html
}

/// Whether each form of the result has each row's number.
fn check_one(result: &Measurement, expected: &[(u64, u64)]) -> Result<(), TestCaseError> {
    let bytes = to_document(result).unwrap().into_bytes();
    let read = parse_measurement(&unsealed(&bytes).unwrap()).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let mut alone = compare(&read, &read, Threshold::default());
    let with_itself = alone.clone();
    alone.keep_new(&read);
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::create(&folder.path().join("history.sqlite")).unwrap();
    let date = Date::from_seconds(86_400).unwrap();
    store.add(NewResult { bytes: &bytes, label: None, commit: None, date }).unwrap();
    let table = measurement_table(&read, Rows::All, PLAIN);
    let of_result = PageSection::Result { result: Box::new(read.clone()), windows: Vec::new() };
    let mut texts = forms(&alone, RowsOf::One);
    texts.extend([("table", table.clone()), ("page", page(of_result))]);
    for (name, (value, bytes)) in ROWS.iter().zip(expected) {
        let path = read.paths.iter().find(|path| path.path == *name).unwrap();
        prop_assert_eq!(path.value(), Some(*value));
        prop_assert_eq!(path.event(Event::StringBytes), *bytes);
        if let Some(costs) = path.costs() {
            prop_assert_eq!(costs.typical().instructions, *value);
            prop_assert_eq!(costs.typical().of_event(Event::StringBytes), *bytes);
        }
        let of_json = json["paths"].as_array().unwrap().iter().find(|it| it["path"] == **name);
        prop_assert_eq!(of_json.unwrap()["estimate"]["value"].as_u64(), Some(*value));
        let row = with_itself.paths.iter().find(|row| row.path == *name).unwrap();
        prop_assert_eq!((row.base, row.new), (Some(*value), Some(*value)));
        for (form, text) in &texts {
            prop_assert!(shows(text, name, *value), "{form}: no {value} of {name} in {text}");
        }
        prop_assert!(shows(&table, name, *bytes), "no {bytes} bytes of {name} in {table}");
        let history = store.history(None, &[name]).unwrap();
        let points = history.paths.iter().flat_map(|path| path.points.iter().flatten());
        prop_assert_eq!(points.map(|it| it.value).collect::<Vec<_>>(), [Some(*value)]);
        prop_assert!(shows(&history_table(&history, PLAIN), name, *value));
        prop_assert!(shows(&history_svg(&history), name, *value));
    }
    Ok(())
}

/// Whether the row of a comparison contradicts neither itself nor the results of both sides.
fn check_row(row: &PathComparison, [base, new]: [&PathResult; 2]) -> Result<(), TestCaseError> {
    let (Some(of_base), Some(of_new)) = (row.base, row.new) else { panic!() };
    prop_assert_eq!(row.difference.map(i128::from), Some(by((of_base, of_new))));
    prop_assert!(base.samples.contains(&of_base) && new.samples.contains(&of_new));
    if row.verdict == Verdict::ModeAppeared {
        return Ok(());
    }
    // Of runs with as many samples on both sides; there are no other pairs in these results.
    let pairs = base.samples.iter().copied().zip(new.samples.iter().copied());
    let at_value = pairs.filter(|pair| by(*pair) == by((of_base, of_new)));
    if at_value.into_iter().any(|pair| Some(pair.0) == base.value()) {
        prop_assert_eq!(row.base, base.value());
    }
    Ok(())
}

fn by((base, new): (u64, u64)) -> i128 {
    i128::from(new) - i128::from(base)
}

/// Whether each form of the comparison has both numbers of each row.
fn check_two(base: &Measurement, new: &Measurement) -> Result<(), TestCaseError> {
    let compared = compare(base, new, Threshold::default());
    let shown = Shown { placement: Placement::Hidden, rows: Rows::All, sums: AreaSums::Hidden };
    let of_page = PageSection::Comparison {
        comparison: Box::new(compared.clone()),
        explanations: Vec::new(),
        results: Vec::new(),
    };
    let mut texts = forms(&compared, RowsOf::Two);
    texts.extend([("table", comparison_table(&compared, shown, PLAIN)), ("page", page(of_page))]);
    for name in ROWS {
        let row = compared.paths.iter().find(|row| row.path == name).unwrap();
        let of = |side: &'_ Measurement| side.paths.iter().find(|it| it.path == name).cloned();
        check_row(row, [&of(base).unwrap(), &of(new).unwrap()])?;
        let has_row = |form: &str| row.verdict != Verdict::Same || ["csv", "table"].contains(&form);
        for (form, text) in texts.iter().filter(|(form, _)| has_row(form)) {
            // Bencher's format has one value of a row, that of new.
            let base = row.base.filter(|_| *form != "bencher");
            for number in [base, row.new].into_iter().flatten() {
                prop_assert!(shows(text, name, number), "{form}: no {number} of {name} in {text}");
            }
        }
    }
    Ok(())
}

/// Whether each form that shows what a setting costs has the difference that `compare` finds, and
/// no path that is the same for it.
fn check_setting(base: &Measurement, new: &Measurement) -> Result<(), TestCaseError> {
    let about = ("boot:word".to_owned(), "its page".to_owned());
    let row = SettingRow::compare(about, [base, new]);
    let set = SettingsSet::new("mine".to_owned(), "a few".to_owned(), vec![row]);
    let result = settings(base, set);
    let results = std::slice::from_ref(&result);
    let rows = SettingsRows::of(results).unwrap();
    let formats = FORMATS.iter().filter(|format| !format.is_of_gate);
    let mut texts: Vec<(&str, String)> =
        formats.map(|format| (format.word, format.render(rows.judged()))).collect();
    texts.push(("table", settings_tables(results, Rows::All, PLAIN)));
    texts.push(("page", page(PageSection::Settings(Box::new(result.clone())))));
    let compared = compare(base, new, Threshold::default());
    let changed = &result.sets[0].rows[0].changed;
    for name in ROWS {
        let row = compared.paths.iter().find(|row| row.path == name).unwrap();
        let change = changed.iter().find(|change| change.path == name);
        let differs = [Verdict::Higher, Verdict::Lower].contains(&row.verdict);
        let Some(change) = change else {
            prop_assert!(!differs, "{row:?}");
            continue;
        };
        prop_assert_ne!(row.verdict, Verdict::Same);
        prop_assert_eq!((change.base, Some(change.difference)), (row.base, row.difference));
        let new = change.base.unwrap().checked_add_signed(change.difference).unwrap();
        // The table has the path that changes most.
        let is_first = changed[0].path == name;
        for (form, text) in texts.iter().filter(|(form, _)| *form != "table" || is_first) {
            // These have the value under the setting.
            let of_values = ["bencher", "openmetrics"].contains(form);
            let number = if of_values { new } else { change.difference.unsigned_abs() };
            prop_assert!(shows(text, name, number), "{form}: no {number} of {name} in {text}");
        }
    }
    Ok(())
}

/// Whether a slope of a setting, by its number, has the differences that `compare` finds.
fn check_slope(results: &[Measurement]) -> Result<(), TestCaseError> {
    let (base, others) = results.split_first().unwrap();
    let steps: Vec<(u64, &Measurement)> = (1..).zip(others).collect();
    let slope = SlopeRows::of_paths(base, &steps, |_| true);
    for row in &slope.rows {
        let of_base = base.paths.iter().find(|path| path.path == row.row).unwrap();
        prop_assert_eq!(of_base.value(), Some(row.base));
        for (new, difference) in others.iter().zip(&row.differences) {
            let compared = compare(base, new, Threshold::default());
            let path = compared.paths.iter().find(|path| path.path == row.row).unwrap();
            prop_assert_eq!(path.difference, Some(*difference));
        }
    }
    Ok(())
}

/// Whether a program's slope has each row's value with each number, in its table and on its page.
fn check_program_slope(results: &[Measurement]) -> Result<(), TestCaseError> {
    let steps: Vec<(u64, String)> =
        (1..).zip(results).map(|(number, _)| (number, number.to_string())).collect();
    let command = vec!["loop".to_owned(), "N".to_owned()];
    let slope = ProgramSlopeResult::of(("N", command), &steps, results).unwrap();
    let table = program_slope_table(&slope, Rows::All, |_| true, PLAIN);
    let page = page(PageSection::ProgramSlope(Box::new(slope.clone())));
    for name in ROWS {
        let row = slope.rows.iter().find(|row| row.row == name).unwrap();
        for (at, result) in results.iter().enumerate() {
            let path = result.paths.iter().find(|path| path.path == name).unwrap();
            prop_assert_eq!(path.value(), Some(row.values[at]));
            prop_assert!(shows(&table, name, row.values[at]), "{name} in {table}");
        }
        // The page has the first and the last of rows that depend on the number.
        for value in [row.values.first(), row.values.last()].into_iter().flatten() {
            prop_assert!(!row.depends() || shows(&page, name, *value), "{name} in {page}");
        }
    }
    Ok(())
}

/// Whether the map of several results has each row's value in each of them, and its picture the
/// numbers of each one's comparison with the first.
fn check_map(results: &[Measurement]) -> Result<(), TestCaseError> {
    let page = page(PageSection::History {
        results: results.to_vec(),
        windows: Vec::new(),
        explained: Vec::new(),
        across: Vec::new(),
    });
    let picture = heat_map_svg(results, HeatBase::Result(0));
    for name in ROWS {
        for result in results {
            let value = result.paths.iter().find(|path| path.path == name).unwrap().value();
            prop_assert!(shows(&page, name, value.unwrap()), "{value:?} of {name} in {page}");
        }
        for new in &results[1..] {
            let compared = compare(&results[0], new, Threshold::default());
            let row = compared.paths.iter().find(|row| row.path == name).unwrap();
            for number in [row.base, row.new].into_iter().flatten() {
                prop_assert!(shows(&picture, name, number), "{number} of {name} in {picture}");
            }
        }
    }
    Ok(())
}

/// The costs of each path, with `by` times one of the numbers `more` added to each, by turns.
fn raise(costs: &[Costs], more: &[u64], by: u64) -> Vec<Costs> {
    let mut more = more.iter().cycle();
    let mut raised = costs.to_vec();
    for (cost, _) in raised.iter_mut().flatten().flatten() {
        *cost += by * more.next().unwrap();
    }
    raised
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn a_path_has_one_number_in_every_form(costs in paths()) {
        let all = |costs: &Costs| costs.concat();
        let expected = costs.iter().map(|costs| {
            let of = |number: fn((u64, u64)) -> u64| middle(all(costs).into_iter().map(number));
            (of(|it| it.0), of(|it| it.1))
        });
        check_one(&result_of_paths(&costs), &expected.collect::<Vec<_>>())?;
    }

    #[test]
    fn a_row_of_a_program_has_one_number_in_every_form(runs in program_runs()) {
        let later = if runs.len() > 1 { &runs[1..] } else { &runs[..] };
        let expected = (0..ROWS.len()).map(|row| {
            let of = |number: fn(&(u64, u64)) -> u64| {
                middle(later.iter().map(|run| number(&run[row])))
            };
            (of(|it| it.0), of(|it| it.1))
        });
        check_one(&result_of_program(&runs), &expected.collect::<Vec<_>>())?;
    }

    #[test]
    fn the_levels_and_the_difference_of_two_paths_agree_in_every_form(
        costs in paths(), more in prop::collection::vec(0_u64..3, 60), by in 0_u64..5_000,
    ) {
        let moved = raise(&costs, &more, by);
        check_two(&result_of_paths(&costs), &result_of_paths(&moved))?;
    }

    #[test]
    fn the_levels_and_the_difference_of_two_programs_agree_in_every_form(
        runs in program_runs(), more in prop::collection::vec(0_u64..3, 60), by in 0_u64..5_000,
    ) {
        let mut more = more.iter().cycle();
        let mut moved = runs.clone();
        for (cost, _) in moved.iter_mut().flatten() {
            *cost += by * more.next().unwrap();
        }
        check_two(&result_of_program(&runs), &result_of_program(&moved))?;
    }

    #[test]
    fn a_slope_and_the_map_have_the_numbers_of_their_results(
        costs in paths(), more in prop::collection::vec(0_u64..3, 60), by in 0_u64..5_000,
    ) {
        let raised = [0, by, 2 * by].map(|by| result_of_paths(&raise(&costs, &more, by)));
        check_slope(&raised)?;
        check_map(&raised)?;
    }

    #[test]
    fn a_programs_slope_has_the_numbers_of_its_results(
        runs in program_runs(), by in 0_u64..5_000,
    ) {
        let raised = [0, by, 2 * by].map(|by| {
            let mut runs = runs.clone();
            runs.iter_mut().flatten().for_each(|(cost, _)| *cost += by);
            result_of_program(&runs)
        });
        check_program_slope(&raised)?;
    }

    #[test]
    fn what_a_setting_costs_agrees_in_every_form(
        costs in paths(), more in prop::collection::vec(0_u64..3, 60), by in 0_u64..5_000,
    ) {
        let moved = raise(&costs, &more, by);
        check_setting(&result_of_paths(&costs), &result_of_paths(&moved))?;
    }
}
