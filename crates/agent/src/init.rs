//! What `/init` does, as pid 1: sets the guest up, puts it under its condition, announces READY,
//! and has the plan or the user's program executed.

use pathmeter_wire::{Kind, message::SYMBOLS_ASKED, plan::Plan};

use crate::{
    condition, facts, guest, plan,
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
    guest::pin_to_first_cpu()?;
    if plan::is_there() { run_paths(port) } else { program::run_all(port) }
}

/// Everything but the perturbed runs themselves.
fn run_paths(port: &mut Port) -> Result<(), Trouble> {
    let plan = plan::read()?;
    facts::send(port);
    if !condition::meet(port, |_| Err(condition::of_programs()))? {
        return Ok(());
    }
    port.send_plain(Kind::Ready, b"");
    port.pause(plan.suite());
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
