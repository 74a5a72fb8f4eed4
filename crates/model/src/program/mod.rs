//! What a result has of a program: its runs, and the rows, processes and sleeps of each.

pub(crate) mod benchmark;
pub(crate) mod check;
pub(crate) mod check_processes;
pub(crate) mod check_sleeps;
pub(crate) mod execution;
pub(crate) mod identity;
pub(crate) mod process;
pub(crate) mod process_rows;
pub(crate) mod row_costs;
pub(crate) mod row_name;
pub(crate) mod rows;
pub(crate) mod sleep;
pub(crate) mod work;
