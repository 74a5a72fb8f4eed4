//! Damaged traces: an error that names what is wrong, nothing lost of the valid part, never a
//! panic.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::*;
use pathmeter_trace::{NoSymbols, Resolve, Stop, TraceError, decode};
use proptest::prelude::*;

fn fault(bytes: &[u8]) -> TraceError {
    decode(bytes, &NoSymbols).fault.unwrap()
}

/// Two windows of a little of everything.
fn sample() -> Vec<u8> {
    let mut writer = Writer::new();
    for _ in 0..2 {
        writer.syscall(|w| {
            w.call(ENTRY + 1, K + 0x100, STACK_A).nops(K + 0x100, 2).at(K + 0x102, LOAD_RAX);
            w.load(0x1234, 3).ret(K + 0x105, STACK_A).jmp(ENTRY + 6, ENTRY + 0x80);
        });
    }
    writer.stop()
}

#[test]
fn a_whole_trace_says_that_it_is() {
    let recording = decode(&sample()[..], &NoSymbols);
    assert!(recording.fault.is_none());
    assert_eq!(recording.stop, Some(Stop::Complete));
    assert_eq!(recording.windows.recorded, 2);
}

#[test]
fn what_is_no_trace_is_named_so() {
    for bytes in [&b""[..], b"\x7fELF\x02\x01\x01\0", b"PMT", b"{}"] {
        match (bytes, fault(bytes)) {
            (b"PMT", TraceError::Cut { good_windows: 0 }) => {}
            (_, TraceError::NotATrace { found }) => assert_eq!(found, bytes),
            (_, other) => panic!("{bytes:?}: {other}"),
        }
    }
}

#[test]
fn another_version_is_named() {
    assert!(matches!(fault(b"PMTR\x02\0\0\0"), TraceError::Version(2)));
}

#[test]
fn a_cut_trace_keeps_its_whole_windows() {
    let bytes = sample();
    let whole = decode(&bytes[..], &NoSymbols).representative.unwrap();
    for length in 8..bytes.len() {
        let recording = decode(&bytes[..length], &NoSymbols);
        let Some(TraceError::Cut { good_windows }) = recording.fault else {
            panic!("{length}: {:?}", recording.fault)
        };
        assert_eq!(good_windows, recording.windows.recorded);
        if good_windows > 0 {
            assert_eq!(recording.representative.as_ref(), Some(&whole));
        }
    }
}

#[test]
fn records_that_no_recorder_writes_are_refused() {
    let begin = [2, 0];
    let define = [&[1][..], &[0; 16], &[1, 0x90]].concat();
    let cases: [(&[&[u8]], &str); 18] = [
        (&[&[11]], "unknown record"),
        (&[&begin, &[8, 1]], "within a window"),
        (&[&[8, 0], &[10, 1]], "within a window"),
        (&[&[8, 0], &[3, 1]], "not open"),
        (&[&[9]], "dropped that is not open"),
        (&[&begin, &[9, 9]], "dropped that is not open"),
        (&[&define, &begin, &[9], &[4, 0, 1]], "outside a window"),
        (&[&[0]], "unknown record"),
        (&[&[1], &[0; 16], &[0]], "length"),
        (&[&[1], &[0; 16], &[16]], "length"),
        (&[&begin, &begin], "within a window"),
        (&[&[3, 0]], "not open"),
        (&[&define, &[4, 0, 1]], "outside a window"),
        (&[&define, &begin, &[4, 0, 0]], "run that is not"),
        (&[&define, &begin, &[4, 0, 2]], "not defined"),
        (&[&define, &begin, &[4, 1, 1]], "run that is not"),
        (&[&define, &begin, &[5, 3, 0]], "access without"),
        (&[&define, &begin, &[4, 0, 1, 5, 7, 0]], "64 bytes"),
    ];
    for (records, expected) in cases {
        let bytes = [b"PMTR\x01\0\0\0", &records.concat()[..]].concat();
        let TraceError::Corrupt { offset, what } = fault(&bytes) else { panic!("{expected}") };
        assert!(what.contains(expected), "{what}");
        assert!(offset >= 8 && offset < bytes.len() as u64);
    }
}

#[test]
fn bytes_after_the_end_and_endless_integers_are_refused() {
    let after = [&sample()[..], &[0]].concat();
    assert!(matches!(fault(&after), TraceError::Corrupt { .. }));
    let endless = [b"PMTR\x01\0\0\0\x02", &[0xff; 10][..], &[1]].concat();
    assert!(matches!(fault(&endless), TraceError::Corrupt { offset: 8, .. }));
}

/// An execution of a random trace: where, what, and what it accesses.
type Step = (u64, usize, Option<(bool, u64)>);

fn step() -> impl Strategy<Value = Step> {
    let access = prop::option::of((any::<bool>(), 0_u64..4096));
    (0_u64..64, 0_usize..14, access)
}

/// A well-formed trace of executions that make no sense.
fn trace_of(steps: &[Step]) -> Vec<u8> {
    let code: [&[u8]; 14] = [
        NOP,
        RET,
        SYSCALL,
        SYSRET,
        IRET,
        POPF,
        LOAD_RAX,
        LOAD_RSP,
        REP_MOVSB,
        CALL_RAX,
        JMP_RAX,
        &[0xe8, 0xfb, 0, 0, 0],
        &[0xeb, 0xfe],
        RDTSC,
    ];
    let mut writer = Writer::new();
    writer.window(|w| {
        for (place, which, access) in steps {
            let base = if *place < 8 { USER } else { K + (place >> 2) * 0x40 };
            w.at(base + (place & 3) * 5, code[*which]);
            match access {
                Some((true, offset)) => w.store(STACK_A + (offset & !7) * 8, 3),
                Some((false, offset)) => w.load(STACK_A + (offset & !7) * 8, 3),
                None => w,
            };
        }
    });
    writer.stop()
}

proptest! {
    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        decode(&bytes[..], &NoSymbols);
        let headed = [b"PMTR\x01\0\0\0", &bytes[..]].concat();
        decode(&headed[..], &NoSymbols);
    }

    #[test]
    fn flipped_bits_are_answered(at in any::<prop::sample::Index>(), bit in 0_u8..8) {
        let mut bytes = sample();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        let recording = decode(&bytes[..], &names());
        recording.representative.iter().for_each(assert_adds_up);
    }

    #[test]
    fn every_window_adds_up(steps in prop::collection::vec(step(), 0..300)) {
        let bytes = trace_of(&steps);
        let resolvers: [&dyn Resolve; 3] = [&names(), &NoSymbols, &names_with_sources()];
        for recording in resolvers.map(|resolver| whole(&bytes, resolver)) {
            let tree = recording.representative.or(recording.interrupted).unwrap();
            assert_adds_up(&tree);
            prop_assert!(tree.total <= steps.len() as u64 + 1);
        }
    }
}
