//! A writer of traces: a mini-assembler whose lines are executions.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::HashMap;

use pathmeter_trace::{
    Counts, Event, EventCounts, LineCounts, Location, NoSymbols, Recording, Resolve, Role,
    SourceLine, WindowTree, decode,
};

pub const RDTSC: &[u8] = &[0x0f, 0x31];
pub const NOP: &[u8] = &[0x90];
pub const RET: &[u8] = &[0xc3];
pub const SYSCALL: &[u8] = &[0x0f, 0x05];
pub const SYSRET: &[u8] = &[0x48, 0x0f, 0x07];
pub const IRET: &[u8] = &[0x48, 0xcf];
pub const POPF: &[u8] = &[0x9d];
pub const LOAD_RAX: &[u8] = &[0x48, 0x8b, 0x07];
pub const LOAD_RSP: &[u8] = &[0x48, 0x8b, 0x26];
pub const REP_MOVSB: &[u8] = &[0xf3, 0xa4];
pub const CALL_RAX: &[u8] = &[0xff, 0xd0];
pub const JMP_RAX: &[u8] = &[0xff, 0xe0];

/// A user address: where windows begin and end.
pub const USER: u64 = 0x40_0000;
/// An address in the kernel's text.
pub const K: u64 = 0xffff_ffff_8100_0000;
/// The tops of two kernel stacks.
pub const STACK_A: u64 = 0xffff_c900_0001_4000;
pub const STACK_B: u64 = 0xffff_c900_0008_4000;

/// Bytes of `call target` at `from`.
pub fn call(from: u64, target: u64) -> Vec<u8> {
    relative(0xe8, from, target)
}

/// Bytes of `jmp target` at `from`.
pub fn jmp(from: u64, target: u64) -> Vec<u8> {
    relative(0xe9, from, target)
}

fn relative(opcode: u8, from: u64, target: u64) -> Vec<u8> {
    let displacement = u32::try_from(target.wrapping_sub(from + 5) & 0xffff_ffff).unwrap();
    [&[opcode][..], &displacement.to_le_bytes()].concat()
}

