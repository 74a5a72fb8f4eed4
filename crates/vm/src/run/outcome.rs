//! What the agent sent, gathered by path.
//!
//! Only what the plan asks for is taken, each path once in a run, and no more samples than it has
//! windows: so a hostile guest can't make the host keep more than an honest one would.

use pathmeter_wire::message::{OutcomeSink, OutcomeStatus as ReportedStatus, Place};
use pathmeter_wire::plan::Execution;

/// How a path ended over all runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStatus {
    /// Executed and proved in every run.
    Ok,
    /// This kernel can't execute it.
    Unsupported(String),
    /// A proof failed, a probe died, or the kernel did.
    Failed(String),
}

/// What came of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathOutcome {
    pub status: PathStatus,
    /// What the probe noticed, in the first run: (name, value).
    pub checks: Vec<(String, String)>,
    /// The samples of each run.
    pub runs: Vec<Vec<u64>>,
    /// Which samples are lower bounds: positions in all runs' samples, one run after the other,
    /// ascending.
    pub lower_bounds: Vec<u32>,
}

impl PathOutcome {
    /// A path of which nothing has come yet.
    fn without_samples(status: PathStatus) -> Self {
        Self { status, checks: vec![], runs: vec![], lower_bounds: vec![] }
    }
}

impl PathOutcome {
    /// Whether further runs of a path with so many windows can add nothing to it: the agent makes
    /// none once the first has given no samples.
    fn is_settled(&self, windows: u32) -> bool {
        self.status != PathStatus::Ok || windows == 0
    }
}

/// Outcomes of all paths, as they come in.
pub(crate) struct Gathered {
    windows: Vec<u32>,
    runs: u32,
    outcomes: Vec<PathOutcome>,
    current: Option<usize>,
    begun: Option<Place>,
    executed: Vec<Execution>,
    excess: bool,
}

impl Gathered {
    /// For paths with so many windows each, in so many perturbed runs.
    pub(crate) fn new(windows: &[u32], runs: u32) -> Self {
        let empty = PathOutcome::without_samples(PathStatus::Ok);
        Self {
            windows: windows.to_vec(),
            runs,
            outcomes: vec![empty; windows.len()],
            current: None,
            begun: None,
            executed: Vec::new(),
            excess: false,
        }
    }

    /// A path is begun: in its next run, and not before the outcome of what was begun last. So a
    /// guest can't go on for ever.
    pub(crate) fn begin(&mut self, place: Place) {
        let index = usize::try_from(place.path).unwrap_or(usize::MAX);
        let next = self.outcomes.get(index).map(|outcome| outcome.runs.len() as u64);
        self.excess |= self.begun.is_some() || next != Some(place.run);
        self.begun = Some(place);
        if !self.excess {
            // A run of the plan, since the path has had fewer.
            let run = u32::try_from(place.run).unwrap_or(u32::MAX);
            self.executed.push(Execution { run, path: index });
        }
    }

    /// The executions so far, in their order.
    pub(crate) fn executed(&self) -> &[Execution] {
        &self.executed
    }

    /// Outcomes so far, over all paths and runs. One without samples stands for all runs.
    pub(crate) fn done(&self) -> u64 {
        let runs = |(outcome, windows): (&PathOutcome, &u32)| match outcome.runs.len() {
            1.. if outcome.is_settled(*windows) => u64::from(self.runs),
            heard => heard as u64,
        };
        self.outcomes.iter().zip(&self.windows).map(runs).sum()
    }

    /// Whether something came that the plan doesn't have.
    pub(crate) fn in_excess(&self) -> bool {
        self.excess
    }

    /// Whether the path with this index has reported at least once.
    pub(crate) fn has_run(&self, index: usize) -> bool {
        self.has_done(Execution { run: 0, path: index })
    }

    /// Whether this execution is over, or will not come: a path without samples is executed once.
    pub(crate) fn has_done(&self, Execution { run, path }: Execution) -> bool {
        let both = self.outcomes.get(path).zip(self.windows.get(path));
        both.is_some_and(|(outcome, windows)| {
            let heard = outcome.runs.len();
            heard > run as usize || (heard > 0 && outcome.is_settled(*windows))
        })
    }

    /// What came of a path in one of its executions; None if there is no such path.
    pub(crate) fn outcome_of(&self, Execution { run, path }: Execution) -> Option<PathOutcome> {
        let (outcome, windows) = self.outcomes.get(path).zip(self.windows.get(path))?;
        let runs: Vec<Vec<u64>> = outcome.runs.get(run as usize).cloned().into_iter().collect();
        let mut one = Self::new(&[*windows], 1);
        one.outcomes = vec![PathOutcome { runs, lower_bounds: Vec::new(), ..outcome.clone() }];
        one.finish().pop()
    }

