//! What only the lab kernel has: its own system call, and the device that its ioctls go to.
//!
//! Numbers and layouts are those of `lab/uapi/lab.h` and `lab/uapi/labdev.h`. On another kernel the
//! call's number means nothing (`ENOSYS`), and there is no such device.

use crate::sys::{self, CStr, Ret, nr};

/// Sub-commands of the lab's system call.
const YIELD_FLAGS: usize = 0;
const BKL: usize = 2;
const SOFTIRQ_ARM: usize = 3;
const SOFTIRQ_TAKE: usize = 4;
const SOFTIRQ_RAISE: usize = 5;
const ROUND_TRIP: usize = 8;
const COMMANDS: usize = 20;

/// CPUs that counts are kept of.
pub(crate) const CPUS: usize = 8;

/// Softirqs by number. HI's handler raises it again as often as was asked.
pub(crate) const HI: u32 = 0;
pub(crate) const TIMER: u32 = 1;
pub(crate) const NET_RX: u32 = 3;
/// How many softirqs there are.
const SOFTIRQS: u32 = 5;

/// What a softirq's raise interrupted.
pub(crate) const IN_USER: u16 = 0;
pub(crate) const IN_KERNEL: u16 = 1;
pub(crate) const IN_IDLE: u16 = 2;
/// The idle task, in `hlt`; only the test device's raises are told like that.
pub(crate) const IN_HALT: u16 = 3;

/// The test device, and a second one that shares nothing with it.
pub(crate) const DEVICE: CStr<'_> = CStr::new(b"/dev/labdev\0");
pub(crate) const SECOND_DEVICE: CStr<'_> = CStr::new(b"/dev/labdev1\0");
/// Another driver, which has [`PARAMS_32`] too.
pub(crate) const TWIN: CStr<'_> = CStr::new(b"/dev/labtwin\0");
/// The command that copies `struct labdev_state` out, the same for all programs: `_IOR('L', 6, …)`;
/// and the place of `serial`, which grows by one with each.
pub(crate) const STATE: usize = ioc(2, 6, 8);
pub(crate) const STATE_SERIAL: usize = 4;
/// The command that copies `struct labdev_params` out, as 32-bit programs give it:
/// `_IOR('L', 1, …)`, with so many bytes.
pub(crate) const PARAMS_32: usize = ioc(2, 1, 20);
pub(crate) const PARAMS_32_BYTES: usize = 20;

/// The command that looks at the device as often as its argument asks: `_IO('L', 5)`.
pub(crate) const POLL: usize = ioc(0, 5, 0);
/// The most looks that [`POLL`] takes.
pub(crate) const MOST_LOOKS: usize = 1000;

/// A command of the driver that [`load`] loads, and its answer: after so many looks as its argument
/// asks; beyond [`MOST_LOOKS`] after a sleep.
pub(crate) const LOADED: usize = ioc(1, 6, 64);
pub(crate) const LOADED_ANSWER: usize = 77;

/// A command as `<asm-generic/ioctl.h>` makes it.
const fn ioc(direction: usize, number: usize, size: usize) -> usize {
    direction << 30 | size << 16 | (b'L' as usize) << 8 | number
}

/// What one CPU did with the big kernel lock: of `struct lab_bkl`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct LockCounts {
    /// How often it took the lock.
    pub(crate) acquired: u64,
    /// Of these, times that somebody else had it.
    pub(crate) contended: u64,
    /// Looks at it while it was taken.
    pub(crate) spins: u64,
    /// Ticks of the TSC between finding it taken and having it.
    pub(crate) waited: u64,
}

/// `struct lab_softirq_arm`: an interrupt of a CPU by its own timer, `delay` ticks of the TSC from
/// now, that raises a softirq there; HI's handler raises it again `again` times.
#[repr(C)]
struct Arm {
    delay: u64,
    softirq: u32,
    cpu: u32,
    source: u32,
    again: u32,
}

/// `struct lab_softirq_record`: one run of a softirq. The stamps are the TSC's.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct SoftirqRecord {
    pub(crate) raised: u64,
    pub(crate) entered: u64,
    pub(crate) softirq: u32,
    pub(crate) cpu: u16,
    /// [`IN_USER`] and so on.
    pub(crate) context: u16,
}

/// `struct lab_softirq_take`.
#[repr(C)]
struct Take {
    records: u64,
    capacity: u32,
    count: u32,
    lost: u64,
}

