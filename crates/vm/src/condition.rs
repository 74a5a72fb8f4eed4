//! The condition that a kernel is measured under: words of its command line, sysctls, files below
//! `/sys`, a filter of system calls, layers of Landlock, audit rules, control groups. As a user
//! writes it, as the agent reads it, and what the kernel made of it.

mod disk;
mod error;
mod filter;
mod module;
pub(crate) mod proof;
mod setting;
mod tool;
mod unmet;
mod words;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use pathmeter_wire::condition::{self, MAX_CONDITION, MAX_SHOWN, SettingKind};

use crate::arch::KNOWN_TO_AGENT;
use crate::cache::entry::sha256;
use crate::condition::proof::{Ignored, Proof, ProofState, Read};
use crate::console::Tail;

pub use disk::Disk;
pub use error::ConditionError;
use filter::restraint;
pub use filter::{Filter, Ruleset};
pub use module::Module;
pub use setting::Setting;
use setting::parameter;
use tool::HASH_DIGITS;
pub use tool::{Sources, Tool};
pub use unmet::{Unmet, UnmetCause};
pub use words::refuse_own;

/// Longest words of a condition for the command line together, in bytes.
const MAX_WORDS: usize = 1024;

/// Shown of a word that the kernel's own code looks for.
const LOOKED_FOR: &str = "the kernel's own code looks for it; no known file shows its effect";
/// Words about what QEMU's interpreter does not have: Linux
/// `Documentation/admin-guide/kernel-parameters.txt`, QEMU `target/i386/cpu.c`.
const LACKING: [(&str, &str); 3] = [
    ("nousershstk", "shadow stacks for programs"),
    ("split_lock_detect=", "detection of split locks"),
    ("fred=", "FRED"),
];
/// The sysctl that hides addresses, by both of its names.
const HIDE_ADDRESSES: [&str; 2] = ["kernel.kptr_restrict", "kernel/kptr_restrict"];

/// What a kernel is measured under, beside its machine; the default is nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    settings: Vec<Setting>,
    /// The modules that the kernel lacks for them, in the order in which they are loaded.
    modules: Vec<Module>,
    /// The words that the kernel's own code looks for, though it hands them to pid 1.
    looked_for: Vec<String>,
}

/// What the guest's CPU lacks so that a word of the boot, as `boot:WORD`, has no effect.
fn find_lacking(setting: &str) -> Option<&'static str> {
    let word = setting.strip_prefix("boot:")?;
    let is_it =
        |name: &str| if name.ends_with('=') { word.starts_with(name) } else { word == name };
    LACKING.iter().find(|(name, _)| is_it(name)).map(|(_, what)| *what)
}

impl Condition {
    /// Reads a condition; `sources` makes filters and programs of the files that the user named.
    ///
    /// # Errors
    /// What is no setting, or contradicts another one.
    pub fn parse(text: &str, sources: &impl Sources) -> Result<Self, ConditionError> {
        if text.trim() == "default" {
            return Ok(Self::default());
        }
        let words = text.split_whitespace();
        let settings = words.map(|word| Setting::parse(word, sources));
        Self::of(settings.collect::<Result<_, _>>()?)
    }

