//! Names for addresses: the trait that the decoder asks, and the kernel's own symbol table.
//!
//! The table is the text of `/proc/kallsyms` as the guest's init saw it.

use std::{borrow::Cow, collections::BTreeMap};

use crate::{
    kernel::{
        kallsyms::{self, KernelSymbol, SymbolsError},
        names::{Functions, is_limit, unlinked},
    },
    recording::tree::SourceLine,
};

/// An address this far after the last symbol before it belongs to something without a symbol.
const MAX_FUNCTION_BYTES: u64 = 1 << 20;

/// The function that an address lies in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location<'a> {
    pub name: &'a str,
    /// The module that it belongs to; `None` for the kernel proper.
    pub module: Option<&'a str>,
    /// Bytes from the function's start.
    pub offset: u64,
}

/// What can give names to addresses.
pub trait Resolve {
    /// The function at `address`; `None` if there is none known.
    fn resolve(&self, address: u64) -> Option<Location<'_>>;

    /// The names of the functions inlined at `address`, outermost first.
    fn inlined(&self, _address: u64) -> Vec<String> {
        Vec::new()
    }

    /// The lines of the source that the instruction at `address` is in: that of the called
    /// function first, then one for each function inlined there. So the last is its own, the
    /// others are the lines of calls. Empty if not known.
    fn lines(&self, _address: u64) -> Vec<SourceLine> {
        Vec::new()
    }
}

/// No names at all: functions are called by their entry addresses.
#[derive(Clone, Copy, Debug)]
pub struct NoSymbols;

impl Resolve for NoSymbols {
    fn resolve(&self, _address: u64) -> Option<Location<'_>> {
        None
    }
}

/// The functions of a kernel, by address.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    table: Vec<Symbol>,
    modules: Vec<String>,
    names: String,
}

#[derive(Clone, Copy, Debug)]
struct Symbol {
    address: u64,
    /// Where the name stands in `names`.
    name: u32,
    /// Its bytes; 0 for the limit of a section, where no function is.
    length: u16,
    /// One more than the index of its module; 0 for the kernel proper.
    module: u16,
}

impl Symbols {
    /// Reads the text of `/proc/kallsyms`.
    pub fn parse(text: &[u8]) -> Result<Self, SymbolsError> {
        let mut lines = Vec::new();
        let mut functions = Functions::default();
        let mut hidden = false;
        for symbol in kallsyms::lines(text)? {
            functions.see(symbol.name);
            let line = Line { symbol, name: unlinked(symbol.name) };
            hidden |= line.is_code() && symbol.address == 0;
            if line.is_code() && symbol.address != 0 {
                lines.push(line);
            }
        }
        let symbols = Self::of(lines, &functions);
        match (symbols.is_empty(), hidden) {
            (false, _) => Ok(symbols),
            (true, true) => Err(SymbolsError::Restricted),
            (true, false) => Err(SymbolsError::Empty),
        }
    }

    fn of(mut lines: Vec<Line<'_>>, functions: &Functions<'_>) -> Self {
        lines.sort_unstable_by_key(|line| line.symbol.address);
        let mut symbols = Self::default();
        let mut modules = BTreeMap::new();
        for of_address in lines.chunk_by(|line, next| line.symbol.address == next.symbol.address) {
            let address = of_address[0].symbol.address;
            let named = of_address.iter().filter(|line| !is_limit(&line.name));
            match named.min_by(|one, other| one.rank(functions).cmp(&other.rank(functions))) {
                Some(line) => {
                    let module =
                        line.symbol.module.map_or(0, |name| symbols.module(&mut modules, name));
                    symbols.push(address, &line.name, module);
                }
                // No function reaches beyond the limit of its section.
                None => symbols.push(address, "", 0),
            }
        }
        symbols
    }

    /// The number of a module; past the last number, modules go without a name.
    fn module<'a>(&mut self, numbers: &mut BTreeMap<&'a str, u16>, name: &'a str) -> u16 {
        let Ok(next) = u16::try_from(self.modules.len() + 1) else { return 0 };
        *numbers.entry(name).or_insert_with(|| {
            self.modules.push(name.to_owned());
            next
        })
    }

    fn push(&mut self, address: u64, name: &str, module: u16) {
        // Both fit: the text is at most 64 MiB, a name at most MAX_NAME.
        let place = u32::try_from(self.names.len()).ok().zip(u16::try_from(name.len()).ok());
        if let Some((start, length)) = place {
            self.names.push_str(name);
            self.table.push(Symbol { address, name: start, length, module });
        }
    }

    /// How many functions the table has.
    pub fn len(&self) -> usize {
        self.table.iter().filter(|symbol| symbol.length > 0).count()
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    fn location(&self, symbol: Symbol, address: u64) -> Location<'_> {
        let start = symbol.name as usize;
        let module = usize::from(symbol.module).checked_sub(1);
        Location {
            name: &self.names[start..start + usize::from(symbol.length)],
            module: module.map(|index| self.modules[index].as_str()),
            offset: address - symbol.address,
        }
    }
}

impl Resolve for Symbols {
    fn resolve(&self, address: u64) -> Option<Location<'_>> {
        let after = self.table.partition_point(|symbol| symbol.address <= address);
        let symbol = *self.table[..after].last()?;
        let is_in = symbol.length > 0 && address - symbol.address < MAX_FUNCTION_BYTES;
        is_in.then(|| self.location(symbol, address))
    }
}

/// One line of the text.
struct Line<'a> {
    symbol: KernelSymbol<'a>,
    /// Without what a link-time optimizer appended.
    name: Cow<'a, str>,
}

impl<'a> Line<'a> {
    /// Whether it is code's. A name that begins with a dot is a label in the midst of a function.
    fn is_code(&self) -> bool {
        self.symbol.is_text() && !self.name.starts_with('.')
    }

    /// The least of an address gives it its name.
    fn rank(&self, functions: &Functions<'_>) -> impl Ord + use<'_, 'a> {
        (functions.rank(&self.name), self.symbol.module)
    }
}
