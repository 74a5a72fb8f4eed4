//! Why a document can't be used: each error says what to do.

use pathmeter_seal::SealError;
use thiserror::Error;

/// Why a result file can't be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseError {
    #[error("{what}: {found}, more than the {limit} allowed; is this a pathmeter result?")]
    TooLarge {
        /// What is too large, with its unit.
        what: String,
        found: u64,
        limit: u64,
    },
    /// The bytes are not a JSON document.
    #[error("not JSON: {detail}; if the file was cut short, measure again")]
    NotJson {
        /// What the reader stumbled on, with line and column.
        detail: String,
    },
    /// There are several documents in it.
    #[error(
        "several documents, one a line, as `pathmeter history export` writes them: take one, such \
         as the second by `sed -n 2p`, or export to a folder"
    )]
    Several,
    /// The bytes are UTF-16, as some Windows programs write.
    #[error("UTF-16, which JSON is not; convert it: iconv -f UTF-16 -t UTF-8")]
    Utf16,
    /// A JSON document of another kind or version.
    #[error(
        "the schema is {found}, not \"{wanted}\"{}; give a file written by `pathmeter {}",
        if found.contains("comparison/") { ": compare or run wrote it of two kernels" } else { "" },
        if wanted.contains("times") { "host --json`" } else {
            "measure --json` or `pathmeter run --json`"
        }
    )]
    OtherSchema {
        /// The schema that was expected.
        wanted: &'static str,
        /// The schema that the document names, quoted.
        found: String,
    },
    /// Its schema is the right one, but a field is missing or of another type.
    #[error("not a whole {schema}: {detail}; measure again")]
    Malformed {
        schema: &'static str,
        /// What is wrong and where.
        detail: String,
    },
    /// It is not the document that was written.
    #[error("{0}; measure again")]
    Seal(#[from] SealError),
    /// A path is there twice.
    #[error("path {path} is there twice; measure again")]
    DuplicatePath {
        /// The path's name, in quotes and fit for a terminal.
        path: String,
    },
    #[error("path {path}: {what}; the file was changed after it was written, measure again")]
    Inconsistent {
        /// The path's name, in quotes and fit for a terminal.
        path: String,
        what: Inconsistency,
    },
    /// A field can't be what a measurement gave.
    #[error("{field}: {what}; the file was changed after it was written, measure again")]
    Field {
        /// The field, as a path from the document's root.
        field: String,
        /// What is wrong with it.
        what: String,
    },
}

/// How a path contradicts itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Inconsistency {
    /// `samples_per_run` does not add up.
    #[error("samples_per_run adds up to {sum}, but there are {samples} samples")]
    Runs {
        /// The sum of `samples_per_run` over the runs.
        sum: u64,
        samples: usize,
    },
    /// `lower_bounds` are not ascending positions of samples.
    #[error("lower_bounds are not ascending positions in samples")]
    LowerBounds,
    /// The estimate is not that of the samples.
    #[error("the estimate does not follow from the samples")]
    Estimate,
    /// Status ok, a unit, and nothing measured.
    #[error("the status is ok, but there are no samples")]
    NoSamples,
    /// A check that has samples.
    #[error("a check has no cost, but there are samples")]
    SampledCheck,
    /// Measured in something else than the result's clock.
    #[error("the unit is not the clock of the result")]
    Unit,
    /// Events that are not those of the samples.
    #[error("the events are not those of the samples")]
    Events,
    /// Not ok, and no reason given.
    #[error("the status is not ok, but there is no reason")]
    NoReason,
}
