//! Code that moved: which functions are one part. A wrong join is worse than none, so what is below
//! the thresholds here stays apart.

mod inline;
mod rename;
mod strings;

use std::collections::HashSet;

use pathmeter_model::CodeMove;

use crate::{SymbolNames, field::Field, parts::Parts};

/// Two functions that may be one part.
struct Candidate {
    /// Higher is surer.
    score: f64,
    one: usize,
    other: usize,
    evidence: CodeMove,
}

/// What is known of both kernels.
#[derive(Clone, Copy)]
struct Known<'a> {
    field: &'a Field<'a>,
    symbols: Option<&'a SymbolNames<'a>>,
}

impl Known<'_> {
    /// Whether the other kernel has no function with the name of this one, which only one executes.
    fn absent(self, function: usize) -> Option<bool> {
        let function = &self.field.functions[function];
        let other = usize::from(function.vanished());
        self.symbols.map(|tables| !tables[other].contains(function.name))
    }

    fn name(self, function: usize) -> String {
        self.field.functions[function].name.to_owned()
    }
}

/// Makes one part of functions between which code moved: by the surest kind of evidence first.
pub(crate) fn join(field: &Field<'_>, parts: &mut Parts, symbols: Option<&SymbolNames<'_>>) {
    let known = Known { field, symbols };
    in_rounds(parts, &|parts| rename::candidates(known, parts));
    in_rounds(parts, &|parts| strings::candidates(known, parts));
    in_rounds(parts, &|parts| inline::candidates(known, parts));
    rename::doubt(known, parts);
}

/// Joins the surest first. A part that has just grown is looked at again in the next round.
fn in_rounds(parts: &mut Parts, find: &dyn Fn(&Parts) -> Vec<Candidate>) {
    loop {
        let mut candidates = find(parts);
        candidates.sort_by(|one, other| {
            let names = |it: &Candidate| (it.evidence.from.clone(), it.evidence.to.clone());
            other.score.total_cmp(&one.score).then_with(|| names(one).cmp(&names(other)))
        });
        let mut grown = HashSet::new();
        for Candidate { one, other, evidence, .. } in candidates {
            let numbers = [parts.number(one), parts.number(other)];
            if numbers.iter().all(|number| !grown.contains(number)) {
                grown.extend(numbers);
                parts.join(one, other, evidence);
            }
        }
        if grown.is_empty() {
            return;
        }
    }
}
