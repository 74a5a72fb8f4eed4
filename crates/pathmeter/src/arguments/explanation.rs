//! What an explanation shows, and where its documents and pictures go.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use pathmeter_report::{Least, Limits, Style, explanation};
use pathmeter_trace::Explain;

use crate::screen::contents::{Contents, Output};
use crate::screen::destination::{Named, is_stdout};

/// Rows of each table of a difference: all tables then fit a screen of 50 lines.
const MOST_ROWS: usize = 8;

/// What `explain` prints or writes, and where.
#[derive(Debug, Default, Args)]
pub(crate) struct ExplainOutput {
    /// Print JSON (pathmeter.explain/1) instead of tables
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the JSON document to FILE, - for stdout
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Write a flame graph; for two kernels, paths or rows, of their difference
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) svg: Option<PathBuf>,
    /// Write folded stacks, as flame graph tools read them
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) folded: Option<PathBuf>,
    /// Write a profile in callgrind's format; for two kernels, paths or rows, of the new one
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) callgrind: Option<PathBuf>,
    /// Show N levels of the call tree
    #[arg(long, value_name = "N")]
    pub(crate) depth: Option<usize>,
    /// Hide rows with fewer than N instructions, or less than a share such as 2%. Default: 0.5%
    /// for one window; of a difference, the largest rows, as many as fit a screen
    #[arg(long, value_name = "N")]
    pub(crate) min: Option<Least>,
    /// Show the placement of functions: the entry's address modulo 64, lines and pages of code;
    /// of a difference, also the functions that only moved
    #[arg(long)]
    pub(crate) placement: bool,
}

impl ExplainOutput {
    /// The files that the command line names: the inputs, and where the document, the flame graph,
    /// the stacks and the profile are written.
    pub(crate) fn named_files<'a>(&'a self, inputs: &'a [&'a Path]) -> Named<'a, 4> {
        let outputs = [
            ("--output", Contents::Json, &self.output),
            ("--svg", Contents::Svg, &self.svg),
            ("--folded", Contents::Text, &self.folded),
            ("--callgrind", Contents::Text, &self.callgrind),
        ];
        let outputs = outputs.map(|(option, contents, file)| Output {
            option,
            contents,
            file: file.as_deref(),
        });
        let prints = !self.json() || self.output.is_none();
        Named { outputs, inputs, prints }
    }

    /// Whether JSON is printed in place of tables.
    pub(crate) fn json(&self) -> bool {
        self.json || self.output.as_deref().is_some_and(is_stdout)
    }

    /// How much of the tree is shown, of a difference or of one window.
    fn limits(&self, difference: bool) -> Limits {
        let usual = if difference { Least::Instructions(1) } else { Least::Share(50) };
        let fits = difference && self.min.is_none() && self.depth.is_none() && !self.placement;
        Limits {
            depth: self.depth,
            least: self.min.unwrap_or(usual),
            most: fits.then_some(MOST_ROWS),
            placement: self.placement,
        }
    }

    /// The explanation as people read it.
    pub(crate) fn tables(&self, explain: &Explain, style: Style) -> String {
        explanation(explain, self.limits(explain.new.is_some()), style)
    }
}
