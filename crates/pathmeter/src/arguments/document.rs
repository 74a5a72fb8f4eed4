//! Where a document goes.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};

use crate::screen::contents::{Contents, Output};
use crate::screen::destination::{Named, is_stdout};

#[derive(Debug, Args)]
pub(crate) struct DocumentArgs {
    /// Print JSON instead of a table: to stdout, or to the FILE of --output
    #[arg(long)]
    json: bool,
    /// Write the JSON document to FILE, - for stdout; the table still goes to stdout, unless --json
    /// is given or the document goes there
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
}

impl DocumentArgs {
    /// Whether JSON is printed in place of a table.
    pub(crate) fn json(&self) -> bool {
        self.json || self.output.as_deref().is_some_and(is_stdout)
    }

    /// The files that the command line names: these subjects, and where the document is written.
    pub(crate) fn named_files<'a>(&'a self, subjects: &'a [&'a Path]) -> Named<'a, 1> {
        let (option, file) = ("--output", self.output.as_deref());
        let outputs = [Output { option, contents: Contents::Json, file }];
        Named { outputs, inputs: subjects, prints: !self.json() }
    }
}
