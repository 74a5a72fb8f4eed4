//! The tails of waits: in a wait the worst case is the point, however rare it is.

use pathmeter_probes::Wait;
use pathmeter_stats::{self as stats, Tail};

use crate::{PairShown, PairsCompared, PathComparison, PathResult, Unit, Verdict};

/// What a wait's tail makes of its row.
pub(crate) struct TailVerdict {
    pub(crate) verdict: Verdict,
    /// What the window with the highest value costs on base; base's highest value if base has no
    /// window of this number in this run.
    pub(crate) base: u64,
    /// What that window costs on new; new's highest value if only base has the window.
    pub(crate) new: u64,
    /// That window; None if only one side has it.
    pub(crate) place: Option<PairShown>,
    /// The highest value of base and of new.
    pub(crate) highest: [u64; 2],
    /// What `base` and `new` count: steps of the clock, if the CPU idles while it waits.
    pub(crate) unit: Unit,
    /// How often the side with the tail shows it.
    pub(crate) how_often: String,
}

impl TailVerdict {
    /// None if neither has a tail beyond the other, or the pair `shown` tells it already.
    pub(crate) fn of(base: &PathResult, new: &PathResult, shown: [u64; 2]) -> Option<Self> {
        if !(base.is_wait() && new.is_wait()) {
            return None;
        }
        // A CPU that sleeps executes nothing, and the wait goes on.
        let idles = [base, new].iter().any(|side| side.durations().is_some());
        let unit = if idles { Unit::Clock } else { base.unit };
        let [base_runs, new_runs] = [base, new].map(|side| side.lasting(idles));
        let [base_runs, new_runs] = [&base_runs, &new_runs].map(|runs| slices(runs));
        // What a pair in another unit shows is something else.
        let told = |tail: &Tail, shown| !idles && tail.holds(shown);
        if let Some(tail) = stats::tail(&base_runs, &new_runs).filter(|it| !told(it, shown[1])) {
            let how_often = how_often(tail, new, "base");
            let (new, other, place) = beside_highest(tail, &new_runs, &base_runs);
            let (base, verdict) = (other.unwrap_or(tail.beyond), Verdict::LongerTail);
            let highest = [tail.beyond, new];
            return Some(Self { verdict, base, new, place, highest, unit, how_often });
        }
        let tail = stats::tail(&new_runs, &base_runs).filter(|it| !told(it, shown[0]))?;
        let how_often = how_often(tail, base, "new");
        let (base, other, place) = beside_highest(tail, &base_runs, &new_runs);
        let (new, verdict) = (other.unwrap_or(tail.beyond), Verdict::ShorterTail);
        let highest = [base, tail.beyond];
        Some(Self { verdict, base, new, place, highest, unit, how_often })
    }

    /// Whether it is the row's verdict: a shorter tail hides nothing that costs more.
    pub(crate) fn leads(&self, row: &PathComparison) -> bool {
        let rest = [Verdict::Same, Verdict::Lower, Verdict::EventsDiffer];
        self.verdict == Verdict::LongerTail || rest.contains(&row.verdict)
    }

    /// The row of the tail, with what the other samples of it do: that is in `rest`.
    pub(crate) fn explain(self, row: PathComparison, rest: &PathComparison) -> PathComparison {
        let others = match rest.difference.filter(|difference| *difference != 0) {
            Some(difference) => format!("the others: {} by {difference:+}", rest.verdict),
            None => format!("the others: {}", rest.verdict),
        };
        let reason = row.reason.unwrap_or_else(|| format!("{}; {others}", self.how_often));
        let pairs = row.pairs.map(|pairs| PairsCompared { shown: self.place, ..pairs });
        PathComparison { reason: Some(reason), pairs, ..row }
    }
}

/// The highest value of a tail, what the other side's window in its place costs, and the place.
fn beside_highest(
    tail: Tail,
    runs: &[&[u64]],
    others: &[&[u64]],
) -> (u64, Option<u64>, Option<PairShown>) {
    let place = runs.iter().enumerate().find_map(|(run, samples)| {
        let window = samples.iter().position(|sample| *sample == tail.highest)?;
        Some((run, window))
    });
    let other = place.and_then(|(run, window)| others.get(run)?.get(window).copied());
    let shown = place.filter(|_| other.is_some());
    let shown = shown.map(|(run, window)| PairShown { run, execution: Some(window) });
    (tail.highest, other, shown)
}

/// `3 of 24 samples, in 3 of 6 runs, are far beyond all of base's`.
fn how_often(Tail { samples, runs, .. }: Tail, of: &PathResult, other: &str) -> String {
    let (all, all_runs) = (of.samples.len(), of.samples_per_run.len());
    let verb = if samples == 1 { "is" } else { "are" };
    format!("{samples} of {all} samples, in {runs} of {all_runs} runs, {verb} far beyond {other}'s")
}

fn slices(runs: &[Vec<u64>]) -> Vec<&[u64]> {
    runs.iter().map(Vec::as_slice).collect()
}

impl PathResult {
    /// How long each sample lasts, run by run, in steps of the clock; None where it never idles.
    fn durations(&self) -> Option<Vec<Vec<u64>>> {
        let of_instructions = self.unit == Unit::Instructions;
        self.events.as_ref().filter(|_| of_instructions)?.durations(&self.samples_per_run)
    }

    /// The samples run by run, in steps if the other side's are.
    fn lasting(&self, in_steps: bool) -> Vec<Vec<u64>> {
        let samples = || self.runs().iter().map(|run| run.to_vec()).collect();
        // Instructions are fewer than steps by the iterations of string instructions at most.
        self.durations().filter(|_| in_steps).unwrap_or_else(samples)
    }

    /// Whether it is a wait: one of the catalogue's, or a window between two points of the kernel
    /// within a path (`PATH/NAME`).
    pub fn is_wait(&self) -> bool {
        Wait::of(&self.path).is_some() || self.path.contains('/')
    }

    /// The highest value that it may be held to: of a wait the worst, of another path the highest
    /// typical one, since interrupts fall into the windows of any kernel.
    pub fn highest(&self) -> Option<u64> {
        let set = self.histogram();
        if self.is_wait() {
            return set.iter().next_back().map(|(value, _)| value);
        }
        set.typical().last().copied()
    }
}
