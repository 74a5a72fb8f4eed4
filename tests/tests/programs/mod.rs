//! `pathmeter run`: programs of every kind, in the exact guest of small kernels and of Debian's.
//!
//! The programs are in `tests/programs`, compiled here by `cc`.

mod benchmarks;
mod clean;
mod debug_files;
mod events;
mod gates;
mod hostile;
mod input;
mod jit;
mod kernels;
mod processes;
mod regions;
mod repeats;
mod sleeps;
mod slope;
mod sums;
mod threads;
mod trees;
mod versions;
mod windows;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use pathmeter_e2e::{Run, Scene, built, debian, soak};
use serde_json::Value;

/// What `--perturb` is given for one kernel, and the runs that come of it: one more, the first,
/// which is cold.
const PERTURB: &str = "2";
const RUNS: usize = 3;

/// The program of this name.
pub(crate) fn program(name: &str) -> String {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(build);
    BUILT.join(name).into_os_string().into_string().unwrap()
}

/// Compiles all programs, into a folder that is the same in each run of the tests: a program's path
/// is part of what is measured.
fn build() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    std::fs::create_dir_all(&folder).unwrap();
    for name in [
        "benches",
        "calls",
        "chase",
        "clean",
        "compat32",
        "crew",
        "family",
        "faults",
        "first_touches",
        "hostile",
        "jit",
        "patched",
        "processes",
        "regions",
        "sleeps",
        "slope",
        "threads",
    ] {
        let flags: &[&str] = match name {
            "compat32" => &["-m32", "-nostdlib", "-static", "-fno-pie", "-no-pie"],
            _ => &["-static", "-pthread"],
        };
        let mut command = Command::new("cc");
        command.args(["-O1", "-Wall", "-Wextra", "-Werror"]).args(flags);
        command.arg("-I").arg(tests.join("../include"));
        command.arg(tests.join(format!("programs/{name}.c"))).arg("-o").arg(folder.join(name));
        assert!(command.status().unwrap().success(), "{name} can't be compiled");
    }
    let mut command = Command::new("cc");
    command.args(["-nostdlib", "-static", "-o"]).arg(folder.join("loop"));
    let assembled = command.arg(tests.join("programs/loop.S")).status();
    assert!(assembled.unwrap().success(), "loop can't be assembled");
    folder
}

/// The kernels for what depends on none: a small one, and in the long form Debian's too. What a
/// kernel's build decides, as where a task's fields are, is tested on Debian's kernel by name.
fn kernels() -> Vec<String> {
    let debian = soak().then(|| debian("cloud"));
    [Some(built("base")), debian].into_iter().flatten().collect()
}

/// Runs the command `pathmeter run` on these kernels, with `options`, for a program and its
/// arguments. Two kernels are compared by as many runs as users get.
fn run(scene: &Scene, kernels: &[&str], options: &[&str], command: &[&str]) -> Run {
    let perturb: &[&str] = if kernels.len() == 1 { &["--perturb", PERTURB] } else { &[] };
    let words = [&["run"], kernels, perturb, options, &["--"], command].concat();
    scene.run(&words)
}

/// Measures a program on one kernel; returns its document.
fn measure_program(kernel: &str, command: &[&str]) -> Value {
    run(&Scene::warm(), &[kernel], &["--json"], command).json()
}

/// Compares a program on two kernels; returns the exit code of `--check` and the comparison.
fn compare_program(base: &str, new: &str, options: &[&str], command: &[&str]) -> (i32, Value) {
    let options = [&["--json", "--check"], options].concat();
    let run = run(&Scene::warm(), &[base, new], &options, command);
    (run.code, serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.stderr)))
}

/// What one row cost in one run.
#[derive(Clone)]
struct RunRow {
    run: usize,
    kind: String,
    name: String,
    calls: u64,
    instructions: u64,
    steps: u64,
}

/// The rows of all runs in which their work was done, without the totals.
fn rows(result: &Value) -> Vec<RunRow> {
    rows_in(&result["paths"])
}

/// The rows of a program, or of one of its processes, in the same way.
fn rows_in(rows: &Value) -> Vec<RunRow> {
    let all = rows.as_array().unwrap().iter();
    let all = all.filter(|row| !row["work"].is_null()).flat_map(of_runs);
    all.filter(|row| !["own-work", "sum"].contains(&&*row.kind) && row.steps > 0).collect()
}

/// A row, run by run.
fn of_runs(row: &Value) -> Vec<RunRow> {
    let work = &row["work"];
    let number = |value: &Value| value.as_u64().unwrap();
    let events = &row["events"];
    let names = events["names"].as_array().unwrap();
    let clock = names.iter().position(|name| name == "clock").unwrap();
    let numbers = |run: usize| {
        if run == 0 {
            let steps = work["first"]["events"]["clock"].as_u64().unwrap_or(0);
            return (number(&work["first"]["instructions"]), steps);
        }
        let place = usize::try_from(number(&events["of_samples"][run - 1])).unwrap();
        (number(&row["samples"][run - 1]), number(&events["distinct"][place][clock]))
    };
    let runs = work["calls"].as_array().unwrap().iter().enumerate();
    let row = |(run, calls): (usize, &Value)| {
        let (instructions, steps) = numbers(run);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let (kind, name) = (text(&work["kind"]), text(&row["path"]));
        RunRow { run, kind, name, calls: number(calls), instructions, steps }
    };
    runs.map(row).collect()
}

/// How often the work of this row was done, in each run.
fn calls(result: &Value, kind: &str, name: &str) -> Vec<u64> {
    calls_of(&result["paths"], kind, name)
}

/// The same in these rows.
fn calls_of(rows: &Value, kind: &str, name: &str) -> Vec<u64> {
    let found = rows_in(rows).into_iter().filter(|row| row.kind == kind && row.name == name);
    found.map(|row| row.calls).collect()
}

/// In each run every step of the guest's clock must be in a row, or idle.
fn assert_adds_up(result: &Value) {
    assert_adds_up_in(result, RUNS);
}

/// Kinds of work that belong to no process.
const OF_NO_PROCESS: [&str; 6] =
    ["interrupt", "softirq", "kernel-thread", "agent", "other", "interpreter-fault"];

/// The same of so many runs. If there are several processes, what they executed and what belongs to
/// none of them add up to the clock as well.
fn assert_adds_up_in(result: &Value, count: usize) {
    let runs = result["execution"]["runs"].as_array().unwrap();
    assert_eq!(runs.len(), count);
    let processes = result["execution"]["processes"].as_array();
    let of_processes: Vec<RunRow> =
        processes.into_iter().flatten().flat_map(|process| rows_in(&process["rows"])).collect();
    for (number, run) in runs.iter().enumerate() {
        let steps: u64 =
            rows(result).iter().filter(|row| row.run == number).map(|row| row.steps).sum();
        assert_eq!(Some(steps + run["idle"].as_u64().unwrap()), run["clock"].as_u64(), "{number}");
        let rest = rows(result).into_iter().filter(|row| OF_NO_PROCESS.contains(&&*row.kind));
        let parts = rest.chain(of_processes.iter().cloned()).filter(|row| row.run == number);
        let parts: u64 = parts.map(|row| row.steps).sum();
        assert!(processes.is_none() || parts == steps, "{number}: {parts} of {steps}");
    }
}
