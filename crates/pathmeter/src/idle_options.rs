//! Options that would change nothing are refused before anything is done: whoever gives one expects
//! an effect of it, and takes what is printed for that.

use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

use crate::failure::Failure;
use crate::results_folder::{count_results, is_results};
use pathmeter_measure::subject;

/// What an option needs, so that it changes something.
#[derive(Clone, Copy)]
enum Need {
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

/// What options need, by their names or by that of the structure whose own fields they are; of
/// these verbs, or of every verb. The first line counts.
const NEEDS: &[(&[&str], &[&str], Need)] = &[
    (&["compare"], &["explain"], Need::Kernels),
    (&["compare"], &["full", "by_area", "VmlinuxArgs"], Need::Given("explain")),
    (&["bisect"], &["image", "build_timeout"], Need::Given("good")),
    (&["bisect"], &["FilesArgs"], Need::Given("program")),
    (&["explain"], &["vmlinux", "new_vmlinux"], Need::Kernel),
    (&["explain"], &["callers", "exit_code", "region_function"], Need::Program),
    (&["witness"], &["perturb"], Need::Program),
    (&["run"], &["against"], Need::Program),
    (&["run"], &["by_area", "threshold"], Need::Sides),
    (&["run", "report"], &["across"], Need::Sides),
    (&["run", "explain", "settings", "witness"], &["FilesArgs"], Need::Program),
    (&["run", "explain", "settings", "witness"], &["command"], Need::Kernel),
    (
        &["run"],
        &[
            "benchmarks",
            "only_benchmark",
            "iterations",
            "region_function",
            "slope",
            "exit_code",
            "explain",
            "lines",
            "returns",
        ],
        Need::Kernel,
    ),
    (&["report"], &["no_explain"], Need::Kernel),
    (&["bisect"], &["program"], Need::Kernel),
    (&[], &["GuestArgs", "ProbeArgs", "ResultsArg", "window"], Need::Kernel),
    (&[], &["accept_edited"], Need::Document),
];

/// The arguments that name subjects; a verb without any has no idle option.
const SUBJECTS: [&str; 7] = ["subject", "base", "new", "kernels", "kernel", "subjects", "times"];

/// A verb with what was given to it.
struct Given<'a> {
    verb: String,
    command: &'a Command,
    matches: &'a ArgMatches,
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
        return Err(subject::refused_host().into());
    }
    let named = given.command.get_arguments().filter(|one| given.has(one.get_id().as_str()));
    for argument in named {
        let Some(need) = given.need(argument.get_id().as_str()) else { continue };
        if let Some((why, help)) = given.why_not(need) {
            let option = argument.get_long().map(|long| format!("--{long}"));
            let option = option.unwrap_or_else(|| value_name(argument));
            let message = format!("{option} would change nothing: {why}");
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
        let ids = command.get_positionals().map(|one| one.get_id().as_str());
        let ids: Vec<&str> = ids.filter(|id| SUBJECTS.contains(id)).collect();
        if ids.is_empty() {
            return None;
        }
        let subjects = ids.iter().filter_map(|id| matches.get_many::<PathBuf>(id));
        let subjects: Vec<&Path> = subjects.flatten().map(PathBuf::as_path).collect();
        let is_document = |path: &&Path| subject::is_document_file(path) || is_results(path);
        let documents = subjects.iter().copied().filter(is_document).collect();
        Some(Self { verb: above.to_owned(), command, matches, documents, subjects })
    }

    /// What an option of the verb needs; None if it always changes something.
    fn need(&self, option: &str) -> Option<Need> {
        let groups = self.command.get_groups();
        let groups = groups.filter(|group| group.get_args().any(|id| id == option));
        let names: Vec<&str> = groups.map(|it| it.get_id().as_str()).chain([option]).collect();
        let is_it = |(verbs, options, _): &&(&[&str], &[&str], Need)| {
            (verbs.is_empty() || verbs.contains(&&*self.verb))
                && names.iter().any(|name| options.contains(name))
        };
        NEEDS.iter().find(is_it).map(|(.., need)| *need)
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
        let two_programs = self.verb == "run" && self.has("against");
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    /// Whether a verb has an argument or a structure of arguments of this name.
    fn has(verb: &Command, name: &str) -> bool {
        let mut names = verb.get_arguments().map(|one| one.get_id().as_str());
        names.any(|one| one == name) || verb.get_groups().any(|group| group.get_id() == name)
    }

    #[test]
    fn every_name_of_the_table_is_one_of_its_verbs() {
        let command = Cli::command();
        for (verbs, names, need) in NEEDS {
            let of: Vec<&Command> = command.get_subcommands().collect();
            let of = of.into_iter().filter(|it| verbs.is_empty() || verbs.contains(&it.get_name()));
            let of: Vec<&Command> = of.collect();
            assert!(of.len() >= verbs.len().max(1), "{verbs:?}");
            for name in *names {
                assert!(of.iter().any(|verb| has(verb, name)), "{verbs:?} {name}");
                let all = of.iter().all(|verb| has(verb, name));
                assert!(all || verbs.len() != 1, "{verbs:?} {name}");
            }
            if let Need::Given(other) = need {
                assert!(of.iter().all(|verb| has(verb, other)), "{other}");
            }
        }
        for subject in SUBJECTS {
            let mut verbs = command.get_subcommands().flat_map(Command::get_positionals);
            assert!(verbs.any(|one| one.get_id() == subject), "{subject}");
        }
    }
}
