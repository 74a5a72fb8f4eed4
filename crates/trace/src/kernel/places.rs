//! The places of a kernel that the program plugin has to know: where it is entered and left, where
//! its system calls, task switches and softirqs are. Found in its symbol table, `/proc/kallsyms`.
//!
//! Names are those of Linux from 5.8 on; those that are the architecture's are in
//! `arch/x86_64/entries.rs`, those of functions whose executions are rows in `accounts/kind.rs`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use crate::{
    accounts::{KINDS, RowKind, UNNAMED, VECTOR},
    arch::entries,
    kernel::{functions::KernelCode, kallsyms::SymbolsError},
};

/// What the plugin is told, and what its numbers mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelPlaces {
    table: String,
    names: Vec<String>,
}

/// A function of the program's that is a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramFunction {
    /// Its name: no white space, at most 127 bytes.
    pub name: String,
    /// Where in a page of 4 KiB it begins.
    pub in_page: u64,
    /// Its first bytes, at most 32.
    pub bytes: Vec<u8>,
}

/// A place of the kernel that a debugger can stop at, or look into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landmark {
    /// Where the kernel is entered.
    Entry {
        /// What the kernel is entered for.
        kind: RowKind,
        /// Which of that kind, as in [`crate::AccountRow`]; of system calls and page faults it is
        /// not known yet.
        id: u32,
    },
    /// A system call's function, with the number of its name.
    Function(u32),
    /// Where a new task begins.
    NewTask,
    /// What switches from task to task.
    Switch,
    /// All code that enters it or leaves it.
    EntryText,
}

/// Why a kernel's programs can't be measured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlacesError {
    /// The symbol table can't be read.
    #[error(transparent)]
    Symbols(#[from] SymbolsError),
    /// A function without which nothing can be told apart.
    #[error(
        "the kernel's symbol table has no {what}: running programs takes Linux 5.8 or newer, for \
         x86-64, with CONFIG_KALLSYMS"
    )]
    Missing { what: &'static str },
    /// More functions than the plugin takes.
    #[error(
        "the kernel's symbol table has {places} places where it is entered, more than Linux has"
    )]
    TooMany { places: usize },
}

/// Kinds of places, by the letters that `plugin/program/places.h` has for them.
mod letter {
    pub(super) const SYSCALL_ENTRY: char = 'e';
    pub(super) const SYSCALL_FUNCTION: char = 'f';
    pub(super) const PAGE_FAULT_ENTRY: char = 'p';
    pub(super) const FAULT_ENTRY: char = 'x';
    pub(super) const TRAP_ENTRY: char = 't';
    pub(super) const INTERRUPT_ENTRY: char = 'i';
    pub(super) const INTERRUPT_TABLE: char = 'v';
    pub(super) const ROW_FUNCTION: char = 's';
    pub(super) const SWITCH: char = 'w';
    pub(super) const NEW_TASK: char = 'n';
    pub(super) const TASK_COPY: char = 'c';
    pub(super) const WAKE_UP: char = 'k';
    pub(super) const NEW_PROGRAM: char = 'b';
    pub(super) const ENTRY_TEXT: char = 'a';
}

/// In the id of a row's function, beside the kind of row: it is a part of it that is not where it
/// begins; a program itself causes this work.
const ELSEWHERE: u64 = 0x100;
const OWN_WORK: u64 = 0x200;

/// Copies what the architecture keeps of a task, and stores where the copy's stack is: Linux
/// `arch/x86/kernel/process.c`, in new kernels and in older ones.
const TASK_COPIES: [&str; 2] = ["copy_thread", "copy_thread_tls"];
/// Wake a task, and store its new state: Linux `kernel/sched/core.c`. A compiler may have made the
/// latter ones part of the first.
const WAKE_UPS: [&str; 3] = ["try_to_wake_up", "ttwu_do_activate", "ttwu_do_wakeup"];
/// Called when a program has replaced another and has given the task its name: Linux `fs/exec.c`.
const NEW_PROGRAM: &str = "setup_new_exec";

