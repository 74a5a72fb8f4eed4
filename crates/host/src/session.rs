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

use pathmeter_catalogue::EMPTY;
use pathmeter_model::{
    MAX_SAMPLES, PathTimes, Replicate, SingleCalls, Status, TimeMethod, Times, TimesSchema,
};
use pathmeter_probes::batch::SIDES;
use pathmeter_stats::time::{Numbers, Quantile, quantile};
use rustix::thread::{CpuSet, sched_getaffinity};
use thiserror::Error;

use crate::clock::{Moment, step};
use crate::condition::Condition;
use crate::enough::is_narrow;
use crate::machine::machine;
use crate::path::{HostPath, host_paths};
use crate::server::{Came, Ground, Request, Server, ServerError};

/// Steps of the clock in a batch: more than a thousand, so that what is read is finer than 0.1 %.
const STEPS: u64 = 2000;
/// By how much the calls of a batch grow at once, at most, while they are settled.
const GROWTH: u64 = 16;
/// Readings of the clock of each of three lengths that its step is looked for in.
const READINGS: usize = 300;
/// Times that a path is executed to settle the calls of its batches.
const LOOKS: usize = 8;
/// Calls that are timed one by one.
const SINGLE: usize = 1000;
/// A call that is shorter than so many steps is not timed by itself.
const SINGLE_STEPS: u64 = 20;
/// Widths of intervals are looked at each time that the replicates have grown by one part in so
/// many: the fewer looks, the less does an interval gain by having been looked at.
const LOOK_PART: u32 = 4;
/// Of so many processes of a path one may come to no end of its own, and this many in any case; of
/// more the path has failed.
const FAILURES: usize = 10;
const ANY_FAILURES: usize = 2;
/// Most bytes of a process's environment, whose size moves its stack.
const ENVIRONMENT: usize = 4096;

/// Two clocks differ by more only where the machine was suspended.
const SUSPENDED: Duration = Duration::from_millis(10);
/// By so much longer than another one of its path no process takes that had its CPU.
const STILL: Duration = Duration::from_secs(2);
/// How long the time stamp counter is watched after a machine was suspended.
const CALIBRATION: Duration = Duration::from_millis(200);

/// What is wanted of a session.
pub struct Wanted<'a> {
    /// The paths' names, in any order; `clock.empty` and `clock.chain` are measured as well.
    pub paths: &'a [&'a str],
    /// One, or base's and new's.
    pub conditions: &'a [Condition],
    /// The CPU to execute on.
    pub cpu: u32,
    /// The fewest replicates of each path; more follow while its intervals are wide.
    pub replicates: u32,
    /// The most.
    pub most: u32,
    /// How narrow the intervals shall be: of the logarithm of the difference and of the null or,
    /// of one condition, of the level.
    pub width: f64,
    /// Batches of each side in a replicate.
    pub batches: u32,
    /// What all orders are drawn from.
    pub seed: u64,
    /// Dependent additions after each call of a side: a change of known size, to test the method.
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
    /// Replicates of all paths.
    pub all: usize,
}

/// Why a session has no times.
#[derive(Debug, Error)]
pub enum SessionError {
    /// The program that executes the paths failed.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The user has asked for the end.
    #[error("interrupted")]
    Interrupted,
    /// What is measured can't be put under a condition.
    #[error("{condition}: {why}")]
    Condition {
        /// The condition, as the user called it.
        condition: String,
        /// Why not.
        why: String,
    },
    /// The time stamp counter does not advance with the kernel's clock.
    #[error("the time stamp counter of CPU {cpu} does not advance with the kernel's clock")]
    Clock {
        /// The CPU.
        cpu: u32,
    },
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

/// A path with what was found of it.
struct Path {
    of: HostPath,
    times: PathTimes,
    /// Processes that came to no end of their own.
    failures: Vec<String>,
    /// Of each condition, whether its tracepoint was hit as often as there were windows, in every
    /// process; None where it has none, or no process of it came to its end.
    proved: [Option<bool>; 2],
    /// Microseconds of the shortest of its processes.
    shortest: u64,
}

impl Path {
    fn new(of: HostPath) -> Self {
        let times = PathTimes {
            path: of.name.to_owned(),
            status: Status::Ok,
            reason: None,
            calls: 1,
            repeats: of.repeats,
            replicates: Vec::new(),
            single: None,
        };
        let mut path =
            Self { of, times, failures: Vec::new(), proved: [None; 2], shortest: u64::MAX };
        if let Some(reason) = of.left_out {
            path.end(Status::Unsupported, reason);
        }
        path
    }

    fn end(&mut self, status: Status, reason: &str) {
        (self.times.status, self.times.reason) = (status, Some(reason.to_owned()));
    }

