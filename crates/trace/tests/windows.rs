//! What the decoder makes of each way that control can go.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::*;
use pathmeter_trace::{Event, SlowInstruction, WindowTree, decode_window, difference};

const A: u64 = K + 0x100;
const B: u64 = K + 0x200;
const C: u64 = K + 0x300;
const SWITCH_ASM: u64 = K + 0x1000;
const SWITCH: u64 = K + 0x1100;
const THUNK: u64 = K + 0x1200;
const FAULT: u64 = K + 0x1300;
const TIMER: u64 = K + 0x1400;
const SLOT: u64 = STACK_A - 0x100;

#[test]
fn an_empty_window_counts_its_last_stamp_only() {
    let tree = tree(Writer::new().begin().at(USER, RDTSC).at(USER + 2, RDTSC).end());
    assert_eq!((tree.total, tree.unattributed), (1, 0));
    assert_eq!(draw_tree(&tree), ["[task 1] task 0", " [user] call 1"]);
}

#[test]
fn the_clock_that_an_interrupts_kernel_reads_stamps_nothing() {
    let usual = tree(Writer::new().window(|w| {
        w.nops(USER, 3);
    }));
    // A tick comes between the marker and the program's first stamp, and another after its last.
    let mut writer = Writer::new();
    writer.begin().nops(TIMER, 1).at(TIMER + 1, RDTSC).at(TIMER + 3, IRET).at(USER - 2, RDTSC);
    writer.nops(USER, 3).at(USER + 0x1000, RDTSC);
    writer.nops(TIMER, 1).at(TIMER + 1, RDTSC).at(TIMER + 3, IRET).end();
    assert_eq!(tree(&mut writer).total, usual.total);
}

#[test]
fn what_follows_the_last_stamp_does_not_count() {
    let mut writer = Writer::new();
    writer.begin().nops(USER - 2, 2).at(USER, RDTSC).nops(USER + 2, 3).at(USER + 5, RDTSC);
    writer.at(USER + 7, LOAD_RAX).load(STACK_A, 3).nops(USER + 10, 5).end();
    let tree = tree(&mut writer);
    assert_eq!((tree.total, tree.functions.len(), tree.footprint.data_lines), (4, 2, 0));
}

#[test]
fn between_two_points_everything_counts_and_stamps_are_like_any_instruction() {
    let tree = tree(Writer::new().begin_whole().nops(A, 2).at(A + 2, RDTSC).nops(A + 4, 3).end());
    assert_eq!((tree.total, tree.clock), (6, 6));
    assert_eq!(draw_tree(&tree), ["[task 1] task 0", " a call 6"]);
}

#[test]
fn a_window_between_two_points_may_end_after_a_string_instruction() {
    let mut writer = Writer::new();
    writer.begin_whole().nops(A, 1);
    (0..3).for_each(|_| {
        writer.at(A + 1, REP_MOVSB);
    });
    let tree = tree(writer.end());
    assert_eq!((tree.total, tree.clock), (2, 4), "retired once, and each iteration a step");
}

#[test]
fn a_window_that_is_dropped_leaves_nothing() {
    let mut writer = Writer::new();
    writer.begin_whole().nops(A, 7).at(A + 7, LOAD_RAX).load(STACK_A, 3).drop_window();
    let tree = tree(writer.begin_whole().nops(B, 2).end());
    assert_eq!((tree.total, tree.footprint.data_lines), (2, 0));
    assert_eq!(draw_tree(&tree), ["[task 1] task 0", " b call 2"]);
}

#[test]
fn of_a_stamped_window_between_two_points_what_is_between_the_stamps_counts() {
    let mut writer = Writer::new();
    writer.begin_stamped().nops(A, 2).at(A + 2, RDTSC).nops(A + 4, 3).at(A + 7, RDTSC);
    let tree = tree(writer.nops(A + 9, 5).end());
    assert_eq!((tree.total, tree.clock), (4, 4));
}

#[test]
fn an_interrupt_belongs_to_a_window_between_two_points() {
    let mut writer = Writer::new();
    writer.begin_whole().nops(A, 2);
    writer.nops(TIMER, 3).at(TIMER + 3, IRET).nops(A + 2, 1).end();
    let recording = whole(&writer.stop(), &names());
    let tree = recording.representative.unwrap();
    assert_eq!((tree.total, tree.interrupts), (7, 1));
    assert!(recording.interrupted.is_none());
}

