//! Probes, and how each path of the catalogue gets its own when this crate is compiled.

use pathmeter_catalogue::Path;

use crate::{
    failure::{Outcome, broken},
    report::Report,
};

/// A function that executes its path in every window of the report, and proves that it did.
pub type Probe = fn(&mut Report) -> Outcome;

/// The probes of a group: the path's name in the catalogue, and its probe.
pub(crate) type Probes = &'static [(&'static str, Probe)];

/// The probe of each of `paths`, in their order, from the tables of all groups.
///
/// # Panics
/// When compiled: if a path has no probe or several, or a probe has no path.
pub(crate) const fn linked<const N: usize>(paths: &[Path], groups: &[Probes]) -> [Probe; N] {
    assert!(paths.len() == N);
    let mut probes = [unlinked as Probe; N];
    let (mut index, mut rows) = (0, 0);
    while index < N {
        let (probe, found) = find(paths[index].name, groups);
        assert!(found > 0, "a path of the catalogue has no probe");
        assert!(found < 2, "a path of the catalogue has several probes");
        probes[index] = probe;
        index += 1;
    }
    let mut group = 0;
    while group < groups.len() {
        rows += groups[group].len();
        group += 1;
    }
    assert!(rows == N, "a probe has a name that the catalogue has not");
    probes
}

/// The last probe with this name, and how many there are.
const fn find(name: &str, groups: &[Probes]) -> (Probe, usize) {
    let (mut probe, mut found) = (unlinked as Probe, 0);
    let mut group = 0;
    while group < groups.len() {
        let mut row = 0;
        while row < groups[group].len() {
            if is(groups[group][row].0, name) {
                probe = groups[group][row].1;
                found += 1;
            }
            row += 1;
        }
        group += 1;
    }
    (probe, found)
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
fn unlinked(_: &mut Report) -> Outcome {
    broken!("no probe is linked to this path")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::prove;
    use pathmeter_catalogue::Kind;

    fn one(report: &mut Report) -> Outcome {
        prove!(report.windows() == 0, "a fresh report asks for no window");
        Ok(())
    }

    fn other(_: &mut Report) -> Outcome {
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
        let mut report = Report::default();
        assert!(first(&mut report).is_ok() && second(&mut report).is_err());
    }

    #[test]
    #[should_panic(expected = "has no probe")]
    fn a_path_without_a_probe_is_refused() {
        linked::<2>(&[path("a.one"), path("a.other")], &[&[("a.one", one)]]);
    }

    #[test]
    #[should_panic(expected = "has several probes")]
    fn a_path_with_two_probes_is_refused() {
        linked::<1>(&[path("a.one")], &[&[("a.one", one)], &[("a.one", other)]]);
    }

    #[test]
    #[should_panic(expected = "a name that the catalogue has not")]
    fn a_probe_without_a_path_is_refused() {
        linked::<1>(&[path("a.one")], &[&[("a.one", one), ("a.on", other)]]);
    }
}
