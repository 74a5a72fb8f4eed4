//! Benchmarks of Go's `testing`, in a test binary (`go test -c`). `-test.benchtime=Nx` executes N
//! iterations, after one that is always executed first unless N is 1 (`src/testing/benchmark.go`).
//! Sub-benchmarks are not listed, but are executed with the one that they are in, and told.

use super::{Executed, Framework, Iteration};

/// The row of the table of frameworks.
pub(super) const FRAMEWORK: Framework = Framework {
    word: "go",
    about: "Go's testing, in a binary of `go test -c`: the slope over iterations",
    list: &["-test.list=^Benchmark"],
    list_environment: &[],
    names,
    one: &["-test.run=^$", "-test.bench={levels}", "-test.benchtime={count}x"],
    last_word_is_place: false,
    // Beside the iterations there are the runtime's own threads, whose work comes when it comes.
    iteration: Iteration::Counted(128),
    executed: find_executed,
};

fn names(output: &str) -> Vec<String> {
    let is_name =
        |line: &&str| line.starts_with("Benchmark") && !line.contains(char::is_whitespace);
    output.lines().filter(is_name).map(str::to_owned).collect()
}

/// Lines `NAME ITERATIONS TIME ns/op`. On one CPU no number of CPUs follows the name.
fn find_executed(output: &str, _: &str) -> Vec<Executed> {
    let one = |line: &str| {
        let mut words = line.split_whitespace();
        let name = words.next().filter(|name| name.starts_with("Benchmark"))?;
        let iterations = words.next()?.parse().ok()?;
        words.any(|word| word == "ns/op").then(|| Executed::new(name, iterations))
    };
    output.lines().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::typed;
    use super::*;

    #[test]
    fn a_list_of_the_package_os_is_read() {
        let output = "BenchmarkExpand\nBenchmarkStatDot\nok  \tos\t0.004s\n";
        assert_eq!(FRAMEWORK.names(output), ["BenchmarkExpand", "BenchmarkStatDot"]);
    }

    #[test]
    fn one_is_executed_with_two_counts() {
        let commands = typed(FRAMEWORK, &["./os.test"], "BenchmarkExpand/noop");
        let start = "./os.test '-test.run=^$' '-test.bench=^BenchmarkExpand$/^noop$'";
        let [fewer, more] =
            ["2", "10"].map(|count| format!("{start} -test.benchtime={count:0>4}x"));
        assert_eq!(commands, [fewer, more]);
    }

    #[test]
    fn sub_benchmarks_are_told() {
        let output = "goos: linux\npkg: os\n\
             BenchmarkExpand/noop \t       1\t      1202 ns/op\t      16 B/op\t       1 allocs/op\n\
             BenchmarkReaddirname             \t      10\t    140880 ns/op\n\
             --- BENCH: BenchmarkReaddirname\n    os_test.go:507: benchmarkReaddirname\nPASS\n";
        let expected =
            [Executed::new("BenchmarkExpand/noop", 1), Executed::new("BenchmarkReaddirname", 10)];
        assert_eq!(FRAMEWORK.find_executed(output, "x"), expected);
    }
}
