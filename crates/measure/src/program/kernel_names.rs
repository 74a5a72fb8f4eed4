//! The names that a kernel gives to the rows of a program and to its functions.

use pathmeter_model::RowKind;
use pathmeter_trace::{KernelPlaces, Symbols, UNNAMED, VECTOR};

use crate::program::point_windows::ProgramWindows;

/// The kernel's symbols, as far as they are needed.
pub struct KernelNames {
    /// The places that the plugin is told.
    pub places: KernelPlaces,
    /// All functions of the kernel.
    pub symbols: Symbols,
    /// The windows between two of its points that are asked for.
    pub windows: ProgramWindows,
}

/// Which row of its kind it is; empty if there is but one.
pub fn row_name(kind: RowKind, id: u32, places: &KernelPlaces) -> String {
    match kind {
        RowKind::PageFault | RowKind::InterpreterFault => fault(id),
        RowKind::Interrupt if id & VECTOR != 0 => vector(id & !VECTOR),
        RowKind::Syscall | RowKind::Syscall32 | RowKind::Exception | RowKind::Interrupt => match id
        {
            UNNAMED if matches!(kind, RowKind::Syscall | RowKind::Syscall32) => {
                "stopped or unknown call".to_owned()
            }
            UNNAMED => "no handler entered".to_owned(),
            id => places.name(id).map_or_else(|| format!("number {id}"), str::to_owned),
        },
        _ => String::new(),
    }
}

/// A page fault by its error code: Intel SDM volume 3, section 4.7.
fn fault(code: u32) -> String {
    if code == UNNAMED {
        return "error code not seen".to_owned();
    }
    let [present, write, user, _, fetch] = [0, 1, 2, 3, 4].map(|bit| code >> bit & 1 == 1);
    let access = match (fetch, write) {
        (true, _) => "execute",
        (_, true) => "write",
        (_, false) => "read",
    };
    let cause = if present { "protected page" } else { "page not present" };
    let from = if user { "" } else { ", from the kernel" };
    format!("{access}, {cause}{from}")
}

/// An interrupt by its vector. The PC's own lines begin at 0x30 (Linux
/// `arch/x86/include/asm/irq_vectors.h`, `ISA_IRQ_VECTOR`).
fn vector(vector: u32) -> String {
    match vector {
        0x30 => "timer".to_owned(),
        0x31..=0x3f => format!("IRQ {}", vector - 0x30),
        _ => format!("vector {vector:#x}"),
    }
}