#[test]
fn calls_and_returns_make_the_tree() {
    let tree = tree(Writer::new().syscall(|w| {
        w.call(ENTRY + 1, A, SLOT).nops(A, 2);
        w.call(A + 2, B, SLOT - 8).nops(B, 3).ret(B + 3, SLOT - 8);
        w.call(A + 7, B, SLOT - 8).nops(B, 3).ret(B + 3, SLOT - 8);
        w.ret(A + 12, SLOT).jmp(ENTRY + 6, ENTRY + 0x80);
    }));
    let expected =
        ["[task 1] task 0", " [user] call 3", "  entry syscall 4", "   a call 5", "    b call 8"];
    assert_eq!(draw_tree(&tree), expected);
    assert_eq!(tree.census[&SlowInstruction::Sysret], 1);
    assert_eq!((tree.functions[4].counts.loads, tree.functions[4].counts.bytes_loaded), (2, 16));
}

#[test]
fn without_symbols_functions_go_by_their_entries() {
    let tree = nameless(Writer::new().syscall(|w| {
        w.call(ENTRY + 1, A, SLOT).nops(A, 2).ret(A + 2, SLOT).jmp(ENTRY + 6, ENTRY + 0x80);
    }));
    let expected = [
        "[task 1] task 0",
        " [user] call 3",
        "  0xffffffff81000000 syscall 4",
        "   0xffffffff81000100 call 3",
    ];
    assert_eq!(draw_tree(&tree), expected);
}

#[test]
fn a_tail_call_returns_in_its_callers_stead() {
    let tree = tree(Writer::new().syscall(|w| {
        w.call(ENTRY + 1, A, SLOT).nops(A, 2).jmp(A + 2, B).nops(B, 1).ret(B + 1, SLOT);
        w.jmp(ENTRY + 6, ENTRY + 0x80);
    }));
    assert_eq!(draw_tree(&tree)[3..], ["   a call 3", "    b tail-call 2"]);
}

#[test]
fn a_cold_part_is_its_functions_own_code() {
    let cold = K + 0x1500;
    let tree = tree(Writer::new().syscall(|w| {
        w.call(ENTRY + 1, A, SLOT).jmp(A, cold).jmp(cold, A + 8).ret(A + 8, SLOT);
        w.jmp(ENTRY + 6, ENTRY + 0x80);
    }));
    assert_eq!(draw_tree(&tree)[3..], ["   a call 3"]);
}

#[test]
fn a_retpolines_target_stands_beside_the_thunk() {
    let tree = tree(Writer::new().syscall(|w| {
        w.call(ENTRY + 1, THUNK, SLOT).call(THUNK, THUNK + 8, SLOT - 8);
        w.at(THUNK + 8, &[0x48, 0x89, 0x04, 0x24]).store(SLOT - 8, 3).ret(THUNK + 12, SLOT - 8);
        w.nops(B, 1).ret(B + 1, SLOT).jmp(ENTRY + 6, ENTRY + 0x80);
    }));
    let expected = ["   __x86_indirect_thunk_rax call 3", "   b call 2"];
    assert_eq!(draw_tree(&tree)[3..], expected);
    assert_eq!(tree.unmatched_returns, 0);
}

#[test]
fn a_thunk_without_a_name_is_known_by_its_jump() {
    let thunk = K + 0x3000;
    let tree = tree(Writer::new().syscall(|w| {
        w.call(ENTRY + 1, thunk, SLOT).at(thunk, JMP_RAX).nops(B, 1).ret(B + 1, SLOT);
        w.jmp(ENTRY + 6, ENTRY + 0x80);
    }));
    assert_eq!(draw_tree(&tree)[3..], [format!("   {thunk:#x} call 1"), "   b call 2".to_owned()]);
}

