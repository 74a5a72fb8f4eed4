//! What an instruction does to the flow of control, to memory, and to the census.
//!
//! Decided once an instruction number, from its bytes. Sources: Intel SDM volume 2 for the
//! instructions; iced-x86 for taking them apart.

use iced_x86::{Code as Iced, Decoder, DecoderOptions, FlowControl, Mnemonic, OpKind, Register};

use crate::{arch::census::SlowInstruction, event::Event, recording::reader::Instruction};

/// How control goes on after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// To the instruction after it.
    Next,
    /// To `target`.
    Jump,
    /// To `target` or to the instruction after it.
    Branch,
    /// Anywhere; no return address is stored.
    JumpIndirect,
    /// To `target`; the return address is stored.
    Call,
    /// Anywhere; the return address is stored.
    CallIndirect,
    /// To the address loaded from the stack.
    Return,
    /// Into the kernel: syscall, sysenter, int n.
    Enter,
    /// Back to what was interrupted, or to user code.
    InterruptReturn,
    /// Back to user code: sysret, sysexit.
    SystemReturn,
}

/// An instruction that was taken apart.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(crate) struct Code {
    pub(crate) flow: Flow,
    /// Of direct jumps, branches and calls.
    pub(crate) target: u64,
    pub(crate) slow: Option<SlowInstruction>,
    /// A string instruction that repeats: executed once an iteration, retired once.
    pub(crate) rep: bool,
    /// Of repeated ones: whether what it stores is what it moves, rather than what it loads.
    pub(crate) rep_stores: bool,
    /// Of repeated ones: whether an iteration loads both of what it compares (cmps).
    pub(crate) rep_loads_twice: bool,
    /// Has an operand in memory, so an execution without an access did not complete.
    pub(crate) accesses: bool,
    /// Loads the stack pointer from memory, as a task switch does.
    pub(crate) loads_stack_pointer: bool,
    /// The `rdtsc` of a stamp.
    pub(crate) stamp: bool,
}

impl Code {
    const UNKNOWN: Self = Self {
        flow: Flow::Next,
        target: 0,
        slow: None,
        rep: false,
        rep_stores: false,
        rep_loads_twice: false,
        accesses: false,
        loads_stack_pointer: false,
        stamp: false,
    };

    /// Takes `instruction` apart: as 64-bit code, or, where that doesn't have its length, as 32-bit
    /// code. Bytes that are neither count as an instruction that does nothing special.
    pub(crate) fn of(instruction: &Instruction) -> Self {
        [64, 32].into_iter().find_map(|bits| decoded(instruction, bits)).unwrap_or(Self::UNKNOWN)
    }
}

/// The event that each execution of the instruction at the beginning of `bytes` is, if it is one:
/// as 64-bit code, or, where that has no such instruction, as 32-bit code.
pub(crate) fn event_of(bytes: &[u8]) -> Option<Event> {
    let taken = [64, 32].into_iter().find_map(|bits| {
        let taken = Decoder::new(bits, bytes, DecoderOptions::NONE).decode();
        (!taken.is_invalid()).then_some(taken)
    })?;
    let indirect = matches!(flow(&taken), Flow::JumpIndirect | Flow::CallIndirect);
    slow(&taken).map(Event::Slow).or(indirect.then_some(Event::IndirectBranches))
}

/// The instruction's mnemonic in lower case, without operands.
pub(crate) fn mnemonic(instruction: &Instruction) -> String {
    let bytes = instruction.bytes();
    let taken = Decoder::with_ip(64, bytes, instruction.address, DecoderOptions::NONE).decode();
    format!("{:?}", taken.mnemonic()).to_lowercase()
}

fn decoded(instruction: &Instruction, bits: u32) -> Option<Code> {
    let (bytes, address) = (instruction.bytes(), instruction.address);
    let taken = Decoder::with_ip(bits, bytes, address, DecoderOptions::NONE).decode();
    if taken.is_invalid() || taken.len() != bytes.len() {
        return None;
    }
    let rep = is_repeated(&taken);
    Some(Code {
        flow: flow(&taken),
        target: taken.near_branch_target(),
        slow: slow(&taken),
        rep,
        rep_stores: rep && stores_string(taken.mnemonic()),
        rep_loads_twice: rep && compares_strings(taken.mnemonic()),
        accesses: accesses(&taken),
        loads_stack_pointer: taken.op0_register() == Register::RSP
            && taken.mnemonic() == Mnemonic::Mov
            && taken.op1_kind() == OpKind::Memory,
        stamp: taken.mnemonic() == Mnemonic::Rdtsc,
    })
}

