//! `--only-process`: one process of a program, or those of one name together.

use pathmeter_model::{Measurement, ProcessResult};
use wildmatch::WildMatch;

use crate::failure::Failure;
use crate::meant::meant;

/// Most processes that an error lists.
const MOST_LISTED: usize = 12;

/// The result with the rows of the processes that `name` names in place of the program's: the one
/// with this place in the tree of processes; or else all that execute a program of this name, added
/// up; or else all whose place matches this pattern, in which `*` is any text and `?` any
/// character.
///
/// # Errors
/// The result has no rows of processes, or none of them is named so.
pub fn of_process(result: &Measurement, name: &str) -> Result<Measurement, Failure> {
    let all = result.processes();
    if all.is_empty() {
        return Err(not_apart(result));
    }
    let pattern = WildMatch::new(name);
    let such = |is_such: &dyn Fn(&ProcessResult) -> bool| -> Vec<&ProcessResult> {
        all.iter().filter(|process| is_such(process)).collect()
    };
    let ways: [Vec<&ProcessResult>; 3] = [
        such(&|process| process.process == name),
        such(&|process| process.program() == name),
        such(&|process| pattern.matches(&process.process)),
    ];
    match ways.into_iter().find(|found| !found.is_empty()) {
        Some(found) => Ok(result.of_processes(name, &found)),
        None => Err(unknown(result, name)),
    }
}

fn not_apart(result: &Measurement) -> Failure {
    let why = result.notes.iter().find(|note| note.starts_with("processes were not told apart"));
    let help = why.cloned().unwrap_or_else(|| {
        "leave out --only-process if the program has only one process; measure a result again that \
         an earlier version made"
            .to_owned()
    });
    Failure::Usage {
        message: format!("{} has no rows of single processes", result.subject.name),
        help,
    }
}

fn unknown(result: &Measurement, name: &str) -> Failure {
    let names: Vec<&str> =
        result.processes().iter().map(|process| process.process.as_str()).collect();
    let more = match names.len().saturating_sub(MOST_LISTED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let listed = names.iter().take(MOST_LISTED).copied().collect::<Vec<_>>().join(", ");
    let close = meant(name, &names).escape_debug().to_string();
    Failure::Usage {
        message: format!("no process on {} is named {}", result.subject.name, name.escape_debug()),
        help: format!("{close}its processes are: {}{more}", listed.escape_debug()),
    }
}
