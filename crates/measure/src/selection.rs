//! `--only`: which paths are shown and written.

use pathmeter_catalogue::{Kind, Suite, Wait};
use pathmeter_model::Measurement;
use wildmatch::WildMatch;

use crate::failure::Failure;

/// Names that are proposed for one that is unknown.
const MOST_PROPOSED: usize = 3;
/// How alike a proposed name must be, 0 to 1 (Jaro-Winkler): lower ones share little but a dot.
const LEAST_ALIKE: f64 = 0.75;

/// What the names of rows begin with that belong to no path.
pub const NO_PATH: &str = "*/";

/// The paths that the user wants to see: all, if there is no pattern.
pub struct Selection(Vec<WildMatch>);

impl Selection {
    /// The paths that match one of `patterns`, in which `*` is any text and `?` any character.
    ///
    /// # Errors
    /// A pattern that none of `names` matches.
    pub fn new(patterns: &[String], names: &[&str]) -> Result<Self, Failure> {
        let matchers: Vec<WildMatch> =
            patterns.iter().map(|pattern| WildMatch::new(pattern)).collect();
        for (pattern, matcher) in patterns.iter().zip(&matchers) {
            if !names.iter().any(|name| matcher.matches(name)) {
                return Err(unknown(pattern, names));
            }
        }
        Ok(Self(matchers))
    }

    /// All paths.
    pub fn all() -> Self {
        Self(Vec::new())
    }

    /// `measurement` with only the selected paths.
    pub fn apply(&self, mut measurement: Measurement) -> Measurement {
        measurement.paths.retain(|path| self.holds(&path.path));
        measurement
    }

    /// Those of `names` that are selected.
    pub fn of<'a>(&self, names: &[&'a str]) -> Vec<&'a str> {
        names.iter().copied().filter(|name| self.holds(name)).collect()
    }

    /// Whether the user named this path in full.
    pub fn names(&self, name: &str) -> bool {
        let pattern = |matcher: &WildMatch| matcher.pattern();
        self.0.iter().any(|matcher| pattern(matcher) == name)
    }

    /// Which pattern selects this path first: paths in this order stand as the user named them.
    pub fn order(&self, name: &str) -> usize {
        let first = self.0.iter().position(|matcher| matcher.matches(name));
        first.unwrap_or(self.0.len())
    }

    /// Whether this row is selected; one of a window that began in no path always is.
    pub fn holds(&self, name: &str) -> bool {
        self.0.is_empty()
            || name.starts_with(NO_PATH)
            || self.0.iter().any(|matcher| matcher.matches(name))
    }
}

/// The index of the path `name` in the exact suite, if it has windows that can be recorded.
pub fn one_path(name: &str) -> Result<usize, Failure> {
    let Some((index, path)) = Suite::Exact.find(name) else {
        let names: Vec<&str> = Suite::Exact.paths().iter().map(|path| path.name).collect();
        return Err(unknown(name, &names));
    };
    let recordable = match path.kind {
        Kind::Wait(_) if Wait::of(path.name).is_none() => {
            Err("each of its samples is a mean of many requests")
        }
        kind => kind.recordable(),
    };
    recordable.map(|()| index).map_err(|why| Failure::Usage {
        message: format!("{name} has no window to record"),
        help: why.into(),
    })
}

fn unknown(pattern: &str, names: &[&str]) -> Failure {
    let close = close_to(pattern, names);
    let help = if close.is_empty() {
        "`pathmeter list paths` lists all paths".to_owned()
    } else {
        // A name may be of a file of somebody else's.
        let close = close.join(", ").escape_debug().to_string();
        format!("did you mean {close}? `pathmeter list paths` lists all paths")
    };
    Failure::Usage { message: format!("{pattern}: no path has this name"), help }
}

/// `did you mean a, b? `, if some of `names` are like `word`.
pub fn meant(word: &str, names: &[&str]) -> String {
    match &close_to(word, names)[..] {
        [] => String::new(),
        close => format!("did you mean {}? ", close.join(", ")),
    }
}

/// The names most like `pattern`, the closest first.
pub fn close_to<'a>(pattern: &str, names: &[&'a str]) -> Vec<&'a str> {
    let alike = |name: &&'a str| (strsim::jaro_winkler(pattern, name), *name);
    let mut scored: Vec<(f64, &str)> = names.iter().map(alike).collect();
    scored.retain(|&(score, _)| score >= LEAST_ALIKE);
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.dedup();
    scored.into_iter().take(MOST_PROPOSED).map(|(_, name)| name).collect()
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
    fn a_path_without_a_window_is_refused_for_its_kinds_reason() {
        assert_eq!(one_path("syscall.getppid").ok(), Some(0));
        for (name, why) in [
            ("flags.isolation", "check"),
            ("softirq.round-trip", "a mean of many requests"),
            ("ioctl.native+2cpu", "both CPUs"),
        ] {
            let failure = one_path(name).unwrap_err();
            assert!(failure.advice().unwrap().contains(why), "{name}");
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_close_ones() {
        let Err(failure) = Selection::new(&["switch.yeild".into()], NAMES) else { panic!() };
        assert!(failure.advice().unwrap().starts_with("did you mean switch.yield, "));
        let Err(failure) = Selection::new(&["zzz".into()], NAMES) else { panic!() };
        assert_eq!(failure.advice(), Some("`pathmeter list paths` lists all paths"));
    }
}
