//! A CPU profile from anywhere: it is refused with its line, or says nothing to QEMU that it may
//! not.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on shall end")]

use pathmeter_vm::{Cpu, CpuFile, CpuFileError};
use proptest::prelude::*;

const GOOD: &str = include_str!("fixtures/cpu.toml");

/// Values that a file may not have where a good one has another, among them QEMU's own syntax.
const STRANGE: [&str; 10] = [
    "-1",
    "99999999999999999999",
    "\"a,b=c\"",
    "\"\\u001b[31m\"",
    "[]",
    "\"\"",
    "1e9",
    "{}",
    "true",
    "0x",
];

fn check(text: &str) {
    match CpuFile::parse("my.toml", text) {
        Ok(file) => {
            let cpu = Cpu::from(file);
            let text = cpu.text();
            let plain = |char: char| char.is_ascii_graphic() || char == ' ';
            assert!(text.chars().all(plain), "{text:?}");
            // Each is one property of the CPU, and none is another of QEMU's options.
            let properties: Vec<&str> = text.split(',').skip(1).collect();
            assert!(properties.iter().all(|it| it.matches('=').count() == 1), "{text:?}");
        }
        Err(CpuFileError::Line { line, what, .. }) => {
            assert!((1..=text.matches('\n').count() + 1).contains(&line), "{line}");
            assert!(!what.chars().any(char::is_control), "{what:?}");
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn the_good_one_is_taken() {
    CpuFile::parse("my.toml", GOOD).unwrap();
    check(GOOD);
}

proptest! {
    #[test]
    fn any_line_may_have_any_value(
        line in any::<prop::sample::Index>(),
        value in prop::sample::select(&STRANGE[..]),
    ) {
        let lines: Vec<&str> = GOOD.lines().collect();
        let at = line.index(lines.len());
        let changed = lines[at].split_once('=').map(|(key, _)| format!("{key}= {value}"));
        let line = changed.as_deref().unwrap_or("");
        check(&[&lines[..at], &[line], &lines[at + 1..]].concat().join("\n"));
    }

    #[test]
    fn any_text_may_stand_anywhere(
        from in any::<prop::sample::Index>(),
        gone in 0_usize..40,
        text in ".{0,20}",
    ) {
        let from = from.index(GOOD.len());
        let to = (from + gone).min(GOOD.len());
        check(&format!("{}{text}{}", &GOOD[..from], &GOOD[to..]));
    }

    #[test]
    fn any_text_may_be_one(text in "(?s).{0,200}") {
        check(&text);
    }
}
