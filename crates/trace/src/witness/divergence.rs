//! Where two interpreters' executions of one window diverge, and what each executed more often.
//!
//! Two lists of executions are walked side by side. Where they differ, the last execution that they
//! have in common is what led to different places: a divergence. They are joined again at the
//! nearest place from which on both execute the same [`JOINT`] instructions. So all executions are
//! either common, or belong to one divergence, and the divergences add up to the difference.
//!
//! An instruction of the kernel's is known by its address and bytes, one of a program by its place
//! in its page and its bytes: where programs and their stacks lie, a kernel may choose by chance.

use std::collections::{BTreeMap, HashMap};

use crate::{
    arch::{
        code::{Code, Flow, mnemonic},
        entries::Gate,
    },
    kernel::symbols::Resolve,
    recording::{
        listing::is_kernel,
        reader::{Instruction, MAX_LENGTH},
    },
    witness::executions::Executed,
};

/// Executions alike after which two lists are joined again.
const JOINT: usize = 24;
/// The size of a page, in bytes.
const PAGE: u64 = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Interpreter {
    /// The one whose executions are given first.
    Qemu,
    /// The one whose executions are given second.
    Bochs,
}

/// Why two executions of the same code diverge.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// A conditional jump that is taken in this one only.
    Taken(Interpreter),
    /// A string instruction with more iterations in this one.
    Repeated(Interpreter),
    /// A jump, call or return to the addresses that data says: these, in QEMU and in Bochs.
    Led([String; 2]),
    /// An interrupt that comes in this one only, with its entry.
    Interrupt(Interpreter, String),
    /// An exception that comes in this one only, with its entry.
    Exception(Interpreter, String),
    /// What is executed next is other code, at these places, and the instruction in common leads to
    /// one place only.
    Code([String; 2]),
}

impl Cause {
    /// Whether it is a decision of the program that is executed, by its data, or a moment at which
    /// a device interrupts it: each interpreter executes what it should.
    pub fn is_decision(&self) -> bool {
        matches!(self, Self::Taken(_) | Self::Repeated(_) | Self::Led(_) | Self::Interrupt(..))
    }
}

/// A place where the two diverge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The last instruction in common, as `function+0x1d`.
    pub place: String,
    /// Its mnemonic: `je`.
    pub mnemonic: String,
    pub cause: Cause,
    /// How often they diverge there.
    pub times: u64,
    /// Executions that Bochs has more, until they are joined again.
    pub difference: i64,
}

/// A function or instruction that the two execute a different number of times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutedOften {
    /// Which, as `function` or `function+0x1d`.
    pub place: String,
    /// Executions in QEMU and in Bochs.
    pub executions: [u64; 2],
}

impl ExecutedOften {
    /// Executions that Bochs has more.
    pub fn difference(&self) -> i64 {
        difference(self.executions)
    }
}

/// How two lists of executions differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowDifference {
    /// Where they diverge, in the order in which that is first seen.
    pub divergences: Vec<Divergence>,
    /// Functions of which a different number of instructions is executed, most different first.
    pub functions: Vec<ExecutedOften>,
    /// Instructions that are executed a different number of times, most different first.
    pub instructions: Vec<ExecutedOften>,
}

/// Compares what one window executed in QEMU with what one executed in Bochs; `names` gives names
/// to addresses.
pub fn flow_difference(qemu: &Executed, bochs: &Executed, names: &dyn Resolve) -> FlowDifference {
    let mut table = Table::default();
    let flows = [qemu, bochs].map(|executed| table.numbered(executed));
    let mut divergences: Vec<Divergence> = Vec::new();
    for piece in pieces(&flows[0], &flows[1]) {
        let (place, mnemonic, cause) = table.explained(&piece, &flows, names);
        let difference = difference(piece.lengths.map(|length| length as u64));
        let same = divergences.iter_mut().find(|one| one.place == place && one.cause == cause);
        if let Some(one) = same {
            one.times += 1;
            one.difference += difference;
        } else {
            divergences.push(Divergence { place, mnemonic, cause, times: 1, difference });
        }
    }
    let counts = counts(&flows);
    let by = |name: &dyn Fn(u64) -> String| often(&counts, |number| name(table.address(number)));
    FlowDifference {
        divergences,
        functions: by(&|address| function_of(names, address)),
        instructions: by(&|address| place_of(names, address)),
    }
}

