//! Options in which the build configurations of two kernels differ.
//!
//! Two builds often differ in hundreds of options, few of which touch a hot path. So those come
//! first on which code of every path depends, such as `PREEMPT_RT`; then those whose names fit a
//! function that changed: `AUDIT` fits `audit_log_exit`. That is a hint where to look, not a proof.
//! What one kernel has as a module and the other not at all comes last: no module is loaded in a
//! guest unless the user asks for it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Words that say nothing about what an option is about.
const COMMON: [&str; 36] = [
    "and", "arch", "by", "cc", "common", "cpu", "data", "default", "do", "enable", "for", "force",
    "from", "generic", "get", "has", "have", "in", "init", "is", "kernel", "not", "of", "off",
    "on", "option", "set", "support", "supports", "sys", "the", "to", "use", "want", "with", "x86",
];
/// Words of options, and words of the functions that they are about, where those are others.
const ALIASES: [(&str, &[&str]); 12] = [
    ("audit", &["auditsyscall"]),
    ("debug", &["check", "lockdep"]),
    ("ftrace", &["fentry", "trace"]),
    ("hz", &["jiffies", "tick"]),
    ("memcg", &["cgroup", "objcg"]),
    ("mitigation", &["bhb", "entry", "thunk"]),
    ("preempt", &["migrate", "preemption", "resched"]),
    ("rcu", &["rcu"]),
    ("retpoline", &["thunk"]),
    ("retpolines", &["thunk"]),
    ("rt", &["rtlock", "rtmutex"]),
    ("slub", &["kfree", "kmalloc", "kmem", "slab"]),
];

/// Options on which code of every path depends, or the beginnings of their names: the compiler and
/// what it inserts, preemption, the tick, mitigations, and checks of locks and memory.
const EVERYWHERE: [&str; 30] = [
    "AUDITSYSCALL",
    "CC_OPTIMIZE",
    "CC_VERSION_TEXT",
    "CFI_CLANG",
    "CONTEXT_TRACKING",
    "DEBUG_PREEMPT",
    "DEBUG_SPINLOCK",
    "FUNCTION_TRACER",
    "HARDENED_USERCOPY",
    "HZ",
    "INIT_ON",
    "INIT_STACK",
    "KASAN",
    "KCOV",
    "KCSAN",
    "KMSAN",
    "LOCKDEP",
    "LTO",
    "MITIGATION",
    "NO_HZ",
    "PAGE_TABLE_ISOLATION",
    "PARAVIRT",
    "PREEMPT",
    "PROVE_LOCKING",
    "RANDOMIZE_KSTACK_OFFSET",
    "RETHUNK",
    "RETPOLINE",
    "SLUB_DEBUG",
    "STACKPROTECTOR",
    "UBSAN",
];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OptionDifference {
    /// Its name, without `CONFIG_`.
    pub name: String,
    /// Base's value, as the file has it; null where it is not set.
    pub base: Option<String>,
    pub new: Option<String>,
    /// Whether code of every path depends on it, as on how the kernel preempts.
    #[serde(default)]
    pub everywhere: bool,
    /// Functions that changed and fit its name: by a word of both, or by one that is known to go
    /// with it.
    pub likely: Vec<String>,
}

impl OptionDifference {
    /// Whether it is a module on one side, and nothing on the other.
    pub fn is_of_modules(&self) -> bool {
        let is_module = |side: &Option<String>| side.as_deref().is_none_or(|value| value == "m");
        is_module(&self.base) && is_module(&self.new)
    }
}

/// The options in which two configurations differ: those first on which every path depends, then
/// those that share most words with one of the functions `changed`; modules last, and of each kind
/// by name.
pub fn option_differences<'a>(
    base: &str,
    new: &str,
    changed: impl IntoIterator<Item = &'a str>,
) -> Vec<OptionDifference> {
    let (base, new) = (options(base), options(new));
    let changed: BTreeSet<&str> = changed.into_iter().collect();
    let changed: Vec<_> = changed.into_iter().map(|name| (name, words(name))).collect();
    let names: BTreeSet<&str> = base.keys().chain(new.keys()).copied().collect();
    let differing = names.into_iter().filter(|name| base.get(name) != new.get(name));
    let mut differences: Vec<(usize, OptionDifference)> = differing
        .map(|name| {
            let value = |side: &BTreeMap<&str, &str>| side.get(name).map(|&it| it.to_owned());
            let (name, base, new) = (name.to_owned(), value(&base), value(&new));
            let everywhere = is_everywhere(&name);
            let difference = OptionDifference { name, base, new, everywhere, likely: Vec::new() };
            if difference.is_of_modules() {
                return (0, difference);
            }
            let (score, likely) = likely(&difference.name, &changed);
            (score, OptionDifference { likely, ..difference })
        })
        .collect();
    // Stable: those of one score stay sorted by name.
    differences.sort_by_key(|(score, difference)| {
        (Reverse(difference.everywhere), Reverse(*score), difference.is_of_modules())
    });
    differences.into_iter().map(|(_, difference)| difference).collect()
}

