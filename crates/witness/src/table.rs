//! The tables of a kernel measured by two interpreters: a row a path, or a run or row of a program.

mod reconciliation;

use pathmeter_model::{RowKind, Verdict, row_name};
use pathmeter_report::{Align, Cell, Style, Table, grouped, of_verdict, signed};
use pathmeter_trace::{FlowDifference, Reconciled};

use reconciliation::explanations;

/// What two interpreters say of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WitnessRow {
    pub(crate) path: String,
    pub(crate) outcome: WitnessOutcome,
    /// Why the two differ, if they do.
    pub(crate) reconciled: Option<Reconciled>,
}

impl WitnessRow {
    /// Whether the two agree, or differ only because the kernel itself decided differently.
    pub(crate) fn agrees(&self) -> bool {
        match &self.outcome {
            WitnessOutcome::Both(counts) => {
                counts.agree() || matches!(self.reconciled, Some(Reconciled::Decided(_)))
            }
            WitnessOutcome::Not(_) => true,
        }
    }
}

/// What came of one path in both interpreters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WitnessOutcome {
    /// Both have windows of it.
    Both(WitnessCounts),
    /// One at least has none, with the reason.
    Not(String),
}

/// The numbers of one path: those of the windows that are compared, the ones most often seen in
/// Bochs that QEMU has seen too; if there are none, the ones most often seen in each; and of a path
/// whose windows differ by the same, the first of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WitnessCounts {
    /// Retired instructions, as counted in QEMU.
    pub(crate) retired: u64,
    /// Bytes of string instructions, from QEMU.
    pub(crate) string_bytes: u64,
    /// How many steps QEMU's clock made.
    pub(crate) clock: u64,
    /// Of these, the steps in which a string instruction only saw that it was done, which Bochs
    /// does not have.
    pub(crate) checks: u64,
    /// Exceptions, which are steps of Bochs' clock only.
    pub(crate) faults: u64,
    /// How many steps Bochs' clock made.
    pub(crate) bochs: u64,
    /// How many windows Bochs has seen.
    pub(crate) windows: usize,
    /// Of these, windows with a number of steps that windows in QEMU have too.
    pub(crate) shared: usize,
    /// Which windows' numbers are shown, of those of QEMU and of Bochs: the first that have them.
    pub(crate) shown: [usize; 2],
    /// Each window in Bochs has so many steps more than it should by the one in QEMU with the same
    /// number. Not 0.
    pub(crate) shift: Option<i64>,
}

impl WitnessCounts {
    /// Steps that Bochs has more than it should.
    pub(crate) fn difference(&self) -> i64 {
        difference(self.clock, self.checks, self.faults, self.bochs)
    }

    /// Whether the two agree: in some window at least.
    pub(crate) fn agree(&self) -> bool {
        self.shared > 0 && self.difference() == 0 && self.shift.is_none()
    }
}

/// Steps that Bochs has more than follows from QEMU's.
fn difference(clock: u64, checks: u64, faults: u64, bochs: u64) -> i64 {
    let expected = i128::from(clock) - i128::from(checks) + i128::from(faults);
    i64::try_from(i128::from(bochs) - expected).unwrap_or(i64::MAX)
}

/// A run of a program in two interpreters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WitnessRun {
    /// Its number, from 1.
    pub(crate) number: u64,
    /// Retired instructions, as counted in QEMU.
    pub(crate) retired: u64,
    /// Bytes of string instructions, from QEMU.
    pub(crate) string_bytes: u64,
    /// How many steps QEMU's clock made.
    pub(crate) clock: u64,
    /// Of these, the steps in which a string instruction only saw that it was done.
    pub(crate) checks: u64,
    /// Exceptions, which are steps of Bochs' clock only.
    pub(crate) faults: u64,
    /// How many steps Bochs' clock made.
    pub(crate) bochs: u64,
}

impl WitnessRun {
    /// Steps that Bochs has more than it should.
    pub(crate) fn difference(&self) -> i64 {
        difference(self.clock, self.checks, self.faults, self.bochs)
    }
}

/// A row for each run of a program, and what the columns are.
pub(crate) fn runs_table(runs: &[WitnessRun], style: Style) -> String {
    let numbers = [
        "run",
        "instructions",
        "string bytes",
        "QEMU",
        "last checks",
        "faults",
        "Bochs",
        "difference",
    ];
    let mut table = Table::new(&numbers.map(|name| (name, Align::Right)));
    for run in runs {
        let verdict = if run.difference() == 0 { Verdict::Same } else { Verdict::Broken };
        table.row([
            grouped(run.number).into(),
            grouped(run.retired).into(),
            grouped(run.string_bytes).into(),
            grouped(run.clock).into(),
            grouped(run.checks).into(),
            grouped(run.faults).into(),
            grouped(run.bochs).into(),
            Cell::painted(&signed(run.difference()), of_verdict(verdict)),
        ]);
    }
    with_legend(table, style)
}

/// A row of a program in two interpreters: its own code, a system call, page faults and so on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WitnessProgramRow {
    pub(crate) kind: RowKind,
    /// Which of that kind; empty where there is but one.
    pub(crate) name: String,
    /// What the row cost in each run.
    pub(crate) runs: Vec<WitnessCost>,
}

/// What one run has of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WitnessCost {
    /// How often it was done, in QEMU and in Bochs.
    pub(crate) calls: [u64; 2],
    /// Steps that follow for Bochs' clock from QEMU's.
    pub(crate) expected: u64,
    /// How many steps Bochs' clock made.
    pub(crate) bochs: u64,
}

