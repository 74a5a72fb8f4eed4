//! x86-64.

#[cfg(feature = "init")]
pub(crate) mod launch;
pub(crate) mod pause;
pub(crate) mod port;
pub(crate) mod words;
