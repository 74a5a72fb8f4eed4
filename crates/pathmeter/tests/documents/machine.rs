//! `docs/explanation/exactness.md` gives the reason of each flag of QEMU and each word of the
//! kernel's command line: of those that there are, and of no others.

use pathmeter_vm::{Cpu, Settings};

use crate::markdown::{code, first_cells, read, section};

/// The flags of exact guests, of one CPU, of two and of a profile, and those of a restored one and
/// of one whose reads of an MSR are answered.
fn command_line() -> String {
    let two = Settings { cpus: 2, ..Settings::default() };
    let profile = Settings { cpu: Cpu::from_name("zen2"), ..Settings::default() };
    let all = [Settings::default(), two, profile].map(|settings| settings.fingerprint());
    format!("{} -incoming fd:8 -gdb chardev:gdb", all.join(" "))
}

/// The code spans of the first column, without pathmeter's own options.
fn spans(text: &str, header: &str) -> Vec<String> {
    let cells = first_cells(text, header);
    let spans = cells.iter().flat_map(|cell| code(cell));
    spans.filter(|span| !span.starts_with("--")).map(str::to_owned).collect()
}

#[test]
fn every_flag_of_qemu_has_its_reason_and_every_reason_its_flag() {
    let text = read("docs/explanation/exactness.md");
    let documented = spans(section(&text, "## Why it is the same every time"), "flag");
    let command_line = command_line();
    for span in &documented {
        // What ends in `…` is the beginning of a flag.
        let flag = span.trim_end_matches('…');
        assert!(command_line.contains(flag), "QEMU is not started with {span}");
    }
    let all = documented.join(" ");
    for flag in command_line.split(' ').filter(|word| word.starts_with('-')) {
        assert!(all.split(' ').any(|word| word == flag), "{flag} has no reason");
    }
    for option in Settings::default().machine().split(',') {
        let mut words = all.split([' ', ',']);
        assert!(words.any(|word| word == option), "the machine's {option} has no reason");
    }
}

#[test]
fn every_word_of_linuxs_command_line_has_its_reason() {
    let text = read("docs/explanation/exactness.md");
    let documented = spans(section(&text, "## Why it is the same every time"), "word").join(" ");
    let mut words: Vec<_> = documented.split(' ').collect();
    let command_line = Settings::default().command_line();
    let mut real: Vec<_> = command_line.split(' ').collect();
    words.sort_unstable();
    real.sort_unstable();
    assert_eq!(words, real);
}
