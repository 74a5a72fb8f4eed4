//! The plan: what the host asks of the agent, as lines of text in the file `/plan`.
//!
//! ```text
//! suite exact
//! runs 8
//! skip 17
//! ```
//!
//! The first two lines are always there, in this order: which [`Suite`] is executed, and in how
//! many perturbed runs (each a fresh run of the agent). Each further line names the index of a
//! path that is left out, because the kernel died in it before. Every line ends in a newline.
//!
//! Only a plan that is exactly so is taken: the agent refuses any other, and reports why.

use core::fmt;

use pathmeter_probes::{Group, Path, Round, Suite};

use crate::message::{MAX_PATHS, MAX_RUNS};

/// Longest text of a plan, in bytes: room for a line a path.
pub const MAX_PLAN: usize = 4096;

/// Words of the set of paths to leave out.
const WORDS: usize = 4;

const _: () = assert!(WORDS as u64 * 64 == MAX_PATHS);
const _: () = assert!(Suite::Exact.paths().len() as u64 <= MAX_PATHS);
const _: () = assert!(Suite::Elapsed.paths().len() as u64 <= MAX_PATHS);
const _: () = assert!("suite elapsed\n".len() + "runs 1024\n".len() + 256 * 9 <= MAX_PLAN);

/// What to execute, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    suite: Suite,
    runs: u32,
    skip: [u64; WORDS],
}

impl Plan {
    /// Every path of `suite`, each in `runs` perturbed runs; the agent takes at most
    /// [`MAX_RUNS`] of them.
    pub const fn new(suite: Suite, runs: u32) -> Self {
        Self { suite, runs, skip: [0; WORDS] }
    }

    /// The paths of one group of [`Suite::Exact`], each in `runs` perturbed runs.
    pub fn of_group(group: &Group, runs: u32) -> Self {
        let others = Suite::Exact.paths().iter().enumerate();
        let others = others.filter(|(_, path)| !group.holds(path.name));
        others.fold(Self::new(Suite::Exact, runs), |plan, (index, _)| plan.without(index))
    }

    /// The same without the path with this index. An index that the suite has not changes nothing.
    #[must_use]
    pub fn without(mut self, index: usize) -> Self {
        if index < self.suite.paths().len() {
            self.skip[index / 64] |= 1 << (index % 64);
        }
        self
    }

    pub fn suite(&self) -> Suite {
        self.suite
    }

    /// How many perturbed runs there are.
    pub fn runs(&self) -> u32 {
        self.runs
    }

    /// Whether the path with this index is left out.
    pub fn skips(&self, index: usize) -> bool {
        self.skip.get(index / 64).is_none_or(|word| word >> (index % 64) & 1 != 0)
    }

    /// The indices of the paths that are left out, in ascending order.
    pub fn skipped(&self) -> impl Iterator<Item = usize> {
        (0..self.suite.paths().len()).filter(|index| self.skips(*index))
    }

    /// The paths that each perturbed run of one round executes, with their indices and in this
    /// order.
    pub fn in_round(&self, round: Round) -> impl Iterator<Item = (usize, &'static Path)> {
        self.suite.in_round(round).filter(|(index, _)| !self.skips(*index))
    }

    /// The order of execution: round by round, in each the perturbed runs, in each the paths.
    pub fn order(&self) -> impl Iterator<Item = Execution> {
        self.suite.rounds().flat_map(move |round| {
            (0..self.runs).flat_map(move |run| {
                self.in_round(round).map(move |(path, _)| Execution { run, path })
            })
        })
    }

