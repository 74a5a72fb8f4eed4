//! All functions in all rows: how they differ, and who calls whom.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pathmeter_model::Area;
use pathmeter_trace::{Event, EventDifferences, NodeDifference, Role, is_of_program};

use crate::{
    area::{entry, is_interrupt, of_file, own},
    row::{Changed, Row},
    vector::Vector,
};

/// The rows' weights, and the functions.
pub(crate) struct Field<'a> {
    pub(crate) weights: Vec<f64>,
    pub(crate) functions: Vec<Function<'a>>,
}

/// One function in all rows. Other functions are meant by their number.
#[derive(Default)]
pub(crate) struct Function<'a> {
    pub(crate) name: &'a str,
    /// Whether it is a program's function, which is the same for both kernels: it stands for
    /// itself, and no code moved to it or from it.
    pub(crate) is_of_program: bool,
    /// Whether any row of base, or of new, executes it.
    pub(crate) there: [bool; 2],
    pub(crate) change: Vector,
    pub(crate) accesses: Vector,
    pub(crate) stored: Vector,
    pub(crate) strings: Vector,
    /// How often it was called in each row; 0 where that is not known.
    pub(crate) calls: Vec<u64>,
    /// The events that differ, by row.
    pub(crate) events: BTreeMap<usize, EventDifferences>,
    /// By how much it differs in each row: see [`extent`].
    pub(crate) extent: Vector,
    /// On base and on new, with the instructions of the function and all below it.
    pub(crate) callers: [BTreeMap<usize, u64>; 2],
    /// On base and on new, with the instructions of the callee and all below it.
    pub(crate) callees: [BTreeMap<usize, u64>; 2],
    /// The nearest functions above it that differ.
    pub(crate) above: BTreeSet<usize>,
    /// Those that all of its difference is below, the nearest first; none until it differs.
    pub(crate) below: Option<Vec<usize>>,
    /// The kind of work that its source file or its name stands for, if it stands for one.
    own: Option<Area>,
    /// The kind of work that it begins, if it is an entry point.
    entry: Option<Area>,
    /// Whether an interrupt's handler begins with it.
    is_handler: bool,
    /// Its difference in each kind of work.
    areas: BTreeMap<Area, f64>,
    /// Its difference below the entry points of each kind.
    entries: BTreeMap<Area, f64>,
    /// The share of its difference that is in handlers of interrupts.
    interrupts: f64,
}

impl Function<'_> {
    /// Which side executes it, base or new, if only one does.
    pub(crate) fn only_side(&self) -> Option<usize> {
        match self.there {
            [true, false] => Some(0),
            [false, true] => Some(1),
            _ => None,
        }
    }

    /// Whether only base executes it.
    pub(crate) fn vanished(&self) -> bool {
        self.there == [true, false]
    }

    /// In how many rows it differs.
    pub(crate) fn rows(&self) -> usize {
        self.extent.iter().filter(|extent| **extent != 0).count()
    }

    /// Whether this node has some of its difference in a row. Events are known of functions alone,
    /// so a difference of nothing else is at each of its nodes.
    fn differs_at(&self, row: usize, node: &NodeDifference) -> bool {
        self.extent[row] != 0 && (node.base != node.new || self.change[row] == 0)
    }

    /// The kind of work that it does in most of its difference.
    pub(crate) fn area(&self) -> Area {
        most(&self.areas).or(self.own).unwrap_or(Area::Other)
    }

    /// The kind of the entry points that most of its difference is below.
    pub(crate) fn entry(&self) -> Area {
        most(&self.entries).or(self.entry).unwrap_or(Area::Other)
    }

    /// Whether almost all of its difference is in handlers of interrupts.
    pub(crate) fn is_of_interrupts(&self) -> bool {
        let all: f64 = self.areas.values().sum();
        self.interrupts > 0.9 * all
    }
}

