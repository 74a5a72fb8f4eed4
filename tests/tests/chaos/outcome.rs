//! What a run that was harmed may have come to.

use pathmeter_e2e::{Run, rows};
use serde_json::Value;

/// How a run that was harmed ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ended {
    /// It ended with the expected bytes.
    Same,
    /// With an error that names its cause.
    Refused,
    /// It ended otherwise, by a signal or with an excused code.
    Stopped,
}

/// What a command prints on a quiet machine.
pub(super) struct Expected {
    pub(super) verb: &'static str,
    /// What follows it: subjects and options, then perhaps a program.
    pub(super) rest: Vec<String>,
    pub(super) stdout: String,
}

impl Expected {
    /// Its arguments with more `options`, which must stand before a program's.
    pub(super) fn with<'a>(&'a self, options: &[&'a str]) -> Vec<&'a str> {
        let rest = self.rest.iter().map(String::as_str);
        std::iter::once(self.verb).chain(options.iter().copied()).chain(rest).collect()
    }

    /// The run printed the expected bytes, or ended with a clear error, or else with one of the
    /// `excused` codes.
    pub(super) fn assert_kept(&self, run: &Run, excused: &[i32]) -> Ended {
        assert_no_panic(run);
        if run.code == 0 {
            assert!(run.stdout == self.stdout, "other numbers, exit code 0:\n{}", self.both(run));
            return Ended::Same;
        }
        self.assert_no_other_number(run);
        if [2, 3].contains(&run.code) {
            assert_names_a_cause(run);
            return Ended::Refused;
        }
        assert!(excused.contains(&run.code), "exit code {}: {}", run.code, run.stderr);
        Ended::Stopped
    }

    /// What it printed, if anything: only rows that are as expected, or broken.
    fn assert_no_other_number(&self, run: &Run) {
        // Killed while it wrote, it wrote only a part.
        if self.stdout.starts_with(&run.stdout) {
            return;
        }
        let printed: Value = serde_json::from_str(&run.stdout).unwrap();
        let expected: Value = serde_json::from_str(&self.stdout).unwrap();
        for (row, expected) in rows(&printed).iter().zip(rows(&expected)) {
            let broken = row["verdict"] == "broken" || row["status"] == "failed";
            assert!(broken || row == expected, "another number: {row}, expected {expected}");
        }
    }

    fn both(&self, run: &Run) -> String {
        let differing = self.stdout.bytes().zip(run.stdout.bytes()).take_while(|(a, b)| a == b);
        let at = differing.count();
        let around = |text: &str| {
            String::from_utf8_lossy(
                text.as_bytes().get(at.saturating_sub(80)..).unwrap_or_default(),
            )
            .chars()
            .take(200)
            .collect::<String>()
        };
        format!("expected …{}…\nprinted  …{}…", around(&self.stdout), around(&run.stdout))
    }
}

/// A panic's message is on stderr even if something else sets the exit code.
pub(super) fn assert_no_panic(run: &Run) {
    assert!(!run.stderr.contains("panicked at"), "a panic: {}", run.stderr);
}

/// An error of pathmeter's, or a table with broken rows and a note that says why.
pub(super) fn assert_names_a_cause(run: &Run) {
    let printed = ["pathmeter: error: ", "pathmeter: note: "];
    let named = printed.iter().any(|words| run.stderr.contains(words));
    assert!(named, "exit code {} without a cause: {:?}", run.code, run.stderr);
}
