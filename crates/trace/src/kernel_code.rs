//! The kernel's functions, by the text of `/proc/kallsyms`: names to addresses.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};

use crate::symbols::{MAX_KALLSYMS_BYTES, SymbolsError};

/// Symbols of the kernel's own code: names by address, addresses by name.
pub(crate) struct KernelCode<'a> {
    pub(crate) by_address: BTreeMap<u64, Vec<&'a str>>,
    /// Of each name all addresses, in the table's order.
    pub(crate) by_name: BTreeMap<&'a str, Vec<u64>>,
}

impl<'a> KernelCode<'a> {
    /// # Errors
    /// The text is no symbol table, or has no function.
    pub(crate) fn read(text: &'a [u8]) -> Result<Self, SymbolsError> {
        if text.len() > MAX_KALLSYMS_BYTES {
            return Err(SymbolsError::TooLong(text.len()));
        }
        let mut code = Self { by_address: BTreeMap::new(), by_name: BTreeMap::new() };
        for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
            if line.is_empty() {
                continue;
            }
            let (address, kind, name) = parse(line).ok_or(SymbolsError::Line(index + 1))?;
            if matches!(kind, b't' | b'T' | b'w' | b'W') && address >> 63 == 1 {
                code.by_address.entry(address).or_default().push(name);
                let named = code.by_name.entry(name).or_default();
                if !named.contains(&address) {
                    named.push(address);
                }
            }
        }
        if code.by_address.is_empty() { Err(SymbolsError::Empty) } else { Ok(code) }
    }

    /// Where the function with this name is; of several the one that the table has first.
    pub(crate) fn first(&self, name: &str) -> Option<u64> {
        self.by_name.get(name)?.first().copied()
    }

    /// Where the code at `address` ends at the latest: at the next symbol.
    pub(crate) fn end(&self, address: u64) -> u64 {
        let next = self.by_address.range((Excluded(address), Unbounded)).next();
        next.map_or(address.saturating_add(1), |(next, _)| *next)
    }

    /// Functions whose names begin so, by name; of several with one name the one that the table
    /// has first.
    pub(crate) fn starting_with(
        &self,
        prefix: &'static str,
    ) -> impl Iterator<Item = (&'a str, u64)> {
        let from =
            self.by_name.range(prefix..).take_while(move |(name, _)| name.starts_with(prefix));
        from.filter_map(|(name, addresses)| Some((*name, *addresses.first()?)))
    }
}

/// Address, type and name of a line; only the kernel's own symbols have no fourth word.
fn parse(line: &[u8]) -> Option<(u64, u8, &str)> {
    let mut words = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    let address = u64::from_str_radix(words.next()?, 16).ok()?;
    let kind = words.next()?.bytes().next()?;
    let name = words.next()?;
    // A module's code is entered from the kernel's.
    Some(if words.next().is_some() { (0, kind, name) } else { (address, kind, name) })
}
