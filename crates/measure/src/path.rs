//! The built-in paths: which of them are selected, what a guest's counter saw of each, and the rows
//! that are made of it; and the rows that the user adds to them.

pub mod additions;
pub(crate) mod point_windows;
pub mod result;
pub mod rows;
pub mod selection;
pub(crate) mod waits;
