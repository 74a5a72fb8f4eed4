//! What a session ends with: its document, and what is to be said of it.

use std::time::Duration;

use pathmeter_model::{Status, TimeMethod, Times, TimesSchema};

use super::Session;
use super::error::SessionError;
use crate::cgroup::Group;
use crate::clock::Moment;
use crate::machine::machine;

/// Two clocks differ by more only where the machine was suspended.
const SUSPENDED: Duration = Duration::from_millis(10);
/// How long the time stamp counter is watched after a machine was suspended.
const CALIBRATION: Duration = Duration::from_millis(200);

impl Session<'_> {
    /// Says that time was up before there were the fewest replicates, or with wide intervals.
    pub(super) fn note_the_limit(&mut self, rounds: u32, wide: &[usize]) {
        let fewest = self.wanted.replicates;
        if rounds < fewest {
            self.notes.push(format!("time was up after {rounds} of {fewest} replicates"));
        } else {
            self.note_wide(wide);
        }
    }

    /// Says of which paths the intervals are wider than was asked for.
    pub(super) fn note_wide(&mut self, wide: &[usize]) {
        // Without a wish none is too wide.
        if wide.is_empty() || self.wanted.width <= 0.0 {
            return;
        }
        let names: Vec<&str> = wide.iter().map(|at| self.paths[*at].of.name).collect();
        let width = 100.0 * self.wanted.width.exp_m1();
        let ended = "the session ended before the intervals were as narrow as";
        self.notes.push(format!("{ended} {width:.1} %: {}", names.join(", ")));
    }

    /// Says on which paths the tracepoint of a condition was hit, which proves it there.
    fn note_tracepoints(&mut self) {
        for (at, condition) in self.wanted.conditions.iter().enumerate() {
            let counted = self.paths.iter().filter(|path| !path.of.name.starts_with("clock."));
            let counted = counted.filter_map(|path| Some((path.of.name, path.proved[at]?)));
            let (hit, not): (Vec<_>, Vec<_>) = counted.partition(|(_, proved)| *proved);
            if condition.tracepoint == 0 {
                continue;
            }
            let name = &condition.name;
            let hit = few(&hit).map(|hit| format!("proved by its hits on {hit}"));
            let not = few(&not).map(|not| format!("unproved on {not}, which do not hit it"));
            let both: Vec<String> = hit.into_iter().chain(not).collect();
            self.notes.push(format!("{name}: {}", both.join("; ")));
        }
    }

    /// Says what proves the control group of a condition.
    fn note_groups(&mut self) {
        for (condition, group) in self.wanted.conditions.iter().zip(&self.groups) {
            let proof = group.as_ref().map(Group::proof);
            self.notes.extend(proof.map(|proof| format!("{}: {proof}", condition.name)));
        }
    }

    /// Ends all processes, and removes the control groups in which they were; says what became of
    /// them if that was not as usual.
    fn remove_groups(&mut self) {
        self.servers.clear();
        let removed = self.groups.iter_mut().flatten().filter_map(Group::remove);
        self.notes.extend(removed);
    }

    /// Says on which paths the BPF programs of a condition were executed.
    fn note_programs(&mut self) {
        for (at, condition) in self.wanted.conditions.iter().enumerate() {
            if condition.programs.is_empty() {
                continue;
            }
            let counted = self.paths.iter().filter(|path| !path.of.name.starts_with("clock."));
            let counted = counted.filter_map(|path| Some((path.of.name, path.ran[at]?)));
            let (ran, not): (Vec<_>, Vec<_>) = counted.partition(|(_, (ran, _))| *ran);
            let interpreted = ran.iter().chain(&not).any(|(_, (_, translated))| !translated);
            let flat = |paths: Vec<(&'static str, (bool, bool))>| {
                paths.into_iter().map(|(name, (ran, _))| (name, ran)).collect::<Vec<_>>()
            };
            let how = if interpreted { " and interpreted" } else { "" };
            let attached = Some(format!("attached{how} for each process, as the kernel shows"));
            // The kernel counts all executions, whichever process they were for.
            let ran = few(&flat(ran)).map(|ran| {
                format!("executed at least once per call of {ran}, other processes' included")
            });
            let not = few(&flat(not)).map(|not| {
                format!("unproved on {not}, where they were executed less often than that")
            });
            let all: Vec<String> = attached.into_iter().chain(ran).chain(not).collect();
            self.notes.push(format!("{}: {}", condition.name, all.join("; ")));
        }
    }

    /// The rate of the time stamp counter: over the whole session or, since the counter may go on
    /// or not while the machine is suspended, over a moment after it.
    fn ticks_per_second(&mut self) -> u64 {
        let suspended = self.begin.suspended();
        if suspended < SUSPENDED {
            return self.begin.ticks_per_second();
        }
        let seconds = suspended.as_secs_f64();
        self.notes.push(format!("the machine was suspended for {seconds:.1} s of the session"));
        let moment = Moment::now();
        std::thread::sleep(CALIBRATION);
        moment.ticks_per_second()
    }

    pub(super) fn finish(mut self) -> Result<Times, SessionError> {
        self.notes.extend(self.wanted.conditions.iter().flat_map(|it| it.notes.clone()));
        self.note_tracepoints();
        self.note_groups();
        self.note_programs();
        self.remove_groups();
        if !self.still.is_zero() {
            let seconds = self.still.as_secs_f64();
            self.notes.push(format!(
                "processes did not run for {seconds:.1} s: they were stopped, or had no CPU"
            ));
        }
        let ground = self.ground.unwrap_or_default();
        let ticks_per_second = self.ticks_per_second();
        if ticks_per_second == 0 {
            return Err(SessionError::Clock { cpu: self.wanted.cpu });
        }
        for path in &mut self.paths {
            if let (true, Some(first)) = (path.is_open(), path.failures.first()) {
                let (failed, name) = (path.failures.len(), path.of.name);
                let processes = if failed == 1 { "process has" } else { "processes have" };
                self.notes.push(format!("{name}: {failed} {processes} no times: {first}"));
            }
            if path.is_open() && path.times.replicates.is_empty() {
                path.end(Status::Failed, "no process of it came to its end");
            }
        }
        Ok(Times {
            schema: TimesSchema::V1,
            host: machine(self.wanted.cpu),
            method: TimeMethod {
                ticks_per_second,
                step: self.step,
                stamps: self.stamps,
                seed: self.wanted.seed,
                replicates: self.wanted.replicates,
                batches: self.wanted.batches,
                real_time: ground.real_time,
                apart: ground.apart,
                root_cgroup: ground.root_cgroup,
                began: self.began,
                milliseconds: self.begin.microseconds() / 1000,
            },
            conditions: self.wanted.conditions.iter().map(|it| it.name.clone()).collect(),
            paths: self.paths.into_iter().map(|path| path.times).collect(),
            notes: self.notes,
        })
    }
}

/// The names of these paths, or of the first of them; None if there are none.
fn few(paths: &[(&str, bool)]) -> Option<String> {
    const MOST: usize = 12;
    let names: Vec<&str> = paths.iter().take(MOST).map(|(name, _)| *name).collect();
    let more = paths.len().saturating_sub(MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!paths.is_empty()).then(|| names.join(", ") + &more)
}