/// Two stretches, one of each flow, that are not in common: where they begin, and their lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    begins: [usize; 2],
    lengths: [usize; 2],
}

/// All that is not in common.
fn pieces(one: &[u32], other: &[u32]) -> Vec<Piece> {
    let same = |pair: &(&u32, &u32)| pair.0 == pair.1;
    let (mut i, mut j) = (0, 0);
    let mut pieces = Vec::new();
    let mut joints: Option<Joints> = None;
    loop {
        let common = one[i..].iter().zip(&other[j..]).take_while(same).count();
        (i, j) = (i + common, j + common);
        if i == one.len() && j == other.len() {
            return pieces;
        }
        let joints = joints.get_or_insert_with(|| Joints::of(other));
        let lengths = joints.nearest(one, [i, j]).unwrap_or_else(|| {
            let ends = one[i..].iter().rev().zip(other[j..].iter().rev());
            let ends = ends.take_while(same).count();
            [one.len() - i - ends, other.len() - j - ends]
        });
        pieces.push(Piece { begins: [i, j], lengths });
        (i, j) = (i + lengths[0], j + lengths[1]);
    }
}

/// Where each sequence of [`JOINT`] executions stands in a flow.
struct Joints<'a>(HashMap<&'a [u32], Vec<usize>>);

impl<'a> Joints<'a> {
    fn of(flow: &'a [u32]) -> Self {
        let mut places: HashMap<&[u32], Vec<usize>> = HashMap::new();
        for (place, sequence) in flow.windows(JOINT).enumerate() {
            places.entry(sequence).or_default().push(place);
        }
        Self(places)
    }

    /// How far on from these places, in `one` and in the flow, the two have such a sequence in
    /// common, with the least sum.
    fn nearest(&self, one: &[u32], [i, j]: [usize; 2]) -> Option<[usize; 2]> {
        let mut nearest: Option<[usize; 2]> = None;
        for (x, sequence) in one[i..].windows(JOINT).enumerate() {
            if nearest.is_some_and(|[a, b]| x >= a + b) {
                break;
            }
            let Some(places) = self.0.get(sequence) else { continue };
            let next = places.partition_point(|place| *place < j);
            let Some(place) = places.get(next) else { continue };
            let y = place - j;
            if nearest.is_none_or(|[a, b]| x + y < a + b) {
                nearest = Some([x, y]);
            }
        }
        nearest
    }
}

/// What an instruction is known by.
#[derive(PartialEq, Eq, Hash)]
struct Identity {
    place: u64,
    bytes: Vec<u8>,
}

impl Identity {
    fn of(instruction: &Instruction) -> Self {
        let address = instruction.address;
        if is_kernel(address) {
            return Self { place: address, bytes: instruction.bytes().to_vec() };
        }
        // Of one that may reach into another page, not all bytes are known (`bochs_trace.rs`).
        let place = address % PAGE;
        let within = place + MAX_LENGTH as u64 <= PAGE;
        let bytes = if within { instruction.bytes().to_vec() } else { Vec::new() };
        Self { place, bytes }
    }
}

/// The different instructions of both interpreters.
#[derive(Default)]
struct Table {
    numbers: HashMap<Identity, u32>,
    instructions: Vec<Instruction>,
}

impl Table {
    /// The executions, by numbers in this table.
    fn numbered(&mut self, executed: &Executed) -> Vec<u32> {
        let numbers: Vec<u32> =
            executed.instructions.iter().map(|instruction| self.number(instruction)).collect();
        executed.flow.iter().map(|number| numbers[*number as usize]).collect()
    }

    fn number(&mut self, instruction: &Instruction) -> u32 {
        let instructions = &mut self.instructions;
        *self.numbers.entry(Identity::of(instruction)).or_insert_with(|| {
            instructions.push(*instruction);
            // Fits: each side has at most MOST_EXECUTIONS.
            u32::try_from(instructions.len() - 1).unwrap_or(u32::MAX)
        })
    }

    fn address(&self, number: u32) -> u64 {
        self.instructions[number as usize].address
    }

