//! What the counter saw of a guest, put to the samples that the agent took of it.
//!
//! Contract: each sampled window that the counter saw has as many steps of the clock as the sample;
//! a path of which one has not is failed.

use std::collections::HashMap;

use pathmeter_model::PathEvents;
use pathmeter_probes::{Kind, Suite, WARMUP};
use pathmeter_trace::{CountedPath, CountedWindow, Counting, CountingError, Event, WindowEvents};
use pathmeter_vm::{Execution, PathOutcome};

/// The windows of a guest, path by path.
pub struct Counted {
    counting: Counting,
    /// By the path's index: the executions of it, run by run, as places in the counting.
    executions: HashMap<usize, Vec<usize>>,
}

/// What was counted of a path: the retired instructions of each sample, and everything.
pub struct PathCounts {
    /// Run by run, as the path's samples are.
    pub retired: Vec<Vec<u64>>,
    /// Which of them are lower bounds: positions over all runs, ascending.
    pub lower_bounds: Vec<u32>,
    /// The events of the samples.
    pub events: PathEvents,
}

impl Counted {
    /// What was counted while paths were executed in this order.
    pub fn new(order: &[Execution], counting: Counting) -> Self {
        let mut executions: HashMap<usize, Vec<usize>> = HashMap::new();
        for (marker, execution) in order.iter().enumerate() {
            executions.entry(execution.path).or_default().push(marker);
        }
        Self { counting, executions }
    }

    /// What was counted of the path with this index in [`Suite::Exact`], with this outcome; None
    /// for a path that is not measured in windows.
    ///
    /// # Errors
    /// What the counter saw is not what the clock says.
    pub fn of(&self, index: usize, outcome: &PathOutcome) -> Option<Result<PathCounts, String>> {
        match Suite::Exact.paths().get(index)?.kind {
            Kind::Windows(_) => Some(self.counts(index, outcome)),
            Kind::Wait(samples) if outcome.runs.iter().all(Vec::is_empty) => {
                Some(self.waits(index, outcome.runs.len(), samples as usize))
            }
            Kind::Check | Kind::Wait(_) | Kind::TwoCpus(_) | Kind::Batches(_) => None,
        }
    }

    /// The windows of a path that one perturbed run sampled, if the clock agrees with them.
    pub fn of_run(
        &self,
        index: usize,
        run: usize,
        outcome: &PathOutcome,
    ) -> Result<Vec<&WindowEvents>, String> {
        let execution = self.executions.get(&index).and_then(|executions| executions.get(run));
        let samples = outcome.runs.get(run).map(Vec::as_slice).unwrap_or_default();
        let seen = self.windows(execution.copied())?;
        if seen.len() != samples.len() {
            let (seen, samples) = (seen.len(), samples.len());
            return Err(format!("the counter saw {seen} windows of {samples}"));
        }
        seen.iter().zip(samples).try_for_each(|(window, clock)| check(window, *clock))?;
        Ok(seen)
    }

    fn counts(&self, index: usize, outcome: &PathOutcome) -> Result<PathCounts, String> {
        let runs = (0..outcome.runs.len()).map(|run| self.of_run(index, run, outcome));
        let runs = runs.collect::<Result<Vec<_>, _>>()?;
        let retired =
            |seen: &Vec<&WindowEvents>| seen.iter().map(|window| window.events.retired()).collect();
        let retired = runs.iter().map(retired).collect();
        Ok(PathCounts { retired, lower_bounds: Vec::new(), events: events_of(&runs.concat()) })
    }

    /// What was counted between two points of the kernel: the first `samples` of each run.
    fn waits(&self, index: usize, runs: usize, samples: usize) -> Result<PathCounts, String> {
        let executions = self.executions.get(&index).map(Vec::as_slice).unwrap_or_default();
        let (mut retired, mut windows, mut lower_bounds) = (Vec::new(), Vec::new(), Vec::new());
        for run in 0..runs {
            let path = self.path(executions.get(run).copied())?;
            // Of a path with a begin marker a window, the warm-up is left out.
            let marked = path.windows.iter().map(|window| window.marker).max().unwrap_or(0);
            let warm = if marked > WARMUP { WARMUP } else { 0 };
            let after_warmup = path.windows.iter().filter(|window| window.marker > warm);
            let counted = after_warmup.take(samples);
            let of_run: Vec<_> = counted
                .map(|window| {
                    let events = self.events(window)?;
                    Ok((events, window.ended && !events.idle_unknown))
                })
                .collect::<Result<_, String>>()?;
            if of_run.len() < samples {
                return Err(few(of_run.len(), samples, path));
            }
            let position = |place: usize| u32::try_from(windows.len() + place).unwrap_or(u32::MAX);
            let open = of_run.iter().enumerate().filter(|(_, (_, ended))| !ended);
            lower_bounds.extend(open.map(|(place, _)| position(place)));
            retired.push(of_run.iter().map(|(window, _)| window.events.retired()).collect());
            windows.extend(of_run.iter().map(|(window, _)| *window));
        }
        Ok(PathCounts { retired, lower_bounds, events: events_of(&windows) })
    }

