//! One perturbed run of paths, by the program `/paths`: executes every path of one round.

use core::fmt::Write;

use pathmeter_probes::{
    MAX_CHECKS, MAX_SAMPLES, ProbeCheck, ProbeReport, ProbeStatus, far, set_semaphores_end,
    sys::{self, flag},
    task::{self, Ended},
    text::Text,
};
use pathmeter_probes::{Round, Suite};
use pathmeter_wire::{
    Kind,
    message::{self, Outcome, Place},
    plan::Plan,
};

use crate::{
    command::Command,
    guest, plan,
    port::{self, Port},
    restraint::Restraint,
    shared::SharedReport,
    spent::Spent,
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

/// Entered by the program's runtime on the program's own stack with the C-style arguments that pid
/// 1 passed.
pub fn enter(arguments: &[&[u8]]) -> ! {
    set_semaphores_end(true);
    let mut port = Port::new();
    let done = port.open().and_then(|()| {
        let Command { number, round, has_far } = Command::read(arguments)?;
        if has_far {
            far::set_there();
        }
        execute_plan(&mut port, &plan::read()?, number, round)
    });
    if let Err(trouble) = done {
        port.send_plain(Kind::Abort, trouble.as_bytes());
        port::complain(trouble.as_bytes());
    }
    sys::exit(0)
}

/// Executes every path of the plan that is in `round`, but those that the first run has found to
/// give no samples, and sends what came of it.
fn execute_plan(port: &mut Port, plan: &Plan, start: u32, round: Round) -> Result<(), Trouble> {
    // A probe shares this process's memory. Until 5.15 Linux kills all processes that share the
    // memory of one that a signal kills, unless that may not be dumped.
    let _ = sys::prctl(flag::PR_SET_DUMPABLE, 0);
    let mut shared = SharedReport::new(Restraint::read()?, guest::scramble(u64::from(start)))?;
    // What was left by the processes that came to this point is freed before the first path.
    task::await_frees();
    task::await_tick();
    guest::shift_phase(start);
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
        guest::fold_page_counts();
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
    fn a_probe_that_says_nothing_is_told_by_its_end() {
        let told = |ended| String::from_utf8(epitaph(ended).as_bytes().to_vec()).unwrap();
        assert!(told(Ended::Signal(14)).starts_with("no end in the time allowed"));
        assert_eq!(told(Ended::Signal(11)), "the probe was killed by signal 11");
        assert_eq!(told(Ended::Exit(101)), "the probe ended without a report (exit code 101)");
    }
}
