//! A document of times: what is read can be written and read back, compared, and shown on a
//! terminal.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pathmeter_model::{TimeComparison, parse_times};
use pathmeter_report::{Rows, Style, time_comparison_table, times_table};

fuzz_target!(|bytes: &[u8]| {
    let Ok(times) = parse_times(bytes) else { return };
    let written = serde_json::to_vec(&times).expect("a document");
    assert_eq!(parse_times(&written).as_ref(), Ok(&times));
    let style = Style { colour: false, width: Some(80), table_width: None };
    let all = |_: &str| true;
    let one = std::slice::from_ref(&times);
    let both = TimeComparison::of_two([one, one], all, 0.02);
    let paired = TimeComparison::of_session(&times, all, 0.02);
    let compared = paired.iter().chain(&both);
    let mut tables: Vec<String> =
        compared.map(|comparison| time_comparison_table(comparison, Rows::All, style)).collect();
    tables.push(times_table(&times, all, Rows::All, style));
    for table in tables {
        assert!(!table.contains(|c: char| c.is_control() && c != '\n'), "{table:?}");
    }
});
