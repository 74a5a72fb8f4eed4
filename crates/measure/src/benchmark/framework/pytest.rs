//! pytest-benchmark of Python, 4 and 5: `--benchmark-min-rounds=N` executes N rounds if less than
//! the time of one is asked for; a round is an iteration unless the calibration takes more
//! (`src/pytest_benchmark/fixture.py`).
//!
//! Names are node ids below `/`, so that they are absolute paths once a slash stands before them.

use super::{Executed, Framework, Iteration};

/// The row of the table of frameworks.
pub(super) const FRAMEWORK: Framework = Framework {
    word: "pytest-benchmark",
    about: "pytest-benchmark of Python; PROGRAM's last word is the tests' file or folder: the \
            slope over rounds",
    list: &["--rootdir=/", "-p", "no:cacheprovider", "--setup-plan", "-q"],
    list_environment: &[],
    names,
    one: &[
        "--rootdir=/",
        "-p",
        "no:cacheprovider",
        "-q",
        "--benchmark-only",
        "--benchmark-disable-gc",
        "--benchmark-min-time=0.000000001",
        "--benchmark-max-time=0.000000001",
        "--benchmark-calibration-precision=1",
        "--benchmark-columns=rounds,iterations",
        "--benchmark-min-rounds={count}",
        "/{name}",
    ],
    last_word_is_place: true,
    iteration: Iteration::Counted(8),
    executed: find_executed,
};

/// Tests that use the fixture `benchmark`: `a.py::test (fixtures used: benchmark, request)`.
fn names(output: &str) -> Vec<String> {
    let name = |line: &str| {
        let (name, fixtures) = line.trim().rsplit_once(" (fixtures used: ")?;
        let mut fixtures = fixtures.trim_end_matches(')').split(", ");
        fixtures.any(|fixture| fixture == "benchmark").then(|| name.to_owned())
    };
    output.lines().filter_map(name).collect()
}

/// The rows of its table: the last two words of each are rounds and iterations a round.
fn find_executed(output: &str, name: &str) -> Vec<Executed> {
    let is_rule = |line: &&str| line.starts_with("----");
    let header = |line: &&str| line.starts_with("Name (time in");
    let rows = output.lines().skip_while(|line| !header(line)).skip(1).skip_while(is_rule);
    let one = |line: &str| {
        let mut words = line.split_whitespace().rev();
        let mut number = || words.next()?.replace(',', "").parse::<u64>().ok();
        let (together, rounds) = (number()?, number()?);
        let iterations = rounds.saturating_mul(together);
        Some(Executed { together, ..Executed::new(name, iterations) })
    };
    rows.take_while(|line| !is_rule(line)).filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::typed;
    use super::*;

    #[test]
    fn tests_without_the_fixture_are_no_benchmarks() {
        let output = "\n        SETUP    F benchmark\n        SETUP    F n[1]\n        \
             tmp/b/test_a.py::test_read[1] (fixtures used: benchmark, n, request)\n        \
             TEARDOWN F benchmark\n        tmp/b/test_a.py::test_plain\n        \
             tmp/b/test_a.py::test_b (fixtures used: benchmarks, request)\nno tests ran in 0.06s\n";
        assert_eq!(FRAMEWORK.names(output), ["tmp/b/test_a.py::test_read[1]"]);
    }

    #[test]
    fn the_name_stands_in_the_place_of_the_tests() {
        let command = ["python3", "-m", "pytest", "/tmp/b"];
        let [fewer, more] = &typed(FRAMEWORK, &command, "tmp/b/t.py::a[1]")[..] else {
            panic!("not two")
        };
        assert!(fewer.starts_with("python3 -m pytest --rootdir=/ -p no:cacheprovider"), "{fewer}");
        assert!(fewer.ends_with("--benchmark-min-rounds=0002 '/tmp/b/t.py::a[1]'"), "{fewer}");
        assert!(more.ends_with("--benchmark-min-rounds=0010 '/tmp/b/t.py::a[1]'"), "{more}");
    }

    #[test]
    fn its_table_tells_the_rounds() {
        let output = ".                                           [100%]\n\n\
             ---------- benchmark: 1 tests ----------\nName (time in ns)     Rounds  Iterations\n\
             ----------------------------------------\ntest_stat               1,000           2\n\
             ----------------------------------------\n\nLegend:\n  OPS: 1 / Mean\n\
             1 passed in 0.07s\n";
        let expected = Executed { together: 2, ..Executed::new("t.py::test_stat", 2000) };
        assert_eq!(FRAMEWORK.find_executed(output, "t.py::test_stat"), [expected]);
        assert_eq!(FRAMEWORK.find_executed("1 skipped in 0.01s\n", "a"), []);
    }
}
