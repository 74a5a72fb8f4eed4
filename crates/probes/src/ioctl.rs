//! `ioctl.*`: one and the same ioctl by three entries: 64-bit, int 0x80, and the 32-bit fast entry
//! (the question of the 2004 compat-ioctl thread).
//!
//! The ioctl is SIOCGIFINDEX of the loopback interface: a `struct ifreq` is copied in, the interface
//! looked up by its name, the struct copied out (netdevice(7)). Name and index stand at the same
//! offsets for 32- and 64-bit callers. Proof: the index replaces a poison in every window.

use crate::{
    Failure, Outcome, Path, Report, clock, compat32, prove,
    sys::{self, flag, nr},
    syscall, tcp, unsupported,
};

pub(crate) static PATHS: &[Path] = &[
    Path {
        name: "ioctl.native",
        about: "SIOCGIFINDEX from 64-bit code",
        windows: 51,
        idles: false,
        probe: native,
    },
    Path {
        name: "ioctl.compat-int80",
        about: "the same by int 0x80 from 64-bit code, pointers below 4 GiB",
        windows: 51,
        idles: false,
        probe: int80,
    },
    Path {
        name: "ioctl.compat-entry",
        about: "the same from 32-bit code, by sysenter or syscall as the CPU has it",
        windows: 51,
        idles: false,
        probe: entry,
    },
];

/// `SIOCGIFINDEX` of `<linux/sockios.h>`.
pub(crate) const SIOCGIFINDEX: usize = 0x8933;
/// ioctl in the 32-bit table.
pub(crate) const IOCTL_32: usize = 54;

/// `struct ifreq` of `<linux/if.h>`: 40 bytes for 64-bit callers, 32 for 32-bit ones.
#[repr(C)]
pub(crate) struct Ifreq {
    pub(crate) name: [u8; 16],
    pub(crate) value: i32,
    rest: [u8; 20],
}

const _: () = assert!(size_of::<Ifreq>() == 40 && core::mem::offset_of!(Ifreq, value) == 16);

impl Ifreq {
    /// A request about the loopback interface.
    pub(crate) const LO: Self =
        Self { name: *b"lo\0\0\0\0\0\0\0\0\0\0\0\0\0\0", value: 0, rest: [0; 20] };
}

/// What the index is overwritten with before each window.
const POISON: i32 = -1;

fn native(report: &mut Report) -> Outcome {
    let (socket, request) = setup()?;
    walk(report, request, |place| {
        // SAFETY: the kernel reads and writes one `struct ifreq` at `place`.
        unsafe { sys::call(nr::IOCTL, [socket, SIOCGIFINDEX, place, 0, 0, 0]) }
    })
}

fn int80(report: &mut Report) -> Outcome {
    syscall::supported()?;
    let (socket, request) = setup()?;
    walk(report, request, |place| {
        // SAFETY: as above, and `setup` mapped the request below 4 GiB.
        unsafe { syscall::int80(IOCTL_32, [socket, SIOCGIFINDEX, place]) }
    })
}

fn entry(report: &mut Report) -> Outcome {
    let (socket, request) = setup()?;
    let place = core::ptr::from_mut(request) as usize;
    // SAFETY: as above; this call only learns the right index.
    let raw = unsafe { sys::call(nr::IOCTL, [socket, SIOCGIFINDEX, place, 0, 0, 0]) };
    prove!(raw == 0, "the 64-bit call returned {raw:#x}");
    compat32::walk(report, socket, request.value)
}

/// One ioctl a window by `call`, the index proved in each.
fn walk(report: &mut Report, request: &mut Ifreq, call: impl Fn(usize) -> usize) -> Outcome {
    let place = core::ptr::from_mut(request);
    report.walk(|| {
        // SAFETY: `request` is borrowed for the whole walk, and only used through `place`.
        unsafe { (*place).value = POISON };
        let (cost, raw) = clock::window(|| call(place as usize));
        // SAFETY: as above; volatile, since the kernel wrote it behind the compiler's back.
        let index = unsafe { (&raw const (*place).value).read_volatile() };
        prove!(raw == 0 && index > 0, "the ioctl returned {raw:#x}, index {index}");
        Ok(cost)
    })
}

/// A socket to ask, and a request in memory below 4 GiB.
fn setup() -> Result<(usize, &'static mut Ifreq), Failure> {
    let socket = tcp::socket(tcp::AF_INET, tcp::SOCK_DGRAM)?;
    match sys::map(size_of::<Ifreq>(), flag::MAP_PRIVATE | flag::MAP_32BIT) {
        Ok(address) => {
            // SAFETY: the mapping is ours alone, aligned, large enough and never unmapped.
            let request = unsafe { &mut *(address as *mut Ifreq) };
            *request = Ifreq::LO;
            Ok((socket, request))
        }
        Err(error) => unsupported!("no memory below 4 GiB (mmap: error {error})"),
    }
}
