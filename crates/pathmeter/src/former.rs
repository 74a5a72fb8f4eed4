//! Verbs and options that others took over, and verbs that other commands have: whoever types one
//! is told which does its work.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

/// What does the work of a verb of before, or of one that people expect.
const FORMER: [(&str, &str); 8] = [
    ("cpu", "list cpus"),
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
        }
        _ => None,
    };
    let kind = answer.kind();
    message.map_or(answer, |message| command.error(kind, message))
}
