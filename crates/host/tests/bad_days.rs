//! What another process does to a session in the middle of it: alone in its program, since it looks
//! for the session's processes among its own.
#![allow(clippy::unwrap_used, reason = "helpers of tests, which clippy does not take for such")]

use std::cell::Cell;
use std::fs;
use std::thread;
use std::time::Duration;

use pathmeter_host::{Condition, Wanted, allowed_cpus, measure};
use pathmeter_model::{Status, Times};
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CpuSet, sched_setaffinity};

/// The processes that this one has started.
fn children() -> Vec<Pid> {
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let numbers: Vec<i32> =
        lists.flat_map(|list| list.split(' ').flat_map(str::parse).collect::<Vec<_>>()).collect();
    numbers.into_iter().filter_map(Pid::from_raw).collect()
}

/// A session, to whose server `disturb` is done once in a round in the middle.
fn times(disturb: impl Fn(Pid)) -> Times {
    /// Beyond the looks before the first round, and before the last one ends.
    const MIDDLE: u32 = 60;
    let conditions = [Condition::none()];
    let asked = Cell::new(0);
    let interrupted = || {
        asked.set(asked.get() + 1);
        if asked.get() == MIDDLE {
            children().into_iter().for_each(&disturb);
        }
        false
    };
    let wanted = Wanted {
        paths: &["syscall.getppid"],
        conditions: &conditions,
        cpu: *allowed_cpus().last().unwrap(),
        replicates: 40,
        most: 40,
        width: 0.0,
        batches: 4,
        seed: 1,
        delays: [0; 3],
        limit: Duration::from_secs(60),
        interrupted: &interrupted,
    };
    let times = measure(&wanted, &|_| ()).unwrap();
    assert!(asked.get() > 2 * MIDDLE, "{}", asked.get());
    assert_eq!(times.path("syscall.getppid").unwrap().status, Status::Ok);
    assert!(children().is_empty());
    times
}

#[test]
fn a_session_outlives_its_servers_end_their_move_and_their_stop_and_says_what_is_missing() {
    // A busy machine may have notes of its own.
    let told = |times: &Times, what: &str| times.notes.iter().any(|note| note.contains(what));
    let killed = times(|server| kill_process(server, Signal::KILL).unwrap());
    let what = "1 process has no times: ";
    assert!(told(&killed, what) && told(&killed, "it was killed"), "{:?}", killed.notes);
    let first = allowed_cpus()[0] as usize;
    let moved = times(|server| {
        let mut set = CpuSet::new();
        set.set(first);
        sched_setaffinity(Some(server), &set).unwrap();
    });
    // It goes back before the next process.
    assert!(!told(&moved, "has no times"), "{:?}", moved.notes);
    let stopped = times(|server| {
        kill_process(server, Signal::STOP).unwrap();
        thread::spawn(move || {
            thread::sleep(Duration::from_secs(3));
            kill_process(server, Signal::CONT).unwrap();
        });
    });
    assert!(told(&stopped, "processes did not run for "), "{:?}", stopped.notes);
}
