//! What the agent sent, gathered by path.
//!
//! Only what the plan asks for is taken, each path once a start and no more samples than it has
//! windows: so a hostile guest can't make the host keep more than an honest one would.

use pathmeter_wire::message::{OutcomeSink, Place, Status as WireStatus};

/// How a path ended over all starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Walked and proved in every start.
    Ok,
    /// This kernel can't walk it.
    Unsupported(String),
    /// A proof failed, a probe died, or the kernel did.
    Failed(String),
}

/// What came of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathOutcome {
    /// How it ended.
    pub status: Status,
    /// What the probe noticed, in the first start: (name, value).
    pub checks: Vec<(String, String)>,
    /// The samples of each start.
    pub starts: Vec<Vec<u64>>,
}

/// Outcomes of all paths, as they come in.
pub(crate) struct Gathered {
    windows: Vec<u32>,
    starts: u32,
    outcomes: Vec<PathOutcome>,
    current: Option<usize>,
    begun: Option<Place>,
    walks: u64,
    excess: bool,
}

impl Gathered {
    /// For paths with so many windows each, walked in `starts` starts.
    pub(crate) fn new(windows: &[u32], starts: u32) -> Self {
        let empty = PathOutcome { status: Status::Ok, checks: vec![], starts: vec![] };
        Self {
            windows: windows.to_vec(),
            starts,
            outcomes: vec![empty; windows.len()],
            current: None,
            begun: None,
            walks: 0,
            excess: false,
        }
    }

    /// A path is begun: in its next start, and not before the outcome of what was begun last. So a
    /// guest can't go on for ever.
    pub(crate) fn begin(&mut self, place: Place) {
        let index = usize::try_from(place.path).unwrap_or(usize::MAX);
        let next = self.outcomes.get(index).map(|outcome| outcome.starts.len() as u64);
        self.excess |= self.begun.is_some() || next != Some(place.start);
        self.begun = Some(place);
    }

    /// Walks begun and ended so far.
    pub(crate) fn walks(&self) -> u64 {
        self.walks
    }

    /// Whether something came that the plan doesn't have.
    pub(crate) fn in_excess(&self) -> bool {
        self.excess
    }

    /// Whether the path with this index has reported at least once.
    pub(crate) fn has_walked(&self, index: usize) -> bool {
        self.outcomes.get(index).is_some_and(|outcome| !outcome.starts.is_empty())
    }

    /// What came of the path with this index in the first start.
    pub(crate) fn first_start(mut self, index: usize) -> PathOutcome {
        self.starts = 1;
        self.outcomes.iter_mut().for_each(|outcome| outcome.starts.truncate(1));
        let nothing = PathOutcome {
            status: Status::Failed("no such path".to_owned()),
            checks: vec![],
            starts: vec![],
        };
        self.finish().into_iter().nth(index).unwrap_or(nothing)
    }

    /// Marks a path that was left out because the kernel died in it.
    pub(crate) fn mark_lost(&mut self, index: usize, reason: String) {
        if let Some(outcome) = self.outcomes.get_mut(index) {
            *outcome =
                PathOutcome { status: Status::Failed(reason), checks: vec![], starts: vec![] };
        }
    }

    /// The outcomes; a path that did not report from every start has failed.
    pub(crate) fn finish(mut self) -> Vec<PathOutcome> {
        for (outcome, windows) in self.outcomes.iter_mut().zip(&self.windows) {
            let heard = outcome.starts.len();
            let short = outcome.starts.iter().find(|samples| samples.len() != *windows as usize);
            if outcome.status == Status::Ok && heard != self.starts as usize {
                let reason = format!("heard from {heard} of {} starts", self.starts);
                outcome.status = Status::Failed(reason);
            } else if let (Status::Ok, Some(samples)) = (&outcome.status, short) {
                let reason = format!("{} samples of a start's {windows} windows", samples.len());
                outcome.status = Status::Failed(reason);
            }
            if outcome.status != Status::Ok {
                outcome.starts.clear();
            }
        }
        self.outcomes
    }
}

