//! The sleeps of a program's tasks over all runs, with the names of rows, regions and processes.

use std::collections::BTreeMap;

use pathmeter_model::{RowKind, SleepResult, WokenBy};
use pathmeter_trace::{AccountSleep, KernelPlaces, Owner, Waker};

use crate::program::kernel_names::row_name;
use crate::program::processes::process_names;
use crate::program::runs::Slept;

/// Sleeps by where they were, whose, and who ended them.
type Key = (RowKind, String, Option<String>, (Option<String>, String));

/// The sleeps of these runs, by rows and then regions; `names` are those of regions, by number.
/// Processes are named if they are `apart`.
pub(crate) fn sleeps(
    runs: &[Slept],
    names: &[String],
    places: &KernelPlaces,
    apart: bool,
) -> Vec<SleepResult> {
    let mut all: BTreeMap<Key, Vec<Numbers>> = BTreeMap::new();
    for (at, run) in runs.iter().enumerate() {
        let processes = if apart { process_names(&run.processes) } else { BTreeMap::new() };
        let first_wait = first_wait(run);
        for sleep in &run.sleeps.sleeps {
            let key = (
                sleep.kind,
                slept_in(sleep, names, places),
                processes.get(&sleep.owner).cloned(),
                woken_by(sleep.waker, &processes, places),
            );
            let numbers = all.entry(key).or_insert_with(|| vec![Numbers::default(); runs.len()]);
            if let Some(numbers) = numbers.get_mut(at) {
                numbers.include(sleep, first_wait);
            }
        }
    }
    all.into_iter().map(result).collect()
}

/// The numbers of sleeps in one run.
#[derive(Clone)]
struct Numbers {
    sleeps: u64,
    steps: u64,
    idle: Option<u64>,
}

impl Default for Numbers {
    fn default() -> Self {
        Self { sleeps: 0, steps: 0, idle: Some(0) }
    }
}

impl Numbers {
    /// Adds sleeps of a run whose first wait has so many steps, if that is known.
    fn include(&mut self, sleep: &AccountSleep, first_wait: Option<u64>) {
        self.sleeps = self.sleeps.saturating_add(sleep.count);
        self.steps = self.steps.saturating_add(sleep.steps);
        let idle = first_wait.map(|wait| wait.saturating_mul(sleep.first));
        let idle = idle.map(|first| first.saturating_add(sleep.idle));
        self.idle = self.idle.zip(idle).map(|(sum, idle)| sum.saturating_add(idle));
    }
}

/// How long the CPU idled first in a run, by how long it did in all; None if that is unknown.
fn first_wait(Slept { sleeps, idle, .. }: &Slept) -> Option<u64> {
    idle.checked_sub(sleeps.idle).filter(|_| !sleeps.idle_unknown)
}

fn result(((kind, slept_in, process, (by, work)), numbers): (Key, Vec<Numbers>)) -> SleepResult {
    SleepResult {
        kind,
        slept_in,
        process,
        woken_by: WokenBy { process: by, work },
        sleeps: numbers.iter().map(|run| run.sleeps).collect(),
        steps_to_run: numbers.iter().map(|run| run.steps).collect(),
        idle: numbers.iter().map(|run| run.idle).collect(),
    }
}

fn slept_in(sleep: &AccountSleep, names: &[String], places: &KernelPlaces) -> String {
    if sleep.kind != RowKind::Region {
        return pathmeter_model::row_name(sleep.kind, &row_name(sleep.kind, sleep.id, places));
    }
    let name = usize::try_from(sleep.id).ok().and_then(|id| names.get(id));
    format!("user.{}", name.map_or("?", String::as_str))
}

/// The process, if the work is a program's, and the row.
fn woken_by(
    Waker { owner, kind, id }: Waker,
    processes: &BTreeMap<Owner, String>,
    places: &KernelPlaces,
) -> (Option<String>, String) {
    let process = processes.get(&owner).filter(|_| kind.is_own_work());
    (process.cloned(), pathmeter_model::row_name(kind, &row_name(kind, id, places)))
}

/// What is said where nothing is known of sleeps, in the first such run.
pub(crate) fn note(runs: &[Slept]) -> Option<String> {
    let why = runs.iter().find_map(|run| run.sleeps.sleepless)?;
    Some(format!("sleeps are not known in every run: {why}"))
}

#[cfg(test)]
mod tests {
    use pathmeter_trace::{AccountProcess, AccountProcesses, AccountSleeps, Sleepless};

    use super::*;

