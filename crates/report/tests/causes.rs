//! What a comparison says of its causes, and which rows it shows first.

#[path = "common/causes.rs"]
mod fixture;

use fixture::{causes, comparison};
use pathmeter_model::example::{self, in_runs};
use pathmeter_model::{
    Cause, Comparison, Compilers, GateReport, SettingRow, SettingsSet, Threshold, compare,
};
use pathmeter_report::{
    AreaSums, FORMATS, Judged, Outcome, Placement, Rows, RowsOf, Shown, Style, comparison_sentence,
    comparison_table, settings_tables,
};

#[test]
fn the_sentence_names_the_causes_with_their_functions_and_events() {
    assert_eq!(
        comparison_sentence(&comparison(1)),
        "3 of 4 rows differ: 2 higher, 1 lower. Instructions: entry and exit, +39 a call in 2 rows \
         (prandom_u32_state (new), do_syscall_64; rdtsc -1); processes, -2,824 in c.thread \
         (string instructions in copy_process in place of memset_orig; string-bytes +16,384)."
    );
}

#[test]
fn causes_that_are_all_small_are_counted() {
    let mut many = comparison(0);
    let causes = many.causes.as_mut().unwrap();
    let small = Cause { share: 0.01, ..causes.causes[0].clone() };
    causes.causes = vec![small; 100];
    let sentence = comparison_sentence(&many);
    let said = "Instructions: 100 causes, none of which has 4 % of the difference.";
    assert!(sentence.ends_with(said), "{sentence}");
}

#[test]
fn without_causes_the_sentence_has_the_verdicts() {
    let unknown = Comparison { causes: None, ..comparison(0) };
    assert_eq!(comparison_sentence(&unknown), "3 of 3 rows differ: 2 higher, 1 lower.");
    let same = {
        let side = |name: &str| {
            let paths = vec![in_runs("a.read", &[&[5, 5]])];
            example::measurement(name, example::configuration(name, 1), paths)
        };
        compare(&side("7.0"), &side("7.1"), Threshold::default())
    };
    assert_eq!(comparison_sentence(&same), "Nothing differs in 1 row.");
}

fn table(comparison: &Comparison, rows: Rows) -> String {
    let (placement, sums) = (Placement::Hidden, AreaSums::Hidden);
    comparison_table(comparison, Shown { placement, rows, sums }, Style::default())
}

#[test]
fn compilers_that_differ_are_told_before_the_causes() {
    let of = |base: &str, new: &str| {
        let compilers = Some(Compilers { base: base.to_owned(), new: new.to_owned() });
        comparison_sentence(&Comparison { compilers, ..comparison(0) })
    };
    let two = of("gcc (Debian 12.2.0-14) 12.2.0", "Debian clang version 19.1.7 (3)");
    let told = "1 lower. The kernels were built by different compilers: gcc 12.2.0 and clang \
                19.1.7. Instructions: entry";
    assert!(two.contains(told), "{two}");
    let one = of("gcc (Debian 12.2.0-14) 12.2.0", "gcc-12 (Debian 12.2.0-15) 12.2.0");
    assert!(!one.contains("compilers"), "{one}");
}

#[test]
fn causes_are_summed_up_by_the_kind_of_work_on_request() {
    let comparison = comparison(0);
    let text = |sums| {
        let shown = Shown { placement: Placement::Hidden, rows: Rows::Folded, sums };
        comparison_table(&comparison, shown, Style::default())
    };
    assert!(!text(AreaSums::Hidden).contains("largest cause"));
    let shown = text(AreaSums::Shown);
    let table = shown.split("share  instructions").nth(1).unwrap();
    let lines: Vec<&str> = table.lines().skip(1).take(2).collect();
    assert_eq!(
        lines,
        [
            " 72 %           +78       1  entry and exit  prandom_u32_state (new), do_syscall_64",
            " 28 %        -2,824       1  processes       string instructions in copy_process in \
             place of memset_orig",
        ]
    );
    let judged = Judged {
        of: RowsOf::Two,
        comparison: &comparison,
        outcomes: &[Outcome::Unasked; 4],
        gate: &GateReport::default(),
        explanations: &[],
        sums: AreaSums::Shown,
    };
    let markdown = FORMATS.iter().find(|it| it.word == "markdown").unwrap().render(judged);
    assert!(markdown.contains("| 28 % | -2,824 | 1 | processes | "), "{markdown}");
}

#[test]
fn rows_that_matter_stand_first_and_others_are_counted() {
    let folded = table(&comparison(20), Rows::Folded);
    let at = |text: &str| folded.find(text).unwrap_or_else(|| panic!("{text}: {folded}"));
    assert!(at("Instructions: entry and exit") < at("share  rows"));
    assert!(at("share  rows") < at("a.read and 1 alike"));
    assert!(at("a.read and 1 alike") < at("\nc.thread"), "the larger change in percent is first");
    assert!(at("20 rows are the same; 1 row can be executed by neither: --all") > at("\nc.thread"));
    assert!(!folded.contains("d.same0"));
    assert!(folded.lines().count() <= 40, "{folded}");

    let all = table(&comparison(20), Rows::All);
    assert!(all.contains("d.same0") && all.contains("e.none") && !all.contains("alike"), "{all}");
}

#[test]
fn few_rows_are_not_folded() {
    let text = table(&comparison(3), Rows::Folded);
    assert!(text.contains("d.same0") && text.contains("e.none") && !text.contains("--all"));
}

#[test]
fn a_setting_has_the_same_sentence_below_the_table() {
    let side = |value| {
        let paths = vec![in_runs("a.read", &[&[value, value]])];
        example::measurement("7.0", example::configuration("7.0", 1), paths)
    };
    let base = side(328);
    let about = ("boot:audit=1".to_owned(), "a source".to_owned());
    let row = SettingRow::compare(about, [&base, &side(367)]);
    let row = SettingRow { causes: Some(causes()), ..row };
    let set = SettingsSet::new("mine".to_owned(), "a few".to_owned(), vec![row]);
    let result = example::settings(&base, set);
    let text = settings_tables(std::slice::from_ref(&result), Rows::Folded, Style::default());
    let sentence = "\nWith boot:audit=1, 1 of 1 path differs. Instructions: entry and exit, +39 a \
                    call in 2 rows (prandom_u32_state (new), ";
    assert!(text.contains(sentence), "{text}");
}

#[test]
fn the_causes_of_a_setting_that_turns_something_off_are_of_the_kernel_without_it() {
    let side = |value| {
        let paths = vec![in_runs("a.read", &[&[value, value]])];
        example::measurement("7.0", example::configuration("7.0", 1), paths)
    };
    let base = side(367);
    let about = ("boot:audit=0".to_owned(), "a source".to_owned());
    let row = SettingRow::compare(about, [&base, &side(328)]);
    let row = SettingRow { causes: Some(causes()), ..row.with_price_of(Some("audit".to_owned())) };
    let set = SettingsSet::new("mine".to_owned(), "a few".to_owned(), vec![row]);
    let result = example::settings(&base, set);
    let text = settings_tables(std::slice::from_ref(&result), Rows::Folded, Style::default());
    assert!(text.contains("\nWithout audit, 1 of 1 path differs. Instructions: "), "{text}");
}