    /// The executions of the path with this index, run by run.
    pub fn runs(&self, index: usize) -> Vec<&CountedPath> {
        let executions = self.executions.get(&index).map(Vec::as_slice).unwrap_or_default();
        executions.iter().filter_map(|place| self.counting.paths.get(*place)).collect()
    }

    /// Why the counter's stream ends where it does, if it is damaged.
    pub fn fault(&self) -> Option<&CountingError> {
        self.counting.fault.as_ref()
    }

    /// Whether a window was still open when its path's execution ended.
    pub fn any_without_end(&self) -> bool {
        self.counting.paths.iter().flat_map(|path| &path.windows).any(|window| !window.ended)
    }

    fn path(&self, execution: Option<usize>) -> Result<&CountedPath, String> {
        execution.and_then(|place| self.counting.paths.get(place)).ok_or_else(|| {
            match &self.counting.fault {
                Some(fault) => fault.to_string(),
                None => "the counter did not see it".to_owned(),
            }
        })
    }

    /// The windows of one execution that were sampled: those after the warm-up.
    fn windows(&self, execution: Option<usize>) -> Result<Vec<&WindowEvents>, String> {
        let sampled = self.path(execution)?.windows.iter().skip(WARMUP as usize);
        sampled.map(|window| self.events(window)).collect()
    }

    /// What was counted of this window.
    ///
    /// # Errors
    /// It was too long.
    pub fn events(&self, window: &CountedWindow) -> Result<&WindowEvents, String> {
        let known = window.events.and_then(|place| self.counting.distinct.get(place as usize));
        known.ok_or_else(|| "a window was too long to count".to_owned())
    }
}

/// The events of these windows.
pub(crate) fn events_of(windows: &[&WindowEvents]) -> PathEvents {
    let placement = windows.first().map(|window| window.entries.clone()).unwrap_or_default();
    PathEvents::new(windows.iter().map(|window| &window.events), placement)
}

/// Why a run has too few windows between two points.
fn few(seen: usize, wanted: usize, path: &CountedPath) -> String {
    let loose = path.loose;
    let mut also = Vec::new();
    for (count, what) in [
        (loose.elsewhere, "began in another context"),
        (loose.overlapping, "began while one was open"),
        (loose.ends, "ended and had not begun"),
        (loose.hidden, "began or ended where an interrupt hid its caller"),
    ] {
        if count > 0 {
            also.push(format!("{count} {what}"));
        }
    }
    let also = if also.is_empty() { String::new() } else { format!(" ({})", also.join(", ")) };
    format!("only {seen} of {wanted} windows came{also}")
}

