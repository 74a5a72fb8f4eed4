//! `select.*`, `poll.*`, `epoll.*` and `eventfd.*`: asking for what is ready.
//!
//! Of so many pipes one has a byte, the last; nobody waits, since the time limit is 0. Proof: each
//! call finds one that is ready, and it is that one.

use crate::{
    arch::EpollEvent,
    descriptor,
    failure::{Failure, Outcome, tried},
    path::Kind::Windows,
    probe::{Probes, row},
    report::ProbeReport,
    sys::{self, nr},
    window,
};

pub(crate) const PROBES: Probes = &[
    row(
        "select.10",
        Windows(13),
        "select of 10 pipes, the last of which is ready, without waiting",
        select::<10>,
    ),
    row("select.100", Windows(13), "the same of 100", select::<100>),
    row(
        "poll.10",
        Windows(13),
        "poll of 10 pipes, the last of which is ready, without waiting",
        poll::<10>,
    ),
    row("poll.100", Windows(13), "the same of 100", poll::<100>),
    row(
        "epoll.wait-10",
        Windows(13),
        "epoll_wait on 10 pipes, one of which is ready, without waiting",
        epoll_wait::<10>,
    ),
    row("epoll.wait-100", Windows(13), "the same of 100", epoll_wait::<100>),
    row(
        "epoll.add-delete",
        Windows(13),
        "epoll_ctl that adds a pipe, then one that deletes it",
        epoll_add_delete,
    ),
    row("eventfd.write-read", Windows(13), "write to an eventfd, then read from it", eventfd),
];

/// The read ends of `N` pipes, of which the last has a byte. All are closed with the process.
fn pipes<const N: usize>() -> Result<[usize; N], Failure> {
    let mut ends = [0; N];
    let mut last = 0;
    for end in &mut ends {
        [*end, last] = descriptor::pipe()?;
    }
    tried("write to a pipe", sys::write(last, &[0]))?;
    Ok(ends)
}

fn last<const N: usize>(ends: &[usize; N]) -> usize {
    ends.last().copied().unwrap_or(0)
}

/// Numbers that a set of descriptors has bits for, of those that probes get.
const SET: usize = 512;

fn select<const N: usize>(report: &mut ProbeReport) -> Outcome {
    let ends = pipes::<N>()?;
    let ready = last(&ends);
    let mut all = [0_u64; SET / 64];
    for end in ends {
        if let Some(word) = all.get_mut(end / 64) {
            *word |= 1 << (end % 64);
        }
    }
    let no_time = [0_i64; 2];
    let mut found = all;
    let args = [ready + 1, found.as_mut_ptr() as usize, 0, 0, no_time.as_ptr() as usize, 0];
    // SAFETY: the kernel reads and writes one set and one time, which last.
    tried("select", unsafe { sys::checked(nr::SELECT, args) })?;
    let found = found.as_mut_ptr();
    window::each(report, || {
        // SAFETY: the kernel reads and writes one set and one time, all of which last; nobody else
        // uses the set meanwhile.
        unsafe {
            found.cast::<[u64; SET / 64]>().write_volatile(all);
            let raw = sys::call(nr::SELECT, args);
            raw == 1 && found.add(ready / 64).read_volatile() == 1 << (ready % 64)
        }
    })
}

/// `struct pollfd`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Pollfd {
    file: i32,
    wanted: i16,
    found: i16,
}

const READABLE: i16 = 1;

fn poll<const N: usize>(report: &mut ProbeReport) -> Outcome {
    let ends = pipes::<N>()?;
    let mut all = ends.map(|end| Pollfd {
        file: i32::try_from(end).unwrap_or(-1),
        wanted: READABLE,
        found: 0,
    });
    let place = all.as_mut_ptr();
    let args = [place as usize, N, 0, 0, 0, 0];
    // SAFETY: the kernel reads and writes `N` times `struct pollfd`; the same below.
    tried("poll", unsafe { sys::checked(nr::POLL, args) })?;
    window::each(report, || {
        // SAFETY: as above.
        unsafe {
            let raw = sys::call(nr::POLL, args);
            raw == 1 && place.add(N - 1).read_volatile().found == READABLE
        }
    })
}

/// `epoll_ctl(2)` of one descriptor, which is the event's own number.
#[inline(always)]
fn control(epoll: usize, operation: usize, file: usize) -> sys::Ret {
    let event = EpollEvent { events: READABLE as u32, data: file as u64 };
    // SAFETY: the kernel reads one `struct epoll_event`.
    unsafe {
        sys::checked(nr::EPOLL_CTL, [epoll, operation, file, &raw const event as usize, 0, 0])
    }
}

const ADD: usize = 1;
const DELETE: usize = 2;

fn epoll() -> Result<usize, Failure> {
    // SAFETY: takes no pointer.
    tried("epoll_create1", unsafe { sys::checked(nr::EPOLL_CREATE1, [0; 6]) })
}

fn epoll_wait<const N: usize>(report: &mut ProbeReport) -> Outcome {
    /// How many events there is room for.
    const ROOM: usize = 16;
    let (epoll, ends) = (epoll()?, pipes::<N>()?);
    for end in ends {
        tried("epoll_ctl", control(epoll, ADD, end))?;
    }
    let ready = last(&ends) as u64;
    let mut events = [EpollEvent { events: 0, data: 0 }; ROOM];
    let place = events.as_mut_ptr();
    window::each(report, || {
        // SAFETY: the kernel writes at most so many times `struct epoll_event`.
        unsafe {
            place.write_volatile(EpollEvent { events: 0, data: 0 });
            let raw = sys::call(nr::EPOLL_WAIT, [epoll, place as usize, ROOM, 0, 0, 0]);
            raw == 1 && place.read_volatile().data == ready
        }
    })
}

fn epoll_add_delete(report: &mut ProbeReport) -> Outcome {
    let (epoll, [end]) = (epoll()?, pipes::<1>()?);
    window::each(report, || {
        // The kernel refuses to add what is there, and to delete what is not.
        control(epoll, ADD, end).and_then(|_| control(epoll, DELETE, end)).is_ok()
    })
}

fn eventfd(report: &mut ProbeReport) -> Outcome {
    // SAFETY: takes no pointer.
    let file = tried("eventfd2", unsafe { sys::checked(nr::EVENTFD2, [0; 6]) })?;
    let mut sent = 0_u64;
    window::each(report, || {
        sent += 1;
        let mut bytes = sent.to_ne_bytes();
        let put = sys::write(file, &bytes);
        bytes = [0; 8];
        let got = sys::read(file, &mut bytes);
        put == Ok(8) && got == Ok(8) && u64::from_ne_bytes(bytes) == sent
    })
}
