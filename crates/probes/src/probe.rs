//! Probes, and the tables in which each stands beside its path.

use crate::{
    failure::Outcome,
    path::{Kind, Path},
    report::ProbeReport,
};

/// A function that executes its path in every window of the report, and proves that it did.
pub type Probe = fn(&mut ProbeReport) -> Outcome;

/// A path, and the probe that executes it.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    path: Path,
    probe: Probe,
}

/// The paths of a group, in the order in which they are shown.
pub(crate) type Probes = &'static [Row];

/// A row of such a table: the path's name, its kind, what is measured in one line, its probe.
pub(crate) const fn row(name: &'static str, kind: Kind, about: &'static str, probe: Probe) -> Row {
    Row { path: Path { name, kind, about }, probe }
}

/// How many paths all groups have.
pub(crate) const fn count(groups: &[Probes]) -> usize {
    let (mut group, mut all) = (0, 0);
    while group < groups.len() {
        all += groups[group].len();
        group += 1;
    }
    all
}

/// The paths of all groups.
pub(crate) const fn paths<const N: usize>(groups: &[Probes]) -> [Path; N] {
    let mut paths = [groups[0][0].path; N];
    let mut index = 0;
    while index < N {
        paths[index] = nth(groups, index).path;
        index += 1;
    }
    paths
}

/// Their probes, in the same order.
pub(crate) const fn probes<const N: usize>(groups: &[Probes]) -> [Probe; N] {
    let mut probes = [groups[0][0].probe; N];
    let mut index = 0;
    while index < N {
        probes[index] = nth(groups, index).probe;
        index += 1;
    }
    probes
}

/// The row with this number, counted over all groups.
const fn nth(groups: &[Probes], mut number: usize) -> Row {
    let mut group = 0;
    while number >= groups[group].len() {
        number -= groups[group].len();
        group += 1;
    }
    groups[group][number]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::{broken, prove};

    fn one(report: &mut ProbeReport) -> Outcome {
        prove!(report.windows() == 0, "a fresh report asks for no window");
        Ok(())
    }

    fn other(_: &mut ProbeReport) -> Outcome {
        broken!("the other one")
    }

    #[test]
    fn a_probe_has_the_place_of_its_path() {
        const GROUPS: &[Probes] = &[
            &[row("a.one", Kind::Check, "", one)],
            &[],
            &[row("b.other", Kind::Check, "", other), row("b.one", Kind::Check, "", one)],
        ];
        let names = paths::<{ count(GROUPS) }>(GROUPS).map(|path| path.name);
        assert_eq!(names, ["a.one", "b.other", "b.one"]);
        let mut report = ProbeReport::default();
        let passed = probes::<{ count(GROUPS) }>(GROUPS).map(|probe| probe(&mut report).is_ok());
        assert_eq!(passed, [true, false, true]);
    }
}
