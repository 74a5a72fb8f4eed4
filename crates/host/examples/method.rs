//! What the method of times finds on this machine, and what it finds where nothing is:
//!
//! ```text
//! method in|between DELAY SESSIONS REPLICATES LIMIT [PATH…]
//! ```
//!
//! Each session compares a path with itself, `in` one process or `between` processes, where new's
//! calls are followed by DELAY dependent rotations more than base's. After REPLICATES the paths of
//! wide intervals go on until LIMIT seconds are up, if LIMIT is not 0. With DELAY 0 every `slower`
//! and `faster` is an error. Printed are, for each path, how often each verdict was given, the
//! estimates of the difference in percent, and how many of the sessions' 95 % intervals contain the
//! median of all estimates. `bench/times.sh` runs it at rest and under load.
#![allow(clippy::print_stdout, clippy::disallowed_macros, reason = "it prints a table")]

use std::collections::BTreeMap;
use std::error::Error;
use std::time::{Duration, Instant};

use pathmeter_host::{Condition, Wanted, allowed_cpus, measure};
use pathmeter_model::{TimeComparison, TimeRow, Times};

/// Rotations after each call of every side, so that a few more make no loop of another kind.
const BEFORE: u32 = 100;
/// Paths of every length, with one task and with two.
const USUAL: &[&str] = &[
    "syscall.getppid",
    "syscall.getppid+rseq",
    "file.open-close",
    "file.read-zero",
    "file.write-null",
    "file.stat",
    "switch.yield",
    "switch.pipe",
    "switch.futex",
    "process.fork-exit",
    "process.thread",
    "signal.deliver",
    "pipe.write-read",
    "unix.round-trip",
    "tcp.round-trip",
    "memory.fault-anon",
    "getcpu.syscall",
    "ioctl.native",
];

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [how, delay, sessions, replicates, limit, paths @ ..] = &words[..] else {
        return Err("in|between DELAY SESSIONS REPLICATES LIMIT [PATH…]".into());
    };
    let paths: Vec<&str> =
        if paths.is_empty() { USUAL.to_vec() } else { paths.iter().map(String::as_str).collect() };
    let (delay, replicates, limit) = (delay.parse()?, replicates.parse()?, limit.parse()?);
    let begin = Instant::now();
    let mut rows: BTreeMap<String, Vec<TimeRow>> = BTreeMap::new();
    let sessions: u32 = sessions.parse()?;
    for seed in 0..sessions {
        let times = session(how == "in", delay, seed.into(), (replicates, limit), &paths)?;
        let shown = |path: &str| paths.contains(&path);
        let comparison = TimeComparison::of_session(&times, shown, 0.02).ok_or("one condition")?;
        for row in comparison.paths {
            rows.entry(row.path.clone()).or_default().push(row);
        }
    }
    let mut all = BTreeMap::new();
    for (path, rows) in &rows {
        print(path, rows);
        for row in rows {
            *all.entry(row.verdict.word()).or_insert(0) += 1;
        }
    }
    let seconds = begin.elapsed().as_secs_f64() / f64::from(sessions);
    println!("all: {all:?}; {seconds:.1} s a session");
    Ok(())
}

/// A session of base, its copy and a delayed new one.
fn session(
    inside: bool,
    delay: u32,
    seed: u64,
    (replicates, limit): (u32, u64),
    paths: &[&str],
) -> Result<Times, Box<dyn Error>> {
    let condition = Condition::none();
    let conditions = if inside { vec![condition] } else { vec![condition.clone(), condition] };
    let before = if delay > 0 { BEFORE } else { 0 };
    let mut times = measure(
        &Wanted {
            paths,
            conditions: &conditions,
            cpu: allowed_cpus().last().copied().unwrap_or(0),
            replicates,
            most: if limit > 0 { 1000 } else { replicates },
            width: 0.02_f64.ln_1p(),
            batches: 20,
            seed,
            delays: [before, before, before + delay],
            limit: Duration::from_secs(if limit > 0 { limit } else { 3600 }),
            interrupted: &|| false,
        },
        &|_| (),
    )?;
    if inside {
        times.conditions.push("delayed".to_owned());
        if delay == 0 {
            halve(&mut times);
        }
    }
    Ok(times)
}

/// Of a process that had base and its copy only, every second batch of the copy is new's.
fn halve(times: &mut Times) {
    for replicate in times.paths.iter_mut().flat_map(|path| &mut path.replicates) {
        let Some(copy) = replicate.sides.get_mut(1) else { continue };
        let new = copy.iter().copied().skip(1).step_by(2).collect();
        *copy = copy.iter().copied().step_by(2).collect();
        replicate.sides.push(new);
    }
}

fn print(path: &str, rows: &[TimeRow]) {
    let mut verdicts = BTreeMap::new();
    for row in rows {
        *verdicts.entry(row.verdict.word()).or_insert(0) += 1;
    }
    let mut estimates: Vec<f64> = rows.iter().filter_map(|row| row.difference).collect();
    estimates.sort_unstable_by(f64::total_cmp);
    let middle = estimates.get(estimates.len() / 2).copied().unwrap_or(f64::NAN);
    let ends = estimates.first().zip(estimates.last());
    let contain =
        |row: &&TimeRow| row.interval.is_some_and(|[low, high]| low <= middle && middle <= high);
    let covered = rows.iter().filter(contain).count();
    println!("{path:24} {verdicts:?}; {middle:+.3} % of {ends:.3?}; covered {covered}");
}
