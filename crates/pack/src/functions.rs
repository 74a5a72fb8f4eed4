//! Functions of a program by name, for `--region-function`: found in its symbol table, told by
//! their first bytes and where in a page they stand, since a program may be placed anywhere.

use std::collections::BTreeSet;

use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};

/// A function of an executable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name, as the symbol table has it.
    pub name: String,
    /// Its address in a page of 4 KiB.
    pub in_page: u64,
    /// Its first bytes: at most [`KNOWN_BYTES`].
    pub bytes: Vec<u8>,
}

/// Bytes of a function that tell it from others.
pub const KNOWN_BYTES: usize = 32;

/// The functions whose names `wanted` holds for, by name. Empty if `elf` is no ELF file or is
/// stripped.
pub fn functions(elf: &[u8], wanted: impl Fn(&str) -> bool) -> Vec<Function> {
    let Ok(file) = object::File::parse(elf) else { return Vec::new() };
    let of = |symbol: object::Symbol<'_, '_>| {
        let name = symbol.name().ok().filter(|name| wanted(name))?;
        let section = file.section_by_index(symbol.section_index()?).ok()?;
        let size = usize::try_from(symbol.size()).ok().filter(|size| *size > 0)?;
        let length = u64::try_from(size.min(KNOWN_BYTES)).ok()?;
        let bytes = section.data_range(symbol.address(), length).ok()??;
        let in_page = symbol.address() & 0xfff;
        Some(Function { name: name.to_owned(), in_page, bytes: bytes.to_vec() })
    };
    let code = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text);
    let mut found: Vec<Function> = code.filter_map(of).collect();
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found.dedup();
    found
}

/// Where in the file the function of this name begins, by its symbols or its dynamic ones.
///
/// # Errors
/// How many functions have this name, if it is not one.
pub fn file_offset(elf: &[u8], name: &str) -> Result<u64, usize> {
    let file = object::File::parse(elf).map_err(|_| 0_usize)?;
    let offset = |symbol: object::Symbol<'_, '_>| {
        let section = file.section_by_index(symbol.section_index()?).ok()?;
        let (begin, _) = section.file_range()?;
        symbol.address().checked_sub(section.address())?.checked_add(begin)
    };
    let code = file.symbols().chain(file.dynamic_symbols());
    let named = code.filter(|it| it.kind() == SymbolKind::Text && it.name() == Ok(name));
    let offsets: BTreeSet<u64> = named.filter_map(offset).collect();
    match (offsets.first(), offsets.len()) {
        (Some(offset), 1) => Ok(*offset),
        (_, count) => Err(count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_tests_own_functions_are_found() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let found = functions(&own, |name| name.contains("this_tests_own_functions_are_found"));
        assert!(!found.is_empty());
        assert!(found.iter().all(|one| !one.bytes.is_empty() && one.in_page < 4096));
        assert_eq!(functions(&own, |_| false), []);
        assert_eq!(functions(b"#!/bin/sh", |_| true), []);
    }

    #[test]
    fn an_offset_in_the_file_is_where_the_functions_bytes_are() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let main = functions(&own, |name| name == "main");
        let offset = usize::try_from(file_offset(&own, "main").unwrap()).unwrap();
        assert!(own[offset..].starts_with(&main[0].bytes));
        assert_eq!(file_offset(&own, "no such function"), Err(0));
        assert_eq!(file_offset(b"#!/bin/sh", "main"), Err(0));
    }
}
