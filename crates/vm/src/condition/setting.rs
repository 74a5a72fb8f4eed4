//! One setting of a condition: what it is, how the agent reads it, and which files show it.

use std::borrow::Cow;
use std::fmt;

use pathmeter_wire::condition::{DEPTH, SettingKind};

use crate::condition::disk::Disk;
use crate::condition::filter::{Filter, Ruleset};
use crate::condition::proof::Question;
use crate::condition::tool::Tool;

/// One setting of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// A word of the kernel's command line.
    Boot(String),
    Sysctl {
        /// Its name, as sysctl(8) takes it.
        name: String,
        value: String,
    },
    /// A filter that each system call of what is measured passes through.
    Seccomp(Filter),
    /// A file of the control group that what is measured is in.
    Cgroup {
        /// Its name, such as `memory.max`; `depth` is the number of groups, each in the one before.
        name: String,
        /// Its value, as the kernel takes it.
        value: String,
    },
    /// A file below `/sys`.
    Sysfs {
        /// The file's path below `/sys`.
        path: String,
        value: String,
    },
    /// So many layers of Landlock that allow all, which measured processes restrict themselves by.
    Landlock(u8),
    /// A ruleset of Landlock, which they restrict themselves by.
    Ruleset(Ruleset),
    /// So many audit rules that match nothing.
    Audit(u32),
    /// So many rules of nftables that match no packet.
    Nft(u32),
    /// Client and server in two network namespaces, joined so.
    Netns(Netns),
    /// A tracepoint that is on, `GROUP:EVENT`.
    Tracepoint(String),
    /// A probe at the entry of this function.
    Kprobe(String),
    /// The calls of this function are traced.
    Ftrace(String),
    /// A module of the kernel's, loaded with all that it needs.
    Module(String),
    /// What a program makes of a file of the user's.
    Tool(Tool),
    /// BPF programs that do nothing.
    Bpf {
        /// Their type and what they are attached to, as in `fentry:vfs_read`.
        place: String,
        programs: u32,
    },
    /// The file system that the program of `run` begins in.
    Disk(Disk),
    /// A probe at a function of the program of `run`.
    Uprobe {
        /// The guest's path of the program, or of a library that it uses.
        file: String,
        /// The name of the function.
        symbol: String,
        /// Where in the file it is; not known without the program.
        offset: Option<u64>,
    },
}

/// What joins two network namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Netns {
    /// A pair of veth devices.
    Veth,
    /// Two pairs, and a bridge of which an end of each is a port.
    Bridge,
}

impl Netns {
    pub(super) const ALL: [Self; 2] = [Self::Veth, Self::Bridge];

    /// Its name, which stands after the colon.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Veth => "veth",
            Self::Bridge => "bridge",
        }
    }
}

impl Setting {
    /// Whether each run of a program has it by itself.
    pub(super) fn is_of_run(&self) -> bool {
        matches!(self, Self::Disk(_) | Self::Uprobe { .. })
    }

    /// The files that show whether it took effect.
    pub(super) fn questions(&self) -> Vec<Question> {
        match self {
            Self::Boot(word) => Question::of_word(word),
            Self::Sysctl { name, .. } => {
                vec![Question::held(sysctl_path(name))]
            }
            Self::Cgroup { name, .. } if name == DEPTH => {
                vec![Question::held("/proc/self/cgroup".to_owned())]
            }
            Self::Cgroup { name, .. } => vec![Question::held(format!("/cgroup/measured/{name}"))],
            Self::Sysfs { path, .. } => vec![Question::held(format!("/sys/{path}"))],
            Self::Landlock(_)
            | Self::Ruleset(_)
            | Self::Audit(_)
            | Self::Nft(_)
            | Self::Netns(_)
            | Self::Tracepoint(_)
            | Self::Kprobe(_)
            | Self::Ftrace(_)
            | Self::Module(_)
            | Self::Tool(_)
            | Self::Bpf { .. }
            | Self::Disk(_)
            | Self::Uprobe { .. } => vec![Question::for_agent(self.to_string())],
            Self::Seccomp(_) => Vec::new(),
        }
    }

    /// The kernel's modules without which it can't be made, unless they are parts of the kernel.
    pub(super) fn needs(&self) -> Vec<&str> {
        match self {
            Self::Module(name) => vec![name],
            Self::Nft(_) => vec!["nf_tables"],
            Self::Netns(Netns::Veth) => vec!["veth"],
            Self::Netns(Netns::Bridge) => vec!["veth", "bridge"],
            Self::Tool(tool) => tool.modules.to_vec(),
            Self::Disk(disk) => disk.modules().to_vec(),
            _ => Vec::new(),
        }
    }

    /// Whether the agent shows it as soon as it has made it.
    pub(super) fn is_written(&self) -> bool {
        !matches!(self, Self::Boot(_) | Self::Seccomp(_))
    }

    pub(super) fn kind(&self) -> SettingKind {
        match self {
            Self::Boot(_) => SettingKind::Boot,
            Self::Sysctl { .. } => SettingKind::Sysctl,
            Self::Seccomp(_) => SettingKind::Seccomp,
            Self::Cgroup { .. } => SettingKind::Cgroup,
            Self::Sysfs { .. } => SettingKind::Sysfs,
            Self::Landlock(_) | Self::Ruleset(_) => SettingKind::Landlock,
            Self::Audit(_) => SettingKind::Audit,
            Self::Nft(_) => SettingKind::Nft,
            Self::Netns(_) => SettingKind::Netns,
            Self::Tracepoint(_) => SettingKind::Tracepoint,
            Self::Kprobe(_) => SettingKind::Kprobe,
            Self::Ftrace(_) => SettingKind::Ftrace,
            Self::Module(_) => SettingKind::Module,
            Self::Tool(_) => SettingKind::Tool,
            Self::Bpf { .. } => SettingKind::Bpf,
            Self::Disk(_) => SettingKind::Disk,
            Self::Uprobe { .. } => SettingKind::Uprobe,
        }
    }

