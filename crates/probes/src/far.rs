//! The far network namespace of a condition: servers have their sockets there, so that what clients
//! send them passes the devices between the two.

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::{
    failure::{Failure, unsupported},
    socket::{AF_INET, Address, bind, bind_to, loopback_up, socket},
    sys::{self, CStr, flag},
};

/// Where its file is mounted.
pub const PLACE: &[u8] = b"/far\0";
/// The address of what is there, and that of clients, of a range that is for measurements of
/// networks only (RFC 2544, appendix C.2.2).
pub const FAR_HOST: [u8; 4] = [198, 18, 0, 2];
/// The address that clients have.
pub const NEAR_HOST: [u8; 4] = [198, 18, 0, 1];
/// The file of the network namespace that a process is in.
pub const OWN: &[u8] = b"/proc/self/ns/net\0";

static IS_THERE: AtomicBool = AtomicBool::new(false);

/// Says that there is one.
pub fn set_there() {
    IS_THERE.store(true, Relaxed);
}

/// Whether there is a far namespace.
pub fn is_there() -> bool {
    IS_THERE.load(Relaxed)
}

/// A server's socket, and the free port that it is bound to: in the far namespace if there is one,
/// else by the loopback interface.
pub(crate) fn bound(kind: usize) -> Result<(usize, Address), Failure> {
    if is_there() {
        let socket = far_socket(kind)?;
        return Ok((socket, bind_to(socket, FAR_HOST)?));
    }
    let socket = socket(AF_INET, kind)?;
    loopback_up(socket)?;
    Ok((socket, bind(socket)?))
}

/// Binds a client's socket to a free port of the address that the server answers; the address.
pub(crate) fn bind_near(socket: usize) -> Result<Address, Failure> {
    if is_there() { bind_to(socket, NEAR_HOST) } else { bind(socket) }
}

/// A socket that belongs to the far namespace, made by a process that belongs to the near one.
#[inline(never)]
fn far_socket(kind: usize) -> Result<usize, Failure> {
    let [near, far] = [open(OWN)?, open(PLACE)?];
    enter(far)?;
    let made = socket(AF_INET, kind);
    enter(near)?;
    let _ = [near, far].map(sys::close);
    made
}

fn open(namespace: &'static [u8]) -> Result<usize, Failure> {
    match sys::open(CStr::new(namespace), flag::O_RDONLY, 0) {
        Ok(file) => Ok(file),
        Err(error) => unsupported!("no file of a network namespace (error {error})"),
    }
}

fn enter(namespace: usize) -> Result<(), Failure> {
    match sys::enter_namespace(namespace) {
        Ok(_) => Ok(()),
        Err(error) => unsupported!("a network namespace can't be entered (setns: error {error})"),
    }
}