fn flow(taken: &iced_x86::Instruction) -> Flow {
    match taken.flow_control() {
        FlowControl::UnconditionalBranch if is_near(taken) => Flow::Jump,
        FlowControl::ConditionalBranch => Flow::Branch,
        FlowControl::UnconditionalBranch | FlowControl::IndirectBranch => Flow::JumpIndirect,
        FlowControl::Call if matches!(taken.mnemonic(), Mnemonic::Syscall | Mnemonic::Sysenter) => {
            Flow::Enter
        }
        FlowControl::Call if is_near(taken) => Flow::Call,
        // vmcall and the like: the hypervisor's business, and execution goes on after it.
        FlowControl::Call if taken.op_count() == 0 => Flow::Next,
        FlowControl::Call | FlowControl::IndirectCall => Flow::CallIndirect,
        FlowControl::Interrupt if taken.code() == Iced::Int_imm8 => Flow::Enter,
        FlowControl::Return => returns(taken.mnemonic()),
        _ => Flow::Next,
    }
}

fn is_near(taken: &iced_x86::Instruction) -> bool {
    let near = [OpKind::NearBranch16, OpKind::NearBranch32, OpKind::NearBranch64];
    near.contains(&taken.op0_kind())
}

fn returns(mnemonic: Mnemonic) -> Flow {
    match mnemonic {
        Mnemonic::Iret | Mnemonic::Iretd | Mnemonic::Iretq => Flow::InterruptReturn,
        Mnemonic::Sysret | Mnemonic::Sysretq | Mnemonic::Sysexit | Mnemonic::Sysexitq => {
            Flow::SystemReturn
        }
        _ => Flow::Return,
    }
}

fn is_repeated(taken: &iced_x86::Instruction) -> bool {
    (taken.has_rep_prefix() || taken.has_repne_prefix()) && taken.is_string_instruction()
}

fn stores_string(mnemonic: Mnemonic) -> bool {
    use Mnemonic::{Insb, Insd, Insw, Movsb, Movsd, Movsq, Movsw, Stosb, Stosd, Stosq, Stosw};
    [Movsb, Movsw, Movsd, Movsq, Stosb, Stosw, Stosd, Stosq, Insb, Insw, Insd].contains(&mnemonic)
}

fn compares_strings(mnemonic: Mnemonic) -> bool {
    use Mnemonic::{Cmpsb, Cmpsd, Cmpsq, Cmpsw};
    [Cmpsb, Cmpsw, Cmpsd, Cmpsq].contains(&mnemonic)
}

/// Whether a completed execution reads or writes memory named by an operand.
fn accesses(taken: &iced_x86::Instruction) -> bool {
    use Mnemonic::{Clflush, Clflushopt, Clwb, Invlpg, Lea, Nop};
    use Mnemonic::{Prefetchnta, Prefetcht0, Prefetcht1, Prefetcht2, Prefetchw};
    const NONE: [Mnemonic; 11] = [
        Lea,
        Nop,
        Invlpg,
        Clflush,
        Clflushopt,
        Clwb,
        Prefetchnta,
        Prefetcht0,
        Prefetcht1,
        Prefetcht2,
        Prefetchw,
    ];
    let in_memory = |operand| taken.op_kind(operand) == OpKind::Memory;
    (0..taken.op_count()).any(in_memory) && !NONE.contains(&taken.mnemonic())
}

