//! What the differences of many rows come from: the places in the kernel where code changed, each
//! once, with all rows that it is in. Pure.
//!
//! A comparison has a difference for each row, and an explanation one for each function of a row.
//! [`causes`] puts these together in three steps, a file each:
//!
//! 1. `field`: each function's difference in each row, and who calls whom on either side.
//! 2. `moves`: code that another function executes now, because a function was renamed, put into
//!    its caller, taken out of it, or replaced by string instructions, is no difference. What moved
//!    is one *part*, of which the net difference counts. Debug information shows it, or else the
//!    call trees and the symbol tables.
//! 3. `groups`: parts that are neighbours in the call trees and differ in the same rows in the same
//!    proportion are one *cause*.
//!
//! The functions of a program are the same on both kernels: each stands for itself. If the kernels
//! execute a row of a program differently often, that is a cause of its own (`executions`).
//!
//! Invariant: each function is in exactly one part and each part in at most one cause, so the
//! causes' differences in a row add up to the row's recorded difference. Nothing is left out for
//! being small.
#![forbid(unsafe_code)]

mod area;
mod cause;
mod executions;
mod field;
mod groups;
mod moves;
mod parts;
mod places;
mod row;
mod typical;
mod vector;

use std::collections::{BTreeSet, HashMap, HashSet};

use pathmeter_model::{CauseRow, Causes};
use pathmeter_trace::Explain;

use crate::{field::Field, parts::Parts};

pub use row::Row;

/// All that is known of a kernel, except the code that it executed.
#[derive(Clone, Debug, Default)]
pub struct Kernel<'a> {
    /// The names in its symbol table, without compilers' suffixes.
    pub names: HashSet<&'a str>,
    /// Where, by its debug information, functions are that its symbol table does not have. Empty
    /// if it has none.
    pub holders: Holders,
}

/// The functions into which the compiler put others, by the others' names.
pub type Holders = HashMap<String, BTreeSet<String>>;

/// What the differences of `rows` come from, if more is known of `kernels`, base and new, with that
/// as evidence.
pub fn causes(rows: &[Row<'_>], kernels: Option<&[Kernel<'_>; 2]>) -> Causes {
    let field = Field::of(rows);
    let mut parts = Parts::of(&field);
    moves::join(&field, &mut parts, kernels);
    let groups = groups::groups(&field, &parts);
    let recorded = |row: &Row<'_>| CauseRow {
        path: row.name.to_owned(),
        base: row.base,
        recorded: row.functions.iter().map(|function| function.difference).sum(),
        executions: row.executions,
    };
    cause::assembled(&field, &parts, &groups, rows.iter().map(recorded).collect())
}

/// What the difference of a program's row comes from; none if the explanation has no two sides.
pub fn of_row(explain: &Explain, kernels: Option<&[Kernel<'_>; 2]>) -> Option<Causes> {
    let as_often = executions::as_often(explain);
    let row = Row::explained(as_often.as_ref().unwrap_or(explain))?;
    let row = if as_often.is_some() { row.with_executions(explain) } else { row };
    Some(causes(&[row], kernels))
}