/// Most places of a kernel; `plugin/program/places.c` takes as many.
const MAX_PLACES: usize = 1 << 13;

impl KernelPlaces {
    /// Finds them in the text of `/proc/kallsyms`.
    ///
    /// # Errors
    /// It is no such text, or lacks what every supported kernel has.
    pub fn find(kallsyms: &[u8]) -> Result<Self, PlacesError> {
        let code = match KernelCode::read(kallsyms) {
            Err(SymbolsError::Empty) => return Err(PlacesError::Missing { what: "function" }),
            code => code?,
        };
        let mut finder =
            Finder { code: &code, table: String::new(), lines: BTreeMap::new(), names: Vec::new() };
        finder.entries()?;
        finder.system_calls()?;
        finder.row_functions()?;
        finder.processes();
        finder.wake_ups();
        if finder.lines.len() > MAX_PLACES {
            return Err(PlacesError::TooMany { places: finder.lines.len() });
        }
        Ok(finder.finish())
    }

    /// The table, as the plugin reads it, with these functions of the program's, and the regions
    /// that windows between two points of the kernel must begin in, each after the window's number.
    pub fn table(&self, functions: &[ProgramFunction], inside: &[(usize, &str)]) -> Vec<u8> {
        let mut table = self.table.clone();
        for function in functions {
            // Writing to a String can't fail, here and below.
            let _ = write!(table, "u {:x} ", function.in_page);
            for byte in &function.bytes {
                let _ = write!(table, "{byte:02x}");
            }
            let _ = writeln!(table, " {}", function.name);
        }
        for (window, region) in inside {
            let _ = writeln!(table, "r {window:x} {region}");
        }
        table.into_bytes()
    }

    /// The lines of that table by which the tree of these rows, or of a region, is asked for: with
    /// the calls that lead to the rows, or from there on.
    pub fn tree_lines(rows: &[(RowKind, u32)], region: Option<&str>, callers: bool) -> String {
        let mut lines = String::new();
        for (kind, id) in rows {
            let number = KINDS.iter().position(|known| known == kind).unwrap_or(0);
            let _ = writeln!(lines, "g {number:x} {id:x}");
        }
        if let Some(region) = region {
            let _ = writeln!(lines, "h {region}");
        }
        if callers {
            lines.push_str("q\n");
        }
        lines
    }

    /// The places that a debugger has to know, with their first address and the one after the last.
    /// Of a table of interrupts, the entries of the PC's own lines.
    pub fn landmarks(&self) -> Vec<(Range<u64>, Landmark)> {
        self.table.lines().filter_map(place).flat_map(landmarks).collect()
    }

    /// The names of all its system calls, exceptions and interrupts.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The name with this number: of a system call, an exception or an interrupt.
    pub fn name(&self, number: u32) -> Option<&str> {
        self.names.get(usize::try_from(number).ok()?).map(String::as_str)
    }
}

/// A line of the table: letter, first address, the one after the last, id.
fn place(line: &str) -> Option<(char, Range<u64>, u64)> {
    let mut words = line.split(' ');
    let letter = words.next()?.chars().next()?;
    let mut number = || u64::from_str_radix(words.next()?, 16).ok();
    let (first, end) = (number()?, number()?);
    Some((letter, first..end, number()?))
}

