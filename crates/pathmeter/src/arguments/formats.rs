//! The arguments that are about gates, and formats for other programs.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args, ValueHint};
use pathmeter_report::{Content, Format};

use crate::failure::{Exit, Failure};
use crate::screen::contents::{Contents, Output};

/// Formats for other programs. Those of rows are offered, unless a verb says otherwise.
#[derive(Debug, Args)]
#[command(next_help_heading = "Gates and CI")]
pub(crate) struct FormatArgs {
    /// Print this instead of the table
    #[arg(
        long, value_name = "FORMAT", conflicts_with = "json",
        value_parser = printed(Content::Rows)
    )]
    pub(crate) format: Option<Format>,
    /// Write one of these formats to a file as well; repeated
    #[arg(long, value_name = "FORMAT=FILE", value_parser = written_parser(Content::Rows))]
    pub(crate) write: Vec<Written>,
}

/// What a gate is held to, and who asks.
#[derive(Debug, Args)]
#[command(next_help_heading = "Gates and CI")]
pub(crate) struct GateArgs {
    /// Apply the limits in a TOML file to paths, in place of --check's own (docs/guide/gates.md)
    ///
    /// Whatever no rule in FILE covers is judged as --check alone would judge it.
    #[arg(long, value_name = "FILE", requires = "check", value_hint = ValueHint::FilePath)]
    pub(crate) budget: Option<PathBuf>,
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

impl GateArgs {
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
}

impl FormatArgs {
    /// What is written, by the option that names it.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = Output<'_>> {
        self.write.iter().map(|written| {
            let (contents, file) = (Contents::Rows(written.format), Some(&*written.file));
            Output { option: "--write", contents, file }
        })
    }

    /// Refuses formats that tell nothing but what a gate finds, where none was asked for.
    pub(crate) fn refuse_without_gate(&self, is_checked: bool) -> Result<(), Failure> {
        let mut asked = self.format.into_iter().chain(self.write.iter().map(|it| it.format));
        let Some(format) = asked.find(|format| format.is_of_gate && !is_checked) else {
            return Ok(());
        };
        let others: Vec<_> = Format::of(Content::Rows).filter(|other| !other.is_of_gate).collect();
        Err(Failure::Usage {
            message: format!(
                "{} tells what passes --check and what does not, and --check is not given",
                format.word
            ),
            help: format!("give --check, or choose one of {}", words(others.into_iter())),
        })
    }
}

/// The argument `--format` or `--write` of a verb whose answer is a page.
pub(crate) fn of_page(argument: Arg) -> Arg {
    match argument.get_id().as_str() {
        "format" => argument.value_parser(printed(Content::Page)),
        _ => argument.value_parser(written_parser(Content::Page)),
    }
}

/// The formats that can hold this, by their words.
fn printed(content: Content) -> impl TypedValueParser<Value = Format> {
    let values = Format::of(content).map(|it| PossibleValue::new(it.word).help(it.about));
    PossibleValuesParser::new(values).try_map(move |word| parse_format(content, &word))
}

fn written_parser(content: Content) -> impl TypedValueParser<Value = Written> {
    OsStringValueParser::new().try_map(move |word| written_so(content, &word))
}

fn parse_format(content: Content, word: &str) -> Result<Format, String> {
    let mut formats = Format::of(content);
    let known = formats.clone().find(|format| format.word == word);
    known.ok_or_else(|| format!("{word} is no format here; there are {}", words(&mut formats)))
}

fn words(formats: impl Iterator<Item = Format>) -> String {
    formats.map(|format| format.word).collect::<Vec<_>>().join(", ")
}

fn written_so(content: Content, word: &OsStr) -> Result<Written, String> {
    let bytes = word.as_bytes();
    let at = bytes.iter().position(|&byte| byte == b'=').ok_or("write it as FORMAT=FILE")?;
    let format = parse_format(content, &String::from_utf8_lossy(&bytes[..at]))?;
    let file = Path::new(OsStr::from_bytes(&bytes[at + 1..])).to_owned();
    if file.as_os_str().is_empty() {
        return Err("write it as FORMAT=FILE".to_owned());
    }
    Ok(Written { format, file })
}
