//! `tcp.*`: loopback TCP, or that to a far network namespace if the condition has one.
//!
//! Proof: as for unix sockets, the partner's complement of each byte comes back.

use crate::{
    echo::{echo, exchange, ping},
    failure::{Outcome, unsupported},
    far,
    path::Kind::Windows,
    probe::{Probes, row},
    report::ProbeReport,
    socket::{AF_INET, SOCK_STREAM, connect, no_delay, socket},
    sys::{self, nr},
    task::{self, Partner},
};

pub(crate) const PROBES: Probes =
    &[row("tcp.round-trip", Windows(31), "a byte to a FIFO partner and back by loopback TCP", tcp)];

/// Round trips after which a new connection no longer acknowledges at once (Linux sends 16,
/// `TCP_MAX_QUICKACKS`) and its windows have settled.
const SLOW_START: usize = 20;

fn tcp(report: &mut ProbeReport) -> Outcome {
    task::fifo()?;
    let (listener, address) = far::bound(SOCK_STREAM)?;
    // SAFETY: takes no pointer.
    if let Err(error) = unsafe { sys::checked(nr::LISTEN, [listener, 1, 0, 0, 0, 0]) } {
        return unsupported!("no listening socket (error {error})");
    }
    let _partner = Partner::process(|| {
        // SAFETY: no address is asked for.
        if let Ok(far) = unsafe { sys::checked(nr::ACCEPT, [listener, 0, 0, 0, 0, 0]) } {
            no_delay(far);
            echo(far);
        }
    })?;
    let near = socket(AF_INET, SOCK_STREAM)?;
    no_delay(near);
    connect(near, &address)?;
    for _ in 0..SLOW_START {
        let _ = exchange(near, &mut [0]);
    }
    ping(report, near, task::let_softirqs_finish)
}
