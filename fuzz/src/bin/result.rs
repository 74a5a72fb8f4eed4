//! A result file, of paths or of a program: what is read can be written and read back, compared,
//! and shown on a terminal.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pathmeter_model::{Threshold, compare, parse_measurement};
use pathmeter_report::{
    AreaSums, Placement, Rows, Shown, Style, comparison_table, measurement_table,
};

fuzz_target!(|bytes: &[u8]| {
    let Ok(result) = parse_measurement(bytes) else { return };
    let written = serde_json::to_vec(&result).expect("a document");
    assert_eq!(parse_measurement(&written).as_ref(), Ok(&result));
    let comparison = compare(&result, &result, Threshold::default());
    assert!(comparison.paths.iter().all(|path| path.difference.unwrap_or(0) == 0));
    let style = Style { colour: false, width: Some(80), table_width: None };
    for rows in [Rows::Folded, Rows::All] {
        let shown = Shown { placement: Placement::Shown, rows, sums: AreaSums::Shown };
        let tables =
            [measurement_table(&result, rows, style), comparison_table(&comparison, shown, style)];
        for table in tables {
            assert!(!table.contains(|c: char| c.is_control() && c != '\n'), "{table:?}");
        }
    }
});
