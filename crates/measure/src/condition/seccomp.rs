//! A system-call filter of a condition: an OCI profile, made into a program as container runtimes
//! make it, by libseccomp, and installed with the flags that they would set.
//!
//! What a filter costs depends on the order in which its program compares, so the library is asked
//! that the runtimes use, and not another one that would filter the same. It is loaded when a
//! filter is asked for: QEMU's sandbox needs it as well, so it is there where a guest can be run.

mod doubts;
mod library;
#[cfg(test)]
mod tests;

use std::io;
use std::path::Path;

use pathmeter_model::suggestion::{add_suggestion, find_close};
use pathmeter_vm::{Filter, FilterFlags};
use serde::Deserialize;
use serde::de::IgnoredAny;

use self::library::{Comparison, Library};
use crate::bounded_file::read_bounded_text;

/// The longest profile that is read, in bytes.
const MOST_BYTES: u64 = 1 << 20;
/// From this many calls on, runtimes ask libseccomp for a tree of comparisons instead of a list
/// (runc 1.2 and newer).
const TREE_FROM: usize = 33;
/// Capabilities that Docker's containers have by default, which profiles ask about.
const CAPABILITIES: [&str; 14] = [
    "CAP_AUDIT_WRITE",
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_MKNOD",
    "CAP_NET_BIND_SERVICE",
    "CAP_NET_RAW",
    "CAP_SETFCAP",
    "CAP_SETGID",
    "CAP_SETPCAP",
    "CAP_SETUID",
    "CAP_SYS_CHROOT",
];
/// Those that Podman's have (container-libs, `DefaultCapabilities`).
const PODMAN_CAPABILITIES: [&str; 11] = [
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_NET_BIND_SERVICE",
    "CAP_SETFCAP",
    "CAP_SETGID",
    "CAP_SETPCAP",
    "CAP_SETUID",
    "CAP_SYS_CHROOT",
];
/// Profiles that are bundled, by name.
const BUNDLED: [(&str, &str, Runtime); 2] = [
    ("docker", include_str!("../../profiles/docker.json"), RUNC),
    ("podman", include_str!("../../profiles/podman.json"), CRUN),
];

/// What a program depends on beside its profile.
#[derive(Clone, Copy, Debug)]
struct Runtime {
    /// What the container may by default.
    capabilities: &'static [&'static str],
    /// From how many calls on it asks for a tree of comparisons; never, for a list.
    tree_from: usize,
}

/// As Docker does, with runc.
const RUNC: Runtime = Runtime { capabilities: &CAPABILITIES, tree_from: TREE_FROM };
/// As Podman does where crun is installed, which asks for no tree (crun, `seccomp.c`).
const CRUN: Runtime = Runtime { capabilities: &PODMAN_CAPABILITIES, tree_from: usize::MAX };

/// EPERM, what a call returns that is refused without another error.
const EPERM: u32 = 1;

/// What a profile's flags are to the kernel (`<linux/seccomp.h>`).
const FLAGS: [(&str, u32); 3] = [
    ("SECCOMP_FILTER_FLAG_TSYNC", 1),
    ("SECCOMP_FILTER_FLAG_LOG", 2),
    ("SECCOMP_FILTER_FLAG_SPEC_ALLOW", SPEC_ALLOW),
];
/// Without it, kernels before 5.16 also turn speculative store bypass off for the process. Runtimes
/// set it if a profile has no flags at all and the kernel knows it (runc, `SetupSeccomp`; crun,
/// `libcrun_apply_seccomp`).
const SPEC_ALLOW: u32 = 4;

/// The filter of the bundled profile of this name, or of that in this file.
///
/// # Errors
/// What is wrong with the file, by its name, or that there is no libseccomp.
pub(super) fn filter(name: &str) -> Result<Filter, String> {
    if let Ok(count) = name.parse() {
        return of_length(count);
    }
    match find_bundled(name) {
        Some((_, text, runtime)) => compile(name, text, runtime),
        None => Ok(Filter { name: to_filter_name(name), ..compile(name, &read(name)?, RUNC)? }),
    }
}

