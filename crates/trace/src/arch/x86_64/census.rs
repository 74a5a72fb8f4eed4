//! The slow instructions: those that cost far more than one instruction's time on real hardware.
//!
//! An exact clock counts a `popf` as one, like a `nop`; the census counts how many there were, and
//! in which function. It gives no time: that differs from machine to machine by an order.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! slow {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// A kind of slow instruction.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
            JsonSchema,
        )]
        pub enum SlowInstruction {
            $($(#[$doc])* #[serde(rename = $word)] $name,)*
        }

        impl SlowInstruction {
            /// All kinds, in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The word that documents and tables use.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }
        }
    };
}

slow! {
    /// popf, popfd, popfq.
    Popf = "popf",
    /// pushf, pushfd, pushfq.
    Pushf = "pushf",
    Cli = "cli",
    Sti = "sti",
    Hlt = "hlt",
    Wrmsr = "wrmsr",
    Rdmsr = "rdmsr",
    /// mov to cr3.
    MovToCr3 = "mov-cr3",
    /// mov to cr0, cr4 or a debug register.
    MovToControl = "mov-control",
    Invlpg = "invlpg",
    Invpcid = "invpcid",
    /// wbinvd, invd.
    Wbinvd = "wbinvd",
    /// clflush, clflushopt, clwb.
    Clflush = "clflush",
    Swapgs = "swapgs",
    /// iret, iretd, iretq.
    Iret = "iret",
    /// sysretl, sysretq.
    Sysret = "sysret",
    Sysexit = "sysexit",
    Syscall = "syscall",
    Sysenter = "sysenter",
    /// int n.
    Int = "int",
    /// A load of ds, es, fs, gs or ss: mov, pop, lds and its kind.
    LoadSegment = "load-segment",
    /// lldt, ltr, lgdt, lidt.
    LoadTable = "load-table",
    /// rdfsbase, rdgsbase, wrfsbase, wrgsbase.
    SegmentBase = "segment-base",
    Lsl = "lsl",
    Lar = "lar",
    Verr = "verr",
    Str = "str",
    Sidt = "sidt",
    Sgdt = "sgdt",
    Sldt = "sldt",
    Cpuid = "cpuid",
    /// rdtsc; a window's second stamp is one.
    Rdtsc = "rdtsc",
    Rdtscp = "rdtscp",
    Rdpid = "rdpid",
    Verw = "verw",
    Lfence = "lfence",
    Mfence = "mfence",
    Sfence = "sfence",
    /// A store past the caches: movnti, movntdq and its kind, maskmovdqu, movdiri, movdir64b.
    NonTemporal = "non-temporal",
    Serialize = "serialize",
    /// xsave, xsavec, xsaveopt, xsaves, fxsave.
    Xsave = "xsave",
    /// xrstor, xrstors, fxrstor.
    Xrstor = "xrstor",
    /// xgetbv, xsetbv.
    Xcontrol = "xcontrol",
    /// div and idiv of 64 bits.
    Div64 = "div-64",
    /// div and idiv of 32 bits or less.
    Div = "div",
    /// mul and imul of 64 bits.
    Mul64 = "mul-64",
    /// A repeated string instruction, however often it iterates.
    Rep = "rep",
    /// rdrand, rdseed.
    Rdrand = "rdrand",
    Rdpmc = "rdpmc",
    /// Anything with a lock prefix, and xchg with memory.
    Locked = "locked",
    /// in, ins.
    In = "in",
    /// out, outs.
    Out = "out",
    Pause = "pause",
    Stac = "stac",
    Clac = "clac",
}
