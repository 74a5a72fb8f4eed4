//! A session: times of paths on this host, in replicates.
//!
//! Every replicate of a path is a process of its own or, of two conditions, three processes within
//! milliseconds: base, new, and base once more as its copy. Each side has a server of its own, and
//! every round of replicates starts fresh ones: a process's level depends on its parent too, so
//! that two servers that last differ where their conditions don't. The order of paths and of sides
//! is drawn anew for each replicate, from a seed that the document keeps. How many calls a batch
//! has is settled before the first replicate, by the same process for all of them: so many that a
//! step of the clock is a thousandth of a batch or less. Rounds go on for the paths whose intervals
//! are wider than what was asked for, until time is up.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pathmeter_model::{Around, MAX_SAMPLES, Replicate, Status, Times};
use pathmeter_probes::EMPTY;
use pathmeter_probes::batch::SIDES;
use pathmeter_stats::time::{Numbers, Quantile, quantile};
use rustix::thread::{CpuSet, sched_getaffinity};

use self::error::why;
use self::path::Path;
use crate::cgroup::Group;
use crate::clock::{Moment, step};
use crate::condition::Condition;
use crate::enough::is_narrow;
use crate::path::host_paths;
use crate::server::{Came, Counted, Ground, Request, Server, ServerError};

mod document;
mod error;
mod path;
mod tail;

pub use error::SessionError;

/// Steps of the clock in a batch: more than a thousand, so that what is read is finer than 0.1 %.
const STEPS: u64 = 2000;
/// By how much the calls of a batch grow at once, at most, while they are settled.
const GROWTH: u64 = 16;
/// Readings of the clock of each of three lengths that its step is looked for in.
const READINGS: usize = 300;
/// Times that a path is executed to settle the calls of its batches.
const LOOKS: usize = 8;
/// Widths of intervals are looked at each time that the replicates have grown by one part in so
/// many: the fewer looks, the less does an interval gain by having been looked at.
const LOOK_PART: u32 = 4;
/// Of so many processes of a path one may come to no end of its own, and this many in any case; of
/// more the path has failed.
const FAILURES: usize = 10;
const ANY_FAILURES: usize = 2;
/// Most bytes of a process's environment, whose size moves its stack.
const ENVIRONMENT: usize = 4096;

/// By so much longer than another one of its path no process takes that had its CPU.
const STILL: Duration = Duration::from_secs(2);

/// What is wanted of a session.
pub struct Wanted<'a> {
    /// The paths' names, in any order; those of the group `clock` are measured as well.
    pub paths: &'a [&'a str],
    /// One, or base's and new's.
    pub conditions: &'a [Condition],
    /// The CPU to execute on.
    pub cpu: u32,
    /// The fewest replicates of each path; more follow while its intervals are wide.
    pub replicates: u32,
    /// The most replicates of each path.
    pub most: u32,
    /// How narrow the intervals shall be: of the logarithm of the difference and of the null or,
    /// of one condition, of the level.
    pub width: f64,
    /// Batches of each side in a replicate.
    pub batches: u32,
    /// What all orders are drawn from.
    pub seed: u64,
    /// Dependent rotations after each call of a side: a change of known size, to test the method.
    pub delays: [u32; SIDES],
    /// After so long no further replicate is begun.
    pub limit: Duration,
    /// Whether the user has asked for the end.
    pub interrupted: &'a dyn Fn() -> bool,
}

/// How far a session is.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Replicates of all paths that are done.
    pub done: usize,
    /// Replicates of all paths in total.
    pub all: usize,
}

/// The CPUs that this process may execute on, in ascending order.
pub fn allowed_cpus() -> Vec<u32> {
    let Ok(set) = sched_getaffinity(None) else { return vec![0] };
    let all = 0..CpuSet::MAX_CPU;
    all.filter(|cpu| set.is_set(*cpu)).filter_map(|cpu| u32::try_from(cpu).ok()).collect()
}

/// Takes the times.
///
/// # Errors
/// If the program can't be started, or stops answering; that a path can't be executed is a result.
pub fn measure(wanted: &Wanted<'_>, show: &dyn Fn(Progress)) -> Result<Times, SessionError> {
    let begin = Moment::now();
    let mut session = Session::start(wanted, begin)?;
    session.prepare()?;
    session.replicate(show)?;
    session.single_calls()?;
    session.finish()
}

