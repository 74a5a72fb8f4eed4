//! What the program makes of its surroundings, so that a path finds what it finds in a measured
//! guest, and so that nothing of it is left on the machine.
//!
//! - Mount and network namespaces of its own: a fresh root file system in memory with two devices
//!   in it, and a loopback interface without rules. Both end with the program.
//! - The root cgroup, if it may: elsewhere Linux accounts for memory, and may refuse real-time
//!   tasks.
//! - One CPU.

use pathmeter_probes::{
    sys::{self, CStr, flag, nr},
    task,
};

/// A step that failed: its name, and Linux's error number.
pub(crate) struct Refused {
    /// One word.
    pub(crate) step: &'static str,
    /// The error number.
    pub(crate) error: i32,
}

/// The name of a step for its error.
pub(crate) fn at(step: &'static str) -> impl Fn(i32) -> Refused {
    move |error| Refused { step, error }
}

const UNSHARE: usize = 272;
const CHROOT: usize = 161;
const CHDIR: usize = 80;

/// Where the new root is mounted: a folder that every system has. Only this program sees it there.
const PLACE: &[u8] = b"/tmp\0";
const ROOT: &[u8] = b"/\0";
/// Types of file system for the root; the first is what the guest's initramfs is in, where the
/// kernel has it.
const TYPES: [CStr<'_>; 2] = [CStr::new(b"tmpfs\0"), CStr::new(b"ramfs\0")];
/// Character devices that probes use: (path, minor); the major number is 1.
const DEVICES: [(CStr<'_>, usize); 2] =
    [(CStr::new(b"/dev/null\0"), 3), (CStr::new(b"/dev/zero\0"), 5)];

/// Prepares it, for `cpu`. Whether the program is in the root cgroup.
pub(crate) fn prepare(cpu: usize) -> Result<bool, Refused> {
    let in_root = enter_root_cgroup().is_ok();
    unshare().map_err(at("unshare"))?;
    new_root()?;
    task::pin(cpu).map_err(at("sched_setaffinity"))?;
    Ok(in_root)
}

fn enter_root_cgroup() -> Result<(), i32> {
    let file = sys::open(CStr::new(b"/sys/fs/cgroup/cgroup.procs\0"), flag::O_WRONLY, 0)?;
    let written = sys::write(file, b"0");
    sys::close(file).and(written).map(|_| ())
}

fn unshare() -> sys::Ret {
    const CLONE_NEWNS: usize = 0x2_0000;
    const CLONE_NEWNET: usize = 0x4000_0000;
    // SAFETY: takes no pointer.
    unsafe { sys::checked(UNSHARE, [CLONE_NEWNS | CLONE_NEWNET, 0, 0, 0, 0, 0]) }
}

fn new_root() -> Result<(), Refused> {
    const MS_REC: usize = 0x4000;
    const MS_PRIVATE: usize = 1 << 18;
    // Nothing that is mounted from here on shows anywhere else.
    mount(ROOT, MS_REC | MS_PRIVATE).map_err(at("mount-private"))?;
    let [first, second] = TYPES.map(|kind| move || sys::mount(kind, CStr::new(PLACE), kind));
    first().or_else(|_| second()).map_err(at("mount"))?;
    with_path(CHROOT, PLACE).map_err(at("chroot"))?;
    with_path(CHDIR, ROOT).map_err(at("chdir"))?;
    sys::mkdir(CStr::new(b"/dev\0"), 0o755).map_err(at("mkdir"))?;
    for (path, minor) in DEVICES {
        const CHARACTER: usize = 0o020_000;
        sys::mknod(path, CHARACTER | 0o600, 1 << 8 | minor).map_err(at("mknod"))?;
    }
    Ok(())
}

/// mount(2) that only changes flags.
fn mount(place: &'static [u8], flags: usize) -> sys::Ret {
    // SAFETY: the kernel reads one C string, a literal that ends in NUL.
    unsafe { sys::checked(nr::MOUNT, [0, place.as_ptr() as usize, 0, flags, 0, 0]) }
}

fn with_path(number: usize, path: &'static [u8]) -> sys::Ret {
    // SAFETY: as above.
    unsafe { sys::checked(number, [path.as_ptr() as usize, 0, 0, 0, 0, 0]) }
}
