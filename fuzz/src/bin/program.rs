//! A program's result: what is read can be written and read back, compared, and shown on a
//! terminal.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pathmeter_model::{Threshold, compare_programs, parse_program};
use pathmeter_report::{Rows, Style, program_comparison_table, program_table};

fuzz_target!(|bytes: &[u8]| {
    let Ok(result) = parse_program(bytes) else { return };
    let written = serde_json::to_vec(&result).expect("a document");
    assert_eq!(parse_program(&written).as_ref(), Ok(&result));
    let comparison = compare_programs(&result, &result, Threshold::default());
    assert!(comparison.rows.iter().all(|row| row.cost.judged().difference == 0));
    let style = Style { colour: false, width: Some(80) };
    for rows in [Rows::Folded, Rows::All] {
        let tables = [
            program_table(&result, rows, style),
            program_comparison_table(&comparison, rows, style),
        ];
        for table in tables {
            assert!(!table.contains(|c: char| c.is_control() && c != '\n'), "{table:?}");
        }
    }
});
