//! The condition that a kernel is measured under: words of its command line, sysctls, files below
//! `/sys`, a filter of system calls, layers of Landlock, audit rules, control groups. As a user
//! writes it, as the agent reads it, and what the kernel made of it.

mod error;
mod module;
pub(crate) mod proof;
mod tool;

use std::borrow::Cow;
use std::fmt;

use pathmeter_wire::condition::{
    self, DEPTH, FILTER_INSTRUCTION, FilterFlags, MAX_CONDITION, MAX_DEPTH, MAX_FILTER, MAX_LAYERS,
    MAX_PROGRAMS, MAX_RULES, MAX_SHOWN, Restraint, SettingKind,
};
use pathmeter_wire::message::UnmetCause as Reported;

use crate::arch::OWN_WORDS;
use crate::cache::entry::sha256;
use crate::condition::proof::{Ignored, Proof, ProofState, Question, Read};
use crate::console::Tail;

pub use error::ConditionError;
pub use module::Module;
use tool::HASH_DIGITS;
pub use tool::{Sources, Tool};

/// Longest words of a condition for the command line together, in bytes.
const MAX_WORDS: usize = 1024;
/// Longest path below `/sys`, in bytes: the agent takes no longer one.
const MAX_SYSFS: usize = 240;
/// Begins words that a kernel takes and that mean nothing, on purpose: with them its data is laid
/// out otherwise. Nothing is asked of them.
pub const WITHOUT_MEANING: &str = "printk.pathmeter";

/// What a kernel is measured under, beside its machine; the default is nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    settings: Vec<Setting>,
    /// The modules that the kernel lacks for them, in the order in which they are loaded.
    modules: Vec<Module>,
}

/// One setting of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// A word of the kernel's command line.
    Boot(String),
    /// A sysctl.
    Sysctl {
        /// Its name, as sysctl(8) takes it.
        name: String,
        /// Its value.
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
        /// Its path there.
        path: String,
        /// Its value.
        value: String,
    },
    /// So many layers of Landlock that allow all, which measured processes restrict themselves by.
    Landlock(u8),
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
        /// How many there are.
        programs: u32,
    },
    /// A probe at a function of the program of `run`.
    Uprobe {
        /// The guest's path of the program, or of a library that it uses.
        file: String,
        /// The function.
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
    /// All of them.
    const ALL: [Self; 2] = [Self::Veth, Self::Bridge];

    /// Its name, which stands after the colon.
    fn name(self) -> &'static str {
        match self {
            Self::Veth => "veth",
            Self::Bridge => "bridge",
        }
    }
}

/// A filter of system calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// How it is shown.
    pub name: String,
    /// How it is installed.
    pub flags: FilterFlags,
    /// The program, as the kernel takes it.
    pub program: Vec<u8>,
}

impl Filter {
    /// The file in which a program on a live host finds it.
    pub fn file(&self) -> Vec<u8> {
        restraint(0, Some(self))
    }
}

/// The file in which the agent finds by what measured processes restrain themselves.
fn restraint(layers: u8, filter: Option<&Filter>) -> Vec<u8> {
    let flags = filter.map_or(FilterFlags { flags: 0, may_lack: false }, |filter| filter.flags);
    let head = Restraint { flags, layers }.to_bytes();
    [&head[..], filter.map_or(&[], |filter| &filter.program)].concat()
}

impl Condition {
    /// Reads a condition; `sources` makes filters and programs of the files that the user named.
    ///
    /// # Errors
    /// What is no setting, or contradicts another one.
    pub fn parse(text: &str, sources: impl Sources) -> Result<Self, ConditionError> {
        if text.trim() == "default" {
            return Ok(Self::default());
        }
        let words = text.split_whitespace();
        let settings = words.map(|word| Setting::parse(word, &sources));
        Self::of(settings.collect::<Result<_, _>>()?)
    }