    pub(super) fn value(&self) -> &str {
        match self {
            Self::Boot(word) => word.split_once('=').map_or("", |(_, value)| value),
            Self::Sysctl { value, .. } | Self::Cgroup { value, .. } | Self::Sysfs { value, .. } => {
                value
            }
            _ => "",
        }
    }

    /// Whether the other one would undo it, or be undone.
    pub(super) fn sets_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Boot(one), Self::Boot(other)) => parameter(one) == parameter(other),
            (Self::Sysctl { name, .. }, Self::Sysctl { name: other, .. }) => {
                sysctl_path(name) == sysctl_path(other)
            }
            (Self::Cgroup { name, .. }, Self::Cgroup { name: other, .. }) => name == other,
            (Self::Sysfs { path, .. }, Self::Sysfs { path: other, .. }) => path == other,
            (Self::Seccomp(_), Self::Seccomp(_))
            | (Self::Landlock(_) | Self::Ruleset(_), Self::Landlock(_) | Self::Ruleset(_))
            | (Self::Audit(_), Self::Audit(_))
            | (Self::Nft(_), Self::Nft(_))
            | (Self::Netns(_), Self::Netns(_))
            | (Self::Disk(_), Self::Disk(_)) => true,
            (Self::Tracepoint(one), Self::Tracepoint(other))
            | (Self::Kprobe(one), Self::Kprobe(other))
            | (Self::Ftrace(one), Self::Ftrace(other))
            | (Self::Module(one), Self::Module(other)) => one == other,
            (Self::Tool(one), Self::Tool(other)) => one.file() == other.file(),
            (Self::Bpf { place, .. }, Self::Bpf { place: other, .. }) => place == other,
            (Self::Uprobe { .. }, Self::Uprobe { .. }) => self == other,
            _ => false,
        }
    }

    /// Its name and value, as the agent reads them.
    pub(super) fn as_read(&self) -> (Cow<'_, str>, String) {
        match self {
            Self::Tool(tool) => (format!("/{}", tool.file()).into(), String::new()),
            Self::Disk(disk) => (disk.kind().into(), disk.as_read()),
            Self::Boot(word) => (word.into(), String::new()),
            Self::Sysctl { name, value } | Self::Cgroup { name, value } => {
                (name.into(), value.clone())
            }
            Self::Sysfs { path, value } => (path.into(), value.clone()),
            Self::Landlock(layers) => ("".into(), layers.to_string()),
            Self::Audit(rules) | Self::Nft(rules) => ("".into(), rules.to_string()),
            Self::Netns(form) => (form.name().into(), String::new()),
            Self::Tracepoint(name)
            | Self::Kprobe(name)
            | Self::Ftrace(name)
            | Self::Module(name) => (name.into(), String::new()),
            Self::Bpf { place, programs } => (place.into(), programs.to_string()),
            Self::Uprobe { file, offset, .. } => {
                (file.into(), offset.map_or_else(String::new, |offset| format!("{offset:#x}")))
            }
            // They are in a file of their own.
            Self::Seccomp(_) | Self::Ruleset(_) => ("".into(), String::new()),
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boot(word) => write!(f, "boot:{word}"),
            Self::Sysctl { name, value } => write!(f, "sysctl:{name}={value}"),
            Self::Seccomp(filter) => write!(f, "seccomp:{}", filter.name),
            Self::Cgroup { name, value } => write!(f, "cgroup:{name}={}", value.replace(' ', ",")),
            Self::Sysfs { path, value } => write!(f, "sysfs:{path}={value}"),
            Self::Landlock(layers) => write!(f, "landlock:{layers}"),
            Self::Ruleset(ruleset) => write!(f, "landlock:{}", ruleset.name),
            Self::Audit(rules) | Self::Nft(rules) => write!(f, "{}:{rules}", self.kind().name()),
            Self::Netns(form) => write!(f, "netns:{}", form.name()),
            Self::Tracepoint(name)
            | Self::Kprobe(name)
            | Self::Ftrace(name)
            | Self::Module(name) => write!(f, "{}:{name}", self.kind().name()),
            Self::Tool(tool) => write!(f, "{}:{}", tool.kind, tool.name),
            Self::Disk(disk) => write!(f, "disk:{disk}"),
            Self::Uprobe { file, symbol, .. } => write!(f, "uprobe:{file}:{symbol}"),
            Self::Bpf { place, programs: 1 } => write!(f, "bpf:{place}"),
            Self::Bpf { place, programs } => write!(f, "bpf:{place}={programs}"),
        }
    }
}

/// The file of a sysctl, as the agent has it: dots separate, unless there are slashes.
pub(super) fn sysctl_path(name: &str) -> String {
    let path = if name.contains('/') { name.to_owned() } else { name.replace('.', "/") };
    format!("/proc/sys/{path}")
}

/// The parameter of a word.
pub(super) fn parameter(word: &str) -> String {
    // Linux takes both for the same in names (`kernel/params.c`, `dash2underscore`).
    word.split('=').next().unwrap_or_default().replace('-', "_")
}
