//! `udp.*` and `tcp.*`: the loopback interface.
//!
//! Proof: a partner's complement of each byte comes back; each connection is accepted. A connection
//! is closed by a reset, so that no port stays taken for a minute, as after a close in order.

use crate::{
    echo::{echo, ping},
    failure::{Outcome, tried},
    far,
    path::Kind::Windows,
    probe::{Probes, row},
    report::ProbeReport,
    socket::{AF_INET, Address, SOCK_DGRAM, SOCK_STREAM, connect, socket},
    sys::{self, Ret, nr},
    task::{self, Partner},
    window,
};

pub(crate) const PROBES: Probes = &[
    row(
        "tcp.connect",
        Windows(13),
        "socket, connect and accept by loopback, closed by a reset",
        tcp_connect,
    ),
    row(
        "udp.round-trip",
        Windows(7),
        "a datagram of a byte to a task by loopback, and one back",
        udp,
    ),
];

fn udp(report: &mut ProbeReport) -> Outcome {
    task::fifo()?;
    let (far, far_address) = far::bound(SOCK_DGRAM)?;
    let near = socket(AF_INET, SOCK_DGRAM)?;
    let near_address = far::bind_near(near)?;
    connect(near, &far_address)?;
    connect(far, &near_address)?;
    let _partner = Partner::process(|| echo(far))?;
    ping(report, near, task::let_softirqs_finish)
}

fn tcp_connect(report: &mut ProbeReport) -> Outcome {
    let (listener, address) = far::bound(SOCK_STREAM)?;
    reset_at_close(listener)?;
    // SAFETY: takes no pointer.
    tried("listen", unsafe { sys::checked(nr::LISTEN, [listener, 1, 0, 0, 0, 0]) })?;
    window::each(report, || connection(listener, &address).is_ok())?;
    let _ = sys::close(listener);
    Ok(())
}

/// A connection to `listener`, there and gone.
#[inline(always)]
fn connection(listener: usize, address: &Address) -> Ret {
    let to = core::ptr::from_ref(address) as usize;
    // SAFETY: the kernel reads one address; accept is asked for none.
    unsafe {
        let near = sys::checked(nr::SOCKET, [AF_INET, SOCK_STREAM, 0, 0, 0, 0])?;
        sys::checked(nr::CONNECT, [near, to, size_of::<Address>(), 0, 0, 0])?;
        let far = sys::checked(nr::ACCEPT, [listener, 0, 0, 0, 0, 0])?;
        sys::close(far)?;
        sys::close(near)
    }
}

/// What `listener` accepts is closed by a reset: it has the option from the listener.
fn reset_at_close(listener: usize) -> Outcome {
    const SOL_SOCKET: usize = 1;
    const SO_LINGER: usize = 13;
    /// `struct linger`: on, for 0 s.
    const AT_ONCE: [i32; 2] = [1, 0];
    let place = AT_ONCE.as_ptr() as usize;
    let args = [listener, SOL_SOCKET, SO_LINGER, place, size_of_val(&AT_ONCE), 0];
    // SAFETY: the kernel reads one `struct linger`.
    tried("setsockopt", unsafe { sys::checked(nr::SETSOCKOPT, args) })?;
    Ok(())
}
