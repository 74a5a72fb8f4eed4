//! The root file system of a run: built anew before each out of the files as they were packed, in
//! namespaces of the run's own.
//!
//! It is in memory; under a condition it may be an overlay, or have a disk beside
//! ([`crate::disk`]).
//!
//! So whatever a run writes, mounts or shares by System V's or POSIX's names is gone with it. What
//! is the whole kernel's stays: `/sys`, most of `/proc/sys`, modules, the network.

use pathmeter_probes::{
    far,
    sys::{self, CStr, flag},
    text::Text,
};
use pathmeter_wire::{archive::Records, job::Job, message::UnmetCause};

use crate::{
    devices,
    disk::Disk,
    file::{Held, contents},
    guest,
    refusal::Refusal,
    trouble::Trouble,
};

/// Where a run's root is mounted, before it takes the place of the agent's.
const PLACE: &[u8] = b"/run\0";
/// The mode of files that nobody gave another one by which to mask, and that of programs.
const NO_MASK: usize = 0;
const USUAL_MASK: usize = 0o022;

/// The namespaces that a run has of its own, by the flag and the agent's own one.
const NAMESPACES: [(usize, &[u8]); 3] = [
    (flag::CLONE_NEWNS, b"/proc/self/ns/mnt\0"),
    (flag::CLONE_NEWUTS, b"/proc/self/ns/uts\0"),
    (flag::CLONE_NEWIPC, b"/proc/self/ns/ipc\0"),
];

/// Settings of a namespace. A new one does not take most of them from the one before, and they may
/// be part of the condition; and a kernel may have no such namespace.
const SETTINGS: [&[u8]; 16] = [
    b"/proc/sys/kernel/hostname\0",
    b"/proc/sys/kernel/domainname\0",
    b"/proc/sys/kernel/shmmax\0",
    b"/proc/sys/kernel/shmall\0",
    b"/proc/sys/kernel/shmmni\0",
    b"/proc/sys/kernel/shm_rmid_forced\0",
    b"/proc/sys/kernel/msgmax\0",
    b"/proc/sys/kernel/msgmnb\0",
    b"/proc/sys/kernel/msgmni\0",
    b"/proc/sys/kernel/sem\0",
    b"/proc/sys/kernel/auto_msgmni\0",
    b"/proc/sys/fs/mqueue/queues_max\0",
    b"/proc/sys/fs/mqueue/msg_max\0",
    b"/proc/sys/fs/mqueue/msgsize_max\0",
    b"/proc/sys/fs/mqueue/msg_default\0",
    b"/proc/sys/fs/mqueue/msgsize_default\0",
];

/// Longest value of one of [`SETTINGS`].
const MAX_SETTING: usize = 80;

/// What the roots of all runs are made of.
pub(crate) struct Roots {
    archive: &'static [u8],
    disk: Disk,
    /// The agent's own namespaces, as far as the kernel has them.
    own: [Option<usize>; NAMESPACES.len()],
    settings: [[u8; MAX_SETTING]; SETTINGS.len()],
}

impl Roots {
    /// For runs with these files and this disk; the archive must be whole.
    pub(crate) fn new(archive: &'static [u8], disk: Disk) -> Result<Self, Trouble> {
        for record in Records::of(archive) {
            record.map_err(|error| Text::format(format_args!("the job's files: {error}")))?;
        }
        let own = NAMESPACES.map(|(_, path)| sys::open(CStr::new(path), flag::O_RDONLY, 0).ok());
        if own[0].is_none() {
            return Err(Text::format(format_args!(
                "this kernel has no /proc/self/ns/mnt, by which each run has files of its own: \
                 set CONFIG_PROC_FS"
            )));
        }
        let _ = sys::mkdir(CStr::new(PLACE), 0o755);
        Ok(Self { archive, disk, own, settings: SETTINGS.map(setting) })
    }

    /// What a root of this program, with this disk, shows of it.
    pub(crate) fn tried(job: &Job<'static>, disk: Disk) -> Result<Held, Refusal> {
        let trouble = |text: Trouble| (UnmetCause::Refused, text);
        let roots = Self::new(job.archive, disk).map_err(trouble)?;
        roots.enter().map_err(trouble)?;
        let shown = disk.prove_mount(job.executable);
        roots.leave().map_err(trouble)?;
        roots.forget();
        shown
    }

