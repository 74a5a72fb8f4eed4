//! The runs of a program of the user's in QEMU and in Bochs: what each of them takes in both, and
//! what each of its rows.

mod crossings;
mod rows;

use pathmeter_measure::error::MeasureError;
use pathmeter_measure::program::failure::unmeasured;
use pathmeter_measure::program::packed::{PackedProgram, memory_for};
use pathmeter_measure::program::result::kernel_names;
use pathmeter_pack::Packed;
use pathmeter_report::Style;
use pathmeter_trace::{Account, Accounts, Event, class_table};
use pathmeter_vm::{Accounting, ProgramEnd, RanProgram, Written};

use crate::both::{Both, Show};
use crate::session::witness_program;
use crate::table::{WitnessRun, rows_table, runs_table};

/// A program that is executed in both.
pub struct WitnessProgram {
    packed: PackedProgram,
    memory_mib: u32,
}

impl WitnessProgram {
    /// Of so many runs, in guests of as much memory at least, in MiB.
    ///
    /// # Errors
    /// A guest can't be handed it.
    pub fn new(packed: Packed, runs: u32, memory_mib: u32) -> Result<Self, MeasureError> {
        let memory_mib = memory_mib.max(memory_for(packed.bytes));
        let packed = PackedProgram::new(packed, runs, memory_mib, 0);
        packed.check()?;
        Ok(Self { packed, memory_mib })
    }
}

impl<S: Show> Both<'_, S> {
    /// Executes a program on the kernel: the table, and whether the two agree in every run.
    pub fn compare_program(
        &self,
        program: &WitnessProgram,
        style: Style,
    ) -> Result<(String, bool), MeasureError> {
        let Self { session, bochs, image, .. } = self;
        let guests = session.with_memory(program.memory_mib);
        let parcel = program.packed.parcel_under(&session.settings_of(image).condition);
        // Bochs boots with the program, and so does QEMU: both kernels have the same past.
        let parcel = parcel.in_initramfs();
        let runs = program.packed.runs();
        let (kernel, in_qemu) = self.during("in QEMU", |progress| {
            let kernel = kernel_names(session, image, &[], progress)?;
            let (places, classes) = (&kernel.places.table(&[], &[]), &class_table(false));
            let asked = Accounting {
                places,
                points: &[],
                classes,
                runs,
                functions: false,
                lines: false,
                perf_maps: false,
            };
            let read = &|stream| pathmeter_trace::accounts(stream);
            let ran = guests.run_program(image, &parcel, asked, read, progress)?;
            Ok::<_, MeasureError>((kernel, ran))
        })?;
        let map = rows::Map::new(&kernel.places);
        let asked = (runs, &map.landmarks);
        let in_bochs = self.during("in Bochs", |progress| {
            witness_program(&guests, image, bochs, &parcel, asked, progress)
        })?;
        let by_row = map.rows(&in_qemu.counts, (&in_bochs.counts, &in_bochs.runs), &kernel.places);
        let remark = outputs_remark([&in_qemu.outputs, &in_bochs.outputs]);
        let rows = in_both(in_qemu, &in_bochs.runs).map_err(|what| unmeasured(image, what))?;
        let agree = rows.iter().all(|row| row.difference() == 0);
        let by_row = match by_row {
            Ok(rows) => rows_table(&rows, style),
            Err(why) => format!("There is no table by row: {why}.\n"),
        };
        Ok((runs_table(&rows, style) + "\n" + &by_row + &remark, agree))
    }
}

/// If the program wrote something else in one of them, it did something else.
fn outputs_remark([qemu, bochs]: [&[Written; 2]; 2]) -> String {
    let names = ["standard output", "standard error"].iter();
    let outputs = names.zip(qemu.iter().zip(bochs)).filter(|(_, (qemu, bochs))| qemu != bochs);
    let told = |(name, (qemu, bochs)): (&&str, (&Written, &Written))| {
        let (qemu, bochs) = (qemu.total, bochs.total);
        format!(
            "The program wrote other text to its {name} in Bochs ({bochs} bytes) than in QEMU \
             ({qemu} bytes): it did not do the same in both.\n"
        )
    };
    outputs.map(told).collect()
}

