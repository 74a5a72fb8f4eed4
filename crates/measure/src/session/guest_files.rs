//! The guest's own files on vulnerabilities, beside those that a kernel of the same branch is known
//! to have on the same CPU.

use pathmeter_model::{GuestReport, UnexpectedState};
use pathmeter_vm::{Cpu, Facts};

/// What the guest printed about its CPU, compared with what is known of this CPU and release.
pub(crate) fn guest_report(facts: &Facts, cpu: &Cpu, release: Option<&str>) -> GuestReport {
    let report = GuestReport::new(&facts.cpuinfo, &facts.vulnerabilities);
    let known = release.and_then(|release| cpu.states(release));
    let Some(known) = known.filter(|_| report.vulnerabilities.is_some()) else { return report };
    let unexpected = facts.vulnerabilities.iter().filter_map(|(file, found)| {
        let expected = known.line(file)?;
        let differs = !known.agrees(file, found);
        let [file, expected, found] = [file, expected, found].map(str::to_owned);
        differs.then_some(UnexpectedState { file, expected, found })
    });
    let unexpected = unexpected.collect();
    GuestReport { compared_with: Some(known.kernel), unexpected, ..report }
}

/// What the user is told if the files read differently.
pub(crate) fn note_of(guest: &GuestReport, cpu: &str) -> Option<String> {
    let GuestReport { compared_with: Some(kernel), unexpected, .. } = guest else { return None };
    let first = unexpected.first()?;
    let more = match unexpected.len() {
        1 => String::new(),
        all => format!("; {} more differ (`guest.unexpected` in the document)", all - 1),
    };
    Some(format!(
        "on {cpu} this kernel's file vulnerabilities/{} reads {:?}, where {kernel} reads \
         {:?}{more}",
        first.file, first.found, first.expected
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a Debian 6.1 says on `skylake`, but for one file.
    fn facts(file: &str, line: &str) -> Facts {
        let known = Cpu::from_name("skylake").states("6.1.0-55-cloud-amd64").unwrap();
        let mut facts = Facts::default();
        for name in ["meltdown", "mds", "srbds", "new"] {
            let line = known.line(name).unwrap_or("Vulnerable");
            facts.vulnerabilities.insert(name.into(), line.into());
        }
        facts.vulnerabilities.insert(file.into(), line.into());
        facts
    }

    #[test]
    fn a_guest_that_prints_what_is_known_is_not_remarked_upon() {
        let skylake = Cpu::from_name("skylake");
        let guest = guest_report(&facts("srbds", "Not affected"), &skylake, Some("6.1.9"));
        assert_eq!((guest.unexpected.len(), note_of(&guest, "skylake")), (0, None));
        assert!(guest.compared_with.unwrap().starts_with("Debian 6.1."));
    }

    #[test]
    fn a_kernel_without_kvm_is_not_remarked_upon() {
        let facts = facts("itlb_multihit", "Processor vulnerable");
        let guest = guest_report(&facts, &Cpu::from_name("skylake"), Some("6.1.9"));
        assert_eq!((guest.unexpected.len(), guest.compared_with.is_some()), (0, true));
    }

    #[test]
    fn a_guest_that_prints_something_else_is() {
        let (skylake, facts) = (Cpu::from_name("skylake"), facts("meltdown", "Vulnerable"));
        let guest = guest_report(&facts, &skylake, Some("6.1.9"));
        let [one] = &guest.unexpected[..] else { panic!("{guest:?}") };
        assert_eq!((&*one.file, &*one.expected), ("meltdown", "Mitigation: PTI"));
        let note = note_of(&guest, "skylake").unwrap();
        assert!(note.contains("vulnerabilities/meltdown reads \"Vulnerable\""), "{note}");
        let other_branch = guest_report(&facts, &skylake, Some("5.4.1"));
        assert_eq!((other_branch.compared_with, other_branch.unexpected), (None, vec![]));
    }

    #[test]
    fn a_kernel_without_the_files_is_compared_with_nothing() {
        let guest = guest_report(&Facts::default(), &Cpu::from_name("skylake"), Some("6.1.9"));
        assert_eq!(guest, GuestReport::default());
    }
}
