//! Windows between two points of the kernel: what a user or the catalogue asks for, and the table
//! that tells the plugins where that is in one kernel (`plugin/kernel/points.h`).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::arch::entries;
use crate::kernel::functions::KernelCode;
use crate::kernel::kallsyms::SymbolsError;
use crate::kernel::names::folded;
use crate::kernel::point_window::{Place, Point, PointWindow};

/// Why a window can't be looked for in a kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PointsError {
    /// The symbol table can't be read.
    #[error(transparent)]
    Symbols(#[from] SymbolsError),
    /// None of these is a function.
    #[error("this kernel has no function {}", .functions.join(", or "))]
    Missing {
        /// The names that were looked for.
        functions: Vec<String>,
    },
    /// A name is that of several functions.
    #[error(
        "this kernel has {} functions that are called {function}: name one by its address, of {}",
        .addresses.len(), hexadecimal(.addresses)
    )]
    Ambiguous { function: String, addresses: Vec<u64> },
    /// A place is not in the function that it counts from.
    #[error("{function}+{offset:#x} is not in {function}, which has {size:#x} bytes")]
    Beyond {
        function: String,
        /// Bytes from the function's beginning.
        offset: u64,
        /// The function's size in bytes, at most.
        size: u64,
    },
    /// An address is not one of the kernel's.
    #[error("{0:#x} is an address of programs: the kernel's have the highest bit set")]
    NotKernel(u64),
    /// There are more points than the plugins take.
    #[error("these windows have more points than a table holds")]
    TooMany,
}

/// Addresses that an error shows.
const MOST_SHOWN: usize = 8;

fn hexadecimal(addresses: &[u64]) -> String {
    let shown = addresses.iter().take(MOST_SHOWN).map(|address| format!("{address:#x}"));
    let more = (addresses.len() > MOST_SHOWN).then(|| "…".to_owned());
    shown.chain(more).collect::<Vec<_>>().join(", ")
}

/// Most points of a table; `plugin/kernel/points.h` takes as many.
const MAX_POINTS: usize = 256;
/// Most windows of a table; the header takes as many, too.
pub(crate) const MAX_WINDOWS: usize = 32;
/// Most ranges of code of one kind, likewise.
const MAX_RANGES: usize = 512;

/// The table of a kernel's points.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PointTable {
    text: String,
    windows: usize,
    points: usize,
}

/// Makes the tables of one kernel.
pub struct PointFinder<'a> {
    code: KernelCode<'a>,
}

/// What a name of a point stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    /// One function, which there must be.
    One,
    /// All functions of that name that there are, of several names.
    All,
}

impl<'a> PointFinder<'a> {
    /// For the kernel with this text of `/proc/kallsyms`.
    ///
    /// # Errors
    /// It is no such text, or has no function.
    pub fn new(kallsyms: &'a [u8]) -> Result<Self, PointsError> {
        Ok(Self { code: KernelCode::read(kallsyms)? })
    }

