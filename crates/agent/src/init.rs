//! What `/init` does, as pid 1: sets the guest up, gets its parcel, puts the guest under its
//! condition, announces READY, and has the plan or the user's program executed.

use pathmeter_probes::{
    sys::{self, flag},
    text::Text,
};
use pathmeter_wire::{Kind, message::SYMBOLS_ASKED, parcel::LAST, plan::Plan};

use crate::{
    condition, facts, guest,
    parcel::Parcel,
    path::Path,
    plan,
    port::{self, Port},
    program, start, symbols,
    trouble::Trouble,
};

/// Entered by the program's runtime on the program's own stack with the C-style arguments that the
/// kernel passed: any, since it hands on those that it does not know.
pub fn enter(_: &[&[u8]]) -> ! {
    let mut port = Port::new();
    if let Err(trouble) = run(&mut port) {
        port.send_plain(Kind::Abort, trouble.as_bytes());
        port::complain(trouble.as_bytes());
    }
    guest::power_off();
}

fn run(port: &mut Port) -> Result<(), Trouble> {
    guest::mount_all();
    port.open()?;
    guest::allow_busy_real_time();
    guest::count_pages_untimed();
    guest::pin_to_first_cpu()?;
    expect_whole()?;
    facts::send(port);
    let parcel = Parcel::receive(port)?;
    match parcel.program {
        Some(job) => program::run_all(port, &parcel, job),
        None => run_paths(port, &parcel),
    }
}

/// Whether all of the initramfs has arrived: Linux goes on without what it has no memory for.
fn expect_whole() -> Result<(), Trouble> {
    let last = Path::of(b"/", LAST.bytes());
    let there = sys::open(last.as_c(), flag::O_RDONLY, 0).and_then(sys::close);
    there.map(drop).map_err(|error| {
        Text::format(format_args!(
            "the initramfs did not arrive whole (error {error}): give the guest more --memory"
        ))
    })
}

/// Everything but the perturbed runs themselves.
fn run_paths(port: &mut Port, parcel: &Parcel) -> Result<(), Trouble> {
    let plan = plan::read()?;
    if !condition::meet(port, |_| Err(condition::of_programs()))? {
        return Ok(());
    }
    parcel.announce_ready(port, plan.suite());
    if !port.asks(SYMBOLS_ASKED) {
        run_plan(&plan)?;
    }
    port.send_plain(Kind::Done, b"");
    // A host that only measures has ended the guest by now.
    symbols::offer(port);
    Ok(())
}

fn run_plan(plan: &Plan) -> Result<(), Trouble> {
    for round in plan.suite().rounds() {
        for number in 0..plan.runs() {
            start::run(number, round)?;
        }
    }
    Ok(())
}
