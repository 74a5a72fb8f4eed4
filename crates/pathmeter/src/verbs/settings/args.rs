//! The arguments of `settings`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueHint};

use crate::arguments::{DocumentArgs, FormatArgs, GuestArgs, OnlyArg, PackingArgs, ResultsArg};
use pathmeter_gate::{EventGate, USUAL};
use pathmeter_measure::condition::slope::Slope;

const EXAMPLES: &str = "\
Each setting of a set is measured alone and compared with the default: what it costs, and in which \
path most. A setting that turns something off is shown as the price of that thing. A file of the \
user's has the same form as the bundled sets (docs/guide/settings.md).

Examples:
  pathmeter settings bzImage --cpu skylake            the price of each mitigation, and of all
  pathmeter settings linux-image.deb --set hardening --set debug
  pathmeter compare bzImage --under default --under seccomp:docker
                                                      one setting alone: a container's filter
  pathmeter settings bzImage --set mine.toml --json
  pathmeter settings bzImage --cpu icelake --cpu zen2 a table of each CPU
  pathmeter settings bzImage --cpu icelake --explain  the functions that the changes are in
  pathmeter settings bzImage --cpu icelake -- ls -R / what each costs this program, too
  pathmeter settings bzImage --results results        from the results of a plan with `sets`
  pathmeter settings bzImage --set hardening --check --budget budget.toml
  pathmeter settings bzImage --slope 'landlock:{0,1,2,4,8}'
                                                      what each further layer costs";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
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
    /// One setting with numbers in braces, such as 'landlock:{0,1,2,4}', in place of a set:
    /// measure the cost of each further layer, rule or group on every path, and where it changes
    ///
    /// The numbers ascend, and 0 is the kernel without the setting. The document is
    /// pathmeter.slope/1.
    #[arg(
        long, value_name = "SETTING", value_parser = Slope::parse,
        conflicts_with_all = ["set", "explain", "check", "budget", "format", "write"]
    )]
    pub(crate) slope: Option<Slope>,
    /// Name the function with the largest part of each setting's largest price, and the causes of
    /// all its changes; takes longer
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
    /// Name the settings that this guest can't show, and why it can't; of a slope, show all rows
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) document: DocumentArgs,
    #[command(flatten)]
    pub(crate) formats: FormatArgs,
    #[command(flatten)]
    pub(crate) guest: GuestArgs,
    /// Results that are there already.
    #[command(flatten)]
    pub(crate) results: ResultsArg,
}
