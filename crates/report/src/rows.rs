//! Whether a table has all rows, or those that matter.

/// Which rows are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Those that matter; a line tells how many others there are.
    Folded,
    /// All of them.
    All,
}
