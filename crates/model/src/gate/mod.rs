//! What a comparison says about whether it passes.

pub(crate) mod budget;
pub(crate) mod report;
