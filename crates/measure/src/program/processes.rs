//! The processes of a run by their place in the tree of processes, and what each of them did.

use std::collections::{BTreeMap, HashSet};

use pathmeter_model::{MORE_PROCESSES, ProcessRun, ProgramRow, UNKNOWN_PROCESSES};
use pathmeter_trace::{AccountProcess, AccountProcesses, Owner};

/// What stands for a program that is not known.
const NAMELESS: &str = "?";

/// The processes of a run, each followed by those that it started; none if they were not told
/// apart. Their rows, made by `named`, must add up to those of `rows`, which the run has.
///
/// # Errors
/// They do not.
pub(crate) fn processes(
    known: &AccountProcesses,
    rows: &[ProgramRow],
    named: impl Fn(&pathmeter_trace::AccountRow) -> ProgramRow,
) -> Result<Vec<ProcessRun>, String> {
    if known.unparted.is_some() || known.processes.is_empty() {
        return Ok(Vec::new());
    }
    let mut of_owner: BTreeMap<Owner, Vec<ProgramRow>> = BTreeMap::new();
    for (owner, row) in &known.parts {
        include(of_owner.entry(*owner).or_default(), named(row));
    }
    check(of_owner.values().flatten(), rows, "processes")?;
    let mut taken = HashSet::new();
    let mut processes = Vec::new();
    tree(&known.processes, &mut taken, &mut |at, process, threads| {
        let rows = of_owner.remove(&Owner::Process(at)).unwrap_or_default();
        processes.push(ProcessRun { process, threads, rows, by_thread: Vec::new() });
    });
    for (owner, name) in [(Owner::Beyond, MORE_PROCESSES), (Owner::Unknown, UNKNOWN_PROCESSES)] {
        let rows = of_owner.remove(&owner);
        let by_thread = Vec::new();
        let process = name.to_owned();
        processes.extend(rows.map(|rows| ProcessRun { process, threads: 0, rows, by_thread }));
    }
    Ok(processes)
}

/// What each process of a run is called, and what stands for those that are none of the run's.
pub(crate) fn process_names(known: &AccountProcesses) -> BTreeMap<Owner, String> {
    let mut names = BTreeMap::from([
        (Owner::Beyond, MORE_PROCESSES.to_owned()),
        (Owner::Unknown, UNKNOWN_PROCESSES.to_owned()),
    ]);
    tree(&known.processes, &mut HashSet::new(), &mut |at, process, _| {
        names.insert(Owner::Process(at), process);
    });
    names
}

/// Adds a row to that of its kind and name.
pub(crate) fn include(rows: &mut Vec<ProgramRow>, more: ProgramRow) {
    let known = rows.iter_mut().find(|row| (row.kind, &row.name) == (more.kind, &more.name));
    let Some(row) = known else { return rows.push(more) };
    row.calls += more.calls;
    row.instructions += more.instructions;
    row.steps += more.steps;
    for (event, number) in more.events {
        *row.events.entry(event).or_default() += number;
    }
}

/// Whether each row of own work is what the parts of its name add up to, which `whose` have.
pub(crate) fn check<'a>(
    parts: impl Iterator<Item = &'a ProgramRow>,
    rows: &[ProgramRow],
    whose: &str,
) -> Result<(), String> {
    let mut sums: Vec<ProgramRow> = Vec::new();
    parts.for_each(|part| include(&mut sums, part.clone()));
    let own: Vec<&ProgramRow> = rows.iter().filter(|row| row.kind.is_own_work()).collect();
    let missing = own.iter().copied().find(|row| !sums.contains(row));
    match missing.or_else(|| sums.iter().find(|row| !own.contains(row))) {
        Some(ProgramRow { kind, name, .. }) => Err(format!(
            "the {whose}' rows of {} do not add up to it: that is worth a report",
            pathmeter_model::row_name(*kind, name)
        )),
        None => Ok(()),
    }
}

/// Calls `found` for each process with its place among `all`, its name and its threads: each
/// before those that it started, in the order in which it started them.
fn tree(
    all: &[AccountProcess],
    taken: &mut HashSet<String>,
    found: &mut impl FnMut(usize, String, u64),
) {
    let mut left: Vec<(usize, String)> = vec![(0, String::new())];
    while let Some((at, parent)) = left.pop() {
        let Some(process) = all.get(at) else { continue };
        let name = unique(&(parent + &clean_name(&process.name)), taken);
        let mut children: Vec<usize> =
            (0..all.len()).filter(|child| all[*child].parent == Some(at)).collect();
        children.sort_by_key(|child| std::cmp::Reverse((all[*child].order, *child)));
        // Those that are started first are named first, since the last one is taken next.
        left.extend(children.into_iter().map(|child| (child, format!("{name}/"))));
        found(at, name, process.tasks);
    }
}