    fn is_open(&self) -> bool {
        self.times.status == Status::Ok
    }

    /// A request for one process.
    fn request(&self, sides: usize, batches: usize) -> Request {
        Request {
            path: self.of.index,
            calls: self.times.calls,
            batches,
            sides,
            seed: 0,
            delays: [0; SIDES],
            environment: 0,
        }
    }
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
            started[side] = Some(Server::start(self.wanted.cpu, condition)?);
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
        is_narrow(&self.paths[at].times, self.step, self.wanted.width)
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

    /// Says that time was up before there were the fewest replicates, or with wide intervals.
    fn note_the_limit(&mut self, rounds: u32, wide: &[usize]) {
        let fewest = self.wanted.replicates;
        if rounds < fewest {
            self.notes.push(format!("time was up after {rounds} of {fewest} replicates"));
        } else {
            self.note_wide(wide);
        }
    }

    /// Says of which paths the intervals are wider than was asked for.
    fn note_wide(&mut self, wide: &[usize]) {
        // Without a wish none is too wide.
        if wide.is_empty() || self.wanted.width <= 0.0 {
            return;
        }
        let names: Vec<&str> = wide.iter().map(|at| self.paths[*at].of.name).collect();
        let width = 100.0 * self.wanted.width.exp_m1();
        let ended = "the session ended before the intervals were as narrow as";
        self.notes.push(format!("{ended} {width:.1} %: {}", names.join(", ")));
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
        let came = match self.servers[server].execute(&request) {
            Err(error) => {
                // Whatever the process has done to its server: the next paths get another one.
                let condition = &self.wanted.conditions[usize::from(server == 2)];
                match Server::start(self.wanted.cpu, condition) {
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
            Came::Times(sides, hits) => {
                path.shortest = path.shortest.min(took);
                let longer = Duration::from_micros(took - path.shortest);
                self.still += if longer > STILL { longer } else { Duration::ZERO };
                // What is around the windows, such as the child's end, is a few hits.
                let windows = (request.batches * request.sides) as u64;
                let proved = &mut path.proved[usize::from(server == 2)];
                *proved = hits.map(|hits| hits >= windows && proved.unwrap_or(true));
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

    /// Times calls one by one, for the tails.
    fn single_calls(&mut self) -> Result<(), SessionError> {
        for at in 0..self.paths.len() {
            let times = &self.paths[at].times;
            let first = times.replicates.first().and_then(|it| it.sides.first()?.first().copied());
            let call = first.unwrap_or(0) / times.calls;
            // Calls of single instructions overlap, and none has a time of its own.
            let overlaps = ["clock.", "insn."].iter().any(|group| times.path.starts_with(group));
            if !self.paths[at].is_open() || overlaps || call < SINGLE_STEPS * self.step {
                continue;
            }
            let request = Request { calls: 1, ..self.paths[at].request(1, SINGLE) };
            if let Some([mut ticks]) = self.process(0, at, &request)? {
                self.paths[at].times.single = single(&mut ticks);
            }
        }
        Ok(())
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

    fn finish(mut self) -> Result<Times, SessionError> {
        self.note_tracepoints();
        if !self.still.is_zero() {
            let seconds = self.still.as_secs_f64();
            self.notes.push(format!(
                "processes stood still for {seconds:.1} s: they were stopped, or had no CPU"
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

/// What a process lacks that was refused a step of its condition.
fn why(step: &str, error: i32) -> String {
    let errno = rustix::io::Errno::from_raw_os_error(error);
    match (step, errno) {
        ("ioperm", rustix::io::Errno::NOSYS) => {
            "this kernel permits no I/O ports: it is built without CONFIG_X86_IOPL_IOPERM".into()
        }
        ("ioperm", rustix::io::Errno::PERM) => {
            "I/O ports are refused: root, or CAP_SYS_RAWIO, is necessary, and a kernel that is not \
             locked down"
                .into()
        }
        ("in", _) => "I/O port 0x80 was permitted, and yet can't be read".into(),
        ("perf_event_open", rustix::io::Errno::ACCESS | rustix::io::Errno::PERM) => {
            "tracepoints are refused: root, or CAP_PERFMON, is necessary, or \
             kernel.perf_event_paranoid of at most 1"
                .into()
        }
        _ => format!("{step}: {errno}"),
    }
}

fn single(ticks: &mut [u64]) -> Option<SingleCalls> {
    Some(SingleCalls {
        calls: u32::try_from(ticks.len()).ok()?,
        p50: quantile(ticks, Quantile::P50)?,
        p99: quantile(ticks, Quantile::P99)?,
        p999: quantile(ticks, Quantile::P999)?,
        longest: ticks.iter().copied().max()?,
    })
}
