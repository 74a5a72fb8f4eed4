//! The kernel's functions that work is in, and how two kernels differ in them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use pathmeter_trace::{Event, EventDifferences};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a function cost in one row.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FunctionCost {
    pub function: String,
    /// How often it was entered at its beginning.
    pub calls: u64,
    /// Instructions in it, without those of the functions that it calls.
    pub instructions: u64,
    /// How many of these were events: slow instructions, and branches that cost more than others.
    /// An event that did not occur is absent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub events: BTreeMap<Event, u64>,
}

/// How a function differs in one row. A side that does not execute it has 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionChange {
    pub function: String,
    /// How often it was entered on base.
    pub base_calls: u64,
    /// How often it was entered on new.
    pub new_calls: u64,
    /// Instructions in it on base.
    pub base: u64,
    /// Instructions in it on new.
    pub new: u64,
    /// The instructions of `new` − those of `base`.
    pub difference: i64,
    /// How many more of each event there are in new: new − base. An event that does not differ is
    /// absent.
    #[serde(default, skip_serializing_if = "EventDifferences::is_empty")]
    pub events: EventDifferences,
}

/// In which functions base and new differ, the largest difference first; of those with as many
/// instructions the one with more different events. Only events that `has_counted` were counted.
pub(crate) fn function_changes(
    sides: [&[FunctionCost]; 2],
    has_counted: impl Fn(Event) -> bool,
) -> Vec<FunctionChange> {
    let [base, new] = sides.map(|side| {
        side.iter().map(|one| (&*one.function, one)).collect::<BTreeMap<&str, &FunctionCost>>()
    });
    let names: BTreeSet<&str> = base.keys().chain(new.keys()).copied().collect();
    let nothing = FunctionCost::default();
    let change_of = |name: &str| {
        let [base, new] = [&base, &new].map(|side| side.get(name).copied().unwrap_or(&nothing));
        change(name, base, new, &has_counted)
    };
    let mut functions: Vec<FunctionChange> =
        names.into_iter().map(change_of).filter(FunctionChange::differs).collect();
    functions.sort_by_key(|one| {
        let events =
            one.events.values().fold(0, |sum: u64, it| sum.saturating_add(it.unsigned_abs()));
        (Reverse((one.difference.unsigned_abs(), events)), one.function.clone())
    });
    functions
}

fn change(
    name: &str,
    base: &FunctionCost,
    new: &FunctionCost,
    has_counted: &impl Fn(Event) -> bool,
) -> FunctionChange {
    let of = |side: &FunctionCost, event| side.events.get(&event).copied().unwrap_or(0);
    let events: BTreeSet<Event> = base.events.keys().chain(new.events.keys()).copied().collect();
    let events = events.into_iter().filter(|event| has_counted(*event));
    let events = events.map(|event| (event, minus(of(new, event), of(base, event))));
    FunctionChange {
        function: name.to_owned(),
        base_calls: base.calls,
        new_calls: new.calls,
        base: base.instructions,
        new: new.instructions,
        difference: minus(new.instructions, base.instructions),
        events: events.filter(|(_, difference)| *difference != 0).collect(),
    }
}

/// The difference of two numbers, which are bounded far below when they are read.
fn minus(new: u64, base: u64) -> i64 {
    i64::try_from(i128::from(new) - i128::from(base)).unwrap_or(i64::MAX)
}

impl FunctionChange {
    /// Whether its instructions or its calls differ, and not only its events.
    pub fn has_moved(&self) -> bool {
        self.difference != 0 || self.base_calls != self.new_calls
    }

    fn differs(&self) -> bool {
        self.has_moved() || !self.events.is_empty()
    }
}