    /// Marks a path that was left out because the kernel died in it.
    pub(crate) fn mark_lost(&mut self, index: usize, reason: String) {
        if let Some(outcome) = self.outcomes.get_mut(index) {
            *outcome = PathOutcome::without_samples(PathStatus::Failed(reason));
        }
    }

    /// The outcomes; a path that has windows and did not report from every run has failed.
    pub(crate) fn finish(mut self) -> Vec<PathOutcome> {
        for (outcome, windows) in self.outcomes.iter_mut().zip(&self.windows) {
            let heard = outcome.runs.len();
            // Of a path that only the counter sees, no run has samples.
            let sampled = outcome.runs.iter().any(|samples| !samples.is_empty());
            let is_short = |samples: &&Vec<u64>| sampled && samples.len() != *windows as usize;
            let short = outcome.runs.iter().find(is_short);
            let owed = if *windows == 0 { self.runs.min(1) } else { self.runs };
            if outcome.status == PathStatus::Ok && heard < owed as usize {
                let reason = format!("heard from {heard} of {owed} runs");
                outcome.status = PathStatus::Failed(reason);
            } else if let (PathStatus::Ok, Some(samples)) = (&outcome.status, short) {
                let reason = format!("{} samples of a run's {windows} windows", samples.len());
                outcome.status = PathStatus::Failed(reason);
            }
            if outcome.status != PathStatus::Ok {
                outcome.runs.clear();
                outcome.lower_bounds.clear();
            }
        }
        self.outcomes
    }
}

impl OutcomeSink for Gathered {
    fn status(&mut self, place: Place, status: ReportedStatus, reason: &str) {
        let index = usize::try_from(place.path).unwrap_or(usize::MAX);
        self.current = None;
        self.excess |= self.begun.take() != Some(place);
        let Some(outcome) = self.outcomes.get_mut(index) else {
            self.excess = true;
            return;
        };
        if place.run != outcome.runs.len() as u64 || place.run >= u64::from(self.runs) {
            self.excess = true;
            return;
        }
        outcome.runs.push(Vec::new());
        let reason = || printable(reason);
        match (&outcome.status, status) {
            (PathStatus::Failed(_), _) | (_, ReportedStatus::Ok) => {}
            (_, ReportedStatus::Failed) => outcome.status = PathStatus::Failed(reason()),
            (_, ReportedStatus::Unsupported) => outcome.status = PathStatus::Unsupported(reason()),
        }
        self.current = Some(index);
    }

    fn check(&mut self, name: &str, value: &str) {
        if let Some(outcome) = self.current.and_then(|index| self.outcomes.get_mut(index))
            && outcome.runs.len() == 1
        {
            outcome.checks.push((printable(name), printable(value)));
        }
    }

    fn sample(&mut self, value: u64) {
        let Some(index) = self.current else { return };
        let Some(samples) = self.outcomes[index].runs.last_mut() else { return };
        if samples.len() < self.windows[index] as usize {
            samples.push(value);
        } else {
            self.excess = true;
        }
    }

    fn lower_bound(&mut self, position: usize) {
        let Some(outcome) = self.current.and_then(|index| self.outcomes.get_mut(index)) else {
            return;
        };
        let Some((samples, before)) = outcome.runs.split_last() else { return };
        let before: usize = before.iter().map(Vec::len).sum();
        match u32::try_from(before + position) {
            Ok(flat) if position < samples.len() => outcome.lower_bounds.push(flat),
            _ => self.excess = true,
        }
    }
}

/// Longest text of a guest's that is kept, in characters; the agent's own are no longer.
const MAX_TEXT: usize = 200;

