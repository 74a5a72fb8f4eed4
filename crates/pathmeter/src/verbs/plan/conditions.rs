//! The conditions of a plan: those that are wanted, and under each of them what `settings` measures
//! of the sets that are.

use pathmeter_plan::{Placed, Wanted};

use super::bench::Bench;
use crate::failure::Failure;
use crate::verbs::settings::Set;

/// The conditions of cells, each as `--under` takes it, with one space between settings; None is
/// the default. One may occur twice.
///
/// # Errors
/// One can't be, with the line that wants it.
pub(super) fn conditions(
    bench: &Bench,
    wanted: &Wanted,
) -> Result<Vec<Option<String>>, (usize, Failure)> {
    let named = wanted.under.iter().map(|under| parse_condition_name(bench, under));
    let mut named: Vec<Option<String>> = named.collect::<Result<_, _>>()?;
    if named.is_empty() {
        named.push(None);
    }
    let settings = settings(&wanted.sets)?;
    let mut conditions = Vec::new();
    for under in named {
        for (line, text) in &settings {
            let both = under.iter().chain([text]).cloned().collect::<Vec<_>>().join(" ");
            bench.condition(&both).map_err(|failure| (*line, failure))?;
            conditions.push(Some(both));
        }
        conditions.push(under);
    }
    Ok(conditions)
}

/// The name of the condition in a line of the draft; None for the default condition.
fn parse_condition_name(bench: &Bench, under: &Placed) -> Result<Option<String>, (usize, Failure)> {
    let text = under.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let guest = bench.condition(&text).map_err(|failure| (under.line, failure))?;
    let condition = guest.under();
    if condition.is_some_and(|it| it.cpu.is_some()) {
        let (message, help) = ("cpu: in a condition".to_owned(), "name CPUs in `cpus`".to_owned());
        return Err((under.line, Failure::Usage { message, help }));
    }
    let is_default = condition.is_none_or(|it| it.condition.is_default());
    Ok((!is_default).then_some(text))
}

/// What is measured of the sets under each condition, beside the condition itself: settings as they
/// are written, each with the line that names its set.
fn settings(sets: &[Placed]) -> Result<Vec<(usize, String)>, (usize, Failure)> {
    let mut settings = Vec::new();
    for Placed { text: name, line } in sets {
        let set = Set::open(name).map_err(|failure| (*line, failure))?;
        let seen = set.in_order().filter(|entry| entry.unseen.is_none());
        settings.extend(seen.map(|entry| (*line, entry.text.clone())));
    }
    Ok(settings)
}
