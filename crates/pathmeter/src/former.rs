//! Verbs and options that others took over, that other tools have, or that are another verb's:
//! whoever types one is told which.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};

/// What does the work of a verb of before, or of another tool's.
const FORMER: [(&str, &str); 10] = [
    ("bench", "compare"),
    ("cpu", "list cpus"),
    ("diff", "compare"),
    ("history delete", "history remove"),
    ("history list", "history show"),
    ("history rm", "history remove"),
    ("new-probe", "run --new-probe"),
    ("paths", "list paths"),
    ("symbols", "list functions"),
    ("witness", "doctor --witness"),
];
/// The same of options, with their verbs.
const FORMER_OPTIONS: [(&str, &str, &str); 1] = [("compare", "--options", "--all")];

/// The same answer, or, where it refuses a verb or an option of before, one that names the new
/// form.
pub(crate) fn named(command: &mut Command, answer: Error) -> Error {
    let first = std::env::args().skip(1).find(|word| !word.starts_with('-')).unwrap_or_default();
    let word = |kind| match answer.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    let message = match (answer.kind(), word(ContextKind::InvalidSubcommand)) {
        (_, Some(word)) => {
            let whole = if word == first { first } else { format!("{first} {word}") };
            let former = FORMER.iter().find(|(verb, _)| *verb == whole);
            former.map(|(verb, now)| {
                format!("there is no verb `{verb}`: `pathmeter {now}` does its work")
            })
        }
        (ErrorKind::UnknownArgument, None) => {
            let given = (&*first, word(ContextKind::InvalidArg).unwrap_or_default());
            let mut former = FORMER_OPTIONS.iter();
            former
                .find(|(verb, option, _)| (*verb, *option) == given)
                .map(|(_, option, now)| format!("there is no option {option}: {now} does its work"))
                .or_else(|| of_others(command, given))
        }
        _ => None,
    };
    let kind = answer.kind();
    message.map_or(answer, |message| command.error(kind, message))
}

/// Which verbs have an option that this one has not, if others do.
fn of_others(command: &Command, (verb, option): (&str, &str)) -> Option<String> {
    let is_it = |one: &Arg| one.get_long().is_some_and(|long| option == format!("--{long}"));
    let verbs = command.get_subcommands().filter(|verb| verb.get_arguments().any(is_it));
    let verbs: Vec<&str> = verbs.map(Command::get_name).collect();
    let has = if verbs.len() == 1 { "has it" } else { "have it" };
    (!verbs.is_empty())
        .then(|| format!("{verb} has no option {option}; {} {has}", verbs.join(", ")))
}
