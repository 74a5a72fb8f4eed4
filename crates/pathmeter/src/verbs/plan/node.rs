//! What the verbs of `plan` share: errors of folders as failures, and this machine's name.

use pathmeter_measure::failure::Failure;
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

/// What this machine is called in records.
pub(super) fn node() -> String {
    let about = rustix::system::uname();
    node_name(variable, &about.nodename().to_string_lossy())
}
