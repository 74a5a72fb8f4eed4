//! What the ioctls of this group go to, so that every path of it means one and the same thing on
//! one kernel: the lab kernel's test device where there is one, elsewhere a socket, asked for the
//! loopback interface's index.
//!
//! Either way a structure comes back that holds a number known beforehand. It is poisoned before
//! each call, so what stands there after it was written by that call.

use core::arch::asm;

use crate::{
    arch::{MAP_32BIT, nr32},
    failure::{Failure, prove, unsupported},
    fast32::Fast32,
    int80::int80,
    lab,
    socket::{AF_INET, Ifreq, SOCK_DGRAM, socket},
    sys::{self, CStr, flag, nr},
};

/// `SIOCGIFINDEX` of `<linux/sockios.h>`.
const SIOCGIFINDEX: usize = 0x8933;
/// Bytes of the largest structure, of any caller.
const ROOM: usize = size_of::<Ifreq>();
/// What the answer is overwritten with before each call; no index, and a serial that none comes to.
const POISON: u32 = u32::MAX;

/// A command, and where in its structure the answer stands.
#[derive(Clone, Copy)]
pub(crate) struct Request {
    /// The second argument of the ioctl.
    pub(crate) command: usize,
    /// Bytes before the answer, a 32-bit number.
    pub(crate) answer: usize,
}

/// A descriptor, what to ask it, and memory below 4 GiB for the structure.
pub(crate) struct Target {
    pub(crate) fd: usize,
    /// As 64-bit programs ask for it.
    pub(crate) native: Request,
    /// As 32-bit programs ask for it.
    pub(crate) compat: Request,
    /// How much the answer grows from call to call.
    pub(crate) step: u32,
    place: usize,
}

impl Target {
    /// The lab's device, or a socket where there is none.
    pub(crate) fn open() -> Result<Self, Failure> {
        match sys::open(lab::DEVICE, flag::O_RDWR, 0) {
            Ok(fd) => Self::labdev(fd),
            Err(_) => Self::socket(),
        }
    }

    /// One of the lab's devices; `None` on another kernel.
    pub(crate) fn device(path: CStr<'_>) -> Result<Option<Self>, Failure> {
        sys::open(path, flag::O_RDWR, 0).ok().map(Self::labdev).transpose()
    }

    fn labdev(fd: usize) -> Result<Self, Failure> {
        let request = Request { command: lab::STATE, answer: lab::STATE_SERIAL };
        Ok(Self { fd, native: request, compat: request, step: 1, place: low_memory()? })
    }

    fn socket() -> Result<Self, Failure> {
        let fd = socket(AF_INET, SOCK_DGRAM)?;
        let place = low_memory()?;
        // SAFETY: the mapping is ours alone, aligned and large enough.
        unsafe { (place as *mut Ifreq).write(Ifreq::LO) };
        let answer = core::mem::offset_of!(Ifreq, value);
        let request = Request { command: SIOCGIFINDEX, answer };
        Ok(Self { fd, native: request, compat: request, step: 0, place })
    }

    /// The answer to a 64-bit call, from which on it grows by `step` a call.
    pub(crate) fn learn(&self) -> Result<u32, Failure> {
        self.poison(self.native);
        let raw = self.call_native();
        let answer = self.answer(self.native);
        prove!(
            raw == 0 && answer != 0 && answer != POISON,
            "the ioctl returned {raw:#x}, answer {answer}"
        );
        Ok(answer)
    }

    /// Overwrites the answer with [`POISON`].
    pub(crate) fn poison(&self, request: Request) {
        // SAFETY: both requests' answers lie within the mapping of `ROOM` bytes, aligned; volatile,
        // since the kernel reads and writes there behind the compiler's back.
        unsafe { ((self.place + request.answer) as *mut u32).write_volatile(POISON) };
    }

    /// The answer as the kernel left it.
    pub(crate) fn answer(&self, request: Request) -> u32 {
        // SAFETY: as above.
        unsafe { ((self.place + request.answer) as *const u32).read_volatile() }
    }