    /// A condition of these settings.
    fn of(settings: Vec<Setting>) -> Result<Self, ConditionError> {
        for (number, setting) in settings.iter().enumerate() {
            if let Some(other) = settings[..number].iter().find(|other| other.sets_same(setting)) {
                return Err(ConditionError::Twice(other.to_string(), setting.to_string()));
            }
        }
        let condition = Self { settings, modules: Vec::new() };
        let shown = condition.reads().len();
        let long = condition.words().len() > MAX_WORDS || condition.file().len() > MAX_CONDITION;
        if long || shown > MAX_SHOWN {
            return Err(ConditionError::Long);
        }
        Ok(condition)
    }

    /// This one and another one together.
    ///
    /// # Errors
    /// Both set the same, or together they are longer than a guest takes.
    pub fn and(&self, other: &Self) -> Result<Self, ConditionError> {
        Self::of([&self.settings[..], &other.settings[..]].concat())
    }

    /// A condition of these modules of the kernel's.
    ///
    /// # Errors
    /// A name that no module has, or one twice.
    pub fn of_modules(names: &[String]) -> Result<Self, ConditionError> {
        let module = |name: &String| {
            let known = module(name).map(Setting::Module);
            known.ok_or_else(|| ConditionError::Module(format!("module:{name}")))
        };
        Self::of(names.iter().map(module).collect::<Result<_, _>>()?)
    }

    /// The same, with the modules that the kernel lacks for it.
    #[must_use]
    pub fn with_modules(self, modules: Vec<Module>) -> Self {
        Self { modules, ..self }
    }

    /// The modules that are loaded for it.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// Modules without which a kernel can't have its settings, unless they are parts of it: those
    /// that the user named, or those that other settings need.
    pub fn needs(&self, named: bool) -> impl Iterator<Item = &str> {
        let settings = self.settings.iter();
        let these = settings.filter(move |it| matches!(it, Setting::Module(_)) == named);
        these.flat_map(Setting::needs)
    }

    /// Whether there are any, named or not.
    pub fn needs_modules(&self) -> bool {
        self.needs(true).chain(self.needs(false)).next().is_some()
    }

    /// The same, with each uprobe's offset in its file, which `find` finds by file and symbol.
    ///
    /// # Errors
    /// Those of `find`.
    pub fn with_offsets<E>(&self, find: impl Fn(&str, &str) -> Result<u64, E>) -> Result<Self, E> {
        let mut found = self.clone();
        for setting in &mut found.settings {
            if let Setting::Uprobe { file, symbol, offset } = setting {
                *offset = Some(find(file, symbol)?);
            }
        }
        Ok(found)
    }

    /// Its settings, in the order in which they are made.
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// Whether nothing is set.
    pub fn is_default(&self) -> bool {
        self.settings.is_empty()
    }

    /// Whether it has words of the kernel's command line.
    pub fn is_of_boot(&self) -> bool {
        self.settings.iter().any(|setting| matches!(setting, Setting::Boot(_)))
    }

    /// What two results must have in common to have been measured under the same condition: a
    /// filter by the hash of its flags and program. Empty for the default.
    pub fn fingerprint(&self) -> String {
        let of = |setting: &Setting| match setting {
            Setting::Seccomp(filter) => {
                format!("seccomp:{}", &sha256(&filter.file())[..HASH_DIGITS])
            }
            Setting::Tool(tool) => format!("{}:{}", tool.kind, tool.hash()),
            setting => setting.to_string(),
        };
        self.settings.iter().map(of).collect::<Vec<_>>().join(" ")
    }

    /// Its words for the kernel's command line.
    pub(crate) fn words(&self) -> String {
        let word = |setting: &Setting| match setting {
            Setting::Boot(word) => Some(word.clone()),
            _ => None,
        };
        self.settings.iter().filter_map(word).collect::<Vec<_>>().join(" ")
    }

