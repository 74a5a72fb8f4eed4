//! What Bochs' debugger sees of a program's runs: where the kernel is entered and left, and where
//! tasks are switched. From that follow the same rows as the program plugin counts in QEMU
//! (`plugin/program/account.h`). The guest is not touched, and its clock goes on as without.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::bochs::debugger::{Halt, MOST_PLACES};

/// The begin and end markers of a run (`crates/probes/src/arch/x86_64/stamp.rs`), as the agent has
/// them once each.
const BEGIN: [u8; 8] = [0x0f, 0x1f, 0x84, 0, 0, 4, b'M', b'P'];
const END: [u8; 8] = [0x0f, 0x1f, 0x84, 0, 0, 5, b'M', b'P'];
/// Where a loadable piece of an ELF file stands in it: Linux `include/uapi/linux/elf.h`.
const PHOFF: usize = 32;
const PHNUM: usize = 56;
const PROGRAM_HEADER: usize = 56;
/// `iret`, `sysret` and `sysexit` of 64-bit code; the first byte may be there or not in the last
/// two (Intel SDM volume 2, the instructions' pages).
const IRET: [u8; 2] = [0x48, 0xcf];
const SYSRET: [u8; 2] = [0x0f, 0x07];
const SYSEXIT: [u8; 2] = [0x0f, 0x35];
const WIDE: u8 = 0x48;
/// `mov disp32(%rsi),%rsp`: the next task's stack.
const LOAD_OF_STACK: [u8; 3] = [0x48, 0x8b, 0xa6];
/// What an interrupt's entry begins with, and how many bytes that has: `endbr64`, or a push of the
/// vector (Linux `arch/x86/include/asm/idtentry.h`, `irq_entries_start`).
const FIRST_OF_INTERRUPT: [(&[u8], u64); 3] =
    [(&[0xf3, 0x0f, 0x1e, 0xfa], 4), (&[0x6a], 2), (&[0x68], 5)];
/// Places beside the kernel's entries: both markers, the task switch, returns, and where softirqs
/// return to.
const MOST_OTHERS: usize = 14;
/// Most entries of a kernel at which Bochs stops.
pub(crate) const MOST_ENTRIES: usize = MOST_PLACES - MOST_OTHERS;
/// Most stops of a run that are kept.
const MOST_STOPS: usize = 1 << 21;
/// Most instructions from a system call's entry to its function.
const FARTHEST: u32 = 2000;

/// What a kernel has to be stopped at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Landmarks {
    /// Where it is entered, and what is to be looked at there; at most [`MOST_ENTRIES`].
    pub entries: Vec<(u64, Look)>,
    /// The code that enters the kernel and leaves it.
    pub entry_text: Range<u64>,
    /// The function that switches from task to task.
    pub switch: Range<u64>,
    /// Where functions of system calls begin.
    pub functions: BTreeSet<u64>,
}

/// What is to be looked at where the kernel is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Nothing,
    /// Which system call's function is executed first.
    Function,
    /// What lies on top of the stack: an error code.
    Top,
    /// The same, which is where it returns to. That is a place to stop at, too.
    ReturnAddress,
    /// Nothing; an interrupt's entry. Bochs looks for breakpoints after instructions and exceptions
    /// only, so it does not stop at its first instruction, but at the second.
    Interrupt,
}

/// A stop in a run of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stop {
    /// Steps of Bochs' clock before the instruction.
    pub clock: u64,
    pub place: StopPlace,
}

/// Where in a run Bochs stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopPlace {
    /// The run of the program begins.
    Begin,
    /// The run of the program ends.
    End,
    /// The kernel is entered at this address.
    Entry {
        address: u64,
        /// What was looked at; 0 if there was nothing.
        seen: u64,
    },
    /// An instruction that leaves the kernel.
    Return,
    /// Where an entry that was looked at for it returns to.
    Back,
    /// From the task `from` to the task `to`.
    Switch {
        /// Each task has another number.
        from: u64,
        to: u64,
    },
}

/// What is at an address at which Bochs stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Begin,
    End,
    Entry(Look),
    /// The second instruction of the entry at this address.
    Interrupt(u64),
    Return,
    Back,
    Switch,
}

/// What Bochs is to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Run until it stops again, after it was told of these places.
    Go,
    /// Execute a single instruction, and stop.
    Step,
}

/// What is asked of a Bochs that has stopped.
pub(crate) trait Stopped {
    type Error;
    /// The value of the register of this name.
    fn register(&mut self, name: &str) -> Result<u64, Self::Error>;
    /// The number on top of the stack.
    fn top(&mut self) -> Result<u64, Self::Error>;
    /// The bytes of memory in this range.
    fn bytes(&mut self, range: Range<u64>) -> Result<Vec<u8>, Self::Error>;
    /// Has it stop at this address from now on.
    fn stop_at(&mut self, address: u64) -> Result<(), Self::Error>;
    /// Has it stop at all places but the markers, or not.
    fn heed(&mut self, on: bool) -> Result<(), Self::Error>;
    /// The error that this kernel can't be watched, or not any longer, for this reason.
    fn unwatchable_error(&self, what: &str) -> Self::Error;
}

