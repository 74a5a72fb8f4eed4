//! The rows that are attributed: those with an explanation, or with functions alone.

use std::{borrow::Cow, collections::HashMap};

use pathmeter_model::{EXECUTIONS, FunctionChange};
use pathmeter_trace::{
    EventDifferences, Explain, FunctionDifference, NodeDifference, Side, SubjectWindow, folded,
};

/// One row and what differs in it.
#[derive(Debug)]
pub struct Row<'a> {
    pub(crate) name: &'a str,
    /// Instructions that base's window executes.
    pub(crate) base: u64,
    pub(crate) functions: Vec<Changed<'a>>,
    /// Both call trees, laid over each other; empty if calls are not known.
    pub(crate) tree: &'a [NodeDifference],
    /// How often base and new execute it, where it is a program's.
    pub(crate) executions: Option<[u64; 2]>,
}

/// One function in a row.
#[derive(Debug)]
pub(crate) struct Changed<'a> {
    pub(crate) name: &'a str,
    /// The source file that it is in, if debug information says so.
    pub(crate) file: Option<&'a str>,
    /// Whether base and new execute it.
    pub(crate) there: [bool; 2],
    /// The difference in instructions, new − base.
    pub(crate) difference: i64,
    /// How often it was called, of two sides the larger number; 0 if that is not known.
    pub(crate) calls: u64,
    /// Reads and writes of memory, new − base.
    pub(crate) accesses: i64,
    /// Bytes written, new − base.
    pub(crate) stored: i64,
    /// Bytes of string instructions, new − base.
    pub(crate) strings: i64,
    pub(crate) events: Cow<'a, EventDifferences>,
}

impl<'a> Row<'a> {
    /// A row that is explained; none if the explanation has no two sides.
    pub fn explained(explain: &'a Explain) -> Option<Self> {
        let difference = explain.difference.as_ref()?;
        let files: Files<'a> = explain.new.iter().chain([&explain.base]).flat_map(files).collect();
        let function = |function| Changed::of_window(function, &files);
        Some(Self {
            name: &explain.path,
            base: explain.base.window.total,
            functions: difference.functions.iter().map(function).collect(),
            tree: &difference.tree,
            executions: explain.executions(),
        })
    }

    /// The same row of which base was taken as often as new ([`as_often`]): what more executions
    /// cost is added, so that the functions add up to the difference in `explain`.
    ///
    /// [`as_often`]: crate::executions::as_often
    pub(crate) fn with_executions(mut self, explain: &Explain) -> Self {
        let base = explain.base.window.total;
        let difference = self.base.wrapping_sub(base).cast_signed();
        self.functions.push(Changed { difference, ..Changed::of_nothing(EXECUTIONS) });
        // What more of them do is not told apart by event.
        self.functions.iter_mut().for_each(|it| it.events = Cow::Owned(EventDifferences::new()));
        Self { base, executions: explain.executions(), ..self }
    }

    /// A row of which the functions are known and not who calls them; `base` is what base executes.
    pub fn of_functions(name: &'a str, base: u64, functions: &'a [FunctionChange]) -> Self {
        let functions = functions.iter().map(Changed::of_run).collect();
        Self { name, base, functions, tree: &[], executions: None }
    }
}

/// The source files of functions, by their names without suffixes.
type Files<'a> = HashMap<&'a str, &'a str>;

fn files(side: &SubjectWindow) -> impl Iterator<Item = (&str, &str)> {
    let functions = side.window.functions.iter();
    functions.filter_map(|it| Some((folded(&it.name), &*it.source.as_ref()?.file)))
}

impl<'a> Changed<'a> {
    fn of_window(function: &'a FunctionDifference, files: &Files<'a>) -> Self {
        let minus = |count: fn(&Side) -> u64| {
            let of = |side: &Option<Side>| side.as_ref().map_or(0, count);
            of(&function.new).wrapping_sub(of(&function.base)).cast_signed()
        };
        Self {
            name: &function.name,
            file: files.get(&*function.name).copied(),
            there: [function.base.is_some(), function.new.is_some()],
            difference: function.difference,
            // A function that ends in a jump to another one has no returns of its own.
            calls: [&function.base, &function.new]
                .map(|side| side.as_ref().map_or(0, |side| side.counts.returns))
                .into_iter()
                .fold(0, u64::max),
            accesses: minus(|side| side.counts.loads + side.counts.stores),
            stored: minus(|side| side.counts.bytes_stored),
            strings: minus(|side| side.counts.rep_bytes),
            events: Cow::Borrowed(&function.events),
        }
    }

    fn of_run(function: &'a FunctionChange) -> Self {
        Self {
            there: [
                function.base > 0 || function.base_calls > 0,
                function.new > 0 || function.new_calls > 0,
            ],
            difference: function.difference,
            calls: function.base_calls.max(function.new_calls),
            events: Cow::Borrowed(&function.events),
            ..Self::of_nothing(folded(&function.function))
        }
    }

    /// On both sides, with no difference.
    fn of_nothing(name: &'a str) -> Self {
        Self {
            name,
            file: None,
            there: [true; 2],
            difference: 0,
            calls: 0,
            accesses: 0,
            stored: 0,
            strings: 0,
            events: Cow::Owned(EventDifferences::new()),
        }
    }
}
