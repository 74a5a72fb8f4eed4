//! Where the instructions of a path, or of the difference between two kernels, are: for a person in
//! a terminal ([`explanation`]), and for other programs (folded stacks, flame graphs, callgrind).
//!
//! Contract: what a limit cuts is summed in a line of its own, so that the numbers shown always add
//! up to the window's total. The same input gives the same bytes.

mod beside;
mod callgrind;
mod census;
mod difference;
mod flame;
mod folded;
mod head;
mod limits;
mod overlay;
mod profile;
mod shape;
mod tree;

use pathmeter_model::clean;
use pathmeter_trace::{Explain, Function, NodeKind, SubjectWindow};

pub use beside::beside_row;
pub use callgrind::callgrind;
use difference::Compared;
pub use flame::{FlameError, flame_graph};
pub use folded::folded_stacks;
pub use limits::{Least, LeastError, Limits};

use crate::causes::explained;
use crate::headline::describe_explanation;
use crate::style::Style;

/// A sentence and what was recorded; then, of one subject, its call tree, its
/// functions and its slow instructions, or, of two, the causes of the difference, the functions
/// that differ, the events that do and their functions, the functions that only moved, where in the
/// call tree the difference is, and what more or less is touched.
pub fn explanation(explain: &Explain, limits: Limits, style: Style) -> String {
    let parts = match (&explain.new, &explain.difference) {
        (Some(new), Some(difference)) => {
            let compared = Compared { base: &explain.base.window, new: &new.window, difference };
            let in_full = explain.base.program.is_none() && new.program.is_none();
            of_two(compared, in_full, limits, style)
        }
        _ => of_one(&explain.base, limits, style),
    };
    let causes = explain.causes.as_ref().and_then(|causes| explained(causes, style));
    let sentence = style.fill(&describe_explanation(explain), 0) + "\n";
    let head = std::iter::once(sentence + &head::head(explain, style));
    head.chain(causes).chain(parts).collect::<Vec<_>>().join("\n")
}

fn of_one(subject: &SubjectWindow, limits: Limits, style: Style) -> Vec<String> {
    let window = &subject.window;
    let first = [
        tree::call_tree_table(window, limits, style),
        profile::profile_table(window, limits, style),
    ];
    let census = subject.program.is_none().then(|| census::census_table(window, style));
    first.into_iter().chain(census).collect()
}

/// Of rows of programs only instructions are counted: `in_full` tells whether all is.
fn of_two(compared: Compared<'_>, in_full: bool, limits: Limits, style: Style) -> Vec<String> {
    let total = compared.base.total.max(compared.new.total);
    let functions = difference::functions_table(compared, limits, style);
    let overlay = overlay::overlay_table(compared.difference, total, limits, style);
    let moved = difference::moved_line(compared, style);
    if !in_full {
        return [functions].into_iter().chain(moved).chain([overlay]).collect();
    }
    let events = difference::events_table(compared, limits, style);
    let touched = difference::footprint_table(compared, limits, style);
    [functions, events].into_iter().chain(moved).chain([overlay, touched]).collect()
}

/// What stands over a picture: the path, or both, and where it was recorded.
fn title(explain: &Explain) -> String {
    let (path, base) = (&explain.path, &explain.base);
    clean(&match &explain.new {
        None => format!("{path} on {}", base.name),
        Some(new) if new.path != base.path => format!("{} → {path} on {}", base.path, new.name),
        Some(new) => format!("{path}: {} → {}", base.name, new.name),
    })
}

/// A function's name, with its module if it has one, as backtraces write it.
fn name_of(function: &Function) -> String {
    match &function.module {
        Some(module) => clean(&format!("{} [{module}]", function.name)),
        None => clean(&function.name),
    }
}

/// How control came to a function, where that is not an ordinary call.
fn remark(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Task | NodeKind::Call | NodeKind::Unattributed => "",
        NodeKind::TailCall => " (tail call)",
        NodeKind::Syscall => " (system call)",
        NodeKind::Interrupt => " (interrupt)",
        NodeKind::Exception => " (exception)",
        NodeKind::Inlined => " (inlined)",
    }
}
