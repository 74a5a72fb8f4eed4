//! The arguments of `settings`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueHint};

use super::{DocumentArgs, FormatArgs, GuestArgs, OnlyArg, PackingArgs};
use pathmeter_gate::{EventGate, USUAL};

const SETTINGS_EXAMPLES: &str = "\
Each setting of a set is measured alone and compared with the default: what differs, by how much, \
and in which path most. A file of the user's has the same form as the bundled sets \
(docs/guide/settings.md).

Examples:
  pathmeter settings bzImage --cpu skylake            each mitigation off alone, and all
  pathmeter settings linux-image.deb --set hardening --set debug
  pathmeter settings bzImage --set mine.toml --json
  pathmeter settings bzImage --cpu icelake --cpu zen2 a table of each CPU
  pathmeter settings bzImage --cpu icelake --explain  the functions that the changes are in
  pathmeter settings bzImage --cpu icelake -- ls -R / what each costs this program, too
  pathmeter settings bzImage --set hardening --check --budget budget.toml";

/// Arguments of `settings`.
#[derive(Debug, Args)]
#[command(after_help = SETTINGS_EXAMPLES)]
pub(crate) struct SettingsArgs {
    /// A kernel image
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) kernel: PathBuf,
    /// The settings: mitigations (the default), hardening, debug, scheduling, security, or a FILE
    /// of the same form; repeated
    #[arg(
        long, value_name = "NAME|FILE", default_value = "mitigations",
        value_parser = NonEmptyStringValueParser::new()
    )]
    pub(crate) set: Vec<String>,
    /// Name the function that the largest change of each setting is in, and the causes of all its
    /// changes; takes longer
    #[arg(long)]
    pub(crate) explain: bool,
    /// What is executed under each setting as well.
    #[command(flatten)]
    pub(crate) packing: PackingArgs,
    /// Exit with 1 if a setting makes a path worse than the default [default events:
    /// instructions,string-bytes,slow,data-lines:8]
    ///
    /// EVENTS are what makes it worse, as for `compare --check`. Only the paths that a setting
    /// changes are looked at; settings that this kernel does not know pass.
    #[arg(
        long, value_name = "EVENTS", num_args = 0..=1, require_equals = true,
        default_missing_value = USUAL
    )]
    pub(crate) check: Option<EventGate>,
    /// Hold these paths to the limits of a TOML file, in place of --check's own
    /// (docs/guide/gates.md)
    #[arg(long, value_name = "FILE", requires = "check", value_hint = ValueHint::FilePath)]
    pub(crate) budget: Option<PathBuf>,
    /// Which paths are looked at.
    #[command(flatten)]
    pub(crate) only: OnlyArg,
    /// Name the settings that this guest can't show, and why it can't
    #[arg(long)]
    pub(crate) all: bool,
    /// Where the document goes.
    #[command(flatten)]
    pub(crate) document: DocumentArgs,
    /// Formats for other programs.
    #[command(flatten)]
    pub(crate) formats: FormatArgs,
    /// How guests run.
    #[command(flatten)]
    pub(crate) guest: GuestArgs,
}