    /// The file by which the agent knows it.
    fn file(&self) -> Vec<u8> {
        let mut text = Vec::new();
        let reads = self.reads();
        // What it has made the agent shows in any case.
        let held = self.settings.iter().filter(|setting| setting.is_written()).count();
        let shown = reads[held..].iter().map(|(path, part)| (SettingKind::Show, &**path, *part));
        let files: Vec<String> = self.modules.iter().map(|it| format!("/{}", it.file())).collect();
        let files = self.modules.iter().zip(&files);
        let loads = files.map(|(module, file)| {
            (SettingKind::Load, &**file, if module.optional { "?" } else { "" })
        });
        let made: Vec<_> = self.settings.iter().map(|it| (it.kind(), it.as_read())).collect();
        let made = made.iter().map(|(kind, (name, value))| (*kind, &**name, &**value));
        let settings = loads.chain(made).chain(shown).map(|(kind, name, value)| {
            condition::Setting { kind, name: name.as_bytes(), value: value.as_bytes() }
        });
        condition::write(settings, |piece| text.extend(piece));
        text
    }

    /// Its files in the guest, by their paths.
    pub(crate) fn files(&self) -> Vec<(String, Cow<'_, [u8]>)> {
        let restraint = self.restraint().map(|it| ("filter".to_owned(), it.into()));
        let own = [("condition".to_owned(), self.file().into())].into_iter().chain(restraint);
        let modules = self.modules.iter().map(|it| (it.file(), Cow::Borrowed(&*it.bytes)));
        let tools = self.tools().map(|it| (it.file(), Cow::Borrowed(&*it.job)));
        own.chain(modules).chain(tools).collect()
    }

    fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.settings.iter().filter_map(|setting| match setting {
            Setting::Tool(tool) => Some(tool),
            _ => None,
        })
    }

    /// What of the guest's files its fingerprint does not tell: those of modules, and of programs.
    pub(crate) fn hashes(&self) -> String {
        let modules = self.modules.iter().map(|it| (&it.name, sha256(&it.bytes)));
        let tools = self.tools().map(|it| (&it.name, sha256(&it.job)));
        modules.chain(tools).map(|(name, hash)| format!(" {name} {hash}")).collect()
    }

    /// The files that show whether its settings took effect, and what of them is read; each once.
    /// What the agent shows as soon as it has made a setting comes first.
    pub(crate) fn reads(&self) -> Vec<(String, &'static str)> {
        let mut reads: Vec<(String, &'static str)> = Vec::new();
        let (written, others): (Vec<_>, Vec<_>) =
            self.settings.iter().partition(|setting| setting.is_written());
        for question in written.into_iter().chain(others).flat_map(Setting::questions) {
            for (path, part) in question.reads() {
                if !reads.iter().any(|read| read.0 == path && read.1 == part) {
                    reads.push((path.to_owned(), part));
                }
            }
        }
        reads
    }

    /// What these files prove in a guest with so much memory, in MiB.
    ///
    /// # Errors
    /// A setting that the kernel ignored.
    pub(crate) fn proofs(&self, read: &[Read], memory_mib: u32) -> Result<Vec<Proof>, Unmet> {
        let prove = |setting: &Setting| {
            let name = setting.to_string();
            if let Setting::Seccomp(_) = setting {
                let shown = "a process took the filter by seccomp(2)".to_owned();
                return Ok(Proof { setting: name, state: ProofState::Proved, shown });
            }
            let questions = setting.questions();
            let proof = proof::prove(name, setting.value(), &questions, (read, memory_mib));
            proof.map_err(|Ignored { what, help, unseen }| {
                let cause = if unseen { UnmetCause::Unseen } else { UnmetCause::Refused };
                Unmet { setting: setting.to_string(), cause, what, help }
            })
        };
        self.settings.iter().map(prove).collect()
    }

    /// A parameter of a module that is not built into this kernel, of which Linux reports nothing:
    /// it compares words with the parameters' names, which are in its data.
    pub(crate) fn missing_parameter(&self, vmlinux: &[u8]) -> Option<Unmet> {
        let missing = self.settings.iter().find(|setting| match setting {
            Setting::Boot(word) => {
                let name = parameter(word);
                let of_module = name.contains('.') && !name.starts_with("sysctl.");
                let meant = !name.starts_with(WITHOUT_MEANING);
                of_module && meant && !names_parameter(vmlinux, name.as_bytes())
            }
            _ => false,
        })?;
        Some(Unmet {
            setting: missing.to_string(),
            cause: UnmetCause::Unknown,
            what: "no module that is built into this kernel has such a parameter".to_owned(),
            help: None,
        })
    }

    /// The file of what measured processes restrain themselves by.
    fn restraint(&self) -> Option<Vec<u8>> {
        let filter = self.settings.iter().find_map(|setting| match setting {
            Setting::Seccomp(filter) => Some(filter),
            _ => None,
        });
        let layers = self.settings.iter().find_map(|setting| match setting {
            Setting::Landlock(layers) => Some(*layers),
            _ => None,
        });
        let is_restrained = filter.is_some() || layers.is_some();
        is_restrained.then(|| restraint(layers.unwrap_or(0), filter))
    }

    /// What the kernel printed about a word whose value it does not take, with the word.
    pub(crate) fn complaint(&self, printed: &Tail) -> Option<(&Setting, String)> {
        self.settings.iter().find_map(|setting| {
            let Setting::Boot(word) = setting else { return None };
            let (_, value) = word.split_once('=')?;
            printed.line(|line| complains(line, value)).map(|line| (setting, line))
        })
    }
}