    /// Reads a plan back.
    ///
    /// # Errors
    /// Whatever a plan of [`Plan`]'s own writing can't be, with the line.
    pub fn read(text: &[u8]) -> Result<Self, PlanError> {
        if text.len() > MAX_PLAN {
            return Err(PlanError::Long);
        }
        let Some(text) = text.strip_suffix(b"\n") else { return Err(PlanError::Cut) };
        let mut lines = (1..).zip(text.split(|byte| *byte == b'\n'));
        let (line, name) = field(lines.next(), "suite")?;
        let suite = Suite::ALL.into_iter().find(|suite| suite.name().as_bytes() == name);
        let suite = suite.ok_or(PlanError::Suite { line })?;
        let (line, runs) = field(lines.next(), "runs")?;
        let runs = number(runs).filter(|runs| u64::from(*runs) <= MAX_RUNS);
        let mut plan = Self::new(suite, runs.ok_or(PlanError::Number { line })?);
        for given in lines {
            let (line, index) = field(Some(given), "skip")?;
            let index = number(index).and_then(|index| usize::try_from(index).ok());
            let index = index.filter(|index| *index < suite.paths().len());
            plan = plan.without(index.ok_or(PlanError::Number { line })?);
        }
        Ok(plan)
    }
}

/// The text that [`Plan::read`] reads.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "suite {}", self.suite.name())?;
        writeln!(f, "runs {}", self.runs)?;
        self.skipped().try_for_each(|index| writeln!(f, "skip {index}"))
    }
}

/// One execution of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execution {
    /// The perturbed run, from 0; each round has them all.
    pub run: u32,
    /// The path's index in the suite.
    pub path: usize,
}

/// What stands after `name` and a space on a line that there must be, and the line's number.
fn field<'a>(
    line: Option<(usize, &'a [u8])>,
    name: &'static str,
) -> Result<(usize, &'a [u8]), PlanError> {
    let (line, text) = line.ok_or(PlanError::Missing { name })?;
    let value = text.strip_prefix(name.as_bytes()).and_then(|rest| rest.strip_prefix(b" "));
    value.map(|value| (line, value)).ok_or(PlanError::Line { line, name })
}

/// A decimal number without sign, as it is written.
pub fn number(digits: &[u8]) -> Option<u32> {
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    core::str::from_utf8(digits).ok()?.parse().ok()
}

/// Why a text is no plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// It has more than [`MAX_PLAN`] bytes.
    Long,
    /// It does not end in a newline.
    Cut,
    /// It ends before the line that begins with this.
    Missing {
        /// `suite` or `runs`.
        name: &'static str,
    },
    /// A line does not begin with what must stand there.
    Line {
        /// Its number, from 1.
        line: usize,
        /// `suite`, `runs` or `skip`.
        name: &'static str,
    },
    /// The suite is none of [`Suite::ALL`].
    Suite {
        /// The number of its line, from 1.
        line: usize,
    },
    /// A number is missing, malformed, or larger than there are paths or may be runs.
    Number {
        /// The number of its line, from 1.
        line: usize,
    },
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Long => write!(f, "the plan has more than {MAX_PLAN} bytes"),
            Self::Cut => write!(f, "the plan does not end in a newline"),
            Self::Missing { name } => write!(f, "the plan has no line `{name}`"),
            Self::Line { line, name } => {
                write!(f, "line {line} of the plan is not a `{name}` line")
            }
            Self::Suite { line } => write!(f, "line {line} of the plan names no suite"),
            Self::Number { line } => {
                write!(f, "line {line} of the plan has no number, or one that is out of range")
            }
        }
    }
}

impl core::error::Error for PlanError {}

#[cfg(test)]
mod tests {
    use super::*;
    use pathmeter_probes::Kind;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Plan, PlanError> {
        Plan::read(text.as_bytes())
    }

    #[test]
    fn a_plan_is_three_kinds_of_lines() {
        let plan = Plan::new(Suite::Exact, 8).without(17).without(3);
        assert_eq!(plan.to_string(), "suite exact\nruns 8\nskip 3\nskip 17\n");
    }

    #[test]
    fn the_longest_plan_fits() {
        for suite in Suite::ALL {
            let nothing = (0..suite.paths().len()).fold(Plan::new(suite, 1024), Plan::without);
            assert_eq!(read(&nothing.to_string()), Ok(nothing.clone()));
            assert_eq!(nothing.order().count(), 0);
        }
    }

    #[test]
    fn a_line_without_its_number_is_refused_rather_than_a_panic() {
        let numbers = ["suite exact\nruns \n", "suite exact\nruns 8\nskip \n"];
        assert_eq!(numbers.map(read), [2, 3].map(|line| Err(PlanError::Number { line })));
        assert_eq!(read("suite exact\nruns\n"), Err(PlanError::Line { line: 2, name: "runs" }));
        assert_eq!(read("runs\n"), Err(PlanError::Line { line: 1, name: "suite" }));
    }

