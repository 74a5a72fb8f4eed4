//! Yields of tasks that may use I/O ports, and what it costs to ask for one: the measurements of
//! the 2004 ioperm thread.
//!
//! `switch.iopl-yield*` are the thread's own program: both tasks are at IOPL 3, let interrupts in
//! for an instruction before each yield and keep them out in it, and the partner is forked after
//! the ports were asked for, so that both have them. 100 round trips, of which the first eleven are
//! not recorded. The others give the ports to the measuring task alone, or different ones to the
//! two.
//!
//! Linux since 5.5 gives no program the CPU's IOPL: `cli` and `sti` fault, and the kernel kills the
//! program, or since 5.16 skips them and prints a message. So the program is the lab's alone.

use core::{arch::asm, sync::atomic::Ordering};

use super::{Counts, proved_round_trips, round_trips, yield_forever, yield_once};
use crate::{
    clock,
    failure::{Failure, Outcome, prove, unsupported},
    lab,
    path::{Kind::Windows, WARMUP},
    probe::{Probes, row},
    report::ProbeReport,
    sys,
    task::{self, Board, Ended, Partner},
};

pub(crate) const PROBES: Probes = &[
    row(
        "switch.yield+ioport-0x80",
        Windows(31),
        "switch.yield, the measuring one may use port 0x80",
        low_port,
    ),
    row("switch.yield+ioport-0xffff", Windows(31), "the same with port 0xffff", high_port),
    row(
        "switch.yield+ioport-both",
        Windows(31),
        "both hold a full I/O bitmap, and different ones",
        both_ports,
    ),
    row("switch.iopl-yield", Windows(89), "the same at IOPL 3, interrupts kept out", iopl),
    row(
        "switch.iopl-yield+ioport-0x80",
        Windows(89),
        "the same, both inherited port 0x80",
        iopl_low_port,
    ),
    row(
        "switch.iopl-yield+ioport-0xffff",
        Windows(89),
        "the same, ports 0x80 and 0xffff",
        iopl_high_port,
    ),
];

/// The call that asks for a port.
pub(crate) const CALLS: Probes = &[row(
    "ports.ioperm",
    Windows(51),
    "ioperm(2) of port 0x80, which the caller may use already",
    ioperm,
)];

const LOW: u16 = 0x80;
const HIGH: u16 = 0xffff;
/// Another port at the end of the bitmap.
const OTHER: u16 = 0xfffe;

fn low_port(report: &mut ProbeReport) -> Outcome {
    yields(report, LOW, None)
}

fn high_port(report: &mut ProbeReport) -> Outcome {
    yields(report, HIGH, None)
}

fn both_ports(report: &mut ProbeReport) -> Outcome {
    yields(report, HIGH, Some(OTHER))
}

/// Round trips by yield, with I/O bitmaps of the given ports. The partner is forked before the
/// probe asks for its port, since a forked child inherits the bitmap.
fn yields(report: &mut ProbeReport, own: u16, partners: Option<u16>) -> Outcome {
    task::fifo()?;
    let board = Board::new()?;
    let _partner = Partner::process(|| {
        let access = partners.map_or(Ok(()), allow).and_then(|()| prove_access(partners, [own]));
        board.value.store(u64::from(access.is_ok()), Ordering::Relaxed);
        yield_forever(board);
    })?;
    allow(own)?;
    prove_access([own], partners)?;
    await_partner(board)?;
    round_trips(report, board, Counts::Any, yield_once)
}

/// The partner's set-up takes its turns; it is done when it has counted the first.
fn await_partner(board: &Board) -> Outcome {
    while board.turns() == 0 {
        prove!(sys::sched_yield().is_ok(), "sched_yield failed");
    }
    prove!(board.value.load(Ordering::Relaxed) == 1, "the partner's ports are not as asked for");
    Ok(())
}

/// Asks the kernel for access to one port.
fn allow(port: u16) -> Result<(), Failure> {
    match sys::ioperm(usize::from(port), 1, true) {
        Ok(_) => Ok(()),
        Err(sys::errno::EINVAL) => {
            unsupported!("ioperm(2) knows no port {port:#x} (EINVAL): the bitmaps are shorter")
        }
        Err(error) => unsupported!(
            "ioperm(2) of port {port:#x} is refused (error {error}; CONFIG_X86_IOPL_IOPERM)"
        ),
    }
}

