//! Which functions an inlined one is in.
//!
//! Source: DWARF 5, section 3.3.8 (`DW_TAG_inlined_subroutine`, `DW_AT_abstract_origin`).

use std::collections::{BTreeSet, HashMap};

use gimli::{
    AttributeValue, DW_AT_abstract_origin, DW_AT_name, DW_AT_specification,
    DW_TAG_inlined_subroutine, DW_TAG_subprogram, DebuggingInformationEntry, Dwarf, Reader as _,
    Unit, UnitOffset,
};

use crate::{Bytes, bounded};

/// The most functions named of each.
pub const MAX_HOLDERS: usize = 1024;
/// A name is at most so many references away: a copy's, the abstract function's, its declaration's.
const MAX_REFERENCES: usize = 4;

type Entry = DebuggingInformationEntry<Bytes>;

/// Of each of these functions the names of those into which it was inlined; absent if there are
/// none. What can't be read, or is in another unit, is passed over.
pub(crate) fn holders<'a>(dwarf: &Dwarf<Bytes>, names: impl IntoIterator<Item = &'a str>) -> Held {
    let mut held: Held = names.into_iter().map(|name| (name.to_owned(), BTreeSet::new())).collect();
    let mut headers = dwarf.units();
    while let Ok(Some(header)) = headers.next() {
        if let Ok(unit) = dwarf.unit(header) {
            // A damaged unit gives what came before the damage.
            let _ = of_unit(dwarf, &unit, &mut held);
        }
    }
    held.retain(|_, holders| !holders.is_empty());
    held
}

/// The holders of functions, by name.
pub(crate) type Held = HashMap<String, BTreeSet<String>>;

fn of_unit(dwarf: &Dwarf<Bytes>, unit: &Unit<Bytes>, held: &mut Held) -> gimli::Result<()> {
    let mut wanted = HashMap::new();
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs()? {
        if entry.tag() == DW_TAG_subprogram
            && let Some(name) = own_name(dwarf, unit, entry).filter(|name| held.contains_key(name))
        {
            wanted.insert(entry.offset(), name);
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
            && let Some((_, function)) = holder
            && let Some(name) = reference(entry).and_then(|origin| wanted.get(&origin))
            && let Some(holders) = held.get_mut(name).filter(|it| it.len() < MAX_HOLDERS)
        {
            holders.extend(name_of(dwarf, unit, function));
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
