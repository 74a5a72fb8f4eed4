//! Finds a function in the vDSO, the shared object that the kernel maps into every program
//! (vdso(7)); it is read as the ELF image it is.

/// Where the kernel mapped the vDSO; set once by the agent's start-up code from `AT_SYSINFO_EHDR`.
static BASE: core::sync::atomic::AtomicUsize = core::sync::atomic::AtomicUsize::new(0);

use core::sync::atomic::Ordering;

use crate::rseq;

/// Auxiliary vector's entry for the vDSO's address.
const AT_SYSINFO_EHDR: usize = 33;
/// The same for the length of the kernel's rseq area.
const AT_RSEQ_FEATURE_SIZE: usize = 27;

/// Remembers where the vDSO is, and how long an rseq area is, from the auxiliary vector.
///
/// # Safety
/// `vector` must point to (type, value) pairs that end with type 0: what the kernel puts after the
/// environment on a new program's stack.
pub unsafe fn learn(mut vector: *const [usize; 2]) {
    loop {
        // SAFETY: the end marker has not been passed yet.
        let [kind, value] = unsafe { vector.read() };
        match kind {
            0 => return,
            AT_SYSINFO_EHDR => BASE.store(value, Ordering::Relaxed),
            AT_RSEQ_FEATURE_SIZE => rseq::learn(value),
            _ => {}
        }
        // SAFETY: not at the end marker.
        vector = unsafe { vector.add(1) };
    }
}

/// Field offsets of the ELF64 structures that are read (System V ABI, `elf.h`).
mod elf {
    pub(super) const PROGRAM_HEADERS: usize = 32;
    pub(super) const PROGRAM_HEADER_COUNT: usize = 56;
    pub(super) const PROGRAM_HEADER_SIZE: usize = 56;
    pub(super) const LOAD: u32 = 1;
    pub(super) const DYNAMIC: u32 = 2;
    pub(super) const SYMBOL_SIZE: usize = 24;
    pub(super) const DT_HASH: usize = 4;
    pub(super) const DT_STRTAB: usize = 5;
    pub(super) const DT_SYMTAB: usize = 6;
    pub(super) const DT_GNU_HASH: usize = 0x6fff_fef5;
}

/// Address of the vDSO's function `name` (with its NUL), if kernel and vDSO have it.
pub(crate) fn find(name: &[u8]) -> Option<usize> {
    let base = BASE.load(Ordering::Relaxed);
    if base == 0 {
        return None;
    }
    // SAFETY: the kernel maps a well-formed ELF image there; nothing here unmaps it.
    unsafe { Image::open(base)?.find(name) }
}

/// The dynamic symbol table of a loaded image.
struct Image {
    bias: usize,
    strings: usize,
    symbols: usize,
    count: usize,
}

/// # Safety
/// For all of them: `address` must be readable and hold such a value.
unsafe fn word(address: usize) -> usize {
    // SAFETY: as the contract.
    unsafe { (address as *const usize).read_unaligned() }
}

unsafe fn half(address: usize) -> u32 {
    // SAFETY: as the contract of `word`.
    unsafe { (address as *const u32).read_unaligned() }
}

impl Image {
    /// # Safety
    /// A well-formed ELF image must be mapped at `base`, as for the others here.
    unsafe fn open(base: usize) -> Option<Self> {
        // SAFETY: the headers stand at the start of the image, which is mapped.
        unsafe {
            let table = base + word(base + elf::PROGRAM_HEADERS);
            let count = half(base + elf::PROGRAM_HEADER_COUNT) & 0xffff;
            let headers = || (0..count as usize).map(|i| table + i * elf::PROGRAM_HEADER_SIZE);
            let load = headers().find(|header| half(*header) == elf::LOAD)?;
            let dynamic = headers().find(|header| half(*header) == elf::DYNAMIC)?;
            let bias = base + word(load + 8) - word(load + 16);
            Self::from_dynamic(bias, bias + word(dynamic + 16))
        }
    }

    unsafe fn from_dynamic(bias: usize, mut entry: usize) -> Option<Self> {
        let (mut strings, mut symbols, mut hash, mut gnu) = (None, None, None, None);
        loop {
            // SAFETY: the dynamic section ends with a null tag, checked before going on.
            let (tag, value) = unsafe { (word(entry), word(entry + 8)) };
            let slot = match tag {
                0 => break,
                elf::DT_HASH => &mut hash,
                elf::DT_STRTAB => &mut strings,
                elf::DT_SYMTAB => &mut symbols,
                elf::DT_GNU_HASH => &mut gnu,
                _ => &mut None,
            };
            *slot = Some(bias + value);
            entry += 16;
        }
        // SAFETY: the tables are part of the image.
        let count = unsafe {
            match (hash, gnu) {
                (Some(hash), _) => half(hash + 4) as usize,
                (None, Some(gnu)) => gnu_count(gnu),
                (None, None) => return None,
            }
        };
        Some(Self { bias, strings: strings?, symbols: symbols?, count })
    }

    unsafe fn find(&self, name: &[u8]) -> Option<usize> {
        (0..self.count).map(|i| self.symbols + i * elf::SYMBOL_SIZE).find_map(|symbol| {
            // SAFETY: the symbol is in the table, its name in the string table, both mapped; the
            // comparison stops at the first difference, at the latest at the NUL.
            unsafe {
                let text = self.strings + half(symbol) as usize;
                let same = name.iter().zip(text..).all(|(c, at)| (at as *const u8).read() == *c);
                (same && word(symbol + 8) != 0).then(|| self.bias + word(symbol + 8))
            }
        })
    }
}

/// Number of symbols by the GNU hash table: the last one in the longest chain, plus one.
///
/// # Safety
/// A well-formed `DT_GNU_HASH` table must stand at `table`.
unsafe fn gnu_count(table: usize) -> usize {
    // SAFETY: the search follows the table's own counts and stops at each chain's end marker.
    unsafe {
        let [buckets, first, bloom] = [0, 4, 8].map(|at| half(table + at) as usize);
        let bucket = table + 16 + bloom * 8;
        let chain = bucket + buckets * 4;
        let last = (0..buckets).map(|i| half(bucket + i * 4) as usize).max().unwrap_or(0);
        if last < first {
            return first;
        }
        let mut symbol = last;
        while half(chain + (symbol - first) * 4) & 1 == 0 {
            symbol += 1;
        }
        symbol + 1
    }
}
