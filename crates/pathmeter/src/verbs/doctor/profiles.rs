//! The CPU profiles, as `doctor` shows them: which machine each is, whether this QEMU can have it,
//! and what it has less than the machine.

use pathmeter_vm::{Cpu, Lack, PROFILES, Profile};
use serde::Serialize;

use super::check::Check;
use crate::verbs::list::cpus::machine::{Machine, Nearness};

/// A CPU that `--cpu` names.
#[derive(Serialize)]
pub(super) struct ProfileReport {
    name: &'static str,
    /// The machine that it stands for, or on which it is a guest.
    machine: &'static str,
    /// Whether it is what a guest on the machine sees.
    guest: bool,
    /// Whether this QEMU can have it.
    available: bool,
    /// The oldest tested QEMU that can have it, if an older one can't.
    needs_qemu: Option<&'static str>,
    /// What this QEMU has no name for.
    missing: Vec<&'static str>,
    /// What the machine has and the profile has not.
    lacks: Vec<LackReport>,
}

/// Something that the interpreter can't execute.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
struct LackReport {
    name: &'static str,
    /// What follows from that for a measurement.
    means: &'static str,
}

impl ProfileReport {
    /// One with what QEMU has no name for.
    pub(super) fn new((profile, missing): (&'static Profile, Vec<&'static str>)) -> Self {
        let lack = |&Lack { name, means, .. }: &Lack| LackReport { name, means };
        let (name, machine) = (profile.name, profile.machine);
        let lacks = profile.lacks.iter().map(lack).collect();
        let (guest, available) = (profile.is_guest(), missing.is_empty());
        let needs_qemu = profile.needs_qemu();
        Self { name, machine, guest, available, needs_qemu, missing, lacks }
    }
}

/// How many profiles this QEMU can have, and which it can't; none without profiles.
pub(super) fn check(profiles: &[ProfileReport]) -> Option<Check> {
    let elsewhere: Vec<&ProfileReport> = profiles.iter().filter(|it| !it.available).collect();
    let here = profiles.len() - elsewhere.len();
    let found = format!("{here} of {} CPU profiles", profiles.len());
    let machines: Vec<&str> = elsewhere.iter().filter(|it| !it.guest).map(|it| it.name).collect();
    let others = (!machines.is_empty()).then(|| {
        let oldest = elsewhere.iter().find_map(|profile| profile.needs_qemu);
        let needs = oldest
            .map_or_else(|| "another QEMU".to_owned(), |oldest| format!("QEMU {oldest} or newer"));
        format!("; {}, also as guests, need {needs}: --profiles", machines.join(", "))
    });
    let found = found + &others.unwrap_or_default();
    (!profiles.is_empty()).then(|| Check::ok("profiles", found))
}

/// How near a profile comes to this machine.
#[derive(Serialize)]
pub(super) struct Nearest {
    name: &'static str,
    /// How many features both of them have.
    features_equal: usize,
    /// Features that only this machine has, of those that a profile may have.
    features_missing: Vec<&'static str>,
    /// Features that only the profile has.
    features_more: Vec<&'static str>,
    /// Files on vulnerabilities that read alike on a guest and here; null if it is not known what
    /// a kernel of this machine's branch prints on the profile.
    states_equal: Option<usize>,
    /// The files that read differently.
    states_different: Vec<String>,
}

impl Nearest {
    /// The nearest of the profiles that list features.
    pub(super) fn find() -> Option<Self> {
        let machine = Machine::here().ok()?;
        let distance = |near: &Nearness| near.only_here.len() + near.only_there.len();
        let all = PROFILES.iter().filter(|profile| profile.features().next().is_some());
        let (profile, near) = all
            .map(|profile| (profile, machine.nearness(profile)))
            .min_by_key(|(_, near)| distance(near))?;
        let known = Cpu::from_name(profile.name).states(machine.release());
        let known: Vec<_> = known.iter().flat_map(pathmeter_vm::KnownStates::lines).collect();
        let here = |file: &str| machine.states().get(file).map(String::as_str);
        let both = || known.iter().filter_map(|(file, line)| Some((file, *line == here(file)?)));
        let different = both().filter(|(_, equal)| !equal).map(|(file, _)| (*file).to_owned());
        Some(Self {
            name: profile.name,
            features_equal: near.equal,
            features_missing: near.only_here,
            features_more: near.only_there,
            states_equal: (!known.is_empty()).then(|| both().filter(|(_, equal)| *equal).count()),
            states_different: different.collect(),
        })
    }

