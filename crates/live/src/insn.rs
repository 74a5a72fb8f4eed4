//! Paths that only a live host has: the clock by itself, and single instructions.
//!
//! Each call is the instruction with the few that it needs beside it, in the loop that every path
//! has, whose own time `clock.empty` tells. Proof: the instruction's effect, after each batch. A
//! processor without the instruction kills the probe (SIGILL), which is told as such.

#[path = "arch/x86_64/insn.rs"]
mod code;

use pathmeter_catalogue::{CHAIN, CHAIN_LENGTH, EMPTY};
use pathmeter_probes::{Outcome, Probe, ProbeReport, batch, clock};

/// The probe of the path of this name; none if there is none.
pub(crate) fn probe(name: &str) -> Option<Probe> {
    let own: &[(&str, Probe)] = &[(EMPTY, empty), (CHAIN, chain)];
    let all = own.iter().chain(code::PROBES);
    all.into_iter().find(|(path, _)| *path == name).map(|(_, probe)| *probe)
}

fn empty(report: &mut ProbeReport) -> Outcome {
    report.execute(|| Ok(clock::window(|| ()).0))
}

const _: () = assert!(CHAIN_LENGTH <= batch::MOST_ADDITIONS);

fn chain(report: &mut ProbeReport) -> Outcome {
    report.execute(|| Ok(clock::window(|| batch::additions(CHAIN_LENGTH)).0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathmeter_catalogue::HOST;

    #[test]
    fn every_path_of_a_host_has_a_probe_and_there_are_no_others() {
        for path in HOST {
            assert!(probe(path.name).is_some(), "{}", path.name);
        }
        assert_eq!(code::PROBES.len() + 2, HOST.len());
    }
}
