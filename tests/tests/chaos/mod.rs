//! The chaos run: rounds of something bad, chosen at random, and after each the same command must
//! print the same bytes as on a quiet machine.
//!
//! A round begins with a cache that is empty, holds snapshots, or holds everything. It does one of
//! [`HARMS`] while the command runs. The run that was harmed may print the expected bytes, or end
//! with an error that names its cause; it may never print other numbers, panic, or last longer
//! than it was allowed to. Then nothing may run any more, the reference must come out of the same
//! cache, and no file may be left.
//!
//! | variable                  | meaning                                                        |
//! |---------------------------|----------------------------------------------------------------|
//! | `PATHMETER_CHAOS_ROUNDS`  | rounds to play: by default 12, and 1,000 in the long form       |
//! | `PATHMETER_CHAOS_SECONDS` | play for so long, however many rounds that is                  |
//! | `PATHMETER_CHAOS_SEED`    | the seed of all choices; it is printed, and chosen by the clock |
//! | `PATHMETER_CHAOS_ONLY`    | only what has this word in its name, as `history`               |
//! | `PATHMETER_CHAOS_FIRST`   | the number of the first round: to repeat one, with the seed     |
//!
//! The choices of a round follow from the seed and its number alone. How far the command has come
//! when a signal arrives depends on the machine.

#![allow(clippy::print_stdout, reason = "it prints what it plays")]

mod crowd;
mod documents;
mod entries;
mod histories;
mod kernels;
mod limits;
mod outcome;
mod signals;
mod stage;

use std::collections::BTreeMap;
use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant, SystemTime};

use fastrand::Rng;

use outcome::Ended;
use stage::Stage;

/// Something bad, done to a run of the command.
type Harm = fn(&Stage, &mut Rng) -> Ended;

/// What may happen in a round, each with its name.
const HARMS: &[(&str, Harm)] = &[
    ("signals to pathmeter", signals::to_pathmeter),
    ("signals to QEMU", signals::to_qemu),
    ("a program, killed while it runs", signals::to_a_program),
    ("a stopped QEMU", signals::stopped_qemu),
    ("damaged entries", entries::damaged),
    ("swapped entries", entries::swapped),
    ("entries removed during a run", entries::removed_during_a_run),
    ("a small disk for the cache", limits::small_cache),
    ("a small disk for the output", limits::small_output),
    ("few descriptors", limits::descriptors),
    ("little address space", limits::address_space),
    ("short files", limits::file_size),
    ("few threads", limits::threads),
    ("several at once", crowd::several_at_once),
    ("a flipped kernel", kernels::flipped),
    ("edited results", documents::edited),
    ("a history, killed while it is added to", histories::killed),
    ("a history, killed while it is read or pruned", histories::killed_later),
    ("a small disk for a history", histories::on_a_small_disk),
    ("a damaged history", histories::damaged),
];

/// Rounds in the short form.
const FEW: u64 = 12;
/// Rounds in the long form.
const MANY: u64 = 1000;
/// After so many failed rounds the rest would show nothing new.
const ENOUGH: usize = 5;

#[test]
fn whatever_happens_the_numbers_are_right_or_there_are_none() {
    let long = pathmeter_e2e::soak();
    let seed = number("PATHMETER_CHAOS_SEED").unwrap_or_else(by_the_clock);
    let first = number("PATHMETER_CHAOS_FIRST").unwrap_or(0);
    let end = End::from_environment(first, if long { MANY } else { FEW });
    let stage = Stage::new(long);
    let mut tally = Tally::default();
    for round in first.. {
        if end.reached(round) || tally.failures.len() >= ENOUGH {
            break;
        }
        play(&stage, seed, round, &mut tally);
    }
    tally.print(seed, stage.longest_goodbye());
    assert!(tally.failures.is_empty(), "seed {seed}:\n{}", tally.failures.join("\n"));
}

/// Plays one round. A check that fails ends the round, not the run.
fn play(stage: &Stage, seed: u64, round: u64, tally: &mut Tally) {
    let mut rng = Rng::with_seed(seed ^ round.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let only = env::var("PATHMETER_CHAOS_ONLY").unwrap_or_default();
    let harms: Vec<_> = HARMS.iter().filter(|(name, _)| name.contains(&only)).collect();
    let (name, harm) = *harms[rng.usize(..harms.len())];
    let began = Instant::now();
    let played = catch_unwind(AssertUnwindSafe(|| {
        stage.begin(&mut rng);
        let ended = harm(stage, &mut rng);
        stage.assert_recovered(&mut rng);
        ended
    }));
    let story = stage.end();
    let took = began.elapsed().as_secs_f64();
    match played {
        Ok(ended) => {
            println!("round {round}: {name}: {story}: {ended:?}, {took:.1} s");
            tally.count(name, ended);
        }
        Err(panic) => {
            let words = panic.downcast_ref::<String>().map_or("a check failed", String::as_str);
            println!("round {round}: {name}: {story}: FAILED: {words}");
            tally.failures.push(format!("round {round}: {name}: {story}: {words}"));
        }
    }
}

/// When the run is over.
struct End {
    round: Option<u64>,
    time: Option<Instant>,
}

impl End {
    fn from_environment(first: u64, usual: u64) -> Self {
        let seconds = number("PATHMETER_CHAOS_SECONDS").map(Duration::from_secs);
        let rounds = number("PATHMETER_CHAOS_ROUNDS").or(seconds.is_none().then_some(usual));
        Self {
            round: rounds.map(|rounds| first + rounds),
            time: seconds.map(|time| Instant::now() + time),
        }
    }

    fn reached(&self, round: u64) -> bool {
        self.round.is_some_and(|end| round >= end)
            || self.time.is_some_and(|end| Instant::now() >= end)
    }
}

/// How many rounds of each harm ended how, and those that failed.
#[derive(Default)]
struct Tally {
    ended: BTreeMap<(&'static str, Ended), u32>,
    failures: Vec<String>,
}

impl Tally {
    fn count(&mut self, harm: &'static str, ended: Ended) {
        *self.ended.entry((harm, ended)).or_default() += 1;
    }

    fn print(&self, seed: u64, goodbye: Duration) {
        let rounds: u32 = self.ended.values().sum();
        println!("chaos, seed {seed}: {rounds} rounds well, {} failed", self.failures.len());
        for ((harm, ended), count) in &self.ended {
            println!("  {harm}: {ended:?} {count}");
        }
        println!("  the longest that a process lived after its run: {} ms", goodbye.as_millis());
    }
}

fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text} is not a number")))
}

fn by_the_clock() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    now.as_secs()
}
