//! What the decoder knows of single instructions, and of the places that entries arrive at.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::*;
use pathmeter_trace::{Census, SlowInstruction, WindowTree};

const A: u64 = K + 0x100;
const FAR: u64 = USER + 0x1000;

/// Machine code, as written in the manual, and what the census counts it as.
const MET: [(&[u8], SlowInstruction); 83] = [
    (&[0x9d], SlowInstruction::Popf),
    (&[0x9c], SlowInstruction::Pushf),
    (&[0xfa], SlowInstruction::Cli),
    (&[0xfb], SlowInstruction::Sti),
    (&[0xf4], SlowInstruction::Hlt),
    (&[0x0f, 0x30], SlowInstruction::Wrmsr),
    (&[0x0f, 0x32], SlowInstruction::Rdmsr),
    (&[0x0f, 0x22, 0xd8], SlowInstruction::MovToCr3),
    (&[0x0f, 0x01, 0x38], SlowInstruction::Invlpg),
    (&[0x0f, 0x01, 0xf8], SlowInstruction::Swapgs),
    (&[0xcf], SlowInstruction::Iret),
    (&[0x48, 0xcf], SlowInstruction::Iret),
    (&[0x0f, 0x07], SlowInstruction::Sysret),
    (&[0x48, 0x0f, 0x07], SlowInstruction::Sysret),
    (&[0x0f, 0x35], SlowInstruction::Sysexit),
    (&[0x48, 0x0f, 0x35], SlowInstruction::Sysexit),
    (&[0x0f, 0x05], SlowInstruction::Syscall),
    (&[0x0f, 0x34], SlowInstruction::Sysenter),
    (&[0xcd, 0x80], SlowInstruction::Int),
    (&[0x0f, 0x03, 0xc1], SlowInstruction::Lsl),
    (&[0x0f, 0x01, 0x08], SlowInstruction::Sidt),
    (&[0x0f, 0x01, 0x00], SlowInstruction::Sgdt),
    (&[0x0f, 0x00, 0xc0], SlowInstruction::Sldt),
    (&[0x0f, 0xa2], SlowInstruction::Cpuid),
    (&[0x0f, 0x01, 0xf9], SlowInstruction::Rdtscp),
    (&[0xf3, 0x0f, 0xc7, 0xf8], SlowInstruction::Rdpid),
    (&[0x0f, 0x00, 0x28], SlowInstruction::Verw),
    (&[0x0f, 0xae, 0xe8], SlowInstruction::Lfence),
    (&[0x0f, 0xae, 0xf0], SlowInstruction::Mfence),
    (&[0x0f, 0xae, 0x00], SlowInstruction::Xsave),
    (&[0x0f, 0xae, 0x20], SlowInstruction::Xsave),
    (&[0x48, 0x0f, 0xae, 0x30], SlowInstruction::Xsave),
    (&[0x0f, 0xc7, 0x20], SlowInstruction::Xsave),
    (&[0x48, 0x0f, 0xc7, 0x28], SlowInstruction::Xsave),
    (&[0x0f, 0xae, 0x08], SlowInstruction::Xrstor),
    (&[0x48, 0x0f, 0xae, 0x28], SlowInstruction::Xrstor),
    (&[0x0f, 0xc7, 0x18], SlowInstruction::Xrstor),
    (&[0xf0, 0xff, 0x00], SlowInstruction::Locked),
    // xchg with memory locks without the prefix.
    (&[0x87, 0x00], SlowInstruction::Locked),
    (&[0xec], SlowInstruction::In),
    (&[0xf3, 0x6c], SlowInstruction::In),
    (&[0xee], SlowInstruction::Out),
    (&[0xf3, 0x6e], SlowInstruction::Out),
    (&[0xf3, 0x90], SlowInstruction::Pause),
    (&[0x0f, 0x01, 0xcb], SlowInstruction::Stac),
    (&[0x0f, 0x01, 0xca], SlowInstruction::Clac),
    (&[0x0f, 0x31], SlowInstruction::Rdtsc),
    (&[0x0f, 0x22, 0xe0], SlowInstruction::MovToControl),
    (&[0x0f, 0x23, 0xf8], SlowInstruction::MovToControl),
    (&[0x66, 0x0f, 0x38, 0x82, 0x08], SlowInstruction::Invpcid),
    (&[0x0f, 0x09], SlowInstruction::Wbinvd),
    (&[0x0f, 0x08], SlowInstruction::Wbinvd),
    (&[0x0f, 0xae, 0x38], SlowInstruction::Clflush),
    (&[0x66, 0x0f, 0xae, 0x38], SlowInstruction::Clflush),
    (&[0x66, 0x0f, 0xae, 0x30], SlowInstruction::Clflush),
    (&[0x8e, 0xc0], SlowInstruction::LoadSegment),
    (&[0x0f, 0xa1], SlowInstruction::LoadSegment),
    (&[0x0f, 0xb5, 0x00], SlowInstruction::LoadSegment),
    (&[0x0f, 0x00, 0xd0], SlowInstruction::LoadTable),
    (&[0x0f, 0x01, 0x18], SlowInstruction::LoadTable),
    (&[0xf3, 0x48, 0x0f, 0xae, 0xc8], SlowInstruction::SegmentBase),
    (&[0xf3, 0x48, 0x0f, 0xae, 0xd8], SlowInstruction::SegmentBase),
    (&[0x0f, 0x02, 0xc1], SlowInstruction::Lar),
    (&[0x0f, 0x00, 0xe0], SlowInstruction::Verr),
    (&[0x0f, 0x00, 0xc8], SlowInstruction::Str),
    (&[0x0f, 0xae, 0xf8], SlowInstruction::Sfence),
    // movnti, movntdq, movntps, vmovntdq of 32 bytes, maskmovdqu, movdir64b.
    (&[0x48, 0x0f, 0xc3, 0x07], SlowInstruction::NonTemporal),
    (&[0x66, 0x0f, 0xe7, 0x07], SlowInstruction::NonTemporal),
    (&[0x0f, 0x2b, 0x07], SlowInstruction::NonTemporal),
    (&[0xc5, 0xfd, 0xe7, 0x07], SlowInstruction::NonTemporal),
    (&[0x66, 0x0f, 0xf7, 0xc1], SlowInstruction::NonTemporal),
    (&[0x66, 0x0f, 0x38, 0xf8, 0x07], SlowInstruction::NonTemporal),
    (&[0x0f, 0x01, 0xe8], SlowInstruction::Serialize),
    (&[0x0f, 0x01, 0xd0], SlowInstruction::Xcontrol),
    (&[0x48, 0xf7, 0xf1], SlowInstruction::Div64),
    (&[0x48, 0xf7, 0x38], SlowInstruction::Div64),
    (&[0xf7, 0xf1], SlowInstruction::Div),
    (&[0x48, 0x0f, 0xaf, 0xc1], SlowInstruction::Mul64),
    (&[0x48, 0xf7, 0xe1], SlowInstruction::Mul64),
    (&[0xf3, 0xa4], SlowInstruction::Rep),
    (&[0x0f, 0xc7, 0xf0], SlowInstruction::Rdrand),
    (&[0x0f, 0xc7, 0xf8], SlowInstruction::Rdrand),
    (&[0x0f, 0x33], SlowInstruction::Rdpmc),
];