#[test]
fn returns_that_match_no_call_are_counted() {
    let pushed = tree(Writer::new().syscall(|w| {
        w.call(ENTRY + 1, A, SLOT).nops(A, 1).ret(A + 1, SLOT - 8).nops(B, 1).ret(B + 1, SLOT);
        w.jmp(ENTRY + 6, ENTRY + 0x80);
    }));
    assert_eq!(draw_tree(&pushed)[3..], ["   a call 2", "    b tail-call 2"]);
    // A thunk by another name: its return address is overwritten, but by none of its own calls.
    let overwritten = tree(Writer::new().syscall(|w| {
        w.call(ENTRY + 1, A, SLOT).call(A, C, SLOT - 8).nops(C, 1).ret(C + 1, SLOT - 8);
        w.nops(B, 1).ret(B + 1, SLOT).jmp(ENTRY + 6, ENTRY + 0x80);
    }));
    assert_eq!([pushed.unmatched_returns, overwritten.unmatched_returns], [1, 1]);
    // A processor expects neither; the others follow their calls, or calls before the window.
    let mispredicted = |tree: &WindowTree| tree.events[&Event::MispredictedReturns];
    assert_eq!([&pushed, &overwritten].map(mispredicted), [1, 1]);
}

#[test]
fn a_call_into_a_functions_padding_is_a_call_of_it() {
    let names = Names(vec![(ENTRY, "entry"), (A, "__pfx_b"), (B, "b")]);
    let bytes = Writer::new()
        .syscall(|w| {
            w.call(ENTRY + 1, B - 2, SLOT).nops(B - 2, 5).ret(B + 3, SLOT);
            w.jmp(ENTRY + 6, ENTRY + 0x80);
        })
        .stop();
    let tree = whole(&bytes, &names).representative.unwrap();
    assert_eq!(draw_tree(&tree)[3..], ["   b call 6"]);
    assert_eq!(tree.functions[3].address, Some(format!("{B:#x}")));
}

/// Goes from `stack` to the other one: `stuffed` calls that are never returned from.
fn switch(w: &mut Writer, from: u64, to: u64, stuffed: u64) {
    w.nops(SWITCH_ASM, 1).at(SWITCH_ASM + 1, LOAD_RSP).load(from, 3);
    for index in 0..stuffed {
        let at = SWITCH_ASM + 4 + index * 5;
        w.call(at, at + 5, to - 8 * (index + 1));
    }
    let end = SWITCH_ASM + 4 + stuffed * 5;
    w.jmp(end, SWITCH).call(SWITCH, C, to - 8).nops(C, 1).ret(C + 1, to - 8).ret(SWITCH + 5, to);
}

#[test]
fn a_task_switch_there_and_back_finds_the_first_tasks_frames() {
    let other = STACK_B - 0x100;
    for stuffed in [0, 4] {
        let tree = tree(Writer::new().syscall(|w| {
            w.call(ENTRY + 1, A, SLOT).call(A, SWITCH_ASM, SLOT - 8);
            switch(w, SLOT - 8, other, stuffed);
            // B was in the same function, called from b: both tasks return to the same address.
            w.nops(A + 5, 3).ret(A + 8, other + 8).nops(B + 9, 2).call(B + 11, A, other + 8);
            w.call(A, SWITCH_ASM, other);
            switch(w, other, SLOT - 8, stuffed);
            w.ret(A + 5, SLOT).jmp(ENTRY + 6, ENTRY + 0x80);
        }));
        let asm = 3 + stuffed;
        let expected = [
            "[task 1] task 0".to_owned(),
            " [user] call 3".to_owned(),
            "  entry syscall 4".to_owned(),
            "   a call 2".to_owned(),
            format!("    __switch_to_asm call {asm}"),
            "     __switch_to tail-call 2".to_owned(),
            "      c call 2".to_owned(),
            "[task 2] task 0".to_owned(),
            " b call 3".to_owned(),
            "  a call 5".to_owned(),
            format!("   __switch_to_asm call {asm}"),
            "    __switch_to tail-call 2".to_owned(),
            "     c call 2".to_owned(),
        ];
        assert_eq!(draw_tree(&tree), expected);
        assert_eq!(tree.unattributed, 0);
    }
}

#[test]
fn a_switch_that_returns_right_behind_stuffed_calls_is_one() {
    let other = STACK_B - 0x100;
    let tree = tree(Writer::new().syscall(|w| {
        w.call(ENTRY + 1, SWITCH_ASM, SLOT).at(SWITCH_ASM, LOAD_RSP).load(SLOT, 3);
        w.call(SWITCH_ASM + 3, SWITCH_ASM + 8, other - 8).ret(SWITCH_ASM + 8, other);
        w.nops(B, 2).jmp(B + 2, ENTRY + 0x80);
    }));
    let expected = ["[task 2] task 0", " [user] call 2", "  b syscall 3", "   entry tail-call 1"];
    assert_eq!(draw_tree(&tree)[4..], expected);
}

