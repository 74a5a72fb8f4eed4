//! What the user sees, and the files that are written: the terminal, progress, destinations and
//! formats.

pub(crate) mod contents;
pub(crate) mod destination;
pub(crate) mod formats;
pub(crate) mod output;
pub(crate) mod progress;
pub(crate) mod terminal;