/// Mnemonics that the census counts. Locked ones are known by their prefix, see [`slow`].
const SLOW: &[(Mnemonic, SlowInstruction)] = &[
    (Mnemonic::Popf, SlowInstruction::Popf),
    (Mnemonic::Popfd, SlowInstruction::Popf),
    (Mnemonic::Popfq, SlowInstruction::Popf),
    (Mnemonic::Pushf, SlowInstruction::Pushf),
    (Mnemonic::Pushfd, SlowInstruction::Pushf),
    (Mnemonic::Pushfq, SlowInstruction::Pushf),
    (Mnemonic::Cli, SlowInstruction::Cli),
    (Mnemonic::Sti, SlowInstruction::Sti),
    (Mnemonic::Hlt, SlowInstruction::Hlt),
    (Mnemonic::Wrmsr, SlowInstruction::Wrmsr),
    (Mnemonic::Rdmsr, SlowInstruction::Rdmsr),
    (Mnemonic::Invlpg, SlowInstruction::Invlpg),
    (Mnemonic::Invpcid, SlowInstruction::Invpcid),
    (Mnemonic::Wbinvd, SlowInstruction::Wbinvd),
    (Mnemonic::Invd, SlowInstruction::Wbinvd),
    (Mnemonic::Clflush, SlowInstruction::Clflush),
    (Mnemonic::Clflushopt, SlowInstruction::Clflush),
    (Mnemonic::Clwb, SlowInstruction::Clflush),
    (Mnemonic::Lldt, SlowInstruction::LoadTable),
    (Mnemonic::Ltr, SlowInstruction::LoadTable),
    (Mnemonic::Lgdt, SlowInstruction::LoadTable),
    (Mnemonic::Lidt, SlowInstruction::LoadTable),
    (Mnemonic::Lds, SlowInstruction::LoadSegment),
    (Mnemonic::Les, SlowInstruction::LoadSegment),
    (Mnemonic::Lfs, SlowInstruction::LoadSegment),
    (Mnemonic::Lgs, SlowInstruction::LoadSegment),
    (Mnemonic::Lss, SlowInstruction::LoadSegment),
    (Mnemonic::Rdfsbase, SlowInstruction::SegmentBase),
    (Mnemonic::Rdgsbase, SlowInstruction::SegmentBase),
    (Mnemonic::Wrfsbase, SlowInstruction::SegmentBase),
    (Mnemonic::Wrgsbase, SlowInstruction::SegmentBase),
    (Mnemonic::Lar, SlowInstruction::Lar),
    (Mnemonic::Verr, SlowInstruction::Verr),
    (Mnemonic::Str, SlowInstruction::Str),
    (Mnemonic::Sfence, SlowInstruction::Sfence),
    (Mnemonic::Movnti, SlowInstruction::NonTemporal),
    (Mnemonic::Movntq, SlowInstruction::NonTemporal),
    (Mnemonic::Movntdq, SlowInstruction::NonTemporal),
    (Mnemonic::Movntpd, SlowInstruction::NonTemporal),
    (Mnemonic::Movntps, SlowInstruction::NonTemporal),
    (Mnemonic::Movntss, SlowInstruction::NonTemporal),
    (Mnemonic::Movntsd, SlowInstruction::NonTemporal),
    (Mnemonic::Vmovntdq, SlowInstruction::NonTemporal),
    (Mnemonic::Vmovntpd, SlowInstruction::NonTemporal),
    (Mnemonic::Vmovntps, SlowInstruction::NonTemporal),
    (Mnemonic::Maskmovq, SlowInstruction::NonTemporal),
    (Mnemonic::Maskmovdqu, SlowInstruction::NonTemporal),
    (Mnemonic::Vmaskmovdqu, SlowInstruction::NonTemporal),
    (Mnemonic::Movdiri, SlowInstruction::NonTemporal),
    (Mnemonic::Movdir64b, SlowInstruction::NonTemporal),
    (Mnemonic::Serialize, SlowInstruction::Serialize),
    (Mnemonic::Xgetbv, SlowInstruction::Xcontrol),
    (Mnemonic::Xsetbv, SlowInstruction::Xcontrol),
    (Mnemonic::Rdrand, SlowInstruction::Rdrand),
    (Mnemonic::Rdseed, SlowInstruction::Rdrand),
    (Mnemonic::Rdpmc, SlowInstruction::Rdpmc),
    (Mnemonic::Swapgs, SlowInstruction::Swapgs),
    (Mnemonic::Iret, SlowInstruction::Iret),
    (Mnemonic::Iretd, SlowInstruction::Iret),
    (Mnemonic::Iretq, SlowInstruction::Iret),
    (Mnemonic::Sysret, SlowInstruction::Sysret),
    (Mnemonic::Sysretq, SlowInstruction::Sysret),
    (Mnemonic::Sysexit, SlowInstruction::Sysexit),
    (Mnemonic::Sysexitq, SlowInstruction::Sysexit),
    (Mnemonic::Lsl, SlowInstruction::Lsl),
    (Mnemonic::Sidt, SlowInstruction::Sidt),
    (Mnemonic::Sgdt, SlowInstruction::Sgdt),
    (Mnemonic::Sldt, SlowInstruction::Sldt),
    (Mnemonic::Cpuid, SlowInstruction::Cpuid),
    (Mnemonic::Rdtsc, SlowInstruction::Rdtsc),
    (Mnemonic::Rdtscp, SlowInstruction::Rdtscp),
    (Mnemonic::Rdpid, SlowInstruction::Rdpid),
    (Mnemonic::Verw, SlowInstruction::Verw),
    (Mnemonic::Lfence, SlowInstruction::Lfence),
    (Mnemonic::Mfence, SlowInstruction::Mfence),
    (Mnemonic::Fxsave, SlowInstruction::Xsave),
    (Mnemonic::Fxsave64, SlowInstruction::Xsave),
    (Mnemonic::Xsave, SlowInstruction::Xsave),
    (Mnemonic::Xsave64, SlowInstruction::Xsave),
    (Mnemonic::Xsavec, SlowInstruction::Xsave),
    (Mnemonic::Xsavec64, SlowInstruction::Xsave),
    (Mnemonic::Xsaveopt, SlowInstruction::Xsave),
    (Mnemonic::Xsaveopt64, SlowInstruction::Xsave),
    (Mnemonic::Xsaves, SlowInstruction::Xsave),
    (Mnemonic::Xsaves64, SlowInstruction::Xsave),
    (Mnemonic::Fxrstor, SlowInstruction::Xrstor),
    (Mnemonic::Fxrstor64, SlowInstruction::Xrstor),
    (Mnemonic::Xrstor, SlowInstruction::Xrstor),
    (Mnemonic::Xrstor64, SlowInstruction::Xrstor),
    (Mnemonic::Xrstors, SlowInstruction::Xrstor),
    (Mnemonic::Xrstors64, SlowInstruction::Xrstor),
    (Mnemonic::In, SlowInstruction::In),
    (Mnemonic::Insb, SlowInstruction::In),
    (Mnemonic::Insw, SlowInstruction::In),
    (Mnemonic::Insd, SlowInstruction::In),
    (Mnemonic::Out, SlowInstruction::Out),
    (Mnemonic::Outsb, SlowInstruction::Out),
    (Mnemonic::Outsw, SlowInstruction::Out),
    (Mnemonic::Outsd, SlowInstruction::Out),
    (Mnemonic::Int, SlowInstruction::Int),
    (Mnemonic::Syscall, SlowInstruction::Syscall),
    (Mnemonic::Sysenter, SlowInstruction::Sysenter),
    (Mnemonic::Pause, SlowInstruction::Pause),
    (Mnemonic::Stac, SlowInstruction::Stac),
    (Mnemonic::Clac, SlowInstruction::Clac),
];

