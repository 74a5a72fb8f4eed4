//! A program of the user's with what is packed with it, and what is measured beside the paths.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueHint};
use pathmeter_measure::path::additions::Additions;
use pathmeter_pack::{FileArg, Packing};
use pathmeter_trace::PointWindow;

use super::variable::variable;

/// A program of the user's, and what is packed with it.
#[derive(Debug, Args)]
pub(crate) struct PackingArgs {
    /// The program and its arguments
    #[arg(last = true, value_name = "PROGRAM", value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,
    /// What is packed with it.
    #[command(flatten)]
    pub(crate) files: FilesArgs,
}

/// What is packed with a program.
#[derive(Debug, Args)]
pub(crate) struct FilesArgs {
    /// Pack this folder as the guest's root, and take the program from it
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) root: Option<PathBuf>,
    /// Pack a file or folder as well; repeated
    ///
    /// DESTINATION is its place in the guest. By default it is the same as here.
    #[arg(
        long, value_name = "SOURCE[:DESTINATION]",
        value_parser = OsStringValueParser::new().map(|word| FileArg::parse(&word))
    )]
    pub(crate) file: Vec<FileArg>,
    /// Pack the files whose names are in LIST; if there is no LIST, execute PROGRAM once on this
    /// machine, before any guest, and write the names of all files that it opens to LIST
    ///
    /// The program does here what it does anywhere, as you. It starts in an empty folder, with the
    /// guest's environment, and may take a minute. Remove LIST to look again.
    #[arg(
        long, value_name = "LIST", value_hint = ValueHint::FilePath, conflicts_with = "root"
    )]
    pub(crate) find_files: Option<PathBuf>,
    /// Set a variable of the program's environment; repeated
    #[arg(
        long, value_name = "NAME=VALUE",
        value_parser = OsStringValueParser::new().try_map(variable)
    )]
    pub(crate) env: Vec<(OsString, OsString)>,
    /// The file that the program reads as its standard input, or - for pathmeter's own; by default
    /// none
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) stdin: Option<PathBuf>,
}

impl PackingArgs {
    /// The program and its arguments, and what is packed with it.
    pub(crate) fn words(&self) -> (&[OsString], &FilesArgs) {
        (&self.command, &self.files)
    }
}

impl FilesArgs {
    /// Whether the program reads this command's own standard input, which is there only once.
    pub(crate) fn reads_own_input(&self) -> bool {
        self.stdin.as_deref().is_some_and(|stdin| stdin == std::path::Path::new("-"))
    }

    /// What is to be packed for a program and its arguments.
    pub(crate) fn packing<'a>(&'a self, command: &'a [OsString]) -> Packing<'a> {
        Packing {
            command,
            root: self.root.as_deref(),
            files: &self.file,
            env: &self.env,
            stdin: self.stdin.as_deref(),
        }
    }
}

/// What else is measured than the built-in paths: programs of the user's, and windows between two
/// points of the kernel.
#[derive(Debug, Args)]
pub(crate) struct ProbeArgs {
    #[command(flatten)]
    pub(crate) windows: WindowArgs,
    /// Measure the regions of a program too, as paths user.NAME; repeated
    /// (docs/guide/own-programs.md)
    #[arg(long, value_name = "PROGRAM", value_hint = ValueHint::FilePath)]
    pub(crate) probe: Vec<PathBuf>,
}

/// Windows between two points of the kernel.
#[derive(Debug, Args)]
#[allow(clippy::doc_markdown, reason = "help is plain text")]
pub(crate) struct WindowArgs {
    /// Measure what the kernel executes between two points too, as paths PATH/NAME; repeated
    ///
    /// Written NAME=FROM..TO, such as wake=try_to_wake_up..finish_task_switch. A point is FUNCTION,
    /// FUNCTION:return, FUNCTION+0xOFFSET, 0xADDRESS, or `user`, the next instruction of a program;
    /// @CALLER after it says from which function control must come. Conditions follow after commas:
    /// same-task, latest, nth=N, from=user, call, kernel or idle (docs/reference/waits.md).
    #[arg(long, value_name = "NAME=FROM..TO", value_parser = PointWindow::parse)]
    pub(crate) window: Vec<PointWindow>,
}

impl ProbeArgs {
    /// The windows and the programs, as what is measured beside the paths.
    pub(crate) fn additions(&self) -> Additions<'_> {
        Additions { windows: &self.windows.window, programs: &self.probe }
    }

    /// Whether anything is to be measured beside the paths.
    pub(crate) fn has_any(&self) -> bool {
        !self.windows.window.is_empty() || !self.probe.is_empty()
    }
}
