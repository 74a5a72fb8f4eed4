//! What the verbs of `plan` share: errors of folders as failures, sums in words, and this machine's
//! name.

use crate::failure::Failure;
use pathmeter_plan::{FolderError, node_name};

/// The same as a failure.
pub(super) fn failed(error: FolderError) -> Failure {
    let FolderError { doing, path, error } = error;
    Failure::File { doing, path, error }
}

/// A variable of this process's environment, if it is text.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// `40 cells: 31 measured, 8 there already, 1 failed`; parts of none are left out.
pub(super) fn format_counts(all: usize, one: &str, parts: &[(usize, &str)]) -> String {
    let parts = parts.iter().filter(|(number, _)| *number > 0);
    let parts: Vec<String> = parts.map(|(number, what)| format!("{number} {what}")).collect();
    let all = if all == 1 { format!("1 {one}") } else { format!("{all} {one}s") };
    if parts.is_empty() { all } else { format!("{all}: {}", parts.join(", ")) }
}

/// What this machine is called in records.
pub(super) fn node() -> String {
    let about = rustix::system::uname();
    node_name(variable, &about.nodename().to_string_lossy())
}
