//! What the agent does, as pid 1 and as a perturbed run.

use pathmeter_catalogue::Round;
use pathmeter_probes::{far, sys};
use pathmeter_wire::{Kind, plan::Plan};

use crate::{
    command::Command,
    condition, facts, guest, plan,
    port::{self, Port},
    start, symbols,
    trouble::Trouble,
};

/// Entered by the program's runtime on the program's own stack with the C-style arguments that the
/// kernel passed.
pub fn enter(arguments: &[&[u8]]) -> ! {
    let mut port = Port::new();
    let command = Command::read(arguments);
    let result = match &command {
        Ok(Command::Init) => run_init(&mut port),
        Ok(Command::Start { number, round, has_far }) => {
            if *has_far {
                far::set_there();
            }
            run_start(&mut port, *number, *round)
        }
        Err(trouble) => port.open().and(Err(*trouble)),
    };
    if let Err(trouble) = result {
        port.send_plain(Kind::Abort, trouble.as_bytes());
        port::complain(trouble.as_bytes());
    }
    match command {
        Ok(Command::Init) => guest::power_off(),
        _ => sys::exit(0),
    }
}

#[cfg(feature = "program")]
/// Entered as [`enter`], by the program that runs a program of the user's; always as pid 1.
pub fn enter_program(_: &[&[u8]]) -> ! {
    let mut port = Port::new();
    if let Err(trouble) = crate::program::run_all(&mut port) {
        port.send_plain(Kind::Abort, trouble.as_bytes());
        port::complain(trouble.as_bytes());
    }
    guest::power_off();
}

/// As pid 1: everything but the perturbed runs themselves.
fn run_init(port: &mut Port) -> Result<(), Trouble> {
    guest::mount_all();
    port.open()?;
    guest::allow_busy_real_time();
    guest::pin_to_first_cpu()?;
    let plan = plan::read()?;
    facts::send(port);
    if !condition::meet(port, |_| Err(condition::of_programs()))? {
        return Ok(());
    }
    port.send_plain(Kind::Ready, b"");
    port.pause(plan.suite());
    if !port.asks_symbols() {
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

/// As the fresh start of one perturbed run.
fn run_start(port: &mut Port, number: u32, round: Round) -> Result<(), Trouble> {
    port.open()?;
    start::execute_plan(port, &plan::read()?, number, round)
}