/// Proves by trial that the caller's bitmap allows it to read the ports `may`, and not `not`.
fn prove_access(may: impl IntoIterator<Item = u16>, not: impl IntoIterator<Item = u16>) -> Outcome {
    let may = may.into_iter().map(|port| (port, true));
    for (port, allowed) in may.chain(not.into_iter().map(|port| (port, false))) {
        let ended = task::trial(|| {
            // At IOPL 3 the bitmap is not asked.
            let bitmap_decides = sys::iopl(0).is_ok();
            read_port(port);
            usize::from(!bitmap_decides)
        });
        let as_expected = match ended {
            Ok(Ended::Exit(0)) => allowed,
            Ok(Ended::Signal(_)) => !allowed,
            _ => false,
        };
        prove!(as_expected, "reading port {port:#x} ended with {ended:?}");
    }
    Ok(())
}

fn read_port(port: u16) {
    // SAFETY: ports 0x80, 0xfffe and 0xffff have no device with side effects on reads; without
    // permission the instruction faults, which is what the trial is for.
    unsafe {
        asm!("in al, dx", in("dx") port, out("al") _, options(nostack, nomem));
    }
}

fn iopl(report: &mut ProbeReport) -> Outcome {
    iopl_yields(report, &[])
}

fn iopl_low_port(report: &mut ProbeReport) -> Outcome {
    iopl_yields(report, &[LOW])
}

/// The low port too, which the program had asked for by then.
fn iopl_high_port(report: &mut ProbeReport) -> Outcome {
    iopl_yields(report, &[LOW, HIGH])
}

/// The thread's program, with both tasks' bitmaps of `ports`.
fn iopl_yields(report: &mut ProbeReport, ports: &[u16]) -> Outcome {
    /// Round trips that the program takes no time of, for `i > 10`.
    const SKIPPED: u32 = 11;
    task::fifo()?;
    raise_iopl()?;
    ports.iter().try_for_each(|port| allow(*port))?;
    prove_ports(ports)?;
    let board = Board::new()?;
    let _partner = Partner::process(|| {
        board.value.store(u64::from(prove_ports(ports).is_ok()), Ordering::Relaxed);
        loop {
            board.take_turn();
            let_interrupts_in();
            yield_once();
        }
    })?;
    await_partner(board)?;
    for _ in WARMUP..SKIPPED {
        let_interrupts_in();
        yield_once();
    }
    let proved =
        proved_round_trips(report, board, Counts::Any, let_interrupts_in, yield_once, |()| true);
    enable_interrupts();
    proved
}

/// The caller's bitmap allows `ports` and no other that is tried.
fn prove_ports(ports: &[u16]) -> Outcome {
    let others = [LOW, HIGH, OTHER].into_iter().filter(|port| !ports.contains(port));
    prove_access(ports.iter().copied(), others)
}

/// IOPL 3, with which a program may keep interrupts out; or which at least says that it may.
///
/// Not on Linux: what it prints about each task's first `cli` or `sti` takes a time that depends on
/// the host, and every later path showed that.
fn raise_iopl() -> Outcome {
    if lab::yield_flags().is_err() {
        return unsupported!(
            "Linux refuses cli and sti at IOPL 3 since 5.5; the lab kernel does not"
        );
    }
    if let Err(error) = sys::iopl(3) {
        return unsupported!("iopl(2) is refused (error {error}; CONFIG_X86_IOPL_IOPERM)");
    }
    let ended = task::trial(|| {
        let_interrupts_in();
        enable_interrupts();
        0
    });
    match ended {
        Ok(Ended::Exit(0)) => Ok(()),
        _ => unsupported!("cli and sti at IOPL 3 end with {ended:?} (Linux 5.5 to 5.15)"),
    }
}

/// What waits comes in; then interrupts are kept out. Only after [`raise_iopl`].
#[inline(always)]
fn let_interrupts_in() {
    // SAFETY: the interrupt flag is the kernel's to watch; nothing of the compiler's depends on it.
    unsafe { asm!("sti", "nop", "cli", options(nostack)) };
}

fn enable_interrupts() {
    // SAFETY: as above.
    unsafe { asm!("sti", options(nostack)) };
}

/// Asks again for a port that the caller may use already: what all of a program's calls cost but
/// the first, which allocates.
fn ioperm(report: &mut ProbeReport) -> Outcome {
    allow(LOW)?;
    prove_access([LOW], [HIGH])?;
    report.execute(|| {
        let (cost, result) = clock::window(|| sys::ioperm(usize::from(LOW), 1, true));
        prove!(result == Ok(0), "ioperm returned {result:?}");
        Ok(cost)
    })?;
    prove_access([LOW], [HIGH])
}
