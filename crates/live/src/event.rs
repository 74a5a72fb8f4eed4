//! The processor's counter of retired instructions, by `perf_event_open(2)`, read by `rdpmc`.
//!
//! The event is one of the CPU, not of a task: a window holds what a partner executed too. It is
//! pinned, so that the kernel leaves it in one counter; [`Event::held`] checks that it did.
//! Layouts are those of Linux `include/uapi/linux/perf_event.h`.

use core::{ptr::NonNull, sync::atomic::Ordering};

use pathmeter_probes::{
    clock,
    sys::{self, flag, nr},
    text::Text,
};

use crate::{
    ground::{Refused, at},
    trouble::Trouble,
};

const PERF_EVENT_OPEN: usize = 298;
const PAGE: usize = 4096;

/// In which modes the counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Modes {
    User,
    Kernel,
    Both,
}

impl Modes {
    /// The modes that this word on the command line asks for.
    pub(crate) fn from_word(word: &[u8]) -> Option<Self> {
        match word {
            b"user" => Some(Self::User),
            b"kernel" => Some(Self::Kernel),
            b"both" => Some(Self::Both),
            _ => None,
        }
    }

    /// Bits of `struct perf_event_attr`: which modes are excluded.
    fn excluded(self) -> u64 {
        const EXCLUDE_USER: u64 = 1 << 4;
        const EXCLUDE_KERNEL: u64 = 1 << 5;
        match self {
            Self::User => EXCLUDE_KERNEL,
            Self::Kernel => EXCLUDE_USER,
            Self::Both => 0,
        }
    }
}

/// The first published `struct perf_event_attr`.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample: [u64; 2],
    read_format: u64,
    flags: u64,
    rest: [u64; 2],
}

const _: () = assert!(size_of::<Attributes>() == 64);

/// No number of a task, a CPU or a group: all, any or none.
pub(crate) const NONE: usize = usize::MAX;

impl Attributes {
    /// An event of this kind, with bits that say how it is counted.
    pub(crate) fn new(kind: u32, config: u64, flags: u64) -> Self {
        Self { kind, size: size_of::<Self>() as u32, config, flags, ..Self::default() }
    }

    /// Opens the event for this task on this CPU, in no group.
    pub(crate) fn open(&self, task: usize, cpu: usize) -> sys::Ret {
        let args = [core::ptr::from_ref(self) as usize, task, cpu, NONE, 0, 0];
        // SAFETY: the kernel reads one `struct perf_event_attr` of the size that stands in it.
        unsafe { sys::checked(PERF_EVENT_OPEN, args) }
    }
}

/// The beginning of `struct perf_event_mmap_page`.
#[repr(C)]
struct Shared {
    version: u32,
    compat_version: u32,
    lock: u32,
    /// The counter as `rdpmc` has it, plus one; 0 while there is none.
    index: u32,
    offset: i64,
    times: [u64; 2],
    capabilities: u64,
    /// Bits of what `rdpmc` gives.
    width: u16,
}

const _: () = assert!(core::mem::offset_of!(Shared, width) == 48);

/// The event, for the program's whole life.
pub(crate) struct Event {
    file: usize,
    page: NonNull<Shared>,
    index: u32,
    width: u16,
    /// Nanoseconds for which it did not count until it was in its counter.
    idle: u64,
}

impl Event {
    /// Opens it on `cpu`, where the caller must be, and has stamps read it.
    pub(crate) fn open(modes: Modes, cpu: usize) -> Result<Self, Refused> {
        let file = open(modes, cpu).map_err(at("perf_event_open"))?;
        let args = [0, PAGE, PROT_READ, flag::MAP_SHARED, file, 0];
        // SAFETY: a new mapping at an address of the kernel's choice, never unmapped.
        let page = unsafe { sys::checked(nr::MMAP, args) }.map_err(at("perf-mmap"))?;
        let page = NonNull::new(page as *mut Shared).ok_or(Refused { step: "perf-mmap", error: 0 });
        let mut event = Self { file, page: page?, index: 0, width: 0, idle: 0 };
        let Shared { index, capabilities, width, .. } = event.look();
        if capabilities & CAP_USER_RDPMC == 0 || !(1..=64).contains(&width) {
            return Err(Refused { step: "rdpmc", error: 0 });
        }
        if index == 0 {
            return Err(Refused { step: "free-counter", error: 0 });
        }
        (event.index, event.width) = (index, width);
        event.idle = idle(file).ok_or(Refused { step: "free-counter", error: 0 })?;
        clock::COUNTER.store(index - 1, Ordering::Relaxed);
        Ok(event)
    }

    /// A difference of two readings, of which the bits beyond the counter's width mean nothing.
    pub(crate) fn fitted(&self, difference: u64) -> u64 {
        difference & (u64::MAX >> (64 - u32::from(self.width)))
    }

    /// Whether it has been in its counter all the time; if not, what is known.
    pub(crate) fn held(&self) -> Result<(), Trouble> {
        let index = self.look().index;
        if index != self.index {
            return Err(Text::format(format_args!(
                "the kernel moved the event from counter {} to {index}",
                self.index
            )));
        }
        match idle(self.file) {
            Some(idle) if idle == self.idle => Ok(()),
            Some(_) => Err(Text::format(format_args!("the event did not count all the time"))),
            None => Err(Text::format(format_args!("the event lost its counter"))),
        }
    }

    fn look(&self) -> Shared {
        // SAFETY: the kernel keeps this page for as long as the program lives. It may write
        // meanwhile: each number is valid by itself, and nothing more is asked of them.
        unsafe { self.page.read_volatile() }
    }
}

const PROT_READ: usize = 1;
const CAP_USER_RDPMC: u64 = 1 << 2;

/// Nanoseconds for which the event was enabled and did not count. None if it has no counter: as it
/// is pinned, it reads as the end of a file then.
fn idle(file: usize) -> Option<u64> {
    // The count, the time enabled, the time counted.
    let mut bytes = [0; 24];
    let read = sys::read(file, &mut bytes);
    let [_, enabled, counted] =
        [0, 8, 16].map(|at| bytes.get(at..at + 8)?.try_into().map(u64::from_ne_bytes).ok());
    (read == Ok(bytes.len())).then(|| enabled?.checked_sub(counted?)).flatten()
}

fn open(modes: Modes, cpu: usize) -> sys::Ret {
    const HARDWARE: u32 = 0;
    const INSTRUCTIONS: u64 = 1;
    const TIMES: u64 = 3;
    const PINNED: u64 = 1 << 2;
    let flags = PINNED | modes.excluded();
    let attributes = Attributes::new(HARDWARE, INSTRUCTIONS, flags);
    Attributes { read_format: TIMES, ..attributes }.open(NONE, cpu)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_wraps_at_the_counters_width() {
        let event = |width| Event { file: 0, page: NonNull::dangling(), index: 1, width, idle: 0 };
        let over = 5_u64.wrapping_sub((1 << 48) - 3);
        assert_eq!(event(48).fitted(over), 8);
        assert_eq!(event(64).fitted(u64::MAX), u64::MAX);
    }

    #[test]
    fn modes_have_words() {
        let words: [&[u8]; 4] = [b"user", b"kernel", b"both", b"all"];
        let known = [Some(Modes::User), Some(Modes::Kernel), Some(Modes::Both), None];
        assert_eq!(words.map(Modes::from_word), known);
    }
}
