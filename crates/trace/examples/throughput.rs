//! How fast traces are decoded: `throughput [MILLIONS [lines]]`, of a synthetic trace made on the
//! fly, without names or with those of inlined functions and source lines.
//!
//! Each round calls, stores, loads, branches and tail-calls in the mix that kernel code has: a
//! memory access every three instructions, a call or return every fifteen.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a measurement")]

use std::{
    io::{Cursor, Read},
    time::Instant,
};

use pathmeter_trace::{NoSymbols, Resolve, decode};

#[path = "../tests/common/mod.rs"]
mod common;

use common::{K, LOAD_RAX, NOP, STACK_A, SYSCALL, USER, Writer, call};

const ROUND: u64 = 28;

/// One round of the loop, ending with a jump to its begin.
fn round(w: &mut Writer, turn: u64) {
    let (f, slot) = (K + 0x100, STACK_A - 64);
    w.nops(K, 1).at(K + 1, &call(K + 1, f)).store(slot, 3);
    for index in 0..8 {
        let at = f + index * 5;
        w.at(at, LOAD_RAX).load(K + 0x10_0000 + (turn * 8 + index) % 512 * 64, 3);
        w.at(at + 3, NOP).at(at + 4, NOP);
    }
    w.ret(f + 40, slot).jmp(K + 6, K);
}

fn main() {
    let millions: u64 = std::env::args().nth(1).map_or(50, |word| word.parse().unwrap());
    let sourced = common::sourced();
    let with_lines = std::env::args().nth(2).is_some_and(|word| word == "lines");
    let resolver: &dyn Resolve = if with_lines { &sourced } else { &NoSymbols };
    let mut head = Writer::new();
    head.begin().at(USER, common::RDTSC).at(USER + 2, SYSCALL);
    round(&mut head, 0);
    let head_length = head.bytes.len();
    (0..512).for_each(|turn| round(&mut head, turn));
    let body = head.bytes.split_off(head_length);
    let rounds = millions * 1_000_000 / ROUND / 512;
    let mut tail = head;
    let head = std::mem::take(&mut tail.bytes);
    tail.at(K, common::SYSRET).at(USER + 4, common::RDTSC).end();
    let tail = tail.stop();
    let length = body.len() as u64 * rounds;
    let trace =
        Cursor::new(head).chain(Repeated { body, at: 0 }.take(length)).chain(Cursor::new(tail));
    let begin = Instant::now();
    let recording = decode(trace, resolver);
    let took = begin.elapsed();
    let tree = recording.representative.or(recording.interrupted).unwrap();
    println!(
        "{} instructions, {length} bytes, {took:?}: {} million a second",
        tree.total,
        u128::from(tree.total) / took.as_micros(),
    );
    println!("{:?}", common::drawn(&tree));
}

/// The same bytes for ever.
struct Repeated {
    body: Vec<u8>,
    at: usize,
}

impl Read for Repeated {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = (&self.body[self.at..]).read(buffer)?;
        self.at = (self.at + count) % self.body.len();
        Ok(count)
    }
}
