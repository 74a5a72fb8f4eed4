//! `--only`: which paths are shown and written.

use pathmeter_model::suggestion::suggest;
use pathmeter_model::{Measurement, RowKind, SUM};
use pathmeter_probes::{Kind, Suite, Wait};
use wildmatch::WildMatch;

use crate::error::MeasureError;

/// What is selected among, and how to see all of it.
const PATHS: [&str; 2] = ["path", "`pathmeter list paths` lists all paths"];
const ROWS: [&str; 2] = ["row", "without --only, `pathmeter run --all` shows all"];
/// Rows of a program whose names could be those of system calls.
const WORDS: [RowKind; 3] = [RowKind::Sum, RowKind::Softirq, RowKind::Other];

/// What the names of rows begin with that belong to no path.
pub const NO_PATH: &str = "*/";

/// The paths that the user wants to see: all, if there is no pattern.
pub struct Selection {
    patterns: Vec<WildMatch>,
    /// Whether the user wrote the patterns.
    is_asked: bool,
}

impl Selection {
    /// The paths that match one of `patterns`, in which `*` is any text and `?` any character.
    ///
    /// # Errors
    /// A pattern that none of `names` matches.
    pub fn new(patterns: &[String], names: &[&str]) -> Result<Self, MeasureError> {
        Self::among(patterns, names, PATHS)
    }

    /// The same of the rows of a program.
    ///
    /// # Errors
    /// A pattern that none of `names` matches.
    pub fn of_rows(patterns: &[String], names: &[&str]) -> Result<Self, MeasureError> {
        Self::among(patterns, names, ROWS)
    }

    /// The paths with these names, of which the user named none.
    pub fn of_paths(names: &[String]) -> Self {
        let patterns = names.iter().map(|name| WildMatch::new(name)).collect();
        Self { patterns, is_asked: false }
    }

    fn among(patterns: &[String], names: &[&str], words: [&str; 2]) -> Result<Self, MeasureError> {
        let (mut matchers, mut rest) = (Vec::new(), patterns);
        while let Some(first) = rest.first() {
            // Names of rows have commas, at which the command line was split.
            let mut joined =
                (1..=rest.len()).map(|count| (WildMatch::new(&rest[..count].join(",")), count));
            let found = joined.find(|(matcher, _)| names.iter().any(|name| matcher.matches(name)));
            let (matcher, count) = found.ok_or_else(|| unknown(first, names, words))?;
            matchers.push(matcher);
            rest = &rest[count..];
        }
        Ok(Self { patterns: matchers, is_asked: true })
    }

    /// `measurement` with only the selected paths.
    pub fn apply(&self, mut measurement: Measurement) -> Measurement {
        measurement.paths.retain(|path| self.holds(&path.path));
        measurement
    }

    /// Selects the paths that a table of `measurement` shows; of a program also the sum, since rows
    /// are shares of it.
    pub fn select_shown_paths(&self, measurement: &Measurement) -> Measurement {
        let mut shown = measurement.clone();
        let is_sum = |name: &str| measurement.execution.is_some() && name == SUM;
        shown.paths.retain(|path| self.holds(&path.path) || is_sum(&path.path));
        shown
    }

    /// Those of `names` that are selected.
    pub fn of<'a>(&self, names: &[&'a str]) -> Vec<&'a str> {
        names.iter().copied().filter(|name| self.holds(name)).collect()
    }

    /// Whether the user named this path in full.
    pub fn names(&self, name: &str) -> bool {
        let pattern_of = |matcher: &WildMatch| matcher.pattern();
        self.is_asked && self.patterns.iter().any(|matcher| pattern_of(matcher) == name)
    }

    /// Which pattern selects this path first: paths in this order stand as the user named them.
    pub fn order(&self, name: &str) -> usize {
        let first = self.patterns.iter().position(|matcher| matcher.matches(name));
        first.unwrap_or(self.patterns.len())
    }

    /// Whether this row is selected; one of a window that began in no path always is.
    pub fn holds(&self, name: &str) -> bool {
        self.patterns.is_empty()
            || name.starts_with(NO_PATH)
            || self.patterns.iter().any(|matcher| matcher.matches(name))
    }
}

/// Whether a pattern could be the name of a system call.
pub fn may_be_call(pattern: &str) -> bool {
    pattern.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
}

/// Refuses, before a program is executed, what can only be the name of a system call and is none of
/// the kernel's, of which `calls` are all. Windows of the program are called `windows`.
///
/// # Errors
/// A pattern is such a name.
pub fn refuse_unknown_calls(
    patterns: &[String],
    calls: &[String],
    windows: &[&str],
) -> Result<(), MeasureError> {
    let is_known = |name: &str| {
        calls.iter().any(|call| call == name)
            || windows.contains(&name)
            || WORDS.iter().any(|kind| kind.plural() == name)
    };
    match patterns.iter().find(|name| may_be_call(name) && !is_known(name)) {
        None => Ok(()),
        Some(name) => Err(unknown(name, &calls.iter().map(|it| &**it).collect::<Vec<_>>(), ROWS)),
    }
}

