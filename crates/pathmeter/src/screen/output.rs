//! Where text goes: results to stdout or a file, the rest to stderr ([`Screen`]).
//!
//! Contract: a reader that closes its end of stdout has seen enough, which is no error; one that
//! does not read is waited for until a signal comes.

use std::io::ErrorKind;

use serde::Serialize;

use crate::failure::{Exit, Failure};
use crate::screen::destination::Destination;
use crate::screen::terminal;
pub(crate) use crate::screen::terminal::{Screen, print_line};
use pathmeter_gate::Gate;
use pathmeter_measure::interrupt;
use pathmeter_model::is_obeyed;
use pathmeter_plan::FileStep;

/// Reasons that are printed why a check fails.
const MOST_REASONS: usize = 50;

/// Puts the JSON document out, if the user asked for it: to a file or stdout.
pub(crate) fn document<D: Serialize>(
    in_json: bool,
    file: Option<&Destination>,
    document: &D,
) -> Result<(), Failure> {
    match (file, in_json) {
        (Some(file), _) => file.write(&json(document)?),
        (None, true) => print(&json(document)?),
        (None, false) => Ok(()),
    }
}

/// Prints on stdout; that its reader has gone is no error.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Failure> {
    match interrupt::blocking(|| terminal::write(bytes))? {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::File { doing: FileStep::Writing, path: "standard output".into(), error })
        }
        _ => Ok(()),
    }
}

/// Tells what a gate found and what was not compared: the exit code.
pub(crate) fn gate(gate: &Gate, screen: &Screen) -> Exit {
    for path in gate.new_paths() {
        screen.note(&format!("{path} was not compared: BASE has no result for it"));
    }
    fails(&gate.fails());
    match gate.failure().map(|error| screen.report(&error.into())) {
        Some(Exit::Interrupted) => Exit::Interrupted,
        _ if gate.is_worse() => Exit::Worse,
        Some(failure) => failure,
        None => {
            screen.note("--check passes");
            Exit::Done
        }
    }
}

/// Prints why `--check` fails, a line for each thing that does: whatever else is put out, and last
/// of all.
pub(crate) fn fails(why: &[String]) {
    for text in why.iter().take(MOST_REASONS) {
        print_line(&format!("--check fails: {text}"));
    }
    if let Some(more) = why.len().checked_sub(MOST_REASONS).filter(|more| *more > 0) {
        print_line(&format!("--check fails: {more} more"));
    }
}

/// `document` as one line, with its seal.
pub(crate) fn json<D: Serialize>(document: &D) -> Result<Vec<u8>, Failure> {
    let text = pathmeter_seal::to_document(document)
        .map_err(|error| Failure::System { doing: "writing JSON", error: error.into() })?;
    Ok(shown_json((text + "\n").into_bytes()))
}

/// The same document, with what a terminal would obey in it as JSON escapes it.
pub(crate) fn shown_json(document: Vec<u8>) -> Vec<u8> {
    // JSON itself asks for it up to U+001F, and has no more of it outside its texts than these.
    let is_escaped = |c| is_obeyed(c) && !matches!(c, '\n' | '\r' | '\t');
    match str::from_utf8(&document) {
        Ok(text) if text.contains(is_escaped) => {
            let each = text.chars().map(|c| {
                if is_escaped(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() }
            });
            each.collect::<String>().into_bytes()
        }
        _ => document,
    }
}
