//! The I/O ports of the host's QEMU.

use core::arch::asm;

use pathmeter_probes::{sys, text::Text};

use crate::trouble::Trouble;

/// The kernel's own way to the ports: the file's offset is the port's number.
pub(crate) const FILE: &[u8] = b"/dev/port\0";
/// The byte port that the host reads (QEMU's isa-debugcon).
pub(crate) const DATA: usize = 0xe9;
/// A write of [`PAUSE`] here pauses the guest before its next instruction (QEMU's pvpanic, told to
/// pause): so a snapshot is taken at the same instruction every time.
pub(crate) const CONTROL: usize = 0x505;
pub(crate) const PAUSE: u8 = 1;

/// Whether this task may use port instructions from now on.
#[allow(clippy::inline_always, reason = "a call more would change the code of all who send")]
#[inline(always)]
pub(crate) fn take_privilege() -> bool {
    sys::iopl(3).is_ok()
}

pub(crate) fn drop_privilege() {
    let _ = sys::iopl(0);
}

/// Why the host can't be reached, after this error of the file's.
#[allow(clippy::inline_always, reason = "as above")]
#[inline(always)]
pub(crate) fn unreachable(error: i32) -> Trouble {
    Text::format(format_args!(
        "user space can't reach I/O ports: neither iopl(2) nor /dev/port \
         (error {error}); set CONFIG_X86_IOPL_IOPERM or CONFIG_DEVPORT"
    ))
}

/// Sends bytes to the host.
///
/// # Safety
/// The caller holds the privilege.
#[allow(clippy::inline_always, reason = "as above")]
#[inline(always)]
pub(crate) unsafe fn send(bytes: &[u8]) {
    // SAFETY: as the contract; reads `bytes` upwards, DF being clear by the ABI.
    unsafe {
        asm!("rep outsb", in("dx") DATA as u16, inout("rsi") bytes.as_ptr() => _,
            inout("rcx") bytes.len() => _, options(nostack, preserves_flags, readonly));
    }
}

/// A byte from the host; the caller holds the privilege.
pub(crate) fn receive() -> u8 {
    let byte;
    // SAFETY: the instruction touches no memory, and the device at the port none of ours.
    unsafe { asm!("in al, dx", in("dx") DATA as u16, out("al") byte, options(nostack)) };
    byte
}
