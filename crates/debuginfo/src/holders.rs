//! Which functions an inlined one is in.
//!
//! Source: DWARF 5, section 3.3.8 (`DW_TAG_inlined_subroutine`, `DW_AT_abstract_origin`).

use std::collections::{BTreeSet, HashSet};

use gimli::{
    AttributeValue, DW_AT_abstract_origin, DW_AT_name, DW_AT_specification,
    DW_TAG_inlined_subroutine, DW_TAG_subprogram, DebuggingInformationEntry, Dwarf, Reader as _,
    Unit, UnitOffset,
};

use crate::{Bytes, bounded};

/// The most functions named.
pub const MAX_HOLDERS: usize = 1024;
/// A name is at most so many references away: a copy's, the abstract function's, its declaration's.
const MAX_REFERENCES: usize = 4;

type Entry = DebuggingInformationEntry<Bytes>;

/// The names of the functions into which `name` was inlined, ascending. What can't be read, or is
/// in another unit, is passed over.
pub(crate) fn holders(dwarf: &Dwarf<Bytes>, name: &str) -> Vec<String> {
    let mut found = BTreeSet::new();
    let mut headers = dwarf.units();
    while let (Ok(Some(header)), true) = (headers.next(), found.len() < MAX_HOLDERS) {
        if let Ok(unit) = dwarf.unit(header) {
            // A damaged unit gives what came before the damage.
            let _ = of_unit(dwarf, &unit, name, &mut found);
        }
    }
    found.into_iter().take(MAX_HOLDERS).collect()
}

fn of_unit(
    dwarf: &Dwarf<Bytes>,
    unit: &Unit<Bytes>,
    name: &str,
    found: &mut BTreeSet<String>,
) -> gimli::Result<()> {
    let mut wanted = HashSet::new();
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs()? {
        if entry.tag() == DW_TAG_subprogram && own_name(dwarf, unit, entry).as_deref() == Some(name)
        {
            wanted.insert(entry.offset());
        }
    }
    if wanted.is_empty() {
        return Ok(());
    }
    // The function that the entries are in, and how deep its own is.
    let mut holder: Option<(isize, UnitOffset)> = None;
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs()? {
        holder = holder.filter(|(depth, _)| entry.depth() > *depth);
        if entry.tag() == DW_TAG_subprogram {
            holder = Some((entry.depth(), entry.offset()));
        } else if entry.tag() == DW_TAG_inlined_subroutine
            && reference(entry).is_some_and(|origin| wanted.contains(&origin))
            && let Some((_, function)) = holder
        {
            found.extend(name_of(dwarf, unit, function));
        }
    }
    Ok(())
}

fn own_name(dwarf: &Dwarf<Bytes>, unit: &Unit<Bytes>, entry: &Entry) -> Option<String> {
    let name = dwarf.attr_string(unit, entry.attr_value(DW_AT_name)?).ok()?;
    Some(bounded(&name.to_string_lossy().ok()?))
}

/// The entry of which this one is a copy, or that declares it.
fn reference(entry: &Entry) -> Option<UnitOffset> {
    let origin = entry.attr_value(DW_AT_abstract_origin);
    match origin.or_else(|| entry.attr_value(DW_AT_specification))? {
        AttributeValue::UnitRef(offset) => Some(offset),
        _ => None,
    }
}

/// Its own name, or that of what it is a copy of.
fn name_of(dwarf: &Dwarf<Bytes>, unit: &Unit<Bytes>, mut at: UnitOffset) -> Option<String> {
    for _ in 0..MAX_REFERENCES {
        let entry = unit.entry(at).ok()?;
        if let Some(name) = own_name(dwarf, unit, &entry) {
            return Some(name);
        }
        at = reference(&entry)?;
    }
    None
}