/// A filter of so many instructions that allows each call once it has compared the call's first
/// argument with one value after the other. A filter that looked at nothing but the call's number
/// would be asked once: since 5.11 Linux keeps its answer (`kernel/seccomp.c`,
/// `seccomp_cache_prepare`).
fn of_length(count: u16) -> Result<Filter, String> {
    const LOAD_WORD: u16 = 0x20;
    const COMPARE: u16 = 0x15;
    const RETURN: u16 = 0x06;
    /// Where `struct seccomp_data` has the lower half of the first argument.
    const ARGUMENT: u32 = 16;
    const ALLOW: u32 = 0x7fff_0000;
    let Some(comparisons) = count.checked_sub(2) else {
        return Err(format!("seccomp:{count}: a filter that loads and returns has 2 instructions"));
    };
    let instruction = |code: u16, value: u32| {
        let [low, high] = code.to_le_bytes();
        let [a, b, c, d] = value.to_le_bytes();
        // Whether or not a comparison holds, the next instruction follows.
        [low, high, 0, 0, a, b, c, d]
    };
    let comparisons = (0..u32::from(comparisons)).map(|n| instruction(COMPARE, u32::MAX - n));
    let program = std::iter::once(instruction(LOAD_WORD, ARGUMENT))
        .chain(comparisons)
        .chain([instruction(RETURN, ALLOW)])
        .flatten()
        .collect();
    let flags = FilterFlags { flags: 0, may_lack: false };
    Ok(Filter { name: count.to_string(), flags, program, doubts: Vec::new() })
}

fn find_bundled(name: &str) -> Option<(&'static str, &'static str, Runtime)> {
    BUNDLED.into_iter().find(|(bundled, ..)| *bundled == name)
}

/// Converts a file to its filter's name: without its folders, and unlike a bundled profile's.
fn to_filter_name(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    if find_bundled(name).is_some() { format!("./{name}") } else { name.to_owned() }
}

fn read(file: &str) -> Result<String, String> {
    read_bounded_text(Path::new(file), MOST_BYTES).map_err(|error| {
        if error.kind() == io::ErrorKind::Other {
            return format!("{file}: {error}");
        }
        let names = BUNDLED.map(|(name, ..)| name);
        let close = find_close(file, &names).first().copied();
        let close = close.map(|name| format!("; did you mean seccomp:{name}?"));
        let (names, close) = (names.join(", "), close.unwrap_or_default());
        format!("{file}: no file ({error}), and no bundled profile ({names}){close}")
    })
}

fn compile(name: &str, text: &str, runtime: Runtime) -> Result<Filter, String> {
    let profile: Profile = serde_json::from_str(text).map_err(|error| {
        let error = add_suggestion(&error.to_string());
        format!("{name}: not an OCI system-call profile: {error}")
    })?;
    profile.filter(name, runtime).map_err(|what| format!("{name}: {what}"))
}

