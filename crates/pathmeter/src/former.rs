//! Verbs that other verbs took over: whoever types one is told which.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

/// What does the work of a verb of before.
const FORMER: [(&str, &str); 5] = [
    ("cpu", "list cpus"),
    ("new-probe", "run --new-probe"),
    ("paths", "list paths"),
    ("symbols", "list functions"),
    ("witness", "doctor --witness"),
];

/// The same answer, or, where it refuses a verb of before, one that names the new form.
pub(crate) fn named(command: &mut Command, answer: Error) -> Error {
    let Some(ContextValue::String(word)) = answer.get(ContextKind::InvalidSubcommand) else {
        return answer;
    };
    // A verb's own verbs never had these names.
    let first = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let former = FORMER.iter().find(|(verb, _)| verb == word && first.as_deref() == Some(*verb));
    let Some((verb, now)) = former else { return answer };
    let message = format!("there is no verb `{verb}`: `pathmeter {now}` does its work");
    command.error(ErrorKind::InvalidSubcommand, message)
}
