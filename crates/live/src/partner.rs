//! Partners of probes of live hosts: where they are, and what they send back.

use pathmeter_probes::{
    ProbeReport,
    sys::{self, Ret},
    task::{self, Board, Partner},
    window,
};

use crate::{
    failure::{Failure, Outcome, unsupported},
    given,
};

/// Sends the complement of each byte back, until the other end is closed.
pub(crate) fn echo(read: usize, write: usize) {
    let mut byte = [0];
    while sys::read(read, &mut byte) == Ok(1) {
        byte[0] = !byte[0];
        let _ = sys::write(write, &byte);
    }
}

/// A byte to an [`echo`] and back, in each call of a window.
pub(crate) fn ping(report: &mut ProbeReport, read: usize, write: usize) -> Outcome {
    let mut sent = 0_u8;
    window::each(report, || {
        sent = sent.wrapping_add(1);
        let mut byte = [sent];
        let got: Ret = sys::write(write, &byte).and_then(|_| sys::read(read, &mut byte));
        got == Ok(1) && byte[0] == !sent
    })
}

/// The second CPU, for what needs one.
pub(crate) fn second_cpu() -> Result<usize, Failure> {
    match given::second_cpu() {
        Some(cpu) => Ok(cpu),
        None => unsupported!("there is one CPU that the command may execute on"),
    }
}

/// A process on the second CPU. Returns when it is there, and has taken its first turn on the fresh
/// `board`.
pub(crate) fn on_second_cpu(board: &Board, body: impl FnOnce()) -> Result<Partner, Failure> {
    let cpu = second_cpu()?;
    let partner = Partner::process(|| {
        if task::pin(cpu).is_ok() {
            board.take_turn();
            body();
        }
    })?;
    await_first_turn(board, cpu)?;
    Ok(partner)
}

/// Sleeps until a task has taken its first turn on CPU `cpu`: it begins on the caller's, which a
/// real-time task would else keep it from. Ever longer, some 3 s in all.
pub(crate) fn await_first_turn(board: &Board, cpu: usize) -> Result<(), Failure> {
    const SHORTEST: u64 = 50_000;
    const LOOKS: u32 = 16;
    for look in 0..LOOKS {
        if board.turns() > 0 {
            return Ok(());
        }
        task::sleep(SHORTEST << look)?;
    }
    unsupported!("no task begins on CPU {cpu}")
}
