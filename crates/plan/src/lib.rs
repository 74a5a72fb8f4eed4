//! Plans: many measurements that depend on nothing but their inputs, as data, and a folder that
//! their results are put into, by however many processes on however many machines.
//!
//! - [`Wanted::parse`] reads what a user wants measured, from TOML; [`Plan`] is the document of its
//!   cells, `pathmeter.plan/1`.
//! - [`Shard`] deals cells to tasks, by their ids alone; [`choose`] finds out which task this is.
//! - [`Folder`] holds results: a file each, whole or not there, never replaced. [`merge()`] joins
//!   several folders, [`status()`] tells what is done.
//! - [`KernelFolder`] holds kernels that were built from commits.
//! - [`emit()`] writes what an engine needs to run a plan.
//!
//! Contract: nothing here measures, and no file is locked. What lies in a folder of results may
//! come from anywhere, and is believed only after it was read whole and its seal was checked.
#![forbid(unsafe_code)]

mod difference;
mod document;
mod emit;
mod file;
mod file_step;
mod folder;
mod id;
mod kernels;
mod lists;
mod merge;
mod names;
mod record;
mod shard;
mod status;
mod wanted;

pub use difference::first_difference;
pub use document::{Cell, Plan, PlanError, PlanImage, PlanProgram, PlanSchema};
pub use emit::{EmitError, Engine, Job, emit};
pub use file_step::FileStep;
pub use folder::{Folder, FolderError, Found, Put};
pub use id::is_id;
pub use kernels::{KernelFolder, KernelState};
pub use lists::{Kept, Lists};
pub use merge::{Left, MergeError, Merged, merge};
pub use record::{
    FailureClass, FailureRecord, FailureSchema, Finding, FindingSchema, FoundResult, node_name,
};
pub use shard::{ChosenShard, Shard, ShardArg, ShardError, choose};
pub use status::{FailedCell, Status, StatusSchema, status};
pub use wanted::{Placed, Wanted, WantedCommits, WantedError, WantedProgram};