/// Instructions and further iterations are the steps of the clock.
fn check(window: &WindowEvents, clock: u64) -> Result<(), String> {
    let counted = window.events.of(Event::Clock);
    if counted == clock {
        return Ok(());
    }
    let open = match window.open {
        0 => String::new(),
        open => format!(" ({open} exceptions in it did not return)"),
    };
    Err(format!("the counter saw {counted} steps of a window, the clock {clock}{open}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use pathmeter_trace::LoosePoints;
    use pathmeter_vm::PathStatus;

    fn index(name: &str) -> usize {
        Suite::Exact.paths().iter().position(|path| path.name == name).unwrap()
    }

    /// Counts two runs of getppid: each has the warm-up and two samples, of 333 and 340 steps.
    fn count_getppid(change: impl FnOnce(&mut Counting)) -> Result<PathCounts, String> {
        let getppid = index("syscall.getppid");
        let window = |kernel, further| {
            let events = [(Event::User, 5), (Event::Kernel, kernel), (Event::Clock, further)];
            WindowEvents {
                events: events.into_iter().collect(),
                open: 0,
                checks: 0,
                faults: 0,
                idle_unknown: false,
                entries: vec![16],
            }
        };
        let executed = [vec![Some(1); WARMUP as usize], vec![Some(0), Some(1)]].concat();
        let mut counting = Counting {
            paths: vec![path(&executed), path(&executed)],
            distinct: vec![window(328, 333), window(330, 340)],
            fault: None,
        };
        change(&mut counting);
        let order = [0, 1].map(|run| Execution { run, path: getppid });
        let outcome = PathOutcome {
            status: PathStatus::Ok,
            checks: vec![],
            runs: vec![vec![333, 340]; 2],
            lower_bounds: vec![],
        };
        Counted::new(&order, counting).of(getppid, &outcome).unwrap()
    }

    fn path(windows: &[Option<u32>]) -> CountedPath {
        let window =
            |events: &Option<u32>| CountedWindow { events: *events, marker: 0, ended: true };
        let windows = windows.iter().map(window).collect();
        CountedPath { windows, ..CountedPath::default() }
    }

    fn getppid_count_error(change: impl FnOnce(&mut Counting)) -> String {
        count_getppid(change).err().unwrap()
    }

    #[test]
    fn the_samples_are_the_retired_instructions_of_the_windows_after_the_warm_up() {
        let counts = count_getppid(|_| ()).unwrap();
        assert_eq!(counts.retired, [[333, 335], [333, 335]]);
        assert_eq!(counts.events.of_samples, [0, 1, 0, 1]);
        assert_eq!(counts.events.placement, [16]);
        assert_eq!(counts.events.value(Event::User), 5);
    }

    #[test]
    fn a_window_that_the_clock_contradicts_fails_its_path() {
        let steps = |events: &mut WindowEvents, clock| {
            events.events = [(Event::User, 335), (Event::Clock, clock)].into_iter().collect();
        };
        let told = getppid_count_error(|counting| steps(&mut counting.distinct[1], 341));
        assert_eq!(told, "the counter saw 341 steps of a window, the clock 340");
        let told = getppid_count_error(|counting| {
            steps(&mut counting.distinct[1], 339);
            counting.distinct[1].open = 1;
        });
        let open = " (1 exceptions in it did not return)";
        assert_eq!(told, format!("the counter saw 339 steps of a window, the clock 340{open}"));
    }

    #[test]
    fn a_window_that_the_counter_has_not_fails_its_path() {
        let told =
            getppid_count_error(|counting| counting.paths[1].windows.truncate(WARMUP as usize + 1));
        assert_eq!(told, "the counter saw 1 windows of 2");
        let told = getppid_count_error(|counting| {
            counting.paths[0].windows[WARMUP as usize].events = None;
        });
        assert_eq!(told, "a window was too long to count");
        let told = getppid_count_error(|counting| counting.paths.truncate(1));
        assert_eq!(told, "the counter did not see it");
    }

    /// Runs of a path without samples of its own, between two points: the marker of each window
    /// and whether it has an end.
    fn waits(name: &str, runs: &[&[(u32, bool)]]) -> Result<PathCounts, String> {
        let window = |(place, (marker, ended)): (usize, &(u32, bool))| {
            let events = Some(u32::try_from(place).unwrap());
            CountedWindow { events, marker: *marker, ended: *ended }
        };
        let loose = LoosePoints { elsewhere: 3, hidden: 1, ..LoosePoints::default() };
        let run = |windows: &&[(u32, bool)]| CountedPath {
            windows: windows.iter().enumerate().map(window).collect(),
            loose,
            ..CountedPath::default()
        };
        // The window with the place N has 100 + N instructions.
        let distinct = (100..200).map(|kernel| WindowEvents {
            events: [(Event::Kernel, kernel), (Event::Clock, kernel)].into_iter().collect(),
            open: 0,
            checks: 0,
            faults: 0,
            idle_unknown: false,
            entries: vec![],
        });
        let counting = Counting {
            paths: runs.iter().map(run).collect(),
            distinct: distinct.collect(),
            fault: None,
        };
        let path = index(name);
        let order: Vec<_> =
            (0..runs.len()).map(|run| Execution { run: run.try_into().unwrap(), path }).collect();
        let outcome = PathOutcome {
            status: PathStatus::Ok,
            checks: vec![],
            runs: vec![vec![]; runs.len()],
            lower_bounds: vec![],
        };
        Counted::new(&order, counting).of(path, &outcome).unwrap()
    }

    #[test]
    fn of_a_wait_in_one_long_window_the_first_ones_are_the_samples() {
        let all: Vec<_> = (0..6).map(|place| (1, place != 2)).collect();
        let counts = waits("softirq.timer+user", &[&all, &all[..4]]).unwrap();
        assert_eq!(counts.retired, [[100, 101, 102, 103]; 2]);
        assert_eq!(counts.lower_bounds, [2, 6], "positions over all runs");
        assert_eq!(counts.events.of_samples.len(), 8);
    }

    #[test]
    fn of_a_wait_with_a_window_a_time_the_warm_up_is_left_out() {
        let all: Vec<_> = (1..=8).flat_map(|marker| [(marker, true), (marker, true)]).collect();
        let counts = waits("timer.expire", &[&all]).unwrap();
        assert_eq!(counts.retired, [[106, 107, 108, 109, 110, 111, 112, 113]]);
        assert_eq!(counts.lower_bounds, [0_u32; 0]);
    }

    #[test]
    fn too_few_waits_fail_their_path_and_say_what_came_instead() {
        let one = [(1, true); 4];
        let also = "(3 began in another context, 1 began or ended where an interrupt hid its \
                    caller)";
        for (runs, told) in [
            (&[&one[..], &one[..3]][..], "only 3 of 4 windows came"),
            (&[&[]], "only 0 of 4 windows came"),
        ] {
            let error = waits("softirq.timer+user", runs).err().unwrap();
            assert_eq!(error, format!("{told} {also}"));
        }
    }

    #[test]
    fn what_is_not_measured_in_windows_is_not_counted() {
        let outcome = PathOutcome {
            status: PathStatus::Ok,
            checks: vec![],
            runs: vec![vec![742]],
            lower_bounds: vec![],
        };
        let counted = Counted::new(&[], Counting::default());
        for path in ["softirq.net-rx", "flags.isolation"] {
            assert!(counted.of(index(path), &outcome).is_none(), "{path}");
        }
        assert!(counted.of(index("syscall.getppid"), &outcome).unwrap().is_err());
    }
}
