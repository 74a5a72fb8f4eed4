//! What `--under` names: a kernel's condition, the CPU of its guest if that is part of it, and what
//! only the processes of a live host have.

use pathmeter_host::Setting;
use pathmeter_model::suggestion::find_close;
use pathmeter_vm::{Condition, Cpu, NAMES, SettingKind, Settings};

use crate::condition::sources;

/// What comes before a CPU among settings.
const CPU: &str = "cpu:";

/// A condition, with the guest's CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Under {
    /// The CPU, if it is named: else that of `--cpu`.
    pub cpu: Option<Cpu>,
    /// The settings of the kernel.
    pub condition: Condition,
    /// What only a live host has.
    pub live: Vec<Setting>,
}

impl Under {
    /// Reads settings, separated by spaces; filters are made programs.
    ///
    /// # Errors
    /// What is no setting, or contradicts another one.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (cpus, words): (Vec<&str>, Vec<&str>) =
            text.split_whitespace().partition(|word| word.starts_with(CPU));
        let cpu = match &cpus[..] {
            [] => None,
            [cpu] => Some(cpu_model(&cpu[CPU.len()..])?),
            [one, other, ..] => return Err(format!("{one} and {other} set the same")),
        };
        let (mut live, mut others) = (Vec::new(), Vec::new());
        for word in words {
            match Setting::parse(word) {
                Some(setting) => add(&mut live, setting?)?,
                None => others.push(word),
            }
        }
        let condition = condition(&others.join(" "))?;
        Ok(Self { cpu, condition, live })
    }

    /// All settings but the CPU, as the user may write them; `default` if there are none.
    pub fn name(&self) -> String {
        let live = self.live.iter().map(ToString::to_string);
        let rest = self.condition.to_string();
        let rest = (self.live.is_empty() || !self.condition.is_default()).then_some(rest);
        live.chain(rest).collect::<Vec<_>>().join(" ")
    }

    /// The guest's settings, if those without it are `usual`.
    pub fn settings(&self, usual: &Settings) -> Settings {
        let cpu = self.cpu.as_ref().unwrap_or(&usual.cpu).clone();
        Settings { cpu, condition: self.condition.clone(), ..usual.clone() }
    }
}

/// Reads settings of a kernel, separated by spaces.
///
/// # Errors
/// What is no setting, with what was probably meant, or contradicts another one.
pub fn condition(text: &str) -> Result<Condition, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    sources::condition(text).map_err(|error| format!("{error}{}", suggest(&words)))
}

/// Adds a setting, of which there is one of each kind.
fn add(settings: &mut Vec<Setting>, setting: Setting) -> Result<(), String> {
    if let Some(other) = settings.iter().find(|other| other.is_like(&setting)) {
        return Err(format!("{other} and {setting} set the same"));
    }
    settings.push(setting);
    Ok(())
}

/// What the first of these words may have been meant to be, if it begins with no kind of setting.
fn suggest(words: &[&str]) -> String {
    let kinds = SettingKind::SET.iter().map(|kind| kind.name());
    let kinds = kinds.chain(sources::kinds()).chain([&CPU[..CPU.len() - 1]]);
    let kinds: Vec<&str> = kinds.chain(Setting::KINDS).collect();
    let mut settings = words.iter().filter_map(|word| word.split_once(':'));
    let unknown = settings.find(|(kind, _)| !kinds.contains(kind));
    let Some((kind, rest)) = unknown else {
        let bare = words.iter().find(|word| **word != "default" && !word.contains(':'));
        return bare
            .map_or_else(String::new, |word| format!("; did you mean {}?", with_kind(word)));
    };
    let close =
        find_close(kind, &kinds).first().map(|kind| format!("; did you mean {kind}:{rest}?"));
    close.unwrap_or_default()
}

