//! The kernel's symbols, for explaining a path: `/proc/kallsyms`, as pid 1 sees it.
//!
//! Some megabytes would take seconds through the protocol port. So they are read into memory, the
//! host is told where, and the guest paused: the host has QEMU copy them out.

use pathmeter_probes::Suite;
use pathmeter_probes::sys::{self, CStr, flag};
use pathmeter_wire::{
    Kind,
    message::{MAX_SYMBOLS, Memory},
};

use crate::port::Port;

/// Memory is mapped in steps of this, as the text needs it.
const STEP: usize = 1 << 20;

/// Reads the symbols, tells the host where they are, and pauses. An empty range means that there
/// are none to be had.
pub(crate) fn offer(port: &mut Port) {
    let memory = read().unwrap_or(Memory { address: 0, length: 0 });
    port.send_memory(Kind::Symbols, memory);
    port.pause(Suite::Exact);
}

fn read() -> Option<Memory> {
    let fd = sys::open(CStr::new(b"/proc/kallsyms\0"), flag::O_RDONLY, 0).ok()?;
    // Pages are only taken as they are written to.
    let address = sys::map(MAX_SYMBOLS as usize, flag::MAP_PRIVATE | flag::MAP_NORESERVE).ok()?;
    let mut length = 0;
    while length + STEP <= MAX_SYMBOLS as usize {
        // SAFETY: within the mapping, which is ours alone.
        let space = unsafe { core::slice::from_raw_parts_mut((address + length) as *mut u8, STEP) };
        match sys::read(fd, space) {
            Ok(0) => return Some(Memory { address: address as u64, length: length as u64 }),
            Ok(count) => length += count,
            Err(_) => return None,
        }
    }
    None
}
