//! Benchmarks of frameworks: `run KERNEL --benchmarks FRAMEWORK -- PROGRAM`. The program is a
//! stand-in that speaks as test binaries of Go and of Criterion do.

use pathmeter_e2e::{Run, Scene, built};
use serde_json::Value;

use super::program;
use crate::results::assert_valid;

/// The benchmarks of the stand-in on the small kernel.
fn benchmarks(framework: &str, options: &[&str]) -> Run {
    let (kernel, program) = (built("base"), program("benches"));
    let words = ["run", &kernel, "--benchmarks", framework, "--perturb", "1"];
    Scene::warm().run(&[&words[..], options, &["--", &program]].concat())
}

fn document(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.stderr))
}

fn path<'a>(result: &'a Value, name: &str) -> &'a Value {
    let mut paths = result["paths"].as_array().unwrap().iter();
    paths.find(|path| path["path"] == name).unwrap_or_else(|| panic!("{name}: {result}"))
}

fn cost(result: &Value, name: &str) -> u64 {
    path(result, name)["estimate"]["value"].as_u64().unwrap()
}

/// As many iterations as make of the kernel's own work, which differs by some thousand instructions
/// from execution to execution, no more than an instruction of each.
const MANY: &str = "8192";

/// Whether it is the cost of so many calls, each to within an instruction.
fn is_of_calls(cost: u64, calls: u64, one: u64) -> bool {
    cost.abs_diff(calls * one) <= calls
}

#[test]
fn the_kernels_part_of_an_iteration_is_that_of_its_calls() {
    let of_many = ["--only-benchmark", "BenchmarkAsk*", "--iterations", MANY, "--json"];
    let run = benchmarks("go", &of_many);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let result = document(&run);
    assert_valid(&result, "pathmeter.result-1");
    let one = cost(&result, "BenchmarkAsk: kernel");
    let thrice = cost(&result, "BenchmarkAskThrice: kernel");
    assert!(is_of_calls(thrice, 3, one), "{thrice}, {one}");
    assert_eq!(path(&result, "BenchmarkAskThrice: kernel")["checks"][1]["value"], "getppid 3");
    let own = |name: &str| cost(&result, &format!("{name}: user code"));
    assert!(own("BenchmarkAsk") < own("BenchmarkAskThrice"));
    // The same call by Criterion's stand-in, which makes it twice in its only iteration.
    let once = benchmarks("criterion", &["--only-benchmark", "ask*", "--json"]);
    assert_eq!(once.code, 0, "{}", once.stderr);
    let twice = cost(&document(&once), "ask twice: kernel");
    assert!(is_of_calls(twice, 2, one), "{twice}, {one}");
}

#[test]
fn what_fails_is_named_and_costs_nothing_of_the_others() {
    let wanted = ["BenchmarkFixed", "BenchmarkGroup/*", "BenchmarkPanic"];
    let wanted = wanted.map(|name| ["--only-benchmark", name]).concat();
    let run = benchmarks("go", &[&wanted[..], &["--json"]].concat());
    assert_eq!(run.code, 3, "{}", run.stderr);
    let result = document(&run);
    let names: Vec<&str> =
        result["paths"].as_array().unwrap().iter().map(|it| it["path"].as_str().unwrap()).collect();
    let kernels: Vec<&str> = names.into_iter().filter(|name| name.ends_with(": kernel")).collect();
    let expected = ["Fixed", "Group/a.b", "Panic"];
    assert_eq!(kernels, expected.map(|name| format!("Benchmark{name}: kernel")));
    for (name, why) in [
        ("Panic", "exit code 2 in run 1: panic: no such luck"),
        ("Fixed", "its source sets how often it is executed, 5 times"),
    ] {
        let reason = &path(&result, &format!("Benchmark{name}: kernel"))["reason"];
        assert!(reason.as_str().unwrap().contains(why), "{reason}");
    }
    assert_eq!(cost(&result, "BenchmarkGroup/a.b: kernel"), 0);
    assert_eq!(result["notes"][0], "2 of 3 benchmarks could not be measured");
    run.assert_printed(&["benchmark 1 of 3: BenchmarkFixed", "3 of 3: BenchmarkPanic"]);
}

#[test]
fn what_has_no_benchmarks_is_refused() {
    for (framework, options, why) in [
        ("criterion", &["--only-benchmark", "none"][..], "no benchmark of the program is called"),
        ("criterion", &["--iterations", "9"], "--iterations would change nothing"),
        ("go", &["--explain"], "--explain is about a whole program"),
    ] {
        let (kernel, program) = (built("base"), program("benches"));
        let words = [&["run", &kernel, "--benchmarks", framework], options, &["--", &program]];
        let run = Scene::warm().run(&words.concat());
        assert_eq!(run.code, 2, "{}", run.stderr);
        run.assert_printed(&[why]);
    }
    let other = benchmarks("google-benchmark", &[]);
    other.assert_unmeasured(&[
        "asked to list its benchmarks as google-benchmark does",
        "--benchmarks",
    ]);
}
