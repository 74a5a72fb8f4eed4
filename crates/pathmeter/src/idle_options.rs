//! Options that would change nothing are refused before anything is done: whoever gives one expects
//! an effect of it, and takes what is printed for that.

use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

use crate::cli::{Need, VerbNeeds};
use crate::results_folder::{count_results, is_results};
use pathmeter_measure::failure::Failure;
use pathmeter_measure::subject;

/// A verb with what was given to it.
struct Given<'a> {
    command: &'a Command,
    matches: &'a ArgMatches,
    needs: &'static VerbNeeds,
    /// Those of the subjects that are documents, and so nothing to run.
    documents: Vec<&'a Path>,
    subjects: Vec<&'a Path>,
}

/// Refuses the first option on the command line that would change nothing.
///
/// # Errors
/// There is one; with the reason.
pub(crate) fn refuse(command: &Command, matches: &ArgMatches) -> Result<(), Failure> {
    let Some(given) = Given::new(command, matches, "") else { return Ok(()) };
    if given.subjects.iter().any(|path| subject::is_host(path)) {
        return Err(subject::refused_host());
    }
    let named = given.command.get_arguments().filter(|one| given.has(one.get_id().as_str()));
    for argument in named {
        let Some(need) = given.needs.need(argument.get_id().as_str()) else { continue };
        if let Some((why, help)) = given.why_not(need) {
            let option = argument.get_long().map(|long| format!("--{long}"));
            let option = option.unwrap_or_else(|| value_name(argument));
            let message = match need {
                Need::Never(_) => format!("{option} can't be chosen here: {why}"),
                _ => format!("{option} would change nothing: {why}"),
            };
            return Err(Failure::Usage { message, help });
        }
    }
    Ok(())
}

fn value_name(argument: &clap::Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    names.first().map_or_else(|| argument.get_id().to_string(), ToString::to_string)
}

impl<'a> Given<'a> {
    /// What was given to the verb at the end of `matches`; none for one without options.
    fn new(command: &'a Command, matches: &'a ArgMatches, above: &str) -> Option<Self> {
        if let Some((name, matches)) = matches.subcommand() {
            let verb = format!("{above} {name}").trim_start().to_owned();
            return Self::new(command.find_subcommand(name)?, matches, &verb);
        }
        let needs = VerbNeeds::of(above)?;
        let subjects = needs.subjects.iter().filter_map(|id| matches.get_many::<PathBuf>(id));
        let subjects: Vec<&Path> = subjects.flatten().map(PathBuf::as_path).collect();
        let is_document = |path: &&Path| subject::is_document_file(path) || is_results(path);
        let documents = subjects.iter().copied().filter(is_document).collect();
        Some(Self { command, matches, needs, documents, subjects })
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
        let two_programs = self.needs.verb == "run" && self.has("against");
        two_programs
            || ["cpu", "under"].iter().any(|option| {
                let known = self.matches.try_contains_id(option).is_ok();
                known && self.matches.get_raw(option).is_some_and(|values| values.count() > 1)
            })
    }

    /// Why an option with this need would change nothing, and what to do; None if it does.
    fn why_not(&self, need: Need) -> Option<(String, String)> {
        let leave = |help: &str| format!("leave it out{help}");
        let long = |id: &str| format!("--{}", id.replace('_', "-"));
        let (why, help) = match need {
            Need::Kernel
                if !self.documents.is_empty() && self.documents.len() == self.subjects.len() =>
            {
                let why = format!("{}, so nothing is run", are_documents(&self.documents));
                (why, leave(", or name the kernel that is to be run"))
            }
            Need::Kernels(lacks) => {
                let document = self.documents.first()?;
                let why = format!("{} is a document, which {lacks}", document.display());
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
                let other = self.positional(other).unwrap_or_else(|| long(other));
                (format!("{other} is not given"), leave(&format!(", or give {other}")))
            }
            Need::Without(other) if self.has(other) => {
                (format!("{} is given", long(other)), leave(&format!(", or {}", long(other))))
            }
            Need::Never(why) => (why.to_owned(), leave("")),
            _ => return None,
        };
        Some((why, help))
    }

    /// What an argument without a name of its own is called.
    fn positional(&self, id: &str) -> Option<String> {
        let argument = self.command.get_arguments().find(|one| one.get_id() == id)?;
        argument.is_positional().then(|| value_name(argument))
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
