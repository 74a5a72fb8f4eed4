//! Why a probe of a live host has no samples, in the words of `pathmeter_probes`.

pub(crate) use pathmeter_probes::{Failure, Outcome};

use pathmeter_probes::sys::Ret;

/// `Err(Failure::Unsupported)` with a formatted reason.
macro_rules! unsupported {
    ($($arg:tt)*) => {
        Err($crate::failure::Failure::Unsupported(pathmeter_probes::text::Text::format(
            format_args!($($arg)*),
        )))
    };
}

/// A validity check: broken with the reason unless the condition holds.
macro_rules! prove {
    ($holds:expr, $($arg:tt)*) => {
        if !$holds {
            return Err($crate::failure::Failure::broken(format_args!($($arg)*)));
        }
    };
}

pub(crate) use {prove, unsupported};

/// What the first call of a kind returned, outside of windows: if it failed, this kernel or its
/// settings don't permit the path.
pub(crate) fn tried(call: &str, result: Ret) -> Result<usize, Failure> {
    match result {
        Ok(value) => Ok(value),
        Err(error) => unsupported!("{call} is refused (error {error})"),
    }
}
