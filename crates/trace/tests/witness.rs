//! What two interpreters executed of one window: read from a recording and from Bochs' debugger,
//! and compared.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fmt::Write as _;

use common::*;
use pathmeter_trace::{
    Cause, Claims, Executed, ExecutedOften, FlowDifference, Interpreter, NotExecuted, Reconciled,
    executed, flow_difference, reconciled, traced,
};
use proptest::prelude::*;

const A: u64 = K + 0x100;
const FAULT: u64 = K + 0x1300;
const TIMER: u64 = K + 0x1400;
/// `jne` to 0x20 bytes after its begin.
const JNE: &[u8] = &[0x75, 0x1e];
const WINDOW_END: &[u8] = &[0x0f, 0x1f, 0x84, 0, 0, 2, b'M', b'P'];

/// An execution: address, bytes, and whether it accesses memory.
type Execution<'a> = (u64, &'a [u8], bool);

/// So many nops from this address on.
fn nops(address: u64, count: u64) -> Vec<Execution<'static>> {
    (0..count).map(|index| (address + index, NOP, false)).collect()
}

/// A window of these executions and its second stamp, in QEMU.
fn in_qemu(body: &[Execution<'_>]) -> Executed {
    let mut writer = Writer::new();
    // A warm-up, which is no part of it.
    writer.window(|w| {
        w.nops(USER, 3);
    });
    writer.window(|w| {
        for (address, code, accesses) in body {
            w.at(*address, code);
            if *accesses {
                w.store(0x1234, 3);
            }
        }
    });
    let recorded = executed(&writer.stop()[..], 1).unwrap();
    assert_eq!(recorded.stamps, [USER - 2]);
    recorded.executed
}

/// What Bochs prints of it: the clock goes on by one more before what is in `gaps`.
fn printed(body: &[Execution<'_>], gaps: &[usize]) -> String {
    let ends = [(USER + 0x1000, RDTSC, false), (USER + 0x1002, WINDOW_END, false)];
    let all = [(USER - 2, RDTSC, false)].into_iter().chain(body.iter().copied()).chain(ends);
    let (mut text, mut clock) = ("Tracing enabled for CPU0\n".to_owned(), 1000);
    for (place, (address, code, _)) in all.enumerate() {
        clock += if gaps.contains(&place) { 2 } else { 1 };
        let mut bytes = String::new();
        for byte in code {
            let _ = write!(bytes, "{byte:02x}");
        }
        let physical = address & 0xff_ffff;
        let _ = writeln!(
            text,
            "(0).[{clock}] [{physical:#014x}] 0010:{address:016x} (unk. ctxt): op rax ; {bytes}"
        );
    }
    text
}

fn in_bochs(body: &[Execution<'_>], gaps: &[usize]) -> Executed {
    traced(printed(body, gaps).as_bytes()).unwrap()
}

/// `jne`, taken or not, between nops.
fn branch(taken: bool) -> Vec<Execution<'static>> {
    let before = nops(A, 2);
    let jump = vec![(A + 2, JNE, false)];
    let between = if taken { nops(A + 0x40, 3) } else { nops(A + 4, 1) };
    let between = if taken { [nops(A + 0x22, 1), between].concat() } else { between };
    [before, jump, between, nops(A + 0x80, 40)].concat()
}

fn claims(clock: u64, bochs: u64) -> Claims {
    Claims { clock, checks: 0, faults: 0, bochs }
}

fn decided(reconciled: Reconciled) -> FlowDifference {
    match reconciled {
        Reconciled::Decided(difference) => difference,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_branch_that_is_taken_in_one_explains_a_difference() {
    let (qemu, bochs) = (in_qemu(&branch(true)), in_bochs(&branch(false), &[]));
    assert_eq!((qemu.executions(), bochs.executions()), (48, 45));
    let difference = decided(reconciled(&qemu, &bochs, claims(48, 45), &names()));
    let [one] = &difference.divergences[..] else { panic!("{difference:?}") };
    assert_eq!((&one.place[..], &one.mnemonic[..]), ("a+0x2", "jne"));
    let taken = Cause::Taken(Interpreter::Qemu);
    assert_eq!((&one.cause, one.times, one.difference), (&taken, 1, -3));
    let [a] = &difference.functions[..] else { panic!("{difference:?}") };
    assert_eq!((&a.place[..], a.executions), ("a", [47, 44]));
    let sum: i64 = difference.instructions.iter().map(ExecutedOften::difference).sum();
    assert_eq!((difference.instructions.len(), sum), (5, -3));
}

#[test]
fn what_does_not_add_up_explains_nothing() {
    let (qemu, bochs) = (in_qemu(&branch(true)), in_bochs(&branch(false), &[]));
    for (clock, steps) in [(49, 45), (48, 46), (47, 44)] {
        let why = reconciled(&qemu, &bochs, claims(clock, steps), &names());
        assert!(matches!(why, Reconciled::Incomplete(_)), "{clock}, {steps}: {why:?}");
    }
}

#[test]
fn the_same_instructions_with_two_counts_are_an_error_of_counting() {
    let (qemu, bochs) = (in_qemu(&branch(true)), in_bochs(&branch(true), &[]));
    for (clock, steps) in [(48, 49), (47, 48), (50, 46)] {
        let why = reconciled(&qemu, &bochs, claims(clock, steps), &names());
        assert_eq!(why, Reconciled::Miscounted { executed: 48 }, "{clock}, {steps}");
    }
}

#[test]
fn last_checks_are_steps_of_qemu_only() {
    let string = |accesses| (A, REP_MOVSB, accesses);
    let qemu =
        in_qemu(&[&[string(true), string(true), string(false)], &nops(A + 2, 3)[..]].concat());
    let bochs = in_bochs(&[&[string(true), string(true)], &nops(A + 2, 3)[..]].concat(), &[]);
    assert_eq!((qemu.checks, qemu.executions(), bochs.executions()), (1, 6, 6));
    assert_eq!(flow_difference(&qemu, &bochs, &names()), FlowDifference::default());
    // One that has nothing to do takes a step in both.
    let nothing = [&[string(false)], &nops(A + 2, 3)[..]].concat();
    let (qemu, bochs) = (in_qemu(&nothing), in_bochs(&nothing, &[]));
    assert_eq!((qemu.checks, qemu.executions(), bochs.executions()), (0, 5, 5));
}

#[test]
fn more_iterations_are_a_divergence_of_the_string_instruction() {
    let strings = |count: usize| vec![(A, REP_MOVSB, true); count];
    let qemu = in_qemu(&[strings(2), vec![(A, REP_MOVSB, false)], nops(A + 2, 40)].concat());
    let bochs = in_bochs(&[strings(5), nops(A + 2, 40)].concat(), &[]);
    let claims = Claims { clock: 44, checks: 1, faults: 0, bochs: 46 };
    let difference = decided(reconciled(&qemu, &bochs, claims, &names()));
    let [one] = &difference.divergences[..] else { panic!("{difference:?}") };
    assert_eq!((&one.cause, one.difference), (&Cause::Repeated(Interpreter::Bochs), 3));
}

/// A fault of the second instruction, which is restarted, and one of a page of code.
fn faults() -> Vec<Execution<'static>> {
    let handler = [nops(FAULT, 2), vec![(FAULT + 2, IRET, false)]].concat();
    let from = [nops(A, 1), vec![(A + 1, LOAD_RAX, false)]].concat();
    let back = vec![(A + 1, LOAD_RAX, true), (A + 4, RET, true)];
    [from, handler.clone(), back, handler, nops(A + 0x40, 30)].concat()
}

#[test]
fn faults_are_counted_by_what_became_of_them() {
    let (qemu, bochs) = (in_qemu(&faults()), in_bochs(&faults(), &[8]));
    let found = bochs.faults(&names()).unwrap();
    assert_eq!((found.restarted, found.unfetched), (1, 1));
    assert_eq!((qemu.executions(), bochs.executions(), bochs.clock), (41, 41, Some(42)));
    let claims = Claims { clock: 40, checks: 0, faults: 2, bochs: 43 };
    let why = reconciled(&qemu, &bochs, claims, &names());
    assert_eq!(why, Reconciled::Miscounted { executed: 42 });
}

#[test]
fn an_exception_whose_handler_does_not_return_is_not_accounted_for() {
    let open = [nops(A, 2), nops(FAULT, 2)].concat();
    assert_eq!(in_qemu(&open).faults(&names()), None);
    let why = reconciled(&in_qemu(&open), &in_bochs(&open, &[]), claims(5, 6), &names());
    assert!(matches!(why, Reconciled::Incomplete(_)), "{why:?}");
}

#[test]
fn an_exception_in_one_only_is_no_decision_and_an_interrupt_is_one() {
    let with = |entry: u64| {
        let handler = [nops(entry, 2), vec![(entry + 2, IRET, false)]].concat();
        let again = if entry == FAULT { vec![(A + 1, NOP, false)] } else { Vec::new() };
        [nops(A, 2), handler, again, nops(A + 2, 40)].concat()
    };
    let bochs = in_bochs(&nops(A, 42), &[]);
    let faulting = Claims { clock: 46, checks: 0, faults: 1, bochs: 43 };
    let why = reconciled(&in_qemu(&with(FAULT)), &bochs, faulting, &names());
    let Reconciled::Diverged(difference) = why else { panic!("{why:?}") };
    let entry = "asm_exc_page_fault".to_owned();
    assert_eq!(difference.divergences[0].cause, Cause::Exception(Interpreter::Qemu, entry));
    let why = reconciled(&in_qemu(&with(TIMER)), &bochs, claims(46, 43), &names());
    let cause = &decided(why).divergences[0].cause;
    assert!(matches!(cause, Cause::Interrupt(Interpreter::Qemu, _)), "{cause:?}");
}

#[test]
fn other_code_at_the_same_address_is_no_decision() {
    let patched = [nops(A, 1), vec![(A + 1, &[0xf8][..], false)], nops(A + 2, 40)].concat();
    let (qemu, bochs) = (in_qemu(&nops(A, 42)), in_bochs(&patched, &[]));
    let difference = flow_difference(&qemu, &bochs, &names());
    let [one] = &difference.divergences[..] else { panic!("{difference:?}") };
    assert!(matches!(one.cause, Cause::Code(_)), "{one:?}");
}

#[test]
fn what_is_not_whole_is_refused() {
    let text = printed(&nops(A, 3), &[]);
    let cut = text.find("4d50").unwrap();
    assert_eq!(traced(&text.as_bytes()[..cut]), Err(NotExecuted::Short));
    assert_eq!(traced(&b""[..]), Err(NotExecuted::Short));
    assert_eq!(traced(text.replace("0f31", "0f32").as_bytes()), Err(NotExecuted::Unstamped));
    let mut writer = Writer::new();
    writer.window(|w| {
        w.nops(A, 3);
    });
    let bytes = writer.stop();
    assert_eq!(executed(&bytes[..], 1), Err(NotExecuted::Short));
    assert_eq!(executed(&bytes[..bytes.len() - 2], 0), Err(NotExecuted::Damaged));
}

/// Executions of a few instructions of two functions.
fn some_flow() -> impl Strategy<Value = Vec<Execution<'static>>> {
    let one = (0..6u64).prop_map(|place| (A + place * 0x40, NOP, false));
    proptest::collection::vec(one, 0..120)
}

proptest! {
    #[test]
    fn divergences_and_instructions_add_up(one in some_flow(), other in some_flow()) {
        let (qemu, bochs) = (in_qemu(&one), in_bochs(&other, &[]));
        let difference = flow_difference(&qemu, &bochs, &names());
        let total = bochs.executions().cast_signed() - qemu.executions().cast_signed();
        let of_divergences: i64 = difference.divergences.iter().map(|one| one.difference).sum();
        let of = |often: &[ExecutedOften]| -> i64 {
            often.iter().map(ExecutedOften::difference).sum()
        };
        prop_assert_eq!(of_divergences, total);
        prop_assert_eq!(of(&difference.instructions), total);
        prop_assert_eq!(of(&difference.functions), total);
        prop_assert_eq!(difference.divergences.is_empty(), one == other);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in any::<Vec<u8>>(), cut in 0..400usize) {
        let _ = traced(&text[..]);
        let mut whole = printed(&faults(), &[8]).into_bytes();
        whole.splice(cut..cut + text.len().min(20), text);
        let _ = traced(&whole[..]);
    }
}
