//! The instructions and functions of a recording: what is looked up once and used by every window.

use std::collections::HashMap;

use crate::{
    arch::{
        code::{Code, Flow},
        entries::Gate,
    },
    kernel::{
        names::{containing, is_thunk},
        symbols::{Location, Resolve},
    },
    recording::{
        line_counts::NO_ENTRY, reader::Instruction, source_places::SourcePlaces, tree::SourceLine,
    },
};

/// The function of instructions without a symbol: it depends on how control came to them.
pub(crate) const NAMELESS: u32 = u32::MAX;
/// First address of the kernel's half.
const KERNEL: u64 = 1 << 63;

/// An instruction with all that the decoder asks of it.
#[derive(Clone, Copy)]
pub(crate) struct Placed {
    pub(crate) code: Code,
    pub(crate) address: u64,
    /// The address after the instruction.
    pub(crate) end: u64,
    /// The function that its address lies in, or [`NAMELESS`].
    pub(crate) function: u32,
    /// Whether it is that function's first.
    pub(crate) is_start: bool,
    /// Of an interrupt's or exception's first instruction.
    pub(crate) gate: Option<Gate>,
    /// Index into [`Listing::inlined`]; 0 for none.
    pub(crate) inlined: u32,
    /// Its line, a number of [`SourcePlaces`].
    pub(crate) place: u32,
    /// Where it was last noted: window and function.
    pub(crate) noted: (u32, u32),
    /// Where that function's ledger counts it.
    pub(crate) ledger_entry: u32,
}

impl Placed {
    pub(crate) fn is_kernel(&self) -> bool {
        is_kernel(self.address)
    }

    pub(crate) fn length(&self) -> u32 {
        u32::try_from(self.end.wrapping_sub(self.address)).unwrap_or(1)
    }
}

pub(crate) fn is_kernel(address: u64) -> bool {
    address >= KERNEL
}

/// A function's name and what it implies.
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) module: Option<String>,
    pub(crate) is_thunk: bool,
    /// Its entry, of several functions with this name the lowest met.
    pub(crate) entry: Option<u64>,
    /// The source line of its entry.
    source: Option<SourceLine>,
    /// The first of its lines met where it is inlined.
    inlined: Option<SourceLine>,
}

impl Named {
    /// The place of its entry in its line of 64 bytes.
    pub(crate) fn entry_in_line(&self) -> Option<u8> {
        self.entry.map(|entry| entry.to_le_bytes()[0] & 63)
    }

    /// The line that it begins in.
    pub(crate) fn begin(&self) -> Option<SourceLine> {
        self.source.clone().or_else(|| self.inlined.clone())
    }
}

/// The instructions and functions of a recording.
pub(crate) struct Listing<'r> {
    resolver: &'r dyn Resolve,
    pub(crate) instructions: Vec<Placed>,
    pub(crate) functions: Vec<Named>,
    numbers: HashMap<(String, Option<String>), u32>,
    by_entry: HashMap<u64, u32>,
    /// Chains of inlined functions, outermost first.
    pub(crate) inlined: Vec<Vec<u32>>,
    chains: HashMap<Vec<u32>, u32>,
    pub(crate) places: SourcePlaces,
}

impl<'r> Listing<'r> {
    pub(crate) const UNATTRIBUTED: u32 = 0;
    pub(crate) const USER: u32 = 1;

    pub(crate) fn new(resolver: &'r dyn Resolve) -> Self {
        let mut listing = Self {
            resolver,
            instructions: Vec::new(),
            functions: Vec::new(),
            numbers: HashMap::new(),
            by_entry: HashMap::new(),
            inlined: vec![Vec::new()],
            chains: HashMap::new(),
            places: SourcePlaces::default(),
        };
        // In the order of the constants above.
        listing.intern_function("[unattributed]", None);
        listing.intern_function("[user]", None);
        listing
    }

