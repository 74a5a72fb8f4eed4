//! The agent: `/init` in a measured guest.
//!
//! It sets the guest up, announces READY, is paused by the host and resumed, then walks the plan
//! once in each perturbed start and sends what came of every path. A start is a fresh execution of
//! this program (new stack and mapping bases, another phase of the timer tick), each probe in it a
//! forked child of its own, so that nothing a probe does outlives it.
//!
//! Built without libc and without an allocator: it must run on any kernel, and its instructions are
//! part of what is measured. See `runtime` for what that takes.
#![no_std]
#![no_main]
#![allow(
    clippy::result_large_err,
    reason = "an error carries its text, since there is no allocator; it ends the agent"
)]
#![allow(clippy::cast_possible_truncation, reason = "usize has 64 bits on the only target")]

mod guest;
mod pause;
mod plan;
mod port;
mod runtime;
mod start;
mod symbols;

use pathmeter_probes::{sys, text::Text};
use pathmeter_wire::Kind;
use plan::Plan;
use port::Port;

/// Why the agent can't go on, for the host's user.
pub(crate) type Trouble = Text<200>;

/// Entered by `runtime` on the program's own stack with the C-style arguments that the kernel
/// passed.
pub(crate) fn main(arguments: &[&[u8]]) -> ! {
    let mut port = Port::new();
    let result = match arguments {
        [_, b"start", start, round] => run_start(&mut port, start, round),
        _ => run_init(&mut port),
    };
    if let Err(trouble) = result {
        port.send_plain(Kind::Abort, trouble.as_bytes());
        port::complain(trouble.as_bytes());
    }
    if arguments.get(1) == Some(&&b"start"[..]) {
        sys::exit(0);
    }
    guest::power_off()
}

/// As pid 1: everything but the starts themselves.
fn run_init(port: &mut Port) -> Result<(), Trouble> {
    guest::mount_all();
    port.open()?;
    guest::allow_busy_real_time();
    guest::pin_to_first_cpu()?;
    let plan = Plan::read()?;
    port.send_plain(Kind::Ready, b"");
    port.pause(plan.suite);
    for round in start::rounds(plan.suite) {
        for number in 0..plan.starts {
            start::run(number, round)?;
        }
    }
    port.send_plain(Kind::Done, b"");
    // A host that only measures has ended the guest by now.
    symbols::offer(port);
    Ok(())
}

/// As the fresh execution for one start.
fn run_start(port: &mut Port, start: &[u8], round: &[u8]) -> Result<(), Trouble> {
    port.open()?;
    let number = plan::number(start)?;
    let plan = Plan::read()?;
    start::walk(port, &plan, number, round == start::IDLE)
}
