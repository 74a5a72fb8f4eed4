//! What lies in Bochs' memory when the machine is switched on: the kernel, the initramfs, and what
//! the kernel is told of both.
//!
//! There are two files, since Bochs loads one only in one piece (`firmware/bochs.S`): a low one of
//! less than 128 KiB, and one with all the rest.
//!
//! Source: Xen `public/arch-x86/hvm/start_info.h` (PVH).

use pathmeter_image::{Loadable, loadable};
use pathmeter_vm::VmError;

/// Where the low file belongs. `firmware/bochs.S` has the first three addresses, too.
pub(crate) const LOW_AT: usize = 0x2000;
/// Entry of the kernel, begin and end of the high file: 4 bytes each.
const NUMBERS: usize = 0x2800;
const MODULES: usize = 0x2040;
const MAP: usize = 0x2080;
const COMMAND_LINE: usize = 0x3000;
/// Most bytes of a command line, its end included: Linux's own bound.
const LONGEST_LINE: usize = 2048;
const LOW_END: usize = COMMAND_LINE + LONGEST_LINE;

const MAGIC: u32 = 0x336e_c578;
const VERSION: u32 = 1;
const RAM: u32 = 1;
const RESERVED: u32 = 2;
/// Bytes of an entry of the memory map.
const MAP_ENTRY: usize = 24;
const LOW_RAM_END: u64 = 0x9_fc00;
const MIB: u64 = 1 << 20;
const PAGE: u64 = 4096;
/// A kernel's pages are at most so far from the beginning of memory.
const HIGHEST: u64 = 3 << 30;

/// The two files, and where the high one belongs.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) low: Vec<u8>,
    pub(crate) high: Vec<u8>,
    pub(crate) high_at: u64,
}

/// Why a kernel can't be placed in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unplaceable {
    /// The kernel has no PVH entry, or is not to be loaded from 1 MiB on.
    #[error("this kernel has no PVH entry (CONFIG_PVH) to start it at")]
    NoEntry,
    /// The machine has too little memory.
    #[error("{needed} MiB of memory are needed for the kernel and the initramfs alone")]
    TooSmall {
        /// What kernel and initramfs need together, in MiB.
        needed: u64,
    },
    /// A command line that the kernel would cut.
    #[error("the command line is longer than {LONGEST_LINE} bytes")]
    Words,
}

impl From<Unplaceable> for VmError {
    fn from(why: Unplaceable) -> Self {
        let more = matches!(why, Unplaceable::TooSmall { .. });
        let help = more.then_some("give it more with --memory MIB");
        Self::Interpreter { why: why.to_string(), help }
    }
}

impl Memory {
    /// Of a machine with so many MiB.
    pub(crate) fn new(
        vmlinux: &[u8],
        initramfs: &[u8],
        words: &str,
        mib: u32,
    ) -> Result<Self, Unplaceable> {
        let kernel = loadable(vmlinux).ok_or(Unplaceable::NoEntry)?;
        let (begin, end) = extent(&kernel).ok_or(Unplaceable::NoEntry)?;
        let high_at = begin / MIB * MIB;
        let high_end = u64::from(mib) * MIB;
        // Where QEMU has it (hw/i386/x86.c, x86_load_linux): a kernel that finds memory occupied
        // elsewhere takes other pages for everything.
        let size = initramfs.len() as u64;
        let initramfs_at = (high_end - 1).saturating_sub(size) / PAGE * PAGE;
        if initramfs_at < end {
            return Err(Unplaceable::TooSmall { needed: (end + size).div_ceil(MIB) + 1 });
        }
        if words.len() >= LONGEST_LINE {
            return Err(Unplaceable::Words);
        }
        let mut high = vec![0; usize_of(high_end - high_at)];
        for segment in &kernel.segments {
            put(&mut high, usize_of(segment.address - high_at), segment.bytes);
        }
        put(&mut high, usize_of(initramfs_at - high_at), initramfs);
        let module = (initramfs_at, initramfs.len() as u64);
        let low = low(kernel.entry, (high_at, high_end), module, words, u64::from(mib) * MIB);
        Ok(Self { low, high, high_at })
    }
}

