//! The command line of `run`: a program is run, or one to begin from is written.

use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Id};

use super::args::RunArgs;
use super::probe_name::probe_name;

/// What `run` is asked for.
#[derive(Debug)]
pub(crate) enum RunVerb {
    Run(Box<RunArgs>),
    /// To write a probe of this name.
    NewProbe(String),
}

/// The argument that stands for all others of `run`.
#[derive(Debug, Args)]
struct NewProbeArgs {
    /// Run nothing; instead write a small program, as a start for one of your own, into the new
    /// folder NAME
    ///
    /// The folder has the program in C with one region, pathmeter.h to mark regions, a Makefile and
    /// a README. It works as it is; docs/tutorial/probes.md goes on from there. NAME is also that
    /// of the program and of its region: up to 63 of the characters A-Z a-z 0-9 . _ + -, beginning
    /// with a letter or a digit.
    #[arg(long, value_name = "NAME", value_parser = probe_name)]
    new_probe: Option<String>,
}

impl FromArgMatches for RunVerb {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        match NewProbeArgs::from_arg_matches(matches)?.new_probe {
            Some(name) => Ok(Self::NewProbe(name)),
            None => RunArgs::from_arg_matches(matches).map(|args| Self::Run(Box::new(args))),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for RunVerb {
    fn augment_args(command: Command) -> Command {
        let command = RunArgs::augment_args(command);
        let of_run: Vec<Id> = command.get_arguments().map(|one| one.get_id().clone()).collect();
        let command = NewProbeArgs::augment_args(command);
        command.mut_arg("new_probe", |one| one.conflicts_with_all(of_run))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