/// Whether a kernel's data has the name of a parameter (Linux `include/linux/moduleparam.h`), by
/// itself or before an equals sign (`__setup`). Dashes are underscores.
fn names_parameter(vmlinux: &[u8], name: &[u8]) -> bool {
    let dot = name.iter().position(|byte| *byte == b'.').unwrap_or(0);
    let underscored = |byte: &u8| if *byte == b'-' { b'_' } else { *byte };
    // There are few dots before which this letter stands.
    let last = dot.checked_sub(1).and_then(|at| name.get(at));
    let places = vmlinux.iter().enumerate().filter(|(_, byte)| **byte == b'.');
    places.map(|(at, _)| at).any(|at| {
        let Some(begin) = at.checked_sub(dot) else { return false };
        let before = begin.checked_sub(1).and_then(|it| vmlinux.get(it));
        let around = vmlinux.get(at.saturating_sub(1)).map(underscored) == last.copied();
        let found = || vmlinux.get(begin..begin + name.len()).unwrap_or_default();
        around
            && before.is_none_or(|byte| *byte == 0)
            && found().iter().map(underscored).eq(name.iter().copied())
            && matches!(vmlinux.get(begin + name.len()), Some(0 | b'='))
    })
}

/// Whether a line of Linux's is about a value that it does not take, and about this one
/// (`cpu/bugs.c`, `kernel/cpu.c`, `kernel/params.c`). It goes on without the value.
fn complains(line: &str, value: &str) -> bool {
    let complaints = [
        "unknown option (",
        "Ignoring unknown ",
        "Unsupported mitigations=",
        "invalid for parameter",
    ];
    let ends = |c: char| c.is_whitespace() || "()`'\",=".contains(c);
    let is_about = || line.split(ends).any(|word| word.trim_end_matches('.') == value);
    complaints.iter().any(|words| line.contains(words)) && is_about()
}

impl fmt::Display for Condition {
    /// As the user wrote it, with one space between settings.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_default() {
            return f.write_str("default");
        }
        for (number, setting) in self.settings.iter().enumerate() {
            write!(f, "{}{setting}", if number > 0 { " " } else { "" })?;
        }
        Ok(())
    }
}

