//! The names of files in a folder of results, which begin with their cell's id.

use crate::id::is_id;

/// What a file is, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// The result of the cell.
    Result,
    /// Why a try gave no result.
    Failure,
    /// A result other than the one that was there.
    Conflict,
    /// How two results of a cell differ.
    Finding,
    /// What had the result's name and was none.
    Damaged,
}

/// What stands between the id and the rest of a name.
const KINDS: [(Kind, &str); 4] = [
    (Kind::Failure, ".failure-"),
    (Kind::Conflict, ".conflict-"),
    (Kind::Finding, ".finding-"),
    (Kind::Damaged, ".damaged-"),
];

const JSON: &str = ".json";

/// The name of a cell's result.
pub(crate) fn result(id: &str) -> String {
    format!("{id}{JSON}")
}

/// The name of another file of a cell's; `rest` tells it from others of its kind.
pub(crate) fn other(id: &str, kind: Kind, rest: &str) -> String {
    let part = KINDS.iter().find(|(known, _)| *known == kind).map_or("", |(_, part)| part);
    format!("{id}{part}{rest}{JSON}")
}

/// The cell's id and the kind of a file, if it is one of a cell's.
pub(crate) fn kind(name: &str) -> Option<(&str, Kind)> {
    let name = name.strip_suffix(JSON)?;
    let (id, rest) = name.split_at_checked(crate::id::DIGITS).filter(|(id, _)| is_id(id))?;
    if rest.is_empty() {
        return Some((id, Kind::Result));
    }
    KINDS.iter().find(|(_, part)| rest.starts_with(part)).map(|(kind, _)| (id, *kind))
}

/// How the names of lists begin that tell which node wrote what.
pub(crate) const NODES: &str = "nodes";

/// Whether it is such a list.
pub(crate) fn is_nodes(name: &str) -> bool {
    name.strip_suffix(".jsonl").is_some_and(|name| name.starts_with(NODES))
}

/// A text as part of a file's name: no folders, nothing hidden, not long.
pub(crate) fn plain(text: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    text.chars().map(allowed).take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_under_a_name_is_found_as_what_it_is() {
        let id = "0123456789abcdef0123456789abcdef";
        assert_eq!(kind(&result(id)), Some((id, Kind::Result)));
        for (known, _) in KINDS {
            assert_eq!(kind(&other(id, known, "x-1")), Some((id, known)));
        }
        for name in ["", ".json", "x.json", &format!("{id}x.json"), &format!("{id}.other-1.json")] {
            assert_eq!(kind(name), None, "{name}");
        }
        assert_eq!(kind(&format!("{id}.json.tmp")), None);
        assert_eq!(kind("éééééééééééééééééééé.json"), None);
    }

    #[test]
    fn no_node_can_write_elsewhere_by_its_name() {
        assert_eq!(plain("../../etc/x y"), "______etc_x_y");
        assert_eq!(plain(&"n".repeat(300)).len(), 64);
    }
}