/// A system call's function is looked for.
struct Search {
    /// The stop that it belongs to.
    stop: usize,
    /// The entry and the number in rax.
    key: (u64, u64),
    left: u32,
}

/// The state of a watched guest.
pub(crate) struct Watch {
    landmarks: Landmarks,
    places: BTreeMap<u64, Place>,
    open: bool,
    /// The kernel's places are known to Bochs.
    prepared: bool,
    known: BTreeMap<(u64, u64), u64>,
    search: Option<Search>,
    stops: Vec<Stop>,
}

impl Watch {
    /// Of a kernel with these landmarks; `agent` is the one for programs, which has each marker of
    /// a run once.
    pub(crate) fn new(landmarks: Landmarks, agent: &[u8]) -> Self {
        let markers = [(BEGIN, Place::Begin), (END, Place::End)];
        let place = |(bytes, place): ([u8; 8], _)| Some((address_of(agent, &bytes)?, place));
        Self {
            landmarks,
            places: markers.into_iter().filter_map(place).collect(),
            open: false,
            prepared: false,
            known: BTreeMap::new(),
            search: None,
            stops: Vec::new(),
        }
    }

    /// Where it is to stop before anything is executed: at the markers.
    pub(crate) fn first_places(&self) -> impl Iterator<Item = u64> {
        self.places.keys().copied()
    }

    /// The stops of the run that has ended.
    pub(crate) fn take(&mut self) -> Vec<Stop> {
        std::mem::take(&mut self.stops)
    }

    /// Bochs has stopped: what it does next.
    pub(crate) fn stopped<S: Stopped>(
        &mut self,
        at: Halt,
        bochs: &mut S,
    ) -> Result<Next, S::Error> {
        let place = self.places.get(&at.address).copied();
        match (place, self.open) {
            (Some(Place::Begin), false) => {
                self.begin(bochs)?;
                self.note(at, StopPlace::Begin, bochs)?;
                Ok(Next::Go)
            }
            (Some(Place::End), true) => {
                self.open = false;
                bochs.heed(false)?;
                self.note(at, StopPlace::End, bochs)?;
                self.search = None;
                Ok(Next::Go)
            }
            (_, false) => Ok(Next::Go),
            (place, true) => {
                self.passed(at, place, bochs)?;
                Ok(self.searched(at.address))
            }
        }
    }

    /// Bochs has stopped within a run.
    fn passed<S: Stopped>(
        &mut self,
        at: Halt,
        place: Option<Place>,
        bochs: &mut S,
    ) -> Result<(), S::Error> {
        match place {
            Some(Place::Return) => {
                self.search = None;
                self.note(at, StopPlace::Return, bochs)
            }
            Some(Place::Back) => self.note(at, StopPlace::Back, bochs),
            Some(Place::Switch) => {
                self.search = None;
                let (from, to) = (bochs.register("rdi")?, bochs.register("rsi")?);
                self.note(at, StopPlace::Switch { from, to }, bochs)
            }
            Some(Place::Entry(look)) => self.enter(at, look, bochs),
            Some(Place::Interrupt(address)) => {
                let before = Halt { clock: at.clock.saturating_sub(1), address };
                self.note(before, StopPlace::Entry { address, seen: 0 }, bochs)
            }
            // A program's own code may stand where the agent's does.
            Some(Place::Begin | Place::End) | None => Ok(()),
        }
    }

    fn begin<S: Stopped>(&mut self, bochs: &mut S) -> Result<(), S::Error> {
        self.open = true;
        self.stops.clear();
        if self.prepared {
            return bochs.heed(true);
        }
        self.prepared = true;
        let entry_text = self.landmarks.entry_text.clone();
        let switch = self.landmarks.switch.clone();
        let returns = returns(&bochs.bytes(entry_text.clone())?, entry_text.start);
        let loads = bochs.bytes(switch.clone())?;
        let load = loads.windows(LOAD_OF_STACK.len()).position(|bytes| bytes == LOAD_OF_STACK);
        let load =
            load.ok_or_else(|| bochs.unwatchable_error("no instruction that switches tasks"))?;
        let entries = self.landmarks.entries.clone().into_iter();
        let mut places = Vec::new();
        for (address, look) in entries {
            places.push(match look {
                Look::Interrupt => (second(address, bochs)?, Place::Interrupt(address)),
                look => (address, Place::Entry(look)),
            });
        }
        places.push((switch.start + load as u64, Place::Switch));
        places.extend(returns.into_iter().map(|address| (address, Place::Return)));
        places.into_iter().try_for_each(|(address, place)| self.add(address, place, bochs))
    }

