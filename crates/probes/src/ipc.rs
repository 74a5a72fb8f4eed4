//! `pipe.*` and `unix.*`: bytes between and within processes of one machine.
//!
//! Proof: the byte that comes back is the one sent (pipe) or its complement, made by the partner
//! (socket), in every window.

use crate::{
    Failure, Outcome, Path, Report, clock, prove,
    switch::descriptor,
    sys::{self, Ret, nr},
    task::{self, Partner},
    tcp, unsupported,
};

pub(crate) static PATHS: &[Path] = &[
    Path {
        name: "pipe.write-read",
        about: "a byte into a pipe and out again, one process",
        windows: 31,
        idles: false,
        probe: pipe,
    },
    Path {
        name: "unix.round-trip",
        about: "a byte to a FIFO partner and back by a stream socketpair",
        windows: 31,
        idles: false,
        probe: unix,
    },
];

fn pipe(report: &mut Report) -> Outcome {
    let mut ends = [0; 2];
    if let Err(error) = sys::pipe(&mut ends) {
        return unsupported!("no pipe (error {error})");
    }
    let [read, write] = ends.map(descriptor);
    let mut sent = 0_u8;
    report.walk(|| {
        sent = sent.wrapping_add(1);
        let mut byte = [sent];
        let (cost, _) = clock::window(|| {
            let _ = sys::write(write, &byte);
            byte = [!sent];
            sys::read(read, &mut byte)
        });
        prove!(byte[0] == sent, "{:#x} went in, {:#x} came out", sent, byte[0]);
        Ok(cost)
    })
}

fn unix(report: &mut Report) -> Outcome {
    task::fifo()?;
    let mut ends = [0_i32; 2];
    let place = ends.as_mut_ptr() as usize;
    // SAFETY: the kernel writes two ints to `ends`.
    let made =
        unsafe { sys::checked(nr::SOCKETPAIR, [tcp::AF_UNIX, tcp::SOCK_STREAM, 0, place, 0, 0]) };
    if let Err(error) = made {
        return unsupported!("no unix sockets (socketpair: error {error}; CONFIG_UNIX)");
    }
    let [near, far] = ends.map(descriptor);
    let _partner = Partner::process(|| echo(far))?;
    ping(report, near, || Ok(()))
}

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
    report: &mut Report,
    socket: usize,
    mut before: impl FnMut() -> Result<(), Failure>,
) -> Outcome {
    let mut sent = 0_u8;
    report.walk(|| {
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
