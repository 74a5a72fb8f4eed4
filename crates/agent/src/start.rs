//! One perturbed run: a fresh start of the agent that executes every path of one round.

use core::fmt::Write;

use pathmeter_catalogue::{Round, Suite};
use pathmeter_probes::{
    MAX_CHECKS, MAX_SAMPLES, ProbeCheck, ProbeReport, ProbeStatus, clock, far,
    sys::{self, flag, nr},
    task::{self, Ended},
    text::Text,
};
use pathmeter_wire::{
    message::{self, Outcome, Place},
    plan::Plan,
};

use crate::{
    command, guest, port::Port, restraint::Restraint, shared::SharedReport, spent::Spent,
    trouble::Trouble,
};

// Whatever a probe reports, the protocol can carry.
const _: () = assert!(MAX_SAMPLES as u64 <= message::MAX_SAMPLES);
const _: () = assert!(MAX_CHECKS as u64 <= message::MAX_CHECKS);

/// Seconds of the guest's clock after which a probe is killed. With an instruction-counting clock
/// idle time passes at once, so a probe that lost its partner is noticed in no time.
const LIMIT: usize = 4;
/// The same in elapsed time, in which the host may let the guest wait: longer than the probe's own
/// patience, since that has the better reason to give.
const ELAPSED_LIMIT: usize = 90;

/// Random numbers reseeded from `number`, then this program executed afresh as a child, waited for.
/// What its probes leave becomes this process's children: they are taken from the list of processes
/// as they end, or later paths would find them in it.
pub(crate) fn run(number: u32, round: Round) -> Result<(), Trouble> {
    guest::seed_random(u64::from(number));
    match task::in_child_reaping(|| execute(number, round)) {
        Ok(Ended::Exit(0)) => Ok(()),
        other => Err(Text::format(format_args!("start {number} ended with {other:?}"))),
    }
}

/// Moves the bases of the next execution by amounts that follow from `number` alone, on any kernel.
///
/// The kernel's own randomisation would differ between two kernels whatever it is seeded with (the
/// release string is mixed into the pool), so it is switched off. Instead the mappings move with
/// the stack's size limit (Linux `mmap_base`).
fn place_bases(number: u32) {
    const ADDR_NO_RANDOMIZE: usize = 0x004_0000;
    const RLIMIT_STACK: usize = 3;
    let limits = [stack_limit(number), u64::MAX];
    // SAFETY: the first takes no pointer; for the second the kernel reads one `struct rlimit`.
    // Should a kernel lack either, its bases stay where it puts them.
    unsafe {
        let _ = sys::checked(nr::PERSONALITY, [ADDR_NO_RANDOMIZE, 0, 0, 0, 0, 0]);
        let place = limits.as_ptr() as usize;
        let _ = sys::checked(nr::SETRLIMIT, [RLIMIT_STACK, place, 0, 0, 0, 0]);
    }
}

/// Bytes of stack that a perturbed run is allowed, by its number: from 128 MiB to 64 TiB, in whole
/// pages. Run 0 keeps the bases as they are without randomisation.
fn stack_limit(number: u32) -> u64 {
    const LOWEST: u64 = 128 << 20;
    const HIGHEST: u64 = 64 << 40;
    const PAGE: u64 = 4096;
    match number {
        0 => LOWEST,
        _ => LOWEST + guest::scramble(u64::from(number)) % (HIGHEST - LOWEST) / PAGE * PAGE,
    }
}

/// Becomes `/init start NUMBER ROUND [far]`; returns only if that fails.
fn execute(number: u32, round: Round) -> usize {
    place_bases(number);
    let words = command::start(number, round);
    let [init, start, digits, round] =
        words.each_ref().map(|word| word.as_bytes().as_ptr() as usize);
    let far = if far::is_there() { command::FAR.as_ptr() as usize } else { 0 };
    let arguments = [init, start, digits, round, far, 0];
    let environment = [0_usize];
    let args = [init, arguments.as_ptr() as usize, environment.as_ptr() as usize, 0, 0, 0];
    // SAFETY: all strings and both arrays are terminated and live.
    let _ = unsafe { sys::checked(nr::EXECVE, args) };
    1
}