fn is_everywhere(option: &str) -> bool {
    EVERYWHERE.iter().any(|begin| {
        option.strip_prefix(begin).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    })
}

/// How many words of an option are in the names of what changed, and those names.
fn likely(option: &str, changed: &[(&str, BTreeSet<String>)]) -> (usize, Vec<String>) {
    let about = about(option);
    let shared = |of: &BTreeSet<String>| about.iter().filter(|word| of.contains(*word)).count();
    let scored = changed.iter().map(|(name, of)| (shared(of), *name));
    let scored: Vec<(usize, &str)> = scored.filter(|(score, _)| *score > 0).collect();
    let most = scored.iter().map(|(score, _)| *score).max().unwrap_or(0);
    let names = scored.iter().filter(|(score, _)| *score == most);
    (most, names.map(|(_, name)| (*name).to_owned()).collect())
}

/// What an option is about: the words of its name, and what those stand for in functions' names.
fn about(option: &str) -> BTreeSet<String> {
    let mut about = words(option);
    for (word, stands_for) in ALIASES {
        if about.contains(word) {
            about.extend(stands_for.iter().map(|&word| word.to_owned()));
        }
    }
    about
}

/// The words of a name, in lower case, without those that say nothing.
fn words(name: &str) -> BTreeSet<String> {
    let parts = name.split(|c: char| !c.is_ascii_alphanumeric());
    let parts = parts.map(str::to_ascii_lowercase);
    parts.filter(|part| part.len() > 1 && !COMMON.contains(&part.as_str())).collect()
}

/// The options that a configuration sets. One that is `n` is not set.
fn options(text: &str) -> BTreeMap<&str, &str> {
    let set = text.lines().filter_map(|line| line.strip_prefix("CONFIG_")?.split_once('='));
    set.map(|(name, value)| (name, value.trim())).filter(|(_, value)| *value != "n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "# a comment\nCONFIG_HZ=250\nCONFIG_AUDIT=y\nCONFIG_ZPOOL=m\n\
        # CONFIG_PREEMPT_RT is not set\nCONFIG_SAME=y\n";
    const NEW: &str = "CONFIG_HZ=1000\n# CONFIG_AUDIT is not set\nCONFIG_PREEMPT_RT=y\n\
        CONFIG_SAME=y\nCONFIG_OFF=n\nCONFIG_ZPOOL=m\n";

    fn names(differences: &[OptionDifference]) -> Vec<&str> {
        differences.iter().map(|it| it.name.as_str()).collect()
    }

    #[test]
    fn what_differs_is_listed_by_name() {
        let differences = option_differences(BASE, NEW, []);
        assert_eq!(names(&differences), ["HZ", "PREEMPT_RT", "AUDIT"]);
        let [hz, _, audit] = &differences[..] else { panic!("{differences:?}") };
        assert_eq!((audit.base.as_deref(), audit.new.as_deref()), (Some("y"), None));
        assert_eq!((hz.base.as_deref(), hz.new.as_deref()), (Some("250"), Some("1000")));
        assert!(option_differences(BASE, BASE, ["rt_mutex_lock"]).is_empty());
    }

    #[test]
    fn what_shares_words_with_a_changed_function_is_first() {
        let changed = ["rt_mutex_lock", "tick_handle", "preempt_schedule", "rt_preempt_x"];
        let differences = option_differences(BASE, NEW, changed);
        assert_eq!(names(&differences), ["PREEMPT_RT", "HZ", "AUDIT"]);
        assert_eq!(differences[0].likely, ["rt_preempt_x"]);
        assert_eq!(differences[1].likely, ["tick_handle"]);
        assert!(differences[2].likely.is_empty());
    }

    #[test]
    fn what_every_path_depends_on_is_first() {
        let base = "CONFIG_AUDIT=y\nCONFIG_HZ_250=y\nCONFIG_HZX=y\nCONFIG_PREEMPT=y\n";
        let differences = option_differences(base, "", ["audit_log_exit"]);
        assert_eq!(names(&differences), ["HZ_250", "PREEMPT", "AUDIT", "HZX"]);
        let everywhere: Vec<bool> = differences.iter().map(|it| it.everywhere).collect();
        assert_eq!(everywhere, [true, true, false, false]);
    }

    #[test]
    fn what_is_only_a_module_is_last_and_no_hint() {
        let base = "CONFIG_A_TICK=m\nCONFIG_B=y\nCONFIG_C=m\n";
        let new = "CONFIG_C=y\nCONFIG_D=m\n";
        let differences = option_differences(base, new, ["tick_handle"]);
        assert_eq!(names(&differences), ["B", "C", "A_TICK", "D"]);
        assert!(differences.iter().all(|it| it.likely.is_empty()), "{differences:?}");
    }

    #[test]
    fn common_words_are_no_hint() {
        let differences = option_differences("CONFIG_ARCH_HAS_CPU=y\n", "", ["arch_cpu_idle"]);
        assert!(differences[0].likely.is_empty());
    }
}
