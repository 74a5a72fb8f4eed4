//! The code of a program or library: where in the file it is, and the names of its functions.
//!
//! Contract: the file is untrusted; what it says is bounded by its own size, and what is not
//! understood gives no code.

use std::cmp::Reverse;
use std::fs::File;

use object::elf::PF_X;
use object::{
    Object, ObjectSection, ObjectSegment, ObjectSymbol, ReadCache, ReadRef, SegmentFlags,
    SymbolKind,
};

/// What stands for the entries of a procedure linkage table, each of which jumps to a function.
pub const LINKAGE: &str = "[plt]";

/// Most symbols of a file of the host that are read: some times those of the largest browsers.
const MOST_SYMBOLS: usize = 1 << 23;
/// Most bytes that all names of these may have: names may lie in one another.
const MOST_NAME_BYTES: usize = 1 << 30;

/// The code of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Code {
    /// Its parts, as they are loaded.
    pub segments: Vec<CodeSegment>,
    /// Its functions, ascending by address, one for each.
    functions: Vec<CodeFunction>,
}

/// A part of a file that is loaded and executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeSegment {
    /// Where in the file it begins.
    pub offset: u64,
    /// Where in the program's addresses it begins.
    pub address: u64,
    /// Its bytes in the file.
    pub length: u64,
}

/// A function of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeFunction {
    /// Where it begins, in the program's addresses.
    pub address: u64,
    /// Its bytes; 0 if that is not known.
    pub size: u64,
    /// Its name, as the symbol table has it.
    pub name: String,
}

impl Code {
    /// Reads a file; `None` if it is no ELF file.
    pub fn read(elf: &[u8]) -> Option<Self> {
        Some(Self::of(&object::File::parse(elf).ok()?))
    }

    /// Reads a file of the host, of which only the tables of symbols are held in memory; `None` if
    /// it is no ELF file, or has more symbols than are kept.
    pub fn of_file(file: &File) -> Option<Self> {
        let cache = ReadCache::new(file);
        let file = object::File::parse(&cache).ok()?;
        has_few_symbols(&file).then(|| Self::of(&file))
    }

    fn of<'data>(file: &object::File<'data, impl ReadRef<'data>>) -> Self {
        let segments = file.segments().filter_map(|segment| {
            let SegmentFlags::Elf { p_flags, .. } = segment.flags() else { return None };
            let (offset, length) = segment.file_range();
            let is_code = p_flags.contains(PF_X) && length > 0;
            is_code.then(|| CodeSegment { offset, address: segment.address(), length })
        });
        Self { segments: segments.collect(), functions: functions(file) }
    }

    /// The address of what is at this place in the file, if it is code.
    pub fn address_of(&self, offset: u64) -> Option<u64> {
        let within = |segment: &&CodeSegment| {
            // Whole pages are loaded.
            offset.checked_sub(segment.offset & !0xfff).is_some()
                && offset - (segment.offset & !0xfff) < segment.length + (segment.offset & 0xfff)
        };
        let segment = self.segments.iter().find(within)?;
        Some(segment.address.wrapping_add(offset).wrapping_sub(segment.offset))
    }

    /// The function that holds this address.
    pub fn function_at(&self, address: u64) -> Option<&CodeFunction> {
        let after = self.functions.partition_point(|function| function.address <= address);
        let function = self.functions[..after].last()?;
        let within = function.size == 0 || address - function.address < function.size;
        within.then_some(function)
    }

    /// Where in the file functions begin, ascending, and where code without a name begins after
    /// one.
    pub fn starts(&self) -> Vec<u64> {
        let place = |address: u64| {
            let within = |segment: &&CodeSegment| {
                let after = address.checked_sub(segment.address);
                after.is_some_and(|after| after < segment.length)
            };
            let segment = self.segments.iter().find(within)?;
            (address - segment.address).checked_add(segment.offset)
        };
        let ends = |it: &CodeFunction| [it.address, it.address.saturating_add(it.size)];
        let mut starts: Vec<u64> = self.functions.iter().flat_map(ends).filter_map(place).collect();
        starts.sort_unstable();
        starts.dedup();
        starts
    }

    /// Whether the file names no function of its own.
    pub fn is_stripped(&self) -> bool {
        self.functions.iter().all(|function| function.name == LINKAGE)
    }

    /// The same with the functions that another file of the same build names.
    #[must_use]
    pub fn with_functions_of(self, debug: &Self) -> Self {
        let mut functions = debug.functions.clone();
        functions.extend(self.functions);
        Self { functions: ordered(functions), ..self }
    }
}

