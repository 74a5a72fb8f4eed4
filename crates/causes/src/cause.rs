//! Groups and parts as the document has them, ranked.

use std::collections::BTreeMap;

use pathmeter_model::{Area, Cause, CauseInRow, CausePart, CauseRow, Causes, CodeMove};
use pathmeter_trace::EventDifferences;

use crate::{
    field::Field,
    groups::size_of,
    parts::{Part, Parts},
    vector::size,
};

/// All of it; `rows` are the rows in their order.
pub(crate) fn assembled(
    field: &Field<'_>,
    parts: &Parts,
    groups: &[Vec<usize>],
    rows: Vec<CauseRow>,
) -> Causes {
    let all: f64 = groups.iter().map(|group| size_of(field, parts, group)).sum();
    let view = View { field, parts, rows: &rows, all };
    let mut causes: Vec<Cause> = groups.iter().map(|group| view.cause(group)).collect();
    causes.sort_by(|one, other| {
        let name = |cause: &Cause| cause.parts.first().map(|part| part.functions.clone());
        other.share.total_cmp(&one.share).then_with(|| name(one).cmp(&name(other)))
    });
    let moves = moves_without_difference(parts);
    Causes { rows, causes, moves }
}

fn moves_without_difference(parts: &Parts) -> Vec<CodeMove> {
    let same = |part: &Part| part.change.iter().all(|change| *change == 0);
    let parts = parts.iter().filter(|(_, part)| same(part));
    parts.flat_map(|(_, part)| part.moves.clone()).collect()
}

struct View<'a> {
    field: &'a Field<'a>,
    parts: &'a Parts,
    rows: &'a [CauseRow],
    /// What all differences add up to, weighted.
    all: f64,
}

impl View<'_> {
    fn cause(&self, group: &[usize]) -> Cause {
        let members: Vec<&Part> = group.iter().filter_map(|it| self.parts.get(*it)).collect();
        let functions: Vec<usize> = members.iter().flat_map(|it| it.functions.clone()).collect();
        let mut parts: Vec<CausePart> = members.iter().map(|part| self.part(part)).collect();
        parts.sort_by(|one, other| {
            other.share.total_cmp(&one.share).then_with(|| one.functions.cmp(&other.functions))
        });
        Cause {
            difference: parts.iter().map(|part| part.difference).sum(),
            share: parts.iter().map(|part| part.share).sum(),
            parts,
            caller: self.caller(&functions),
            area: self.area(&functions),
            rows: (0..self.rows.len()).filter_map(|row| self.in_row(&functions, row)).collect(),
        }
    }

    fn part(&self, part: &Part) -> CausePart {
        let of = |number: &usize| size(&self.field.weights, &self.field.functions[*number].change);
        let mut functions = part.functions.clone();
        functions.sort_by(|one, other| of(other).total_cmp(&of(one)).then(one.cmp(other)));
        let names = functions.iter().map(|number| self.field.functions[*number].name.to_owned());
        let size = size(&self.field.weights, &part.change);
        CausePart {
            functions: names.collect(),
            difference: part.change.iter().sum(),
            share: if self.all > 0.0 { size / self.all } else { 0.0 },
            moves: part.moves.clone(),
        }
    }

    /// The nearest function above all that differ and is none of them.
    fn caller(&self, functions: &[usize]) -> Option<String> {
        let mut of = functions.iter().filter_map(|it| self.field.functions[*it].below.as_ref());
        let mut common = of.next()?.clone();
        of.for_each(|below| common.retain(|one| below.contains(one)));
        let mut outer = common.into_iter().filter(|one| !functions.contains(one));
        let name = outer.next().map(|one| self.field.functions[one].name)?;
        (!name.starts_with('[')).then(|| name.to_owned())
    }

    /// The kind of work that most of the difference is in.
    fn area(&self, functions: &[usize]) -> Area {
        let mut areas: BTreeMap<Area, f64> = BTreeMap::new();
        for number in functions {
            let function = &self.field.functions[*number];
            *areas.entry(function.area()).or_default() +=
                size(&self.field.weights, &function.change);
        }
        let most = areas.into_iter().max_by(|one, other| one.1.total_cmp(&other.1));
        most.map_or(Area::Other, |(area, _)| area)
    }

    fn in_row(&self, functions: &[usize], row: usize) -> Option<CauseInRow> {
        let all = functions.iter().map(|number| &self.field.functions[*number]);
        let difference = all.clone().map(|function| function.change[row]).sum();
        let mut events = EventDifferences::new();
        for (event, more) in all.filter_map(|function| function.events.get(&row)).flatten() {
            *events.entry(*event).or_default() += more;
        }
        events.retain(|_, more| *more != 0);
        let there = difference != 0 || !events.is_empty();
        there.then(|| CauseInRow { path: self.rows[row].path.clone(), difference, events })
    }
}