    #[test]
    fn a_number_out_of_range_is_refused() {
        let paths = Suite::Exact.paths().len();
        let skip = format!("suite exact\nruns 8\nskip {paths}\n");
        assert_eq!(read(&skip), Err(PlanError::Number { line: 3 }));
        for runs in ["1025", "4294967296", "-1", "+1", "0x1", "1 ", "١"] {
            let text = format!("suite exact\nruns {runs}\n");
            assert_eq!(read(&text), Err(PlanError::Number { line: 2 }), "{runs}");
        }
        assert!(read("suite exact\nruns 1024\n").is_ok());
    }

    #[test]
    fn what_is_missing_foreign_or_too_long_is_refused() {
        assert_eq!(read(""), Err(PlanError::Cut));
        assert_eq!(read("suite exact"), Err(PlanError::Cut));
        assert_eq!(read("suite exact\n"), Err(PlanError::Missing { name: "runs" }));
        assert_eq!(read("suite slow\nruns 1\n"), Err(PlanError::Suite { line: 1 }));
        let empty_line = "suite exact\nruns 1\n\nskip 1\n";
        assert_eq!(read(empty_line), Err(PlanError::Line { line: 3, name: "skip" }));
        assert_eq!(read(&"skip 1\n".repeat(1000)), Err(PlanError::Long));
    }

    #[test]
    fn paths_in_which_the_cpu_idles_come_after_all_runs_of_the_others() {
        let plan = Plan::new(Suite::Exact, 2);
        let order: Vec<Execution> = plan.order().collect();
        assert_eq!(order.len(), 2 * Suite::Exact.paths().len());
        assert_eq!(order[0], Execution { run: 0, path: 0 });
        let round = |execution: &Execution| Suite::Exact.paths()[execution.path].kind.round();
        let busy = order.iter().take_while(|execution| round(execution) == Round::Busy).count();
        assert!(order[busy..].iter().all(|execution| round(execution) == Round::Idle));
        for part in [&order[..busy], &order[busy..]] {
            let (first, second) = part.split_at(part.len() / 2);
            assert!(first.iter().all(|execution| execution.run == 0));
            assert!(second.iter().all(|execution| execution.run == 1));
            assert!(first.iter().map(|e| e.path).eq(second.iter().map(|e| e.path)));
            assert!(first.is_sorted_by_key(|execution| execution.path));
        }
    }

    #[test]
    fn a_recordable_path_is_executed_in_the_first_run() {
        let windows = |path: &Path| matches!(path.kind, Kind::Windows(_));
        let recordable = Suite::Exact.paths().iter().filter(|path| windows(path)).count();
        let plan = Plan::new(Suite::Exact, 3);
        let first = plan.order().take_while(|execution| execution.run == 0);
        let first = first.filter(|execution| windows(&Suite::Exact.paths()[execution.path]));
        assert_eq!(first.count(), recordable);
    }

    fn any_plan() -> impl Strategy<Value = Plan> {
        let skip = prop::collection::vec(0..Suite::Exact.paths().len(), 0..60);
        (prop::sample::select(Suite::ALL.to_vec()), 0..=1024_u32, skip).prop_map(
            |(suite, runs, skip)| skip.into_iter().fold(Plan::new(suite, runs), Plan::without),
        )
    }

    proptest! {
        #[test]
        fn a_plan_is_read_back(plan in any_plan()) {
            prop_assert_eq!(Plan::read(plan.to_string().as_bytes()), Ok(plan));
        }

        #[test]
        fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Plan::read(&bytes);
        }

        #[test]
        fn a_changed_byte_gives_an_error_or_another_plan(
            plan in any_plan(), at in any::<prop::sample::Index>(), byte in any::<u8>(),
        ) {
            let mut text = plan.to_string().into_bytes();
            let at = at.index(text.len());
            prop_assume!(text[at] != byte);
            text[at] = byte;
            prop_assert_ne!(Plan::read(&text), Ok(plan));
        }
    }
}