fn has_few_symbols<'data>(file: &object::File<'data, impl ReadRef<'data>>) -> bool {
    let mut bytes: usize = 0;
    file.symbols().chain(file.dynamic_symbols()).enumerate().all(|(number, symbol)| {
        bytes = bytes.saturating_add(symbol.name_bytes().map_or(0, <[u8]>::len));
        number < MOST_SYMBOLS && bytes <= MOST_NAME_BYTES
    })
}

fn functions<'data, R: ReadRef<'data>>(file: &object::File<'data, R>) -> Vec<CodeFunction> {
    let symbols = file.symbols().chain(file.dynamic_symbols());
    let code = symbols.filter(|it| it.kind() == SymbolKind::Text && !it.is_undefined());
    let function = |symbol: object::Symbol<'data, '_, R>| {
        let name = symbol.name().ok().filter(|name| !name.is_empty())?;
        let (address, size) = (symbol.address(), symbol.size());
        Some(CodeFunction { address, size, name: name.to_owned() })
    };
    let linkage = file.sections().filter_map(|section| {
        let is_linkage = section.name().is_ok_and(|name| name.starts_with(".plt"));
        let (address, size) = (section.address(), section.size());
        is_linkage.then(|| CodeFunction { address, size, name: LINKAGE.to_owned() })
    });
    ordered(code.filter_map(function).chain(linkage).collect())
}

/// By address; of several names of one that with the fewest underscores before it, of these the
/// shortest, of these the first by spelling.
fn ordered(mut functions: Vec<CodeFunction>) -> Vec<CodeFunction> {
    functions.sort_by(|one, other| {
        let key = |it: &CodeFunction| {
            let underscores = it.name.bytes().take_while(|byte| *byte == b'_').count();
            (it.address, Reverse(it.size > 0), underscores, it.name.len())
        };
        key(one).cmp(&key(other)).then_with(|| one.name.cmp(&other.name))
    });
    functions.dedup_by_key(|function| function.address);
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Vec<u8> {
        std::fs::read(std::env::current_exe().unwrap()).unwrap()
    }

    #[test]
    fn the_code_of_this_test_is_found_by_its_place_in_the_file() {
        let own = own();
        let code = Code::read(&own).unwrap();
        let offset = crate::file_offset(&own, "main").unwrap();
        let address = code.address_of(offset).unwrap();
        let main = code.function_at(address + 1).unwrap();
        assert_eq!((&*main.name, main.address), ("main", address));
        assert!(!code.is_stripped());
        assert!(code.starts().is_sorted() && code.starts().contains(&offset));
        assert_eq!(code.address_of(u64::MAX), None);
        assert_eq!(code.function_at(0), None);
    }

    #[test]
    fn what_is_no_program_has_no_code() {
        assert_eq!(Code::read(b"#!/bin/sh"), None);
        let own = own();
        // Whatever is cut off or overwritten: no panic, and no place that is not in the file.
        for length in (0..own.len()).step_by(own.len() / 50 + 1) {
            let _ = Code::read(&own[..length]);
        }
        let mut damaged = own;
        damaged[40..48].fill(0xff);
        let code = Code::read(&damaged);
        assert!(code.is_none_or(|code| code.functions.is_empty()));
    }

    #[test]
    fn one_name_stands_for_an_address() {
        let function =
            |address, size, name: &str| CodeFunction { address, size, name: name.into() };
        let two = vec![function(8, 4, "__read"), function(8, 4, "read"), function(8, 0, "re")];
        let code = Code { functions: ordered(two), ..Code::default() };
        assert_eq!(code.function_at(11), Some(&function(8, 4, "read")));
        assert_eq!(code.function_at(12), None);
        let plt = Code { functions: vec![function(16, 4, LINKAGE)], ..Code::default() };
        assert!(plt.is_stripped());
        assert!(!plt.with_functions_of(&code).is_stripped());
    }
}
