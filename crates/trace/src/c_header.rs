//! Constants of the plugins' headers, for tests that compare them with ours.

use std::collections::HashMap;

/// A header of `plugin/`, without its comments.
pub(crate) fn header(name: &str) -> String {
    let path = format!("{}/../../plugin/{name}", env!("CARGO_MANIFEST_DIR"));
    without_comments(&std::fs::read_to_string(path).unwrap())
}

fn without_comments(text: &str) -> String {
    let pieces = text.split("/*").enumerate();
    let kept = |(number, piece): (usize, &str)| match number {
        0 => piece.to_owned(),
        _ => piece.split_once("*/").unwrap().1.to_owned(),
    };
    pieces.map(kept).collect()
}

/// The constants of all enums in it, by name.
pub(crate) fn constants(name: &str) -> HashMap<String, u64> {
    let text = header(name);
    let enums = text.split("enum ").skip(1).filter_map(|rest| {
        let (tag, rest) = rest.split_once('{')?;
        tag.trim().chars().all(|c| c.is_alphanumeric() || c == '_').then_some(rest)
    });
    let mut constants = HashMap::new();
    for body in enums {
        let mut next = 0;
        for item in body.split_once('}').unwrap().0.split(',').map(str::trim) {
            let (name, value) = match item.split_once('=') {
                Some((name, value)) => (name.trim(), number(value.trim())),
                None => (item, next),
            };
            if !name.is_empty() {
                constants.insert(name.to_owned(), value);
                next = value + 1;
            }
        }
    }
    constants
}

/// `7`, `0x1f`, `1 << 12` or `'e'`.
fn number(text: &str) -> u64 {
    if let Some(letter) = text.strip_prefix('\'') {
        return u64::from(letter.as_bytes()[0]);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).unwrap();
    }
    match text.split_once("<<") {
        Some((one, places)) => number(one.trim()) << number(places.trim()),
        None => text.parse().unwrap_or_else(|_| panic!("no number: {text}")),
    }
}

#[test]
fn enums_are_read_as_c_has_them() {
    let account = constants("program/task.h");
    assert_eq!((account["USER"], account["REGION_OF_PROGRAM"]), (0, 11));
    assert_eq!(account["MOST_ROWS"], 4096);
    assert_eq!(constants("program/regions.h")["END_WITHOUT_BEGIN"], 1);
    assert_eq!(constants("program/places.h")["SWITCH"], u64::from(b'w'));
}
