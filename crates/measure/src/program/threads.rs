//! The threads of a run's processes by the order in which each process started them, and what each
//! of them did.

use std::collections::{BTreeMap, HashSet};

use pathmeter_model::{MORE_THREADS, ProcessRun, ProgramRow, ThreadRun};
use pathmeter_trace::{Account, AccountRow, AccountThread, AccountThreads, Owner, ThreadOwner};

use crate::program::processes::{check, include, process_names, unique};

/// Gives the processes of a run their threads, unless these were not told apart. Their rows, made
/// by `named`, must add up to those of their process.
///
/// # Errors
/// They do not.
pub(crate) fn add_threads(
    processes: &mut [ProcessRun],
    account: &Account,
    named: impl Fn(&AccountRow) -> ProgramRow,
) -> Result<(), String> {
    if account.threads.unthreaded.is_some() || account.threads.threads.is_empty() {
        return Ok(());
    }
    let mut of_owner: BTreeMap<ThreadOwner, Vec<ProgramRow>> = BTreeMap::new();
    for (owner, row) in &account.threads.parts {
        include(of_owner.entry(*owner).or_default(), named(row));
    }
    let mut taken: HashSet<String> = processes.iter().map(|it| it.process.clone()).collect();
    for (owner, name) in process_names(&account.processes) {
        let process = processes.iter_mut().find(|process| process.process == name);
        let (Owner::Process(at), Some(process)) = (owner, process) else { continue };
        for (owner, thread, name) in threads_of(at, &name, &account.threads.threads) {
            let rows = of_owner.remove(&owner);
            if rows.is_some() || matches!(owner, ThreadOwner::Thread(_)) {
                let (thread, rows) = (unique(&thread, &mut taken), rows.unwrap_or_default());
                process.by_thread.push(ThreadRun { thread, name, rows });
            }
        }
        let rows = process.by_thread.iter().flat_map(|thread| &thread.rows);
        check(rows, &process.rows, "threads").map_err(|what| format!("{name}: {what}"))?;
    }
    Ok(())
}

/// The threads of the process at this place, in the order in which it started them, and what stands
/// for more of them: whose they are, where they stand, and what the kernel calls them.
fn threads_of(
    at: usize,
    process: &str,
    all: &[AccountThread],
) -> Vec<(ThreadOwner, String, String)> {
    let mut own: Vec<(usize, &AccountThread)> =
        all.iter().enumerate().filter(|(_, thread)| thread.process == at).collect();
    own.sort_by_key(|(place, thread)| (thread.order, *place));
    let told = own.into_iter().zip(1..).map(|((place, thread), number)| {
        (ThreadOwner::Thread(place), format!("{process}:{number}"), clean_name(&thread.name))
    });
    let more = (ThreadOwner::Beyond(at), format!("{process}:{MORE_THREADS}"), String::new());
    told.chain([more]).collect()
}

/// A thread's name without control characters.
fn clean_name(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// What is said of threads that were not told apart, in one run.
pub(crate) fn note(known: &AccountThreads) -> Option<String> {
    if let Some(why) = known.unthreaded {
        return Some(format!("threads were not told apart: {why}"));
    }
    (known.beyond > 0).then(|| {
        format!(
            "{} of its threads are entries {MORE_THREADS} of their processes: 192 are told apart \
             beside the first ones",
            known.beyond
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(process: usize, order: u64, name: &str) -> AccountThread {
        AccountThread { process, order, name: name.to_owned() }
    }

    #[test]
    fn a_thread_is_one_by_the_order_in_which_its_process_started_it() {
        let all =
            [thread(0, 0, "sh"), thread(1, 0, "a"), thread(1, 9, "x"), thread(1, 4, "\u{1b}")];
        let names = |at, process| -> Vec<(String, String)> {
            let found = threads_of(at, process, &all).into_iter();
            found.map(|(_, thread, name)| (thread, name)).collect()
        };
        let expected = |all: &[(&str, &str)]| -> Vec<(String, String)> {
            all.iter().map(|(thread, name)| ((*thread).into(), (*name).into())).collect()
        };
        assert_eq!(names(0, "sh"), expected(&[("sh:1", "sh"), ("sh:(more threads)", "")]));
        let of_a = [("sh/a:1", "a"), ("sh/a:2", "?"), ("sh/a:3", "x"), ("sh/a:(more threads)", "")];
        assert_eq!(names(1, "sh/a"), expected(&of_a));
        assert_eq!(threads_of(1, "sh/a", &all)[1].0, ThreadOwner::Thread(3));
    }

    #[test]
    fn what_is_not_told_apart_is_said() {
        assert_eq!(note(&AccountThreads::default()), None);
        let many = note(&AccountThreads { beyond: 7, ..Default::default() }).unwrap();
        assert!(many.starts_with("7 of its threads are entries (more threads)"), "{many}");
        let unthreaded = Some(pathmeter_trace::Unthreaded::Rows);
        let none = note(&AccountThreads { unthreaded, ..Default::default() }).unwrap();
        assert!(none.starts_with("threads were not told apart: they have more than"), "{none}");
    }
}
