//! What a trace without end, or a guest that wants to be remembered, can make the decoder keep.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::io::{self, Read};

use common::*;
use pathmeter_trace::{
    TraceError,
    reader::{MAX_INSTRUCTIONS, MAX_WINDOWS, Reader},
};

const A: u64 = K + 0x100;
const B: u64 = K + 0x200;
const SWITCH_ASM: u64 = K + 0x1000;

/// Whole records, over and over.
struct Endless<'a>(&'a [u8]);

impl Read for Endless<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let places = buffer.chunks_exact_mut(self.0.len());
        Ok(places.map(|place| place.copy_from_slice(self.0)).count() * self.0.len())
    }
}

/// How many records are read before the reader stops, and what it reports then.
fn read_until_refused(records: &[u8]) -> (u64, &'static str) {
    let mut reader = Reader::new(b"PMTR\x01\0\0\0".chain(Endless(records)));
    let mut read = 0;
    loop {
        assert!(read <= u64::from(MAX_INSTRUCTIONS), "nothing stops the reader");
        match reader.next_item() {
            Ok(_) => read += 1,
            Err(TraceError::Corrupt { what, .. }) => return (read, what),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn no_more_instructions_are_read_than_a_kernel_has() {
    let instruction = [&[1][..], &[0; 16], &[1, 0x90]].concat();
    let (read, what) = read_until_refused(&instruction);
    assert_eq!(read, u64::from(MAX_INSTRUCTIONS));
    assert!(what.starts_with("more distinct instructions"), "{what}");
}

#[test]
fn no_more_windows_are_read_than_a_recording_has() {
    let (read, what) = read_until_refused(&[2, 0, 3, 0]);
    assert_eq!(read, 2 * MAX_WINDOWS);
    assert!(what.starts_with("more windows"), "{what}");
}

#[test]
fn calls_without_end_make_no_tree_without_end() {
    const CALLS: u64 = 70_000;
    let tree = tree(Writer::new().syscall(|w| {
        for depth in 0..CALLS {
            w.call(A, A, STACK_A - 8 * depth);
        }
        w.jmp(A, ENTRY + 0x80);
    }));
    assert!(tree.nodes.len() <= 1 << 16, "{} nodes", tree.nodes.len());
    assert!(tree.unattributed > 0 && tree.total > CALLS);
}

#[test]
fn tasks_beyond_the_bound_are_unattributed_and_come_last() {
    let tree = tree(Writer::new().syscall(|w| {
        w.call(ENTRY + 1, SWITCH_ASM, STACK_A - 8);
        for stack in (1..=300).map(|index| STACK_B + index * 0x8000) {
            w.at(SWITCH_ASM, LOAD_RSP).load(stack, 3).ret(SWITCH_ASM + 3, stack);
            w.call(B, SWITCH_ASM, stack);
        }
        w.jmp(SWITCH_ASM, ENTRY + 0x80);
    }));
    let roots = tree.nodes.iter().filter(|node| node.parent.is_none());
    let roots: Vec<&str> = roots.map(|node| tree.name(node)).collect();
    assert_eq!((roots.len(), roots[0]), (257, "[task 1]"));
    assert_eq!(roots[255..], ["[task 256]", "[unattributed]"]);
    assert!(tree.unattributed >= 3 * 44);
}

#[test]
fn no_more_lines_are_kept_than_the_bound() {
    const LINES: u64 = 1 << 20;
    let tree = tree(Writer::new().window(|w| {
        w.at(USER, LOAD_RAX);
        for line in 0..LINES + 100 {
            w.load(0x1_0000_0000 + line * 64, 0);
        }
        w.jmp(USER + 3, USER + 0x1000);
    }));
    assert!((LINES - 10..=LINES).contains(&tree.footprint.data_lines));
    assert_eq!(tree.functions.iter().map(|it| it.counts.loads).sum::<u64>(), LINES + 100);
}
