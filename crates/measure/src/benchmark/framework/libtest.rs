//! `#[bench]` of Rust's libtest: without `--bench` a benchmark is a test that executes its function
//! once, with one iteration (`library/test/src/lib.rs`, `convert_benchmarks_to_tests`).

use super::{Executed, Framework, Iteration, listed_by_lines};

/// The row of the table of frameworks.
pub(super) const FRAMEWORK: Framework = Framework {
    word: "libtest",
    about: "#[bench] of Rust: the function once, with its setup",
    list: &["--bench", "--list"],
    list_environment: &[],
    names: listed_by_lines,
    one: &["--test-threads=1", "--exact", "{name}"],
    last_word_is_place: false,
    // `Bencher::iter` is inlined into it as the compiler likes.
    iteration: Iteration::Once("*4test5bench7Bencher*call_once*"),
    executed: find_executed,
};

/// Lines `test NAME ... ok`, of which those that were ignored are none.
fn find_executed(output: &str, _: &str) -> Vec<Executed> {
    let name = |line: &str| line.strip_prefix("test ")?.strip_suffix(" ... ok").map(str::to_owned);
    output.lines().filter_map(name).map(|name| Executed::new(&name, 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::typed;
    use super::*;

    #[test]
    fn a_list_of_getrandom_is_read() {
        let output = "aes128::bench_fill: benchmark\nbench_u32: benchmark\nworks: test\n\n\
                      1 tests, 2 benchmarks\n";
        assert_eq!(FRAMEWORK.names(output), ["aes128::bench_fill", "bench_u32"]);
    }

    #[test]
    fn one_is_executed_as_a_test() {
        let commands = typed(FRAMEWORK, &["./b"], "aes128::bench_fill");
        assert_eq!(commands, ["./b --test-threads=1 --exact aes128::bench_fill"]);
        let output = "\nrunning 1 test\ntest aes128::bench_fill ... ok\n\n\
                      test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 11 filtered out; \
                      finished in 0.00s\n\n";
        assert_eq!(FRAMEWORK.find_executed(output, "x"), [Executed::new("aes128::bench_fill", 1)]);
        assert_eq!(FRAMEWORK.find_executed("test a ... ignored\n", "a"), []);
    }
}