#[test]
fn a_call_never_returned_from_ends_where_its_slot_is_used_anew() {
    let tree = tree(Writer::new().syscall(|w| {
        w.call(ENTRY + 1, A, SLOT).jmp(A, ENTRY + 0x20).call(ENTRY + 0x20, B, SLOT);
        w.nops(B, 1).ret(B + 1, SLOT).jmp(ENTRY + 0x25, ENTRY + 0x80);
    }));
    let expected = ["  entry syscall 4", "   a call 1", "    entry tail-call 1", "   b call 2"];
    assert_eq!(draw_tree(&tree)[2..], expected);
}

#[test]
fn without_symbols_stuffed_calls_are_no_functions() {
    let tree = nameless(Writer::new().syscall(|w| {
        w.call(ENTRY + 1, ENTRY + 8, SLOT).call(ENTRY + 8, ENTRY + 16, SLOT - 8);
        w.nops(ENTRY + 16, 1).jmp(ENTRY + 17, ENTRY + 0x80);
    }));
    assert_eq!(draw_tree(&tree)[2..], [format!("  {ENTRY:#x} syscall 6")]);
}

#[test]
fn a_function_jumped_back_into_is_the_one_that_jumped_away() {
    let tree = tree(Writer::new().syscall(|w| {
        w.call(ENTRY + 1, A, SLOT).jmp(A, B).jmp(B, A + 0x20).ret(A + 0x20, SLOT);
        w.jmp(ENTRY + 6, ENTRY + 0x80);
    }));
    assert_eq!(draw_tree(&tree)[3..], ["   a call 2", "    b tail-call 1"]);
}

#[test]
fn a_label_that_control_falls_through_is_no_function() {
    let tree = tree(Writer::new().syscall(|w| {
        w.call(ENTRY + 1, A + 0xff, SLOT).nops(A + 0xff, 1).jmp(B, B + 0x20).ret(B + 0x20, SLOT);
        w.jmp(ENTRY + 6, ENTRY + 0x80);
    }));
    assert_eq!(draw_tree(&tree)[3..], ["   a call 3"]);
}

#[test]
fn a_function_that_is_called_unattributed_is_not() {
    let names = Names(vec![(ENTRY, "[unattributed]"), (A, "[unattributed]")]);
    let bytes = Writer::new()
        .syscall(|w| {
            w.call(ENTRY + 1, A, SLOT).ret(A, SLOT).jmp(ENTRY + 6, ENTRY + 0x80);
        })
        .stop();
    let tree = whole(&bytes, &names).representative.unwrap();
    assert_eq!((tree.total, tree.unattributed), (8, 0));
}

#[test]
fn a_faulting_instruction_counts_once() {
    let tree = tree(Writer::new().window(|w| {
        w.at(USER, LOAD_RAX).nops(FAULT, 3).at(FAULT + 3, IRET);
        w.at(USER, LOAD_RAX).load(0x1234, 3).jmp(USER + 3, USER + 0x1000);
    }));
    assert_eq!((tree.total, tree.interrupts), (7, 0));
    let expected = ["[task 1] task 0", " [user] call 3", "  asm_exc_page_fault exception 4"];
    assert_eq!(draw_tree(&tree), expected);
}

#[test]
fn a_fault_is_known_without_symbols_too() {
    let tree = nameless(Writer::new().window(|w| {
        w.at(USER, LOAD_RAX).nops(FAULT, 3).at(FAULT + 3, IRET);
        w.at(USER, LOAD_RAX).load(0x1234, 3).jmp(USER + 3, USER + 0x1000);
    }));
    assert_eq!((tree.total, tree.interrupts), (7, 0));
}

#[test]
fn a_fault_without_access_or_symbols_is_no_interrupt_either() {
    let tree = nameless(Writer::new().window(|w| {
        w.at(USER, NOP).nops(FAULT, 1).at(FAULT + 1, IRET).at(USER, NOP);
        w.jmp(USER + 1, USER + 0x1000);
    }));
    assert_eq!((tree.total, tree.interrupts), (5, 0));
}

