//! Recordings of every kind that the fuzzer starts from (`fuzz/seeds/trace/`).
//!
//! `PATHMETER_BLESS=1 cargo test -p pathmeter-trace` writes them anew.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::{fs, path::Path};

use common::*;

const A: u64 = K + 0x100;
const B: u64 = K + 0x200;
const SWITCH_ASM: u64 = K + 0x1000;
const FAULT: u64 = K + 0x1300;
const TIMER: u64 = K + 0x1400;
const SLOT: u64 = STACK_A - 0x100;

fn calls(w: &mut Writer) {
    w.syscall(|w| {
        w.call(ENTRY + 1, A, SLOT).at(A, POPF).load(SLOT - 8, 3);
        w.call(A + 1, B, SLOT - 8).nops(B, 2).ret(B + 2, SLOT - 8);
        w.at(A + 6, CALL_RAX).store(SLOT - 8, 3).ret(B, SLOT - 8);
        w.jmp(A + 8, B).ret(B, SLOT).jmp(ENTRY + 6, ENTRY + 0x80);
    });
}

fn switch(w: &mut Writer) {
    let other = STACK_B - 0x100;
    w.syscall(|w| {
        w.call(ENTRY + 1, A, SLOT).call(A, SWITCH_ASM, SLOT - 8);
        w.nops(SWITCH_ASM, 1).at(SWITCH_ASM + 1, LOAD_RSP).load(SLOT - 8, 3);
        w.ret(SWITCH_ASM + 4, other).nops(B + 9, 2).call(B + 11, SWITCH_ASM, other);
        w.nops(SWITCH_ASM, 1).at(SWITCH_ASM + 1, LOAD_RSP).load(other, 3);
        w.ret(SWITCH_ASM + 4, SLOT - 8).ret(A + 5, SLOT).jmp(ENTRY + 6, ENTRY + 0x80);
    });
}

fn interrupt(w: &mut Writer) {
    w.syscall(|w| {
        w.call(ENTRY + 1, A, SLOT).nops(TIMER, 1).call(TIMER + 1, B, SLOT - 0x80);
        w.ret(B, SLOT - 0x80).at(TIMER + 6, IRET).nops(A, 1).ret(A + 1, SLOT);
        w.jmp(ENTRY + 6, ENTRY + 0x80);
    });
}

fn fault(w: &mut Writer) {
    w.window(|w| {
        w.at(USER, LOAD_RAX).nops(FAULT, 3).at(FAULT + 3, IRET);
        w.at(USER, LOAD_RAX).load(0x1234, 3).jmp(USER + 3, USER + 0x1000);
    });
}

fn rep(w: &mut Writer) {
    w.window(|w| {
        w.at(USER, REP_MOVSB);
        for index in 0..3 {
            w.load(0x1000 + index, 0).store(0x2000 + index, 0);
        }
        w.jmp(USER + 2, USER + 0x1000);
    });
}

#[test]
fn the_fuzzers_recordings_are_whole_and_as_the_writer_makes_them() {
    let windows = [calls, switch, interrupt, fault, rep];
    let names_of_windows = ["calls", "switch", "interrupt", "fault", "rep"];
    for (name, window) in names_of_windows.into_iter().zip(windows) {
        assert_seed(name, &[window]);
    }
    assert_seed("mixed", &[calls, interrupt, calls, rep]);
}

fn assert_seed(name: &str, windows: &[fn(&mut Writer)]) {
    let mut writer = Writer::new();
    for window in windows {
        window(&mut writer);
    }
    let bytes = writer.stop();
    assert_eq!(whole(&bytes, &names()).windows.recorded, windows.len() as u64, "{name}");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/trace").join(name);
    if std::env::var_os("PATHMETER_BLESS").is_some() {
        fs::write(&file, &bytes).unwrap();
    }
    assert!(fs::read(&file).unwrap() == bytes, "{name} is stale: run with PATHMETER_BLESS=1");
}
