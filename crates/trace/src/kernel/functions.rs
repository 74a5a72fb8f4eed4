//! The kernel's functions, by the text of `/proc/kallsyms`: names to addresses.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;
use std::ops::Bound::{Excluded, Unbounded};

use crate::kernel::kallsyms::{KernelSymbol, SymbolsError, lines};
use crate::kernel::names::folded;

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
        let mut code = Self { by_address: BTreeMap::new(), by_name: BTreeMap::new() };
        // A module's code is entered from the kernel's.
        let own = |symbol: &KernelSymbol<'_>| symbol.is_text() && symbol.module.is_none();
        for symbol in lines(text)?.into_iter().filter(own) {
            let KernelSymbol { address, name, .. } = symbol;
            if address >> 63 == 1 {
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

/// The lines of the table of places by which the plugin is told where functions begin: those of the
/// kernel and its modules, ascending.
///
/// # Errors
/// The text is no symbol table.
pub fn start_lines(kallsyms: &[u8]) -> Result<String, SymbolsError> {
    let functions = lines(kallsyms)?.into_iter().filter(KernelSymbol::is_text);
    let starts: BTreeSet<u64> = functions.map(|symbol| symbol.address).collect();
    let of_kernel = starts.range(1 << 63..);
    Ok(of_kernel.fold(String::new(), |mut table, start| {
        // Writing to a String can't fail.
        let _ = writeln!(table, "y {start:x}");
        table
    }))
}

/// The names of all functions in the text of `/proc/kallsyms`, modules' too, without what compilers
/// appended.
///
/// # Errors
/// The text is no symbol table.
pub fn function_names(text: &[u8]) -> Result<HashSet<&str>, SymbolsError> {
    let functions = lines(text)?.into_iter().filter(KernelSymbol::is_text);
    Ok(functions.map(|symbol| folded(symbol.name)).collect())
}
