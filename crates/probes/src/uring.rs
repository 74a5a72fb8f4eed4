//! `io-uring.*`: an operation handed to the kernel by a ring, and its completion taken from the
//! other, in one `io_uring_enter(2)`. Layouts are those of `include/uapi/linux/io_uring.h`.
//!
//! Proof: each completion bears the number that its operation was given, and the right result.

use core::sync::atomic::{AtomicU32, Ordering};

use crate::{
    failure::{Failure, Outcome, tried, unsupported},
    path::Kind::Windows,
    probe::{Probes, row},
    report::ProbeReport,
    sys::{self, CStr, flag, nr},
    window,
};

pub(crate) const PROBES: Probes = &[
    row(
        "io-uring.nop",
        Windows(13),
        "an operation without effect by io_uring, and its completion",
        nop,
    ),
    row(
        "io-uring.read",
        Windows(13),
        "a read of a byte from /dev/zero by io_uring, and its completion",
        read,
    ),
];

/// `struct io_uring_params`: sizes and features, then where things are in the two rings.
#[repr(C)]
#[derive(Default)]
struct Parameters {
    submissions: u32,
    completions: u32,
    others: [u32; 3],
    features: u32,
    rest: [u32; 4],
    /// Head, tail, mask, entries, flags, dropped, array.
    submission: [u32; 10],
    /// Head, tail, mask, entries, overflow, completions.
    completion: [u32; 10],
}

const _: () = assert!(size_of::<Parameters>() == 120);

/// `struct io_uring_sqe`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Submission {
    operation: u8,
    flags: u8,
    priority: u16,
    file: i32,
    offset: u64,
    address: u64,
    length: u32,
    more: u32,
    number: u64,
    rest: [u64; 3],
}

const _: () = assert!(size_of::<Submission>() == 64);

/// `struct io_uring_cqe`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Completion {
    number: u64,
    result: i32,
    flags: u32,
}

/// Rings for one operation at a time, unmapped and closed when this is dropped.
struct Rings {
    file: usize,
    place: usize,
    length: usize,
    submission: usize,
    parameters: Parameters,
    given: u64,
}

/// What is mapped at which offset of the file.
const BOTH_RINGS: usize = 0;
const SUBMISSIONS: usize = 0x1000_0000;

impl Rings {
    fn new() -> Result<Self, Failure> {
        const SINGLE_MAPPING: u32 = 1;
        let mut parameters = Parameters::default();
        let place = &raw mut parameters as usize;
        // SAFETY: the kernel reads and writes one `struct io_uring_params`.
        let file = unsafe { sys::checked(nr::IO_URING_SETUP, [1, place, 0, 0, 0, 0]) };
        let file = tried("io_uring_setup", file)?;
        let mut new = Self { file, place: 0, length: 0, submission: 0, parameters, given: 0 };
        if new.parameters.features & SINGLE_MAPPING == 0 {
            return unsupported!("this kernel maps the two rings apart");
        }
        let of = |at: u32, count: u32, each: usize| at as usize + count as usize * each;
        let Parameters { submissions, completions, submission, completion, .. } = &new.parameters;
        new.length = of(submission[6], *submissions, size_of::<u32>()).max(of(
            completion[5],
            *completions,
            size_of::<Completion>(),
        ));
        new.place = tried("mmap of the rings", map(file, new.length, BOTH_RINGS))?;
        new.submission =
            tried("mmap of the rings", map(file, size_of::<Submission>(), SUBMISSIONS))?;
        Ok(new)
    }

    #[inline(always)]
    fn word(&self, at: u32) -> &AtomicU32 {
        // SAFETY: a word of the rings, where the kernel said that it is; both sides use atomics.
        unsafe { &*((self.place + at as usize) as *const AtomicU32) }
    }

    /// Has the operation executed; its result, if its completion is the only one and bears its
    /// number.
    #[inline(always)]
    fn execute(&mut self, operation: Submission) -> Option<i32> {
        const GETEVENTS: usize = 1;
        self.given += 1;
        let operation = Submission { number: self.given, ..operation };
        // SAFETY: the only place for an operation, which the kernel does not read now. All that the
        // ring of places has is this place, number 0.
        unsafe { (self.submission as *mut Submission).write_volatile(operation) };
        let tail = self.word(self.parameters.submission[1]);
        tail.store(tail.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
        // SAFETY: no set of signals is given.
        let entered = unsafe { sys::call(nr::IO_URING_ENTER, [self.file, 1, 1, GETEVENTS, 0, 0]) };
        let completion = self.take()?;
        (entered == 1 && completion.number == self.given).then_some(completion.result)
    }

    /// Takes the next completion off its ring.
    #[inline(always)]
    fn take(&self) -> Option<Completion> {
        let [head, tail, mask, _, _, first, ..] = self.parameters.completion;
        let at = self.word(head).load(Ordering::Relaxed);
        if self.word(tail).load(Ordering::Acquire) != at.wrapping_add(1) {
            return None;
        }
        let number = at & self.word(mask).load(Ordering::Relaxed);
        let place = (self.place + first as usize) as *const Completion;
        // SAFETY: within the ring; the kernel has written it and does not any more.
        let completion = unsafe { place.add(number as usize).read_volatile() };
        self.word(head).store(at.wrapping_add(1), Ordering::Release);
        Some(completion)
    }
}

impl Drop for Rings {
    fn drop(&mut self) {
        let mappings = [(self.place, self.length), (self.submission, size_of::<Submission>())];
        for (place, length) in mappings.into_iter().filter(|(place, _)| *place > 0) {
            // SAFETY: mapped by `new`, and used by nobody else.
            let _ = unsafe { sys::checked(nr::MUNMAP, [place, length, 0, 0, 0, 0]) };
        }
        let _ = sys::close(self.file);
    }
}

fn map(file: usize, length: usize, offset: usize) -> sys::Ret {
    let flags = flag::MAP_SHARED | flag::MAP_POPULATE;
    // SAFETY: a new mapping at an address of the kernel's choice disturbs nothing.
    unsafe { sys::checked(nr::MMAP, [0, length, flag::PROT_READ_WRITE, flags, file, offset]) }
}

fn nop(report: &mut ProbeReport) -> Outcome {
    let mut rings = Rings::new()?;
    window::each(report, || rings.execute(Submission::default()) == Some(0))
}

fn read(report: &mut ProbeReport) -> Outcome {
    const READ: u8 = 22;
    const POISON: u8 = 0xa5;
    let mut rings = Rings::new()?;
    let zero = sys::open(CStr::new(b"/dev/zero\0"), flag::O_RDONLY, 0);
    let zero = tried("open of /dev/zero", zero)?;
    let mut byte = POISON;
    let place = &raw mut byte;
    let operation = Submission {
        operation: READ,
        file: i32::try_from(zero).unwrap_or(-1),
        address: place as u64,
        length: 1,
        ..Submission::default()
    };
    window::each(report, || {
        // SAFETY: the byte is written by the kernel, and by nobody else.
        unsafe {
            place.write_volatile(POISON);
            rings.execute(operation) == Some(1) && place.read_volatile() == 0
        }
    })?;
    let _ = sys::close(zero);
    Ok(())
}
