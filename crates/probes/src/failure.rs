//! Why a probe has no samples, and the macros that report it.

use crate::{sys::Ret, text::Text};

/// Longest reason a probe gives, in bytes.
pub const REASON: usize = 200;

/// Why a probe has no samples.
#[derive(Debug)]
pub enum Failure {
    /// This kernel or CPU can't execute the path.
    Unsupported(Text<REASON>),
    /// The path was executed, but not as the probe must prove.
    Broken(Text<REASON>),
}

impl Failure {
    /// [`Failure::Unsupported`] with a formatted reason.
    pub(crate) fn unsupported(reason: core::fmt::Arguments<'_>) -> Self {
        Self::Unsupported(Text::format(reason))
    }

    /// [`Failure::Broken`] with a formatted reason.
    pub fn broken(reason: core::fmt::Arguments<'_>) -> Self {
        Self::Broken(Text::format(reason))
    }
}

pub type Outcome = Result<(), Failure>;

/// `Err(Failure::Unsupported)` with a formatted reason.
macro_rules! unsupported {
    ($($arg:tt)*) => { Err($crate::failure::Failure::unsupported(format_args!($($arg)*))) };
}

/// `Err(Failure::Broken)` with a formatted reason.
macro_rules! broken {
    ($($arg:tt)*) => { Err($crate::failure::Failure::broken(format_args!($($arg)*))) };
}

/// A validity check: broken with the reason unless the condition holds.
macro_rules! prove {
    ($holds:expr, $($arg:tt)*) => {
        if !$holds { return $crate::failure::broken!($($arg)*); }
    };
}

pub(crate) use {broken, prove, unsupported};

/// What the first call of a kind returned, outside of windows: if it failed, this kernel or its
/// settings don't permit the path.
pub fn tried(call: &str, result: Ret) -> Result<usize, Failure> {
    match result {
        Ok(value) => Ok(value),
        Err(error) => unsupported!("{call} is refused (error {error})"),
    }
}
