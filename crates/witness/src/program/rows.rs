//! The rows of a program's runs in Bochs, from where its debugger stopped, beside those in QEMU.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::crossings::{Crossed, Crossing, SteppedRow, stepped_rows};
use crate::bochs::watch::{Landmarks, Look, MOST_ENTRIES, Stop, StopPlace};
use crate::table::{WitnessCost, WitnessProgramRow};
use pathmeter_measure::program::kernel_names::row_name;
use pathmeter_model::RowKind;
use pathmeter_trace::{Account, AccountRow, Accounts, KernelPlaces, Landmark, UNNAMED, VECTOR};
use pathmeter_vm::ProgramEnd;

/// Of a page fault's error code, what is known of each (Intel SDM volume 3, 4.7).
const KNOWN_OF_FAULT: u64 = 0x1f;
/// The exceptions that programs cause; there is not room for the stops of all.
const EXCEPTIONS: [&str; 6] =
    ["general_protection", "device_not_available", "invalid_op", "int3", "debug", "divide_error"];

/// A row's kind, and which of that kind.
type Id = (RowKind, u32);

/// What is where in a kernel.
pub(super) struct Map {
    /// The same, as Bochs is told it.
    pub(super) landmarks: Landmarks,
    entries: BTreeMap<u64, Crossed>,
    functions: BTreeMap<u64, u32>,
}

impl Map {
    pub(super) fn new(places: &KernelPlaces) -> Self {
        let (mut landmarks, mut functions) = (Landmarks::default(), BTreeMap::new());
        let mut entries = Vec::new();
        for (range, what) in places.landmarks() {
            match what {
                // The machine has no APIC's timer and no other CPU: such interrupts don't come.
                Landmark::Entry { kind: RowKind::Interrupt, id } if id & VECTOR == 0 => {}
                Landmark::Entry { kind, id } => {
                    entries.push((importance(kind, id, places), range.start, kind, id));
                }
                Landmark::Function(name) => {
                    functions.insert(range.start, name);
                }
                Landmark::NewTask => entries.push((0, range.start, RowKind::NewTask, 0)),
                Landmark::Switch => landmarks.switch = range,
                Landmark::EntryText => landmarks.entry_text = range,
            }
        }
        entries.sort_unstable();
        entries.truncate(MOST_ENTRIES);
        landmarks.entries = entries.iter().map(|entry| (entry.1, look(entry.2))).collect();
        landmarks.functions = functions.keys().copied().collect();
        let crossed = |(_, address, kind, id)| match kind {
            RowKind::NewTask => (address, Crossed::NewTask),
            kind => (address, Crossed::Enter { kind, id }),
        };
        Self { landmarks, entries: entries.into_iter().map(crossed).collect(), functions }
    }

    /// The rows of all runs in both.
    ///
    /// # Errors
    /// Why there are none.
    pub(super) fn rows(
        &self,
        in_qemu: &Accounts,
        (in_bochs, ends): (&[Vec<Stop>], &[ProgramEnd]),
        places: &KernelPlaces,
    ) -> Result<Vec<WitnessProgramRow>, String> {
        let mut rows: BTreeMap<Id, Vec<WitnessCost>> = BTreeMap::new();
        let runs = in_qemu.runs.len().min(in_bochs.len());
        let all = in_qemu.runs.iter().zip(in_bochs).zip(ends);
        for (number, ((account, stops), end)) in all.enumerate() {
            let in_run = |what: &dyn ToString| format!("run {}: {}", number + 1, what.to_string());
            let account = account.as_ref().map_err(|lost| in_run(lost))?;
            let stepped = stepped_rows(&self.crossings(stops)).map_err(|why| in_run(&why))?;
            let sum: u64 = stepped.iter().map(|row| row.steps).fold(0, u64::saturating_add);
            if sum != end.clock {
                let clock = end.clock;
                return Err(in_run(&format!("the rows add up to {sum}, the clock says {clock}")));
            }
            for (id, row) in both(account, &stepped) {
                let of_runs = rows.entry(id).or_insert_with(|| vec![WitnessCost::default(); runs]);
                of_runs[number] = row;
            }
        }
        let mut rows: Vec<_> = rows.into_iter().collect();
        rows.sort_by_key(|((kind, _), runs)| (!kind.is_own_work(), Reverse(runs[0].expected)));
        let named =
            |((kind, id), runs)| WitnessProgramRow { kind, name: row_name(kind, id, places), runs };
        Ok(rows.into_iter().map(named).collect())
    }

