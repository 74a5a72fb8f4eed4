//! The condition's system-call filter, which each probe's process installs.

use pathmeter_probes::{
    sys::{self, CStr, errno, flag, nr},
    text::Text,
};
use pathmeter_wire::condition::{FILTER_INSTRUCTION, MAX_FILTER};

use crate::{condition::contents, trouble::Trouble};

/// A system-call filter, in memory that stays.
#[derive(Clone, Copy)]
pub(crate) struct Filter {
    instructions: usize,
    count: u16,
}

impl Filter {
    /// Reads `/filter`; none if the condition has none.
    pub(crate) fn read() -> Result<Option<Self>, Trouble> {
        const SPACE: usize = MAX_FILTER * FILTER_INSTRUCTION;
        let failed = |error: i32| -> Trouble {
            Text::format(format_args!("/filter can't be read (error {error})"))
        };
        let path = CStr::new(b"/filter\0");
        match sys::open(path, flag::O_RDONLY, 0) {
            Ok(fd) => drop(sys::close(fd)),
            Err(errno::ENOENT) => return Ok(None),
            Err(error) => return Err(failed(error)),
        }
        let instructions = sys::map(SPACE, flag::MAP_PRIVATE).map_err(failed)?;
        // SAFETY: mapped just now, for good, and known to nobody else.
        let space = unsafe { core::slice::from_raw_parts_mut(instructions as *mut u8, SPACE) };
        let length = contents(path, space).map_err(failed)?;
        Ok(Some(Self { instructions, count: (length / FILTER_INSTRUCTION) as u16 }))
    }

    /// Filters the calls of this process from now on, and those of its children.
    ///
    /// With the flag that container runtimes set by default: without it, kernels before 5.16 also
    /// turn speculative store bypass off for the process.
    pub(crate) fn install(self) -> Result<(), i32> {
        const SECCOMP_SET_MODE_FILTER: usize = 1;
        const SPEC_ALLOW: usize = 4;
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
        match install(SPEC_ALLOW) {
            // Kernels before 4.17 do not know the flag.
            Err(errno::EINVAL) => install(0).map(drop),
            installed => installed.map(drop),
        }
    }
}