fn landmarks((letter, range, id): (char, Range<u64>, u64)) -> Vec<(Range<u64>, Landmark)> {
    let number = u32::try_from(id).unwrap_or(UNNAMED);
    let entry = |kind, id| vec![(range.clone(), Landmark::Entry { kind, id })];
    match letter {
        letter::SYSCALL_ENTRY if id == 0 => entry(RowKind::Syscall, UNNAMED),
        letter::SYSCALL_ENTRY => entry(RowKind::Syscall32, UNNAMED),
        letter::PAGE_FAULT_ENTRY => entry(RowKind::PageFault, UNNAMED),
        letter::FAULT_ENTRY | letter::TRAP_ENTRY => entry(RowKind::Exception, number),
        letter::INTERRUPT_ENTRY => entry(RowKind::Interrupt, number),
        letter::ROW_FUNCTION => {
            let kind = usize::try_from(id & !OWN_WORK).ok().and_then(|kind| KINDS.get(kind));
            kind.map_or_else(Vec::new, |kind| entry(*kind, 0))
        }
        letter::SYSCALL_FUNCTION => vec![(range, Landmark::Function(number))],
        letter::NEW_TASK => vec![(range, Landmark::NewTask)],
        letter::SWITCH => vec![(range, Landmark::Switch)],
        letter::ENTRY_TEXT => vec![(range, Landmark::EntryText)],
        letter::INTERRUPT_TABLE => {
            let (size, vector) = (id & 0xff, id >> 8);
            let lines = entries::PC_VECTORS.map(|line| {
                let first = range.start + line.checked_sub(vector)? * size;
                let id = VECTOR | u32::try_from(line).ok()?;
                let entry = Landmark::Entry { kind: RowKind::Interrupt, id };
                (first < range.end).then_some((first..first + size, entry))
            });
            lines.into_iter().flatten().collect()
        }
        _ => Vec::new(),
    }
}

struct Finder<'a> {
    code: &'a KernelCode<'a>,
    /// The lines that are written already.
    table: String,
    /// By first address: end, letter, id. One place begins at an address.
    lines: BTreeMap<u64, (u64, char, u64)>,
    names: Vec<String>,
}

