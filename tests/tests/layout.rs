//! Builds of the same source that differ in layout only compare `same`; one instruction more in
//! the system call path shows as exactly that.

use pathmeter_e2e::{NOT_ON_LINUX, Scene, built, path, paths, rows};
use serde_json::{Value, json};

/// How often each path goes through the system call instruction's entry. A round trip enters the
/// kernel once a switch on either side, and one between processes twice; a fork and a clone are
/// one call, another for waiting, and the child's exit.
const SYSTEM_CALLS: &[(i64, &[&str])] = &[
    (
        1,
        &[
            "syscall.getppid",
            "syscall.getppid+rseq",
            "file.read-zero",
            "file.write-null",
            "file.stat",
            "ioctl.native",
            "getcpu.syscall",
            "ports.ioperm",
            "wake.switch",
        ],
    ),
    (
        2,
        &[
            "file.open-close",
            "switch.yield",
            "switch.yield+rseq",
            "switch.yield+ioport-0x80",
            "switch.yield+ioport-0xffff",
            "switch.yield+ioport-both",
            "switch.thread-yield",
            "switch.thread-yield+rseq",
            "signal.deliver",
            "signal.deliver+rseq",
            "pipe.write-read",
        ],
    ),
    (3, &["process.fork-exit", "process.thread"]),
    (
        4,
        &[
            "switch.pipe",
            "switch.pipe+rseq",
            "switch.futex",
            "switch.futex+rseq",
            "unix.round-trip",
            "tcp.round-trip",
        ],
    ),
];

fn comparison(base: &str, new: &str) -> Value {
    Scene::warm().run(&["compare", &built(base), &built(new), "--json"]).json()
}

/// The rows must all be `same`, but for those that no Linux has here.
fn assert_same(comparison: &Value) {
    for row in rows(comparison) {
        match row["path"].as_str().unwrap() {
            name if NOT_ON_LINUX.contains(&name) => {
                assert_eq!(row["verdict"], "unsupported", "{row}");
            }
            // A check has no numbers.
            "flags.isolation" => assert_eq!(row["verdict"], "same", "{row}"),
            _ => assert_eq!([&row["verdict"], &row["difference"]], [&json!("same"), &json!(0)]),
        }
    }
}

#[test]
fn another_localversion_is_the_same() {
    assert_same(&comparison("base", "localversion"));
}

#[test]
fn a_dead_function_more_is_the_same() {
    assert_same(&comparison("base", "dead-function"));
}

#[test]
fn functions_in_another_order_are_the_same() {
    assert_same(&comparison("base", "reordered"));
}

#[test]
fn one_nop_more_a_system_call_is_exactly_that() {
    let comparison = comparison("base", "nop");
    let expected = |name| SYSTEM_CALLS.iter().find(|(_, names)| names.contains(&name));
    for name in paths(&comparison) {
        let row = path(&comparison, name);
        let calls = expected(name).map_or(0, |(calls, _)| *calls);
        assert_eq!(row["difference"].as_i64().unwrap_or(0), calls, "{row}");
        assert_eq!(row["verdict"] == "higher", calls > 0, "{row}");
    }
    assert!(
        SYSTEM_CALLS
            .iter()
            .all(|(_, names)| { names.iter().all(|name| paths(&comparison).contains(name)) })
    );
}
