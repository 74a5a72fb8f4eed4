//! The file system that the program of `run` begins in.

use std::fmt;

use crate::condition::error::ConditionError;
use crate::condition::tool::{Sources, Tool};

/// Largest RAM disk, in MiB.
const MAX_MIB: u32 = 16 << 10;
/// The read-only file system that has the program's files.
const SQUASHFS: &str = "squashfs";
/// The module that has RAM disks, and what begins its parameters on the command line.
const MODULE: &str = "brd";

/// The file system that the program of `run` begins in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disk {
    /// All of its root is an overlay of its files and a folder, both in memory.
    Overlay,
    /// The same, with its files in a squashfs on the kernel's RAM disk, which this program makes.
    Squashfs(Tool),
    /// It begins in one on the kernel's RAM disk.
    Made {
        /// The disk's size, in MiB.
        mib: u32,
        /// The program that makes the file system, whose name is that of the program.
        maker: Tool,
    },
}

impl Disk {
    /// Reads `overlay`, `squashfs`, or a file system and its size, such as `ext4:64M`.
    pub(super) fn parse(text: &str, sources: &impl Sources) -> Result<Self, ConditionError> {
        let wrong = || ConditionError::Disk(format!("disk:{text}"));
        if text == "overlay" {
            return Ok(Self::Overlay);
        }
        if text == SQUASHFS {
            return sources.maker(text).ok_or_else(wrong)?.map(Self::Squashfs);
        }
        let (kind, size) = text.split_once(':').ok_or_else(wrong)?;
        let mib = size.strip_suffix('M').map(|number| (number, 1));
        let (number, unit) =
            mib.or(size.strip_suffix('G').map(|number| (number, 1024))).ok_or_else(wrong)?;
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
        let mib = number.parse::<u32>().ok().and_then(|number| number.checked_mul(unit));
        let mib = mib.filter(|mib| is_number && (1..=MAX_MIB).contains(mib)).ok_or_else(wrong)?;
        let maker = sources.maker(kind).filter(|_| kind != SQUASHFS).ok_or_else(wrong)?;
        Ok(Self::Made { mib, maker: maker? })
    }

    /// The type of its file system.
    pub(super) fn kind(&self) -> &str {
        match self {
            Self::Overlay => "overlay",
            Self::Squashfs(maker) | Self::Made { maker, .. } => &maker.name,
        }
    }

    /// How the agent reads it.
    pub(super) fn as_read(&self) -> String {
        match self {
            Self::Overlay => String::new(),
            Self::Squashfs(maker) => format!("/{}", maker.file()),
            Self::Made { mib, maker } => format!("{mib} /{}", maker.file()),
        }
    }

    pub(super) fn modules(&self) -> &[&'static str] {
        match self {
            Self::Overlay => &["overlay"],
            Self::Squashfs(maker) | Self::Made { maker, .. } => maker.modules,
        }
    }

    pub(super) fn maker(&self) -> Option<&Tool> {
        match self {
            Self::Overlay => None,
            Self::Squashfs(maker) | Self::Made { maker, .. } => Some(maker),
        }
    }

    /// The parameters of this module, unless it has none.
    pub(super) fn parameters(&self, module: &str) -> Option<String> {
        self.sizes().filter(|_| module == MODULE).map(|sizes| sizes.join(" "))
    }

    /// Words of the command line, for a kernel of which the module is a part.
    pub(super) fn words(&self) -> Option<String> {
        self.sizes().map(|sizes| sizes.map(|size| format!("{MODULE}.{size}")).join(" "))
    }

    fn sizes(&self) -> Option<[String; 2]> {
        let mib = match self {
            Self::Overlay => return None,
            // It takes pages of memory only as they are written.
            Self::Squashfs(_) => MAX_MIB,
            Self::Made { mib, .. } => *mib,
        };
        Some(["rd_nr=1".to_owned(), format!("rd_size={}", mib * 1024)])
    }
}

impl fmt::Display for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overlay => f.write_str("overlay"),
            Self::Squashfs(maker) => f.write_str(&maker.name),
            Self::Made { mib, maker } => write!(f, "{}:{mib}M", maker.name),
        }
    }
}
