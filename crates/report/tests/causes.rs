//! What a comparison says of its causes, and which rows it shows first.

use pathmeter_model::example::{self, in_runs, unsupported};
use pathmeter_model::{
    Area, Cause, CauseInRow, CausePart, CauseRow, Causes, CodeMove, Comparison, Compilers,
    GateReport, MoveKind, PathResult, PerCall, Threshold, Typical, compare,
};
use pathmeter_report::{
    AreaSums, FORMATS, Judged, Outcome, Placement, Rows, RowsOf, Shown, Style, comparison_sentence,
    comparison_table,
};
use pathmeter_trace::{Change, Event, EventDifferences, SlowInstruction};

fn part(name: &str, difference: i64, share: f64, change: Change) -> CausePart {
    CausePart {
        functions: vec![name.to_owned()],
        change,
        is_first: true,
        difference,
        typical: Typical { difference, rows: 1, of: 1 },
        per_call: None,
        calls: 0,
        share,
        moves: Vec::new(),
    }
}

fn in_row(path: &str, difference: i64, events: &[(Event, i64)]) -> CauseInRow {
    let events: EventDifferences = events.iter().copied().collect();
    CauseInRow { path: path.to_owned(), difference, events }
}

/// A random number at each system call in place of the time stamp, and a stack that is cleared in
/// another way.
fn causes() -> Causes {
    let rdtsc = (Event::Slow(SlowInstruction::Rdtsc), -1);
    let random = CausePart {
        typical: Typical { difference: 40, rows: 2, of: 2 },
        per_call: Some(40),
        calls: 2,
        ..part("prandom_u32_state", 80, 0.7, Change::Appeared)
    };
    let entry = Cause {
        difference: 78,
        typical: Typical { difference: 39, rows: 2, of: 2 },
        per_call: Some(PerCall { difference: 39, rows: 2, events: [rdtsc].into() }),
        share: 0.72,
        parts: vec![random, part("do_syscall_64", -2, 0.02, Change::Shrank)],
        caller: None,
        area: Area::Entry,
        rows: vec![in_row("a.read", 39, &[rdtsc]), in_row("b.write", 39, &[rdtsc])],
    };
    let strings = CodeMove {
        kind: MoveKind::StringInstructions,
        from: "memset_orig".to_owned(),
        to: "copy_process".to_owned(),
        balance: 0.99,
        callees: None,
        rows: 1,
        absent: None,
        in_debug_info: false,
    };
    let stack = CausePart {
        functions: vec!["memset_orig".to_owned(), "copy_process".to_owned()],
        moves: vec![strings],
        ..part("", -2824, 0.28, Change::Shrank)
    };
    let stack = Cause {
        difference: -2824,
        typical: Typical { difference: -2824, rows: 1, of: 1 },
        per_call: None,
        share: 0.28,
        parts: vec![stack],
        caller: Some("kernel_clone".to_owned()),
        area: Area::Processes,
        rows: vec![in_row("c.thread", -2824, &[(Event::StringBytes, 16384)])],
    };
    let row = |path: &str, base, recorded| CauseRow { path: path.to_owned(), base, recorded };
    let rows = vec![row("a.read", 328, 39), row("b.write", 598, 39), row("c.thread", 24891, -2824)];
    Causes { rows, causes: vec![entry, stack], moves: Vec::new() }
}

/// Two kernels, of which the first has these numbers and the second differs in the first three.
fn comparison(more: usize) -> Comparison {
    let side = |values: [u64; 3], name: &str| {
        let named = ["a.read", "b.write", "c.thread"].into_iter().zip(values);
        let mut paths: Vec<PathResult> =
            named.map(|(path, value)| in_runs(path, &[&[value, value]])).collect();
        paths.extend((0..more).map(|it| in_runs(&format!("d.same{it}"), &[&[7, 7]])));
        paths.push(unsupported("e.none", "no such device"));
        example::measurement(name, example::configuration(name, 1), paths)
    };
    let base = side([328, 328, 24891], "7.0");
    let new = side([367, 367, 22067], "7.1");
    Comparison { causes: Some(causes()), ..compare(&base, &new, Threshold::default()) }
}

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