/// Executes every path of the plan that is in `round`, but those that the first run has found to
/// give no samples, and sends what came of it.
pub(crate) fn execute_plan(
    port: &mut Port,
    plan: &Plan,
    start: u32,
    round: Round,
) -> Result<(), Trouble> {
    // A probe shares this process's memory. Until 5.15 Linux kills all processes that share the
    // memory of one that a signal kills, unless that may not be dumped.
    let _ = sys::prctl(flag::PR_SET_DUMPABLE, 0);
    let mut shared = SharedReport::new(Restraint::read()?, guest::scramble(u64::from(start)))?;
    shift_phase(start);
    let limit = match plan.suite() {
        Suite::Exact => LIMIT,
        Suite::Elapsed => ELAPSED_LIMIT,
    };
    // One a path, in the order of the suite.
    let probes = plan.suite().probes();
    let first = start == 0;
    let mut spent = if first { Spent::default() } else { Spent::recall() };
    for (index, path) in plan.in_round(round) {
        if spent.holds(index) {
            continue;
        }
        let place = Place { run: u64::from(start), path: index as u64 };
        port.send_begin(place);
        match shared.run((index, probes[index]), path.kind.samples(), limit) {
            Ok((ended, report)) => {
                send(port, place, report, ended);
                if report.status() != ProbeStatus::Ok || path.kind.samples() == 0 {
                    spent.add(index);
                }
            }
            Err(error) => {
                let reason: Trouble =
                    Text::format(format_args!("the probe can't be run (error {error})"));
                port.send_failed(place, reason.as_bytes());
                spent.add(index);
            }
        }
    }
    if first {
        spent.leave();
    }
    Ok(())
}

/// The timer ticks every 1 to 10 million instructions, depending on the kernel's HZ; this moves the
/// tick's phase against the first window by a number that follows from the run's.
pub(crate) fn shift_phase(start: u32) {
    const LONGEST: u64 = 1 << 20;
    clock::busy(guest::scramble(u64::from(start)) % LONGEST);
}

fn send(port: &mut Port, place: Place, report: &ProbeReport, ended: Ended) {
    let died = epitaph(ended);
    let (status, reason) = match report.status() {
        ProbeStatus::Ok => (message::OutcomeStatus::Ok, &b""[..]),
        ProbeStatus::Unsupported => (message::OutcomeStatus::Unsupported, report.reason()),
        ProbeStatus::Broken => (message::OutcomeStatus::Failed, report.reason()),
        ProbeStatus::Silent => (message::OutcomeStatus::Failed, died.as_bytes()),
    };
    let (samples, lower_bounds) = match status {
        message::OutcomeStatus::Ok => (report.samples(), report.lower_bounds()),
        _ => (&[][..], &[][..]),
    };
    let checks = report
        .checks()
        .iter()
        .map(|ProbeCheck { name, value }| (name.as_bytes(), value.as_bytes()));
    let sent = port.send_outcome(Outcome { place, status, reason, checks, samples, lower_bounds });
    if !sent {
        port.send_failed(place, b"its report does not fit a frame");
    }
}

/// How a probe ended that left no report.
fn epitaph(ended: Ended) -> Text<96> {
    const SIGALRM: u32 = flag::SIGALRM as u32;
    const SIGSYS: u32 = flag::SIGSYS as u32;
    let mut text = Text::EMPTY;
    // A text cut short is still the best there is.
    let _ = match ended {
        Ended::Signal(SIGALRM) => write!(text, "no end in the time allowed, by the guest's clock"),
        Ended::Signal(SIGSYS) => {
            write!(text, "the condition's system-call filter killed the probe (SIGSYS)")
        }
        Ended::Signal(signal) => write!(text, "the probe was killed by signal {signal}"),
        Ended::Exit(code) => write!(text, "the probe ended without a report (exit code {code})"),
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_are_of_whole_pages_within_bounds_and_differ() {
        let limits: Vec<u64> = (0..message::MAX_RUNS as u32).map(stack_limit).collect();
        assert_eq!(limits[0], 128 << 20);
        assert!(limits.iter().all(|limit| (128 << 20..64 << 40).contains(limit)));
        assert!(limits.iter().all(|limit| limit.is_multiple_of(4096)));
        let distinct: std::collections::BTreeSet<_> = limits.iter().collect();
        assert_eq!(distinct.len(), limits.len());
    }

    #[test]
    fn a_probe_that_says_nothing_is_told_by_its_end() {
        let told = |ended| String::from_utf8(epitaph(ended).as_bytes().to_vec()).unwrap();
        assert!(told(Ended::Signal(14)).starts_with("no end in the time allowed"));
        assert_eq!(told(Ended::Signal(11)), "the probe was killed by signal 11");
        assert_eq!(told(Ended::Exit(101)), "the probe ended without a report (exit code 101)");
    }
}