impl Setting {
    fn parse(word: &str, sources: &impl Sources) -> Result<Self, ConditionError> {
        if word.chars().any(char::is_control) {
            return Err(ConditionError::Character(word.to_owned()));
        }
        let tool = word.split_once(':').and_then(|(kind, rest)| sources.tool(kind, rest));
        if let Some(tool) = tool {
            return Ok(Self::Tool(tool?));
        }
        let kinds = SettingKind::SET.iter().copied();
        let found = word.split_once(':').and_then(|(name, rest)| {
            kinds.clone().find(|kind| kind.name() == name).map(|kind| (kind, rest))
        });
        let (kind, rest) = found.ok_or_else(|| ConditionError::Unknown(word.to_owned()))?;
        match kind {
            SettingKind::Boot => boot(rest),
            SettingKind::Sysctl => sysctl(rest),
            SettingKind::Cgroup => cgroup(rest),
            SettingKind::Sysfs => sysfs(rest),
            SettingKind::Landlock => number(rest, MAX_LAYERS.into())
                .and_then(|layers| layers.try_into().ok().map(Self::Landlock))
                .ok_or_else(|| ConditionError::Landlock(word.to_owned())),
            SettingKind::Audit => number(rest, MAX_RULES)
                .map(Self::Audit)
                .ok_or_else(|| ConditionError::Audit(word.to_owned())),
            SettingKind::Nft => number(rest, MAX_RULES)
                .map(Self::Nft)
                .ok_or_else(|| ConditionError::Nft(word.to_owned())),
            SettingKind::Netns => Netns::ALL
                .into_iter()
                .find(|it| it.name() == rest)
                .map(Self::Netns)
                .ok_or_else(|| ConditionError::Netns(word.to_owned())),
            SettingKind::Tracepoint => tracepoint(rest)
                .map(Self::Tracepoint)
                .ok_or_else(|| ConditionError::Tracepoint(word.to_owned())),
            SettingKind::Kprobe | SettingKind::Ftrace => {
                let name = function(rest);
                let name = name.ok_or_else(|| ConditionError::Function(word.to_owned()))?;
                let is_probe = kind == SettingKind::Kprobe;
                Ok(if is_probe { Self::Kprobe(name) } else { Self::Ftrace(name) })
            }
            SettingKind::Bpf => bpf(rest),
            SettingKind::Uprobe => uprobe(rest),
            SettingKind::Module => module(rest)
                .map(Self::Module)
                .ok_or_else(|| ConditionError::Module(word.to_owned())),
            SettingKind::Tool | SettingKind::Load | SettingKind::Show => {
                Err(ConditionError::Unknown(word.to_owned()))
            }
            SettingKind::Seccomp => {
                let filter = sources.filter(rest).map_err(ConditionError::Profile)?;
                let count = filter.program.len() / FILTER_INSTRUCTION;
                let whole = filter.program.len() % FILTER_INSTRUCTION == 0;
                if whole && (1..=MAX_FILTER).contains(&count) {
                    return Ok(Self::Seccomp(filter));
                }
                Err(ConditionError::Filter(rest.to_owned()))
            }
        }
    }

    /// The files that show whether it took effect.
    fn questions(&self) -> Vec<Question> {
        match self {
            Self::Boot(word) if word.starts_with(WITHOUT_MEANING) => Vec::new(),
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
            | Self::Audit(_)
            | Self::Nft(_)
            | Self::Netns(_)
            | Self::Tracepoint(_)
            | Self::Kprobe(_)
            | Self::Ftrace(_)
            | Self::Module(_)
            | Self::Tool(_)
            | Self::Bpf { .. }
            | Self::Uprobe { .. } => vec![Question::told(self.to_string())],
            Self::Seccomp(_) => Vec::new(),
        }
    }

    /// The kernel's modules without which it can't be made, unless they are parts of the kernel.
    fn needs(&self) -> Vec<&str> {
        match self {
            Self::Module(name) => vec![name],
            Self::Nft(_) => vec!["nf_tables"],
            Self::Netns(Netns::Veth) => vec!["veth"],
            Self::Netns(Netns::Bridge) => vec!["veth", "bridge"],
            Self::Tool(tool) => tool.modules.to_vec(),
            _ => Vec::new(),
        }
    }

