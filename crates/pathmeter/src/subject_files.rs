//! Subjects that go by a name, and folders of results, get their files, before a verb begins.

use std::path::{Path, PathBuf};

use crate::cli::{HistoryVerb, ListWhat, RunVerb, Verb};
use crate::failure::Failure;
use crate::results_folder::{are_results, expanded, take_only_result};
use crate::screen::output::Screen;
use pathmeter_measure::subject::named_kernel::{file, is_named};

/// The file of a kernel, which may go by a name.
///
/// # Errors
/// There is no such kernel.
pub(crate) fn find_kernel(subject: &Path, screen: &Screen) -> Result<PathBuf, Failure> {
    if is_named(subject) {
        return Ok(file(subject, |what| screen.note(what))?);
    }
    Ok(subject.to_owned())
}

/// Puts the files of kernels in the place of their names, and results in that of their folders; two
/// folders that are compared stay.
///
/// # Errors
/// There is no such kernel, or a folder can't be read.
pub(crate) fn find(verb: &mut Verb, screen: &Screen) -> Result<(), Failure> {
    if let Some(several) = several(verb) {
        *several = expanded(several)?;
    }
    if let Verb::Compare(args) = verb
        && args.new.as_ref().is_some_and(|new| are_results(&args.base, new))
    {
        return Ok(());
    }
    for subject in subjects(verb) {
        *subject = take_only_result(&find_kernel(subject, screen)?)?;
    }
    Ok(())
}

/// The list of a verb that takes any number of results.
fn several(verb: &mut Verb) -> Option<&mut Vec<PathBuf>> {
    match verb {
        Verb::Bisect(args) => Some(&mut args.kernels),
        Verb::Report(args) => Some(&mut args.subjects),
        Verb::History(args) => match &mut args.verb {
            HistoryVerb::Add(args) => Some(&mut args.results),
            _ => None,
        },
        _ => None,
    }
}

/// All that a verb takes kernels by.
fn subjects(verb: &mut Verb) -> Vec<&mut PathBuf> {
    match verb {
        Verb::Measure(args) => vec![&mut args.subject],
        Verb::Compare(args) => [&mut args.base].into_iter().chain(&mut args.new).collect(),
        Verb::Run(RunVerb::Run(args)) => {
            [&mut args.base].into_iter().chain(&mut args.new).collect()
        }
        Verb::Settings(args) => vec![&mut args.kernel],
        Verb::Explain(args) => [&mut args.subject].into_iter().chain(&mut args.new).collect(),
        Verb::Bisect(args) => args.kernels.iter_mut().collect(),
        Verb::Report(args) => args.subjects.iter_mut().collect(),
        Verb::History(args) => match &mut args.verb {
            HistoryVerb::Blame(args) => args.kernels.iter_mut().collect(),
            _ => Vec::new(),
        },
        Verb::List(args) => match &mut args.what {
            ListWhat::Functions(args) => vec![&mut args.subject],
            _ => Vec::new(),
        },
        Verb::Witness(args) => args.kernels.iter_mut().collect(),
        Verb::Run(RunVerb::NewProbe(_))
        | Verb::Host(_)
        | Verb::Doctor(_)
        | Verb::Plan(_)
        | Verb::Experiment(_)
        | Verb::Completions(_)
        | Verb::Man(_) => Vec::new(),
    }
}
