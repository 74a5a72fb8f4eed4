//! Paths that only a live host has, group by group, and the clock by itself.
//!
//! Each call is what the path's row in the catalogue says, in the loop that every path has, whose
//! own time `clock.empty` tells. A processor without an instruction kills its probe (SIGILL), which
//! is told as such.

#[path = "arch/x86_64/chain.rs"]
mod chain;
mod cross;
pub(crate) mod exec;
#[path = "arch/x86_64/insn.rs"]
mod insn;
mod ring;
mod tlb;

use pathmeter_probes::EMPTY;
use pathmeter_probes::{Outcome, Probe, ProbeReport, clock};

const CLOCK: &[(&str, Probe)] = &[(EMPTY, empty)];

/// The tables of all groups.
const GROUPS: &[&[(&str, Probe)]] =
    &[CLOCK, chain::PROBES, insn::PROBES, exec::PROBES, ring::PROBES, cross::PROBES, tlb::PROBES];

/// The probe of the path of this name; none if there is none.
pub(crate) fn probe(name: &str) -> Option<Probe> {
    let mut all = GROUPS.iter().copied().flatten();
    all.find(|(path, _)| *path == name).map(|(_, probe)| *probe)
}

fn empty(report: &mut ProbeReport) -> Outcome {
    report.execute(|| Ok(clock::window(|| ()).0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathmeter_probes::HOST;

    #[test]
    fn every_path_of_a_host_has_a_probe_and_there_are_no_others() {
        for path in HOST {
            assert!(probe(path.name).is_some(), "{}", path.name);
        }
        assert_eq!(GROUPS.concat().len(), HOST.len());
    }
}