    /// Whether the agent shows it as soon as it has made it.
    fn is_written(&self) -> bool {
        !matches!(self, Self::Boot(_) | Self::Seccomp(_))
    }

    fn kind(&self) -> SettingKind {
        match self {
            Self::Boot(_) => SettingKind::Boot,
            Self::Sysctl { .. } => SettingKind::Sysctl,
            Self::Seccomp(_) => SettingKind::Seccomp,
            Self::Cgroup { .. } => SettingKind::Cgroup,
            Self::Sysfs { .. } => SettingKind::Sysfs,
            Self::Landlock(_) => SettingKind::Landlock,
            Self::Audit(_) => SettingKind::Audit,
            Self::Nft(_) => SettingKind::Nft,
            Self::Netns(_) => SettingKind::Netns,
            Self::Tracepoint(_) => SettingKind::Tracepoint,
            Self::Kprobe(_) => SettingKind::Kprobe,
            Self::Ftrace(_) => SettingKind::Ftrace,
            Self::Module(_) => SettingKind::Module,
            Self::Tool(_) => SettingKind::Tool,
            Self::Bpf { .. } => SettingKind::Bpf,
            Self::Uprobe { .. } => SettingKind::Uprobe,
        }
    }

    fn value(&self) -> &str {
        match self {
            Self::Boot(word) => word.split_once('=').map_or("", |(_, value)| value),
            Self::Sysctl { value, .. } | Self::Cgroup { value, .. } | Self::Sysfs { value, .. } => {
                value
            }
            _ => "",
        }
    }

    /// Whether the other one would undo it, or be undone.
    fn sets_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Boot(one), Self::Boot(other)) => parameter(one) == parameter(other),
            (Self::Sysctl { name, .. }, Self::Sysctl { name: other, .. }) => {
                sysctl_path(name) == sysctl_path(other)
            }
            (Self::Cgroup { name, .. }, Self::Cgroup { name: other, .. }) => name == other,
            (Self::Sysfs { path, .. }, Self::Sysfs { path: other, .. }) => path == other,
            (Self::Seccomp(_), Self::Seccomp(_))
            | (Self::Landlock(_), Self::Landlock(_))
            | (Self::Audit(_), Self::Audit(_))
            | (Self::Nft(_), Self::Nft(_))
            | (Self::Netns(_), Self::Netns(_)) => true,
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
    fn as_read(&self) -> (Cow<'_, str>, String) {
        match self {
            Self::Tool(tool) => (format!("/{}", tool.file()).into(), String::new()),
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
            // Its program is in a file of its own.
            Self::Seccomp(_) => ("".into(), String::new()),
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
            Self::Audit(rules) | Self::Nft(rules) => write!(f, "{}:{rules}", self.kind().name()),
            Self::Netns(form) => write!(f, "netns:{}", form.name()),
            Self::Tracepoint(name)
            | Self::Kprobe(name)
            | Self::Ftrace(name)
            | Self::Module(name) => write!(f, "{}:{name}", self.kind().name()),
            Self::Tool(tool) => write!(f, "{}:{}", tool.kind, tool.name),
            Self::Uprobe { file, symbol, .. } => write!(f, "uprobe:{file}:{symbol}"),
            Self::Bpf { place, programs: 1 } => write!(f, "bpf:{place}"),
            Self::Bpf { place, programs } => write!(f, "bpf:{place}={programs}"),
        }
    }
}

/// The file of a sysctl, as the agent has it: dots separate, unless there are slashes.
fn sysctl_path(name: &str) -> String {
    let path = if name.contains('/') { name.to_owned() } else { name.replace('.', "/") };
    format!("/proc/sys/{path}")
}