impl WitnessCost {
    fn is_equal(&self) -> bool {
        self.calls[0] == self.calls[1] && self.expected == self.bochs
    }
}

/// The first run, row by row, in how many runs each is equal, and how many are equal in each run.
pub(crate) fn rows_table(rows: &[WitnessProgramRow], style: Style) -> String {
    let mut table = Table::new(&[
        ("run 1", Align::Left),
        ("calls", Align::Right),
        ("from QEMU", Align::Right),
        ("Bochs", Align::Right),
        ("difference", Align::Right),
        ("equal in", Align::Right),
    ]);
    for row in rows {
        table.row(program_cells(row));
    }
    let runs = rows.first().map_or(0, |row| row.runs.len());
    let equal = |run: usize| {
        let there = |row: &&WitnessProgramRow| row.runs[run] != WitnessCost::default();
        let all = rows.iter().filter(there).count();
        let same = rows.iter().filter(there).filter(|row| row.runs[run].is_equal()).count();
        format!("{same} of {all}")
    };
    let equal: Vec<String> = (0..runs).map(equal).collect();
    let legend = format!(
        "From QEMU: its clock - last checks + faults. Equal: as many calls and as many steps. Rows \
         that are equal, run by run: {}.",
        equal.join(", ")
    );
    table.render(style) + "\n" + &style.quiet(&legend)
}

fn program_cells(row: &WitnessProgramRow) -> [Cell; 6] {
    let first = row.runs.first().copied().unwrap_or_default();
    let difference = i128::from(first.bochs) - i128::from(first.expected);
    let verdict = if first.is_equal() { Verdict::Same } else { Verdict::Broken };
    let calls = match first.calls {
        [0, 0] => String::new(),
        [one, other] if one == other => grouped(one),
        [one, other] => format!("{}, {}", grouped(one), grouped(other)),
    };
    let equal = row.runs.iter().filter(|run| run.is_equal()).count();
    [
        row_name(row.kind, &row.name).into(),
        calls.into(),
        grouped(first.expected).into(),
        grouped(first.bochs).into(),
        Cell::painted(&signed(i64::try_from(difference).unwrap_or(i64::MAX)), of_verdict(verdict)),
        format!("{equal} of {}", row.runs.len()).into(),
    ]
}

/// A row for each path, and what the columns are.
pub(crate) fn paths_table(rows: &[WitnessRow], style: Style) -> String {
    let mut table = Table::new(&[
        ("path", Align::Left),
        ("instructions", Align::Right),
        ("string bytes", Align::Right),
        ("QEMU", Align::Right),
        ("last checks", Align::Right),
        ("faults", Align::Right),
        ("Bochs", Align::Right),
        ("difference", Align::Right),
        ("windows alike", Align::Right),
        ("", Align::Left),
    ])
    .with_remarks();
    for row in rows {
        table.row(cells(row));
    }
    with_legend(table, style) + &explanations(rows, style)
}

fn with_legend(table: Table, style: Style) -> String {
    let legend = "QEMU and Bochs: steps of each interpreter's clock, one for each instruction, and \
                  for each iteration of a string instruction. Last checks: the steps in which one \
                  only saw that it was done, which QEMU has and Bochs has not. Faults: \
                  instructions begun and not executed, which Bochs counts and QEMU does not. The \
                  difference is Bochs - (QEMU - last checks + faults).";
    table.render(style) + "\n" + &style.quiet(legend)
}

/// Nothing if the two agree.
fn remark(row: &WitnessRow, counts: &WitnessCounts) -> String {
    if counts.agree() {
        return String::new();
    }
    let first = |difference: &FlowDifference| {
        difference.divergences.first().map_or_else(String::new, |one| one.place.clone())
    };
    match &row.reconciled {
        Some(Reconciled::Decided(difference)) => format!("explained: {}", first(difference)),
        Some(Reconciled::Diverged(difference)) => format!("differs: {}", first(difference)),
        Some(Reconciled::Miscounted { .. }) => "counted wrongly".to_owned(),
        Some(Reconciled::Incomplete(_)) | None => "not explained".to_owned(),
    }
}

fn cells(row: &WitnessRow) -> [Cell; 10] {
    let path = row.path.as_str();
    match &row.outcome {
        WitnessOutcome::Not(reason) => {
            let mut cells = [(); 10].map(|()| Cell::from(""));
            cells[0] = path.into();
            cells[9] = reason.as_str().into();
            cells
        }
        WitnessOutcome::Both(counts) => {
            let some = |number: u64| if number > 0 { grouped(number) } else { String::new() };
            let paint = of_verdict(match (counts.agree(), row.agrees()) {
                (true, _) => Verdict::Same,
                (false, true) => Verdict::EventsDiffer,
                (false, false) => Verdict::Broken,
            });
            [
                path.into(),
                grouped(counts.retired).into(),
                some(counts.string_bytes).into(),
                grouped(counts.clock).into(),
                some(counts.checks).into(),
                some(counts.faults).into(),
                grouped(counts.bochs).into(),
                Cell::painted(&signed(counts.difference()), paint),
                format!("{} of {}", counts.shared, counts.windows).into(),
                Cell::painted(&remark(row, counts), paint),
            ]
        }
    }
}

#[cfg(test)]
mod tests;
