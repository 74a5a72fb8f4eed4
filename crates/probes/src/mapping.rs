//! `memory.*`: mappings and their pages.
//!
//! Proof: in each window the kernel counted as many minor faults as its calls have; a page that was
//! given back is empty, one of a file has its content; what is unmapped can't be unprotected.

use core::ops::RangeInclusive;

use crate::{
    clock,
    failure::{Failure, Outcome, prove, tried, unsupported},
    path::Kind::Windows,
    probe::{Probes, row},
    report::ProbeReport,
    sys::{self, CStr, Ret, flag, nr},
    window,
};

pub(crate) const PROBES: Probes = &[
    row("memory.mmap-munmap", Windows(13), "mmap of a page, not touched, then munmap", |report| {
        map_unmap(report, 0)
    }),
    row(
        "memory.mmap-munmap+touch",
        Windows(13),
        "mmap of a page, a write to it, munmap",
        |report| map_unmap(report, 1),
    ),
    row("memory.mmap-64k", Windows(13), "mmap of 16 pages, a write to each, munmap", |report| {
        map_unmap(report, 16)
    }),
    row(
        "memory.mprotect",
        Windows(13),
        "mprotect of a page that takes its write permission, then one that gives it",
        mprotect,
    ),
    row(
        "memory.madvise-dontneed",
        Windows(13),
        "a write to a page, then MADV_DONTNEED, which gives it back",
        dontneed,
    ),
    row(
        "memory.fault-file",
        Windows(13),
        "the first read of a page of a file in memory, mapped privately",
        fault_file,
    ),
    row(
        "memory.fault-huge",
        Windows(11),
        "the first write to a huge page of 2 MiB, then MADV_DONTNEED",
        fault_huge,
    ),
];

const PAGE: usize = 4096;
const MARK: u8 = 0x5a;
const MADV_DONTNEED: usize = 4;
const MADV_HUGEPAGE: usize = 14;

/// The kernel's count so far.
fn faults() -> u64 {
    sys::usage(flag::RUSAGE_SELF).minor_faults().cast_unsigned()
}

/// Times that a window is executed until its faults are those of its calls: on a live host the
/// kernel may have moved one of the program's other pages meanwhile, or not have had a free huge
/// page. In a guest nothing else happens, and QEMU's counter sees each window.
const ATTEMPTS: u64 = if cfg!(feature = "batch") { 8 } else { 1 };

/// Runs the windows, and proves so many faults in each call.
fn with_faults(
    report: &mut ProbeReport,
    of_each: RangeInclusive<u64>,
    mut once: impl FnMut() -> bool,
) -> Outcome {
    let (least, most) = (of_each.start() * clock::calls(), of_each.end() * clock::calls());
    report.execute(|| {
        let mut seen = 0;
        for _ in 0..ATTEMPTS {
            let before = faults();
            let cost = window::one(&mut once)?;
            seen = faults() - before;
            if (least..=most).contains(&seen) {
                return Ok(cost);
            }
        }
        Err(Failure::broken(format_args!("{seen} faults were counted in {} calls", clock::calls())))
    })
}

/// # Safety
/// Nobody may need the content of these pages.
#[inline(always)]
unsafe fn advise(place: usize, length: usize, advice: usize) -> Ret {
    // SAFETY: the caller's word.
    unsafe { sys::checked(nr::MADVISE, [place, length, advice, 0, 0, 0]) }
}

/// # Safety
/// Nobody may use these pages in another way afterwards.
#[inline(always)]
unsafe fn protect(place: usize, length: usize, protection: usize) -> Ret {
    // SAFETY: the caller's word.
    unsafe { sys::checked(nr::MPROTECT, [place, length, protection, 0, 0, 0]) }
}

/// # Safety
/// Nobody may use these pages any more.
#[inline(always)]
unsafe fn unmap(place: usize, length: usize) -> Ret {
    // SAFETY: the caller's word.
    unsafe { sys::checked(nr::MUNMAP, [place, length, 0, 0, 0, 0]) }
}

/// A new mapping, of a file or of none, that [`sys::map`] does not keep.
#[inline(always)]
fn map(length: usize, flags: usize, file: usize) -> Ret {
    let args = [0, length, flag::PROT_READ_WRITE, flag::MAP_PRIVATE | flags, file, 0];
    // SAFETY: a new mapping at an address of the kernel's choice disturbs nothing.
    unsafe { sys::checked(nr::MMAP, args) }
}