/// The parameter of a word.
fn parameter(word: &str) -> String {
    // Linux takes both for the same in names (`kernel/params.c`, `dash2underscore`).
    word.split('=').next().unwrap_or_default().replace('-', "_")
}

/// Refuses a parameter that is the guest's own among words for the command line, however it is
/// quoted: Linux takes quotation marks off a name's beginning and a word's end, and no space
/// between two of them ends a word (`lib/cmdline.c`, `next_arg`).
///
/// # Errors
/// There is one.
pub fn refuse_own(words: &str) -> Result<(), ConditionError> {
    let mut is_quoted = false;
    let mut words = words.split(|c: char| {
        is_quoted ^= c == '"';
        c.is_whitespace() && !is_quoted
    });
    let is_own = |word: &&str| OWN_WORDS.contains(&&*parameter(word.trim_matches('"')));
    words.find(is_own).map_or(Ok(()), |word| Err(ConditionError::Own(word.to_owned())))
}

fn boot(word: &str) -> Result<Setting, ConditionError> {
    let name = parameter(word);
    // What stands after `--` is not the kernel's.
    if name.is_empty() || word == "--" {
        return Err(ConditionError::Unknown(format!("boot:{word}")));
    }
    // Linux takes a quotation mark off a name's beginning (`lib/cmdline.c`, `next_arg`), and spaces
    // between two of them for part of a value, as far as the next words.
    if word.contains('"') {
        return Err(ConditionError::Quoted(format!("boot:{word}")));
    }
    if OWN_WORDS.contains(&&*name) {
        return Err(ConditionError::Own(format!("boot:{word}")));
    }
    Ok(Setting::Boot(word.to_owned()))
}

fn sysctl(text: &str) -> Result<Setting, ConditionError> {
    let wrong = || ConditionError::Sysctl(format!("sysctl:{text}"));
    let (name, value) = text.split_once('=').ok_or_else(wrong)?;
    let parts = name.split(['.', '/']);
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let is_name = name.chars().all(allowed) && parts.clone().all(|part| !part.is_empty());
    if !is_name || parts.count() < 2 || value.is_empty() {
        return Err(wrong());
    }
    Ok(Setting::Sysctl { name: name.to_owned(), value: value.to_owned() })
}

/// A path below `/sys`, which may be given with it.
fn sysfs(text: &str) -> Result<Setting, ConditionError> {
    let wrong = || ConditionError::Sysfs(format!("sysfs:{text}"));
    let (path, value) = text.split_once('=').ok_or_else(wrong)?;
    let path = path.strip_prefix("/sys/").unwrap_or(path);
    let is_part = |part: &str| !["", ".", ".."].contains(&part);
    if value.is_empty() || path.len() > MAX_SYSFS || !path.split('/').all(is_part) {
        return Err(wrong());
    }
    Ok(Setting::Sysfs { path: path.to_owned(), value: value.to_owned() })
}

/// Most bytes of the name of a function or a tracepoint (Linux `KSYM_NAME_LEN`, less what a path
/// in the agent has around it).
const MAX_NAME: usize = 200;

/// Most bytes of a module's name (Linux `MODULE_NAME_LEN`, less the final NUL).
const MAX_MODULE: usize = 55;

/// The name of a function, as the kernel's symbol table has it.
fn function(text: &str) -> Option<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_.".contains(c);
    let fits = !text.is_empty() && text.len() <= MAX_NAME && text.chars().all(is_name);
    fits.then(|| text.to_owned())
}

/// The name of a tracepoint, with its group.
fn tracepoint(text: &str) -> Option<String> {
    let (group, event) = text.split_once(':')?;
    let is_name = |name: &str| function(name).is_some() && !name.starts_with('.');
    (is_name(group) && is_name(event) && text.len() <= MAX_NAME).then(|| text.to_owned())
}

/// The name of a module, in which `-` and `_` are one.
fn module(text: &str) -> Option<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let fits = !text.is_empty() && text.len() <= MAX_MODULE && text.chars().all(is_name);
    fits.then(|| text.replace('-', "_"))
}