#[test]
fn a_fault_right_behind_a_return_to_kernel_code_leaves_what_was_interrupted() {
    let tree = tree(Writer::new().syscall(|w| {
        w.call(ENTRY + 1, A, SLOT).at(A, LOAD_RAX).nops(FAULT, 1).at(FAULT + 1, IRET);
        w.nops(FAULT, 1).at(FAULT + 1, IRET).at(A, LOAD_RAX).load(0x1234, 3);
        w.ret(A + 3, SLOT).jmp(ENTRY + 6, ENTRY + 0x80);
    }));
    let drawn = draw_tree(&tree);
    assert_eq!((&drawn[2][..], &drawn[3][..]), ("  entry syscall 4", "   a call 2"));
    assert_eq!((tree.total, tree.unattributed), (13, 0));
}

#[test]
fn a_fault_right_behind_a_return_to_user_code_comes_from_there() {
    let tree = tree(Writer::new().window(|w| {
        w.at(USER, LOAD_RAX).nops(FAULT, 1).at(FAULT + 1, IRET);
        // The code's page is gone: fetching the instruction faults.
        w.nops(FAULT, 1).at(FAULT + 1, IRET).at(USER, LOAD_RAX).load(0x1234, 3);
        w.at(USER + 3, SYSCALL).nops(ENTRY, 1).at(ENTRY + 1, SYSRET).nops(FAULT, 1);
        w.at(FAULT + 1, IRET).jmp(USER + 5, USER + 0x1000);
    }));
    let expected = [
        "[task 1] task 0",
        " [user] call 4",
        "  asm_exc_page_fault exception 6",
        "  entry syscall 2",
    ];
    assert_eq!(draw_tree(&tree), expected);
}

#[test]
fn a_call_interrupted_before_its_target_is_a_call() {
    let mut writer = Writer::new();
    writer.syscall(|w| {
        w.call(ENTRY + 1, A, SLOT).nops(TIMER, 1).call(TIMER + 1, B, SLOT - 0x80);
        w.ret(B, SLOT - 0x80).at(TIMER + 6, IRET).nops(A, 1).ret(A + 1, SLOT);
        w.jmp(ENTRY + 6, ENTRY + 0x80);
    });
    let bytes = writer.stop();
    let recording = whole(&bytes, &names());
    assert_eq!((recording.windows.interrupted, recording.totals.len()), (1, 0));
    assert!(recording.representative.is_none());
    let tree = recording.interrupted.unwrap();
    assert_eq!(tree.interrupts, 1);
    let expected =
        ["   asm_sysvec_apic_timer_interrupt interrupt 3", "    b call 1", "   a call 2"];
    assert_eq!(draw_tree(&tree)[3..], expected);
}

#[test]
fn interrupts_at_every_kind_of_instruction_leave_the_tree_as_it_was() {
    type Step = (u64, Vec<u8>, Option<(bool, u64)>);
    let steps: [Step; 6] = [
        (ENTRY + 1, call(ENTRY + 1, A), Some((true, SLOT))),
        (A, NOP.to_vec(), None),
        (A + 1, jmp(A + 1, B), None),
        (B, RET.to_vec(), Some((false, SLOT))),
        (ENTRY + 6, CALL_RAX.to_vec(), Some((true, SLOT))),
        (C, RET.to_vec(), Some((false, SLOT))),
    ];
    for interrupted in 0..steps.len() {
        let tree = tree(Writer::new().syscall(|w| {
            for (index, (address, code, access)) in steps.iter().enumerate() {
                w.at(*address, code);
                match access {
                    Some((true, slot)) => w.store(*slot, 3),
                    Some((false, slot)) => w.load(*slot, 3),
                    None => w,
                };
                if index == interrupted {
                    w.nops(TIMER, 1).at(TIMER + 1, IRET);
                }
            }
            w.jmp(ENTRY + 8, ENTRY + 0x80);
        }));
        assert_eq!(tree.interrupts, 1);
        let lines = draw_tree(&tree);
        let rest: Vec<&str> = lines.iter().map(|line| line.trim_start()).collect();
        for expected in ["entry syscall 5", "a call 2", "b tail-call 1", "c call 1"] {
            assert!(rest.contains(&expected), "{interrupted}: {lines:?} lacks {expected}");
        }
        assert_eq!(tree.unattributed, 0);
    }
}

