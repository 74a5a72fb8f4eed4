//! `pathmeter.slope/1` and `pathmeter.program-slope/1`: costs by the number of a setting, and by a
//! number among a program's arguments.

pub(crate) mod document;
pub(crate) mod polynomial;
pub(crate) mod program;
