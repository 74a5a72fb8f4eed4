//! x86-64.

#[cfg(feature = "program")]
pub(crate) mod launch;
pub(crate) mod pause;
pub(crate) mod port;
pub(crate) mod words;
