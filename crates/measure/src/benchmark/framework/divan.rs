//! Divan of Rust, 0.1: options of the command line override those of the source; one sample of N
//! iterations is neither tuned nor repeated (`src/divan.rs`, `src/benchmark/mod.rs`). It lists
//! whole names only to cargo-nextest, which it knows by a variable.

use super::{Executed, Framework, Iteration, listed_by_lines};

/// The row of the table of frameworks.
pub(super) const FRAMEWORK: Framework = Framework {
    word: "divan",
    about: "Divan of Rust, on one thread: the slope over iterations",
    list: &["--bench", "--list", "--format", "terse"],
    list_environment: &["NEXTEST=1"],
    names: listed_by_lines,
    one: &[
        "--bench",
        "--threads=1",
        "--sample-count=1",
        "--sample-size={count}",
        "--exact",
        "{name}",
    ],
    last_word_is_place: false,
    iteration: Iteration::Counted(8),
    executed: find_executed,
};

/// Rows of its tree that end in a number of iterations.
fn find_executed(output: &str, name: &str) -> Vec<Executed> {
    let one = |line: &str| {
        let (_, iterations) = line.rsplit_once('│')?;
        let iterations = iterations.trim().replace(',', "").parse().ok()?;
        Some(Executed::new(name, iterations))
    };
    output.lines().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::typed;
    use super::*;

    #[test]
    fn a_list_is_read() {
        let output = "collections::vec::clear::0: benchmark\ntime::now: benchmark\n";
        assert_eq!(FRAMEWORK.names(output), ["collections::vec::clear::0", "time::now"]);
    }

    #[test]
    fn one_is_executed_with_two_counts() {
        let commands = typed(FRAMEWORK, &["./b"], "time::now");
        let start = "./b --bench --threads=1 --sample-count=1 --sample-size=";
        let end = " --exact time::now";
        assert_eq!(commands, [format!("{start}0002{end}"), format!("{start}0010{end}")]);
    }

    #[test]
    fn its_tree_tells_the_iterations() {
        let output = "\
time            fastest       │ slowest       │ median        │ mean          │ samples │ iters
╰─ now                        │               │               │               │         │
   ├─ SystemTime  43.04 ns    │ 43.04 ns      │ 43.04 ns      │ 43.04 ns      │ 1       │ 10
";
        assert_eq!(FRAMEWORK.find_executed(output, "now"), [Executed::new("now", 10)]);
        assert_eq!(FRAMEWORK.find_executed("", "now"), []);
    }
}