impl OutcomeSink for Gathered {
    fn status(&mut self, place: Place, status: WireStatus, reason: &str) {
        let index = usize::try_from(place.path).unwrap_or(usize::MAX);
        self.current = None;
        self.excess |= self.begun.take() != Some(place);
        let Some(outcome) = self.outcomes.get_mut(index) else {
            self.excess = true;
            return;
        };
        if place.start != outcome.starts.len() as u64 || place.start >= u64::from(self.starts) {
            self.excess = true;
            return;
        }
        outcome.starts.push(Vec::new());
        self.walks += 1;
        let reason = || printable(reason);
        match (&outcome.status, status) {
            (Status::Failed(_), _) | (_, WireStatus::Ok) => {}
            (_, WireStatus::Failed) => outcome.status = Status::Failed(reason()),
            (_, WireStatus::Unsupported) => outcome.status = Status::Unsupported(reason()),
        }
        self.current = Some(index);
    }

    fn check(&mut self, name: &str, value: &str) {
        if let Some(outcome) = self.current.and_then(|index| self.outcomes.get_mut(index))
            && outcome.starts.len() == 1
        {
            outcome.checks.push((printable(name), printable(value)));
        }
    }

    fn sample(&mut self, value: u64) {
        let Some(index) = self.current else { return };
        let Some(samples) = self.outcomes[index].starts.last_mut() else { return };
        if samples.len() < self.windows[index] as usize {
            samples.push(value);
        } else {
            self.excess = true;
        }
    }
}

/// Longest text of a guest's that is kept, in characters; the agent's own are no longer.
const MAX_TEXT: usize = 200;

/// A guest's text without what could move a terminal's cursor.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(start: u64, path: u64) -> Place {
        Place { start, path }
    }

    /// Announces and reports one walk.
    fn walked(gathered: &mut Gathered, start: u64, status: WireStatus, samples: &[u64]) {
        gathered.begin(place(start, 0));
        gathered.status(place(start, 0), status, "lost\x1b its way");
        for sample in samples {
            gathered.sample(*sample);
        }
    }

    #[test]
    fn samples_are_kept_start_by_start() {
        let mut gathered = Gathered::new(&[1], 2);
        for start in 0..2 {
            walked(&mut gathered, start, WireStatus::Ok, &[330 + start]);
        }
        assert!(!gathered.in_excess());
        assert_eq!(gathered.finish()[0].starts, [[330], [331]]);
    }

    #[test]
    fn one_failed_start_fails_the_path() {
        let mut gathered = Gathered::new(&[1], 2);
        walked(&mut gathered, 0, WireStatus::Failed, &[]);
        walked(&mut gathered, 1, WireStatus::Ok, &[330]);
        let [outcome] = &gathered.finish()[..] else { panic!() };
        assert_eq!(outcome.status, Status::Failed("lost its way".to_owned()));
        assert!(outcome.starts.is_empty());
    }

    #[test]
    fn a_start_that_never_came_fails_the_path() {
        let mut gathered = Gathered::new(&[1], 2);
        walked(&mut gathered, 0, WireStatus::Ok, &[330]);
        let failed = Status::Failed("heard from 1 of 2 starts".to_owned());
        assert_eq!(gathered.finish()[0].status, failed);
    }

    #[test]
    fn fewer_samples_than_windows_fail_the_path() {
        let mut gathered = Gathered::new(&[3], 1);
        walked(&mut gathered, 0, WireStatus::Ok, &[5]);
        let failed = Status::Failed("1 samples of a start's 3 windows".to_owned());
        assert_eq!(gathered.finish()[0].status, failed);
    }

    #[test]
    fn what_the_plan_does_not_have_is_excess() {
        for (start, path) in [(0, 1), (1, 0), (2, 0)] {
            let mut gathered = Gathered::new(&[2], 2);
            gathered.begin(place(start, path));
            gathered.status(place(start, path), WireStatus::Ok, "");
            assert!(gathered.in_excess(), "start {start}, path {path}");
        }
        let mut gathered = Gathered::new(&[1], 1);
        walked(&mut gathered, 0, WireStatus::Ok, &[1, 2]);
        assert!(gathered.in_excess());
    }

    #[test]
    fn a_path_begun_out_of_turn_is_excess() {
        let mut gathered = Gathered::new(&[1, 1], 1);
        gathered.begin(place(0, 0));
        gathered.begin(place(0, 1));
        assert!(gathered.in_excess(), "begun before the last one's outcome");
        let mut gathered = Gathered::new(&[1], 2);
        walked(&mut gathered, 0, WireStatus::Ok, &[1]);
        gathered.begin(place(0, 0));
        assert!(gathered.in_excess(), "begun twice");
    }

    #[test]
    fn an_outcome_without_its_beginning_is_excess() {
        let mut gathered = Gathered::new(&[1], 1);
        gathered.status(place(0, 0), WireStatus::Ok, "");
        assert!(gathered.in_excess());
    }
}