#[test]
fn a_rep_string_counts_once_and_by_its_iterations_and_bytes() {
    let tree = tree(Writer::new().window(|w| {
        for index in 0..100 {
            w.at(USER, REP_MOVSB).load(0x1000 + index, 0).store(0x2000 + index, 0);
        }
        w.jmp(USER + 2, USER + 0x1000);
    }));
    let counts = tree.nodes[1].counts;
    assert_eq!((tree.total, tree.clock), (3, 102));
    assert_eq!((counts.rep_iterations, counts.rep_bytes), (100, 100));
    assert_eq!(tree.census[&SlowInstruction::Rep], 1);
    let footprint = tree.footprint;
    assert_eq!((footprint.read_lines, footprint.written_lines, footprint.data_lines), (2, 2, 4));
}

#[test]
fn a_rep_string_that_is_never_done_is_no_instruction() {
    let tree = tree(Writer::new().syscall(|w| {
        w.at(ENTRY + 1, REP_MOVSB).load(0x1000, 0).store(0x2000, 0);
        w.at(ENTRY + 1, REP_MOVSB).nops(FAULT, 1).at(FAULT + 1, IRET);
        // The handler goes on elsewhere, as after a bad address in a copy.
        w.jmp(ENTRY + 0x10, ENTRY + 0x80);
    }));
    let entry = tree.functions.iter().find(|of| of.name == "entry").unwrap();
    assert_eq!((entry.counts.instructions, entry.counts.clock), (3, 4));
    assert_eq!(entry.counts.rep_iterations, 1);
    assert!(!entry.census.contains_key(&SlowInstruction::Rep));
}

#[test]
fn a_comparison_of_strings_counts_one_of_both() {
    const REPE_CMPSB: &[u8] = &[0xf3, 0xa6];
    let tree = tree(Writer::new().window(|w| {
        for index in 0..5 {
            w.at(USER, REPE_CMPSB).load(0x1000 + index, 0).load(0x2000 + index, 0);
        }
        w.jmp(USER + 2, USER + 0x1000);
    }));
    let counts = tree.nodes[1].counts;
    assert_eq!((counts.loads, counts.rep_bytes, counts.instructions), (10, 5, 3));
}

#[test]
fn branches_count_where_they_were_taken() {
    const BRANCH: &[u8] = &[0x75, 0x04];
    let tree = tree(Writer::new().syscall(|w| {
        w.at(ENTRY + 1, BRANCH).at(ENTRY + 3, BRANCH).call(ENTRY + 9, A, SLOT);
        w.at(A, CALL_RAX).store(SLOT - 8, 3).ret(B, SLOT - 8).at(A + 2, JMP_RAX);
        w.ret(C, SLOT).jmp(ENTRY + 14, ENTRY + 0x80);
    }));
    let of = |name: &str| {
        let found = tree.functions.iter().find(|function| function.name == name).unwrap();
        let counts = found.counts;
        [counts.taken_branches, counts.indirect_branches, counts.returns]
    };
    assert_eq!(
        [of("entry"), of("a"), of("b"), of("c")],
        [[3, 0, 0], [2, 2, 0], [1, 0, 1], [1, 0, 1]]
    );
    // What ends the window is a jump of user code.
    assert_eq!(tree.events[&Event::TakenBranches], 8);
}

#[test]
fn a_branch_interrupted_before_its_target_counts_for_its_function() {
    let tree = tree(Writer::new().syscall(|w| {
        w.call(ENTRY + 1, A, SLOT).nops(TIMER, 1).at(TIMER + 1, IRET).ret(A, SLOT);
        w.nops(TIMER, 1).at(TIMER + 1, IRET).jmp(ENTRY + 6, ENTRY + 0x80);
    }));
    let branches = |name: &str| {
        let found = tree.functions.iter().find(|function| function.name == name).unwrap();
        found.counts.taken_branches
    };
    assert_eq!(["entry", "a", "asm_sysvec_apic_timer_interrupt"].map(branches), [2, 1, 0]);
}

#[test]
fn an_access_to_two_lines_is_split_and_touches_both() {
    let tree = tree(Writer::new().window(|w| {
        w.at(USER, LOAD_RAX).load(0x1ffc, 3).at(USER + 3, LOAD_RAX).load(0x1ff8, 3);
        w.at(USER + 6, LOAD_RAX).load(0x3000, 3).jmp(USER + 9, USER + 0x1000);
    }));
    let user = &tree.functions[1];
    assert_eq!((user.counts.split_accesses, user.footprint.data_lines), (1, 3));
    assert_eq!((user.footprint.data_pages, user.footprint.code_pages), (3, 2));
    assert_eq!((tree.events[&Event::SplitAccesses], tree.events[&Event::DataPages]), (1, 3));
}