/// From where to where the kernel reaches in memory.
fn extent(kernel: &Loadable<'_>) -> Option<(u64, u64)> {
    let ends = kernel.segments.iter().map(|segment| {
        let size = segment.size.max(segment.bytes.len() as u64);
        segment.address.checked_add(size).filter(|end| *end <= HIGHEST)
    });
    let end = ends.collect::<Option<Vec<_>>>()?.into_iter().max()?;
    let begin = kernel.segments.iter().map(|segment| segment.address).min()?;
    (begin >= MIB).then_some((begin, end))
}

/// What the kernel is told.
fn low(
    entry: u32,
    (high_at, high_end): (u64, u64),
    (module_at, module_size): (u64, u64),
    words: &str,
    memory: u64,
) -> Vec<u8> {
    let mut low = vec![0; LOW_END - LOW_AT];
    let mut word =
        |address: usize, value: u32| put(&mut low, address - LOW_AT, &value.to_le_bytes());
    word(LOW_AT, MAGIC);
    word(LOW_AT + 4, VERSION);
    word(LOW_AT + 12, 1);
    word(LOW_AT + 48, 3);
    word(NUMBERS, entry);
    let mut long =
        |address: usize, value: u64| put(&mut low, address - LOW_AT, &value.to_le_bytes());
    long(LOW_AT + 16, MODULES as u64);
    long(LOW_AT + 24, COMMAND_LINE as u64);
    long(LOW_AT + 40, MAP as u64);
    // Below 3 GiB, so the upper halves are zero.
    long(NUMBERS + 4, high_at);
    long(NUMBERS + 8, high_end);
    long(MODULES, module_at);
    long(MODULES + 8, module_size);
    let map = [
        (0, LOW_RAM_END, RAM),
        (LOW_RAM_END, MIB - LOW_RAM_END, RESERVED),
        (MIB, memory - MIB, RAM),
    ];
    for (number, (address, size, kind)) in map.into_iter().enumerate() {
        let place = MAP + number * MAP_ENTRY;
        long(place, address);
        long(place + 8, size);
        long(place + 16, u64::from(kind));
    }
    put(&mut low, COMMAND_LINE - LOW_AT, words.as_bytes());
    low
}

fn put(memory: &mut [u8], at: usize, bytes: &[u8]) {
    memory[at..at + bytes.len()].copy_from_slice(bytes);
}

/// An address below [`HIGHEST`].
fn usize_of(address: u64) -> usize {
    usize::try_from(address).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &[u8] = pathmeter_lab::KERNEL;

    fn number(bytes: &[u8], address: usize) -> u64 {
        let at = address - LOW_AT;
        u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
    }

    fn short(bytes: &[u8], address: usize) -> u32 {
        let at = address - LOW_AT;
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
    }

    #[test]
    fn the_kernel_lies_where_it_is_entered_and_is_told_of_everything() {
        let initramfs = [7; 5000];
        let memory = Memory::new(KERNEL, &initramfs, "a=b c", 64).unwrap();
        let kernel = loadable(KERNEL).unwrap();
        let first = &kernel.segments[0];
        let at = usize_of(first.address - memory.high_at);
        assert_eq!(&memory.high[at..at + first.bytes.len()], first.bytes);
        assert_eq!(short(&memory.low, LOW_AT), MAGIC);
        assert_eq!(short(&memory.low, NUMBERS), kernel.entry);
        let module = usize_of(number(&memory.low, MODULES) - memory.high_at);
        assert_eq!(memory.high[module..][..5000], initramfs);
        assert_eq!(number(&memory.low, MODULES), 64 * MIB - 2 * PAGE);
        assert_eq!(number(&memory.low, MODULES + 8), 5000);
        assert_eq!(number(&memory.low, MAP + 2 * MAP_ENTRY + 8), 63 * MIB);
        assert_eq!(&memory.low[COMMAND_LINE - LOW_AT..][..6], b"a=b c\0");
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let made = |kernel, words: &str, mib| Memory::new(kernel, &[0; 100], words, mib).err();
        assert_eq!(made(b"no kernel", "", 64), Some(Unplaceable::NoEntry));
        assert!(matches!(made(KERNEL, "", 1), Some(Unplaceable::TooSmall { needed: 2.. })));
        assert_eq!(made(KERNEL, &"x".repeat(2048), 64), Some(Unplaceable::Words));
    }
}
