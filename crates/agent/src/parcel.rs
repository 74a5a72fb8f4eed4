//! How the guest gets its parcel: in its initramfs, or from the host, which writes it to memory of
//! the agent's while the guest is paused. The guest executes no instruction for that.

use pathmeter_probes::Suite;
use pathmeter_probes::{
    sys::{self, CStr, errno, flag, nr},
    text::Text,
};
use pathmeter_wire::{
    Kind,
    archive::{RecordKind, Records},
    message::Memory,
    parcel::{LENGTH, MAX_PARCEL, PROGRAM, ROOM},
};

use crate::{pause, plan, port::Port, trouble::Trouble, unpack};

const PAGE: usize = 4096;

/// A parcel that has arrived. All its files but the program are in the root file system.
pub(crate) struct Parcel {
    /// The user's program, if there is no plan.
    pub(crate) program: Option<&'static [u8]>,
    /// Whether the host handed it over.
    is_handed: bool,
}

impl Parcel {
    /// That of the initramfs, or else the one that the host hands over.
    pub(crate) fn receive(port: &mut Port) -> Result<Self, Trouble> {
        if plan::is_there() {
            return Ok(Self { program: None, is_handed: false });
        }
        let program = packed_program().map_err(|error| -> Trouble {
            Text::format(format_args!("/program can't be read (error {error})"))
        })?;
        if program.is_some() {
            return Ok(Self { program, is_handed: false });
        }
        // Before the condition, which may limit the agent's own memory: what is taken now is in no
        // control group, as the initramfs is in none.
        let room = Room::new()?;
        port.send_memory(Kind::Start, room.memory());
        port.pause(Suite::Exact);
        pause::forget_signal();
        Ok(Self { program: room.unpack()?, is_handed: true })
    }

    /// Tells the host that the guest is under its condition, and waits to be resumed if it has not
    /// waited yet.
    pub(crate) fn announce_ready(&self, port: &mut Port, suite: Suite) {
        port.send_plain(Kind::Ready, b"");
        if !self.is_handed {
            port.pause(suite);
            pause::forget_signal();
        }
    }
}

/// The program of the initramfs, which stays in memory, if there is one.
fn packed_program() -> Result<Option<&'static [u8]>, i32> {
    let fd = match sys::open(CStr::new(b"/program\0"), flag::O_RDONLY, 0) {
        Err(errno::ENOENT) => return Ok(None),
        fd => fd?,
    };
    let program = sys::map_file(fd)?;
    let _ = sys::close(fd);
    Ok(Some(program))
}

/// Memory for a parcel: [`ROOM`] bytes.
struct Room(usize);

impl Room {
    /// Takes the memory, with all of its pages.
    fn new() -> Result<Self, Trouble> {
        let taken = sys::map(ROOM, flag::MAP_PRIVATE | flag::MAP_POPULATE);
        let begin = taken.map_err(|error| -> Trouble {
            Text::format(format_args!(
                "there is no memory for what the guest is to do (error {error}); give the guest \
                 more --memory"
            ))
        })?;
        // Most kernels have taken the pages at once. The lab kernel takes each as it is written to,
        // and one that is short of memory says so here.
        for page in (begin..begin + ROOM).step_by(PAGE) {
            // SAFETY: in the mapping, which nobody else knows.
            unsafe { (page as *mut u8).write_volatile(0) };
        }
        Ok(Self(begin))
    }

    fn memory(&self) -> Memory {
        Memory { address: self.0 as u64, length: ROOM as u64 }
    }

    /// Makes the parcel's files. The program stays where it is, and all other memory is given back.
    fn unpack(self) -> Result<Option<&'static [u8]>, Trouble> {
        let mut program = None;
        let parcel = self.parcel()?;
        for record in Records::of(parcel) {
            let record = record.map_err(|error| -> Trouble {
                Text::format(format_args!("the parcel: {error}"))
            })?;
            match record.kind {
                RecordKind::File(bytes) if is_program(record.name) => program = Some(bytes),
                _ => unpack::create(&record).map_err(|error| -> Trouble {
                    Text::format(format_args!(
                        "a file of the parcel can't be made (error {error}); give the guest more \
                         --memory"
                    ))
                })?,
            }
        }
        self.keep_only(program.unwrap_or_default());
        Ok(program)
    }

    /// The parcel that the host has written. It is valid until [`Room::keep_only`] unmaps it, but
    /// for the pages of the program, which stay for good.
    fn parcel(&self) -> Result<&'static [u8], Trouble> {
        let begin = self.0 as *const u8;
        // SAFETY: mapped, and begins a page; the host, of which the compiler does not know, has
        // written to it.
        let length = unsafe { (self.0 as *const u64).read_volatile() };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if !(1..=MAX_PARCEL).contains(&length) {
            let what = format_args!("no parcel arrived: {length} bytes are handed over");
            return Err(Text::format(what));
        }
        // SAFETY: within the mapping. `unpack`, the only caller, keeps nothing of it but the
        // program, whose pages `keep_only` leaves.
        Ok(unsafe { core::slice::from_raw_parts(begin.add(LENGTH), length) })
    }

    /// Unmaps the pages that hold nothing of these bytes.
    fn keep_only(self, kept: &[u8]) {
        let (begin, end) = (self.0, self.0 + ROOM);
        let (first, last) = match kept {
            [] => (end, end),
            kept => {
                let place = kept.as_ptr() as usize;
                (place / PAGE * PAGE, (place + kept.len()).next_multiple_of(PAGE))
            }
        };
        for (from, to) in [(begin, first), (last, end)] {
            // SAFETY: nobody uses other bytes of the parcel any more. No pages are no mapping,
            // which the kernel refuses.
            let _ = unsafe { sys::checked(nr::MUNMAP, [from, to - from, 0, 0, 0, 0]) };
        }
    }
}

fn is_program(name: &[u8]) -> bool {
    name.strip_suffix(&[0]) == Some(PROGRAM.as_bytes())
}
