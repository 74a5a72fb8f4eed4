//! The verbs of the command: each from its arguments, resolved, to a document that is delivered. A
//! room has the arguments (`args.rs`), what they come to before anything is done (`request.rs`),
//! and the steps (`run.rs`).

pub(crate) mod bisect;
pub(crate) mod compare;
pub(crate) mod doctor;
pub(crate) mod experiment;
pub(crate) mod explain;
pub(crate) mod history;
pub(crate) mod host;
pub(crate) mod list;
pub(crate) mod manual;
pub(crate) mod measure;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod settings;
pub(crate) mod witness;

use clap::Subcommand;

use self::bisect::BisectArgs;
use self::compare::CompareArgs;
use self::doctor::DoctorArgs;
use self::experiment::ExperimentArgs;
use self::explain::ExplainArgs;
use self::history::HistoryArgs;
use self::host::HostArgs;
use self::list::ListArgs;
use self::manual::{CompletionsArgs, ManArgs};
use self::measure::MeasureArgs;
use self::plan::PlanArgs;
use self::report::ReportArgs;
use self::run::RunVerb;
use self::settings::SettingsArgs;
use self::witness::WitnessArgs;
use crate::command_line::given::Given;
use crate::failure::{Exit, Failure};
use crate::screen::output::Screen;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Measure all paths of one kernel
    Measure(MeasureArgs),
    /// Compare two kernels: which paths changed, and by how much
    Compare(CompareArgs),
    /// Run a program of yours: what does a kernel cost it, system call by system call?
    Run(RunVerb),
    /// What each setting of a kernel costs: mitigations, hardening, debugging aids
    Settings(SettingsArgs),
    /// Show which functions a path's instructions, or a difference's, are in
    Explain(ExplainArgs),
    /// Find the first kernel, or commit, in which a path costs something else
    Bisect(BisectArgs),
    /// Write results, comparisons or experiments as one page of HTML that opens offline
    Report(ReportArgs),
    /// Plan many measurements, and run them on however many machines
    Plan(PlanArgs),
    /// Keep results, and show how paths changed over them
    History(HistoryArgs),
    /// Run the classic before-and-after experiments, on the lab kernel
    Experiment(ExperimentArgs),
    /// List what can be measured, a kernel's functions, or the CPUs that a guest can have
    List(ListArgs),
    /// Check the counts of kernels with a second interpreter, Bochs
    Witness(WitnessArgs),
    /// Check what this machine can measure
    Doctor(DoctorArgs),
    /// Take times on this machine, in nanoseconds, and compare them
    Host(HostArgs),
    /// Print the completion script of a shell, for packages
    #[command(hide = true)]
    Completions(CompletionsArgs),
    /// Print the manual page, for packages
    #[command(hide = true)]
    Man(ManArgs),
}

impl Verb {
    /// Does what the verb is asked for.
    pub(crate) fn run(&mut self, given: &Given<'_>, screen: &Screen) -> Result<Exit, Failure> {
        match self {
            Self::Measure(args) => measure::run(args, given, screen),
            Self::Compare(args) => compare::run(args, given, screen),
            Self::Bisect(args) => bisect::run(args, given, screen),
            Self::Explain(args) => explain::run(args, given, screen),
            Self::Report(args) => report::run(args, given, screen),
            Self::Experiment(args) => experiment::run(args, screen),
            Self::Run(verb) => run::run(verb, given, screen),
            Self::Settings(args) => settings::run(args, given, screen),
            Self::Plan(args) => plan::run(args, screen),
            Self::History(args) => history::run(args, given, screen),
            Self::List(args) => list::run(args, given, screen),
            Self::Host(args) => host::run(args, given, screen),
            Self::Witness(args) => witness::run(args, given, screen),
            Self::Doctor(args) => doctor::run(args, screen),
            Self::Completions(args) => manual::completions(args, given.all),
            Self::Man(args) => manual::pages(args, given.all),
        }
    }

    /// How many results were taken from a folder that the user named, in a sentence.
    pub(crate) fn describe_results(&self) -> Option<String> {
        let guest = match self {
            Self::Measure(args) => &args.guest,
            Self::Compare(args) => &args.guest,
            Self::Run(RunVerb::Run(args)) => &args.guest,
            Self::Settings(args) => &args.guest,
            Self::Bisect(args) => &args.guest,
            _ => return None,
        };
        guest.results.as_ref()?.describe_sources()
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};

    use super::*;
    use crate::cli::Cli;
    use crate::command_line::given::{COMMON, Need, Needs, SUBJECTS};

    /// What the verbs' own options need.
    const NEEDS: [(&str, Needs); 7] = [
        ("compare", compare::NEEDS),
        ("bisect", bisect::NEEDS),
        ("explain", explain::NEEDS),
        ("witness", witness::NEEDS),
        ("run", run::NEEDS),
        ("settings", settings::NEEDS),
        ("report", report::NEEDS),
    ];

    /// Whether a verb has an argument or a structure of arguments of this name.
    fn has(verb: &Command, name: &str) -> bool {
        let mut names = verb.get_arguments().map(|one| one.get_id().as_str());
        names.any(|one| one == name) || verb.get_groups().any(|group| group.get_id() == name)
    }

    #[test]
    fn every_name_of_the_tables_is_one_of_its_verb() {
        let command = Cli::command();
        for (verb, needs) in NEEDS {
            let verb = command.find_subcommand(verb).unwrap();
            for (names, need) in needs {
                for name in *names {
                    assert!(has(verb, name), "{} {name}", verb.get_name());
                }
                if let Need::Given(other) = need {
                    assert!(has(verb, other), "{other}");
                }
            }
        }
        let all = || command.get_subcommands();
        for name in COMMON.iter().flat_map(|(names, _)| *names).chain(&SUBJECTS) {
            assert!(all().any(|verb| has(verb, name)), "{name}");
        }
    }
}
