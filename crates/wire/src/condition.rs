//! The condition: what the agent sees to before anything is measured, in the file `/condition`.
//!
//! Fields one after the other, each ended by a NUL byte: first what the file is, then three for
//! each setting, its kind, its name and its value.
//!
//! ```text
//! pathmeter condition 1␀ boot␀ mitigations=off␀ ␀ sysctl␀ kernel.randomize_va_space␀ 0␀
//! ```
//!
//! After the settings come the files that show whether they took effect, which the agent sends
//! parts of: of each its path, and what a line must hold to be sent. Before them it shows what it
//! made, in the order of the settings: of a file that was written, what it holds then.
//!
//! Before all settings come the files of the kernel's modules that they need, in the order in which
//! they are loaded: `load`, the path, and the module's parameters, or `?` if it may refuse. A
//! program that sets something is a file as [`crate::job`] describes it: `tool` and its path. Of a
//! disk there are the type of its file system and, unless it is an overlay, its size in MiB, a
//! space, and the path of the program that makes the file system; of a squashfs the path alone.
//!
//! A boot word has no value of its own: the kernel was given it already, and the agent finds out
//! whether it knew it. By what each measured process restrains itself is in the file `/filter`:
//! [`Restraint`], then a ruleset of Landlock ([`crate::ruleset`]), if there is one, then the
//! program of the system-call filter as the kernel takes it, up to [`MAX_FILTER`] instructions of
//! eight bytes, none without a filter.

/// The longest file of a condition, in bytes.
pub const MAX_CONDITION: usize = 8192;
/// Most files that are shown.
pub const MAX_SHOWN: usize = 64;
/// Most bytes of one that are sent.
pub const MAX_SHOWN_TEXT: usize = 512;
/// Most instructions of a filter; Linux takes no more (`BPF_MAXINSNS`).
pub const MAX_FILTER: usize = 4096;
/// Bytes of an instruction of a filter.
pub const FILTER_INSTRUCTION: usize = 8;
/// Most layers of Landlock; Linux takes no more (`LANDLOCK_MAX_NUM_LAYERS`).
pub const MAX_LAYERS: u8 = 16;
/// Most rules of audit, and of nftables.
pub const MAX_RULES: u32 = 1000;
/// Most BPF programs at one place; Linux takes no more at a function (`BPF_MAX_TRAMP_LINKS`).
pub const MAX_PROGRAMS: u32 = 38;
/// Most control groups, each in the one before.
pub const MAX_DEPTH: u32 = 32;
/// What stands in place of a file for the number of these groups.
pub const DEPTH: &str = "depth";

/// With which flags seccomp(2) installs a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterFlags {
    /// The flags, as the kernel takes them.
    pub flags: u32,
    /// Whether a kernel that does not know them takes the filter without.
    pub may_lack: bool,
}

/// What a measured process does to itself before all else: the first eight bytes of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restraint {
    /// How the filter is installed, if there is one.
    pub flags: FilterFlags,
    /// How many layers of Landlock there are.
    pub layers: u8,
    /// Bytes of the ruleset of Landlock.
    pub ruleset: u16,
}

impl Restraint {
    /// How many bytes it has in the file.
    pub const BYTES: usize = 8;

    /// As it stands in the file.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let [a, b, c, d] = self.flags.flags.to_le_bytes();
        let [low, high] = self.ruleset.to_le_bytes();
        [a, b, c, d, u8::from(self.flags.may_lack), self.layers, low, high]
    }

    /// Reads it as it was written.
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let [a, b, c, d, may_lack, layers, low, high] = bytes;
        let flags =
            FilterFlags { flags: u32::from_le_bytes([a, b, c, d]), may_lack: may_lack != 0 };
        Self { flags, layers, ruleset: u16::from_le_bytes([low, high]) }
    }
}

/// The first field of every condition.
const MAGIC: &[u8] = b"pathmeter condition 1";

/// What kind of thing is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// A word of the kernel's command line.
    Boot,
    Sysctl,
    /// A filter of system calls.
    Seccomp,
    /// A file of the control group that what is measured is in, or how deep that group is.
    Cgroup,
    /// A file below `/sys`.
    Sysfs,
    Landlock,
    /// Rules of the kernel's audit system.
    Audit,
    /// Rules of the packet filter nftables.
    Nft,
    /// Two network namespaces, and what joins them.
    Netns,
    /// A tracepoint that is on.
    Tracepoint,
    /// A probe at a function's entry.
    Kprobe,
    /// A function whose calls are traced.
    Ftrace,
    /// A module of the kernel's that is loaded.
    Module,
    /// BPF programs that do nothing, where they are attached.
    Bpf,
    /// A probe in a file of the program of `run`.
    Uprobe,
    /// The file system that the program of `run` begins in.
    Disk,
    /// What a program of the user's machine sets.
    Tool,
    /// Nothing is set: the file of a module is loaded.
    Load,
    /// Nothing is set: lines of a file are shown.
    Show,
}

impl SettingKind {
    const ALL: [Self; 19] = [
        Self::Boot,
        Self::Sysctl,
        Self::Seccomp,
        Self::Cgroup,
        Self::Sysfs,
        Self::Landlock,
        Self::Audit,
        Self::Nft,
        Self::Netns,
        Self::Tracepoint,
        Self::Kprobe,
        Self::Ftrace,
        Self::Module,
        Self::Bpf,
        Self::Uprobe,
        Self::Disk,
        Self::Tool,
        Self::Load,
        Self::Show,
    ];
    /// Those that a user sets by their names.
    pub const SET: &[Self] = Self::ALL.split_last_chunk::<3>().unwrap().0;

