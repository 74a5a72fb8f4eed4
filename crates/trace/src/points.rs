//! Windows between two points of the kernel: what a user or the catalogue asks for, and the table
//! that tells the plugins where that is in one kernel (`plugin/points.h`).

use std::fmt::Write as _;

use crate::kernel_code::KernelCode;
use crate::naming::folded;
use crate::point_window::{Place, Point, PointWindow};
use crate::symbols::SymbolsError;

/// Why a window can't be looked for in a kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PointsError {
    /// The symbol table can't be read.
    #[error(transparent)]
    Symbols(#[from] SymbolsError),
    /// None of these is a function.
    #[error("this kernel has no function {}", .functions.join(", or "))]
    Missing {
        /// What was looked for.
        functions: Vec<String>,
    },
    /// A name is that of several functions.
    #[error(
        "this kernel has {count} functions that are called {function}: name one by its address"
    )]
    Ambiguous {
        /// The name.
        function: String,
        /// How many.
        count: usize,
    },
    /// There are more points than the plugins take.
    #[error("these windows have more points than a table holds")]
    TooMany,
}

/// Most points of a table; `plugin/points.h` takes as many.
const MAX_POINTS: usize = 256;
/// Most windows, likewise.
const MAX_WINDOWS: usize = 32;
/// Most ranges of code of one kind, likewise.
const MAX_RANGES: usize = 512;

/// Functions in which the CPU idles. Linux `kernel/sched/idle.c`, `arch/x86/kernel/process.c`,
/// `drivers/cpuidle`; the lab kernel's `kernel/sched.c`.
const IDLE: [&str; 17] = [
    "acpi_idle_do_entry",
    "acpi_safe_halt",
    "arch_cpu_idle",
    "cpu_idle_poll",
    "cpuidle_enter_state",
    "default_idle",
    "default_idle_call",
    "do_idle",
    "idle_by_hlt",
    "idle_by_hlt_checked_early",
    "idle_by_poll",
    "idle_loop",
    "mwait_idle",
    "native_safe_halt",
    "poll_idle",
    "pv_native_safe_halt",
    "sched_idle",
];
/// Tables with an entry for each interrupt, which go on in `asm_common_interrupt`.
const ENTRY_TABLES: [&str; 2] = ["irq_entries_start", "spurious_entries_start"];
/// Where the stack of the next task is loaded: Linux `arch/x86/entry/entry_64.S`, the lab kernel's
/// `x86/switch.S`.
const SWITCHES: [&str; 2] = ["__switch_to_asm", "switch_to"];
/// What the names of other entries begin with: on Linux, and in the lab kernel.
const ENTRY_PREFIXES: [&str; 6] =
    ["asm_exc_", "asm_sysvec_", "entry_network", "entry_reschedule", "entry_test", "entry_timer"];

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

impl<'a> PointFinder<'a> {
    /// For the kernel with this text of `/proc/kallsyms`.
    ///
    /// # Errors
    /// It is no such text, or has no function.
    pub fn new(kallsyms: &'a [u8]) -> Result<Self, PointsError> {
        Ok(Self { code: KernelCode::read(kallsyms)? })
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
            ENTRY_PREFIXES.iter().flat_map(|start| self.code.starting_with(start))
        {
            if entries < MAX_RANGES - ENTRY_TABLES.len() && !name.contains('.') {
                range('i', address, address + 1);
                entries += 1;
            }
        }
        for first in SWITCHES.iter().filter_map(|name| self.code.by_name.get(name)) {
            range('s', *first, self.code.end(*first));
        }
        for first in ENTRY_TABLES.iter().filter_map(|name| self.code.by_name.get(name)) {
            range('i', *first, self.code.end(*first));
        }
        for (first, end) in IDLE.iter().flat_map(|name| self.named(name)).take(MAX_RANGES) {
            range('d', first, end);
        }
        table
    }

    /// Adds a window to the table, for the paths with these indices.
    ///
    /// # Errors
    /// A place is not in this kernel. The table is as it was.
    pub fn add(
        &self,
        table: &mut PointTable,
        window: &PointWindow,
        paths: impl IntoIterator<Item = usize>,
    ) -> Result<(), PointsError> {
        let number = table.windows;
        let flags = [window.same_task, window.latest, window.stamped].into_iter().enumerate();
        let how: u8 = flags.map(|(bit, flag)| u8::from(flag) << bit).sum();
        let origins = window.origins.bits();
        let mut text = format!("w {number:x} {origins:x} {how:x} {:x}\n", window.nth);
        let mut points = 0;
        for (letters, asked) in [(['b', 'B'], &window.from), (['e', 'E'], &window.to)] {
            points += self.points(&mut text, number, letters, asked)?;
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
        [at_entry, at_return]: [char; 2],
        points: &[Point],
    ) -> Result<usize, PointsError> {
        let mut lines: Vec<String> = Vec::new();
        for point in points {
            if point.place == Place::Program {
                lines.push(format!("U {window:x} 0 0 0"));
                continue;
            }
            let letter = if matches!(point.place, Place::Return(_)) { at_return } else { at_entry };
            let callers: Vec<(u64, u64)> =
                point.callers.iter().flat_map(|caller| self.named(caller)).collect();
            let from = match (point.callers.is_empty(), callers.is_empty()) {
                (true, _) => vec![(0, 0)],
                (false, true) => continue,
                (false, false) => callers,
            };
            for address in self.addresses(&point.place)? {
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

    fn addresses(&self, place: &Place) -> Result<Vec<u64>, PointsError> {
        Ok(match place {
            Place::Program => Vec::new(),
            Place::Address(address) => vec![*address],
            Place::Return(name) | Place::Function(name, 0) => {
                self.named(name).into_iter().map(|(first, _)| first).collect()
            }
            Place::Function(name, offset) => {
                let found = self.named(name);
                if let [_, _, ..] = found[..] {
                    let (function, count) = (name.clone(), found.len());
                    return Err(PointsError::Ambiguous { function, count });
                }
                found.into_iter().map(|(first, _)| first.wrapping_add(*offset)).collect()
            }
        })
    }

    /// The code of the functions with this name, with or without what compilers append to it; not
    /// the parts that they moved elsewhere.
    fn named(&self, name: &str) -> Vec<(u64, u64)> {
        let names = self.code.by_name.range(name..);
        let like = names.take_while(|(symbol, _)| symbol.starts_with(name));
        let same = like.filter(|(symbol, _)| {
            folded(symbol) == name && !symbol.contains(".cold") && !symbol.contains(".part")
        });
        same.map(|(_, first)| (*first, self.code.end(*first))).collect()
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
