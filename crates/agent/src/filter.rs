//! The condition's system-call filter, which each measured process installs.

use pathmeter_probes::sys::{self, errno, nr};
use pathmeter_wire::condition::{FILTER_INSTRUCTION, FilterFlags};

/// A system-call filter, in memory that stays.
#[derive(Clone, Copy)]
pub(crate) struct Filter {
    flags: FilterFlags,
    instructions: &'static [u8],
}

impl Filter {
    /// The filter of these instructions; none without any.
    pub(crate) fn new(flags: FilterFlags, instructions: &'static [u8]) -> Option<Self> {
        (!instructions.is_empty()).then_some(Self { flags, instructions })
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
        let program = Program {
            count: (self.instructions.len() / FILTER_INSTRUCTION) as u16,
            instructions: self.instructions.as_ptr() as usize,
        };
        let install = |flags| {
            let args = [SECCOMP_SET_MODE_FILTER, flags, &raw const program as usize, 0, 0, 0];
            // SAFETY: the kernel reads one `struct sock_fprog` and as many instructions as it says,
            // which stay.
            unsafe { sys::checked(nr::SECCOMP, args) }
        };
        match install(self.flags.flags as usize) {
            Err(errno::EINVAL) if self.flags.may_lack => install(0).map(drop),
            installed => installed.map(drop),
        }
    }
}
