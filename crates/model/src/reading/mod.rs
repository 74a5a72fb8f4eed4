//! Reading a document back, as far as all documents have that in common.

pub(crate) mod bounds;
pub(crate) mod limits;
pub(crate) mod parse_error;
pub(crate) mod read;
