//! Ports of the loopback.

use std::net::TcpListener;

/// Ports of the loopback that nothing listened on just now.
pub fn free_ports<const N: usize>() -> [u16; N] {
    let listeners = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}
