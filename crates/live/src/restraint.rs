//! What a probe's process restrains itself by, as a condition on a live host has it: layers of
//! Landlock, and a filter of system calls.

use pathmeter_probes::sys::{self, flag, nr};

use crate::landlock;

/// Most instructions of a filter; Linux takes no more (`BPF_MAXINSNS`).
const MOST: usize = 4096;
/// Bytes of one instruction of a filter.
const INSTRUCTION: usize = 8;
/// Bytes before the instructions, as the agent's file has them (`wire`'s `Restraint`): the flags,
/// then whether a kernel that does not know these takes the filter without, then the layers.
const HEADER: usize = 8;

/// Layers, and a filter in memory that stays.
#[derive(Clone, Copy)]
pub(crate) struct Restraint {
    layers: u8,
    flags: u32,
    may_lack: bool,
    instructions: usize,
    count: u16,
}

impl Restraint {
    /// Reads it from the file that is open by this number, from its beginning.
    pub(crate) fn read(file: usize) -> Result<Self, i32> {
        const SPACE: usize = HEADER + MOST * INSTRUCTION;
        let place = sys::map(SPACE, flag::MAP_PRIVATE)?;
        // SAFETY: the kernel writes at most so many bytes to the new mapping, which nobody else
        // knows.
        let length = unsafe { sys::checked(nr::PREAD64, [file, place, SPACE, 0, 0, 0]) }?;
        // SAFETY: the header lies in the mapping, which is zeroed where nothing was read.
        let [a, b, c, d, may_lack, layers, ..] = unsafe { *(place as *const [u8; HEADER]) };
        Ok(Self {
            layers,
            flags: u32::from_le_bytes([a, b, c, d]),
            may_lack: may_lack != 0,
            instructions: place + HEADER,
            count: (length.saturating_sub(HEADER) / INSTRUCTION) as u16,
        })
    }

    /// Restrains this process from now on, and its children: by Landlock first, whose calls a
    /// filter may refuse. Who may not is permitted to by giving up new privileges (seccomp(2),
    /// landlock(7)).
    pub(crate) fn install(self) -> Result<(), i32> {
        const PR_SET_NO_NEW_PRIVS: usize = 38;
        sys::prctl(PR_SET_NO_NEW_PRIVS, 1)?;
        if self.layers > 0 {
            landlock::restrict(self.layers)?;
        }
        if self.count > 0 { self.filter() } else { Ok(()) }
    }

    /// Filters the calls of this process.
    fn filter(self) -> Result<(), i32> {
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
            unsafe { sys::checked(nr::SECCOMP, args) }.map(drop)
        };
        match install(self.flags as usize) {
            Err(sys::errno::EINVAL) if self.may_lack => install(0),
            installed => installed,
        }
    }
}
