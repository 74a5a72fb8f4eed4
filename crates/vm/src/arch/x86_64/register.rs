//! Registers, as QEMU's gdb stub numbers them.

/// A register of x86-64, by its number in the stub's description.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Register {
    Rax = 0,
    Rcx = 2,
    Rdx = 3,
    Rip = 16,
}