#[test]
fn a_function_says_where_its_entry_is_in_its_line() {
    let tree = tree(Writer::new().syscall(|w| {
        w.call(ENTRY + 1, A + 0x23, SLOT).ret(A + 0x23, SLOT).jmp(ENTRY + 6, ENTRY + 0x80);
    }));
    let of = |name: &str| {
        tree.functions.iter().find(|function| function.name == name).unwrap().entry_in_line
    };
    assert_eq!((of("a"), of("[user]")), (Some(0), None));
    let names = Names(vec![(ENTRY, "entry"), (A + 0x23, "a")]);
    let mut writer = Writer::new();
    writer.syscall(|w| {
        w.call(ENTRY + 1, A + 0x23, SLOT).ret(A + 0x23, SLOT).jmp(ENTRY + 6, ENTRY + 0x80);
    });
    let tree = whole(&writer.stop(), &names).representative.unwrap();
    let a = tree.functions.iter().find(|function| function.name == "a").unwrap();
    assert_eq!(a.entry_in_line, Some(0x23));
}

#[test]
fn a_rep_string_interrupted_between_iterations_counts_them_all() {
    let tree = tree(Writer::new().window(|w| {
        w.at(USER, REP_MOVSB).load(0x1000, 0).store(0x2000, 0).nops(TIMER, 1).at(TIMER + 1, IRET);
        w.at(USER, REP_MOVSB).load(0x1001, 0).store(0x2001, 0);
        // The next one faults after its load.
        w.at(USER, REP_MOVSB).load(0x1002, 0).nops(FAULT, 1).at(FAULT + 1, IRET);
        w.at(USER, REP_MOVSB).load(0x1002, 0).store(0x2002, 0).jmp(USER + 2, USER + 0x1000);
    }));
    let counts = tree.nodes[1].counts;
    assert_eq!((tree.total, tree.clock), (7, 9));
    assert_eq!((counts.instructions, counts.rep_iterations, counts.rep_bytes), (3, 3, 3));
}

#[test]
fn what_an_interrupt_pushes_is_not_moved_by_the_string_instruction_before() {
    let tree = tree(Writer::new().window(|w| {
        for index in 0..2 {
            w.at(USER, REP_MOVSB).load(0x1000 + index, 0).store(0x2000 + index, 0);
            for word in 0..5 {
                w.store(STACK_A - 8 * word, 3);
            }
            w.nops(TIMER, 1).at(TIMER + 1, IRET);
        }
        w.at(USER, REP_MOVSB).load(0x1002, 0).store(0x2002, 0).jmp(USER + 2, USER + 0x1000);
    }));
    let counts = tree.nodes[1].counts;
    assert_eq!((counts.stores, counts.rep_bytes), (13, 3));
}

#[test]
fn a_branch_to_itself_that_was_interrupted_counts_each_time() {
    const SPIN: &[u8] = &[0x75, 0xfe];
    let mut writer = Writer::new();
    writer.window(|w| {
        w.at(USER, SPIN).nops(TIMER, 1).at(TIMER + 1, IRET).at(USER, SPIN);
        w.jmp(USER + 2, USER + 0x1000);
    });
    let tree = whole(&writer.stop(), &names()).interrupted.unwrap();
    assert_eq!((tree.total, tree.interrupts), (6, 1));
}

#[test]
fn patched_code_is_counted_as_it_stood() {
    let tree = tree(Writer::new().syscall(|w| {
        w.call(ENTRY + 1, A, SLOT).at(A, POPF).load(SLOT - 8, 3).ret(A + 1, SLOT);
        w.at(ENTRY + 6, &call(ENTRY + 6, A)).store(SLOT, 3).at(A, NOP).ret(A + 1, SLOT);
        w.jmp(ENTRY + 11, ENTRY + 0x80);
    }));
    assert_eq!(tree.census[&SlowInstruction::Popf], 1);
    assert_eq!(draw_tree(&tree)[3..], ["   a call 4"]);
    assert_eq!(
        tree.functions.iter().find(|of| of.name == "a").unwrap().census[&SlowInstruction::Popf],
        1
    );
}

