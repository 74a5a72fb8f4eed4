//! Constants and layouts of Linux's ABI that are this architecture's own.

/// `mmap`'s flag for an address below 4 GiB.
pub(crate) const MAP_32BIT: usize = 0x40;

/// The bytes before an abort handler of rseq, as glibc has them.
pub(crate) const RSEQ_SIGNATURE: usize = 0x5305_3053;

/// `struct stat` as words of 64 bits, and which of them are what
/// (`arch/x86/include/uapi/asm/stat.h`).
pub(crate) mod stat {
    pub(crate) const WORDS: usize = 18;
    pub(crate) const MODE: usize = 3;
    pub(crate) const DEVICE: usize = 5;
    pub(crate) const SIZE: usize = 6;
}