fn slow(taken: &iced_x86::Instruction) -> Option<SlowInstruction> {
    let mnemonic = taken.mnemonic();
    // xchg with memory locks without the prefix.
    let exchanges = mnemonic == Mnemonic::Xchg
        && (taken.op0_kind() == OpKind::Memory || taken.op1_kind() == OpKind::Memory);
    if taken.has_lock_prefix() || exchanges {
        return Some(SlowInstruction::Locked);
    }
    by_operand(taken)
        .or_else(|| SLOW.iter().find(|(slow, _)| *slow == mnemonic).map(|(_, slow)| *slow))
        .or_else(|| is_repeated(taken).then_some(SlowInstruction::Rep))
}

/// What makes the same mnemonic slow, or slower, is an operand.
fn by_operand(taken: &iced_x86::Instruction) -> Option<SlowInstruction> {
    let to = taken.op0_register();
    match taken.mnemonic() {
        Mnemonic::Mov if to == Register::CR3 => Some(SlowInstruction::MovToCr3),
        Mnemonic::Mov if to.is_cr() || to.is_dr() => Some(SlowInstruction::MovToControl),
        Mnemonic::Mov | Mnemonic::Pop if to.is_segment_register() => {
            Some(SlowInstruction::LoadSegment)
        }
        Mnemonic::Div | Mnemonic::Idiv if operand_bytes(taken) == 8 => Some(SlowInstruction::Div64),
        Mnemonic::Div | Mnemonic::Idiv => Some(SlowInstruction::Div),
        Mnemonic::Mul | Mnemonic::Imul if operand_bytes(taken) == 8 => Some(SlowInstruction::Mul64),
        _ => None,
    }
}

/// Bytes of the first operand: a register or memory.
fn operand_bytes(taken: &iced_x86::Instruction) -> usize {
    match taken.op0_kind() {
        OpKind::Register => taken.op0_register().size(),
        _ => taken.memory_size().size(),
    }
}