    const KERNEL: &[u8] = b"\
ffffffff81000000 T __x64_sys_read
ffffffff81000040 T __x64_sys_write
ffffffff81000080 T __do_softirq
ffffffff82000000 T __entry_text_start
ffffffff82000000 T entry_SYSCALL_64
ffffffff82000080 T asm_exc_page_fault
ffffffff82000180 T irq_entries_start
ffffffff82000800 T spurious_entries_start
ffffffff82000880 T __switch_to_asm
ffffffff820008c0 T ret_from_fork
ffffffff82000900 T __entry_text_end
";

    fn places() -> KernelPlaces {
        KernelPlaces::find(KERNEL).unwrap()
    }

    fn id(name: &str) -> u32 {
        (0..9).find(|id| places().name(*id) == Some(name)).unwrap()
    }

    fn read(process: usize, by: Owner, count: u64, first: u64) -> AccountSleep {
        let waker = Waker { owner: by, kind: RowKind::Syscall, id: id("write") };
        let (kind, owner) = (RowKind::Syscall, Owner::Process(process));
        let (steps, idle) = (count * 10, count * 1_000);
        AccountSleep { owner, kind, id: id("read"), waker, count, steps, idle, first }
    }

    fn run(sleeps: Vec<AccountSleep>, idle: u64) -> Slept {
        let process = |parent, name: &str| AccountProcess {
            parent,
            order: 0,
            name: name.to_owned(),
            tasks: 1,
        };
        let processes = vec![process(None, "sh"), process(Some(0), "cat")];
        let processes = AccountProcesses { processes, ..Default::default() };
        let sleeps = AccountSleeps { sleeps, idle: 5_000, ..Default::default() };
        Slept { processes, sleeps, idle }
    }

    #[test]
    fn sleeps_of_one_name_are_joined_and_stand_in_their_runs() {
        let by = Owner::Process(1);
        let runs = [
            run(vec![read(0, by, 2, 1), read(0, by, 1, 0)], 5_700),
            run(vec![], 0),
            run(vec![read(0, by, 4, 0)], 5_000),
        ];
        let found = sleeps(&runs, &[], &places(), true);
        let [read] = &found[..] else { panic!("{found:?}") };
        assert_eq!((&*read.slept_in, read.process.as_deref()), ("read", Some("sh")));
        let by = WokenBy { process: Some("sh/cat".to_owned()), work: "write".to_owned() };
        assert_eq!(read.woken_by, by);
        assert_eq!((&*read.sleeps, &*read.steps_to_run), (&[3, 0, 4][..], &[30, 0, 40][..]));
        // The first wait has what the clock says beyond the others.
        assert_eq!(read.idle, [Some(3_700), Some(0), Some(4_000)]);
    }

    #[test]
    fn processes_are_named_where_there_are_several_and_never_those_of_no_program() {
        let timer = Waker { owner: Owner::Unknown, kind: RowKind::KernelThread, id: 0 };
        let woken = AccountSleep { waker: timer, ..read(0, Owner::Unknown, 1, 0) };
        let runs = [run(vec![read(1, Owner::Unknown, 1, 0), woken], 5_000)];
        let by = |apart| -> Vec<(Option<String>, String)> {
            let found = sleeps(&runs, &[], &places(), apart);
            found.into_iter().map(|it| (it.woken_by.process, it.woken_by.work)).collect()
        };
        let unknown = Some("(unknown processes)".to_owned());
        let threads = || (None, "kernel threads".to_owned());
        assert_eq!(by(true), [threads(), (unknown, "write".to_owned())]);
        assert_eq!(by(false), [threads(), (None, "write".to_owned())]);
    }

    #[test]
    fn regions_have_the_programs_names_and_idling_may_be_unknown() {
        let region =
            AccountSleep { kind: RowKind::Region, id: 1, ..read(0, Owner::Process(1), 1, 0) };
        let mut odd = run(vec![region.clone()], 5_000);
        odd.sleeps.idle_unknown = true;
        // More than the clock has, which can't be.
        let more = run(vec![region], 4_999);
        let names = ["a".to_owned(), "wait".to_owned()];
        let found = sleeps(&[odd, more], &names, &places(), true);
        assert_eq!((found[0].kind, &*found[0].slept_in), (RowKind::Region, "user.wait"));
        assert_eq!((&*found[0].sleeps, &*found[0].idle), (&[1, 1][..], &[None, None][..]));
    }

    #[test]
    fn it_is_said_where_sleeps_are_not_known() {
        let mut without = run(vec![], 0);
        assert_eq!(note(&[run(vec![], 0)]), None);
        without.sleeps.sleepless = Some(Sleepless::WakeUp);
        let text = note(&[run(vec![], 0), without]).unwrap();
        assert!(text.ends_with("the kernel's symbol table has no try_to_wake_up"), "{text}");
    }
}
