//! `udp.*` and `tcp.*` of live hosts: the loopback interface.
//!
//! Proof: a partner's complement of each byte comes back; each connection is accepted. A connection
//! is closed by a reset, so that no port stays taken for a minute, as after a close in order.

use pathmeter_probes::{
    Outcome, Probe, ProbeReport,
    sys::{self, Ret, nr},
    task::{self, Partner},
};

use crate::{
    failure::tried,
    partner::echo,
    socket::{AF_INET, Address, SOCK_DGRAM, SOCK_STREAM, bind, connect, loopback_up, socket},
    window,
};

pub(crate) const PROBES: &[(&str, Probe)] =
    &[("udp.round-trip", udp), ("tcp.connect", tcp_connect)];

fn udp(report: &mut ProbeReport) -> Outcome {
    task::fifo()?;
    let [near, far] = [socket(AF_INET, SOCK_DGRAM)?, socket(AF_INET, SOCK_DGRAM)?];
    loopback_up(near)?;
    let addresses = [bind(near)?, bind(far)?];
    connect(near, &addresses[1])?;
    connect(far, &addresses[0])?;
    let _partner = Partner::process(|| echo(far, far))?;
    let mut sent = 0_u8;
    let mut once = || {
        sent = sent.wrapping_add(1);
        let mut byte = [sent];
        let got = sys::write(near, &byte).and_then(|_| sys::read(near, &mut byte));
        got == Ok(1) && byte[0] == !sent
    };
    report.execute(|| {
        task::let_softirqs_finish()?;
        window::one(&mut once)
    })
}

fn tcp_connect(report: &mut ProbeReport) -> Outcome {
    let listener = socket(AF_INET, SOCK_STREAM)?;
    loopback_up(listener)?;
    let address = bind(listener)?;
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
