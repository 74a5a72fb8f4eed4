//! What the guest needs before it can be measured, and how it ends.
//!
//! Nothing here is fatal but the pinning: a probe that misses a file system reports it itself.

use pathmeter_probes::{
    clock,
    sys::{self, CStr, flag},
    task,
    text::Text,
};

use crate::trouble::Trouble;

/// File systems: (type, mount point).
const MOUNTS: [(&[u8], &[u8]); 4] = [
    (b"devtmpfs\0", b"/dev\0"),
    (b"proc\0", b"/proc\0"),
    (b"sysfs\0", b"/sys\0"),
    (b"tracefs\0", b"/sys/kernel/tracing\0"),
];

/// Character devices for kernels without devtmpfs: (path, major, minor).
const DEVICES: [(&[u8], usize, usize); 4] = [
    (b"/dev/null\0", 1, 3),
    (b"/dev/port\0", 1, 4),
    (b"/dev/zero\0", 1, 5),
    (b"/dev/urandom\0", 1, 9),
];

/// Mounts the virtual file systems that this kernel has, and makes up for a missing devtmpfs.
pub(crate) fn mount_all() {
    for (kind, place) in MOUNTS {
        let _ = sys::mkdir(CStr::new(place), 0o755);
        let _ = sys::mount(CStr::new(kind), CStr::new(place), CStr::new(kind));
    }
    for (path, major, minor) in DEVICES {
        const CHARACTER: usize = 0o020_000;
        // Where devtmpfs made the node already, mknod fails, which is just as well.
        let _ = sys::mknod(CStr::new(path), CHARACTER | 0o600, major << 8 | minor);
    }
}

/// Mounts those of them by which the kernel tells of itself, which are all but the first.
#[cfg(feature = "init")]
pub(crate) fn mount_kernels_own() {
    for (kind, place) in &MOUNTS[1..] {
        let _ = sys::mkdir(CStr::new(place), 0o755);
        let _ = sys::mount(CStr::new(kind), CStr::new(place), CStr::new(kind));
    }
}

/// Real-time tasks may use all of the CPU: throttling one for 50 ms in each second would cut into
/// windows (Linux `Documentation/scheduler/sched-rt-group.rst`).
pub(crate) fn allow_busy_real_time() {
    write(CStr::new(b"/proc/sys/kernel/sched_rt_runtime_us\0"), b"-1");
}

/// Ends the kernel's habit of adding a CPU's counts of pages to the machine's once a second (Linux
/// `Documentation/admin-guide/sysctl/vm.rst`, `stat_interval`). Where in a run that second ends
/// would depend on how long the kernel took to boot, and the counts decide when a path has to add
/// them itself, which takes 12 instructions.
pub(crate) fn count_pages_untimed() {
    write(CStr::new(b"/proc/sys/vm/stat_interval\0"), b"1000000");
}

/// Adds this CPU's counts of pages to the machine's, so that all runs start with the same ones.
/// Pages that are not yet counted, since the kernel adds them to its lists 15 at a time, are
/// counted at the unmapping of a page (Linux `lru_add_drain`).
pub(crate) fn fold_page_counts() {
    const PAGE: usize = 4096;
    let kept = sys::mapped();
    if let Ok(page) = sys::map(PAGE, flag::MAP_PRIVATE) {
        // SAFETY: the page is mapped for writing, and nobody else has it.
        unsafe {
            (page as *mut u8).write_volatile(1);
            sys::unmap_since(kept);
        }
    }
    write(CStr::new(b"/proc/sys/vm/stat_refresh\0"), b"1");
}

/// Writes a setting that not all kernels have.
fn write(path: CStr<'_>, value: &[u8]) {
    if let Ok(fd) = sys::open(path, flag::O_WRONLY, 0) {
        let _ = sys::write(fd, value);
        let _ = sys::close(fd);
    }
}

/// Pins this process and all it will start to CPU 0.
pub(crate) fn pin_to_first_cpu() -> Result<(), Trouble> {
    match task::pin(0) {
        // A kernel built for one CPU has no such call, and nothing to pin.
        Ok(_) | Err(sys::errno::ENOSYS) => Ok(()),
        Err(error) => Err(Text::format(format_args!("can't pin to CPU 0 (error {error})"))),
    }
}

/// Makes the random numbers of the next execution follow from `seed` alone, those that choose the
/// bases of stack, mappings and heap among them (random(4)).
pub(crate) fn seed_random(seed: u64) {
    const RNDADDENTROPY: usize = 0x4008_5203;
    const RNDRESEEDCRNG: usize = 0x5207;
    /// `struct rand_pool_info` with 64 bytes, all of them credited, so that a guest without any
    /// other source counts as seeded.
    #[repr(C)]
    struct Pool {
        entropy_bits: i32,
        size: i32,
        bytes: [u64; 8],
    }
    let Ok(fd) = sys::open(CStr::new(b"/dev/urandom\0"), flag::O_RDWR, 0) else { return };
    let mut pool = Pool { entropy_bits: 512, size: 64, bytes: [0; 8] };
    for (index, word) in pool.bytes.iter_mut().enumerate() {
        *word = scramble(seed * 8 + index as u64);
    }
    let add = [fd, RNDADDENTROPY, &raw const pool as usize, 0, 0, 0];
    // SAFETY: the kernel reads one `struct rand_pool_info` with its 64 bytes.
    unsafe {
        let _ = sys::checked(sys::nr::IOCTL, add);
        let _ = sys::checked(sys::nr::IOCTL, [fd, RNDRESEEDCRNG, 0, 0, 0, 0]);
    }
    let _ = sys::close(fd);
}

/// Moves the first window away from the last tick, by a number that follows from the run's: the
/// kernel ticks every 1 to 10 million instructions, depending on the kernel's HZ.
pub(crate) fn shift_phase(run: u32) {
    const LONGEST: u64 = 1 << 20;
    clock::busy(scramble(u64::from(run)) % LONGEST);
}

/// Well-spread bits from a small number (the finaliser of `SplitMix64`, Steele et al., OOPSLA
/// 2014).
pub(crate) fn scramble(number: u64) -> u64 {
    let mut bits = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

/// Ends the guest: by reboot(2), and should that return, by the panic of a dying init.
pub(crate) fn power_off() -> ! {
    const MAGIC: [usize; 2] = [0xfee1_dead, 0x2812_1969];
    const RESTART: usize = 0x0123_4567;
    // SAFETY: takes no pointer for this command.
    unsafe { sys::call(sys::nr::REBOOT, [MAGIC[0], MAGIC[1], RESTART, 0, 0, 0]) };
    sys::exit(0)
}