/// `struct lab_round_trip`: what comes back over the modelled link for a request, and when. In
/// ticks of the TSC, which are instructions.
#[repr(C)]
pub(crate) struct RoundTrip {
    /// Ticks until the acknowledgement comes.
    pub(crate) first: u64,
    /// From there until the answer comes.
    pub(crate) second: u64,
    /// Ticks that handling each of them takes.
    pub(crate) work: u64,
}

/// Bytes of `struct lab_bkl`.
const BKL_BYTES: usize = size_of::<[LockCounts; CPUS]>();

const _: () = assert!(BKL_BYTES == 256 && size_of::<Arm>() == 24);
const _: () = assert!(size_of::<SoftirqRecord>() == 24 && size_of::<Take>() == 24);
const _: () = assert!(size_of::<RoundTrip>() == 24);

/// `sched_yield(2)`, and the flags register as the kernel itself has it after the switch.
pub(crate) fn yield_flags() -> Ret {
    // SAFETY: takes no pointer.
    unsafe { sys::checked(nr::LAB, [YIELD_FLAGS, 0, 0, 0, 0, 0]) }
}

/// What each CPU did with the big kernel lock since the last call.
pub(crate) fn take_lock_counts() -> Result<[LockCounts; CPUS], i32> {
    let mut counts = [LockCounts::default(); CPUS];
    // SAFETY: the kernel writes one `struct lab_bkl`, whose size is asserted above.
    unsafe { sys::checked(nr::LAB, [BKL, &raw mut counts as usize, 0, 0, 0, 0]) }?;
    Ok(counts)
}

/// Loads a driver whose ioctls are registered in the table of 32-bit programs' ones. An error where
/// there is no table.
pub(crate) fn load() -> Ret {
    commands(1)
}

/// Unloads it; how many of its calls were at work as that was done.
pub(crate) fn unload() -> Ret {
    commands(0)
}

/// How many of its calls are at work.
pub(crate) fn calls_at_work() -> Ret {
    commands(2)
}

fn commands(what: usize) -> Ret {
    // SAFETY: takes no pointer.
    unsafe { sys::checked(nr::LAB, [COMMANDS, what, 0, 0, 0, 0]) }
}

/// Whether this kernel records its softirqs.
pub(crate) fn records_softirqs() -> bool {
    // A softirq that is none: refused, where the call exists.
    raise_softirq(SOFTIRQS) == Err(sys::errno::EINVAL)
}

/// Raises `softirq` on this CPU, in a system call.
pub(crate) fn raise_softirq(softirq: u32) -> Ret {
    // SAFETY: takes no pointer.
    unsafe { sys::checked(nr::LAB, [SOFTIRQ_RAISE, softirq as usize, 0, 0, 0, 0]) }
}

/// Has CPU 0's own timer interrupt it `delay` ticks of the TSC from now, and raise `softirq` there;
/// HI raises itself `again` times more.
pub(crate) fn arm_softirq(delay: u64, softirq: u32, again: u32) -> Ret {
    let arm = Arm { delay, softirq, cpu: 0, source: 0, again };
    // SAFETY: the kernel reads one `struct lab_softirq_arm`.
    unsafe { sys::checked(nr::LAB, [SOFTIRQ_ARM, &raw const arm as usize, 0, 0, 0, 0]) }
}

/// Sends a request over the modelled link, and sleeps until its answer has been handled.
pub(crate) fn round_trip(trip: &RoundTrip) -> Ret {
    let place = &raw const *trip as usize;
    // SAFETY: the kernel reads one `struct lab_round_trip`.
    unsafe { sys::checked(nr::LAB, [ROUND_TRIP, place, 0, 0, 0, 0]) }
}

/// Takes the oldest runs of softirqs that were recorded into `records`; those taken, and how many a
/// full ring dropped. As many as fit are taken; a full array means that there may be more.
pub(crate) fn take_softirqs(records: &mut [SoftirqRecord]) -> Result<(&[SoftirqRecord], u64), i32> {
    let capacity = u32::try_from(records.len()).unwrap_or(u32::MAX);
    let mut take = Take { records: records.as_mut_ptr() as u64, capacity, count: 0, lost: 0 };
    // SAFETY: the kernel writes at most `capacity` records, of which there are so many, and the two
    // results.
    unsafe { sys::checked(nr::LAB, [SOFTIRQ_TAKE, &raw mut take as usize, 0, 0, 0, 0]) }?;
    Ok((records.get(..take.count as usize).unwrap_or_default(), take.lost))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_are_those_of_labdev_h() {
        assert_eq!((STATE, PARAMS_32), (0x8008_4c06, 0x8014_4c01));
        assert_eq!((POLL, LOADED), (0x4c05, 0x4040_4c06));
    }
}