impl Finder<'_> {
    fn add(&mut self, address: u64, letter: char, id: u64) {
        self.lines.entry(address).or_insert((self.code.end(address), letter, id));
    }

    /// The number of a new name.
    fn name(&mut self, name: &str) -> u64 {
        self.names.push(name.to_owned());
        self.names.len() as u64 - 1
    }

    fn required(&self, what: &'static str) -> Result<u64, PlacesError> {
        self.code.first(what).ok_or(PlacesError::Missing { what })
    }

    fn entries(&mut self) -> Result<(), PlacesError> {
        let [first, end] = entries::ENTRY_TEXT;
        let (first, end) = (self.required(first)?, self.required(end)?);
        write_line(&mut self.table, first, (end, letter::ENTRY_TEXT, 0));
        self.add(self.required(entries::SYSCALL_ENTRY)?, letter::SYSCALL_ENTRY, 0);
        for name in entries::SYSCALL_ENTRIES_32 {
            if let Some(address) = self.code.first(name) {
                self.add(address, letter::SYSCALL_ENTRY, 1);
            }
        }
        self.add(self.required(entries::PAGE_FAULT_ENTRY)?, letter::PAGE_FAULT_ENTRY, 0);
        for (name, address) in self.code.starting_with(entries::EXCEPTION_PREFIX) {
            let short = &name[entries::EXCEPTION_PREFIX.len()..];
            let trap = entries::TRAPS.contains(&short);
            let id = self.name(short);
            self.add(address, if trap { letter::TRAP_ENTRY } else { letter::FAULT_ENTRY }, id);
        }
        for (name, address) in self.code.starting_with(entries::INTERRUPT_PREFIX) {
            let id = self.name(&name[entries::INTERRUPT_PREFIX.len()..]);
            self.add(address, letter::INTERRUPT_ENTRY, id);
        }
        let mut vector = entries::FIRST_VECTOR;
        for table in entries::ENTRY_TABLES {
            let first = self.required(table)?;
            let bytes = self.code.end(first) - first;
            let size = entries::table_entry_bytes(bytes);
            self.add(first, letter::INTERRUPT_TABLE, size | vector << 8);
            vector += (bytes / size).min(entries::MOST_VECTORS);
        }
        let switch = self.required(entries::SWITCH)?;
        self.add(switch, letter::SWITCH, 0);
        let [new, older] = entries::NEW_TASK_ENTRIES;
        let new = self.code.first(new).map_or_else(|| self.required(older), Ok)?;
        self.add(new, letter::NEW_TASK, 0);
        Ok(())
    }

    fn system_calls(&mut self) -> Result<(), PlacesError> {
        for prefix in entries::SYSCALL_PREFIXES {
            for (name, address) in self.code.starting_with(prefix) {
                if self.lines.contains_key(&address) || name.contains('.') {
                    continue;
                }
                let id = self.name(&name[prefix.len()..]);
                self.add(address, letter::SYSCALL_FUNCTION, id);
            }
        }
        let found = self.lines.values().any(|(_, letter, _)| *letter == letter::SYSCALL_FUNCTION);
        if found { Ok(()) } else { Err(PlacesError::Missing { what: "__x64_sys_…" }) }
    }

    /// The functions whose executions are rows. Every supported kernel has that of softirqs.
    fn row_functions(&mut self) -> Result<(), PlacesError> {
        for (number, kind) in (0..).zip(KINDS) {
            let id = number | if kind.is_own_work() { OWN_WORK } else { 0 };
            let found = kind.functions().iter().any(|function| self.row_function(function, id));
            if *kind == RowKind::Softirq && !found {
                return Err(PlacesError::Missing { what: "__do_softirq" });
            }
        }
        Ok(())
    }

    /// A function and its parts elsewhere, to whose names a compiler may have given a suffix;
    /// whether the kernel has it.
    fn row_function(&mut self, function: &'static str, id: u64) -> bool {
        let parts = self.parts(function);
        let found = parts.iter().any(|(cold, _)| !cold);
        for (cold, address) in parts.into_iter().filter(|_| found) {
            let elsewhere = if cold { ELSEWHERE } else { 0 };
            self.add(address, letter::ROW_FUNCTION, id | elsewhere);
        }
        found
    }

    /// The parts of a function: whether one is elsewhere, and its address.
    fn parts(&self, function: &'static str) -> Vec<(bool, u64)> {
        let is_part = |name: &str| {
            let suffix = &name[function.len()..];
            (suffix.is_empty() || suffix.starts_with('.')).then(|| suffix.contains(".cold"))
        };
        let named = self.code.starting_with(function);
        named.filter_map(|(name, at)| Some((is_part(name)?, at))).collect()
    }

    /// Where tasks are woken. Without it nothing is told of sleeps.
    fn wake_ups(&mut self) {
        let parts: Vec<_> = WAKE_UPS.into_iter().flat_map(|name| self.parts(name)).collect();
        for (_, address) in parts {
            self.add(address, letter::WAKE_UP, 0);
        }
    }

    /// Where processes are started and execute programs. A kernel that lacks such a function, as it
    /// may if a compiler has made it part of another, has no rows of processes.
    fn processes(&mut self) {
        let [copy, older] = TASK_COPIES;
        let functions = [
            (copy, letter::TASK_COPY),
            (older, letter::TASK_COPY),
            (NEW_PROGRAM, letter::NEW_PROGRAM),
        ];
        for (function, letter) in functions {
            if let Some(address) = self.code.first(function) {
                self.add(address, letter, 0);
            }
        }
    }

    fn finish(self) -> KernelPlaces {
        let mut table = self.table;
        self.lines.into_iter().for_each(|(first, place)| write_line(&mut table, first, place));
        KernelPlaces { table, names: self.names }
    }
}

fn write_line(table: &mut String, first: u64, (end, letter, id): (u64, char, u64)) {
    // Writing to a String can't fail.
    let _ = writeln!(table, "{letter} {first:x} {end:x} {id:x}");
}

#[cfg(test)]
mod tests;
