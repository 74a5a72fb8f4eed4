//! The arguments of `experiment`.

use clap::Args;

use crate::arguments::{DocumentArgs, FormatArgs, GuestArgs, of_page};

const EXAMPLES: &str = "\
Each experiment is a mailing-list thread on a hidden cost: its symptom, cause, cure and published \
results, and the same mechanism in its old and new forms, measured on the lab kernel.

Examples:
  pathmeter experiment --list
  pathmeter experiment ioperm-2004
  pathmeter experiment                                all, one page each
  pathmeter host experiment vgetcpu-2007              the same question to this machine, in cycles
  pathmeter compare lab:iobitmap=full-copy lab:iobitmap=lazy   the same by hand, all paths
  pathmeter explain switch.yield lab                  the lab kernel's own switch

Exit codes:
  0  all results were as expected
  1  at least one result was not as expected
  3  a subject could not be measured";

#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES, mut_arg("format", of_page), mut_arg("write", of_page),
    mut_arg("list", |arg| arg.conflicts_with_all(MEASURING)),
    mut_arg("json", |arg| arg.help("Print JSON (an array of pathmeter.experiment/1) instead of \
                                    pages: to stdout, or to the FILE of --output"))
)]
pub(crate) struct ExperimentArgs {
    /// The experiment; by default all, one after the other
    pub(crate) name: Option<String>,
    /// Only list the experiments
    #[arg(long)]
    pub(crate) list: bool,
    /// Judge each expectation also under its counter-example, where it must fail
    ///
    /// A counter-example measures other subjects in place of the expectation's own, such as the
    /// kernel before the fix in place of the one after it. An expectation that holds all the same
    /// does not depend on its mechanism, and the exit code is 1.
    #[arg(long, conflicts_with = "list")]
    pub(crate) counter_examples: bool,
    #[command(flatten)]
    pub(crate) document: DocumentArgs,
    #[command(flatten)]
    pub(crate) formats: FormatArgs,
    #[command(flatten)]
    pub(crate) guest: GuestArgs,
}

/// Options of `experiment` that a list has no use for.
const MEASURING: [&str; 14] = [
    "json", "output", "format", "write", "qemu", "cpu", "memory", "append", "under", "module",
    "modules", "perturb", "timeout", "no_cache",
];

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn a_list_of_experiments_takes_nothing_that_measuring_does() {
        let command = Cli::command();
        let experiment = command.find_subcommand("experiment").unwrap();
        let measuring = ["DocumentArgs", "FormatArgs", "GuestArgs"];
        let groups = experiment.get_groups().filter(|it| measuring.contains(&it.get_id().as_str()));
        let mut names: Vec<&str> =
            groups.flat_map(clap::ArgGroup::get_args).map(clap::Id::as_str).collect();
        let mut refused = MEASURING.to_vec();
        names.sort_unstable();
        refused.sort_unstable();
        assert_eq!(names, refused);
    }
}
