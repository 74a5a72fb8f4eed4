//! One perturbed start: a fresh execution that walks every path of the plan.

use core::fmt::Write;

use pathmeter_probes::{
    Check, Path, Report, Status, Suite, clock,
    sys::{self, flag, nr},
    task::{self, Ended},
    text::Text,
};
use pathmeter_wire::message::{self, Outcome, Place};

use crate::{Trouble, guest, plan::Plan, port::Port};

/// Seconds of the guest's clock after which a probe is killed. With an instruction-counting clock
/// idle time passes at once, so a probe that lost its partner is noticed in no time.
const LIMIT: usize = 4;
/// The same in elapsed time, in which the host may let the guest wait: longer than the probe's own
/// patience, since that has the better reason to tell.
const ELAPSED_LIMIT: usize = 90;

/// The rounds of starts: the paths in which the CPU idles are walked after all others, since the
/// clock is exact as long as it doesn't. No clock is in elapsed time.
pub(crate) fn rounds(suite: Suite) -> &'static [&'static [u8]] {
    match suite {
        Suite::Exact => &[BUSY, IDLE],
        Suite::Elapsed => &[BUSY],
    }
}

const BUSY: &[u8] = b"busy";
pub(crate) const IDLE: &[u8] = b"idle";

/// Random numbers reseeded from `number`, then this program executed afresh as a child, waited for.
pub(crate) fn run(number: u64, round: &[u8]) -> Result<(), Trouble> {
    guest::seed_random(number);
    let child = task::fork(|| execute(number, round));
    match child.and_then(task::wait) {
        Ok(Ended::Exit(0)) => Ok(()),
        other => Err(Text::format(format_args!("start {number} ended with {other:?}"))),
    }
}

/// Moves the bases of the next execution by amounts that follow from `number` alone, on any kernel.
///
/// The kernel's own randomisation would differ between two kernels whatever it is seeded with (the
/// release string is mixed into the pool), so it is switched off. Instead the mappings move with
/// the stack's size limit, from 128 MiB to 64 TiB below the stack (Linux `arch/x86/mm/mmap.c`,
/// `mmap_base`). Start 0 keeps the bases as they are without randomisation.
fn place_bases(number: u64) {
    const PERSONALITY: usize = 135;
    const ADDR_NO_RANDOMIZE: usize = 0x004_0000;
    const SETRLIMIT: usize = 160;
    const RLIMIT_STACK: usize = 3;
    const PAGE: u64 = 4096;
    let lowest = 128 << 20;
    let span = (64 << 40) - lowest;
    let offset = if number == 0 { 0 } else { guest::scramble(number) % span / PAGE * PAGE };
    let limits = [lowest + offset, u64::MAX];
    // SAFETY: the first takes no pointer; for the second the kernel reads one `struct rlimit`.
    // Should a kernel lack either, its bases stay where it puts them.
    unsafe {
        let _ = sys::checked(PERSONALITY, [ADDR_NO_RANDOMIZE, 0, 0, 0, 0, 0]);
        let place = limits.as_ptr() as usize;
        let _ = sys::checked(SETRLIMIT, [RLIMIT_STACK, place, 0, 0, 0, 0]);
    }
}

/// Becomes `/init start NUMBER ROUND`; returns only if that fails.
fn execute(number: u64, round: &[u8]) -> usize {
    place_bases(number);
    let mut digits = Text::<24>::EMPTY;
    let _ = write!(digits, "{number}\0");
    let round: &[u8] = if round == IDLE { b"idle\0" } else { b"busy\0" };
    let words = [&b"/init\0"[..], b"start\0", digits.as_bytes(), round];
    let [init, start, digits, round] = words.map(|word| word.as_ptr() as usize);
    let arguments = [init, start, digits, round, 0];
    let environment = [0_usize];
    let args = [init, arguments.as_ptr() as usize, environment.as_ptr() as usize, 0, 0, 0];
    // SAFETY: all strings and both arrays are terminated and live.
    let _ = unsafe { sys::checked(nr::EXECVE, args) };
    1
}

