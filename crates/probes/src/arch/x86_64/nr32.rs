//! System call numbers of 32-bit programs (Linux `arch/x86/entry/syscalls/syscall_32.tbl`).
#![allow(missing_docs, reason = "names are the kernel's own")]
pub(crate) const IOCTL: usize = 54;
pub(crate) const GETPPID: usize = 64;
