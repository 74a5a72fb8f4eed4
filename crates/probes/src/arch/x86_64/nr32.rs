//! System call numbers of 32-bit programs (Linux `arch/x86/entry/syscalls/syscall_32.tbl`).
pub(crate) const IOCTL: usize = 54;
pub(crate) const GETPPID: usize = 64;