/// The name, or with a number the first one of it that is not taken yet, which it takes.
pub(crate) fn unique(name: &str, taken: &mut HashSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}[{number}]"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    let free = names.find(|name| !taken.contains(name)).unwrap_or_default();
    taken.insert(free.clone());
    free
}

/// A program's name without what would be read as something else: the tree's separator, and
/// control characters.
fn clean_name(name: &str) -> String {
    let clean = |c: char| if c == '/' || c.is_control() { '?' } else { c };
    if name.is_empty() { NAMELESS.to_owned() } else { name.chars().map(clean).collect() }
}

/// What is said of processes that were not told apart, in one run.
pub(crate) fn note(known: &AccountProcesses) -> Option<String> {
    let (beyond, unseen) = (known.beyond, known.unseen);
    if let Some(why) = known.unparted {
        return Some(format!("processes were not told apart: {why}"));
    }
    let parts = [
        (
            beyond,
            format!("{beyond} of its processes are one entry, {MORE_PROCESSES}: 64 are told apart"),
        ),
        (
            unseen,
            format!(
                "{unseen} processes were started by the kernel itself, or unseen: they are one \
                 entry, {UNKNOWN_PROCESSES}"
            ),
        ),
    ];
    let parts: Vec<String> =
        parts.into_iter().filter(|(number, _)| *number > 0).map(|(_, text)| text).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

#[cfg(test)]
mod tests {
    use pathmeter_model::RowKind;

    use super::*;

    fn process(parent: Option<usize>, order: u64, name: &str) -> AccountProcess {
        AccountProcess { parent, order, name: name.to_owned(), tasks: 1 }
    }

    fn names(all: &[AccountProcess]) -> Vec<String> {
        let mut names = Vec::new();
        tree(all, &mut HashSet::new(), &mut |_, name, _| names.push(name));
        names
    }

    fn row(kind: RowKind, name: &str, steps: u64) -> ProgramRow {
        let events = BTreeMap::new();
        ProgramRow { kind, name: name.to_owned(), calls: 1, instructions: steps, steps, events }
    }

    #[test]
    fn a_process_is_named_by_those_that_it_descends_from_and_its_order_among_them() {
        let all = [
            process(None, 0, "sh"),
            process(Some(0), 9, "bench"),
            process(Some(0), 4, "bench"),
            process(Some(0), 7, "server"),
            process(Some(2), 8, "sh"),
            process(Some(3), 10, "bench"),
        ];
        let expected =
            ["sh", "sh/bench", "sh/bench/sh", "sh/server", "sh/server/bench", "sh/bench[2]"];
        assert_eq!(names(&all), expected);
    }

    #[test]
    fn names_that_would_be_read_as_others_are_not_theirs() {
        let all = [
            process(None, 0, ""),
            process(Some(0), 1, "a[2]"),
            process(Some(0), 2, "a"),
            process(Some(0), 3, "a"),
            process(Some(0), 4, "x/\u{1b}"),
        ];
        assert_eq!(names(&all), ["?", "?/a[2]", "?/a", "?/a[3]", "?/x??"]);
    }

    #[test]
    fn rows_of_processes_that_do_not_add_up_are_refused() {
        let user = |steps| row(RowKind::User, "", steps);
        let read = row(RowKind::Syscall, "read", 5);
        let tick = row(RowKind::Interrupt, "timer", 9);
        let whole = [user(30), tick, read.clone()];
        let check_sums = |parts: &[ProgramRow], rows: &[ProgramRow]| {
            super::check(parts.iter(), rows, "processes")
        };
        assert_eq!(check_sums(&[user(10), user(20)], &whole[..2]).err(), {
            let text =
                "the processes' rows of user code do not add up to it: that is worth a report";
            Some(text.to_owned())
        });
        let joined = ProgramRow { calls: 2, ..user(30) };
        let whole = [joined, read.clone()];
        assert_eq!(check_sums(&[user(10), read.clone(), user(20)], &whole), Ok(()));
        for wrong in [vec![user(10), user(20)], vec![user(10), user(19), read.clone()]] {
            assert!(check_sums(&wrong, &whole).is_err());
        }
        assert!(check_sums(&[user(10), user(20), read.clone(), read], &whole).is_err());
    }
}
