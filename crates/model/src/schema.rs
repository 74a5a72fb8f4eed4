//! The JSON schemas of the documents, generated from the types and their comments.
//!
//! They describe what pathmeter writes: every field is there, null where there is no value.

use pathmeter_seal::with_seal;
use schemars::{JsonSchema, Schema, generate::SchemaSettings};

use crate::{
    Blame, Boots, Checked, Comparison, FolderComparison, History, Joined, Measurement,
    ProgramSlopeResult, SettingsResult, SlopeResult, TimeComparison, Times,
};

/// The schema of a result, published as `docs/schemas/pathmeter.result-1.json`.
pub fn result_schema() -> Schema {
    schema_of::<Checked<Measurement>>()
}

/// The schema of a comparison, published as `docs/schemas/pathmeter.comparison-1.json`.
pub fn comparison_schema() -> Schema {
    schema_of::<Comparison>()
}

/// The schema of two folders' results, published as
/// `docs/schemas/pathmeter.folder-comparison-1.json`.
pub fn folder_comparison_schema() -> Schema {
    schema_of::<FolderComparison>()
}

/// The schema of what a history holds, published as `docs/schemas/pathmeter.history-1.json`.
pub fn history_schema() -> Schema {
    schema_of::<History>()
}

/// The schema of a path's steps, published as `docs/schemas/pathmeter.blame-1.json`.
pub fn blame_schema() -> Schema {
    schema_of::<Blame>()
}

/// The schema of a kernel's settings, published as `docs/schemas/pathmeter.settings-1.json`.
pub fn settings_schema() -> Schema {
    schema_of::<SettingsResult>()
}

/// The schema of a slope, published as `docs/schemas/pathmeter.slope-1.json`.
pub fn slope_schema() -> Schema {
    schema_of::<SlopeResult>()
}

/// The schema of a program's slope, published as `docs/schemas/pathmeter.program-slope-1.json`.
pub fn program_slope_schema() -> Schema {
    schema_of::<ProgramSlopeResult>()
}

/// The schema of times, published as `docs/schemas/pathmeter.times-1.json`.
pub fn times_schema() -> Schema {
    schema_of::<Times>()
}

/// The schema of two sides' times, published as `docs/schemas/pathmeter.time-comparison-1.json`.
pub fn time_comparison_schema() -> Schema {
    schema_of::<TimeComparison>()
}

/// The schema of counts and times joined, published as
/// `docs/schemas/pathmeter.joined-comparison-1.json`.
pub fn joined_schema() -> Schema {
    schema_of::<Joined>()
}

/// The schema of several boots, published as `docs/schemas/pathmeter.boots-1.json`.
pub fn boots_schema() -> Schema {
    schema_of::<Boots>()
}

fn schema_of<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    with_seal(settings.into_generator().into_root_schema_for::<T>())
}
