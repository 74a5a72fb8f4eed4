//! What was being done with a file that can't be used: the advice depends on it.

use std::fmt;

/// What was being done with a file or a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileStep {
    /// A folder is gone into.
    Entering,
    /// The place of a file is looked for.
    Finding,
    Making,
    /// A folder is made, and the message says that it is one.
    MakingFolder,
    /// A file gets another name.
    MovingAside,
    Opening,
    /// A file or folder is read.
    Reading,
    /// A file or folder is removed.
    Removing,
    Writing,
}

impl fmt::Display for FileStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Entering => "entering",
            Self::Finding => "finding",
            Self::Making => "making",
            Self::MakingFolder => "making the folder",
            Self::MovingAside => "moving aside",
            Self::Opening => "opening",
            Self::Reading => "reading",
            Self::Removing => "removing",
            Self::Writing => "writing",
        })
    }
}
