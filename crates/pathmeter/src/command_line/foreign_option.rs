//! Options that are another verb's: whoever types one is told which.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};

/// Replaces an answer that refuses an option of other verbs by one that names these verbs.
pub(crate) fn name_verbs_with(command: &mut Command, answer: Error) -> Error {
    let verb = std::env::args().skip(1).find(|word| !word.starts_with('-')).unwrap_or_default();
    let message = match (answer.kind(), answer.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(option))) => {
            verbs_with(command, &verb, option)
        }
        _ => None,
    };
    let kind = answer.kind();
    message.map_or(answer, |message| command.error(kind, message))
}

/// Which verbs have an option that this one has not, if others do.
fn verbs_with(command: &Command, verb: &str, option: &str) -> Option<String> {
    let is_it = |one: &Arg| one.get_long().is_some_and(|long| option == format!("--{long}"));
    let verbs = command.get_subcommands().filter(|verb| verb.get_arguments().any(is_it));
    let verbs: Vec<&str> = verbs.map(Command::get_name).collect();
    let has = if verbs.len() == 1 { "has it" } else { "have it" };
    (!verbs.is_empty())
        .then(|| format!("{verb} has no option {option}; {} {has}", verbs.join(", ")))
}
