//! `pipe.*` and `unix.*`: bytes between and within processes of one machine.
//!
//! Proof: the byte that comes back is the one sent (pipe) or its complement, made by the partner
//! (socket), in every window.

use crate::{
    clock, descriptor,
    echo::{echo, ping},
    failure::{Outcome, prove, unsupported},
    path::Kind::Windows,
    probe::{Probes, row},
    report::ProbeReport,
    socket::{AF_UNIX, SOCK_STREAM},
    sys,
    task::{self, Partner},
};

pub(crate) const PROBES: Probes = &[
    row("pipe.write-read", Windows(31), "a byte into a pipe and out again, one process", pipe),
    row("unix.round-trip", Windows(31), "a byte to a FIFO partner and back by a socketpair", unix),
];

fn pipe(report: &mut ProbeReport) -> Outcome {
    let [read, write] = descriptor::pipe()?;
    let mut sent = 0_u8;
    report.execute(|| {
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

fn unix(report: &mut ProbeReport) -> Outcome {
    task::fifo()?;
    let [near, far] = match descriptor::socketpair(AF_UNIX, SOCK_STREAM) {
        Ok(ends) => ends,
        Err(error) => {
            return unsupported!("no unix sockets (socketpair: error {error}; CONFIG_UNIX)");
        }
    };
    let _partner = Partner::process(|| echo(far))?;
    ping(report, near, || Ok(()))
}
