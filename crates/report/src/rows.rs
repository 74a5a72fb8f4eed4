//! Whether a table has all rows, or those that matter.

/// Which of a table's rows are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Those that matter; a line tells how many others there are.
    Folded,
    All,
}
