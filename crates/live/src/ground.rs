//! What the program makes of its surroundings, so that a path finds what it finds in a measured
//! guest, and so that nothing of it is left on the machine.
//!
//! - Mount and network namespaces of its own: a fresh root file system in memory with two devices
//!   in it, and a loopback interface without rules. Both end with the program. A program that takes
//!   times has an IPC namespace as well, if it may.
//! - The root cgroup, if it may: elsewhere Linux accounts for memory, and may refuse real-time
//!   tasks. A program whose condition has a group of its own is in that.
//! - One CPU.
//!
//! A program that takes times ([`make`]) does without what it may not have, and says so: an
//! ordinary user gets the namespaces as the owner of a user namespace, if the host permits that.

use pathmeter_probes::{
    sys::{self, CStr, flag, nr},
    task,
    text::Text,
};

/// A step that failed: its name, and Linux's error number.
pub(crate) struct Refused {
    /// The step's name, which is one word.
    pub(crate) step: &'static str,
    pub(crate) error: i32,
}

impl Refused {
    /// The program was started with other arguments than its own.
    pub(crate) const ARGUMENTS: Self = Self { step: "arguments", error: 0 };
}

/// What the surroundings are, of a program that takes times.
#[allow(clippy::struct_excessive_bools, reason = "each is a fact by itself")]
pub(crate) struct Ground {
    /// It is in the root cgroup.
    in_root_cgroup: bool,
    /// It has namespaces and a root file system of its own.
    apart: bool,
    /// It may be a real-time task.
    real_time: bool,
}

impl Ground {
    /// Whether the program has namespaces and a root file system of its own.
    pub(crate) fn is_apart(&self) -> bool {
        self.apart
    }

    /// Each as 0 or 1.
    pub(crate) fn numbers(&self) -> [u64; 3] {
        [self.in_root_cgroup, self.apart, self.real_time].map(u64::from)
    }
}

/// Makes them for `cpu`, as far as it may. `group` is the number by which the list of processes of
/// the control group is open that the program is to be in, or 0; it is closed.
pub(crate) fn make(cpu: usize, group: usize) -> Result<Ground, Refused> {
    // Where memory runs out, the kernel kills a probe rather than the command that tells of it.
    let _ = write(b"/proc/self/oom_score_adj\0", b"1000");
    let in_root_cgroup = if group > 0 {
        sys::write(group, b"0").map_err(at("cgroup"))?;
        let _ = sys::close(group);
        false
    } else {
        enter_root_cgroup().is_ok()
    };
    let apart = (unshare(0).is_ok() || own_user_namespace().is_ok()) && new_root().is_ok();
    task::pin(cpu).map_err(at("sched_setaffinity"))?;
    Ok(Ground { in_root_cgroup, apart, real_time: may_be_real_time() })
}

/// An IPC namespace of the program's own, if it may: objects of System V's end with it.
pub(crate) fn own_ipc_namespace() -> bool {
    sys::unshare(flag::CLONE_NEWIPC).is_ok()
}

/// Tried in a child, so that the server stays an ordinary task. On a live host `task::fifo`
/// succeeds either way.
fn may_be_real_time() -> bool {
    let tried = task::trial(|| {
        let _ = task::fifo();
        // SAFETY: takes no pointer.
        unsafe { sys::call(nr::SCHED_GETSCHEDULER, [0; 6]) }
    });
    tried == Ok(task::Ended::Exit(flag::SCHED_FIFO as u32))
}

/// The namespaces as the owner of one more, of users, in which the caller is its root.
fn own_user_namespace() -> sys::Ret {
    const CLONE_NEWUSER: usize = 0x1000_0000;
    let [user, group] = [nr::GETUID, nr::GETGID].map(|number| {
        // SAFETY: takes no pointer.
        unsafe { sys::call(number, [0; 6]) }
    });
    unshare(CLONE_NEWUSER)?;
    let _ = write(b"/proc/self/setgroups\0", b"deny");
    map(b"/proc/self/uid_map\0", user)?;
    map(b"/proc/self/gid_map\0", group)
}