    /// Its name, which stands before the colon of a setting.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Boot => "boot",
            Self::Sysctl => "sysctl",
            Self::Seccomp => "seccomp",
            Self::Cgroup => "cgroup",
            Self::Sysfs => "sysfs",
            Self::Landlock => "landlock",
            Self::Audit => "audit",
            Self::Nft => "nft",
            Self::Netns => "netns",
            Self::Tracepoint => "tracepoint",
            Self::Kprobe => "kprobe",
            Self::Ftrace => "ftrace",
            Self::Bpf => "bpf",
            Self::Uprobe => "uprobe",
            Self::Disk => "disk",
            Self::Module => "module",
            Self::Tool => "tool",
            Self::Load => "load",
            Self::Show => "show",
        }
    }
}

/// One setting, as the agent reads it: no field has a NUL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting<'a> {
    /// What kind of thing is set.
    pub kind: SettingKind,
    /// Which thing of this kind is set.
    pub name: &'a [u8],
    /// To what; empty for kinds without a value.
    pub value: &'a [u8],
}

/// The bytes are no condition as the host writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoCondition;

impl core::fmt::Display for NoCondition {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("it is not as the host writes it")
    }
}

impl core::error::Error for NoCondition {}

/// Hands a condition's text, piece by piece, to `put`; no field may have a NUL.
pub fn write<'a>(settings: impl Iterator<Item = Setting<'a>>, mut put: impl FnMut(&[u8])) {
    let mut field = |bytes: &[u8]| {
        put(bytes);
        put(&[0]);
    };
    field(MAGIC);
    for setting in settings {
        field(setting.kind.name().as_bytes());
        field(setting.name);
        field(setting.value);
    }
}

/// Reads a condition: all its settings, each of which is read without fault.
///
/// # Errors
/// Whatever the host does not write.
pub fn read(text: &[u8]) -> Result<impl Iterator<Item = Setting<'_>>, NoCondition> {
    let text = text.strip_suffix(&[0]).filter(|_| text.len() <= MAX_CONDITION);
    let mut fields = text.ok_or(NoCondition)?.split(|byte| *byte == 0);
    if fields.next() != Some(MAGIC) {
        return Err(NoCondition);
    }
    let mut check = Settings(fields.clone());
    while check.0.clone().next().is_some() {
        check.next().ok_or(NoCondition)?;
    }
    Ok(Settings(fields))
}

/// The fields that are left.
#[derive(Clone)]
struct Settings<F>(F);

impl<'a, F: Iterator<Item = &'a [u8]>> Iterator for Settings<F> {
    type Item = Setting<'a>;

    fn next(&mut self) -> Option<Setting<'a>> {
        let kind = self.0.next()?;
        let kind = SettingKind::ALL.into_iter().find(|known| known.name().as_bytes() == kind)?;
        Some(Setting { kind, name: self.0.next()?, value: self.0.next()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encode_settings(settings: &[Setting<'_>]) -> Vec<u8> {
        let mut text = Vec::new();
        write(settings.iter().copied(), |piece| text.extend_from_slice(piece));
        text
    }

    const SETTINGS: [Setting<'static>; 3] = [
        Setting { kind: SettingKind::Cgroup, name: b"cpu.max", value: b"50000 100000" },
        Setting { kind: SettingKind::Boot, name: b"mitigations=off", value: b"" },
        Setting { kind: SettingKind::Sysctl, name: b"kernel.x", value: b"0" },
    ];

    #[test]
    fn settings_are_read_back_and_none_is_one_field() {
        let text = encode_settings(&SETTINGS);
        let read: Vec<_> = super::read(&text).unwrap().collect();
        assert_eq!(read, SETTINGS);
        assert_eq!(encode_settings(&[]), b"pathmeter condition 1\0");
        assert_eq!(super::read(&encode_settings(&[])).unwrap().count(), 0);
    }

    #[test]
    fn a_condition_that_is_cut_is_refused() {
        let text = encode_settings(&SETTINGS);
        for length in 0..text.len() {
            let whole = super::read(&text[..length]).map(Iterator::count);
            // Only where a setting ends is what is left a condition, of fewer settings.
            assert!(whole.is_err() || whole.unwrap() < SETTINGS.len(), "{length}");
        }
        assert!(super::read(b"pathmeter condition 1\0boot\0x\0").is_err());
        assert!(super::read(b"pathmeter condition 1\0root\0x\0\0").is_err());
        assert!(super::read(&[b'x'; MAX_CONDITION + 1]).is_err());
    }

    #[test]
    fn a_restraint_is_read_back() {
        for (flags, may_lack, layers) in [(0, false, 16), (4, true, 0), (u32::MAX, true, 1)] {
            let flags = FilterFlags { flags, may_lack };
            let written = Restraint { flags, layers, ruleset: 0x1234 };
            assert_eq!(Restraint::from_bytes(written.to_bytes()), written);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = super::read(&bytes).map(Iterator::count);
            let text = [&b"pathmeter condition 1\0"[..], &bytes].concat();
            let _ = super::read(&text).map(Iterator::count);
        }
    }
}
