//! What a command line lacks or has too much of, beyond what clap can know.

pub(crate) mod foreign_option;
pub(crate) mod given;
pub(crate) mod word_order;