/// The runs of both, side by side.
///
/// # Errors
/// Why there is nothing to compare.
fn in_both(
    in_qemu: RanProgram<Accounts>,
    in_bochs: &[ProgramEnd],
) -> Result<Vec<WitnessRun>, String> {
    let Accounts { runs: accounts, fault, .. } = in_qemu.counts;
    if let Some(fault) = fault {
        return Err(format!("the plugin's stream can't be read: {fault}"));
    }
    if accounts.len() != in_qemu.runs.len() || accounts.len() != in_bochs.len() {
        let (seen, runs) = (accounts.len(), in_qemu.runs.len());
        return Err(format!("the plugin saw {seen} runs, the guest {runs}"));
    }
    let runs = accounts.into_iter().zip(&in_qemu.runs).zip(in_bochs);
    runs.map(|((account, qemu), bochs)| {
        let number = qemu.run + 1;
        let account = account.map_err(|lost| format!("run {number}: {lost}"))?;
        if qemu.how != bochs.how {
            return Err(format!(
                "run {number} of it ended differently in the two: {:?} in QEMU, {:?} in Bochs",
                qemu.how, bochs.how
            ));
        }
        Ok(run(&account, qemu, bochs))
    })
    .collect()
}

fn run(account: &Account, qemu: &ProgramEnd, bochs: &ProgramEnd) -> WitnessRun {
    let sum = |of: fn(&pathmeter_trace::AccountRow) -> u64| {
        account.rows.iter().map(of).fold(0, u64::saturating_add)
    };
    WitnessRun {
        number: qemu.run + 1,
        retired: sum(|row| row.instructions),
        string_bytes: sum(|row| row.events.of(Event::StringBytes)),
        clock: qemu.clock,
        checks: sum(|row| row.checks),
        faults: sum(|row| row.faults),
        bochs: bochs.clock,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::sync::Arc;

    use pathmeter_trace::{AccountRow, Lost, RowKind};
    use pathmeter_vm::{Firmware, ProgramEnded};

    use super::*;

    fn end(clock: u64, how: ProgramEnded) -> ProgramEnd {
        ProgramEnd { run: 0, how, clock }
    }

    fn row(steps: u64, checks: u64, faults: u64) -> AccountRow {
        AccountRow {
            kind: RowKind::User,
            id: 0,
            calls: 1,
            steps,
            instructions: steps - 2 * checks,
            events: Arc::new([(Event::StringBytes, 8 * checks)].into_iter().collect()),
            checks,
            faults,
        }
    }

    fn in_qemu(run: Result<Vec<AccountRow>, Lost>) -> RanProgram<Accounts> {
        let run = run.map(|rows| Account { rows, ..Account::default() });
        RanProgram {
            proofs: vec![],
            release: None,
            firmware: Firmware::Own,
            runs: vec![end(150, ProgramEnded::Exit(0))],
            outputs: Default::default(),
            unlike: None,
            perf_maps: Vec::new(),
            counts: Accounts { runs: vec![run], ..Accounts::default() },
        }
    }

    #[test]
    fn a_run_is_the_sum_of_its_rows_and_bochs_is_compared_with_what_follows() {
        let ran = in_qemu(Ok(vec![row(100, 3, 1), row(50, 0, 1)]));
        let rows = in_both(ran, &[end(150, ProgramEnded::Exit(0))]).unwrap();
        let [run] = rows[..] else { panic!("{rows:?}") };
        assert_eq!((run.number, run.retired, run.string_bytes), (1, 144, 24));
        assert_eq!((run.checks, run.faults, run.difference()), (3, 2, 1));
    }

    #[test]
    fn what_can_t_be_compared_is_no_run() {
        let refused = |ran, bochs: &[ProgramEnd]| in_both(ran, bochs).unwrap_err();
        let rows = || in_qemu(Ok(vec![row(150, 0, 0)]));
        assert!(refused(rows(), &[]).contains("saw 1 runs"));
        let killed = [end(150, ProgramEnded::Signal(9))];
        assert!(refused(rows(), &killed).contains("ended differently"));
        let lost = in_qemu(Err(Lost::Limit("too much")));
        assert!(refused(lost, &killed).contains("run 1: too much"));
    }

    #[test]
    fn other_output_is_told_and_the_same_is_not() {
        let written = |text: &str| Written { bytes: text.into(), total: text.len() as u64 };
        let one = [written("a"), written("")];
        assert_eq!(outputs_remark([&one, &one.clone()]), "");
        let remark = outputs_remark([&one, &[written("bc"), written("")]]);
        assert!(remark.contains("standard output in Bochs (2 bytes)"), "{remark}");
        assert!(!remark.contains("standard error"), "{remark}");
    }
}
