//! Parts: functions between which code moved, as one. A function from which nothing moved is a
//! part by itself.

use pathmeter_model::{CodeMove, MoveKind};

use crate::{
    field::{Field, extent},
    vector::{Vector, add},
};

/// All parts by number, and the part of each function.
pub(crate) struct Parts {
    /// The part of each function.
    of: Vec<usize>,
    /// None of a part that was joined to another one.
    all: Vec<Option<Part>>,
}

pub(crate) struct Part {
    /// The numbers of its functions.
    pub(crate) functions: Vec<usize>,
    pub(crate) moves: Vec<CodeMove>,
    /// Its difference in each row.
    pub(crate) change: Vector,
    /// Of reads and writes of memory.
    pub(crate) accesses: Vector,
}

impl Part {
    /// By how much it differs in each row: see [`extent`].
    pub(crate) fn extent(&self, field: &Field<'_>) -> Vector {
        let of_row =
            |(row, change): (usize, &i64)| extent(*change, &field.events(&self.functions, row));
        self.change.iter().enumerate().map(of_row).collect()
    }
}

impl Parts {
    pub(crate) fn of(field: &Field<'_>) -> Self {
        let single = |(number, function): (usize, &crate::field::Function<'_>)| {
            Some(Part {
                functions: vec![number],
                moves: Vec::new(),
                change: function.change.clone(),
                accesses: function.accesses.clone(),
            })
        };
        Self {
            of: (0..field.functions.len()).collect(),
            all: field.functions.iter().enumerate().map(single).collect(),
        }
    }

    /// The number of the part that a function is in.
    pub(crate) fn number(&self, function: usize) -> usize {
        self.of[function]
    }

    /// The part that a function is in.
    pub(crate) fn with(&self, function: usize) -> &Part {
        // The number is always that of a part which is there: `join` renumbers.
        self.all[self.of[function]].as_ref().unwrap_or_else(|| unreachable!())
    }

    /// All parts that there are, with their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &Part)> {
        self.all.iter().enumerate().filter_map(|(number, part)| Some((number, part.as_ref()?)))
    }

    /// The part of this number, if there is one.
    pub(crate) fn get(&self, number: usize) -> Option<&Part> {
        self.all.get(number)?.as_ref()
    }

    /// Changes the kinds of all moves to what `kind` says of them.
    pub(crate) fn name_moves(&mut self, kind: impl Fn(&Self, &CodeMove) -> MoveKind) {
        let of_part = |part: &Part| part.moves.iter().map(|it| kind(self, it)).collect();
        let kinds: Vec<Vec<MoveKind>> = self.all.iter().flatten().map(of_part).collect();
        for (part, kinds) in self.all.iter_mut().flatten().zip(kinds) {
            part.moves.iter_mut().zip(kinds).for_each(|(it, kind)| it.kind = kind);
        }
    }

    /// Makes one part of those that two functions are in.
    pub(crate) fn join(&mut self, one: usize, other: usize, evidence: CodeMove) {
        let (into, from) = (self.of[one], self.of[other]);
        if into == from {
            return;
        }
        let Some(more) = self.all[from].take() else { return };
        for function in &more.functions {
            self.of[*function] = into;
        }
        if let Some(part) = &mut self.all[into] {
            add(&mut part.change, &more.change);
            add(&mut part.accesses, &more.accesses);
            part.functions.extend(more.functions);
            part.moves.extend(more.moves);
            part.moves.push(evidence);
        }
    }
}
