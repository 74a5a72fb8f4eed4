//! What was given on the command line. Options that would change nothing are refused before
//! anything is done: whoever gives one expects an effect of it, and takes what is printed for that.

use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

use crate::failure::Failure;
use crate::results_folder::{count_results, is_results};
use pathmeter_measure::subject;

/// What an option needs, so that it changes something.
#[derive(Clone, Copy)]
pub(crate) enum Need {
    /// A subject that is a kernel: it is about guests, and results need none.
    Kernel,
    /// Kernels only: it is about what results don't hold.
    Kernels,
    /// A subject that is a document, or another document: it is about what documents say.
    Document,
    /// Two subjects, or one on two CPUs, under two conditions or with two programs.
    Sides,
    /// A program of the user's.
    Program,
    /// Another option. Where clap would let it pass, since that option conflicts with one that is
    /// given, this says so.
    Given(&'static str),
}

/// What options need, by their names or by that of the structure whose own fields they are. The
/// first line counts.
pub(crate) type Needs = &'static [(&'static [&'static str], Need)];

/// What options that many verbs have need, after those of the verb itself.
pub(crate) const COMMON: Needs = &[
    (&["GuestArgs", "ProbeArgs", "ResultsArg", "window"], Need::Kernel),
    (&["accept_edited"], Need::Document),
];

/// The arguments that name subjects; a verb without any has no idle option.
pub(crate) const SUBJECTS: [&str; 7] =
    ["subject", "base", "new", "kernels", "kernel", "subjects", "times"];

/// A verb with what was given to it.
pub(crate) struct Given<'a> {
    /// The definition of all verbs, from which nothing was parsed yet.
    pub(crate) all: &'a Command,
    command: &'a Command,
    matches: &'a ArgMatches,
    /// Those of the subjects that are documents, and so nothing to run.
    documents: Vec<&'a Path>,
    subjects: Vec<&'a Path>,
}

fn value_name(argument: &clap::Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    names.first().map_or_else(|| argument.get_id().to_string(), ToString::to_string)
}

impl<'a> Given<'a> {
    /// What was given, as `matches`, to one of the verbs of `command`; `all` is its definition.
    pub(crate) fn new(all: &'a Command, command: &'a Command, matches: &'a ArgMatches) -> Self {
        let (mut command, mut matches) = (command, matches);
        while let Some((name, inner)) = matches.subcommand()
            && let Some(verb) = command.find_subcommand(name)
        {
            (command, matches) = (verb, inner);
        }
        let ids = command.get_positionals().map(|one| one.get_id().as_str());
        let ids = ids.filter(|id| SUBJECTS.contains(id));
        let subjects = ids.filter_map(|id| matches.get_many::<PathBuf>(id));
        let subjects: Vec<&Path> = subjects.flatten().map(PathBuf::as_path).collect();
        let is_document = |path: &&Path| subject::is_document_file(path) || is_results(path);
        let documents = subjects.iter().copied().filter(is_document).collect();
        Self { all, command, matches, documents, subjects }
    }

    /// Refuses the first option on the command line that would change nothing; `needs` are those of
    /// the verb's own options.
    ///
    /// # Errors
    /// There is one; with the reason. Or a subject is this machine, which only `host` measures.
    pub(crate) fn refuse_idle(&self, needs: Needs) -> Result<(), Failure> {
        let mut positionals = self.command.get_positionals();
        if !positionals.any(|one| SUBJECTS.contains(&one.get_id().as_str())) {
            return Ok(());
        }
        if self.subjects.iter().any(|path| subject::is_host(path)) {
            return Err(subject::refused_host().into());
        }
        let options = self.command.get_arguments().filter(|one| self.has(one.get_id().as_str()));
        for argument in options {
            let Some(need) = self.need(argument.get_id().as_str(), needs) else { continue };
            if let Some((why, help)) = self.why_not(need) {
                let option = argument.get_long().map(|long| format!("--{long}"));
                let option = option.unwrap_or_else(|| value_name(argument));
                let message = format!("{option} would change nothing: {why}");
                return Err(Failure::Usage { message, help });
            }
        }
        Ok(())
    }

    /// What an option of the verb needs; None if it always changes something.
    fn need(&self, option: &str, needs: Needs) -> Option<Need> {
        let groups = self.command.get_groups();
        let groups = groups.filter(|group| group.get_args().any(|id| id == option));
        let names: Vec<&str> = groups.map(|it| it.get_id().as_str()).chain([option]).collect();
        let mut rows = needs.iter().chain(COMMON);
        let row = rows.find(|(options, _)| names.iter().any(|name| options.contains(name)));
        row.map(|(_, need)| *need)
    }

    /// How many subjects are kernels, or documents that are not of times; a folder of results
    /// stands for all of them.
    fn count_untimed_subjects(&self) -> usize {
        let counted = self.subjects.iter().filter(|path| !subject::is_timed(path));
        counted.map(|path| count_results(path).unwrap_or(1)).sum()
    }

    /// Whether the user gave it.
    fn has(&self, option: &str) -> bool {
        self.matches.value_source(option) == Some(ValueSource::CommandLine)
    }

    /// Whether an option names documents of times.
    fn names_times(&self) -> bool {
        let known = |option: &&&str| self.matches.try_contains_id(option).is_ok();
        ["times", "boots"].iter().filter(known).any(|option| self.has(option))
    }

    /// Whether one kernel is compared with itself.
    fn is_pair(&self) -> bool {
        let is_known = self.matches.try_contains_id("against").is_ok();
        let two_programs = is_known && self.has("against");
        two_programs
            || ["cpu", "under"].iter().any(|option| {
                let known = self.matches.try_contains_id(option).is_ok();
                known && self.matches.get_raw(option).is_some_and(|values| values.count() > 1)
            })
    }

    /// Why an option with this need would change nothing, and what to do; None if it does.
    fn why_not(&self, need: Need) -> Option<(String, String)> {
        let leave = |help: &str| format!("leave it out{help}");
        let (why, help) = match need {
            Need::Kernel
                if !self.documents.is_empty() && self.documents.len() == self.subjects.len() =>
            {
                let why = format!("{}, so nothing is run", are_documents(&self.documents));
                (why, leave(", or name the kernel that is to be run"))
            }
            Need::Kernels => {
                let document = self.documents.first()?.display();
                let why =
                    format!("{document} is a document, which does not hold a kernel to explain");
                (why, leave(", or name the kernel that it was measured of"))
            }
            Need::Document if self.documents.is_empty() && !self.names_times() => {
                ("no document is named".to_owned(), leave(""))
            }
            Need::Sides if self.count_untimed_subjects() < 2 && !self.is_pair() => {
                let why = "there is nothing to compare the only subject with".to_owned();
                (why, leave(", or name a second one"))
            }
            Need::Program if self.matches.get_raw("command").is_none() => {
                let why = "no program is named".to_owned();
                (why, leave(", or name the program after two dashes: -- PROGRAM ARGS"))
            }
            Need::Given(other) if !self.has(other) => {
                (format!("--{other} is not given"), leave(&format!(", or give --{other}")))
            }
            _ => return None,
        };
        Some((why, help))
    }
}

/// `a.json is a document`, `a.json and b.json are documents`.
fn are_documents(documents: &[&Path]) -> String {
    let names: Vec<String> = documents.iter().map(|path| path.display().to_string()).collect();
    match &names[..] {
        [one] => format!("{one} is a document"),
        [first @ .., last] => format!("{} and {last} are documents", first.join(", ")),
        [] => String::new(),
    }
}
