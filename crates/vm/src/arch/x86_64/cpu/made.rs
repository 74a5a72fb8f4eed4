//! The CPU that QEMU made, beside the one that was asked for: what stands between the two, such as
//! a script in QEMU's place, may change it.

use std::collections::HashSet;

use serde_json::Value;

use super::Cpu;
use super::features::{CpuidRegister, FEATURES};

/// The registers, as QEMU names them.
const REGISTERS: [&str; 4] = ["EAX", "EBX", "ECX", "EDX"];

impl Cpu {
    /// The features that a CPU with these words of CPUID (QEMU's property `feature-words`) has and
    /// was not asked to have, or has not and was: `erms is off`. Nothing if the text is not ours,
    /// whose features are QEMU's affair.
    pub(crate) fn compare_features(&self, version: (u32, u32), words: &Value) -> Vec<String> {
        let asked: HashSet<&str> = self.properties(version).into_iter().collect();
        if asked.is_empty() {
            return Vec::new();
        }
        let mut changed = Vec::new();
        for word in FEATURES {
            // A QEMU that does not tell is not contradicted.
            let Some(made) = find_word(word.of, words) else { continue };
            for (bit, name) in word.kept {
                let is_on = made >> bit & 1 == 1;
                if is_on != asked.contains(name) {
                    changed.push(format!("{name} is {}", if is_on { "on" } else { "off" }));
                }
            }
        }
        changed
    }
}

/// What QEMU says that this register holds.
fn find_word(register: CpuidRegister, words: &Value) -> Option<u64> {
    let is_it = |word: &&Value| {
        let number = |name: &str| word[name].as_u64().unwrap_or(0);
        number("cpuid-input-eax") == u64::from(register.leaf)
            && number("cpuid-input-ecx") == u64::from(register.subleaf)
            && word["cpuid-register"] == REGISTERS[register.register]
    };
    words.as_array()?.iter().find(is_it)?["features"].as_u64()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What QEMU says of a CPU with these features.
    fn words(has: impl Fn(&str) -> bool) -> Value {
        let word = |word: &super::super::FeatureWord| {
            let bits = word.kept.iter().filter(|(_, name)| has(name));
            let features = bits.fold(0_u64, |all, (bit, _)| all | 1 << bit);
            let CpuidRegister { leaf, subleaf, register } = word.of;
            let mut told = json!({
                "cpuid-register": REGISTERS[register], "cpuid-input-eax": leaf,
                "features": features,
            });
            if leaf == 7 {
                told["cpuid-input-ecx"] = subleaf.into();
            }
            told
        };
        FEATURES.iter().map(word).collect()
    }

    #[test]
    fn a_feature_that_was_not_asked_for_and_one_that_is_missing_are_named() {
        let version = (10, 1);
        let cpu = Cpu::from_name("skylake");
        let asked: HashSet<&str> = cpu.properties(version).into_iter().collect();
        let changed = |has: &dyn Fn(&str) -> bool| cpu.compare_features(version, &words(has));
        assert_eq!(changed(&|name| asked.contains(name)), [""; 0]);
        assert!(asked.contains("erms") && !asked.contains("fsrm"));
        assert_eq!(changed(&|name| asked.contains(name) && name != "erms"), ["erms is off"]);
        assert_eq!(changed(&|name| asked.contains(name) || name == "fsrm"), ["fsrm is on"]);
    }

    #[test]
    fn a_cpu_of_qemus_own_and_a_qemu_that_does_not_tell_are_not_contradicted() {
        let all = words(|_| true);
        assert_eq!(Cpu::from_name("max").compare_features((7, 2), &all), [""; 0]);
        assert_eq!(Cpu::from_name("skylake").compare_features((7, 2), &json!([])), [""; 0]);
    }
}
