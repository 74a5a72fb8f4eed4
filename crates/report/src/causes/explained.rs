//! The causes of the difference of a program's row: as in a comparison, but of a single row, whose
//! executions are counted.

use pathmeter_model::{Cause, CauseRow, Causes, EXECUTIONS};
use pathmeter_trace::is_of_program;

use super::sentence::name_causes_of_row;
use super::wording::each_execution;
use super::{CauseLine, SHARES, enough, line, rest};
use crate::number::{grouped, signed};
use crate::style::Style;
use crate::table::{Align, Table};

/// Said of functions that are no place in a kernel.
const OF_PROGRAM: &str = "name [file]: a function of the program, whose code is the same for both \
    kernels; each stands for itself";

/// One sentence, the causes that matter, and what is said of the numbers; none without a cause.
pub(crate) fn explained(causes: &Causes, style: Style) -> Option<String> {
    let row = causes.rows.first()?;
    let sentence = name_causes_of_row(causes, row)?;
    let mut table = Table::new(&[
        ("share", Align::Right),
        ("instructions", Align::Right),
        ("each", Align::Right),
        ("kind of work", Align::Left),
        ("functions, other events", Align::Left),
    ])
    .with_whole_remarks();
    let (shown, others) = causes.causes.split_at(enough(causes));
    for cause in shown {
        let CauseLine { share, in_all, each, area, functions, .. } = line(cause);
        let each = each_execution(cause, row).unwrap_or(each);
        table.row([share, in_all, each, area, functions].map(Into::into));
    }
    let notes = rest(others).into_iter().chain(notes(shown, row));
    let notes: String = notes.map(|note| style.quiet(&note)).collect();
    Some(style.fill(&sentence, 0) + "\n\n" + &table.render(style) + &notes)
}

/// What is said of the numbers.
fn notes(shown: &[Cause], row: &CauseRow) -> impl Iterator<Item = String> {
    let sum = format!("{SHARES}; the causes add up to {}", signed(row.recorded));
    let has = |is: fn(&str) -> bool| {
        let parts = shown.iter().flat_map(|cause| &cause.parts);
        parts.flat_map(|part| &part.functions).any(|name| is(name))
    };
    let of_program = has(is_of_program).then(|| OF_PROGRAM.to_owned());
    std::iter::once(sum).chain(row.executions.map(executions)).chain(of_program)
}

fn executions([base, new]: [u64; 2]) -> String {
    if base == new {
        return format!("each: an execution, the mean of {}", grouped(new));
    }
    let [base, of_new] = [base, new].map(grouped);
    format!(
        "each: an execution, the mean of {of_new}. Base has {base}: {EXECUTIONS} is what as many \
         cost on base as new has more or fewer, and the other causes are of {of_new} on both"
    )
}