/// Whether one of the patterns selects this name, or there is no pattern. It is not asked whether
/// each of them selects anything.
pub fn is_selected(patterns: &[String], name: &str) -> bool {
    patterns.is_empty() || patterns.iter().any(|pattern| WildMatch::new(pattern).matches(name))
}

/// The index of the path `name` in the exact suite, if it has windows that can be recorded.
pub fn one_path(name: &str) -> Result<usize, MeasureError> {
    let Some((index, path)) = Suite::Exact.find(name) else {
        let names: Vec<&str> = Suite::Exact.paths().iter().map(|path| path.name).collect();
        let is_pattern = name.contains(['*', '?']);
        return Err(if is_pattern { pattern(name) } else { unknown(name, &names, PATHS) });
    };
    let recordable = match path.kind {
        Kind::Wait(_) if Wait::of(path.name).is_none() => {
            Err("each of its samples is a mean of many requests")
        }
        kind => kind.recordable(),
    };
    recordable.map(|()| index).map_err(|why| MeasureError::Request {
        message: format!("{name} has no window to record"),
        help: why.into(),
    })
}

fn pattern(name: &str) -> MeasureError {
    let name = name.escape_debug();
    MeasureError::Request {
        message: format!("{name}: one path, not a pattern"),
        help: format!("`pathmeter compare BASE NEW --explain --only '{name}'` explains several"),
    }
}

fn unknown(pattern: &str, names: &[&str], [what, all]: [&str; 2]) -> MeasureError {
    // A name may be of a file of somebody else's.
    let close = suggest(pattern, names).escape_debug().to_string();
    MeasureError::Request {
        message: format!("{pattern}: no {what} has this name"),
        help: format!("{close}{all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &[&str] =
        &["switch.yield", "switch.yield+ioport-0x80", "switch.pipe", "file.stat"];

    fn selected(patterns: &[&str]) -> Vec<&'static str> {
        let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.into()).collect();
        let selection = Selection::new(&patterns, NAMES).unwrap();
        NAMES.iter().copied().filter(|name| selection.holds(name)).collect()
    }

    #[test]
    fn without_a_pattern_all_are_selected() {
        assert_eq!(selected(&[]), NAMES);
    }

    #[test]
    fn a_name_selects_itself_and_a_glob_what_it_covers() {
        assert_eq!(selected(&["switch.yield"]), ["switch.yield"]);
        assert_eq!(selected(&["switch.*"]), NAMES[..3]);
        assert_eq!(selected(&["*.pip?", "file.stat"]), NAMES[2..]);
    }

    #[test]
    fn a_row_with_commas_in_its_name_is_one() {
        let names = ["page fault: write, not present", "mmap", "sum"];
        let patterns = ["mmap", "page fault: write", " not present"].map(str::to_owned);
        let selection = Selection::of_rows(&patterns, &names).unwrap();
        assert_eq!(selection.of(&names), names[..2]);
        let Err(failure) = Selection::of_rows(&["mmpa".into()], &names) else { panic!() };
        assert!(failure.help().unwrap().starts_with("did you mean mmap? without --only"));
    }

    #[test]
    fn only_a_word_can_be_refused_before_the_program_has_run() {
        let calls = ["openat", "mmap"].map(str::to_owned);
        let refuse = |name: &str| refuse_unknown_calls(&[name.to_owned()], &calls, &["wait"]);
        for name in
            ["mmap", "sum", "softirqs", "wait", "user.a", "own work", "open*", "mmap (32-bit)"]
        {
            assert!(refuse(name).is_ok(), "{name}");
        }
        let failure = refuse("opennat").unwrap_err();
        assert!(failure.help().unwrap().starts_with("did you mean openat?"));
    }

    #[test]
    fn a_path_without_a_window_is_refused_for_its_kinds_reason() {
        assert_eq!(one_path("syscall.getppid").ok(), Some(0));
        for (name, why) in [
            ("flags.isolation", "check"),
            ("softirq.round-trip", "a mean of many requests"),
            ("ioctl.native+2cpu", "both CPUs"),
        ] {
            let failure = one_path(name).unwrap_err();
            assert!(failure.help().unwrap().contains(why), "{name}");
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_close_ones() {
        let Err(failure) = Selection::new(&["switch.yeild".into()], NAMES) else { panic!() };
        assert!(failure.help().unwrap().starts_with("did you mean switch.yield, "));
        let Err(failure) = Selection::new(&["zzz".into()], NAMES) else { panic!() };
        assert_eq!(failure.help(), Some("`pathmeter list paths` lists all paths"));
        let failure = one_path("getppid").unwrap_err();
        assert!(failure.help().unwrap().starts_with("did you mean syscall.getppid"));
        assert_eq!(one_path("file.*").unwrap_err().to_string(), "file.*: one path, not a pattern");
    }
}
