//! `switch.ring-*`: a token once around a ring of tasks on one CPU, by pipes, as lmbench's
//! `lat_ctx` has it. On a live host each task may sum data of its own before it hands the token on;
//! a clock that counts instructions has one answer for a sum, whatever is in the caches.
//!
//! Nothing is subtracted: a call is so many switches, reads, writes and sums. Proof: each task adds
//! 1 to the token, if its sum is right.

use crate::{
    descriptor,
    failure::{Failure, Outcome, tried},
    path::Kind::Windows,
    probe::{Probes, row},
    report::ProbeReport,
    sys::{self, flag},
    task::{self, Partner},
    window,
};

pub(crate) const PROBES: Probes = &[
    row(
        "switch.ring-2",
        Windows(5),
        "a token once around a ring of 2 tasks, by pipes: 2 switches",
        |report| ring::<2>(report, 0),
    ),
    row(
        "switch.ring-8",
        Windows(5),
        "a token once around a ring of 8 tasks, by pipes: 8 switches",
        |report| ring::<8>(report, 0),
    ),
    row(
        "switch.ring-16",
        Windows(5),
        "a token once around a ring of 16 tasks, by pipes: 16 switches",
        |report| ring::<16>(report, 0),
    ),
];

/// A task's data: so many words, each of which is 1.
struct Data {
    words: *mut u64,
    count: usize,
}

impl Data {
    fn new(bytes: usize) -> Result<Self, Failure> {
        const PAGE: usize = 4096;
        let words = tried("mmap", sys::map(bytes.max(PAGE), flag::MAP_PRIVATE))? as *mut u64;
        let data = Self { words, count: bytes / size_of::<u64>() };
        for number in 0..data.count {
            // SAFETY: within the mapping.
            unsafe { words.add(number).write(1) };
        }
        Ok(data)
    }

    /// Reads all of them; whether their sum is right.
    #[inline(always)]
    fn is_whole(&self) -> bool {
        // SAFETY: within the mapping, which lasts as long as its task.
        let sum: u64 =
            (0..self.count).map(|at| unsafe { self.words.add(at).read_volatile() }).sum();
        sum == self.count as u64
    }
}

/// A token around a ring of `TASKS` tasks in each window, each of which sums so many bytes of its
/// own before it hands the token on.
///
/// # Errors
/// The kernel refuses a part of it, or a token comes back wrong.
pub fn ring<const TASKS: usize>(report: &mut ProbeReport, bytes: usize) -> Outcome {
    task::fifo()?;
    let mut pipes = [[0; 2]; TASKS];
    for pipe in &mut pipes {
        *pipe = descriptor::pipe()?;
    }
    let mut partners = [const { None }; TASKS];
    for number in 1..TASKS {
        let ends = (pipes[number][0], pipes[(number + 1) % TASKS][1]);
        partners[number] = Some(Partner::process(|| hand_on(ends, bytes))?);
    }
    let data = Data::new(bytes)?;
    let (read, write) = (pipes[0][0], pipes[1][1]);
    let (mut sent, others) = (0_u8, u8::try_from(TASKS - 1).unwrap_or(0));
    window::each(report, || {
        sent = sent.wrapping_add(1);
        let mut token = [sent];
        let got = sys::write(write, &token).and_then(|_| sys::read(read, &mut token));
        got == Ok(1) && data.is_whole() && token[0] == sent.wrapping_add(others)
    })
}

/// What a partner does: it hands the token on.
fn hand_on((read, write): (usize, usize), bytes: usize) {
    let Ok(data) = Data::new(bytes) else { return };
    let mut token = [0];
    while sys::read(read, &mut token) == Ok(1) {
        token[0] = token[0].wrapping_add(u8::from(data.is_whole()));
        let _ = sys::write(write, &token);
    }
}
