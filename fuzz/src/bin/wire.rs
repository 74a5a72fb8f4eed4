//! What the agent sends: a stream of frames, and payloads in a frame whose checksum is right.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pathmeter_wire::{
    HEADER, Kind, MAX_PAYLOAD, RawFrame, TRAILER,
    message::{
        MAX_CHECKS, MAX_SAMPLES, MAX_SYMBOLS, OutcomeSink, OutcomeStatus, Place, read_begin,
        read_fact, read_memory, read_outcome, read_plain, read_shown, read_unmet,
    },
    next_frame, program, seal,
};

fuzz_target!(|bytes: &[u8]| {
    let mut stream = bytes;
    while let Ok(Some(frame)) = next_frame(stream) {
        read(&frame);
        stream = &stream[frame.length..];
    }
    read_sealed(bytes);
});

/// The first byte is the kind, the others are the payload.
fn read_sealed(bytes: &[u8]) {
    let Some((kind, payload)) = bytes.split_first() else { return };
    let Some(kind) = Kind::from_u8(*kind).filter(|_| payload.len() <= MAX_PAYLOAD) else { return };
    let mut buffer = vec![0; HEADER + payload.len() + TRAILER];
    buffer[HEADER..HEADER + payload.len()].copy_from_slice(payload);
    let sealed = seal(&mut buffer, kind, payload.len()).expect("the buffer has room");
    let frame = next_frame(sealed).expect("a sealed frame is good").expect("and whole");
    assert_eq!((frame.kind, frame.payload, frame.length), (kind, payload, sealed.len()));
    read(&frame);
}

fn read(frame: &RawFrame<'_>) {
    let mut bounded = Bounded::default();
    match frame.kind {
        Kind::Ready | Kind::Done | Kind::Abort => drop(read_plain(frame)),
        Kind::Begin => drop(read_begin(frame)),
        Kind::Outcome => drop(read_outcome(frame, &mut bounded)),
        Kind::Symbols | Kind::Start => drop(read_memory(frame, MAX_SYMBOLS)),
        Kind::ProgramBegin => drop(program::read_begin(frame)),
        Kind::ProgramEnd => drop(program::read_end(frame)),
        Kind::ProgramOutput => drop(program::read_output(frame)),
        Kind::Fact => drop(read_fact(frame)),
        Kind::Unmet => drop(read_unmet(frame)),
        Kind::Shown => drop(read_shown(frame)),
        Kind::PerfMap => drop(program::read_perf_map(frame)),
    }
}

/// Counts the values of an outcome.
#[derive(Default)]
struct Bounded {
    checks: u64,
    samples: u64,
}

impl OutcomeSink for Bounded {
    fn status(&mut self, _place: Place, _status: OutcomeStatus, _reason: &str) {}

    fn check(&mut self, _name: &str, _value: &str) {
        self.checks += 1;
        assert!(self.checks <= MAX_CHECKS);
    }

    fn sample(&mut self, _value: u64) {
        self.samples += 1;
        assert!(self.samples <= MAX_SAMPLES);
    }

    fn lower_bound(&mut self, position: usize) {
        assert!((position as u64) < MAX_SAMPLES);
    }
}