    /// The number of the function called `name`, which is added if it is new.
    pub(crate) fn intern_function(&mut self, name: &str, module: Option<&str>) -> u32 {
        let key = (name.to_owned(), module.map(str::to_owned));
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        // Never saturates: each instruction brings at most a few names, see MAX_INSTRUCTIONS.
        let number = u32::try_from(self.functions.len()).unwrap_or(Self::UNATTRIBUTED);
        let (name, module) = key.clone();
        let is_thunk = is_thunk(&name);
        let (entry, source, inlined) = (None, None, None);
        self.functions.push(Named { name, module, is_thunk, entry, source, inlined });
        self.numbers.insert(key, number);
        number
    }

    /// Adds the next instruction, with what is looked up once.
    pub(crate) fn define(&mut self, instruction: &Instruction) {
        let address = instruction.address;
        let resolver = self.resolver;
        let location = resolver.resolve(address);
        let function = location.as_ref().map_or(NAMELESS, |found| self.function(found, address));
        let is_start = location.as_ref().is_some_and(|found| found.offset == 0);
        let gate = location.and_then(|found| Gate::at(found.name, found.offset));
        let lines = resolver.lines(address);
        let inlined = self.chain(&resolver.inlined(address), &lines);
        let place = self.places.number(lines.last());
        self.instructions.push(Placed {
            code: Code::of(instruction),
            address,
            end: instruction.end(),
            function,
            is_start,
            gate,
            inlined,
            place,
            noted: (0, NAMELESS),
            ledger_entry: NO_ENTRY,
        });
    }

    /// The function that `address` lies in, `found` there.
    fn function(&mut self, found: &Location<'_>, address: u64) -> u32 {
        let name = containing(found.name);
        let function = self.intern_function(name, found.module);
        // The start of a part that was moved away is no entry.
        if name == found.name {
            self.note_entry(function, address.wrapping_sub(found.offset));
        }
        function
    }

    fn note_entry(&mut self, function: u32, entry: u64) {
        let named = &mut self.functions[function as usize];
        if named.entry.is_none_or(|lowest| entry < lowest) {
            named.entry = Some(entry);
            named.source = self.resolver.lines(entry).into_iter().next();
        }
    }

    fn chain(&mut self, names: &[String], lines: &[SourceLine]) -> u32 {
        if names.is_empty() {
            return 0;
        }
        let chain: Vec<u32> = names.iter().map(|name| self.intern_function(name, None)).collect();
        // The first line is the called function's.
        for (function, line) in chain.iter().zip(lines.iter().skip(1)) {
            let first = &mut self.functions[*function as usize].inlined;
            if first.as_ref().is_none_or(|first| line < first) {
                *first = Some(line.clone());
            }
        }
        let next = u32::try_from(self.inlined.len()).unwrap_or(0);
        let inlined = &mut self.inlined;
        *self.chains.entry(chain).or_insert_with_key(|chain| {
            inlined.push(chain.clone());
            next
        })
    }

    /// The function that an entry at instruction `number` enters: by symbol, else by address.
    pub(crate) fn entered(&mut self, number: u32) -> u32 {
        let placed = self.instructions[number as usize];
        if placed.function != NAMELESS {
            return placed.function;
        }
        if !placed.is_kernel() {
            return Self::USER;
        }
        if let Some(number) = self.by_entry.get(&placed.address) {
            return *number;
        }
        let number = self.intern_function(&format!("{:#x}", placed.address), None);
        // Linux makes thunks in memory that has no symbols (`its_init_thunk`).
        self.functions[number as usize].is_thunk |=
            matches!(placed.code.flow, Flow::JumpIndirect) && !placed.code.accesses;
        self.by_entry.insert(placed.address, number);
        self.note_entry(number, placed.address);
        number
    }

    /// Whether instruction `number` has no symbol, but was called or entered before.
    pub(crate) fn is_known_entry(&self, address: u64) -> bool {
        self.by_entry.contains_key(&address)
    }
}