/// Maps the number 0 in the namespace to `outside`.
fn map(file: &'static [u8], outside: usize) -> sys::Ret {
    let text: Text<32> = Text::format(format_args!("0 {outside} 1"));
    write(file, text.as_bytes())
}

fn write(file: &'static [u8], text: &[u8]) -> sys::Ret {
    let file = sys::open(CStr::new(file), flag::O_WRONLY, 0)?;
    let written = sys::write(file, text);
    sys::close(file).and(written)
}

/// The name of a step for its error.
pub(crate) fn at(step: &'static str) -> impl Fn(i32) -> Refused {
    move |error| Refused { step, error }
}

/// Where the new root is mounted: a folder that every system has. Only this program sees it there.
const PLACE: &[u8] = b"/tmp\0";
const ROOT: &[u8] = b"/\0";
/// Types of file system for the root; the first is what the guest's initramfs is in, where the
/// kernel has it.
const TYPES: [CStr<'_>; 2] = [CStr::new(b"tmpfs\0"), CStr::new(b"ramfs\0")];
/// A character device that probes use: where it is, where it is to be, and its minor number; the
/// major number is 1.
struct Device {
    from: &'static [u8],
    to: &'static [u8],
    minor: usize,
}

const DEVICES: [Device; 2] = [
    Device { from: b"/dev/null\0", to: b"/tmp/dev/null\0", minor: 3 },
    Device { from: b"/dev/zero\0", to: b"/tmp/dev/zero\0", minor: 5 },
];

impl Device {
    /// Makes it, or, where only the host's own root may, mounts the host's.
    fn make(&self) -> sys::Ret {
        const CHARACTER: usize = 0o020_000;
        const MS_BIND: usize = 0x1000;
        let to = CStr::new(self.to);
        sys::mknod(to, CHARACTER | 0o600, 1 << 8 | self.minor).or_else(|_| {
            sys::close(sys::open(to, flag::O_WRONLY | flag::O_CREAT, 0o600)?)?;
            let places = [self.from, self.to].map(|place| place.as_ptr() as usize);
            // SAFETY: the kernel reads two C strings, literals that end in NUL.
            unsafe { sys::checked(nr::MOUNT, [places[0], places[1], 0, MS_BIND, 0, 0]) }
        })
    }
}

/// Prepares it, for `cpu`. Whether the program is in the root cgroup.
pub(crate) fn prepare(cpu: usize) -> Result<bool, Refused> {
    let in_root = enter_root_cgroup().is_ok();
    unshare(0).map_err(at("unshare"))?;
    new_root()?;
    task::pin(cpu).map_err(at("sched_setaffinity"))?;
    Ok(in_root)
}

fn enter_root_cgroup() -> sys::Ret {
    write(b"/sys/fs/cgroup/cgroup.procs\0", b"0")
}

/// Mount and network namespaces of its own, and what `more` names.
fn unshare(more: usize) -> sys::Ret {
    const CLONE_NEWNS: usize = 0x2_0000;
    const CLONE_NEWNET: usize = 0x4000_0000;
    // SAFETY: takes no pointer.
    unsafe { sys::checked(nr::UNSHARE, [CLONE_NEWNS | CLONE_NEWNET | more, 0, 0, 0, 0, 0]) }
}

fn new_root() -> Result<(), Refused> {
    const MS_REC: usize = 0x4000;
    const MS_PRIVATE: usize = 1 << 18;
    // Nothing that is mounted from here on shows anywhere else.
    mount(ROOT, MS_REC | MS_PRIVATE).map_err(at("mount-private"))?;
    let [first, second] = TYPES.map(|kind| move || sys::mount(kind, CStr::new(PLACE), kind));
    first().or_else(|_| second()).map_err(at("mount"))?;
    sys::mkdir(CStr::new(b"/tmp/dev\0"), 0o755).map_err(at("mkdir"))?;
    for device in &DEVICES {
        device.make().map_err(at("mknod"))?;
    }
    with_path(nr::CHROOT, PLACE).map_err(at("chroot"))?;
    with_path(nr::CHDIR, ROOT).map_err(at("chdir"))?;
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
