//! Groups and parts as the document has them, ranked.

use std::collections::BTreeMap;

use pathmeter_model::{Area, Cause, CauseInRow, CausePart, CauseRow, Causes, CodeMove};
use pathmeter_trace::Change;

use crate::{
    field::{Field, Function},
    groups::size_of,
    parts::{Part, Parts},
    typical::{per_call, per_own_call, typical},
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
    let moves = moves_without_difference(field, parts);
    Causes { rows, causes, moves }
}

fn moves_without_difference(field: &Field<'_>, parts: &Parts) -> Vec<CodeMove> {
    let same = |part: &Part| part.extent(field).iter().all(|extent| *extent == 0);
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
        let mut parts: Vec<CausePart> = members.iter().map(|part| self.part(part, group)).collect();
        parts.sort_by(|one, other| {
            other.share.total_cmp(&one.share).then_with(|| one.functions.cmp(&other.functions))
        });
        let rows: Vec<CauseInRow> =
            (0..self.rows.len()).filter_map(|row| self.in_row(&functions, row)).collect();
        let differences: Vec<i64> = rows.iter().map(|row| row.difference).collect();
        let paths: Vec<&str> = self.rows.iter().map(|row| &*row.path).collect();
        Cause {
            typical: typical(&differences),
            per_call: per_call(&self.field.weights, &self.functions(&functions), &rows, &paths),
            difference: parts.iter().map(|part| part.difference).sum(),
            share: parts.iter().map(|part| part.share).sum(),
            parts,
            caller: self.caller(&functions),
            area: self.area(&functions),
            rows,
        }
    }

    fn functions(&self, numbers: &[usize]) -> Vec<&Function<'_>> {
        numbers.iter().map(|number| &self.field.functions[*number]).collect()
    }

    fn part(&self, part: &Part, group: &[usize]) -> CausePart {
        let of = |number: &usize| size(&self.field.weights, &self.field.functions[*number].extent);
        let mut functions = part.functions.clone();
        functions.sort_by(|one, other| of(other).total_cmp(&of(one)).then(one.cmp(other)));
        let names = functions.iter().map(|number| self.field.functions[*number].name.to_owned());
        let size = size(&self.field.weights, &part.extent(self.field));
        let lead = functions.first().map(|number| &self.field.functions[*number]);
        CausePart {
            functions: names.collect(),
            change: self.change(part),
            is_first: self.is_first(part, group),
            typical: typical(&part.change),
            per_call: lead.filter(|_| functions.len() == 1).and_then(per_own_call),
            calls: lead.map_or(0, |lead| lead.calls.iter().sum()),
            difference: part.change.iter().sum(),
            share: if self.all > 0.0 { size / self.all } else { 0.0 },
            moves: part.moves.clone(),
        }
    }

    /// Whether no other part of the group that has the same fate calls this one.
    fn is_first(&self, part: &Part, group: &[usize]) -> bool {
        let fate = self.there(part);
        let above = part.functions.iter().flat_map(|one| &self.field.functions[*one].above);
        let above = above.map(|one| self.parts.number(*one));
        let mut others =
            above.filter(|one| group.contains(one)).filter_map(|one| self.parts.get(one));
        others.all(|other| std::ptr::eq(other, part) || self.there(other) != fate)
    }

    /// Whether base and new execute any of its functions.
    fn there(&self, part: &Part) -> [bool; 2] {
        let on = |side: usize| {
            part.functions.iter().any(|number| self.field.functions[*number].there[side])
        };
        [on(0), on(1)]
    }

    fn change(&self, part: &Part) -> Change {
        let [base, new] = self.there(part);
        match (base, new, part.change.iter().sum::<i64>()) {
            (false, ..) => Change::Appeared,
            (_, false, _) => Change::Vanished,
            (_, _, 1..) => Change::Grew,
            (_, _, ..=-1) => Change::Shrank,
            _ => Change::Same,
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
                size(&self.field.weights, &function.extent);
        }
        let most = areas.into_iter().max_by(|one, other| one.1.total_cmp(&other.1));
        most.map_or(Area::Other, |(area, _)| area)
    }

    fn in_row(&self, functions: &[usize], row: usize) -> Option<CauseInRow> {
        let all = functions.iter().map(|number| &self.field.functions[*number]);
        let difference = all.clone().map(|function| function.change[row]).sum();
        let events = self.field.events(functions, row);
        let there = difference != 0 || !events.is_empty();
        there.then(|| CauseInRow { path: self.rows[row].path.clone(), difference, events })
    }
}
