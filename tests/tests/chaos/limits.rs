//! Disks and limits, from nothing upwards.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};

use fastrand::Rng;
use pathmeter_e2e::{Run, Running, pathmeter};
use rustix::process::geteuid;

use super::outcome::{Ended, Expected};
use super::stage::Stage;
use crate::disk;

/// A program that can't be loaded: the shell's codes for it, which are not pathmeter's.
const NOT_RUN: &[i32] = &[126, 127];
/// SIGABRT, which Rust ends with when there is no memory, and SIGSEGV, which a loader that finds
/// no room ends with. Neither prints a number.
const NO_MEMORY: &[i32] = &[126, 127, 128 + 6, 128 + 11];
/// The size of a page.
const PAGE: u64 = 4096;
/// Debian's `nobody`.
const NOBODY: u32 = 65534;

/// The cache on a disk of any size: it costs no result.
pub(super) fn small_cache(stage: &Stage, rng: &mut Rng) -> Ended {
    let expected = stage.any(rng);
    let pages = some(rng, 15);
    stage.tell(format!("{pages} pages"));
    // The disk covers what the cache holds, and vanishes with the run.
    let run = on_disk(stage, "cache/pathmeter", pages, expected, &[]);
    assert_eq!(run.code, 0, "a cache is a convenience: {}", run.stderr);
    expected.assert_kept(&run, &[])
}

/// The output on a disk of any size: it is there whole, or not at all.
pub(super) fn small_output(stage: &Stage, rng: &mut Rng) -> Ended {
    let expected = stage.any(rng);
    let pages = some(rng, 7);
    stage.tell(format!("{pages} pages"));
    let run = on_disk(stage, "out", pages, expected, &["-o", "out/document.json"]);
    let left = run.stderr.lines().filter(|line| line.starts_with("out/")).count();
    assert_eq!(left, usize::from(run.code == 0), "left beside the output: {}", run.stderr);
    assert_eq!(run.stdout, "");
    match run.code {
        0 => Ended::Same,
        _ => expected.assert_kept(&run, &[]),
    }
}

/// Fewer than 64 file descriptors for every process.
pub(super) fn descriptors(stage: &Stage, rng: &mut Rng) -> Ended {
    let limit = format!("--nofile={}", rng.u32(..64));
    limited(stage, rng, &limit, NOT_RUN)
}

/// Little address space, for pathmeter and for QEMU.
pub(super) fn address_space(stage: &Stage, rng: &mut Rng) -> Ended {
    let bytes = (1 << 20) + some(rng, 21) * PAGE;
    limited(stage, rng, &format!("--as={bytes}"), NO_MEMORY)
}

/// Files that may not grow, those that our own output goes to among them.
pub(super) fn file_size(stage: &Stage, rng: &mut Rng) -> Ended {
    let bytes = some(rng, 27) - 1;
    let (expected, run) = run_limited(stage, rng, &format!("--fsize={bytes}"));
    // The cause did not fit either.
    let cut = run.code == 3 && run.stderr.len() as u64 >= bytes;
    if cut { Ended::Refused } else { expected.assert_kept(&run, NOT_RUN) }
}

/// Few threads and processes for an ordinary user; root has no such limit.
pub(super) fn threads(stage: &Stage, rng: &mut Rng) -> Ended {
    let limit = format!("--nproc={}", 1 + rng.u32(..24));
    stage.tell(&limit[..]);
    let expected = stage.of_the_lab();
    let mut command = as_somebody_else(stage, &limit);
    command.args(expected.with(&["--timeout", "60"]));
    let run = stage.finish(Running::start(command));
    expected.assert_kept(&run, NOT_RUN)
}

fn limited(stage: &Stage, rng: &mut Rng, limit: &str, excused: &[i32]) -> Ended {
    let (expected, run) = run_limited(stage, rng, limit);
    if run.code == 128 + 6 {
        assert!(run.stderr.contains("memory allocation of"), "{}", run.stderr);
    }
    expected.assert_kept(&run, excused)
}

fn run_limited<'a>(stage: &'a Stage, rng: &mut Rng, limit: &str) -> (&'a Expected, Run) {
    stage.tell(limit);
    let expected = stage.any(rng);
    let command = stage.wrapped(&["prlimit", limit], expected, 60);
    (expected, stage.finish(Running::start(command)))
}

fn on_disk(stage: &Stage, on: &str, pages: u64, expected: &Expected, more: &[&str]) -> Run {
    let size = format!("size={}", pages * PAGE);
    let mut command = disk::on_disk(&stage.scene, on, &size);
    command.arg(pathmeter()).args(expected.with(more));
    let run = stage.finish(Running::start(command));
    assert_ne!(run.code, 99, "no file system can be mounted: {}", run.stderr);
    run
}

/// A command whose limit holds: root's own has none.
fn as_somebody_else(stage: &Stage, limit: &str) -> std::process::Command {
    if !geteuid().is_root() {
        let mut command = stage.scene.marked("prlimit", &[limit]);
        command.arg(pathmeter());
        return command;
    }
    let copy = stage.scene.path("pathmeter");
    fs::create_dir(&copy).unwrap();
    let program = copy.join("pathmeter");
    fs::copy(pathmeter(), &program).unwrap();
    fs::set_permissions(stage.scene.path("."), Permissions::from_mode(0o755)).unwrap();
    for folder in ["cache", "cache/pathmeter", "tmp"] {
        chown(stage.scene.path(folder), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    for entry in stage.scene.cached() {
        chown(stage.cache().join(entry), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let ids = [format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")];
    let words = [&ids[0], &ids[1], "--clear-groups", "prlimit", limit];
    let mut command = stage.scene.marked("setpriv", &words);
    command.env("TMPDIR", stage.scene.path("tmp")).arg(program);
    command
}

/// A number from 1 on, of at most `bits` bits: each length is as likely as any other.
fn some(rng: &mut Rng, bits: u32) -> u64 {
    let highest = 1 << rng.u32(..bits);
    highest | rng.u64(..highest)
}