    /// Lines for people; `profiles` says whether this QEMU can have it.
    pub(super) fn text(&self, profiles: &[ProfileReport]) -> String {
        let is_it = |it: &&ProfileReport| it.name == self.name && !it.available;
        let elsewhere = profiles.iter().find(is_it).map_or("", |_| " (not with this QEMU)");
        let mut text = format!(
            "\nNearest to this machine's CPU (`pathmeter list cpus --capture` writes its own): \
             {}{elsewhere}\n  features alike: {}\n",
            self.name, self.features_equal
        );
        for (what, names) in [
            ("only on this machine", &self.features_missing),
            ("only in the profile", &self.features_more),
        ] {
            if !names.is_empty() {
                text += &line(2, what, &names.join(", "));
            }
        }
        let Some(equal) = self.states_equal else { return text };
        text += &line(2, "files on vulnerabilities alike", &equal.to_string());
        if !self.states_different.is_empty() {
            text += &line(2, "files that differ", &self.states_different.join(", "));
        }
        text
    }
}

/// The list, and what it means that something is left out; nothing without profiles.
pub(super) fn text(profiles: &[ProfileReport]) -> String {
    if profiles.is_empty() {
        return String::new();
    }
    let width = profiles.iter().map(|profile| profile.name.len()).max().unwrap_or(0);
    let (here, elsewhere): (Vec<_>, Vec<_>) =
        profiles.iter().partition(|profile| profile.available);
    let mut lines: String = here.into_iter().map(|profile| lines(profile, width)).collect();
    if !elsewhere.is_empty() {
        lines += "Not with this QEMU (--qemu FILE names another):\n";
        lines.extend(elsewhere.into_iter().map(|profile| missing_lines(profile, width)));
    }
    let mut lacks: Vec<LackReport> = Vec::new();
    for lack in profiles.iter().flat_map(|profile| &profile.lacks) {
        if !lacks.contains(lack) {
            lacks.push(*lack);
        }
    }
    let meanings: String = lacks.iter().map(|lack| line(2, lack.name, lack.means)).collect();
    format!(
        "\nCPU profiles (--cpu NAME; docs/reference/cpu.md):\n{lines}\nLeft out where the machine \
         has it, since QEMU's interpreter can't execute it:\n{meanings}"
    )
}

fn lines(profile: &ProfileReport, width: usize) -> String {
    let as_guest = if profile.guest { ", as a guest sees it" } else { "" };
    let first = format!("  {:width$}  {}{as_guest}\n", profile.name, profile.machine);
    if profile.guest {
        // Its machine's own lines say what it is without.
        return first;
    }
    let indent = width + 4;
    let names: Vec<_> = profile.lacks.iter().map(|lack| lack.name).collect();
    let without = (!names.is_empty()).then(|| line(indent, "without", &names.join(", ")));
    first + &without.unwrap_or_default()
}

/// A profile that this QEMU can't have, and why.
fn missing_lines(profile: &ProfileReport, width: usize) -> String {
    let ProfileReport { needs_qemu, missing, .. } = profile;
    let needs = needs_qemu.map(|version| format!("QEMU {version} or newer; "));
    let why = format!("{}this one lacks {}", needs.unwrap_or_default(), missing.join(", "));
    lines(profile, width) + &line(width + 4, "needs", &why)
}

fn line(indent: usize, what: &str, text: &str) -> String {
    format!("{:indent$}{what}: {text}\n", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_says_what_it_is_without_and_what_stands_in_its_way() {
        let lack = LackReport { name: "rdpid", means: "slower" };
        let (machine, lacks) = ("AMD", vec![lack]);
        let report = |name, guest, available, missing: &[&'static str]| {
            let (missing, lacks, needs_qemu) = (missing.to_vec(), lacks.clone(), Some("10.0"));
            ProfileReport { name, machine, guest, available, needs_qemu, missing, lacks }
        };
        let elsewhere = |name, guest| report(name, guest, false, &["a", "b"]);
        let here = report("zen2-guest", true, true, &[]);
        let all = [elsewhere("zen3", false), elsewhere("zen3-guest", true), here];
        let counted =
            "1 of 3 CPU profiles; zen3, also as guests, need QEMU 10.0 or newer: --profiles";
        assert_eq!(check(&all).unwrap().found, counted);
        assert!(check(&[]).is_none());
        let lines = text(&all);
        let head = "\nNot with this QEMU (--qemu FILE names another):\n";
        let (can, can_not) = lines.split_once(head).unwrap();
        assert!(can.ends_with("\n  zen2-guest  AMD, as a guest sees it"), "{lines}");
        assert!(can_not.contains("  zen3        AMD\n"), "{lines}");
        let needs = "\n              needs: QEMU 10.0 or newer; this one lacks a, b\n";
        assert_eq!(can_not.matches(needs).count(), 2, "{lines}");
        assert!(can_not.contains("\n              without: rdpid\n"), "{lines}");
        assert!(lines.ends_with("\n  rdpid: slower\n"), "{lines}");
        assert_eq!(text(&[]), "");
    }
}
