//! One byte to a partner and back, by whatever descriptor connects the two.

use crate::{
    clock,
    failure::{Failure, Outcome, prove},
    report::ProbeReport,
    sys::{self, Ret},
};

/// Sends the complement of each byte back, until the other end is closed.
pub(crate) fn echo(socket: usize) {
    let mut byte = [0];
    while sys::read(socket, &mut byte) == Ok(1) {
        byte[0] = !byte[0];
        let _ = sys::write(socket, &byte);
    }
}

/// One byte to an [`echo`] and back in each window.
pub(crate) fn ping(
    report: &mut ProbeReport,
    socket: usize,
    mut before: impl FnMut() -> Result<(), Failure>,
) -> Outcome {
    let mut sent = 0_u8;
    report.execute(|| {
        before()?;
        sent = sent.wrapping_add(1);
        let mut byte = [sent];
        let (cost, got) = clock::window(|| exchange(socket, &mut byte));
        prove!(got == Ok(1) && byte[0] == !sent, "{sent:#x} was answered by {:#x}", byte[0]);
        Ok(cost)
    })
}

/// One byte to an [`echo`] and back.
#[inline(always)]
pub(crate) fn exchange(socket: usize, byte: &mut [u8; 1]) -> Ret {
    let _ = sys::write(socket, byte);
    sys::read(socket, byte)
}
