//! What numbers were measured with, in a line: it stands below every table, on every page and in
//! every format that people read.

use std::collections::BTreeSet;

use pathmeter_model::SideInfo;
use pathmeter_trace::{MeasuredWith, SettingProof, SettingState};

use crate::style::Style;

/// The command line of a Linux guest to which the user appended nothing.
pub const USUAL_COMMAND_LINE: &str =
    "console=ttyS0 quiet panic=-1 reboot=t cryptomgr.notests nokaslr nolapic_timer";

/// The longest text of QEMU's that a line has in full; the document has all of it.
const LONGEST: usize = 60;

/// `QEMU 7.2.22, the fixed machine, cpu skylake, 384 MiB, 6 perturbed runs`, and what was set.
pub(crate) fn measured_with(with: &MeasuredWith) -> String {
    let MeasuredWith { qemu, memory_mib, runs, condition, .. } = with;
    let s = if *runs == 1 { "" } else { "s" };
    let usual =
        format!("QEMU {qemu}, {}, {memory_mib} MiB, {runs} perturbed run{s}", machine(with));
    let proofs: Vec<String> = with.proofs.iter().map(proof).collect();
    let settings = if proofs.is_empty() { condition.clone() } else { proofs.join(", ") };
    let under = Some(format!("under {settings}")).filter(|_| !condition.is_empty());
    let words = with.command_line.strip_prefix(USUAL_COMMAND_LINE);
    let words = words.unwrap_or(&with.command_line).trim();
    // What a kernel ignores of these is not looked for: --under boot:WORD does that.
    let unproved =
        if with.command_line.starts_with(USUAL_COMMAND_LINE) { " (unproved)" } else { "" };
    let words = Some(format!("command line {words}{unproved}")).filter(|_| !words.is_empty());
    let program = with.program.as_ref().map(|program| format!("program {program}"));
    [Some(usual), under, words, program].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// `boot:audit=1 (proved: the kernel's log reads …)`.
pub(crate) fn proof(proof: &SettingProof) -> String {
    let SettingProof { setting, state, shown } = proof;
    let state = match state {
        SettingState::Proved => "proved",
        SettingState::Unproved => "unproved",
        SettingState::Moot => "no difference on this CPU",
    };
    format!("{setting} ({state}: {shown})")
}

/// What stands above the numbers of a side whose settings are not all proved.
pub(crate) fn doubt(with: &MeasuredWith) -> Option<String> {
    let not_proved = with.proofs.iter().filter(|it| it.state != SettingState::Proved);
    let not_proved: Vec<String> = not_proved.map(proof).collect();
    (!not_proved.is_empty()).then(|| not_proved.join(", "))
}

/// The fixed machine is known by that name; any other one is spelled out, as far as that is short.
pub(crate) fn machine(with: &MeasuredWith) -> String {
    let profile = profile(&with.cpu);
    if with.portable {
        let cpu = profile.map_or_else(String::new, |name| format!(", cpu {name}"));
        return format!("the fixed machine{cpu}");
    }
    let cpu = cpu_name(&with.cpu);
    let cpus = match with.cpus {
        1 => String::new(),
        several => format!(", {several} CPUs"),
    };
    format!("{}, cpu {cpu}{cpus}", short(&with.machine))
}

/// The name of a CPU: that of its profile, or else QEMU's text, as far as that is short.
pub(crate) fn cpu_name(cpu: &str) -> String {
    profile(cpu).map_or_else(|| short(cpu), str::to_owned)
}

/// The name of a subject without the condition that it was measured under.
pub(crate) fn strip_condition<'a>(name: &'a str, condition: &str) -> &'a str {
    name.strip_suffix(&format!(" under {condition}")).unwrap_or(name)
}

/// The name with which a profile's description begins.
fn profile(cpu: &str) -> Option<&str> {
    cpu.split_once(": ").map(|(name, _)| name)
}

fn short(text: &str) -> String {
    match text.split_once(',') {
        Some((first, _)) if text.len() > LONGEST => format!("{first},…"),
        _ => text.to_owned(),
    }
}