pub fn unsigned(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

fn signed(out: &mut Vec<u8>, value: i64) {
    unsigned(out, (value << 1 ^ value >> 63).cast_unsigned());
}

/// A trace that is being written.
pub struct Writer {
    pub bytes: Vec<u8>,
    numbers: HashMap<(u64, Vec<u8>), u32>,
    next: i64,
    access: u64,
    windows: u64,
}

impl Writer {
    pub fn new() -> Self {
        let bytes = b"PMTR\x01\0\0\0".to_vec();
        Self { bytes, numbers: HashMap::new(), next: 0, access: 0, windows: 0 }
    }

    pub fn begin(&mut self) -> &mut Self {
        self.open(2)
    }

    /// A window between two points of the kernel begins, of which everything counts.
    pub fn begin_whole(&mut self) -> &mut Self {
        self.open(8)
    }

    /// The same of one that counts from its first stamp to its last.
    pub fn begin_stamped(&mut self) -> &mut Self {
        self.open(10)
    }

    /// What was open is no window after all.
    pub fn drop_window(&mut self) -> &mut Self {
        self.bytes.push(9);
        self
    }

    fn open(&mut self, tag: u8) -> &mut Self {
        self.bytes.push(tag);
        unsigned(&mut self.bytes, self.windows);
        (self.next, self.access) = (0, 0);
        self
    }

    pub fn end(&mut self) -> &mut Self {
        self.bytes.push(3);
        unsigned(&mut self.bytes, self.windows);
        self.windows += 1;
        self
    }

    /// `code` at `address` begins to execute.
    pub fn at(&mut self, address: u64, code: &[u8]) -> &mut Self {
        let next = u32::try_from(self.numbers.len()).unwrap();
        let number = *self.numbers.entry((address, code.to_vec())).or_insert(next);
        if number == next {
            self.bytes.push(1);
            self.bytes.extend(address.to_le_bytes());
            self.bytes.extend([0xff; 8]);
            self.bytes.push(u8::try_from(code.len()).unwrap());
            self.bytes.extend(code);
        }
        self.bytes.push(4);
        signed(&mut self.bytes, i64::from(number) - self.next);
        unsigned(&mut self.bytes, 1);
        self.next = i64::from(number) + 1;
        self
    }

    pub fn load(&mut self, address: u64, log2_size: u8) -> &mut Self {
        self.access(5, address, log2_size)
    }

    pub fn store(&mut self, address: u64, log2_size: u8) -> &mut Self {
        self.access(6, address, log2_size)
    }

    fn access(&mut self, tag: u8, address: u64, log2_size: u8) -> &mut Self {
        self.bytes.extend([tag, log2_size]);
        signed(&mut self.bytes, address.wrapping_sub(self.access).cast_signed());
        self.access = address;
        self
    }

    /// `call target` at `from`, with its return address in `slot`.
    pub fn call(&mut self, from: u64, target: u64, slot: u64) -> &mut Self {
        self.at(from, &call(from, target)).store(slot, 3)
    }

    pub fn ret(&mut self, from: u64, slot: u64) -> &mut Self {
        self.at(from, RET).load(slot, 3)
    }

    pub fn jmp(&mut self, from: u64, target: u64) -> &mut Self {
        self.at(from, &jmp(from, target))
    }

    /// `count` nops from `address` on.
    pub fn nops(&mut self, address: u64, count: u64) -> &mut Self {
        (0..count).for_each(|index| {
            self.at(address + index, NOP);
        });
        self
    }

    /// A window of user code: stamp, `body`, stamp.
    pub fn window(&mut self, body: impl FnOnce(&mut Self)) -> &mut Self {
        self.begin().at(USER - 2, RDTSC);
        body(self);
        self.at(USER + 0x1000, RDTSC).end()
    }

    /// A window in which user code at [`USER`] makes a system call at [`ENTRY`]; `body` starts
    /// after one instruction of the entry and ends where the `sysret` stands.
    pub fn syscall(&mut self, body: impl FnOnce(&mut Self)) -> &mut Self {
        self.window(|w| {
            w.at(USER, SYSCALL).nops(ENTRY, 1);
            body(w);
            w.at(ENTRY + 0x80, SYSRET).jmp(USER + 2, USER + 0x1000);
        })
    }

    pub fn stop(&mut self) -> Vec<u8> {
        self.bytes.extend([7, 0]);
        std::mem::take(&mut self.bytes)
    }
}

/// Where the system call entry stands.
pub const ENTRY: u64 = K;

/// Functions of 256 bytes each.
pub struct Names(pub Vec<(u64, &'static str)>);

impl Resolve for Names {
    fn resolve(&self, address: u64) -> Option<Location<'_>> {
        let found = self.0.iter().find(|(start, _)| (*start..start + 0x100).contains(&address))?;
        Some(Location { name: found.1, module: None, offset: address - found.0 })
    }
}

/// `entry` at [`ENTRY`], and letters at K + 0x100, K + 0x200, …
pub fn names() -> Names {
    let mut names = vec![(ENTRY, "entry")];
    names.extend((1..).map(|index| K + index * 0x100).zip(["a", "b", "c", "d", "e"]));
    names.extend([
        (K + 0x1000, "__switch_to_asm"),
        (K + 0x1100, "__switch_to"),
        (K + 0x1200, "__x86_indirect_thunk_rax"),
        (K + 0x1300, "asm_exc_page_fault"),
        (K + 0x1400, "asm_sysvec_apic_timer_interrupt"),
        (K + 0x1500, "a.cold"),
    ]);
    Names(names)
}

/// Names with source: functions of [`names`] have a file each, named after them, and a line every
/// four bytes, from 10. Into the second 16 bytes of each 256, `outer` of `lib.h` is inlined from
/// line 14, and into the second 8 of these `inner` from line 2 of that.
pub struct Sourced(pub Names);

pub fn names_with_sources() -> Sourced {
    Sourced(names())
}

impl Resolve for Sourced {
    fn resolve(&self, address: u64) -> Option<Location<'_>> {
        self.0.resolve(address)
    }

    fn inlined(&self, address: u64) -> Vec<String> {
        let names: &[&str] = match self.offset(address) {
            Some(0x10..0x18) => &["outer"],
            Some(0x18..0x20) => &["outer", "inner"],
            _ => &[],
        };
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn lines(&self, address: u64) -> Vec<SourceLine> {
        let Some(location) = self.resolve(address) else { return Vec::new() };
        let own = |line| source(&format!("{}.c", location.name), line);
        match location.offset {
            0x10..0x18 => vec![own(14), source("lib.h", 1)],
            0x18..0x20 => vec![own(14), source("lib.h", 2), source("lib.h", 7)],
            offset => vec![own(10 + u32::try_from(offset / 4).unwrap())],
        }
    }
}

impl Sourced {
    fn offset(&self, address: u64) -> Option<u64> {
        self.resolve(address).map(|location| location.offset)
    }
}

pub fn source(file: &str, line: u32) -> SourceLine {
    SourceLine { file: file.to_owned(), line }
}

/// Decodes a trace that must be whole.
pub fn whole(bytes: &[u8], resolver: &dyn Resolve) -> Recording {
    let recording = decode(bytes, resolver);
    assert!(recording.fault.is_none(), "{:?}", recording.fault);
    recording
}

/// The one window's tree, which must add up.
pub fn tree(writer: &mut Writer) -> WindowTree {
    let recording = whole(&writer.stop(), &names());
    let tree = recording.representative.or(recording.interrupted).unwrap();
    assert_adds_up(&tree);
    tree
}

pub fn nameless(writer: &mut Writer) -> WindowTree {
    let recording = whole(&writer.stop(), &NoSymbols);
    let tree = recording.representative.or(recording.interrupted).unwrap();
    assert_adds_up(&tree);
    tree
}

pub fn assert_adds_up(tree: &WindowTree) {
    let nodes: u64 = tree.nodes.iter().map(|node| node.counts.instructions).sum();
    let functions: u64 = tree.functions.iter().map(|function| function.counts.instructions).sum();
    assert_eq!((nodes, functions), (tree.total, tree.total));
    let clock = |counts: &Counts| counts.clock;
    let nodes: u64 = tree.nodes.iter().map(|node| clock(&node.counts)).sum();
    let functions: u64 = tree.functions.iter().map(|function| clock(&function.counts)).sum();
    assert_eq!((nodes, functions), (tree.clock, tree.clock));
    assert_events_add_up(tree);
    for function in &tree.functions {
        let of = |count: fn(&LineCounts) -> u64| function.lines.iter().map(count).sum::<u64>();
        let counts = &function.counts;
        assert!(of(|line| line.instructions) <= counts.instructions, "{function:?}");
        assert!(of(|line| line.loads) <= counts.loads, "{function:?}");
        assert!(of(|line| line.stores) <= counts.stores, "{function:?}");
    }
    for (index, node) in tree.nodes.iter().enumerate() {
        assert!(node.parent.is_none_or(|parent| (parent as usize) < index));
    }
}

/// Events of the functions are together those of the window, but for lines and pages: those that
/// two functions touch are in both.
fn assert_events_add_up(tree: &WindowTree) {
    let of = |events: &EventCounts, event| events.get(&event).copied().unwrap_or_default();
    for event in Event::all() {
        let sum: u64 = tree.functions.iter().map(|function| of(&function.events, event)).sum();
        match event.role() {
            Role::Footprint | Role::Placement => {}
            _ => assert_eq!(sum, of(&tree.events, event), "{event}"),
        }
    }
    assert_eq!(of(&tree.events, Event::User) + of(&tree.events, Event::Kernel), tree.total);
    assert_eq!(of(&tree.events, Event::Clock), tree.clock);
}

/// Draws the tree as text: a line for each node, indented by its depth, with the instructions of
/// its own.
pub fn draw_tree(tree: &WindowTree) -> Vec<String> {
    let mut depths: Vec<usize> = Vec::new();
    let line = |node: &pathmeter_trace::Node| {
        let depth = node.parent.map_or(0, |parent| depths[parent as usize] + 1);
        depths.push(depth);
        let kind = serde_json::to_value(node.kind).unwrap();
        let (name, count) = (tree.name(node), node.counts.instructions);
        format!("{}{name} {} {count}", " ".repeat(depth), kind.as_str().unwrap())
    };
    tree.nodes.iter().map(line).collect()
}
