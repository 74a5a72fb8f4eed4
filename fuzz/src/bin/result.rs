//! A result file: what is read can be written and read back, compared, and shown on a terminal.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pathmeter_model::{Threshold, compare, parse_measurement};
use pathmeter_report::{Placement, Style, comparison_table, measurement_table};

fuzz_target!(|bytes: &[u8]| {
    let Ok(result) = parse_measurement(bytes) else { return };
    let written = serde_json::to_vec(&result).expect("a document");
    assert_eq!(parse_measurement(&written).as_ref(), Ok(&result));
    let comparison = compare(&result, &result, Threshold::default());
    assert!(comparison.paths.iter().all(|path| path.difference.unwrap_or(0) == 0));
    let style = Style { colour: false, width: Some(80) };
    for table in
        [measurement_table(&result, style), comparison_table(&comparison, Placement::Shown, style)]
    {
        assert!(!table.contains(|c: char| c.is_control() && c != '\n'), "{table:?}");
    }
});
