//! Constants, names and layouts of Linux's ABI that are this architecture's own.

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

/// The vDSO's function for `clock_gettime(2)`.
pub(crate) const CLOCK_GETTIME: &[u8] = b"__vdso_clock_gettime\0";

/// `struct epoll_event`, which is packed on this architecture.
#[repr(C, packed)]
#[derive(Clone, Copy)]
pub(crate) struct EpollEvent {
    pub(crate) events: u32,
    pub(crate) data: u64,
}

const _: () = assert!(size_of::<EpollEvent>() == 12);