/// A setting that was given without its kind, with the kind that its name suggests.
fn with_kind(word: &str) -> String {
    let name = word.split('=').next().unwrap_or_default();
    let kind = match word {
        word if word.contains('=') && name.contains('/') => "sysfs",
        word if word.contains('=') && name.contains('.') => "sysctl",
        _ => "boot",
    };
    format!("{kind}:{word}")
}

/// A profile or a CPU model, not QEMU's request for a list of them.
pub fn cpu_model(text: &str) -> Result<Cpu, String> {
    match text {
        "" => Err(format!("give the name of a profile ({NAMES}) or of a model")),
        "help" | "?" => Err(format!(
            "give the name of a profile ({NAMES}) or of a model; `qemu-system-x86_64 -cpu help` \
             lists those"
        )),
        "native" | "host" => {
            Err("guests are interpreted and can't have this machine's CPU: `max` \
            is all that QEMU can execute, and `pathmeter list cpus --capture` writes what this \
            machine's has to a file for --cpu"
                .to_owned())
        }
        text => Cpu::read(text).map_err(|error| error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_is_a_setting_among_others() {
        let under = Under::parse("boot:nopti cpu:skylake sysctl:vm.swappiness=1").unwrap();
        assert_eq!(under.cpu, Some(Cpu::from_name("skylake")));
        assert_eq!(under.condition.to_string(), "boot:nopti sysctl:vm.swappiness=1");
        let alone = Under::parse("cpu:skylake").unwrap();
        assert!(alone.condition.is_default());
        assert_eq!(Under::parse("default").unwrap().cpu, None);
    }

    #[test]
    fn what_only_a_live_host_has_is_there_once() {
        let under = Under::parse("ioports:1024 seccomp:docker perf:a:b").unwrap();
        assert_eq!(under.live.len(), 2);
        assert!(under.name().starts_with("ioports:1024 perf:a:b seccomp:docker"));
        for alone in ["default", "ioports:1", "boot:nopti"] {
            assert_eq!(Under::parse(alone).unwrap().name(), alone);
        }
        let twice = Under::parse("ioports:1 ioports:2").unwrap_err();
        assert_eq!(twice, "ioports:1 and ioports:2 set the same");
        let close = Under::parse("pref:a:b").unwrap_err();
        assert!(close.ends_with("; did you mean perf:a:b?"), "{close}");
    }

    #[test]
    fn a_misspelt_kind_of_setting_is_proposed_right() {
        for (wrong, right) in [
            ("bot:nopti", "boot:nopti"),
            ("sysctrl:a=1", "sysctl:a=1"),
            ("mitigations=off", "boot:mitigations=off"),
            ("vm.swappiness=1", "sysctl:vm.swappiness=1"),
            ("landlok:4", "landlock:4"),
            ("kernel/mm/ksm/run=1", "sysfs:kernel/mm/ksm/run=1"),
        ] {
            let told = Under::parse(wrong).unwrap_err();
            assert!(told.ends_with(&format!("; did you mean {right}?")), "{told}");
        }
        assert!(!Under::parse("boot:").unwrap_err().contains("did you mean"));
    }

    #[test]
    fn what_is_no_cpu_and_two_of_them_are_refused() {
        assert!(Under::parse("cpu:help").unwrap_err().contains("the name of a profile"));
        assert!(Under::parse("cpu:").is_err());
        let twice = Under::parse("cpu:skylake cpu:icelake").unwrap_err();
        assert_eq!(twice, "cpu:skylake and cpu:icelake set the same");
        assert!(Under::parse("default boot:x").is_err());
    }

    #[test]
    fn a_list_of_models_is_no_model() {
        assert!(cpu_model("native").unwrap_err().contains("list cpus --capture"));
        assert!(cpu_model("help").unwrap_err().contains(NAMES));
        assert_eq!(cpu_model("max"), Ok(Cpu::from_name("max")));
        assert!(cpu_model("./nowhere.toml").unwrap_err().contains("./nowhere.toml"));
    }
}
