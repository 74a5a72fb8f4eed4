//! What the program plugin counted, as the runs of a document: each row with its name.

use pathmeter_model::{ProgramRow, ProgramRun, RowKind};
use pathmeter_trace::{Account, AccountKind, AccountRow, Accounts, KernelPlaces, UNNAMED, VECTOR};

/// The runs, whose steps of the guest's clock the guest itself counted as `clocks`.
///
/// # Errors
/// Why there is no account of a run, or that it is not what the clock says.
pub(crate) fn runs(
    accounts: Accounts,
    clocks: &[u64],
    places: &KernelPlaces,
) -> Result<Vec<ProgramRun>, String> {
    if let Some(fault) = accounts.fault {
        return Err(format!("the plugin's stream can't be read: {fault}"));
    }
    if accounts.runs.len() != clocks.len() {
        let (seen, runs) = (accounts.runs.len(), clocks.len());
        return Err(format!("the plugin saw {seen} runs, the guest {runs}"));
    }
    let runs = accounts.runs.into_iter().zip(clocks).zip(1..);
    runs.map(|((account, clock), number)| {
        let account = account.map_err(|lost| format!("run {number}: {lost}"))?;
        run(&account, *clock, places).map_err(|what| format!("run {number}: {what}"))
    })
    .collect()
}

/// One run: all that it executed must be what the clock says. Only a CPU that waits lets the clock
/// advance by more.
fn run(account: &Account, clock: u64, places: &KernelPlaces) -> Result<ProgramRun, String> {
    let steps: u64 = account.rows.iter().map(|row| row.steps).sum();
    let idle = match clock.checked_sub(steps) {
        Some(0) => 0,
        Some(idle) if account.idled > 0 => idle,
        _ => {
            return Err(format!(
                "{steps} steps were counted, but the guest's clock advanced by {clock}"
            ));
        }
    };
    let mut rows: Vec<ProgramRow> = Vec::new();
    for row in account.rows.iter().map(|row| named(row, places)) {
        match rows.iter_mut().find(|other| (other.kind, &other.name) == (row.kind, &row.name)) {
            Some(other) => join(other, &row),
            None => rows.push(row),
        }
    }
    Ok(ProgramRun::new(clock, idle, rows))
}

/// Adds a row to another of that name.
fn join(to: &mut ProgramRow, more: &ProgramRow) {
    to.calls += more.calls;
    to.instructions += more.instructions;
    to.steps += more.steps;
    to.string_bytes += more.string_bytes;
    to.lines = to.lines.zip(more.lines).map(|(one, other)| one + other);
}

fn named(row: &AccountRow, places: &KernelPlaces) -> ProgramRow {
    let known = || match row.id {
        UNNAMED => "none entered".to_owned(),
        id => places.name(id).map_or_else(|| format!("number {id}"), str::to_owned),
    };
    let (kind, name) = match row.kind {
        AccountKind::User => (RowKind::User, String::new()),
        AccountKind::Syscall => (RowKind::Syscall, known()),
        AccountKind::Syscall32 => (RowKind::Syscall32, known()),
        AccountKind::PageFault => (RowKind::PageFault, fault(row.id)),
        AccountKind::Exception => (RowKind::Exception, known()),
        AccountKind::Interrupt if row.id & VECTOR != 0 => {
            (RowKind::Interrupt, vector(row.id & !VECTOR))
        }
        AccountKind::Interrupt => (RowKind::Interrupt, known()),
        AccountKind::Softirq => (RowKind::Softirq, String::new()),
        AccountKind::NewTask => (RowKind::NewTask, String::new()),
        AccountKind::KernelThread => (RowKind::KernelThread, String::new()),
        AccountKind::Agent => (RowKind::Agent, String::new()),
        AccountKind::Other => (RowKind::Other, String::new()),
    };
    let AccountRow { calls, steps, instructions, string_bytes, .. } = *row;
    ProgramRow { kind, name, calls, instructions, steps, string_bytes, lines: None }
}

/// A page fault by its error code: Intel SDM volume 3, section 4.7.
fn fault(code: u32) -> String {
    if code == UNNAMED {
        return "error code not seen".to_owned();
    }
    let [present, write, user, _, fetch] = [0, 1, 2, 3, 4].map(|bit| code >> bit & 1 == 1);
    let access = match (fetch, write) {
        (true, _) => "execute",
        (_, true) => "write",
        (_, false) => "read",
    };
    let cause = if present { "protected page" } else { "page not present" };
    let from = if user { "" } else { ", from the kernel" };
    format!("{access}, {cause}{from}")
}

/// An interrupt by its vector. The PC's own lines begin at 0x30 (Linux
/// `arch/x86/include/asm/irq_vectors.h`, `ISA_IRQ_VECTOR`).
fn vector(vector: u32) -> String {
    match vector {
        0x30 => "timer".to_owned(),
        0x31..=0x3f => format!("IRQ {}", vector - 0x30),
        _ => format!("vector {vector:#x}"),
    }
}