    /// Makes a fresh root, and this process one that lives there.
    pub(crate) fn enter(&self) -> Result<(), Trouble> {
        self.disk.make().map_err(|(_, why)| why)?;
        for ((namespace, _), own) in NAMESPACES.iter().zip(&self.own) {
            if own.is_some() {
                sys::unshare(*namespace).map_err(|error| failed("namespace", error))?;
            }
        }
        self.keep_settings();
        mount(b"tmpfs\0", PLACE)?;
        sys::change_folder(CStr::new(PLACE)).map_err(|error| failed("folder", error))?;
        sys::change_mode(HERE, 0o755).map_err(|error| failed("mode", error))?;
        let _ = sys::mask(NO_MASK);
        self.disk.unpack(self.archive)?;
        self.disk.mount()?;
        devices::copy();
        show_far()?;
        let _ = sys::mask(USUAL_MASK);
        sys::move_mount(HERE, TOP).map_err(|error| failed("root", error))?;
        sys::change_root(HERE).map_err(|error| failed("root", error))?;
        guest::mount_kernels_own();
        for (place, kind) in [(&b"/dev/pts\0"[..], &b"devpts\0"[..]), (b"/dev/shm\0", b"tmpfs\0")] {
            let _ = sys::mkdir(CStr::new(place), 0o755);
            // A program that does not need them must not fail for what a kernel lacks.
            let _ = mount(kind, place);
        }
        Ok(())
    }

    /// The folder in which a program is started.
    pub(crate) fn folder(&self) -> CStr<'static> {
        self.disk.folder()
    }

    /// Makes this process one that lives in the agent's own root again. With the last process of a
    /// namespace all is gone that was in it.
    pub(crate) fn leave(&self) -> Result<(), Trouble> {
        for own in self.own.iter().flatten() {
            sys::enter_namespace(*own).map_err(|error| failed("namespace", error))?;
        }
        Ok(())
    }

    /// Closes what a trial had.
    pub(crate) fn forget(self) {
        for own in self.own.iter().flatten() {
            let _ = sys::close(*own);
        }
    }

    /// Gives the new namespace the settings that the agent's own one had.
    fn keep_settings(&self) {
        for (path, kept) in SETTINGS.iter().zip(&self.settings) {
            if setting(path) == *kept {
                continue;
            }
            if let Ok(fd) = sys::open(CStr::new(path), flag::O_WRONLY, 0) {
                let length = kept.iter().position(|byte| *byte == 0).unwrap_or(kept.len());
                let _ = sys::write(fd, &kept[..length]);
                let _ = sys::close(fd);
            }
        }
    }
}

/// Where a run finds the far network namespace, in the folder that it is made in: there `ip netns`
/// looks for it.
fn show_far() -> Result<(), Trouble> {
    if !far::is_there() {
        return Ok(());
    }
    let place = CStr::new(b"run/netns/far\0");
    for folder in [&b"run\0"[..], b"run/netns\0", b"var\0"] {
        let _ = sys::mkdir(CStr::new(folder), 0o755);
    }
    let _ = sys::link_symbolically(CStr::new(b"../run\0"), CStr::new(b"var/run\0"));
    sys::open(place, flag::O_WRONLY | flag::O_CREAT, 0o444)
        .and_then(sys::close)
        .and_then(|_| sys::bind_mount(CStr::new(far::PLACE), place))
        .map(drop)
        .map_err(|error| failed("far network namespace", error))
}

const HERE: CStr<'static> = CStr::new(b".\0");
const TOP: CStr<'static> = CStr::new(b"/\0");

fn failed(what: &str, error: i32) -> Trouble {
    Text::format(format_args!("a run's own {what} is not available (error {error})"))
}

fn mount(kind: &[u8], place: &[u8]) -> Result<(), Trouble> {
    let (kind, place) = (CStr::new(kind), CStr::new(place));
    sys::mount(kind, place, kind).map(drop).map_err(|error| failed("file system", error))
}

/// What a setting holds; nothing if there is none.
fn setting(path: &[u8]) -> [u8; MAX_SETTING] {
    let mut value = [0; MAX_SETTING];
    if contents(CStr::new(path), &mut value).is_err() {
        value = [0; MAX_SETTING];
    }
    value
}