/// BPF programs: their type, what they are attached to, and how many there are.
fn bpf(text: &str) -> Result<Setting, ConditionError> {
    let wrong = || ConditionError::Bpf(format!("bpf:{text}"));
    let (place, programs) = match text.split_once('=') {
        Some((place, programs)) => (place, number(programs, MAX_PROGRAMS).ok_or_else(wrong)?),
        None => (text, 1),
    };
    let fits = match place.split_once(':') {
        Some(("tracepoint", name)) => tracepoint(name).is_some(),
        Some(("raw_tracepoint" | "kprobe" | "fentry" | "fexit" | "lsm", name)) => {
            function(name).is_some()
        }
        Some(("cgroup_skb", way)) => ["ingress", "egress"].contains(&way),
        // Linux takes one program for a device.
        Some(("xdp", device)) => device == "lo" && programs == 1,
        _ => false,
    };
    fits.then(|| Setting::Bpf { place: place.to_owned(), programs }).ok_or_else(wrong)
}

/// A file of the guest's, and a function in it.
fn uprobe(text: &str) -> Result<Setting, ConditionError> {
    let wrong = || ConditionError::Uprobe(format!("uprobe:{text}"));
    let (file, symbol) = text.rsplit_once(':').ok_or_else(wrong)?;
    // The kernel has a colon before the offset.
    let is_file = file.starts_with('/') && !file.contains(':') && file.len() <= MAX_NAME;
    if !is_file || symbol.is_empty() {
        return Err(wrong());
    }
    Ok(Setting::Uprobe { file: file.to_owned(), symbol: symbol.to_owned(), offset: None })
}

/// A number of things, 1 to `most`.
fn number(text: &str, most: u32) -> Option<u32> {
    let is_number = text.chars().all(|c| c.is_ascii_digit());
    text.parse().ok().filter(|number| is_number && (1..=most).contains(number))
}

/// A comma stands for a space of the value, as in `cpu.max=50000,100000`: settings are separated by
/// spaces.
fn cgroup(text: &str) -> Result<Setting, ConditionError> {
    let wrong = || ConditionError::Cgroup(format!("cgroup:{text}"));
    let (name, value) = text.split_once('=').ok_or_else(wrong)?;
    if name == DEPTH {
        let depth = number(value, MAX_DEPTH).map(|depth| depth.to_string());
        let depth = depth.ok_or_else(|| ConditionError::Depth(format!("cgroup:{text}")))?;
        return Ok(Setting::Cgroup { name: name.to_owned(), value: depth });
    }
    let (controller, file) = name.split_once('.').ok_or_else(wrong)?;
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    // Files of the group itself, such as cgroup.procs, belong to the agent.
    let is_name = !controller.is_empty() && !file.is_empty() && name.chars().all(allowed);
    let is_value = !value.trim_matches(',').is_empty();
    if !is_name || !is_value || controller == "cgroup" || name.contains("..") {
        return Err(wrong());
    }
    Ok(Setting::Cgroup { name: name.to_owned(), value: value.replace(',', " ") })
}

/// A setting that can't be had in the guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmet {
    /// The setting.
    pub setting: String,
    /// Whether the kernel knows it.
    pub cause: UnmetCause,
    /// What the kernel did.
    pub what: String,
    /// What the user can do about it.
    pub help: Option<&'static str>,
}

/// Why a setting can't be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnmetCause {
    /// The kernel does not know it.
    Unknown,
    /// The kernel knows it and refuses the value, or has another one.
    Refused,
    /// In a guest like this one no kernel has it.
    Unseen,
}

impl From<Reported> for UnmetCause {
    fn from(cause: Reported) -> Self {
        match cause {
            Reported::Unknown => Self::Unknown,
            Reported::Refused => Self::Refused,
        }
    }
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.setting, self.what)
    }
}

#[cfg(test)]
mod tests;
