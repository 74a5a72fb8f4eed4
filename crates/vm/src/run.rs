//! What is done with a guest: from a kernel's image, or its snapshot, to what came of its paths.

pub(crate) mod agent_run;
pub(crate) mod before_ready;
pub(crate) mod counter;
#[cfg(test)]
pub(crate) mod fake;
pub(crate) mod measure;
pub(crate) mod outcome;
pub(crate) mod ready;
pub(crate) mod record;
pub(crate) mod request;
pub(crate) mod snapshot;
pub(crate) mod user_program;
