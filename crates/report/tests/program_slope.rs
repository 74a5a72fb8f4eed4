//! A program's slope as printed.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use pathmeter_model::example::{self, runs};
use pathmeter_model::{Measurement, PathResult, ProgramSlopeResult, RowKind, Unit};
use pathmeter_report::{Rows, Style, program_slope_table};

const PLAIN: Style = Style { colour: false, width: None, table_width: None };
const PIPE: Style = Style { colour: false, width: None, table_width: Some(100) };

type Costs = fn(u64, u64) -> Vec<(RowKind, &'static str, u64)>;

/// The slope of a program of which `costs` gives the rows with a number, in each of seven runs.
fn slope(numbers: &[u64], costs: Costs) -> ProgramSlopeResult {
    let measured = |number: &u64| -> Measurement {
        let work = |(kind, name, cost)| runs::row(kind, name, 1, cost);
        let run = |at| runs::run(0, costs(*number, at).into_iter().map(work).collect());
        let region = vec![vec![40 + number * number]; 6];
        runs::ProgramExample {
            regions: vec![PathResult::ok("user.pairs", Unit::Instructions, &region, vec![])],
            ..runs::program("k", example::configuration("6.1.0", 7), (0..7).map(run).collect())
        }
        .result()
    };
    let results: Vec<Measurement> = numbers.iter().map(measured).collect();
    let steps: Vec<(u64, String)> = numbers.iter().map(|n| (*n, n.to_string())).collect();
    let command = vec!["./loop".to_owned(), "N".to_owned()];
    ProgramSlopeResult::of(("N", command), &steps, &results).unwrap()
}

fn exact(n: u64, _: u64) -> Vec<(RowKind, &'static str, u64)> {
    vec![
        (RowKind::User, "", 5_000 + 7 * n),
        (RowKind::Syscall, "getppid", 321 * n),
        (RowKind::Syscall, "exit_group", 90_000),
        (RowKind::Interrupt, "sysvec_apic_timer_interrupt", 2_000 * (n / 50)),
    ]
}

fn scattering(n: u64, run: u64) -> Vec<(RowKind, &'static str, u64)> {
    let noise = (run * n * 37 + n * 11) % 90;
    vec![
        (RowKind::User, "", 5_000 + 7 * n),
        (RowKind::Syscall, "read", 300 * n + 25 * n * n / 4),
        (RowKind::Syscall, "execve", 90_000 + noise),
        (RowKind::PageFault, "write, page not present", 2_200 * n + noise),
    ]
}

fn nearly_square(n: u64, _: u64) -> Vec<(RowKind, &'static str, u64)> {
    vec![(RowKind::User, "", 25 * n * n / 4)]
}

fn first_line(result: &ProgramSlopeResult) -> String {
    let table = program_slope_table(result, Rows::Folded, |_| true, PLAIN);
    table.lines().next().unwrap().to_owned()
}

#[test]
fn faults_that_qemu_alone_takes_are_named_with_what_they_cost() {
    let costs: Costs = |n, _| {
        vec![
            (RowKind::User, "", 5_000 + 7 * n),
            (RowKind::InterpreterFault, "read, page not present", 1_246 * n),
        ]
    };
    let table = program_slope_table(&slope(&[25, 50], costs), Rows::Folded, |_| true, PLAIN);
    let note = "QEMU alone takes execute 31,150 instructions with 25 and 62,300 with 50: own work";
    assert!(table.contains(note), "{table}");
}

#[test]
fn a_longer_number_is_a_step_beside_the_slope() {
    let costs: Costs = |n, _| {
        let digits = n.to_string().len() as u64;
        vec![
            (RowKind::User, "", 5_000 + 7 * n + 39 * digits),
            (RowKind::Syscall, "execve", 60_000 + 15 * digits),
        ]
    };
    let table =
        program_slope_table(&slope(&[25, 50, 100, 200], costs), Rows::Folded, |_| true, PLAIN);
    let first = "One more N costs 7 instructions of the program and its system calls, exactly, \
                 from N 25 to 200; where N has more digits, +54 from 100. 1 row costs the same \
                 for each, exactly: user code +7. 2 rows also cost more or less where the number \
                 has more digits: user code +39 from 100, execve +15 from 100.";
    assert!(table.starts_with(first), "{table}");
    assert!(table.contains("a step, such as +39 from 100,"), "{table}");
}

#[test]
fn the_first_line_says_what_one_more_costs() {
    let told = first_line(&slope(&[100, 200, 400, 800], exact));
    let expected = "One more N costs 328 instructions of the program and its system calls, \
                    exactly, from N 100 to 800. 2 rows cost the same for each, \
                    exactly: getppid +321, user code +7. \
                    1 region or window differs: user.pairs 0 and +1 N².";
    assert_eq!(told, expected);
}

#[test]
fn the_first_line_says_where_own_work_bends_and_by_about_how_much_it_is_square() {
    let told = first_line(&slope(&[25, 50, 100, 200], nearly_square));
    assert!(told.starts_with("One more N costs"), "{told}");
    assert!(told.contains(", which bends at 50, 100, by about +6.24…+6.25 N²."), "{told}");
}

#[test]
fn what_scatters_is_told_by_a_range_or_has_no_slope() {
    let told = first_line(&slope(&[100, 200, 400, 800], scattering));
    assert!(told.starts_with("One more N costs"), "{told}");
    assert!(
        told.contains(" row scatters, higher or lower in all runs: page fault: write"),
        "{told}"
    );
    assert!(told.ends_with("1 row scatters, which is no slope: execve."), "{told}");
}

#[test]
fn tables_of_a_programs_slope() {
    let exact = slope(&[100, 200, 400, 800], exact);
    insta::assert_snapshot!(
        "program_slope",
        program_slope_table(&exact, Rows::Folded, |_| true, PIPE)
    );
    let all = program_slope_table(&exact, Rows::All, |_| true, PIPE);
    insta::assert_snapshot!("program_slope_with_all_rows", all);
    let bent = slope(&[25, 50, 100, 200, 400], scattering);
    let bent = program_slope_table(&bent, Rows::Folded, |_| true, PIPE);
    insta::assert_snapshot!("program_slope_that_bends_and_scatters", bent);
    let two = slope(&[10, 20], nearly_square);
    let two = program_slope_table(&two, Rows::Folded, |row| row == "user code", PIPE);
    insta::assert_snapshot!("program_slope_of_two_numbers", two);
}
