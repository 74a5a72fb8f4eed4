//! Code that moved: which functions are one part. A wrong join is worse than none, so what is below
//! the thresholds here stays apart.

mod holders;
mod inline;
mod rename;
mod strings;

use std::collections::HashSet;

use pathmeter_model::CodeMove;

use crate::{Kernel, field::Field, parts::Parts};

/// Two functions that may be one part.
struct Candidate {
    /// The higher it is, the surer is the match.
    score: f64,
    one: usize,
    other: usize,
    evidence: CodeMove,
}

/// What is known of both kernels.
#[derive(Clone, Copy)]
struct Known<'a> {
    field: &'a Field<'a>,
    kernels: Option<&'a [Kernel<'a>; 2]>,
}

impl Known<'_> {
    /// Whether the other kernel has no function with the name of this one, which only one executes.
    fn absent(self, function: usize) -> Option<bool> {
        let function = &self.field.functions[function];
        let other = usize::from(function.vanished());
        self.kernels.map(|kernels| !kernels[other].names.contains(function.name))
    }

    /// Whether debug information of the other kernel shows the code of `inlined` in this function,
    /// or in one that has both; none if it does not say where the code is.
    fn holds(self, side: usize, function: usize, inlined: usize) -> Option<bool> {
        let kernel = &self.kernels?[1 - side];
        let [name, inlined] = [function, inlined].map(|it| self.field.functions[it].name);
        let holders = kernel.holders.get(inlined)?;
        let with_it = kernel.holders.get(name).filter(|_| !kernel.names.contains(name));
        let both = with_it.is_some_and(|it| !it.is_disjoint(holders));
        Some(both || holders.contains(name))
    }

    /// The names of two functions, from which to which code moved: from the first if `is_from`.
    fn direct(self, functions: [usize; 2], is_from: bool) -> [String; 2] {
        let [one, other] = functions.map(|function| self.name(function));
        if is_from { [one, other] } else { [other, one] }
    }

    fn name(self, function: usize) -> String {
        self.field.functions[function].name.to_owned()
    }
}

/// Makes one part of functions between which code moved: by the surest kind of evidence first.
pub(crate) fn join(field: &Field<'_>, parts: &mut Parts, kernels: Option<&[Kernel<'_>; 2]>) {
    let known = Known { field, kernels };
    let of_kernel = |it: &Candidate| {
        [it.one, it.other].iter().all(|number| !field.functions[*number].is_of_program)
    };
    let mut join_candidates = |candidates: fn(Known<'_>, &Parts) -> Vec<Candidate>| {
        in_rounds(parts, &|parts| candidates(known, parts).into_iter().filter(of_kernel).collect());
    };
    join_candidates(holders::candidates);
    join_candidates(rename::candidates);
    join_candidates(strings::candidates);
    join_candidates(inline::candidates);
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