/// Similar to those, but none of them: xchg of registers, mov from cr3, cmpxchg without lock,
/// mov from a segment register, mul of 32 bits, movs without rep, a plain store, movntdqa, which
/// loads.
const NOT_MET: [&[u8]; 8] = [
    &[0x91],
    &[0x0f, 0x20, 0xd8],
    &[0x0f, 0xb1, 0x08],
    &[0x8c, 0xc0],
    &[0xf7, 0xe1],
    &[0xa4],
    &[0x48, 0x89, 0x07],
    &[0x66, 0x0f, 0x38, 0x2a, 0x07],
];

fn window(body: impl FnOnce(&mut Writer)) -> WindowTree {
    let bytes = Writer::new().window(|w| body(w)).stop();
    whole(&bytes, &names()).representative.unwrap()
}

/// The census of a window in which `code` is executed, without the closing stamp.
fn census_of(code: &[u8]) -> Census {
    let mut census = window(|w| {
        // A repeated one is done when control goes on after it.
        let end = USER + code.len() as u64;
        w.at(USER, code).jmp(end, FAR);
    })
    .census;
    let stamps = census.get_mut(&SlowInstruction::Rdtsc).unwrap();
    *stamps -= 1;
    census.retain(|_, met| *met > 0);
    census
}

#[test]
fn each_slow_instruction_is_counted_as_what_it_is() {
    for (code, slow) in MET {
        assert_eq!(census_of(code), Census::from([(slow, 1)]), "{code:02x?}");
    }
    assert!(SlowInstruction::ALL.iter().all(|slow| MET.iter().any(|(_, met)| met == slow)));
}

