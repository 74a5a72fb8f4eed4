//! What a comparison says of a path.

use std::fmt;

use pathmeter_stats as stats;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A comparison's verdict on one path, in words that hold for any unit.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// No change, or one smaller than the threshold.
    Same,
    Lower,
    Higher,
    /// New shows a value that base never did, often enough to count.
    ModeAppeared,
    /// Of a wait: new has values far beyond all of base's, in several runs, however rare. `new` is
    /// the highest of them, `base` what the same window of the same run costs on base.
    LongerTail,
    /// The same of base, and nothing else costs more in new.
    ShorterTail,
    /// The instructions are the same, and an event that costs by itself is not.
    EventsDiffer,
    /// Not measured on one side or both; or lower bounds from which no change follows.
    Unsupported,
    /// The path's proof failed on one side or both.
    Broken,
}

impl Verdict {
    /// All verdicts, in the order in which a summary names them.
    pub const ALL: [Self; 9] = [
        Self::Same,
        Self::Higher,
        Self::Lower,
        Self::ModeAppeared,
        Self::LongerTail,
        Self::ShorterTail,
        Self::EventsDiffer,
        Self::Unsupported,
        Self::Broken,
    ];
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Same => "same",
            Self::Lower => "lower",
            Self::Higher => "higher",
            Self::ModeAppeared => "mode-appeared",
            Self::LongerTail => "longer-tail",
            Self::ShorterTail => "shorter-tail",
            Self::EventsDiffer => "events-differ",
            Self::Unsupported => "unsupported",
            Self::Broken => "broken",
        })
    }
}

impl From<stats::Verdict> for Verdict {
    fn from(verdict: stats::Verdict) -> Self {
        match verdict {
            stats::Verdict::Same => Self::Same,
            stats::Verdict::Lower => Self::Lower,
            stats::Verdict::Higher => Self::Higher,
            stats::Verdict::ModeAppeared => Self::ModeAppeared,
        }
    }
}