    fn add<S: Stopped>(
        &mut self,
        address: u64,
        place: Place,
        bochs: &mut S,
    ) -> Result<(), S::Error> {
        if self.places.contains_key(&address) {
            return Ok(());
        }
        if self.places.len() == MOST_PLACES {
            return Err(bochs.unwatchable_error("more places to stop at than Bochs has room for"));
        }
        bochs.stop_at(address)?;
        self.places.insert(address, place);
        Ok(())
    }

    fn note<S: Stopped>(&mut self, at: Halt, place: StopPlace, bochs: &S) -> Result<(), S::Error> {
        if self.stops.len() == MOST_STOPS {
            return Err(bochs.unwatchable_error("a run with more stops than are kept"));
        }
        self.stops.push(Stop { clock: at.clock, place });
        Ok(())
    }

    fn enter<S: Stopped>(&mut self, at: Halt, look: Look, bochs: &mut S) -> Result<(), S::Error> {
        let address = at.address;
        let mut seen = 0;
        match look {
            Look::Nothing | Look::Interrupt => {}
            Look::Top => seen = bochs.top()?,
            Look::ReturnAddress => {
                let back = bochs.top()?;
                self.add(back, Place::Back, bochs)?;
            }
            Look::Function => {
                let key = (address, bochs.register("rax")?);
                if let Some(function) = self.known.get(&key) {
                    seen = *function;
                } else {
                    self.search = Some(Search { stop: self.stops.len(), key, left: FARTHEST });
                }
            }
        }
        self.note(at, StopPlace::Entry { address, seen }, bochs)
    }

    /// Looks whether a function that is searched for is at `here`.
    fn searched(&mut self, here: u64) -> Next {
        let Some(search) = &mut self.search else { return Next::Go };
        if self.landmarks.functions.contains(&here) {
            if let Some(Stop { place: StopPlace::Entry { seen, .. }, .. }) =
                self.stops.get_mut(search.stop)
            {
                *seen = here;
            }
            self.known.insert(search.key, here);
            self.search = None;
            return Next::Go;
        }
        search.left -= 1;
        if search.left == 0 {
            self.search = None;
            return Next::Go;
        }
        Next::Step
    }
}

/// The address of the second instruction of an interrupt's entry.
fn second<S: Stopped>(entry: u64, bochs: &mut S) -> Result<u64, S::Error> {
    let code = bochs.bytes(entry..entry + 4)?;
    let first = FIRST_OF_INTERRUPT.iter().find(|(bytes, _)| code.starts_with(bytes));
    let (_, length) =
        first.ok_or_else(|| bochs.unwatchable_error("an interrupt's entry that is unknown"))?;
    Ok(entry + length)
}

/// Where in the program's memory the only such bytes of its file are.
fn address_of(elf: &[u8], bytes: &[u8]) -> Option<u64> {
    let [address] = addresses_of(elf, bytes)[..] else { return None };
    Some(address)
}

/// Where in the program's memory such bytes of its file are.
pub(crate) fn addresses_of(elf: &[u8], bytes: &[u8]) -> Vec<u64> {
    let places = (0..elf.len()).filter(|place| elf[*place..].starts_with(bytes));
    places.filter_map(|place| address_at(elf, place as u64)).collect()
}

/// Where in the program's memory this place of its file is.
fn address_at(elf: &[u8], place: u64) -> Option<u64> {
    let number = |at: usize| Some(u64::from_le_bytes(elf.get(at..at + 8)?.try_into().ok()?));
    let first = usize::try_from(number(PHOFF)?).ok()?;
    let count = u16::from_le_bytes(elf.get(PHNUM..PHNUM + 2)?.try_into().ok()?);
    (0..usize::from(count)).find_map(|index| {
        let header = first.checked_add(index * PROGRAM_HEADER)?;
        // Of a 64-bit program header: type, flags, offset, address, …, size in the file.
        let kind = number(header)? & 0xffff_ffff;
        let [offset, address, size] = [8, 16, 32].map(|at| number(header + at));
        let (offset, address, size) = (offset?, address?, size?);
        let within = place.checked_sub(offset).filter(|within| kind == 1 && *within < size)?;
        address.checked_add(within)
    })
}

/// Where in this code instructions may be that leave the kernel. Bytes in the middle of another
/// instruction may look like one: there Bochs never stops.
fn returns(code: &[u8], first: u64) -> Vec<u64> {
    let is = |place: usize, bytes: [u8; 2]| code[place..].starts_with(&bytes);
    let found = (0..code.len()).filter_map(|place| {
        if is(place, IRET) {
            return Some(place);
        }
        if !is(place, SYSRET) && !is(place, SYSEXIT) {
            return None;
        }
        let wide = place.checked_sub(1).filter(|before| code[*before] == WIDE);
        Some(wide.unwrap_or(place))
    });
    found.map(|place| first + place as u64).collect()
}

#[cfg(test)]
mod tests;