#[test]
fn what_is_fast_is_not_counted() {
    for code in NOT_MET {
        assert_eq!(census_of(code), Census::new(), "{code:02x?}");
    }
}

#[test]
fn an_access_across_two_lines_touches_both() {
    for (address, lines) in [(0x1038, 1), (0x103c, 2)] {
        let tree = window(|w| {
            w.at(USER, LOAD_RAX).load(address, 3).jmp(USER + 3, FAR);
        });
        assert_eq!(tree.footprint.data_lines, lines);
    }
}

#[test]
fn what_a_repeated_scan_reads_is_moved_by_it() {
    let tree = window(|w| {
        for address in 0x1000..0x1003 {
            w.at(USER, &[0xf2, 0xae]).load(address, 0);
        }
        w.jmp(USER + 2, FAR);
    });
    let moved = tree.functions.iter().map(|it| it.counts.rep_bytes).sum::<u64>();
    assert_eq!((tree.total, tree.clock, moved), (3, 5, 3));
}

#[test]
fn a_far_jump_of_32_bit_code_is_a_jump() {
    let tree = window(|w| {
        // Its target is USER + 0x1000.
        w.at(USER, &[0xea, 0x00, 0x10, 0x40, 0x00, 0x33, 0x00]);
    });
    assert_eq!((tree.total, tree.unattributed), (2, 0));
}

#[test]
fn after_a_call_of_the_hypervisor_execution_goes_on_behind_it() {
    let tree = window(|w| {
        w.at(USER, &[0x0f, 0x01, 0xc1]).nops(USER + 3, 1).jmp(USER + 4, FAR);
    });
    assert_eq!((tree.total, tree.unattributed), (4, 0));
}

#[test]
fn an_interrupt_arrives_anywhere_in_a_table_of_entries() {
    let names = Names(vec![(A, "irq_entries_start")]);
    let mut writer = Writer::new();
    writer.window(|w| {
        w.at(USER, NOP).nops(A + 8, 1).at(A + 9, IRET).jmp(USER + 1, FAR);
    });
    let tree = whole(&writer.stop(), &names).interrupted.unwrap();
    assert_eq!((tree.interrupts, tree.unattributed), (1, 0));
}

#[test]
fn labels_within_an_entry_are_the_entry() {
    let names = Names(vec![(ENTRY, "entry_SYSCALL_64"), (A, "entry_SYSCALL_64_safe_stack")]);
    let mut writer = Writer::new();
    writer.syscall(|w| {
        w.jmp(ENTRY + 1, A).jmp(A, ENTRY + 0x80);
    });
    let tree = whole(&writer.stop(), &names).representative.unwrap();
    let drawn = tree.nodes.iter().map(|node| tree.name(node)).collect::<Vec<_>>();
    assert_eq!(drawn, ["[task 1]", "[user]", "entry_SYSCALL_64"]);
}
