//! Programs of this machine that make the file system of a guest's disk.
//!
//! Contract: as [`crate::condition::sources`]. None of them leaves work to the kernel that
//! would go on in the background, or gives blocks back to the RAM disk.

use std::ffi::OsString;
use std::path::Path;

use pathmeter_pack::{FileArg, Packing, pack};
use pathmeter_vm::Tool;

use crate::condition::tool::{job, program};
use crate::digest::sha256;

/// A program that makes a file system on the guest's `/dev/ram0`.
struct Maker {
    /// The type of the file system.
    kind: &'static str,
    command: &'static [&'static str],
    /// The environment variables it gets.
    environment: &'static [(&'static str, &'static str)],
    /// What it reads beside, if this machine has it.
    settings: Option<&'static str>,
    /// Modules of the kernel's, without which there is no such disk.
    modules: &'static [&'static str],
    /// Debian's package that has it.
    package: &'static str,
}

const LATER: &str = "nodiscard,lazy_itable_init=0,lazy_journal_init=0";

/// The image has the program's files as the guest has them otherwise, and the same bytes each time:
/// all times are that of the agent's files (`unpack.rs` there).
const SQUASHFS: &[&str] = &[
    "mksquashfs",
    "/files",
    "/dev/ram0",
    "-noappend",
    "-no-progress",
    "-quiet",
    "-no-xattrs",
    "-processors",
    "1",
    "-mem",
    "32M",
    "-mkfs-time",
    "1577836800",
    "-all-time",
    "1577836800",
];

const MAKERS: [Maker; 4] = [
    Maker {
        kind: "ext4",
        command: &["mkfs.ext4", "-q", "-F", "-E", LATER, "/dev/ram0"],
        environment: &[],
        settings: Some("/etc/mke2fs.conf"),
        modules: &["brd", "ext4"],
        package: "e2fsprogs",
    },
    Maker {
        kind: "xfs",
        command: &["mkfs.xfs", "-q", "-f", "-K", "/dev/ram0"],
        // As xfstests has them, for disks of less than 300 MiB (xfsprogs `mkfs/xfs_mkfs.c`,
        // `validate_supported`).
        environment: &[("TEST_DIR", "/"), ("TEST_DEV", "/dev/ram0"), ("QA_CHECK_FS", "1")],
        settings: None,
        modules: &["brd", "xfs"],
        package: "xfsprogs",
    },
    Maker {
        kind: "btrfs",
        command: &["mkfs.btrfs", "-q", "-f", "-K", "/dev/ram0"],
        environment: &[],
        settings: None,
        modules: &["brd", "btrfs"],
        package: "btrfs-progs",
    },
    Maker {
        kind: "squashfs",
        command: SQUASHFS,
        environment: &[],
        settings: None,
        modules: &["brd", "squashfs", "overlay"],
        package: "squashfs-tools",
    },
];

/// The program that makes a file system of this type, if there is one.
///
/// # Errors
/// This machine lacks it, or it can't be packed.
pub(crate) fn maker(kind: &str) -> Option<Result<Tool, String>> {
    MAKERS.iter().find(|maker| maker.kind == kind).map(Maker::tool)
}

impl Maker {
    fn tool(&self) -> Result<Tool, String> {
        let program = program(self.command[0], self.package)?;
        let words = self.command[1..].iter().map(OsString::from);
        let command: Vec<OsString> = std::iter::once(program.into()).chain(words).collect();
        let settings = self.settings.map(Path::new).filter(|file| file.is_file());
        let file = |file: &Path| FileArg { source: file.to_owned(), destination: None };
        let files: Vec<_> = settings.map(file).into_iter().collect();
        let env = self.environment.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let env: Vec<_> = env.collect();
        let packing =
            Packing { command: &command, root: None, files: &files, env: &env, stdin: None };
        let packed = pack(&packing).map_err(|error| error.to_string())?;
        let (job, name) = (job(&packed), self.kind.to_owned());
        Ok(Tool { kind: "mkfs", name, sha256: sha256(&job), job, modules: self.modules })
    }
}