/// A guest's text without what could move a terminal's cursor.
pub(crate) fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(run: u64, path: u64) -> Place {
        Place { run, path }
    }

    /// Announces and reports one run.
    fn report(gathered: &mut Gathered, run: u64, status: ReportedStatus, samples: &[u64]) {
        gathered.begin(place(run, 0));
        gathered.status(place(run, 0), status, "lost\x1b its way");
        for sample in samples {
            gathered.sample(*sample);
        }
    }

    #[test]
    fn samples_are_kept_start_by_start() {
        let mut gathered = Gathered::new(&[1], 2);
        for run in 0..2 {
            report(&mut gathered, run, ReportedStatus::Ok, &[330 + run]);
        }
        assert!(!gathered.in_excess());
        assert_eq!(gathered.finish()[0].runs, [[330], [331]]);
    }

    #[test]
    fn lower_bounds_are_kept_by_their_positions_over_all_runs() {
        let mut gathered = Gathered::new(&[2], 2);
        for (run, position) in [(0, 1), (1, 0)] {
            report(&mut gathered, run, ReportedStatus::Ok, &[330, 331]);
            gathered.lower_bound(position);
        }
        assert!(!gathered.in_excess());
        assert_eq!(gathered.finish()[0].lower_bounds, [1, 2]);
    }

    #[test]
    fn each_execution_has_the_samples_of_its_run_and_one_that_did_not_report_has_failed() {
        let mut gathered = Gathered::new(&[1], 3);
        for run in 0..2 {
            report(&mut gathered, run, ReportedStatus::Ok, &[330 + run]);
        }
        let of = |run| Execution { run, path: 0 };
        let runs = [0, 1].map(|run| gathered.outcome_of(of(run)).unwrap().runs);
        assert_eq!(runs, [vec![vec![330]], vec![vec![331]]]);
        assert!(gathered.has_done(of(1)) && !gathered.has_done(of(2)));
        let missing = gathered.outcome_of(of(2)).unwrap().status;
        assert_eq!(missing, PathStatus::Failed("heard from 0 of 1 runs".into()));
    }

    #[test]
    fn a_path_without_samples_is_done_for_all_runs_once_it_was_tried() {
        let mut gathered = Gathered::new(&[1], 3);
        report(&mut gathered, 0, ReportedStatus::Unsupported, &[]);
        assert!(gathered.has_done(Execution { run: 2, path: 0 }));
    }

    #[test]
    fn a_lower_bound_without_a_sample_is_excess() {
        let mut gathered = Gathered::new(&[2], 1);
        report(&mut gathered, 0, ReportedStatus::Ok, &[330]);
        gathered.lower_bound(1);
        assert!(gathered.in_excess());
    }

    #[test]
    fn one_failed_start_fails_the_path() {
        let mut gathered = Gathered::new(&[1], 2);
        report(&mut gathered, 0, ReportedStatus::Failed, &[]);
        report(&mut gathered, 1, ReportedStatus::Ok, &[330]);
        let [outcome] = &gathered.finish()[..] else { panic!() };
        assert_eq!(outcome.status, PathStatus::Failed("lost its way".to_owned()));
        assert!(outcome.runs.is_empty());
    }

    #[test]
    fn a_start_that_never_came_fails_the_path() {
        let mut gathered = Gathered::new(&[1], 2);
        report(&mut gathered, 0, ReportedStatus::Ok, &[330]);
        let failed = PathStatus::Failed("heard from 1 of 2 runs".to_owned());
        assert_eq!(gathered.finish()[0].status, failed);
    }

    #[test]
    fn a_path_without_samples_is_heard_once_and_counts_for_all_runs() {
        let mut gathered = Gathered::new(&[0], 6);
        assert_eq!(gathered.done(), 0);
        report(&mut gathered, 0, ReportedStatus::Ok, &[]);
        assert_eq!(gathered.done(), 6);
        assert_eq!(gathered.finish()[0].status, PathStatus::Ok);
        let never = Gathered::new(&[0], 6).finish();
        assert_eq!(never[0].status, PathStatus::Failed("heard from 0 of 1 runs".to_owned()));
        let mut gathered = Gathered::new(&[3], 6);
        report(&mut gathered, 0, ReportedStatus::Unsupported, &[]);
        assert_eq!(gathered.done(), 6);
        assert!(matches!(gathered.finish()[0].status, PathStatus::Unsupported(_)));
    }

    #[test]
    fn fewer_samples_than_windows_fail_the_path() {
        let mut gathered = Gathered::new(&[3], 1);
        report(&mut gathered, 0, ReportedStatus::Ok, &[5]);
        let failed = PathStatus::Failed("1 samples of a run's 3 windows".to_owned());
        assert_eq!(gathered.finish()[0].status, failed);
    }

    #[test]
    fn what_the_plan_does_not_have_is_excess() {
        for (run, path) in [(0, 1), (1, 0), (2, 0)] {
            let mut gathered = Gathered::new(&[2], 2);
            gathered.begin(place(run, path));
            gathered.status(place(run, path), ReportedStatus::Ok, "");
            assert!(gathered.in_excess(), "start {run}, path {path}");
        }
        let mut gathered = Gathered::new(&[1], 1);
        report(&mut gathered, 0, ReportedStatus::Ok, &[1, 2]);
        assert!(gathered.in_excess());
    }

    #[test]
    fn a_path_begun_out_of_turn_is_excess() {
        let mut gathered = Gathered::new(&[1, 1], 1);
        gathered.begin(place(0, 0));
        gathered.begin(place(0, 1));
        assert!(gathered.in_excess(), "begun before the last one's outcome");
        let mut gathered = Gathered::new(&[1], 2);
        report(&mut gathered, 0, ReportedStatus::Ok, &[1]);
        gathered.begin(place(0, 0));
        assert!(gathered.in_excess(), "begun twice");
    }

    #[test]
    fn an_outcome_without_its_beginning_is_excess() {
        let mut gathered = Gathered::new(&[1], 1);
        gathered.status(place(0, 0), ReportedStatus::Ok, "");
        assert!(gathered.in_excess());
    }
}
