//! Comparisons, which several verbs make: the sides, how they are judged, and where differences
//! come from.

pub(crate) mod causes;
pub(crate) mod differences;
pub(crate) mod explanation;
pub(crate) mod judge;
pub(crate) mod pair;
pub(crate) mod sides;