    /// A condition of these settings.
    fn of(settings: Vec<Setting>) -> Result<Self, ConditionError> {
        for (number, setting) in settings.iter().enumerate() {
            if let Some(other) = settings[..number].iter().find(|other| other.sets_same(setting)) {
                return Err(ConditionError::Twice(other.to_string(), setting.to_string()));
            }
        }
        let condition = Self { settings, ..Self::default() };
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
            let known = words::module(name).map(Setting::Module);
            known.ok_or_else(|| ConditionError::Module(format!("module:{name}")))
        };
        Self::of(names.iter().map(module).collect::<Result<_, _>>()?)
    }

    /// The same, with the modules that the kernel lacks for it.
    #[must_use]
    pub fn with_modules(self, modules: Vec<Module>) -> Self {
        Self { modules, ..self }
    }

    /// Whether there are words of the command line that a kernel's code may look for beside its
    /// parameters. Of those of which something is known here it is known that no kernel does, or
    /// that the agent takes them.
    pub fn has_other_words(&self) -> bool {
        self.other_words().next().is_some()
    }

    /// The condition for a kernel whose code looks for these words
    /// ([`find_own_words`](crate::find_own_words)): the agent is not asked for them.
    #[must_use]
    pub fn for_kernel(self, found: &BTreeSet<String>) -> Self {
        let is_found = |word: &&str| {
            // Its value is the rest, if it has any.
            let name = word.split_inclusive('=').next().unwrap_or_default();
            found.contains(name)
        };
        let looked_for = self.other_words().filter(is_found).map(str::to_owned).collect();
        Self { looked_for, ..self }
    }

    fn other_words(&self) -> impl Iterator<Item = &str> {
        let words = self.settings.iter().filter_map(|setting| match setting {
            Setting::Boot(word) => Some(&**word),
            _ => None,
        });
        words.filter(|word| {
            let name = parameter(word);
            let is_known = || proof::known_words().any(|known| known == name);
            !name.contains('.') && !KNOWN_TO_AGENT.contains(&&*name) && !is_known()
        })
    }

    /// The settings that the agent is given, in the order in which it makes them.
    pub(crate) fn agent_settings(&self) -> impl Iterator<Item = &Setting> {
        self.settings.iter().filter(|setting| !self.is_looked_for(setting))
    }

    fn is_looked_for(&self, setting: &Setting) -> bool {
        let Setting::Boot(word) = setting else { return false };
        self.looked_for.contains(word)
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

    /// The same without what hides addresses from the guest's root (Linux `kernel/kallsyms.c`,
    /// `kallsyms_show_value`), and without what each run of a program has by itself.
    #[must_use]
    pub fn of_symbols(&self) -> Self {
        let stays = |setting: &&Setting| match setting {
            setting if setting.is_of_run() => false,
            Setting::Sysctl { name, .. } => !HIDE_ADDRESSES.contains(&&**name),
            _ => true,
        };
        let settings = self.settings.iter().filter(stays).cloned().collect();
        Self { settings, ..self.clone() }
    }

    /// Its settings, in the order in which they are made.
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// What a reader of the user's files would take to be set, and is not: a line a kind, with the
    /// setting.
    pub fn doubts(&self) -> impl Iterator<Item = String> {
        let filters = self.settings.iter().filter_map(|setting| match setting {
            Setting::Seccomp(filter) => Some((setting, filter)),
            _ => None,
        });
        filters.flat_map(|(setting, filter)| {
            filter.doubts.iter().map(move |doubt| format!("{setting}: {doubt}"))
        })
    }

    /// Whether it has no setting.
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
            Setting::Ruleset(ruleset) => {
                format!("landlock:{}", &sha256(&ruleset.bytes)[..HASH_DIGITS])
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
            Setting::Disk(disk) => disk.words(),
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
        let parameters: Vec<_> = self.modules.iter().map(|it| self.parameters(it)).collect();
        let files = files.iter().zip(&parameters);
        let loads = files.map(|(file, words)| (SettingKind::Load, &**file, &**words));
        let made: Vec<_> = self.agent_settings().map(|it| (it.kind(), it.as_read())).collect();
        let made = made.iter().map(|(kind, (name, value))| (*kind, &**name, &**value));
        let settings = loads.chain(made).chain(shown).map(|(kind, name, value)| {
            condition::Setting { kind, name: name.as_bytes(), value: value.as_bytes() }
        });
        condition::write(settings, |piece| text.extend(piece));
        text
    }

    /// What the agent reads of a module beside its file: its parameters, or that it may refuse.
    fn parameters(&self, module: &Module) -> String {
        let mut disks = self.settings.iter().filter_map(|setting| match setting {
            Setting::Disk(disk) => disk.parameters(&module.name),
            _ => None,
        });
        disks.next().unwrap_or(if module.optional { "?" } else { "" }.to_owned())
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
            Setting::Disk(disk) => disk.maker(),
            _ => None,
        })
    }

    /// What of the guest's files its fingerprint does not tell: those of modules, and of programs.
    pub(crate) fn hashes(&self) -> String {
        let modules = self.modules.iter().map(|it| (&it.name, sha256(&it.bytes)));
        let tools = self.tools().map(|it| (&it.name, sha256(&it.job)));
        let space = || " ".to_owned();
        let words = |(name, hash): (&String, _)| [space(), name.clone(), space(), hash];
        modules.chain(tools).flat_map(words).collect()
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
    /// The settings that the kernel ignored.
    pub(crate) fn proofs(&self, read: &[Read], memory_mib: u32) -> Result<Vec<Proof>, Vec<Unmet>> {
        let prove = |setting: &Setting| {
            let name = setting.to_string();
            if let Setting::Seccomp(_) = setting {
                let shown = "a process took the filter by seccomp(2)".to_owned();
                return Ok(Proof { setting: name, state: ProofState::Proved, shown });
            }
            if self.is_looked_for(setting) {
                let (state, shown) = match find_lacking(&name) {
                    Some(what) => (ProofState::Moot, format!("the guest's CPU has no {what}")),
                    None => (ProofState::Unproved, LOOKED_FOR.to_owned()),
                };
                return Ok(Proof { setting: name, state, shown });
            }
            let questions = setting.questions();
            let proof = proof::prove(name, setting.value(), &questions, (read, memory_mib));
            proof.map_err(|Ignored { what, help, unseen }| {
                let cause = if unseen { UnmetCause::Unseen } else { UnmetCause::Refused };
                Unmet { setting: setting.to_string(), cause, what, help }
            })
        };
        let (proofs, unmet): (Vec<_>, Vec<_>) =
            self.settings.iter().map(prove).partition(Result::is_ok);
        let unmet: Vec<Unmet> = unmet.into_iter().filter_map(Result::err).collect();
        if unmet.is_empty() { Ok(proofs.into_iter().flatten().collect()) } else { Err(unmet) }
    }

    /// Parameters of modules that are not built into this kernel, of which Linux reports nothing:
    /// it compares words with the parameters' names, which are in its data.
    pub(crate) fn missing_parameters(&self, vmlinux: &[u8]) -> Vec<Unmet> {
        let is_missing = |setting: &&Setting| match setting {
            Setting::Boot(word) => {
                let name = parameter(word);
                let of_module = name.contains('.') && !name.starts_with("sysctl.");
                of_module && !names_parameter(vmlinux, name.as_bytes())
            }
            _ => false,
        };
        let unmet = |setting: &Setting| Unmet {
            setting: setting.to_string(),
            cause: UnmetCause::Unknown,
            what: "no module that is built into this kernel has such a parameter".to_owned(),
            help: None,
        };
        self.settings.iter().filter(is_missing).map(unmet).collect()
    }

    /// The file of what measured processes restrain themselves by.
    pub fn restraint(&self) -> Option<Vec<u8>> {
        let filter = self.settings.iter().find_map(|setting| match setting {
            Setting::Seccomp(filter) => Some(filter),
            _ => None,
        });
        let layers = self.settings.iter().find_map(|setting| match setting {
            Setting::Landlock(layers) => Some(*layers),
            _ => None,
        });
        let ruleset = self.settings.iter().find_map(|setting| match setting {
            Setting::Ruleset(ruleset) => Some(ruleset),
            _ => None,
        });
        let is_restrained = filter.is_some() || layers.is_some() || ruleset.is_some();
        is_restrained.then(|| restraint(layers.unwrap_or(0), ruleset, filter))
    }

    /// What the kernel printed about words whose values it does not take, with each word.
    pub(crate) fn complaints(&self, printed: &Tail) -> impl Iterator<Item = (&Setting, String)> {
        self.settings.iter().filter_map(|setting| {
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

#[cfg(test)]
mod tests;