impl<'a> Field<'a> {
    pub(crate) fn of(rows: &[Row<'a>]) -> Self {
        #[allow(clippy::cast_precision_loss, reason = "a weight; windows are far below 2^53")]
        let weights = rows.iter().map(|row| 1.0 / row.base.max(1) as f64).collect();
        let mut field = Self { weights, functions: Vec::new() };
        let mut numbers = Numbers::default();
        for (place, row) in rows.iter().enumerate() {
            for changed in &row.functions {
                let number = numbers.number(changed.name, &mut field.functions, rows.len());
                field.functions[number].note(place, changed);
            }
        }
        for (place, row) in rows.iter().enumerate() {
            let of = |node: &NodeDifference| numbers.0.get(&*node.name).copied();
            field.walk(place, row.tree, &row.tree.iter().map(of).collect::<Vec<_>>());
        }
        field
    }

    /// The events of these functions that differ in a row, together.
    pub(crate) fn events(&self, functions: &[usize], row: usize) -> EventDifferences {
        let all = functions.iter().filter_map(|one| self.functions[*one].events.get(&row));
        let mut sum = EventDifferences::new();
        for (event, more) in all.flatten() {
            *sum.entry(*event).or_default() += more;
        }
        sum.retain(|_, more| *more != 0);
        sum
    }

    /// Notes who calls whom in one row; `numbers` are the nodes' functions.
    fn walk(&mut self, row: usize, tree: &[NodeDifference], numbers: &[Option<usize>]) {
        // A parent stands before its children.
        for (node, number) in tree.iter().zip(numbers) {
            let Some(number) = *number else { continue };
            let parent = node.parent.map(|parent| parent as usize);
            if let Some(caller) = parent.and_then(|parent| numbers[parent]) {
                self.call(caller, number, [node.base_inclusive, node.new_inclusive]);
            }
            if self.functions[number].differs_at(row, node) {
                let ancestors = std::iter::successors(parent, |at| {
                    tree[*at].parent.map(|parent| parent as usize)
                });
                let above: Vec<usize> = ancestors.filter_map(|at| numbers[at]).collect();
                let size = self.weights[row] * weight(node.base.abs_diff(node.new).max(1));
                self.place(row, number, &above, size);
            }
        }
    }

    fn call(&mut self, caller: usize, callee: usize, inclusive: [u64; 2]) {
        for (side, sum) in inclusive.into_iter().enumerate().filter(|(_, sum)| *sum > 0) {
            *self.functions[callee].callers[side].entry(caller).or_default() += sum;
            *self.functions[caller].callees[side].entry(callee).or_default() += sum;
        }
    }

    /// Notes that a function differs below others, the nearest first.
    fn place(&mut self, row: usize, number: usize, above: &[usize], size: f64) {
        let differs = |one: &&usize| **one != number && self.functions[**one].extent[row] != 0;
        let nearest = above.iter().find(differs).copied();
        let all = || std::iter::once(&number).chain(above).map(|it| &self.functions[*it]);
        let (own, entry) = (all().find_map(|it| it.own), all().find_map(|it| it.entry));
        let handler = all().any(|it| it.is_handler);
        let function = &mut self.functions[number];
        function.above.extend(nearest);
        *function.areas.entry(own.unwrap_or(Area::Other)).or_default() += size;
        *function.entries.entry(entry.unwrap_or(Area::Other)).or_default() += size;
        function.interrupts += if handler { size } else { 0.0 };
        match &mut function.below {
            None => function.below = Some(above.to_vec()),
            Some(below) => below.retain(|one| above.contains(one)),
        }
    }
}

/// The area with the largest share.
fn most(areas: &BTreeMap<Area, f64>) -> Option<Area> {
    areas.iter().max_by(|one, other| one.1.total_cmp(other.1)).map(|(area, _)| *area)
}

#[allow(clippy::cast_precision_loss, reason = "a weight; windows are far below 2^53")]
fn weight(instructions: u64) -> f64 {
    instructions as f64
}

/// By how much something differs: in instructions, or, of as many, in events that cost something
/// by themselves. A line of bytes of string instructions counts like an instruction.
pub(crate) fn extent(instructions: i64, events: &EventDifferences) -> i64 {
    let costs = events.iter().filter(|(event, _)| event.role() == Role::Cost);
    let cost = |(event, more): (&Event, &i64)| match event {
        Event::StringBytes => (more.abs() + LINE - 1) / LINE,
        _ => more.abs(),
    };
    if instructions != 0 { instructions.abs() } else { costs.map(cost).sum() }
}

/// Bytes of a line of memory.
const LINE: i64 = 64;

/// The functions' numbers by name.
#[derive(Default)]
struct Numbers<'a>(HashMap<&'a str, usize>);

impl<'a> Numbers<'a> {
    fn number(&mut self, name: &'a str, all: &mut Vec<Function<'a>>, rows: usize) -> usize {
        *self.0.entry(name).or_insert_with(|| {
            let none = || vec![0; rows];
            let is_of_program = is_of_program(name);
            let of_kernel = |area: fn(&str) -> Option<Area>| {
                if is_of_program { Some(Area::User) } else { area(name) }
            };
            all.push(Function {
                name,
                is_of_program,
                own: of_kernel(own),
                entry: of_kernel(entry),
                is_handler: !is_of_program && is_interrupt(name),
                change: none(),
                accesses: none(),
                stored: none(),
                strings: none(),
                calls: vec![0; rows],
                extent: none(),
                ..Function::default()
            });
            all.len() - 1
        })
    }
}

impl<'a> Function<'a> {
    fn note(&mut self, row: usize, changed: &Changed<'a>) {
        self.own = changed.file.and_then(of_file).or(self.own);
        self.there[0] |= changed.there[0];
        self.there[1] |= changed.there[1];
        self.change[row] += changed.difference;
        self.accesses[row] += changed.accesses;
        self.stored[row] += changed.stored;
        self.strings[row] += changed.strings;
        self.calls[row] += changed.calls;
        if !changed.events.is_empty() {
            self.events.insert(row, changed.events.clone().into_owned());
        }
        self.extent[row] = extent(self.change[row], &changed.events);
    }
}