/// Maps as many pages as are written to, one at least, and unmaps them.
fn map_unmap(report: &mut ProbeReport, written: usize) -> Outcome {
    let length = written.max(1) * PAGE;
    let mut last = 0;
    // The kernel may map several pages at one fault.
    let of_each = u64::from(written > 0)..=written as u64;
    with_faults(report, of_each, || {
        let Ok(place) = map(length, flag::MAP_ANONYMOUS, usize::MAX) else { return false };
        for page in 0..written {
            // SAFETY: within the new mapping.
            unsafe { (place as *mut u8).add(page * PAGE).write_volatile(MARK) };
        }
        last = place;
        // SAFETY: what was just mapped.
        unsafe { unmap(place, length) }.is_ok()
    })?;
    // SAFETY: there is no page there any more.
    let gone = unsafe { protect(last, length, flag::PROT_READ) };
    prove!(gone == Err(sys::errno::ENOMEM), "something is still mapped ({gone:?})");
    Ok(())
}

fn mprotect(report: &mut ProbeReport) -> Outcome {
    let place = tried("mmap", sys::map(PAGE, flag::MAP_PRIVATE))?;
    let page = place as *mut u8;
    // SAFETY: the page is this probe's, and writable when it is written.
    unsafe { page.write_volatile(MARK) };
    // SAFETY: as above.
    let set = |protection| unsafe { protect(place, PAGE, protection) };
    with_faults(report, 0..=0, || set(flag::PROT_READ).and(set(flag::PROT_READ_WRITE)).is_ok())
}

fn dontneed(report: &mut ProbeReport) -> Outcome {
    let place = tried("mmap", sys::map(PAGE, flag::MAP_PRIVATE))?;
    let page = place as *mut u8;
    with_faults(report, 1..=1, || {
        // SAFETY: the page is this probe's, and nobody needs its content.
        unsafe {
            page.write_volatile(MARK);
            advise(place, PAGE, MADV_DONTNEED).is_ok()
        }
    })?;
    // SAFETY: as above.
    let left = unsafe { page.read_volatile() };
    prove!(left == 0, "the page still has {left:#x}");
    Ok(())
}

/// From one page of the file to the next. The kernel maps what a file has around the page that is
/// wanted, up to 64 KiB (`fault_around_bytes`); the rest of the file is holes.
const STRIDE: usize = 64 << 10;

fn fault_file(report: &mut ProbeReport) -> Outcome {
    let spare = usize::try_from(ATTEMPTS * clock::calls()).unwrap_or(1);
    let pages = report.executions() + spare;
    let file = tried("memfd_create", sys::memory_file(CStr::new(b"pathmeter\0")))?;
    for page in 0..pages {
        tried("a write to a file in memory", sys::write_at(file, &[MARK], page * STRIDE))?;
    }
    let length = pages * STRIDE;
    let place = tried("mmap of a file", map(length, 0, file))?;
    let mut page = place as *const u8;
    let end = place + length;
    let outcome = with_faults(report, 1..=1, || {
        if page as usize >= end {
            return false;
        }
        // SAFETY: within the mapping.
        let seen = unsafe { page.read_volatile() };
        page = page.wrapping_add(STRIDE);
        seen == MARK
    });
    // SAFETY: the mapping is this probe's.
    let _ = unsafe { unmap(place, length) };
    let _ = sys::close(file);
    outcome
}

fn fault_huge(report: &mut ProbeReport) -> Outcome {
    /// Bytes of a huge page.
    const HUGE: usize = 2 << 20;
    // Somewhere in it a huge page begins.
    let area = tried("mmap", sys::map(2 * HUGE, flag::MAP_PRIVATE))?;
    let place = area.next_multiple_of(HUGE);
    // SAFETY: the area is this probe's, and nobody needs its content.
    tried("madvise of huge pages", unsafe { advise(place, HUGE, MADV_HUGEPAGE) })?;
    // SAFETY: as above.
    let once = || unsafe {
        let (first, last) = (place as *mut u8, (place + HUGE - 1) as *mut u8);
        first.write_volatile(MARK);
        last.write_volatile(MARK);
        advise(place, HUGE, MADV_DONTNEED).is_ok()
    };
    let before = faults();
    if !once() || faults() - before != 1 {
        return unsupported!("no huge page (transparent_hugepage is never, or none is free)");
    }
    with_faults(report, 1..=1, once)
}
