//! `pathmeter.time-comparison/1`: the times of two sides; and `pathmeter.joined-comparison/1`:
//! those with the counts of the same two.

pub(crate) mod check;
pub(crate) mod document;
pub(crate) mod joined;
pub(crate) mod prices;
pub(crate) mod row;