/// The same of two sides: once if they are alike, else of each with its heading. Nothing is known
/// of documents that were made before this was kept.
pub(crate) fn of_two(base: Option<&MeasuredWith>, new: Option<&MeasuredWith>) -> Vec<String> {
    let [base, new] = [base, new].map(|with| with.map(measured_with));
    if base == new {
        return base.into_iter().collect();
    }
    let headed = [("base", base), ("new", new)].into_iter();
    headed.filter_map(|(side, text)| Some(format!("{side}: {}", text?))).collect()
}

/// The same of a comparison.
pub(crate) fn of_sides(base: &SideInfo, new: &SideInfo) -> Vec<String> {
    of_two(base.measured_with.as_ref(), new.measured_with.as_ref())
}

/// The lines below a table.
pub(crate) fn lines(base: &SideInfo, new: &SideInfo, style: Style) -> String {
    let lines = of_sides(base, new).into_iter();
    lines.map(|line| style.quiet(&line)).collect()
}

/// The lines below an experiment: one for all its subjects, if they were measured alike.
pub(crate) fn of_many(with: &[MeasuredWith]) -> Vec<String> {
    let lines: BTreeSet<String> = with.iter().map(measured_with).collect();
    lines.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(condition: &str, command_line: &str) -> MeasuredWith {
        MeasuredWith {
            qemu: "7.2.22".into(),
            machine: "microvm,acpi=off".into(),
            cpu: "skylake: model 85".into(),
            cpus: 1,
            portable: true,
            memory_mib: 384,
            runs: 6,
            command_line: command_line.into(),
            condition: condition.into(),
            proofs: vec![],
            program: None,
        }
    }

    #[test]
    fn a_program_is_named() {
        let with = MeasuredWith { program: Some("/bin/true".into()), ..with("", "") };
        assert!(measured_with(&with).ends_with(", program /bin/true"));
    }

    #[test]
    fn what_was_set_stands_in_the_line_and_what_is_usual_does_not() {
        let usual = "QEMU 7.2.22, the fixed machine, cpu skylake, 384 MiB, 6 perturbed runs";
        assert_eq!(measured_with(&with("", USUAL_COMMAND_LINE)), usual);
        let words = format!("{USUAL_COMMAND_LINE} nopti");
        let text = measured_with(&with("sysctl:vm.swappiness=1", &words));
        assert_eq!(
            text,
            format!("{usual}, under sysctl:vm.swappiness=1, command line nopti (unproved)")
        );
    }

    #[test]
    fn what_proves_a_setting_stands_beside_it_and_what_does_not_is_told_twice() {
        let proof_of = |setting: &str, state| SettingProof {
            setting: setting.into(),
            state,
            shown: "a file reads \"1\"".into(),
        };
        let one = proof_of("boot:a", SettingState::Proved);
        let sure = MeasuredWith { proofs: vec![one.clone()], ..with("boot:a", "") };
        let text = measured_with(&sure);
        assert!(text.contains("under boot:a (proved: a file reads \"1\")"), "{text}");
        assert_eq!(doubt(&sure), None);
        let proofs = vec![one, proof_of("boot:b", SettingState::Unproved)];
        let unsure = MeasuredWith { proofs, ..with("boot:a boot:b", "") };
        assert_eq!(doubt(&unsure).as_deref(), Some("boot:b (unproved: a file reads \"1\")"));
    }

    #[test]
    fn two_sides_that_differ_have_a_line_each() {
        let (base, new) = (with("", ""), MeasuredWith { cpu: "icelake: 6".into(), ..with("", "") });
        assert_eq!(of_two(Some(&base), Some(&base)).len(), 1);
        let lines = of_two(Some(&base), Some(&new));
        assert!(lines[0].starts_with("base: ") && lines[0].contains("cpu skylake"), "{lines:?}");
        assert!(lines[1].starts_with("new: ") && lines[1].contains("cpu icelake"), "{lines:?}");
        assert_eq!(of_two(None, None), [""; 0]);
    }
}
