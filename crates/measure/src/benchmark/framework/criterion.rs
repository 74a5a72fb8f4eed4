//! Criterion of Rust, 0.4 to 0.8: `--test` executes the routine of a benchmark once, in
//! `Bencher::iter` or one of its siblings, which are never inlined (`src/bencher.rs`).

use super::{Executed, Framework, Iteration, listed_by_lines};

/// The row of the table of frameworks.
pub(super) const FRAMEWORK: Framework = Framework {
    word: "criterion",
    about: "Criterion of Rust: the routine once",
    list: &["--bench", "--list"],
    list_environment: &[],
    names: listed_by_lines,
    // A pattern, since 0.4 has no --exact.
    one: &["--bench", "--test", "{pattern}"],
    last_word_is_place: false,
    iteration: Iteration::Once("*9criterion7bencher*iter*"),
    executed: find_executed,
};

/// A line `Testing NAME`, and below it `Success`.
fn find_executed(output: &str, _: &str) -> Vec<Executed> {
    let name = |line: &str| line.strip_prefix("Testing ").map(|name| Executed::new(name, 1));
    output.lines().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::typed;
    use super::*;

    #[test]
    fn a_list_of_async_io_is_read() {
        let output = "read_and_write/TcpStream.Undriven: benchmark\n\
                      read_and_write/UnixStream.Undriven: benchmark\n\n\
                      udp_send_recv/UdpSocket.Driven: benchmark\n";
        let names = [
            "read_and_write/TcpStream.Undriven",
            "read_and_write/UnixStream.Undriven",
            "udp_send_recv/UdpSocket.Driven",
        ];
        assert_eq!(FRAMEWORK.names(output), names);
        assert_eq!(
            FRAMEWORK.names("simple getpid: bench\n\n"),
            ["simple getpid"],
            "of rustix, 0.4"
        );
        assert_eq!(FRAMEWORK.names("running 0 tests\n"), [""; 0]);
    }

    #[test]
    fn one_is_executed_once() {
        let commands = typed(FRAMEWORK, &["./b"], "simple statat");
        assert_eq!(commands, ["./b --bench --test '^simple statat$'"]);
        let output = "Testing simple statat\nSuccess\n\n";
        assert_eq!(FRAMEWORK.find_executed(output, "x"), [Executed::new("simple statat", 1)]);
        assert_eq!(FRAMEWORK.find_executed("", "x"), []);
    }
}
