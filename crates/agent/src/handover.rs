//! Memory to which the host writes a job while the guest is paused at READY, so that one boot
//! serves all programs. The guest executes no instruction for this.

use pathmeter_probes::{
    sys::{self, flag, nr},
    text::Text,
};
use pathmeter_wire::{
    job::{LENGTH, MAX_HANDED, ROOM},
    message::Memory,
};

use crate::trouble::Trouble;

const PAGE: usize = 4096;

/// The memory: [`ROOM`] bytes, whose pages are taken at once as far as there are any.
pub(crate) struct Room(usize);

impl Room {
    /// Takes it.
    pub(crate) fn new() -> Result<Self, Trouble> {
        let taken = sys::map(ROOM, flag::MAP_PRIVATE | flag::MAP_POPULATE);
        taken.map(Self).map_err(|error| {
            Text::format(format_args!(
                "there is no memory for a program (error {error}); give the guest more --memory"
            ))
        })
    }

    /// Where it is.
    pub(crate) fn memory(&self) -> Memory {
        Memory { address: self.0 as u64, length: ROOM as u64 }
    }

    /// The job that the host wrote there, for good. Pages without a byte of it are unmapped.
    pub(crate) fn job(self) -> Result<&'static [u8], Trouble> {
        let begin = self.0 as *mut u8;
        // SAFETY: mapped, and begins a page; the host, of which the compiler does not know, has
        // written to it.
        let length = unsafe { (self.0 as *const u64).read_volatile() };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if !(1..=MAX_HANDED).contains(&length) {
            return Err(Text::format(format_args!(
                "no program arrived: {length} bytes are handed over; if the initramfs did not \
                 arrive whole, give the guest more --memory"
            )));
        }
        let used = (LENGTH + length).next_multiple_of(PAGE);
        // SAFETY: the pages behind the job belong to nobody else; those of the job stay for good.
        unsafe {
            let _ = sys::checked(nr::MUNMAP, [self.0 + used, ROOM - used, 0, 0, 0, 0]);
            Ok(core::slice::from_raw_parts(begin.add(LENGTH), length))
        }
    }
}
