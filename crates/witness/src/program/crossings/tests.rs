#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;

const CALL: Crossed = Crossed::Enter { kind: RowKind::Syscall, id: 7 };
const FAULT: Crossed = Crossed::Enter { kind: RowKind::PageFault, id: 6 };
const TICK: Crossed = Crossed::Enter { kind: RowKind::Interrupt, id: 0 };
const SOFTIRQ: Crossed = Crossed::Enter { kind: RowKind::Softirq, id: 0 };

fn rows_of(crossed: &[(u64, Crossed)]) -> Result<Vec<(RowKind, u32, u64, u64)>, Uncrossed> {
    let crossings: Vec<_> =
        crossed.iter().map(|(clock, what)| Crossing { clock: *clock, what: *what }).collect();
    let rows = stepped_rows(&crossings)?;
    let sum: u64 = rows.iter().map(|row| row.steps).sum();
    assert_eq!(sum, crossed[crossed.len() - 1].0 - crossed[0].0);
    Ok(rows.iter().map(|row| (row.kind, row.id, row.calls, row.steps)).collect())
}

#[test]
fn what_is_executed_belongs_to_the_frame_on_top() {
    let rows = rows_of(&[
        (100, Crossed::Begin),
        (110, CALL),
        (130, FAULT),
        (160, Crossed::Return),
        (200, Crossed::Return),
        (300, Crossed::End),
    ]);
    let expected = [
        (RowKind::User, 0, 0, 99),
        // From the fault's return, which is the kernel's, to the call's.
        (RowKind::Syscall, 7, 1, 20 + 40),
        (RowKind::PageFault, 6, 1, 31),
        // Until its first system call, by which the agent becomes the program.
        (RowKind::Agent, 0, 0, 10),
    ];
    assert_eq!(rows.unwrap(), expected);
}

#[test]
fn the_task_at_the_end_is_the_agent() {
    let rows = rows_of(&[
        (0, Crossed::Begin),
        (10, CALL),
        (29, Crossed::Switch { from: 1, to: 2 }),
        (49, Crossed::Return),
        (60, Crossed::End),
    ]);
    let expected = [(RowKind::Syscall, 7, 1, 20), (RowKind::Agent, 0, 0, 10 + 30)];
    assert_eq!(rows.unwrap(), expected);
}

#[test]
fn interrupts_and_softirqs_are_rows_of_their_own_in_each_task() {
    let rows = rows_of(&[
        (0, Crossed::Begin),
        (10, CALL),
        (19, Crossed::Switch { from: 1, to: 3 }),
        (25, TICK),
        (30, SOFTIRQ),
        (42, Crossed::FunctionEnd),
        // Passed again without softirqs.
        (43, Crossed::FunctionEnd),
        (49, Crossed::Return),
        (54, Crossed::Switch { from: 3, to: 1 }),
        (58, Crossed::Return),
        (59, Crossed::Switch { from: 1, to: 2 }),
        (70, Crossed::End),
    ]);
    let expected = [
        (RowKind::User, 0, 0, 1),
        (RowKind::Syscall, 7, 1, 10 + 4),
        (RowKind::Interrupt, 0, 1, 5 + 8),
        (RowKind::Softirq, 0, 1, 12),
        (RowKind::KernelThread, 0, 0, 5 + 5),
        (RowKind::Agent, 0, 0, 10 + 10),
    ];
    assert_eq!(rows.unwrap(), expected);
}

#[test]
fn a_new_task_begins_with_the_switch_to_it() {
    let rows = rows_of(&[
        (0, Crossed::Begin),
        (10, CALL),
        (19, Crossed::Switch { from: 1, to: 5 }),
        (26, Crossed::NewTask),
        (39, Crossed::Return),
        (45, CALL),
        (49, Crossed::Switch { from: 5, to: 2 }),
        (70, Crossed::End),
    ]);
    let expected = [
        (RowKind::User, 0, 0, 5),
        (RowKind::Syscall, 7, 2, 10 + 5),
        (RowKind::NewTask, 0, 1, 20),
        (RowKind::Agent, 0, 0, 10 + 20),
    ];
    assert_eq!(rows.unwrap(), expected);
}

#[test]
fn what_was_missed_is_no_run() {
    let refused = |crossed: &[(u64, Crossed)]| rows_of(crossed).unwrap_err();
    let (begin, end) = ((0, Crossed::Begin), (99, Crossed::End));
    assert_eq!(refused(&[begin]), Uncrossed::NoRun);
    assert_eq!(refused(&[(0, CALL), end]), Uncrossed::NoRun);
    assert_eq!(refused(&[begin, (9, CALL), (8, CALL), end]), Uncrossed::NoRun);
    assert_eq!(refused(&[begin, begin, end]), Uncrossed::NoRun);
    assert_eq!(refused(&[begin, (9, Crossed::Return), end]), Uncrossed::NothingToReturnFrom);
    let deep: Vec<_> = [vec![begin], vec![(9, FAULT); 17], vec![end]].concat();
    assert_eq!(refused(&deep), Uncrossed::TooDeep);
}
