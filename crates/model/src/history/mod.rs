//! `pathmeter.history/1` and `pathmeter.blame/1`: results over time.

pub(crate) mod document;
pub(crate) mod time_points;
