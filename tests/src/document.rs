//! Reading JSON documents as a script would.

use serde_json::Value;

/// The paths that no Linux can run here, in the order of all: those that need the lab kernel's
/// devices or its IOPL, an instruction that no CPU of QEMU 7.2's interpreter has, and rseq areas
/// that are longer than Linux 6.1's.
pub const NOT_ON_LINUX: &[&str] = &[
    "switch.yield+rseq-offered",
    "switch.iopl-yield",
    "switch.iopl-yield+ioport-0x80",
    "switch.iopl-yield+ioport-0xffff",
    "ioctl.native+2cpu",
    "ioctl.compat-int80+2cpu",
    "ioctl.compat-entry+2cpu",
    "lock.wait+2cpu",
    "getcpu.rdpid",
    "softirq.net-rx+user",
    "softirq.net-rx+idle",
    "softirq.net-rx+hlt",
    "softirq.net-rx+calls",
    "softirq.again+user",
    "softirq.again+idle",
    "softirq.again+slice",
    "softirq.round-trip",
    "signal.deliver+rseq-offered",
    "memory.fault-huge",
];

/// The paths that the kernels built for tests lack besides.
pub const NOT_ON_BUILT: &[&str] = &["sem.round-trip", "io-uring.nop", "io-uring.read"];

/// The names of all paths that `pathmeter list paths --json`, a result or a comparison lists.
pub fn paths(document: &Value) -> Vec<&str> {
    rows(document).iter().map(|row| row["path"].as_str().unwrap()).collect()
}

/// The rows of a document, one a path.
pub fn rows(document: &Value) -> &[Value] {
    document["paths"].as_array().unwrap()
}

/// The row of one path.
pub fn path<'a>(document: &'a Value, name: &str) -> &'a Value {
    let found = rows(document).iter().find(|row| row["path"] == name);
    found.unwrap_or_else(|| panic!("{name} has vanished"))
}

/// The paths of a result that ended so, each with its reason.
pub fn with_status<'a>(result: &'a Value, status: &str) -> Vec<(&'a str, &'a str)> {
    let ended = rows(result).iter().filter(|row| row["status"] == status);
    let texts = |row: &'a Value| {
        (row["path"].as_str().unwrap(), row["reason"].as_str().unwrap_or_default())
    };
    ended.map(texts).collect()
}

/// The results must be the same to the last sample; which paths differ is told, and where. Their
/// seals are left out, since a test may have edited one of them.
pub fn assert_identical(one: &Value, other: &Value) {
    assert_eq!(paths(one), paths(other));
    let pairs = rows(one).iter().zip(rows(other)).filter(|(one, other)| one != other);
    let differing: Vec<_> = pairs.map(|(one, other)| difference(one, other)).collect();
    assert!(differing.is_empty(), "not identical:\n{}", differing.join("\n"));
    let [one, other] = [one, other].map(without_seal);
    assert!(one == other, "not identical: {} and {}", one["configuration"], other["configuration"]);
}

fn without_seal(document: &Value) -> Value {
    let mut document = document.clone();
    document.as_object_mut().unwrap().remove("seal");
    document
}

/// The samples in which two rows of one path differ, or both rows if it is something else.
fn difference(one: &Value, other: &Value) -> String {
    let samples = |row: &Value| row["samples"].as_array().unwrap().clone();
    let pairs = samples(one).into_iter().zip(samples(other)).enumerate();
    let differing: Vec<_> = pairs
        .filter(|(_, (one, other))| one != other)
        .map(|(index, (one, other))| format!("[{index}] {one} and {other}"))
        .collect();
    match &differing[..] {
        [] => format!("{one}\n{other}"),
        differing => format!("{}: {}", one["path"], differing.join(", ")),
    }
}
