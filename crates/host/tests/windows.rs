//! A window of the counting program holds the instructions of the agent's, but for the stamps: so
//! what is subtracted of a sample is right, whatever the compiler makes of the probes.
#![allow(clippy::unwrap_used, reason = "helpers of tests, which clippy does not take for such")]

use iced_x86::{Code, Decoder, DecoderOptions, Instruction, Mnemonic, Register};
use pathmeter_probes::clock::COUNTER_ADDS;
use pathmeter_vm::PATHS;

use pathmeter_host::COUNTING as PROGRAM;

/// The marker of a window's begin, and of its end (`clock.rs`).
const BEGIN: [u8; 8] = [0x0f, 0x1f, 0x84, 0, 0, 1, 0x4d, 0x50];
const END: [u8; 8] = [0x0f, 0x1f, 0x84, 0, 0, 2, 0x4d, 0x50];
/// Most bytes of a window.
const LONGEST: usize = 1 << 12;

/// The windows of a program, in the order of their places.
fn windows(program: &[u8]) -> Vec<Vec<Instruction>> {
    let is = |at: usize, marker: &[u8]| program[at..].starts_with(marker);
    let begins = (0..program.len()).filter(|at| is(*at, &BEGIN)).map(|at| at + BEGIN.len());
    let windows = begins.map(|begin| {
        let code = &program[begin..program.len().min(begin + LONGEST)];
        let decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
        let inside = |instruction: &Instruction| {
            !is(begin + usize::try_from(instruction.ip()).unwrap(), &END)
        };
        decoder.into_iter().take_while(inside).collect()
    });
    windows.collect()
}

/// The instructions beside the stamps, without the nops that align a loop. How far a branch leads
/// depends on the code around the window, and so does the form that the assembler chose for it.
fn beside_stamps(window: &[Instruction]) -> Vec<Code> {
    let beside = window.iter().filter(|i| !is_of_stamp(i) && i.mnemonic() != Mnemonic::Nop);
    beside.map(|instruction| instruction.code().as_near_branch()).collect()
}

fn is_of_stamp(instruction: &Instruction) -> bool {
    let keeps_ecx = (0..2).any(|operand| instruction.op_register(operand) == Register::XMM15);
    let loads_index = instruction.code() == Code::Mov_r32_rm32
        && instruction.op0_register() == Register::ECX
        && instruction.is_ip_rel_memory_operand();
    let reads = [Mnemonic::Rdtsc, Mnemonic::Rdpmc, Mnemonic::Lfence];
    keeps_ecx || loads_index || reads.contains(&instruction.mnemonic())
}

fn count(window: &[Instruction], mnemonic: Mnemonic) -> usize {
    window.iter().filter(|instruction| instruction.mnemonic() == mnemonic).count()
}

#[test]
fn windows_hold_the_agents_instructions() {
    let (agent, program) = (windows(PATHS), windows(PROGRAM));
    assert!(agent.len() > 100 && agent.len() == program.len(), "{} windows", agent.len());
    for (agent, program) in agent.iter().zip(&program) {
        assert_eq!(beside_stamps(agent), beside_stamps(program));
    }
}

#[test]
fn a_window_has_as_many_instructions_more_as_are_subtracted() {
    // The 32-bit program, which is left out, has its own stamps in both.
    let by_counter = windows(PROGRAM).into_iter().filter(|w| count(w, Mnemonic::Rdpmc) == 2);
    let mut checked = 0;
    for window in by_counter {
        let reads: Vec<usize> =
            (0..window.len()).filter(|at| window[*at].mnemonic() == Mnemonic::Rdpmc).collect();
        let between = &window[reads[0] + 1..reads[1]];
        let more = between.iter().filter(|instruction| is_of_stamp(instruction)).count();
        assert_eq!(more as u64, COUNTER_ADDS, "{window:?}");
        checked += 1;
    }
    assert!(checked > 100, "{checked} windows");
}