struct Session<'a> {
    wanted: &'a Wanted<'a>,
    begin: Moment,
    /// Seconds since 1970.
    began: u64,
    step: u64,
    stamps: u64,
    numbers: Numbers,
    /// One of each side: base's; of two conditions, those of its copy and of new as well.
    servers: Vec<Server>,
    /// The group of each condition, if it has one.
    groups: [Option<Group>; 2],
    paths: Vec<Path>,
    notes: Vec<String>,
    ground: Option<Ground>,
    /// Why there is no server any more, after there were some.
    gone: Option<String>,
    /// For how long processes stood still.
    still: Duration,
}

impl<'a> Session<'a> {
    fn start(wanted: &'a Wanted<'a>, begin: Moment) -> Result<Self, SessionError> {
        let chosen = |name: &str| name.starts_with("clock.") || wanted.paths.contains(&name);
        let paths = host_paths().into_iter().filter(|path| chosen(path.name)).map(Path::new);
        let mut session = Self {
            wanted,
            begin,
            began: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs()),
            step: 1,
            stamps: 0,
            numbers: Numbers::of(wanted.seed),
            servers: Vec::new(),
            groups: groups(wanted.conditions)?,
            paths: paths.collect(),
            notes: Vec::new(),
            ground: None,
            gone: None,
            still: Duration::ZERO,
        };
        session.start_servers()?;
        Ok(session)
    }

    /// Starts a fresh server for each side, in an order that is drawn anew.
    fn start_servers(&mut self) -> Result<(), ServerError> {
        let sides: &[usize] = if self.wanted.conditions.len() == 1 { &[0] } else { &[0, 0, 1] };
        self.servers.clear();
        let mut started: Vec<Option<Server>> = sides.iter().map(|_| None).collect();
        for side in self.order(sides.len()) {
            let condition = &self.wanted.conditions[sides[side]];
            let group = self.groups[sides[side]].as_ref();
            started[side] = Some(Server::start(self.wanted.cpu, condition, group)?);
        }
        self.servers = started.into_iter().flatten().collect();
        self.ground = self.ground.or(self.servers.first().map(Server::ground));
        Ok(())
    }

    /// Ends the session with what it took so far, if it took any.
    fn go_on_without(&mut self, error: ServerError) -> Result<(), SessionError> {
        if self.paths.iter().all(|path| path.times.replicates.is_empty()) {
            return Err(error.into());
        }
        self.gone = Some(match error {
            ServerError::Refused { step, .. } if step == "sched_setaffinity" => {
                format!("CPU {} went offline, or was taken from this process", self.wanted.cpu)
            }
            error => error.to_string(),
        });
        Ok(())
    }

    /// Settles how many calls a batch has, and finds out which paths can be executed.
    fn prepare(&mut self) -> Result<(), SessionError> {
        self.try_conditions()?;
        self.read_clock()?;
        for at in 0..self.paths.len() {
            self.settle(at)?;
        }
        self.count_runs()
    }

    /// Has one process of each path under each condition with BPF programs, while the kernel counts
    /// how often these are executed: that takes time, so it is done before times are taken.
    fn count_runs(&mut self) -> Result<(), SessionError> {
        for (server, condition) in [(0, 0), (2, 1)] {
            let with = self.wanted.conditions.get(condition);
            if with.is_none_or(|condition| condition.programs.is_empty()) {
                continue;
            }
            for at in 0..self.paths.len() {
                let request = self.paths[at].request(1, self.wanted.batches as usize);
                if self.paths[at].is_open() && server < self.servers.len() {
                    self.process_of_sides(server, at, &Request { counted: true, ..request })?;
                }
            }
        }
        Ok(())
    }

    /// Has one process under each condition: what it is refused, all would be.
    fn try_conditions(&mut self) -> Result<(), SessionError> {
        let Some(path) = self.paths.iter().find(|path| path.of.name == EMPTY) else {
            return Ok(());
        };
        for (server, condition) in [(0, 0), (2, 1)] {
            let Some(server) = self.servers.get_mut(server) else { continue };
            match server.execute(&path.request(1, 1)) {
                Err(ServerError::Refused { step, error }) => {
                    let condition = self.wanted.conditions[condition].name.clone();
                    return Err(SessionError::Condition { condition, why: why(&step, error) });
                }
                other => other?,
            };
        }
        Ok(())
    }

    /// What two readings of the clock take, and its step.
    fn read_clock(&mut self) -> Result<(), SessionError> {
        let Some(at) = self.paths.iter().position(|path| path.of.name == EMPTY) else {
            return Ok(());
        };
        let mut all = Vec::new();
        for calls in [1, 11, 101] {
            let request = Request { calls, ..self.paths[at].request(1, READINGS) };
            let Some([mut ticks]) = self.process(0, at, &request)? else { continue };
            if calls == 1 {
                self.stamps = quantile(&mut ticks, Quantile::P25).unwrap_or(0);
            }
            all.extend(ticks);
        }
        self.step = step(&all);
        Ok(())
    }

    fn settle(&mut self, at: usize) -> Result<(), SessionError> {
        for _ in 0..LOOKS {
            if !self.paths[at].is_open() {
                return Ok(());
            }
            let request = self.paths[at].request(1, 9);
            let Some([ticks]) = self.process(0, at, &request)? else { continue };
            let batch = quantile(&mut ticks.clone(), Quantile::P25).unwrap_or(0);
            let path = &mut self.paths[at].times;
            let wanted = STEPS * self.step;
            if batch >= wanted / 2 {
                break;
            }
            // What the two readings take tells nothing of the calls; and a few calls may overlap
            // with them, as many do not.
            let of_calls = batch.saturating_sub(self.stamps).max(1);
            let most = path.calls * GROWTH;
            path.calls = (path.calls * wanted / of_calls).clamp(path.calls, most) | 1;
        }
        Ok(())
    }

    /// Rounds of replicates, until the intervals of every path are narrow, or time is up.
    fn replicate(&mut self, show: &dyn Fn(Progress)) -> Result<(), SessionError> {
        let mut wide: Vec<usize> = (0..self.paths.len()).collect();
        let (mut look, mut done, mut batches) = (self.wanted.replicates, 0, 0);
        for round in 0..self.wanted.most.max(self.wanted.replicates) {
            if round == look {
                wide.retain(|at| !self.is_narrow(*at));
                look += (look / LOOK_PART).max(1);
            }
            wide.retain(|at| self.paths[*at].is_open());
            if wide.is_empty() {
                return Ok(());
            }
            batches += wide.len() * SIDES * self.wanted.batches as usize;
            if batches > MAX_SAMPLES {
                self.notes.push(format!("a document has no room for more than {round} rounds"));
                return Ok(());
            }
            let all = done + wide.len() * (look - round) as usize;
            self.round(&wide, &mut || {
                done += 1;
                show(Progress { done, all });
            })?;
            if let Some(why) = &self.gone {
                self.notes.push(format!("the session ended in round {}: {why}", round + 1));
                return Ok(());
            }
            if Duration::from_micros(self.begin.microseconds()) > self.wanted.limit {
                wide.retain(|at| !self.is_narrow(*at));
                self.note_the_limit(round + 1, &wide);
                return Ok(());
            }
        }
        wide.retain(|at| !self.is_narrow(*at));
        self.note_wide(&wide);
        Ok(())
    }

    fn is_narrow(&self, at: usize) -> bool {
        let empty = self.paths.iter().find(|path| path.of.name == EMPTY).map(|path| &path.times);
        let around = Around::of(empty, self.step, self.stamps);
        is_narrow(&self.paths[at].times, &around, self.wanted.width)
    }

    /// A replicate of each of these paths, in an order that is drawn anew.
    fn round(&mut self, paths: &[usize], done: &mut dyn FnMut()) -> Result<(), SessionError> {
        if let Err(error) = self.start_servers() {
            return self.go_on_without(error);
        }
        for place in self.order(paths.len()) {
            let at = paths[place];
            if self.gone.is_none() && self.paths[at].is_open() {
                self.one_replicate(at)?;
                done();
            }
        }
        Ok(())
    }

    /// So many numbers from 0, in an order that is drawn anew (Fisher and Yates).
    fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, self.numbers.below(last + 1));
        }
        order
    }

    fn one_replicate(&mut self, at: usize) -> Result<(), SessionError> {
        let batches = self.wanted.batches as usize;
        let started = self.begin.microseconds();
        let sides = if self.servers.len() == 1 {
            // As many sides as have a delay, and base with its copy.
            let sides = if self.wanted.delays[2] > 0 { 3 } else { 2 };
            let mut request = self.paths[at].request(sides, batches);
            request.delays = self.wanted.delays;
            self.process_of_sides(0, at, &request)?
        } else {
            let request = self.paths[at].request(1, batches);
            let mut sides = [None, None, None];
            for side in self.order(SIDES) {
                let request = Request { delays: [self.wanted.delays[side]; SIDES], ..request };
                sides[side] = self.process_of_sides(side, at, &request)?;
            }
            sides.into_iter().collect::<Option<Vec<_>>>().map(|sides| sides.concat())
        };
        if let Some(sides) = sides {
            self.paths[at].times.replicates.push(Replicate { at: started, sides });
        }
        Ok(())
    }

    /// A process of one side.
    fn process(
        &mut self,
        server: usize,
        at: usize,
        request: &Request,
    ) -> Result<Option<[Vec<u64>; 1]>, SessionError> {
        let sides = self.process_of_sides(server, at, request)?;
        Ok(sides.and_then(|sides| sides.try_into().ok()))
    }

    /// Has a process execute the path; None if it came to no end of its own.
    fn process_of_sides(
        &mut self,
        server: usize,
        at: usize,
        request: &Request,
    ) -> Result<Option<Vec<Vec<u64>>>, SessionError> {
        if (self.wanted.interrupted)() {
            return Err(SessionError::Interrupted);
        }
        if self.gone.is_some() {
            return Ok(None);
        }
        let request = Request {
            seed: self.numbers.word(),
            environment: self.numbers.below(ENVIRONMENT),
            ..*request
        };
        let started = self.begin.microseconds();
        let group = self.groups[usize::from(server == 2)].as_ref();
        let came = self.servers[server].execute(&request);
        let came = match came.and_then(|came| self.servers[server].is_in(group).map(|()| came)) {
            Err(error) => {
                // Whatever the process has done to its server: the next paths get another one.
                let side = usize::from(server == 2);
                let condition = &self.wanted.conditions[side];
                match Server::start(self.wanted.cpu, condition, self.groups[side].as_ref()) {
                    Ok(other) => self.servers[server] = other,
                    Err(error) => {
                        self.go_on_without(error)?;
                        return Ok(None);
                    }
                }
                Came::Failed(error.to_string())
            }
            Ok(came) => came,
        };
        let took = self.begin.microseconds() - started;
        let path = &mut self.paths[at];
        match came {
            Came::Times(sides, Counted { hits, runs }) => {
                path.shortest = path.shortest.min(took);
                let longer = Duration::from_micros(took - path.shortest);
                self.still += if longer > STILL { longer } else { Duration::ZERO };
                // What is around the windows, such as the child's end, is a few hits.
                let windows = (request.batches * request.sides) as u64;
                let side = usize::from(server == 2);
                let proved = &mut path.proved[side];
                *proved = hits.map(|hits| hits >= windows && proved.unwrap_or(true));
                let calls = windows.saturating_mul(request.calls);
                let ran = runs.map(|(runs, translated)| (runs >= calls, translated));
                path.ran[side] = ran.or(path.ran[side]);
                return Ok(Some(sides));
            }
            Came::Unsupported(reason) => path.end(Status::Unsupported, &reason),
            Came::Failed(reason) => {
                path.failures.push(reason.clone());
                let failures = path.failures.len();
                if failures > ANY_FAILURES && failures * FAILURES > path.times.replicates.len() {
                    path.end(Status::Failed, &reason);
                }
            }
        }
        Ok(None)
    }
}

/// The group of each condition that has limits of one.
fn groups(conditions: &[Condition]) -> Result<[Option<Group>; 2], SessionError> {
    let make = |condition: Option<&Condition>| {
        let condition = condition.filter(|condition| !condition.limits.is_empty());
        let made = condition.map(|condition| {
            Group::make(&condition.limits).map_err(|error| SessionError::Condition {
                condition: condition.name.clone(),
                why: error.to_string(),
            })
        });
        made.transpose()
    };
    Ok([make(conditions.first())?, make(conditions.get(1))?])
}
