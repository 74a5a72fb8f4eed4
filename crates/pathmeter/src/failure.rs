//! Errors of the layers below as failures of a verb.

use pathmeter_gate::GateError;
use pathmeter_measure::failure::Failure;

/// A gate's error as one that a verb ends with.
pub(crate) fn to_failure(error: GateError) -> Failure {
    match error {
        GateError::File { path, error } => Failure::File { doing: "reading", path, error },
        GateError::Budget { message, help } => Failure::Usage { message, help },
        GateError::Unchecked(message) => Failure::Unchecked { message },
    }
}
