//! Why a probe of a live host has no samples, in the words of `pathmeter_probes`.

pub(crate) use pathmeter_probes::{Failure, Outcome};

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