    fn crossings(&self, stops: &[Stop]) -> Vec<Crossing> {
        let crossing =
            |stop: &Stop| Some(Crossing { clock: stop.clock, what: self.crossed(stop)? });
        stops.iter().filter_map(crossing).collect()
    }

    fn crossed(&self, stop: &Stop) -> Option<Crossed> {
        Some(match stop.place {
            StopPlace::Begin => Crossed::Begin,
            StopPlace::End => Crossed::End,
            StopPlace::Return => Crossed::Return,
            StopPlace::Back => Crossed::FunctionEnd,
            StopPlace::Switch { from, to } => Crossed::Switch { from, to },
            StopPlace::Entry { address, seen } => match *self.entries.get(&address)? {
                Crossed::Enter { kind: RowKind::PageFault, .. } => {
                    let code = u32::try_from(seen & KNOWN_OF_FAULT).unwrap_or(UNNAMED);
                    Crossed::Enter { kind: RowKind::PageFault, id: code }
                }
                Crossed::Enter { kind, id: UNNAMED } => {
                    let id = self.functions.get(&seen).copied().unwrap_or(UNNAMED);
                    Crossed::Enter { kind, id }
                }
                crossed => crossed,
            },
        })
    }
}

/// The smaller the more important: all entries but those of rare exceptions and interrupts.
fn importance(kind: RowKind, id: u32, places: &KernelPlaces) -> usize {
    let name = places.name(id);
    match kind {
        RowKind::Exception => {
            let place = EXCEPTIONS.iter().position(|exception| Some(*exception) == name);
            place.map_or(100, |place| 10 + place)
        }
        _ => 0,
    }
}

fn look(kind: RowKind) -> Look {
    match kind {
        RowKind::Syscall | RowKind::Syscall32 => Look::Function,
        RowKind::PageFault => Look::Top,
        RowKind::Interrupt => Look::Interrupt,
        kind if kind.is_of_functions() => Look::ReturnAddress,
        _ => Look::Nothing,
    }
}

/// The rows of a run that one of the two has.
fn both(account: &Account, stepped: &[SteppedRow]) -> BTreeMap<Id, WitnessCost> {
    let mut rows: BTreeMap<Id, WitnessCost> = BTreeMap::new();
    for row in &account.rows {
        let entry = rows.entry((row.kind, row.id)).or_default();
        entry.calls[0] = row.calls;
        entry.expected = expected(row);
    }
    for row in stepped {
        let entry = rows.entry((row.kind, row.id)).or_default();
        entry.calls[1] = row.calls;
        entry.bochs = row.steps;
    }
    rows
}