    /// The last instruction in common before a piece, with its mnemonic, and why they diverge.
    fn explained(
        &self,
        piece: &Piece,
        flows: &[Vec<u32>; 2],
        names: &dyn Resolve,
    ) -> (String, String, Cause) {
        let next = [0, 1].map(|side| {
            let number = flows[side].get(piece.begins[side]);
            number.map(|number| self.instructions[*number as usize])
        });
        let place = |next: Option<Instruction>| match next {
            Some(instruction) => place_of(names, instruction.address),
            None => "the end of the window".to_owned(),
        };
        let last = piece.begins[0].checked_sub(1).map(|last| flows[0][last]);
        let Some(last) = last.map(|number| self.instructions[number as usize]) else {
            let begin = "the begin of the window".to_owned();
            return (begin, String::new(), Cause::Code(next.map(place)));
        };
        let cause = cause(&last, next, names).unwrap_or_else(|| Cause::Code(next.map(place)));
        (place_of(names, last.address), mnemonic(&last), cause)
    }
}

/// Why control goes to different places after `last`, if that is clear.
fn cause(last: &Instruction, next: [Option<Instruction>; 2], names: &dyn Resolve) -> Option<Cause> {
    let [qemu, bochs] = [next[0]?, next[1]?];
    let sides = [(Interpreter::Qemu, qemu), (Interpreter::Bochs, bochs)];
    let arrived = |(side, now): (Interpreter, Instruction)| {
        let location = names.resolve(now.address)?;
        let name = location.name.to_owned();
        Some(match Gate::at(location.name, location.offset)? {
            Gate::Interrupt => Cause::Interrupt(side, name),
            Gate::Exception => Cause::Exception(side, name),
        })
    };
    if let Some(cause) = sides.into_iter().find_map(arrived) {
        return Some(cause);
    }
    let code = Code::of(last);
    let is_at = |address: u64| {
        let found = sides.iter().find(|(_, now)| now.address == address);
        found.map(|(side, _)| *side)
    };
    if code.rep {
        return is_at(last.address).filter(|_| is_at(last.end()).is_some()).map(Cause::Repeated);
    }
    match code.flow {
        Flow::Branch if is_at(last.end()).is_some() => is_at(code.target).map(Cause::Taken),
        Flow::JumpIndirect
        | Flow::CallIndirect
        | Flow::Return
        | Flow::InterruptReturn
        | Flow::SystemReturn => {
            Some(Cause::Led([qemu, bochs].map(|now| place_of(names, now.address))))
        }
        _ => None,
    }
}

/// Executions of each instruction, in both.
fn counts(flows: &[Vec<u32>; 2]) -> BTreeMap<u32, [u64; 2]> {
    let mut counts: BTreeMap<u32, [u64; 2]> = BTreeMap::new();
    for (side, flow) in flows.iter().enumerate() {
        for number in flow {
            counts.entry(*number).or_default()[side] += 1;
        }
    }
    counts
}

/// What has a different number of executions, by `name`: most different first, then by name.
fn often(counts: &BTreeMap<u32, [u64; 2]>, name: impl Fn(u32) -> String) -> Vec<ExecutedOften> {
    let mut sums: BTreeMap<String, [u64; 2]> = BTreeMap::new();
    for (number, [qemu, bochs]) in counts {
        let sum = sums.entry(name(*number)).or_default();
        sum[0] += qemu;
        sum[1] += bochs;
    }
    let differing = sums.into_iter().filter(|(_, [qemu, bochs])| qemu != bochs);
    let mut often: Vec<_> =
        differing.map(|(place, executions)| ExecutedOften { place, executions }).collect();
    often.sort_by_key(|one| std::cmp::Reverse(one.difference().unsigned_abs()));
    often
}

fn difference([qemu, bochs]: [u64; 2]) -> i64 {
    // Fits: there are at most MOST_EXECUTIONS of each.
    i64::try_from(i128::from(bochs) - i128::from(qemu)).unwrap_or(i64::MAX)
}

/// The function at an address; a program's code is one.
fn function_of(names: &dyn Resolve, address: u64) -> String {
    match names.resolve(address) {
        Some(location) => location.name.to_owned(),
        None if is_kernel(address) => format!("{address:#x}"),
        None => "user code".to_owned(),
    }
}

fn place_of(names: &dyn Resolve, address: u64) -> String {
    match names.resolve(address) {
        Some(location) => format!("{}+{:#x}", location.name, location.offset),
        None => format!("{address:#x}"),
    }
}
