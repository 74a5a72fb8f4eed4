//! The sleeps of a program on two kernels, by the row or region and the process that slept. They
//! are shown and never judged: how long a task waits depends on whatever else runs.

use pathmeter_stats::Histogram;
use pathmeter_trace::RowKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Execution, SleepResult};

/// The sleeps in one row or region of one process on two kernels, whoever ended them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SleepComparison {
    /// The kind of row, or `region`.
    pub kind: RowKind,
    /// The name of the row or region.
    pub slept_in: String,
    /// The process whose tasks slept; not there if the program had only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    pub base: TypicalSleeps,
    pub new: TypicalSleeps,
}

/// The sleeps in a run: of the later runs, or of the only one, the lower medians of each number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TypicalSleeps {
    pub sleeps: u64,
    /// The mean of the steps from a wake-up until the task ran.
    pub to_run: u64,
    /// Steps in which the CPU idled while they slept; null if that is unknown of some run.
    pub idle: Option<u64>,
}

impl TypicalSleeps {
    /// Of all these, run by run.
    pub fn of(sleeps: &[&SleepResult]) -> Self {
        let runs = sleeps.iter().map(|sleep| sleep.sampled().count()).max().unwrap_or(0);
        let mut sums = vec![(0_u64, 0_u64, Some(0_u64)); runs];
        for (at, (count, steps, idle)) in sleeps.iter().flat_map(|it| it.sampled().enumerate()) {
            if let Some(sum) = sums.get_mut(at) {
                let idle = sum.2.zip(idle).map(|(sum, idle)| sum.saturating_add(idle));
                *sum = (sum.0.saturating_add(count), sum.1.saturating_add(steps), idle);
            }
        }
        let means = sums.iter().filter_map(|(count, steps, _)| steps.checked_div(*count));
        let idle: Option<Vec<u64>> = sums.iter().map(|sum| sum.2).collect();
        Self {
            sleeps: lower_median(sums.iter().map(|sum| sum.0)),
            to_run: lower_median(means),
            idle: idle.map(|idle| lower_median(idle.into_iter())),
        }
    }
}

/// The number that stands for these, as of a row's samples; 0 of nothing.
pub fn lower_median(values: impl Iterator<Item = u64>) -> u64 {
    values.collect::<Histogram>().median().unwrap_or(0)
}

/// Compares the sleeps of each place where tasks slept on either side: in the order of base's
/// document, then of new's.
pub(crate) fn compare_sleeps(base: &Execution, new: &Execution) -> Vec<SleepComparison> {
    let mut all: Vec<SleepComparison> = Vec::new();
    for sleep in base.sleeps.iter().chain(&new.sleeps) {
        let is_it = |it: &SleepComparison| {
            (it.kind, &it.slept_in, &it.process) == (sleep.kind, &sleep.slept_in, &sleep.process)
        };
        if all.iter().any(is_it) {
            continue;
        }
        let of = |side: &Execution| {
            let same = |it: &&SleepResult| {
                (it.kind, &it.slept_in, &it.process)
                    == (sleep.kind, &sleep.slept_in, &sleep.process)
            };
            TypicalSleeps::of(&side.sleeps.iter().filter(same).collect::<Vec<_>>())
        };
        let SleepResult { kind, slept_in, process, .. } = sleep.clone();
        all.push(SleepComparison { kind, slept_in, process, base: of(base), new: of(new) });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ended, Output, WokenBy};

    fn sleep(slept_in: &str, by: &str, sleeps: [u64; 3], idle: Option<u64>) -> SleepResult {
        SleepResult {
            kind: RowKind::Syscall,
            slept_in: slept_in.to_owned(),
            process: None,
            woken_by: WokenBy { process: None, work: by.to_owned() },
            sleeps: sleeps.to_vec(),
            steps_to_run: sleeps.map(|count| 100 * count).to_vec(),
            idle: vec![idle; 3],
        }
    }

    fn execution(sleeps: Vec<SleepResult>) -> Execution {
        Execution {
            ended: Ended::Code(0),
            output: Output::default(),
            runs: vec![],
            processes: vec![],
            sleeps,
        }
    }

    #[test]
    fn sleeps_are_compared_by_where_they_were_whoever_ended_them() {
        let base = execution(vec![
            sleep("read", "write", [9, 3, 3], Some(7)),
            sleep("read", "timer", [9, 1, 2], Some(1)),
            sleep("wait4", "exit_group", [1, 1, 1], None),
        ]);
        let new = execution(vec![
            sleep("poll", "write", [1, 1, 1], Some(0)),
            sleep("read", "write", [9, 6, 6], Some(9)),
        ]);
        let found = compare_sleeps(&base, &new);
        let told = |it: &SleepComparison| {
            let side = |it: TypicalSleeps| (it.sleeps, it.to_run, it.idle);
            (it.slept_in.clone(), side(it.base), side(it.new))
        };
        let expected = [
            ("read", (4, 100, Some(8)), (6, 100, Some(9))),
            ("wait4", (1, 100, None), (0, 0, Some(0))),
            ("poll", (0, 0, Some(0)), (1, 100, Some(0))),
        ];
        let expected = expected.map(|(name, base, new)| (name.to_owned(), base, new));
        assert_eq!(found.iter().map(told).collect::<Vec<_>>(), expected);
    }
}
