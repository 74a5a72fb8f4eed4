//! Probes, and how each path of the catalogue gets its own when this crate is compiled.

use pathmeter_catalogue::Path;

use crate::{
    failure::{Outcome, broken},
    report::ProbeReport,
};

/// A function that executes its path in every window of the report, and proves that it did.
pub type Probe = fn(&mut ProbeReport) -> Outcome;

/// The probes of a group: the path's name in the catalogue, and its probe.
pub(crate) type Probes = &'static [(&'static str, Probe)];

/// The probe of each of `paths`, in their order, from the tables of all groups.
///
/// # Panics
/// When compiled: if a path has no probe or several, or a probe has no path. The compiler says
/// which function below panicked, and the path's name.
pub(crate) const fn linked<const N: usize>(paths: &[Path], groups: &[Probes]) -> [Probe; N] {
    let mut found: [Option<Probe>; N] = [None; N];
    let mut number = 0;
    while let Some((name, probe)) = row(groups, number) {
        let place = place(paths, name);
        if found[place].is_some() {
            this_path_has_two_probes(name);
        }
        found[place] = Some(probe);
        number += 1;
    }
    let mut probes = [unlinked as Probe; N];
    let mut index = 0;
    while index < N {
        match found[index] {
            Some(probe) => probes[index] = probe,
            None => this_path_has_no_probe(paths[index].name),
        }
        index += 1;
    }
    probes
}

/// The row with this number, counted over all tables.
const fn row(groups: &[Probes], mut number: usize) -> Option<(&'static str, Probe)> {
    let mut group = 0;
    while group < groups.len() {
        if number < groups[group].len() {
            return Some(groups[group][number]);
        }
        number -= groups[group].len();
        group += 1;
    }
    None
}

/// The place of the path with this name.
const fn place(paths: &[Path], name: &str) -> usize {
    let mut index = 0;
    while index < paths.len() {
        if is(paths[index].name, name) {
            return index;
        }
        index += 1;
    }
    this_probe_has_no_path(name)
}

const fn this_path_has_no_probe(name: &str) -> ! {
    panic!("{}", name)
}

const fn this_path_has_two_probes(name: &str) -> ! {
    panic!("{}", name)
}

const fn this_probe_has_no_path(name: &str) -> ! {
    panic!("{}", name)
}

/// Whether two names are one: `==` is not yet for constants.
const fn is(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut byte = 0;
    while byte < one.len() {
        if one[byte] != other[byte] {
            return false;
        }
        byte += 1;
    }
    true
}

/// Stands in a table until its path's own probe is found.
fn unlinked(_: &mut ProbeReport) -> Outcome {
    broken!("no probe is linked to this path")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::prove;
    use pathmeter_catalogue::Kind;

    fn one(report: &mut ProbeReport) -> Outcome {
        prove!(report.windows() == 0, "a fresh report asks for no window");
        Ok(())
    }

    fn other(_: &mut ProbeReport) -> Outcome {
        broken!("the other one")
    }

    const fn path(name: &'static str) -> Path {
        Path { name, kind: Kind::Windows(1), about: "" }
    }

    #[test]
    fn a_probe_is_found_by_its_name_whatever_the_order() {
        let paths = [path("a.one"), path("a.other")];
        let groups: &[Probes] = &[&[("a.other", other)], &[("a.one", one)]];
        let [first, second] = linked::<2>(&paths, groups);
        let mut report = ProbeReport::default();
        assert!(first(&mut report).is_ok() && second(&mut report).is_err());
    }

    #[test]
    #[should_panic(expected = "a.other")]
    fn a_path_without_a_probe_is_refused() {
        linked::<2>(&[path("a.one"), path("a.other")], &[&[("a.one", one)]]);
    }

    #[test]
    #[should_panic(expected = "a.one")]
    fn a_path_with_two_probes_is_refused() {
        linked::<1>(&[path("a.one")], &[&[("a.one", one)], &[("a.one", other)]]);
    }

    #[test]
    #[should_panic(expected = "a.third")]
    fn a_probe_without_a_path_is_refused() {
        linked::<1>(&[path("a.one")], &[&[("a.one", one), ("a.third", other)]]);
    }
}