/// A profile: what the OCI runtime specification has, or what Docker and Podman read. What none of
/// them knows is refused: a rule with a misspelt `args` would allow more than was meant.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Profile {
    default_action: Action,
    default_errno_ret: Option<u32>,
    /// The same by name, for readers of Podman's profiles.
    #[serde(default, rename = "defaultErrno")]
    _default_errno: Option<String>,
    #[serde(default)]
    flags: Option<Vec<String>>,
    /// Who would be asked; a rule that asks is refused.
    #[serde(default, rename = "listenerPath")]
    _listener_path: IgnoredAny,
    #[serde(default, rename = "listenerMetadata")]
    _listener_metadata: IgnoredAny,
    #[serde(default, rename = "comment", alias = "comments")]
    _comment: IgnoredAny,
    #[serde(default)]
    architectures: Vec<String>,
    #[serde(default)]
    arch_map: Vec<Architectures>,
    #[serde(default)]
    syscalls: Vec<Rule>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Architectures {
    architecture: String,
    #[serde(default)]
    sub_architectures: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Rule {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    names: Vec<String>,
    action: Action,
    errno_ret: Option<u32>,
    #[serde(default, rename = "errno")]
    _errno: Option<String>,
    #[serde(default, rename = "comment", alias = "comments")]
    _comment: IgnoredAny,
    #[serde(default)]
    args: Option<Vec<Argument>>,
    #[serde(default)]
    includes: Option<Conditions>,
    #[serde(default)]
    excludes: Option<Conditions>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Conditions {
    #[serde(default)]
    arches: Option<Vec<String>>,
    #[serde(default)]
    caps: Option<Vec<String>>,
    #[serde(default)]
    min_kernel: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Argument {
    index: u32,
    value: u64,
    #[serde(default)]
    value_two: u64,
    op: Operator,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[allow(clippy::enum_variant_names, reason = "the specification's names")]
enum Action {
    #[serde(rename = "SCMP_ACT_KILL", alias = "SCMP_ACT_KILL_THREAD")]
    KillThread,
    #[serde(rename = "SCMP_ACT_KILL_PROCESS")]
    KillProcess,
    #[serde(rename = "SCMP_ACT_TRAP")]
    Trap,
    #[serde(rename = "SCMP_ACT_ERRNO")]
    Errno,
    #[serde(rename = "SCMP_ACT_TRACE")]
    Trace,
    #[serde(rename = "SCMP_ACT_LOG")]
    Log,
    #[serde(rename = "SCMP_ACT_ALLOW")]
    Allow,
    #[serde(rename = "SCMP_ACT_NOTIFY")]
    Notify,
}

#[derive(Clone, Copy, Debug, Deserialize)]
enum Operator {
    #[serde(rename = "SCMP_CMP_NE")]
    NotEqual = 1,
    #[serde(rename = "SCMP_CMP_LT")]
    Less = 2,
    #[serde(rename = "SCMP_CMP_LE")]
    LessOrEqual = 3,
    #[serde(rename = "SCMP_CMP_EQ")]
    Equal = 4,
    #[serde(rename = "SCMP_CMP_GE")]
    GreaterOrEqual = 5,
    #[serde(rename = "SCMP_CMP_GT")]
    Greater = 6,
    #[serde(rename = "SCMP_CMP_MASKED_EQ")]
    Masked = 7,
}

impl Action {
    /// As libseccomp has it (`<linux/seccomp.h>`); a number goes with two of them.
    fn code(self, error: Option<u32>) -> Result<u32, String> {
        let number = error.unwrap_or(EPERM);
        if number > u32::from(u16::MAX) {
            return Err(format!("{number} is no error number"));
        }
        Ok(match self {
            Self::KillThread => 0,
            Self::KillProcess => 0x8000_0000,
            Self::Trap => 0x0003_0000,
            Self::Errno => 0x0005_0000 | number,
            Self::Trace => 0x7ff0_0000 | number,
            Self::Log => 0x7ffc_0000,
            Self::Allow => 0x7fff_0000,
            Self::Notify => {
                return Err(
                    "SCMP_ACT_NOTIFY asks another process, which a guest does not have".to_owned()
                );
            }
        })
    }
}

impl Conditions {
    /// Whether all that it names holds for a container of x86-64 with these capabilities, on a
    /// kernel that is new enough.
    fn all_hold(&self, capabilities: &[&str]) -> bool {
        let is_ours = |arch: &String| arch == "amd64";
        let is_ours = self.arches.as_ref().is_none_or(|a| a.is_empty() || a.iter().any(is_ours));
        let caps = self.caps.iter().flatten();
        is_ours && caps.clone().all(|cap| capabilities.contains(&cap.as_str()))
    }

    /// Whether any of it holds.
    fn any_holds(&self, capabilities: &[&str]) -> bool {
        let ours = self.arches.iter().flatten().any(|arch| arch == "amd64");
        let capable = self.caps.iter().flatten().any(|cap| capabilities.contains(&cap.as_str()));
        ours || capable || self.min_kernel.is_some()
    }
}

impl Rule {
    fn applies(&self, capabilities: &[&str]) -> bool {
        let included = self.includes.as_ref().is_none_or(|it| it.all_hold(capabilities));
        included && !self.excludes.as_ref().is_some_and(|it| it.any_holds(capabilities))
    }

    fn names(&self) -> impl Iterator<Item = &String> {
        self.name.iter().chain(&self.names)
    }

    /// Its comparisons, in the sets of which each is a rule: one, but for several comparisons of
    /// one argument, each of which is then a rule, as runtimes have it.
    fn comparisons(&self) -> Result<Vec<Vec<Comparison>>, String> {
        let mut all: Vec<Comparison> = Vec::new();
        let mut alone = false;
        for &Argument { index, value, value_two, op } in self.args.iter().flatten() {
            if index > 5 {
                return Err(format!("a system call has no argument {index}"));
            }
            alone |= all.iter().any(|other| other.argument == index);
            all.push(Comparison {
                argument: index,
                operator: op as u32,
                values: [value, value_two],
            });
        }
        Ok(if alone { all.into_iter().map(|one| vec![one]).collect() } else { vec![all] })
    }
}

fn known_flags() -> String {
    format!("the known ones are {}", FLAGS.map(|(name, _)| name).join(", "))
}

impl Profile {
    /// The other architectures whose calls pass: 32-bit programs' for Docker's and Podman's.
    fn other_architectures(&self) -> Vec<String> {
        let own = "SCMP_ARCH_X86_64";
        let mapped = self.arch_map.iter().filter(|map| map.architecture == own);
        let mapped = mapped.flat_map(|map| map.sub_architectures.iter().flatten());
        let all = self.architectures.iter().filter(|name| *name != own).chain(mapped);
        all.cloned().collect()
    }

    /// Its flags, as the kernel takes them.
    fn flags(&self) -> Result<FilterFlags, String> {
        let Some(names) = &self.flags else {
            return Ok(FilterFlags { flags: SPEC_ALLOW, may_lack: true });
        };
        let flag = |name: &String| {
            let known = FLAGS.iter().find(|(known, _)| known == name);
            known.map(|(_, flag)| *flag).ok_or_else(|| {
                format!(
                    "no filter of a guest's is installed with the flag {name}: {}",
                    known_flags()
                )
            })
        };
        let flags = names.iter().try_fold(0, |all, name| flag(name).map(|flag| all | flag))?;
        Ok(FilterFlags { flags, may_lack: false })
    }

    fn filter(&self, name: &str, runtime: Runtime) -> Result<Filter, String> {
        let library = Library::open()?;
        let (flags, program) = (self.flags()?, self.program(&library, runtime)?);
        Ok(Filter { name: name.to_owned(), flags, program, doubts: self.doubts(&library)? })
    }

    fn program(&self, library: &Library, runtime: Runtime) -> Result<Vec<u8>, String> {
        let default = self.default_action.code(self.default_errno_ret)?;
        let mut filter = library.filter(default)?;
        for name in self.other_architectures() {
            filter.add_architecture(&name)?;
        }
        let applies = |rule: &&Rule| rule.applies(runtime.capabilities);
        let rules: Vec<&Rule> = self.syscalls.iter().filter(applies).collect();
        if rules.iter().flat_map(|rule| rule.names()).count() >= runtime.tree_from {
            filter.compare_as_tree();
        }
        for rule in rules {
            let action = rule.action.code(rule.errno_ret)?;
            if action == default {
                continue;
            }
            let comparisons = rule.comparisons()?;
            for name in rule.names() {
                comparisons.iter().try_for_each(|set| filter.add(action, name, set))?;
            }
        }
        filter.program()
    }
}
