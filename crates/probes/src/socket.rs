//! Sockets: the calls of socket(2) that probes share, and requests about the loopback interface.

use crate::{
    failure::{Failure, unsupported},
    sys::{self, nr},
};

/// Sockets between processes of this machine.
pub const AF_UNIX: usize = 1;
pub(crate) const AF_INET: usize = 2;
pub const SOCK_STREAM: usize = 1;
pub(crate) const SOCK_DGRAM: usize = 2;
const SIOCGIFFLAGS: usize = 0x8913;
const SIOCSIFFLAGS: usize = 0x8914;
const IFF_UP: i32 = 1;
const IPPROTO_TCP: usize = 6;
const TCP_NODELAY: usize = 1;

/// `struct ifreq` of `<linux/if.h>`: 40 bytes for 64-bit callers, 32 for 32-bit ones; name and
/// index stand at the same place for both.
#[repr(C)]
pub(crate) struct Ifreq {
    name: [u8; 16],
    pub(crate) value: i32,
    rest: [u8; 20],
}

const _: () = assert!(size_of::<Ifreq>() == 40 && core::mem::offset_of!(Ifreq, value) == 16);

impl Ifreq {
    /// A request about the loopback interface.
    pub(crate) const LO: Self =
        Self { name: *b"lo\0\0\0\0\0\0\0\0\0\0\0\0\0\0", value: 0, rest: [0; 20] };
}

/// `struct sockaddr_in`: family, then port and address in network order.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Address {
    family: u16,
    port: [u8; 2],
    host: [u8; 4],
    zero: [u8; 8],
}

const _: () = assert!(size_of::<Address>() == 16);
const ADDRESS_LENGTH: u32 = 16;

/// socket(2), its failure as the reason why the path can't run.
pub(crate) fn socket(family: usize, kind: usize) -> Result<usize, Failure> {
    // SAFETY: takes no pointer.
    unsafe { sys::checked(nr::SOCKET, [family, kind, 0, 0, 0, 0]) }.or_else(|error| match error {
        sys::errno::EAFNOSUPPORT | sys::errno::ENOSYS => {
            unsupported!("no such sockets in this kernel (error {error}; CONFIG_NET, CONFIG_INET)")
        }
        _ => unsupported!("socket(2) failed (error {error})"),
    })
}

/// Brings the loopback interface up.
pub(crate) fn loopback_up(socket: usize) -> Result<(), Failure> {
    let mut request = Ifreq::LO;
    let place = &raw mut request as usize;
    // SAFETY: the kernel reads and writes one `struct ifreq` each time.
    let done = unsafe {
        sys::checked(nr::IOCTL, [socket, SIOCGIFFLAGS, place, 0, 0, 0]).and_then(|_| {
            (*(place as *mut Ifreq)).value |= IFF_UP;
            sys::checked(nr::IOCTL, [socket, SIOCSIFFLAGS, place, 0, 0, 0])
        })
    };
    match done {
        Ok(_) => Ok(()),
        Err(error) => unsupported!("the loopback interface can't be brought up (error {error})"),
    }
}

/// Brings the loopback interface up, with a socket of its own.
#[cfg(feature = "init")]
pub fn bring_loopback_up() -> Result<(), Failure> {
    const AF_INET: usize = 2;
    const SOCK_DGRAM: usize = 2;
    let socket = socket(AF_INET, SOCK_DGRAM)?;
    let done = loopback_up(socket);
    let _ = sys::close(socket);
    done
}

/// Binds `socket` to a free loopback port; the address it got.
pub(crate) fn bind(socket: usize) -> Result<Address, Failure> {
    bind_to(socket, [127, 0, 0, 1])
}

/// Binds `socket` to a free port at one of this machine's addresses; the address it got.
pub(crate) fn bind_to(socket: usize, host: [u8; 4]) -> Result<Address, Failure> {
    let mut address = Address { family: 2, port: [0; 2], host, zero: [0; 8] };
    let mut length = ADDRESS_LENGTH;
    let place = &raw mut address as usize;
    // SAFETY: the kernel reads, then writes, at most `length` bytes of `address`.
    let bound = unsafe {
        sys::checked(nr::BIND, [socket, place, length as usize, 0, 0, 0]).and_then(|_| {
            sys::checked(nr::GETSOCKNAME, [socket, place, &raw mut length as usize, 0, 0, 0])
        })
    };
    match bound {
        Ok(_) => Ok(address),
        Err(error) => unsupported!("no port (bind: error {error})"),
    }
}

/// connect(2).
pub(crate) fn connect(socket: usize, to: &Address) -> Result<(), Failure> {
    let place = core::ptr::from_ref(to) as usize;
    // SAFETY: the kernel reads one address.
    match unsafe { sys::checked(nr::CONNECT, [socket, place, size_of::<Address>(), 0, 0, 0]) } {
        Ok(_) => Ok(()),
        Err(error) => unsupported!("no connection (connect: error {error})"),
    }
}

/// Single bytes go out at once.
pub(crate) fn no_delay(socket: usize) {
    let on = 1_i32;
    let args = [socket, IPPROTO_TCP, TCP_NODELAY, &raw const on as usize, 4, 0];
    // SAFETY: the kernel reads one int. A failure only leaves Nagle's algorithm on.
    let _ = unsafe { sys::checked(nr::SETSOCKOPT, args) };
}

/// Lets receives on `socket` give up after `milliseconds`, counted in ticks.
pub(crate) fn set_receive_timeout(socket: usize, nanoseconds: u64) -> Result<(), Failure> {
    const SOL_SOCKET: usize = 1;
    const SO_RCVTIMEO: usize = 20;
    let time = [0, nanoseconds / 1000];
    let args = [socket, SOL_SOCKET, SO_RCVTIMEO, time.as_ptr() as usize, size_of_val(&time), 0];
    // SAFETY: the kernel reads one `struct timeval`.
    match unsafe { sys::checked(nr::SETSOCKOPT, args) } {
        Ok(_) => Ok(()),
        Err(error) => unsupported!("no receive timeout (setsockopt: error {error})"),
    }
}
