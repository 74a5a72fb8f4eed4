//! Google Benchmark of C++, 1.8 or newer: `--benchmark_min_time=Nx` executes N iterations
//! (`src/benchmark_runner.cc`), unless the source of a benchmark says how many.

use serde::Deserialize;

use super::{Executed, Framework, Iteration};

/// The row of the table of frameworks.
pub(super) const FRAMEWORK: Framework = Framework {
    word: "google-benchmark",
    about: "Google Benchmark of C++, 1.8 or newer: the slope over iterations",
    list: &["--benchmark_list_tests=true"],
    list_environment: &[],
    names,
    one: &[
        "--benchmark_filter={pattern}",
        "--benchmark_min_time={count}x",
        "--benchmark_format=json",
    ],
    last_word_is_place: false,
    iteration: Iteration::Counted(8),
    executed: find_executed,
};

/// A name a line; a program that prints more of its own prints it among them.
fn names(output: &str) -> Vec<String> {
    output.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
}

#[derive(Deserialize)]
struct Report {
    benchmarks: Vec<Run>,
}

#[derive(Deserialize)]
struct Run {
    name: String,
    #[serde(default, rename = "run_type")]
    kind: String,
    #[serde(default)]
    iterations: u64,
    error_message: Option<String>,
    skip_message: Option<String>,
}

/// The document that it prints, which begins with the first brace at the begin of a line.
fn find_executed(output: &str, _: &str) -> Vec<Executed> {
    let begin = if output.starts_with('{') { Some(0) } else { output.find("\n{") };
    let document = begin.and_then(|at| output.get(at..)).unwrap_or_default();
    let reports = serde_json::Deserializer::from_str(document).into_iter::<Report>();
    let runs = reports.flatten().take(1).flat_map(|report| report.benchmarks);
    let one = |run: Run| Executed {
        error: run.error_message.or(run.skip_message),
        ..Executed::new(&run.name, run.iterations)
    };
    runs.filter(|run| run.kind != "aggregate").map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::typed;
    use super::*;

    #[test]
    fn a_list_is_a_name_a_line() {
        assert_eq!(FRAMEWORK.names("BM_getppid\nBM_stat/8\n"), ["BM_getppid", "BM_stat/8"]);
    }

    #[test]
    fn one_is_executed_with_two_counts() {
        let commands = typed(FRAMEWORK, &["./b"], "BM_copy<int>/8");
        let end = "x --benchmark_format=json";
        let start = "./b '--benchmark_filter=^BM_copy<int>/8$' --benchmark_min_time=";
        assert_eq!(commands, [format!("{start}0002{end}"), format!("{start}0010{end}")]);
    }

    #[test]
    fn its_document_tells_the_iterations() {
        let output = r#"{
  "context": { "date": "2026-11-26T22:00:18+00:00", "load_avg": [8.0415] },
  "benchmarks": [
    { "name": "BM_stat/8", "run_type": "iteration", "iterations": 10, "cpu_time": 1.1e+03 },
    { "name": "BM_stat/8_mean", "run_type": "aggregate", "iterations": 1 }
  ]
}
"#;
        assert_eq!(FRAMEWORK.find_executed(output, "x"), [Executed::new("BM_stat/8", 10)]);
        let noisy = format!("own {{ line\n{output}and more");
        assert_eq!(FRAMEWORK.find_executed(&noisy, "x"), [Executed::new("BM_stat/8", 10)]);
        assert_eq!(FRAMEWORK.find_executed("Failed to match any benchmarks", "x"), []);
    }

    #[test]
    fn an_error_of_a_benchmark_is_kept() {
        let output = r#"{"benchmarks": [{"name": "a", "run_type": "iteration",
            "error_occurred": true, "error_message": "no file"}]}"#;
        let found = FRAMEWORK.find_executed(output, "a");
        assert_eq!(found[0].error.as_deref(), Some("no file"));
    }
}
