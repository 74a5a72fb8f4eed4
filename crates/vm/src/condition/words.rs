//! Settings as a user writes them.

use pathmeter_wire::condition::{
    DEPTH, FILTER_INSTRUCTION, MAX_DEPTH, MAX_FILTER, MAX_LAYERS, MAX_PROGRAMS, MAX_RULES,
    SettingKind,
};

use crate::arch::OWN_WORDS;
use crate::condition::disk::Disk;
use crate::condition::error::ConditionError;
use crate::condition::setting::{Netns, Setting, parameter};
use crate::condition::tool::Sources;

/// Longest path below `/sys`, in bytes: the agent takes no longer one.
const MAX_SYSFS: usize = 240;

impl Setting {
    pub(super) fn parse(word: &str, sources: &impl Sources) -> Result<Self, ConditionError> {
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
        Self::of_kind(kind, rest, word, sources)
    }

    /// The setting of this kind that `rest` describes, the end of `word`.
    fn of_kind(
        kind: SettingKind,
        rest: &str,
        word: &str,
        sources: &impl Sources,
    ) -> Result<Self, ConditionError> {
        let given = Given(word);
        match kind {
            SettingKind::Boot => boot(rest),
            SettingKind::Sysctl => sysctl(rest),
            SettingKind::Cgroup => cgroup(rest),
            SettingKind::Sysfs => sysfs(rest),
            SettingKind::Bpf => bpf(rest),
            SettingKind::Uprobe => uprobe(rest),
            SettingKind::Disk => Disk::parse(rest, sources).map(Self::Disk),
            SettingKind::Seccomp => seccomp(rest, sources),
            SettingKind::Landlock if rest.contains(['/', '.']) => {
                let ruleset = sources.ruleset(rest);
                ruleset.map(Self::Ruleset).map_err(|why| ConditionError::Ruleset(word.into(), why))
            }
            SettingKind::Landlock => {
                let layers = number(rest, MAX_LAYERS.into()).and_then(|it| it.try_into().ok());
                given.makes(layers.map(Self::Landlock), ConditionError::Landlock)
            }
            SettingKind::Audit => {
                given.makes(number(rest, MAX_RULES).map(Self::Audit), ConditionError::Audit)
            }
            SettingKind::Nft => {
                given.makes(number(rest, MAX_RULES).map(Self::Nft), ConditionError::Nft)
            }
            SettingKind::Netns => {
                let form = Netns::ALL.into_iter().find(|it| it.name() == rest);
                given.makes(form.map(Self::Netns), ConditionError::Netns)
            }
            SettingKind::Tracepoint => {
                given.makes(tracepoint(rest).map(Self::Tracepoint), ConditionError::Tracepoint)
            }
            SettingKind::Kprobe => {
                given.makes(function(rest).map(Self::Kprobe), ConditionError::Function)
            }
            SettingKind::Ftrace => {
                given.makes(function(rest).map(Self::Ftrace), ConditionError::Function)
            }
            SettingKind::Module => {
                given.makes(module(rest).map(Self::Module), ConditionError::Module)
            }
            SettingKind::Tool | SettingKind::Load | SettingKind::Show => {
                Err(ConditionError::Unknown(word.to_owned()))
            }
        }
    }
}

/// A setting as the user wrote it.
struct Given<'a>(&'a str);

impl Given<'_> {
    /// The setting that was made of it; if none was, the error that names it.
    fn makes(
        &self,
        setting: Option<Setting>,
        wrong: fn(String) -> ConditionError,
    ) -> Result<Setting, ConditionError> {
        setting.ok_or_else(|| wrong(self.0.to_owned()))
    }
}

fn seccomp(name: &str, sources: &impl Sources) -> Result<Setting, ConditionError> {
    let filter = sources.filter(name).map_err(ConditionError::Profile)?;
    let count = filter.program.len() / FILTER_INSTRUCTION;
    let whole = filter.program.len() % FILTER_INSTRUCTION == 0;
    if whole && (1..=MAX_FILTER).contains(&count) {
        return Ok(Setting::Seccomp(filter));
    }
    Err(ConditionError::Filter(name.to_owned()))
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
pub(super) fn module(text: &str) -> Option<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let fits = !text.is_empty() && text.len() <= MAX_MODULE && text.chars().all(is_name);
    fits.then(|| text.replace('-', "_"))
}

/// Types of BPF programs that are attached to what has a name of its own in the kernel.
const BPF_AT_FUNCTIONS: [&str; 7] =
    ["raw_tracepoint", "kprobe", "kretprobe", "fentry", "fexit", "fmod_ret", "lsm"];
/// Places of BPF programs that take several of them.
const BPF_PLACES: [&str; 16] = [
    "cgroup_skb:ingress",
    "cgroup_skb:egress",
    "cgroup_sock:create",
    "cgroup_sock:release",
    "cgroup_sock_addr:bind4",
    "cgroup_sock_addr:connect4",
    "cgroup_sock_addr:sendmsg4",
    "cgroup_sock_addr:recvmsg4",
    "cgroup_sockopt:get",
    "cgroup_sockopt:set",
    "cgroup_sysctl",
    "cgroup_device",
    "sock_ops",
    "sk_lookup",
    "tcx:ingress",
    "tcx:egress",
];
/// Places that take only one program.
const BPF_ALONE: [&str; 3] = ["xdp:lo", "netfilter:input", "netfilter:output"];

/// BPF programs: their type, what they are attached to, and how many there are.
fn bpf(text: &str) -> Result<Setting, ConditionError> {
    let wrong = || ConditionError::Bpf(format!("bpf:{text}"));
    let (place, programs) = match text.split_once('=') {
        Some((place, programs)) => (place, number(programs, MAX_PROGRAMS).ok_or_else(wrong)?),
        None => (text, 1),
    };
    let fits = match place.split_once(':') {
        Some(("tracepoint", name)) => tracepoint(name).is_some(),
        Some((kind, name)) if BPF_AT_FUNCTIONS.contains(&kind) => function(name).is_some(),
        // Linux takes one program there.
        _ if BPF_ALONE.contains(&place) => programs == 1,
        _ => BPF_PLACES.contains(&place),
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