    /// The 64-bit call; the raw result.
    pub(crate) fn call_native(&self) -> usize {
        self.native_by(self.fd)
    }

    /// On a device of the lab's, [`lab::POLL`] with so many looks; the raw result.
    pub(crate) fn poll_native(&self, looks: u32) -> usize {
        // SAFETY: takes no pointer.
        unsafe { sys::call(nr::IOCTL, [self.fd, lab::POLL, looks as usize, 0, 0, 0]) }
    }

    /// The same by int 0x80.
    pub(crate) fn poll_int80(&self, looks: u32) -> usize {
        // SAFETY: as above.
        unsafe { int80(nr32::IOCTL, [self.fd, lab::POLL, looks as usize]) }
    }

    /// Code that calls as 32-bit programs do, by the fast entry; tried with one call.
    pub(crate) fn fast(&self) -> Result<Fast32, Failure> {
        Fast32::new(self.fd, self.compat.command, self.place)
    }

    /// So many calls by [`Target::fast`]'s code, in one stretch; 0 if all succeeded.
    pub(crate) fn calls_by(&self, fast: Fast32, calls: u32) -> Option<u32> {
        fast.ioctls([self.fd, self.compat.command, self.place], calls)
    }

    /// By int 0x80 a command that may write to the structure, or does not take its argument for an
    /// address; the raw result.
    pub(crate) fn ask_int80(&self, command: usize, argument: Option<usize>) -> usize {
        // SAFETY: as above; of the lab's structures none is larger than `ROOM` bytes.
        unsafe { int80(nr32::IOCTL, [self.fd, command, argument.unwrap_or(self.place)]) }
    }

    /// [`Target::call_native`] with its descriptor at hand, for a window.
    #[inline(always)]
    pub(crate) fn native_by(&self, fd: usize) -> usize {
        let mut command = self.native.command;
        // SAFETY: nothing is executed. The compiler takes it that the register was written, so that
        // the command is put there in each window, as a program puts its constant.
        unsafe { asm!("", inout("rsi") command, options(nomem, nostack, preserves_flags)) };
        // SAFETY: the kernel reads and writes at most `ROOM` bytes at `place`, which hold no value
        // of the compiler's.
        unsafe { sys::call(nr::IOCTL, [fd, command, self.place, 0, 0, 0]) }
    }

    /// The call by int 0x80, as 32-bit programs make it, with the descriptor at hand, for a window;
    /// the raw result. See [`crate::int80::supported`].
    #[inline(always)]
    pub(crate) fn int80_by(&self, fd: usize) -> usize {
        // SAFETY: as above, and `place` lies below 4 GiB.
        unsafe { int80(nr32::IOCTL, [fd, self.compat.command, self.place]) }
    }
}

/// A descriptor in the register of a call's first argument: around a window, so that it stands
/// there as in a program that calls in a loop, whatever the compiler keeps where.
#[inline(always)]
pub(super) fn held(mut fd: usize) -> usize {
    // SAFETY: nothing is executed.
    unsafe { asm!("", inout("rdi") fd, options(nostack, preserves_flags)) };
    fd
}

pub(crate) fn devices() -> Result<(Target, Target), Failure> {
    match (Target::device(lab::DEVICE)?, Target::device(lab::SECOND_DEVICE)?) {
        (Some(first), Some(second)) => Ok((first, second)),
        _ => unsupported!("this path needs the lab kernel's two devices"),
    }
}

const _: () = assert!(lab::STATE_SERIAL + 4 <= ROOM && lab::STATE_SERIAL.is_multiple_of(4));
const _: () = assert!(lab::PARAMS_32_BYTES <= ROOM);

/// `ROOM` zeroed bytes below 4 GiB, ours alone, never unmapped.
fn low_memory() -> Result<usize, Failure> {
    sys::map(ROOM, flag::MAP_PRIVATE | MAP_32BIT).map_err(|error| {
        Failure::unsupported(format_args!("no memory below 4 GiB (mmap: error {error})"))
    })
}
