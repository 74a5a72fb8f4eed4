//! What of a plan is done, failed and missing, by the folder of its results alone.
//!
//! Contract: every result is read whole. One whose bytes a list of nodes names is done, which takes
//! its hash alone; any other is checked as a run and `merge` check it. What is damaged is not done.

use pathmeter_seal::schema_name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::Plan;
use crate::folder::{Folder, FolderError, Listing};
use crate::lists::{Kept, Lists};
use crate::names::Kind;
use crate::record::{FailureClass, FailureRecord};

schema_name!(pub StatusSchema = "pathmeter.plan-status/1");

/// How far a plan is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    pub schema: StatusSchema,
    /// How many cells the plan has.
    pub cells: usize,
    /// How many of them have a result.
    pub done: usize,
    /// Cells without a result that were tried.
    pub failed: Vec<FailedCell>,
    /// Cells without a result that were not, by their ids.
    pub missing: Vec<String>,
    /// Cells of which there are two different results, by their ids.
    pub conflicts: Vec<String>,
    /// Cells of which a file is there that is no result, by their ids; they are among the failed or
    /// missing ones.
    pub damaged: Vec<String>,
    /// How many results the folder has of cells that are not in the plan.
    pub others: usize,
}

/// A cell that was tried in vain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedCell {
    pub cell: String,
    /// What it is, in words.
    pub title: String,
    /// How often it was tried.
    pub tries: usize,
    /// Whether another try can help, by the last one; null if that can't be read.
    pub class: Option<FailureClass>,
    /// The machine of the last try.
    pub node: String,
    pub message: String,
}

impl Status {
    /// Of a plan of which nothing has been measured: all cells are missing.
    pub fn before_first_run(plan: &Plan) -> Self {
        Self {
            schema: StatusSchema::V1,
            cells: plan.cells.len(),
            done: 0,
            failed: Vec::new(),
            missing: plan.cells.iter().map(|cell| cell.id.clone()).collect(),
            conflicts: Vec::new(),
            damaged: Vec::new(),
            others: 0,
        }
    }

    /// Whether another run has something to do that may help.
    pub fn goes_on(&self) -> bool {
        let retried = |cell: &FailedCell| cell.class != Some(FailureClass::Permanent);
        !self.missing.is_empty() || self.failed.iter().any(retried)
    }
}

/// How far `plan` is, by what is in `folder`.
///
/// # Errors
/// The folder can't be read.
pub fn status(plan: &Plan, folder: &Folder) -> Result<Status, FolderError> {
    let (listing, lists) = (folder.listing()?, Lists::of([folder])?);
    let mut status = Status { missing: Vec::new(), ..Status::before_first_run(plan) };
    let mut known = 0;
    for cell in &plan.cells {
        let id = &cell.id;
        if !listing.of(id, Kind::Conflict).is_empty() {
            status.conflicts.push(id.clone());
        }
        if !listing.of(id, Kind::Result).is_empty() {
            known += 1;
            if let Kept::Whole(_) = lists.find(folder, id, |result| plan.is_of(cell, result))? {
                status.done += 1;
                continue;
            }
            status.damaged.push(id.clone());
        }
        match last_failure(folder, &listing, id)? {
            None => status.missing.push(id.clone()),
            Some(last) => status.failed.push(FailedCell { title: plan.title(cell), ..last }),
        }
    }
    status.others = listing.all(Kind::Result).count() - known;
    Ok(status)
}

/// What is known of the last try of a cell, if there was one.
fn last_failure(
    folder: &Folder,
    listing: &Listing,
    id: &str,
) -> Result<Option<FailedCell>, FolderError> {
    let names = listing.of(id, Kind::Failure);
    let mut last: Option<FailureRecord> = None;
    for name in names {
        let record = folder.failure(name)?;
        let time = |record: &FailureRecord| (record.at, record.number);
        if record.as_ref().map(time) > last.as_ref().map(time) {
            last = record;
        }
    }
    let cell = |last: Option<FailureRecord>| FailedCell {
        cell: id.to_owned(),
        title: String::new(),
        tries: names.len(),
        class: last.as_ref().map(|last| last.class),
        node: last.as_ref().map(|last| last.node.clone()).unwrap_or_default(),
        message: last.and_then(|last| last.messages.first().cloned()).unwrap_or_default(),
    };
    Ok((!names.is_empty()).then(|| cell(last)))
}
