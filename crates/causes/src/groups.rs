//! Parts that changed together: neighbours in the call trees that differ in the same rows in the
//! same proportion. Those in handlers of interrupts need only be neighbours: an interrupt comes as
//! a whole. A function of a program is in no group: its code is the same on both kernels, so it
//! changed with nothing, but did more or less.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    field::Field,
    parts::Parts,
    vector::{Vector, add, alike, size},
};

/// How alike the differences of neighbours must be: the cosine of their vectors.
const ALIKE: f64 = 0.9;
/// The same of parts that have only a caller in common.
const ALIKE_SIBLINGS: f64 = 0.97;
/// With how many such parts each is compared at most, so that thousands take no long time.
const SIBLINGS: usize = 100;
/// The same of parts in handlers of interrupts.
const ALIKE_IN_INTERRUPTS: f64 = 0.2;
/// In fewer rows any two parts are alike, so they must be of one kind of work as well.
const FEW_ROWS: usize = 3;

/// The numbers of the parts that differ, together in groups.
pub(crate) fn groups(field: &Field<'_>, parts: &Parts) -> Vec<Vec<usize>> {
    let mut groups = Groups::of(field, parts);
    let mut pairs: Vec<Pair> = neighbours(field, parts)
        .into_iter()
        .filter_map(|((one, other), limit)| {
            let alike = groups.alike(one, other)?;
            (alike >= limit).then_some(Pair { alike, limit, one, other })
        })
        .collect();
    pairs.sort_by(|one, other| {
        other.alike.total_cmp(&one.alike).then((one.one, one.other).cmp(&(other.one, other.other)))
    });
    for Pair { limit, one, other, .. } in pairs {
        if groups.alike(one, other).is_some_and(|alike| alike >= limit) {
            groups.join(one, other);
        }
    }
    groups.members.into_values().collect()
}

/// Two parts that may be in one group.
struct Pair {
    alike: f64,
    limit: f64,
    one: usize,
    other: usize,
}

/// Parts that are near each other, and how alike they must be.
fn neighbours(field: &Field<'_>, parts: &Parts) -> BTreeMap<(usize, usize), f64> {
    let mut pairs = BTreeMap::new();
    let mut by_caller: BTreeMap<_, BTreeSet<usize>> = BTreeMap::new();
    let mut pair = |one: usize, other: usize, limit: f64| {
        if one != other {
            let limit = |held: f64| held.min(limit);
            let held = pairs.entry((one.min(other), one.max(other))).or_insert(1.0);
            *held = limit(*held);
        }
    };
    let of_kernel = |number: &usize| !field.functions[*number].is_of_program;
    for (number, function) in field.functions.iter().enumerate().filter(|it| of_kernel(&it.0)) {
        let part = parts.number(number);
        for above in function.above.iter().filter(|above| of_kernel(above)) {
            let both = [function, &field.functions[*above]];
            if both.iter().all(|one| one.is_of_interrupts()) {
                pair(part, parts.number(*above), ALIKE_IN_INTERRUPTS);
            } else if both.iter().any(|one| one.rows() >= FEW_ROWS)
                || both[0].entry() == both[1].entry()
            {
                pair(part, parts.number(*above), ALIKE);
            }
        }
        let callers = function.callers.iter().flat_map(BTreeMap::keys);
        for caller in callers.filter(|_| function.rows() > 0) {
            let entry = (function.rows() < FEW_ROWS).then(|| function.entry());
            by_caller.entry((*caller, entry)).or_default().insert(part);
        }
    }
    for siblings in by_caller.values() {
        for one in siblings {
            let others = siblings.range(..one).rev().take(SIBLINGS);
            others.for_each(|other| pair(*one, *other, ALIKE_SIBLINGS));
        }
    }
    pairs
}

/// The groups of parts while they are joined.
struct Groups<'a> {
    field: &'a Field<'a>,
    /// The group of each part.
    of: BTreeMap<usize, usize>,
    /// The parts of each group.
    members: BTreeMap<usize, Vec<usize>>,
    /// Of each group the sum of its parts' differences without their signs, by row.
    changes: BTreeMap<usize, Vector>,
}

impl<'a> Groups<'a> {
    fn of(field: &'a Field<'a>, parts: &Parts) -> Self {
        let mut groups =
            Self { field, of: BTreeMap::new(), members: BTreeMap::new(), changes: BTreeMap::new() };
        let extents = parts.iter().map(|(number, part)| (number, part.extent(field)));
        for (number, extent) in extents.filter(|(_, extent)| extent.iter().any(|it| *it != 0)) {
            groups.of.insert(number, number);
            groups.members.insert(number, vec![number]);
            groups.changes.insert(number, extent);
        }
        groups
    }

    /// How alike the groups of two parts are; none if they are one, or a part does not differ.
    fn alike(&self, one: usize, other: usize) -> Option<f64> {
        let (one, other) = (self.of.get(&one)?, self.of.get(&other)?);
        let changes = (&self.changes[one], &self.changes[other]);
        (one != other).then(|| alike(&self.field.weights, changes.0, changes.1))
    }

    fn join(&mut self, one: usize, other: usize) {
        let (into, from) = (self.of[&one], self.of[&other]);
        let (Some(more), Some(change)) = (self.members.remove(&from), self.changes.remove(&from))
        else {
            return;
        };
        for part in &more {
            self.of.insert(*part, into);
        }
        self.members.entry(into).or_default().extend(more);
        if let Some(sum) = self.changes.get_mut(&into) {
            add(sum, &change);
        }
    }
}

/// What a group's parts differ by, without their signs and weighted.
pub(crate) fn size_of(field: &Field<'_>, parts: &Parts, group: &[usize]) -> f64 {
    let of = |number: &usize| {
        parts.get(*number).map_or(0.0, |it| size(&field.weights, &it.extent(field)))
    };
    group.iter().map(of).sum()
}
