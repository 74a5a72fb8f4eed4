//! The kernel's own types, as the agent reads them.

use pathmeter_probes::btf::{NONE, find};
use pathmeter_probes::sys::{self, CStr, errno, flag};

use crate::file::contents;
use crate::refusal::{Refusal, kernel_refusal, unknown};

/// Most bytes of them that are looked at; those of distributions' kernels have fewer than 10 MiB.
const MOST: usize = 32 << 20;

/// The number of the function whose name these parts are.
pub(crate) fn function(name: &[u8]) -> Result<u32, Refusal> {
    let failed =
        |error| kernel_refusal(format_args!("the kernel's types can't be read (error {error})"));
    let kept = sys::mapped();
    let place = sys::map(MOST, flag::MAP_PRIVATE | flag::MAP_NORESERVE).map_err(failed)?;
    // SAFETY: mapped just now, zeroed, and known to nobody else.
    let space = unsafe { core::slice::from_raw_parts_mut(place as *mut u8, MOST) };
    let read = contents(CStr::new(b"/sys/kernel/btf/vmlinux\0"), space);
    let found = read.map(|length| find(&space[..length], name));
    // SAFETY: what was found is a number; nobody uses the mapping any more.
    unsafe { sys::unmap_since(kept) };
    match found {
        Ok(Some(NONE)) => Err(unknown("this kernel's types have no such function")),
        Ok(Some(number)) => Ok(number),
        Ok(None) => {
            Err(kernel_refusal(format_args!("the kernel's types are not as they should be")))
        }
        Err(errno::ENOENT) => {
            Err(unknown("this kernel has no types of its own (CONFIG_DEBUG_INFO_BTF)"))
        }
        Err(error) => Err(failed(error)),
    }
}
