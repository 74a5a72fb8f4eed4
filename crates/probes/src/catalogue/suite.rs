//! The suites, and the order in which their paths are executed.

use crate::{ELAPSED_PATHS, ELAPSED_PROBES, EXACT_PATHS, EXACT_PROBES, Path, Probe, Round};

static EXACT: &[Path] = &EXACT_PATHS;
static ELAPSED: &[Path] = &ELAPSED_PATHS;

/// The paths that a guest executes: all of one of the two tables of `probes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suite {
    /// Every path, window by window, under the exact clock.
    Exact,
    /// Batches of calls in elapsed time, by one CPU and by two at once.
    Elapsed,
}

impl Suite {
    pub const ALL: [Self; 2] = [Self::Exact, Self::Elapsed];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Elapsed => "elapsed",
        }
    }

    /// Its paths, in the order in which they are shown; a path's place here is its index.
    pub const fn paths(self) -> &'static [Path] {
        match self {
            Self::Exact => EXACT,
            Self::Elapsed => ELAPSED,
        }
    }

    /// Their probes, in the same order.
    pub const fn probes(self) -> &'static [Probe] {
        match self {
            Self::Exact => &EXACT_PROBES,
            Self::Elapsed => &ELAPSED_PROBES,
        }
    }

    /// The path with this name, and its index.
    pub fn find(self, name: &str) -> Option<(usize, &'static Path)> {
        self.paths().iter().enumerate().find(|(_, path)| path.name == name)
    }

    /// The rounds that it has, in the order in which they are executed.
    pub fn rounds(self) -> impl Iterator<Item = Round> {
        Round::ALL.into_iter().filter(move |round| self.in_round(*round).next().is_some())
    }

    /// The paths of one round with their indices, in the order in which each perturbed run executes
    /// them.
    pub fn in_round(self, round: Round) -> impl Iterator<Item = (usize, &'static Path)> {
        self.paths().iter().enumerate().filter(move |(_, path)| path.kind.round() == round)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_have_a_group() {
        for suite in Suite::ALL {
            let names: BTreeSet<_> = suite.paths().iter().map(|path| path.name).collect();
            assert_eq!(names.len(), suite.paths().len(), "{suite:?}");
            assert!(names.iter().all(|name| {
                name.split_once('.').is_some_and(|(g, w)| !g.is_empty() && !w.is_empty())
            }));
        }
    }

    #[test]
    fn only_the_elapsed_suite_has_batches() {
        for suite in Suite::ALL {
            let batches = |path: &Path| matches!(path.kind, Kind::Batches(_));
            assert!(suite.paths().iter().all(|path| batches(path) == (suite == Suite::Elapsed)));
        }
    }

    #[test]
    fn a_name_says_2cpu_if_and_only_if_its_kind_takes_two() {
        for path in Suite::ALL.into_iter().flat_map(Suite::paths) {
            let two = matches!(path.kind, Kind::TwoCpus(_) | Kind::Batches(_));
            assert_eq!(path.name.ends_with("+2cpu"), two, "{}", path.name);
        }
    }

    #[test]
    fn the_rounds_hold_every_path_once() {
        assert_eq!(Suite::Exact.rounds().collect::<Vec<_>>(), Round::ALL);
        assert_eq!(Suite::Elapsed.rounds().collect::<Vec<_>>(), [Round::Busy]);
        for suite in Suite::ALL {
            let indices = suite.rounds().flat_map(|round| suite.in_round(round));
            let mut indices: Vec<usize> = indices.map(|(index, _)| index).collect();
            indices.sort_unstable();
            assert_eq!(indices, (0..suite.paths().len()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_path_is_found_by_its_name() {
        let (index, path) = Suite::Exact.find("file.stat").unwrap();
        assert_eq!((Suite::Exact.paths()[index].name, path.kind), ("file.stat", Kind::Windows(51)));
        assert!(Suite::Elapsed.find("file.stat").is_none());
    }
}