    /// The names of all functions, ascending.
    pub fn functions(&self) -> impl Iterator<Item = &'a str> {
        self.code.by_name.keys().copied()
    }

    /// Where the functions with exactly this name are, in the symbol table's order.
    pub fn addresses_of(&self, name: &str) -> &[u64] {
        self.code.by_name.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// A table with no window yet.
    pub fn table(&self) -> PointTable {
        let mut table = PointTable::default();
        let mut entries = 0;
        let mut range = |letter, first: u64, end: u64| {
            // Writing to a String can't fail, here and below.
            let _ = writeln!(table.text, "{letter} {first:x} {end:x}");
        };
        for (name, address) in
            entries::ENTRY_PREFIXES.iter().flat_map(|start| self.code.starting_with(start))
        {
            if entries < MAX_RANGES - entries::ENTRY_TABLES.len() && !name.contains('.') {
                range('i', address, address + 1);
                entries += 1;
            }
        }
        for first in entries::SWITCHES.iter().filter_map(|name| self.code.first(name)) {
            range('s', first, self.code.end(first));
        }
        for first in entries::ENTRY_TABLES.iter().filter_map(|name| self.code.first(name)) {
            range('i', first, self.code.end(first));
        }
        for (first, end) in
            entries::IDLE.iter().flat_map(|name| self.find_code_ranges(name)).take(MAX_RANGES)
        {
            range('d', first, end);
        }
        table
    }

    /// Adds a window to the table, for the paths with these indices. Each of its names must be
    /// that of one function; the copies that a compiler made of it count as one.
    ///
    /// # Errors
    /// A place is not in this kernel, or may be any of several. The table is as it was.
    pub fn add(
        &self,
        table: &mut PointTable,
        window: &PointWindow,
        paths: impl IntoIterator<Item = usize>,
    ) -> Result<(), PointsError> {
        self.add_named(table, &self.choose_points(window)?, paths, Names::One)
    }

    /// Chooses one point for each end of the window: of several, the first that this kernel has.
    ///
    /// # Errors
    /// It has none of them, or one may be any of several places.
    pub fn choose_points(&self, window: &PointWindow) -> Result<PointWindow, PointsError> {
        let (from, to) = (self.first(&window.from)?, self.first(&window.to)?);
        Ok(PointWindow { from: vec![from], to: vec![to], ..window.clone() })
    }

    fn first(&self, points: &[Point]) -> Result<Point, PointsError> {
        let mut missing = Vec::new();
        for point in points {
            let letters = (['b', 'B'], Names::One);
            match self.points(&mut String::new(), 0, letters, std::slice::from_ref(point)) {
                Ok(_) => return Ok(point.clone()),
                Err(PointsError::Missing { functions }) => missing.extend(functions),
                Err(error) => return Err(error),
            }
        }
        Err(PointsError::Missing { functions: missing })
    }

    /// The same of a window that names what its points are called in any kernel: those that this
    /// one has count, all of them.
    ///
    /// # Errors
    /// This kernel has no begin or no end of it. The table is as it was.
    pub fn add_any(
        &self,
        table: &mut PointTable,
        window: &PointWindow,
        paths: impl IntoIterator<Item = usize>,
    ) -> Result<(), PointsError> {
        self.add_named(table, window, paths, Names::All)
    }

    fn add_named(
        &self,
        table: &mut PointTable,
        window: &PointWindow,
        paths: impl IntoIterator<Item = usize>,
        names: Names,
    ) -> Result<(), PointsError> {
        let number = table.windows;
        let flags = [window.same_task, window.latest, window.stamped].into_iter().enumerate();
        let how: u8 = flags.map(|(bit, flag)| u8::from(flag) << bit).sum();
        let origins = window.origins.bits();
        let mut text = format!("w {number:x} {origins:x} {how:x} {:x}\n", window.nth);
        let mut points = 0;
        for (letters, asked) in [(['b', 'B'], &window.from), (['e', 'E'], &window.to)] {
            points += self.points(&mut text, number, (letters, names), asked)?;
        }
        if number == MAX_WINDOWS || table.points + points > MAX_POINTS {
            return Err(PointsError::TooMany);
        }
        for path in paths {
            let _ = writeln!(text, "p {path:x} {number:x}");
        }
        table.text.push_str(&text);
        table.windows += 1;
        table.points += points;
        Ok(())
    }

    /// Writes those of the points that there are; there must be one.
    fn points(
        &self,
        text: &mut String,
        window: usize,
        ([at_entry, at_return], names): ([char; 2], Names),
        points: &[Point],
    ) -> Result<usize, PointsError> {
        let mut lines: Vec<String> = Vec::new();
        for point in points {
            if point.place == Place::Program {
                lines.push(format!("U {window:x} 0 0 0"));
                continue;
            }
            let letter = if matches!(point.place, Place::Return(_)) { at_return } else { at_entry };
            let from = match point.callers[..] {
                [] => vec![(0, 0)],
                [..] => self.callers(point, names)?,
            };
            for address in self.addresses(&point.place, names)? {
                let line = |(first, end): &(u64, u64)| {
                    format!("{letter} {window:x} {address:x} {first:x} {end:x}")
                };
                lines.extend(from.iter().map(line));
            }
        }
        if lines.is_empty() {
            return Err(PointsError::Missing {
                functions: points.iter().map(Point::to_string).collect(),
            });
        }
        for line in &lines {
            let _ = writeln!(text, "{line}");
        }
        Ok(lines.len())
    }

    /// The code that control may come from.
    fn callers(&self, point: &Point, names: Names) -> Result<Vec<(u64, u64)>, PointsError> {
        let each = point.callers.iter().map(|caller| self.functions_of(caller, names));
        Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
    }

    fn addresses(&self, place: &Place, names: Names) -> Result<Vec<u64>, PointsError> {
        match place {
            Place::Program => Ok(Vec::new()),
            Place::Address(address) if address >> 63 == 0 => Err(PointsError::NotKernel(*address)),
            Place::Address(address) => Ok(vec![*address]),
            Place::Return(name) | Place::Function(name, 0) => {
                let found = self.functions_of(name, names)?;
                Ok(found.into_iter().map(|(first, _)| first).collect())
            }
            Place::Function(name, offset) => self.within(name, *offset),
        }
    }

    /// The address so many bytes after the beginning of a function, of which there must be one and
    /// no copies.
    fn within(&self, name: &str, offset: u64) -> Result<Vec<u64>, PointsError> {
        let function = name.to_owned();
        match self.functions_of(name, Names::One)?[..] {
            [(first, end)] if offset < end - first => Ok(vec![first + offset]),
            [(first, end)] => Err(PointsError::Beyond { function, offset, size: end - first }),
            ref several => {
                let addresses = several.iter().map(|(first, _)| *first).collect();
                Err(PointsError::Ambiguous { function, addresses })
            }
        }
    }

    fn functions_of(&self, name: &str, names: Names) -> Result<Vec<(u64, u64)>, PointsError> {
        let found = self.find_code_ranges(name);
        if names == Names::One {
            if found.is_empty() {
                return Err(PointsError::Missing { functions: vec![name.to_owned()] });
            }
            if let Some(addresses) = self.symbols(name).find(|all| all.len() > 1) {
                let (function, addresses) = (name.to_owned(), addresses.clone());
                return Err(PointsError::Ambiguous { function, addresses });
            }
        }
        Ok(found)
    }

    /// Finds the code of the functions with this name, with or without what compilers append to
    /// it. The parts that they moved elsewhere are left out, unless it is the name of one.
    fn find_code_ranges(&self, name: &str) -> Vec<(u64, u64)> {
        let all = self.symbols(name).flatten();
        all.map(|first| (*first, self.code.end(*first))).collect()
    }

    /// The addresses of each symbol of these functions.
    fn symbols<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'s Vec<u64>> {
        let all: &BTreeMap<&'s str, Vec<u64>> = &self.code.by_name;
        let names = all.range(name..);
        let like = names.take_while(move |(symbol, _)| symbol.starts_with(name));
        let same = like.filter(move |(symbol, _)| {
            let moved = symbol.contains(".cold") || symbol.contains(".part");
            **symbol == name || folded(symbol) == name && !moved
        });
        same.map(|(_, addresses)| addresses)
    }
}

impl PointTable {
    /// The table as the plugins read it.
    pub fn as_bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// Whether no window is in it.
    pub fn is_empty(&self) -> bool {
        self.windows == 0
    }
}

#[cfg(test)]
mod tests;
