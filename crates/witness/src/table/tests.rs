use pathmeter_trace::{Cause, Divergence, ExecutedOften, Interpreter};

use super::*;

fn row(kind: RowKind, runs: &[([u64; 2], u64, u64)]) -> WitnessProgramRow {
    let run = |&(calls, expected, bochs)| WitnessCost { calls, expected, bochs };
    WitnessProgramRow { kind, name: String::new(), runs: runs.iter().map(run).collect() }
}

#[test]
fn rows_are_equal_by_calls_and_steps_and_counted_where_there_are_any() {
    let rows = [
        row(RowKind::User, &[([0, 0], 1000, 1000), ([0, 0], 1000, 1001)]),
        row(RowKind::PageFault, &[([3, 2], 50, 50), ([2, 2], 50, 50)]),
        row(RowKind::Softirq, &[([0, 1], 0, 7), ([0, 0], 0, 0)]),
    ];
    let table = rows_table(&rows, Style::default());
    let line = |name: &str| {
        let line = table.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("user code"), "user code 1,000 1,000 0 1 of 2");
    assert_eq!(line("page faults"), "page faults 3, 2 50 50 0 1 of 2");
    assert_eq!(line("softirqs"), "softirqs 0, 1 0 7 +7 1 of 2");
    assert!(table.contains("1 of 3, 1 of 2."), "{table}");
}

/// A conditional jump that is taken in QEMU only.
fn diverging(cause: Cause) -> FlowDifference {
    let often = |place: &str, executions| ExecutedOften { place: place.into(), executions };
    FlowDifference {
        divergences: vec![Divergence {
            place: "kfree+0x55".into(),
            mnemonic: "jne".into(),
            cause,
            times: 2,
            difference: 2,
        }],
        functions: vec![often("kfree", [8, 10])],
        instructions: vec![often("kfree+0xfa", [0, 4]), often("kfree+0x5b", [2, 0])],
    }
}

#[test]
fn what_a_witness_says() {
    let both = |(retired, clock, checks), bochs, shared, shift| {
        let (string_bytes, windows, faults, shown) = (checks * 8, 31, 0, [5, 0]);
        WitnessOutcome::Both(WitnessCounts {
            retired,
            string_bytes,
            clock,
            checks,
            faults,
            bochs,
            windows,
            shared,
            shown,
            shift,
        })
    };
    let fault = Cause::Exception(Interpreter::Qemu, "asm_exc_page_fault".into());
    let decided = Reconciled::Decided(diverging(Cause::Taken(Interpreter::Bochs)));
    let missing =
        Reconciled::Incomplete("QEMU's recording has 9 faults, and 8 were counted".into());
    let rows = [
        ("syscall.getppid", both((333, 333, 0), 333, 31, None), None),
        ("file.stat", both((2_533, 3_188, 9), 3_179, 30, None), None),
        ("tcp.round-trip", both((28_563, 29_219, 36), 29_185, 0, None), Some(decided)),
        ("process.fork-exit", both((78_350, 90_994, 139), 87_655, 0, None), Some(missing)),
        (
            "pipe.write-read",
            both((2_078, 2_080, 2), 2_080, 12, Some(2)),
            Some(Reconciled::Miscounted { executed: 2_078 }),
        ),
        (
            "memory.fault-anon",
            both((2_165, 2_711, 3), 2_710, 0, None),
            Some(Reconciled::Diverged(diverging(fault))),
        ),
        ("getcpu.rdpid", WitnessOutcome::Not("QEMU: this CPU has no rdpid".into()), None),
    ];
    let rows = rows.map(|(path, outcome, reconciled)| WitnessRow {
        path: path.into(),
        outcome,
        reconciled,
    });
    assert_eq!(
        rows.each_ref().map(WitnessRow::agrees),
        [true, true, true, false, false, false, true]
    );
    insta::assert_snapshot!(paths_table(&rows, Style::default()));
}
