//! The condition's system-call filter, which each probe's process installs.

use pathmeter_probes::{
    sys::{self, CStr, errno, flag, nr},
    text::Text,
};
use pathmeter_wire::condition::{FILTER_INSTRUCTION, FilterFlags, MAX_FILTER};

use crate::{file::contents, trouble::Trouble};

/// A system-call filter, in memory that stays.
#[derive(Clone, Copy)]
pub(crate) struct Filter {
    flags: FilterFlags,
    instructions: usize,
    count: u16,
}

impl Filter {
    /// Reads `/filter`; none if the condition has none.
    pub(crate) fn read() -> Result<Option<Self>, Trouble> {
        const SPACE: usize = FilterFlags::BYTES + MAX_FILTER * FILTER_INSTRUCTION;
        let failed = |error: i32| -> Trouble {
            Text::format(format_args!("/filter can't be read (error {error})"))
        };
        let path = CStr::new(b"/filter\0");
        match sys::open(path, flag::O_RDONLY, 0) {
            Ok(fd) => drop(sys::close(fd)),
            Err(errno::ENOENT) => return Ok(None),
            Err(error) => return Err(failed(error)),
        }
        let place = sys::map(SPACE, flag::MAP_PRIVATE).map_err(failed)?;
        // SAFETY: mapped just now, for good, and known to nobody else.
        let space = unsafe { core::slice::from_raw_parts_mut(place as *mut u8, SPACE) };
        let length = contents(path, space).map_err(failed)?;
        let (flags, _) = space.split_first_chunk().ok_or_else(|| failed(errno::EINVAL))?;
        Ok(Some(Self {
            flags: FilterFlags::from_bytes(*flags),
            instructions: place + FilterFlags::BYTES,
            count: (length.saturating_sub(FilterFlags::BYTES) / FILTER_INSTRUCTION) as u16,
        }))
    }

    /// Filters the calls of this process from now on, and those of its children.
    pub(crate) fn install(self) -> Result<(), i32> {
        const SECCOMP_SET_MODE_FILTER: usize = 1;
        /// `struct sock_fprog`.
        #[repr(C)]
        struct Program {
            count: u16,
            instructions: usize,
        }
        let program = Program { count: self.count, instructions: self.instructions };
        let install = |flags| {
            let args = [SECCOMP_SET_MODE_FILTER, flags, &raw const program as usize, 0, 0, 0];
            // SAFETY: the kernel reads one `struct sock_fprog` and as many instructions as it says,
            // which are mapped for good.
            unsafe { sys::checked(nr::SECCOMP, args) }
        };
        match install(self.flags.flags as usize) {
            Err(errno::EINVAL) if self.flags.may_lack => install(0).map(drop),
            installed => installed.map(drop),
        }
    }
}