#[test]
fn what_nothing_explains_is_unattributed_and_counted() {
    let tree = tree(Writer::new().syscall(|w| {
        w.nops(A + 0x10, 3).jmp(A + 0x13, ENTRY + 0x80);
    }));
    assert_eq!(tree.total, 9);
    assert_eq!(tree.unattributed, 9 - 2);
    assert!(draw_tree(&tree).contains(&"[unattributed] unattributed 0".to_owned()));
}

#[test]
fn the_most_frequent_total_stands_for_all_and_of_several_the_lowest() {
    let mut writer = Writer::new();
    for nops in [7, 3, 5, 5, 3, 9] {
        writer.window(|w| {
            w.nops(USER, nops).jmp(USER + nops, USER + 0x1000);
        });
    }
    let recording = whole(&writer.stop(), &names());
    let tree = recording.representative.unwrap();
    assert_eq!((tree.window, tree.total), (1, 5));
    assert_eq!(recording.totals[&7], 2);
}

#[test]
fn the_footprint_is_the_median_of_the_windows_alike() {
    let mut writer = Writer::new();
    // Windows of one total that touch more or less, and one of another that touches most.
    for (lines, nops) in [(9, 1), (2, 1), (3, 1), (1, 1), (40, 2)] {
        writer.window(|w| {
            for line in 0..40 {
                w.at(USER, LOAD_RAX).load(line % lines * 64, 3).jmp(USER + 3, USER);
            }
            w.nops(USER, nops).jmp(USER + nops, USER + 0x1000);
        });
    }
    let recording = whole(&writer.stop(), &names());
    let tree = recording.representative.unwrap();
    assert_eq!((tree.window, tree.total, recording.totals[&tree.total]), (0, 83, 4));
    // Of 1, 2, 3 and 9 the lower middle one; the functions are those of the window shown.
    let footprint = tree.footprint;
    assert_eq!([footprint.data_lines, footprint.read_lines, footprint.written_lines], [2, 2, 0]);
    assert_eq!((footprint.code_lines, tree.functions[1].footprint.data_lines), (2, 9));
    // So are the events, which a sample of `measure` has all together; what stands for the path is
    // the median.
    assert_eq!((tree.events[&Event::DataLines], tree.typical(Event::DataLines)), (9, 2));
    assert_eq!((tree.events[&Event::Loads], tree.typical(Event::Loads)), (40, 40));
}

#[test]
fn a_difference_is_that_of_the_medians_whichever_window_is_shown() {
    let [base, new] = [[9, 2, 3], [3, 2, 9]].map(|windows| {
        let mut writer = Writer::new();
        for lines in windows {
            writer.window(|w| {
                for line in 0..12 {
                    w.at(USER, LOAD_RAX).load(line % lines * 64, 3).jmp(USER + 3, USER);
                }
                w.nops(USER, 1).jmp(USER + 1, USER + 0x1000);
            });
        }
        whole(&writer.stop(), &names()).representative.unwrap()
    });
    let lines = |tree: &WindowTree| (tree.events[&Event::DataLines], tree.footprint.data_lines);
    assert_eq!((lines(&base), lines(&new)), ((9, 3), (3, 3)));
    assert!(difference(&base, &new).events.is_empty());
}

#[test]
fn the_window_that_is_chosen_stands_for_all_and_none_does_if_it_is_not_there() {
    let mut writer = Writer::new();
    for nops in [3, 3, 3, 5] {
        writer.window(|w| {
            w.nops(USER, nops).jmp(USER + nops, USER + 0x1000);
        });
    }
    let bytes = writer.stop();
    let usual = whole(&bytes, &names()).representative.unwrap().total;
    let of = |number| {
        let recording = decode_window(&bytes[..], &names(), number);
        recording.representative.map(|tree| (tree.window, tree.total))
    };
    assert_eq!([0, 2, 3].map(of), [(0, usual), (2, usual), (3, usual + 2)].map(Some));
    assert_eq!(of(4), None);
}

#[test]
fn a_window_without_two_stamps_is_set_aside() {
    let recording = whole(&Writer::new().begin().at(USER, RDTSC).end().stop(), &names());
    assert_eq!((recording.windows.recorded, recording.windows.unstamped), (1, 1));
    assert!(recording.representative.is_none());
}