/// The steps that follow for Bochs' clock from QEMU's.
fn expected(row: &AccountRow) -> u64 {
    row.steps.saturating_sub(row.checks).saturating_add(row.faults)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::sync::Arc;

    use pathmeter_vm::ProgramEnded;

    use super::*;

    const KERNEL: &str = "\
ffffffff81000000 T __x64_sys_read
ffffffff81000100 T __do_softirq
ffffffff82000000 T __entry_text_start
ffffffff82000000 T entry_SYSCALL_64
ffffffff82000080 T asm_exc_page_fault
ffffffff820000c0 T asm_exc_int3
ffffffff82000140 T asm_sysvec_irq_work
ffffffff82000180 T irq_entries_start
ffffffff82000800 T spurious_entries_start
ffffffff82000880 T __switch_to_asm
ffffffff820008c0 T ret_from_fork
ffffffff82000900 T __entry_text_end
";
    const READ: u64 = 0xffff_ffff_8100_0000;
    const ENTRY: u64 = 0xffff_ffff_8200_0000;

    fn account_row(kind: RowKind, id: u32, steps: u64) -> AccountRow {
        let (checks, faults) = (u64::from(steps > 50), u64::from(kind == RowKind::User));
        AccountRow {
            kind,
            id,
            calls: 1,
            steps,
            instructions: steps,
            events: Arc::default(),
            checks,
            faults,
        }
    }

    fn account(rows: Vec<AccountRow>) -> Accounts {
        let run = Account { rows, ..Account::default() };
        Accounts { runs: vec![Ok(run)], ..Accounts::default() }
    }

    fn stops(of: &[(u64, StopPlace)]) -> Vec<Stop> {
        of.iter().map(|(clock, place)| Stop { clock: *clock, place: *place }).collect()
    }

    fn end(clock: u64) -> ProgramEnd {
        ProgramEnd { run: 0, how: ProgramEnded::Exit(0), clock }
    }

    fn entry(offset: u64, seen: u64) -> StopPlace {
        StopPlace::Entry { address: ENTRY + offset, seen }
    }

    #[test]
    fn rows_are_compared_by_what_follows_from_qemu() {
        let places = KernelPlaces::find(KERNEL.as_bytes()).unwrap();
        let map = Map::new(&places);
        let Some(Crossed::Enter { id: read, .. }) =
            map.crossed(&Stop { clock: 0, place: entry(0, READ) })
        else {
            panic!("no call")
        };
        let in_bochs = stops(&[
            (0, StopPlace::Begin),
            (11, entry(0, READ)),
            (70, entry(0x80, 0xffe6)),
            (99, StopPlace::Return),
            (109, StopPlace::Return),
            (120, StopPlace::End),
        ]);
        let in_qemu = account(vec![
            account_row(RowKind::User, 0, 9),
            account_row(RowKind::Agent, 0, 11),
            account_row(RowKind::Syscall, read, 70),
            account_row(RowKind::PageFault, 6, 29),
        ]);
        let rows = map.rows(&in_qemu, (&[in_bochs], &[end(120)]), &places).unwrap();
        let seen = |row: &WitnessProgramRow| {
            let run = row.runs[0];
            (row.name.clone(), run.calls, run.expected, run.bochs)
        };
        let seen: Vec<_> = rows.iter().map(seen).collect();
        let fault = "write, page not present".to_owned();
        let expected = [
            ("read".to_owned(), [1, 1], 69, 69),
            (fault, [1, 1], 29, 30),
            (String::new(), [1, 0], 10, 10),
            (String::new(), [1, 0], 11, 11),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_run_that_was_not_seen_whole_has_no_rows() {
        let places = KernelPlaces::find(KERNEL.as_bytes()).unwrap();
        let map = Map::new(&places);
        let told = |of: &[(u64, StopPlace)]| {
            let in_bochs = [stops(of)];
            map.rows(&account(vec![]), (&in_bochs, &[end(9)]), &places).unwrap_err()
        };
        assert!(told(&[(0, StopPlace::Begin)]).starts_with("run 1: it has no begin"));
        let other = told(&[(0, StopPlace::Begin), (8, StopPlace::End)]);
        assert_eq!(other, "run 1: the rows add up to 8, the clock says 9");
    }

    #[test]
    fn what_matters_is_stopped_at() {
        let map = Map::new(&KernelPlaces::find(KERNEL.as_bytes()).unwrap());
        let at = |address| map.landmarks.entries.iter().find(|entry| entry.0 == address);
        assert_eq!(at(ENTRY), Some(&(ENTRY, Look::Function)));
        assert_eq!(at(ENTRY + 0x80), Some(&(ENTRY + 0x80, Look::Top)));
        assert_eq!(at(ENTRY - 0xff_ff00), Some(&(ENTRY - 0xff_ff00, Look::ReturnAddress)));
        assert_eq!(map.landmarks.switch, ENTRY + 0x880..ENTRY + 0x8c0);
        assert!(map.landmarks.functions.contains(&READ));
    }
}
