//! Many ioctls by the CPU's fast 32-bit entry, `syscall`, from a 64-bit process: its code for them
//! is in a page below 4 GiB and runs in a 32-bit code segment. For calls whose time is measured, at
//! which two processes have to begin together; a window's call is that of a whole 32-bit program
//! (`compat32.rs`).
//!
//! Only the lab kernel has devices to ask. Its entry keeps to what 32-bit programs rely on: ebx,
//! edx, esi, edi and ebp survive, ecx is lost (`lab/x86/entry.S`, `entry_syscall_compat`).

use core::arch::global_asm;

use crate::{
    arch::MAP_32BIT,
    failure::{Failure, unsupported},
    sys::{self, flag, nr},
    task::{self, Ended},
};

global_asm!(include_str!("fast32.s"), options(att_syntax, raw));

unsafe extern "C" {
    static pathmeter_fast32_page: [u8; 0];
    static pathmeter_fast32_narrow: [u8; 0];
    static pathmeter_fast32_wide: [u8; 0];
    static pathmeter_fast32_pointers: [u8; 0];
    static pathmeter_fast32_page_end: [u8; 0];
    fn pathmeter_fast32_calls(page: usize, arguments: *const [u32; 4], stack: usize) -> u32;
}

/// The segments of 32-bit and of 64-bit programs (Linux `arch/x86/include/asm/segment.h`).
const NARROW: u64 = 0x23;
const WIDE: u64 = 0x33;
/// Bytes of the mapping: the code from its beginning, the stack from its end.
const ROOM: usize = 4096;

/// Code and stack, below 4 GiB, never unmapped.
#[derive(Clone, Copy)]
pub(crate) struct Fast32 {
    page: usize,
}

impl Fast32 {
    /// Made, and tried in a child: on a CPU whose fast entry is another one it would be killed.
    pub(crate) fn new(fd: usize, command: usize, argument: usize) -> Result<Self, Failure> {
        let made = Self { page: page()? };
        match task::trial(|| usize::from(made.ioctls([fd, command, argument], 1) != Some(0))) {
            Ok(Ended::Exit(0)) => Ok(made),
            other => unsupported!("syscall from 32-bit code ends with {other:?}"),
        }
    }

    /// So many ioctls of a descriptor, with a command and its argument; 0 if all succeeded. `None`
    /// if one of these does not fit 32 bits.
    pub(crate) fn ioctls(self, [fd, command, argument]: [usize; 3], calls: u32) -> Option<u32> {
        let narrow = |value: usize| u32::try_from(value).ok();
        let arguments = [narrow(fd)?, narrow(command)?, narrow(argument)?, calls];
        // SAFETY: the page holds the code that `page` copied, its stack is nobody else's, and the
        // function keeps to the C ABI. What the ioctl writes is the caller's to answer for, as
        // with `int80`.
        Some(unsafe { pathmeter_fast32_calls(self.page, &raw const arguments, self.page + ROOM) })
    }
}

/// The mapping, with code whose far pointers are filled in.
fn page() -> Result<usize, Failure> {
    let flags = flag::MAP_PRIVATE | MAP_32BIT;
    let page = match sys::map(ROOM, flags) {
        Ok(page) => page,
        Err(error) => return unsupported!("no memory below 4 GiB (mmap: error {error})"),
    };
    let begin = (&raw const pathmeter_fast32_page).cast::<u8>();
    let at = |label: *const [u8; 0]| label as usize - begin as usize;
    let pointers = page + at(&raw const pathmeter_fast32_pointers);
    let far =
        [(NARROW, &raw const pathmeter_fast32_narrow), (WIDE, &raw const pathmeter_fast32_wide)];
    // SAFETY: the code and its pointers, which are aligned to 8 bytes, fit the mapping, which is
    // ours alone (some 60 bytes); all labels stand in one section.
    unsafe {
        let length = at(&raw const pathmeter_fast32_page_end);
        core::ptr::copy_nonoverlapping(begin, page as *mut u8, length);
        for (place, (segment, label)) in far.into_iter().enumerate() {
            let target = (page + at(label)) as u64;
            (pointers as *mut u64).add(place).write(segment << 32 | target);
        }
    }
    // SAFETY: the mapping is ours alone.
    let executable = unsafe { sys::checked(nr::MPROTECT, [page, ROOM, flag::PROT_ALL, 0, 0, 0]) };
    match executable {
        Ok(_) => Ok(page),
        Err(error) => unsupported!("code can't be made (mprotect: error {error})"),
    }
}
