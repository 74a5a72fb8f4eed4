//! The arguments that are about gates and formats for CI.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueHint};
use pathmeter_measure::failure::{Exit, Failure};
use pathmeter_report::Format;

/// Limits, and formats for other programs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Gates and CI")]
pub(crate) struct FormatArgs {
    /// Hold paths to the limits of a TOML file, in place of --check's own (docs/guide/gates.md)
    ///
    /// What no rule of it is about is judged as --check judges it.
    #[arg(long, value_name = "FILE", requires = "check", value_hint = ValueHint::FilePath)]
    pub(crate) budget: Option<PathBuf>,
    /// Print this instead of the table: text, markdown, junit, ktap, csv, openmetrics,
    /// github-action-benchmark or bencher
    #[arg(long, value_name = "FORMAT", conflicts_with = "json")]
    pub(crate) format: Option<Format>,
    /// Write one of these formats to a file as well; repeated
    #[arg(
        long, value_name = "FORMAT=FILE",
        value_parser = OsStringValueParser::new().try_map(|word| written(&word))
    )]
    pub(crate) write: Vec<Written>,
    /// For `git bisect run`: exit with 125, which skips the commit, in place of 3, and with 128,
    /// which ends the bisection, in place of 2
    #[arg(long, requires = "check")]
    pub(crate) bisect: bool,
}

/// A format, and where it goes.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) format: Format,
    pub(crate) file: PathBuf,
}

impl FormatArgs {
    /// The exit code of a verb that ended so, which `git bisect run` wants its own of.
    pub(crate) fn exit(
        &self,
        ended: Result<Exit, Failure>,
        report: impl FnOnce(&Failure) -> Exit,
    ) -> Result<Exit, Failure> {
        if !self.bisect {
            return ended;
        }
        Ok(ended.unwrap_or_else(|failure| report(&failure)).for_git_bisect())
    }

    /// What is written, by the option that names it.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = (&'static str, Option<&Path>)> {
        self.write.iter().map(|written| ("--write", Some(&*written.file)))
    }
}

fn written(word: &OsStr) -> Result<Written, String> {
    let bytes = word.as_bytes();
    let at = bytes.iter().position(|&byte| byte == b'=').ok_or("write it as FORMAT=FILE")?;
    let format = String::from_utf8_lossy(&bytes[..at]).parse()?;
    let file = Path::new(OsStr::from_bytes(&bytes[at + 1..])).to_owned();
    if file.as_os_str().is_empty() {
        return Err("write it as FORMAT=FILE".to_owned());
    }
    Ok(Written { format, file })
}
