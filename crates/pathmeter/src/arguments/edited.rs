//! The argument that takes documents which were edited.

use clap::Args;
use pathmeter_measure::subject::accept_edited;

/// Whether documents are taken that were edited.
#[derive(Clone, Debug, Args)]
pub(crate) struct EditedArg {
    /// Take documents that were edited after pathmeter wrote them, and mark their subjects as
    /// edited
    ///
    /// Every document of pathmeter has a seal, a digest of its content. Without this option, a
    /// document without a seal, or whose seal does not match, is refused. With it, the names of its
    /// subjects end in "(edited)" wherever its numbers are shown, and in what is written of it
    /// (docs/reference/results.md).
    #[arg(long)]
    accept_edited: bool,
}

impl EditedArg {
    /// Has all documents taken that were edited, if the user wants that.
    pub(crate) fn apply(&self) {
        if self.accept_edited {
            accept_edited();
        }
    }
}