/// Walks every path of the plan in which the CPU idles, or doesn't, and sends what came of it.
pub(crate) fn walk(port: &mut Port, plan: &Plan, start: u64, idles: bool) -> Result<(), Trouble> {
    let report = shared_report()?;
    shift_phase(start);
    let limit = match plan.suite {
        Suite::Exact => LIMIT,
        Suite::Elapsed => ELAPSED_LIMIT,
    };
    for (index, path) in (0..).zip(plan.suite.paths()) {
        if plan.skips(index) || path.idles != idles {
            continue;
        }
        let place = Place { start, path: index };
        port.send_begin(place);
        let ended = walk_one(report, path, limit);
        send(port, place, report, ended);
    }
    Ok(())
}

/// The timer ticks every 1 to 10 million instructions, depending on the kernel's HZ; this moves the
/// tick's phase against the first window by a number that follows from the start's.
fn shift_phase(start: u64) {
    const LONGEST: u64 = 1 << 20;
    clock::busy(guest::scramble(start) % LONGEST);
}

/// Memory for the report that outlives the probe's process.
fn shared_report() -> Result<&'static mut Report, Trouble> {
    match sys::map(size_of::<Report>(), flag::MAP_SHARED) {
        // SAFETY: page-aligned, large enough, zeroed, which is a valid report (status 0 is Silent),
        // never unmapped; the probe's process writes to it only while this one waits.
        Ok(address) => Ok(unsafe { &mut *(address as *mut Report) }),
        Err(error) => Err(Text::format(format_args!("no shared memory (error {error})"))),
    }
}

/// Runs one probe in a child with its own process group, which is killed afterwards.
fn walk_one(report: &mut Report, path: &Path, limit: usize) -> Result<Ended, i32> {
    let own = sys::getpid().unwrap_or(0);
    report.reset(path.windows, own as u32);
    let child = task::fork(|| {
        let _ = sys::setpgid(0, 0);
        let _ = sys::alarm(limit);
        clock::mark_path();
        let outcome = (path.probe)(report);
        report.conclude(&outcome);
        0
    })?;
    let ended = task::wait(child);
    // Partners that a killed probe left behind.
    let _ = sys::kill(-child.cast_signed(), flag::SIGKILL);
    ended
}

fn send(port: &mut Port, place: Place, report: &Report, ended: Result<Ended, i32>) {
    let died = epitaph(ended);
    let (status, reason) = match report.status() {
        Status::Ok => (message::Status::Ok, &b""[..]),
        Status::Unsupported => (message::Status::Unsupported, report.reason()),
        Status::Broken => (message::Status::Failed, report.reason()),
        Status::Silent => (message::Status::Failed, died.as_bytes()),
    };
    let samples = if status == message::Status::Ok { report.samples() } else { &[] };
    let checks =
        report.checks().iter().map(|Check { name, value }| (name.as_bytes(), value.as_bytes()));
    let sent = port.send_outcome(Outcome { place, status, reason, checks, samples });
    if !sent {
        let checks = core::iter::empty();
        let reason = b"its report does not fit a frame";
        port.send_outcome(Outcome {
            place,
            status: message::Status::Failed,
            reason,
            checks,
            samples: &[],
        });
    }
}

/// How a probe ended that left no report.
fn epitaph(ended: Result<Ended, i32>) -> Text<96> {
    const SIGALRM: u32 = 14;
    let mut text = Text::EMPTY;
    // A text cut short is still the best there is.
    let _ = match ended {
        Ok(Ended::Signal(SIGALRM)) => {
            write!(text, "no end in the time allowed, by the guest's clock")
        }
        Ok(Ended::Signal(signal)) => write!(text, "the probe was killed by signal {signal}"),
        _ => write!(text, "the probe ended without a report ({ended:?})"),
    };
    text
}
