//! Where the differences of all rows come from, taken together: the part of documents that the
//! crate `causes` makes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::recording::difference::{Change, EventDifferences};

/// The differences of all rows whose functions are known, attributed together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Causes {
    /// The rows, in the comparison's order. Of each, the differences that the causes have in it add
    /// up to its `recorded` difference, exactly.
    pub rows: Vec<CauseRow>,
    /// The causes; the one with the largest share first. Their shares add up to 1.
    pub causes: Vec<Cause>,
    /// Code that moved from function to function and costs the same in every row: no cause.
    pub moves: Vec<CodeMove>,
}

/// Stands among the functions for executions of a row that one kernel has more of than the other.
pub const EXECUTIONS: &str = "[executions]";

/// Largest difference, far above that of any recording: sums of all fit 64 bits.
const MOST: u64 = 1 << 40;

impl Causes {
    /// What in a document that came from a file can't be so; none if all of it adds up.
    pub fn contradiction(&self) -> Option<&'static str> {
        let mut left: BTreeMap<&str, i128> = BTreeMap::new();
        for CauseRow { path, recorded, .. } in &self.rows {
            if left.insert(path, i128::from(*recorded)).is_some() {
                return Some("have a row twice");
            }
        }
        for cause in &self.causes {
            let in_range = |share: f64| (0.0..=1.0 + 1e-9).contains(&share);
            let parts = cause.parts.iter();
            if !in_range(cause.share) || parts.clone().any(|part| !in_range(part.share)) {
                return Some("have a share that is none");
            }
            if cause.parts.is_empty() || parts.clone().any(|part| part.functions.is_empty()) {
                return Some("have a place without a function");
            }
            let all = parts.clone().map(|part| part.difference);
            let mut all = all.chain(cause.rows.iter().map(|row| row.difference));
            if all.any(|difference| difference.unsigned_abs() > MOST) {
                return Some("have a larger number than any recording");
            }
            let sum = |all: &mut dyn Iterator<Item = i64>| all.map(i128::from).sum::<i128>();
            let of_parts = sum(&mut parts.map(|part| part.difference));
            let of_rows = sum(&mut cause.rows.iter().map(|row| row.difference));
            if [of_parts, of_rows] != [i128::from(cause.difference); 2] {
                return Some("have a difference that is not the sum of its parts and rows");
            }
            for row in &cause.rows {
                let Some(left) = left.get_mut(&*row.path) else { return Some("name another row") };
                *left -= i128::from(row.difference);
            }
        }
        left.values().any(|left| *left != 0).then_some("do not add up to the rows' differences")
    }
}

/// A row whose difference is attributed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CauseRow {
    pub path: String,
    /// Instructions of base's recorded window. A row counts in the shares by the inverse of it, so
    /// that a long row does not drown short ones.
    pub base: u64,
    /// How many more instructions new's recorded window has than base's. It differs from the row's
    /// own difference where the row's values were not recorded.
    pub recorded: i64,
    /// How often base and new execute a row of a program, or a region, in the runs that are
    /// explained; absent of paths and of what is not called, such as user code. If the two differ,
    /// the causes compare as many executions as new has, base's at their mean cost, and the cause
    /// with the part `[executions]` is what the more or fewer of them cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executions: Option<[u64; 2]>,
}

/// A place in the kernel in which rows differ: a function, or functions that changed together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cause {
    /// Instructions, new − base, over all rows.
    pub difference: i64,
    /// The difference that most of its rows have.
    pub typical: Typical,
    /// What each call of its first function differs by; null if that is not the same in most rows,
    /// or if calls are not known.
    pub per_call: Option<PerCall>,
    /// Its share of the differences, from 0 to 1: of its parts' differences in each row, without
    /// their signs and divided by the row's `base`. Where a part executes as many instructions,
    /// slow instructions and lines of string bytes that differ count in their place.
    pub share: f64,
    /// What it consists of; the part with the largest share first.
    pub parts: Vec<CausePart>,
    /// The nearest function that all of it is called from; null if there is none, or calls are not
    /// known.
    pub caller: Option<String>,
    /// What kind of work it is.
    pub area: Area,
    /// The rows that it is in, in the comparison's order.
    pub rows: Vec<CauseInRow>,
}

/// A function, or several between which code moved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CausePart {
    /// Their names; the one whose difference is largest first.
    pub functions: Vec<String>,
    /// What became of all of them together.
    pub change: Change,
    /// Whether no other part of the cause that came or went as it did calls it.
    pub is_first: bool,
    /// Instructions, new − base, over all rows.
    pub difference: i64,
    /// The difference that most of its rows have.
    pub typical: Typical,
    /// The difference of each call of the first function, if it is the same in every row; null if
    /// not, or if calls are not known.
    pub per_call: Option<i64>,
    /// Calls of the first function over all rows; of two sides the larger number. 0 if not known.
    pub calls: u64,
    /// Its share of all differences, as in the cause.
    pub share: f64,
    /// Why several functions are one part.
    pub moves: Vec<CodeMove>,
}

/// What each call of a cause's first function differs by, with all else of the cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PerCall {
    /// Instructions, new − base.
    pub difference: i64,
    /// In how many rows this is so.
    pub rows: usize,
    /// The events of which a call differs by as many in most rows.
    pub events: EventDifferences,
}

/// The most frequent difference in a row; of several the smallest without its sign.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Typical {
    /// Instructions, new − base.
    pub difference: i64,
    /// How many rows have it.
    pub rows: usize,
    pub of: usize,
}

/// What a cause does in one row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CauseInRow {
    pub path: String,
    /// Instructions, new − base.
    pub difference: i64,
    /// The events that differ, new − base. Lines and pages that two functions touch count in both.
    pub events: EventDifferences,
}

/// Code that one function executed on base and another one on new, and what shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CodeMove {
    pub kind: MoveKind,
    /// The function that had it on base.
    pub from: String,
    /// The function that has it on new.
    pub to: String,
    /// How much of the smaller of the two differences the other one takes back, from 0 to 1.
    pub balance: f64,
    /// How alike the functions are that both call, from 0 to 1; null if neither calls one.
    pub callees: Option<f64>,
    /// In how many rows both differ.
    pub rows: usize,
    /// Whether the symbol table of the other kernel lacks the function that vanished or appeared;
    /// null if the tables are not known.
    pub absent: Option<bool>,
    /// Whether the debug information of that kernel shows the function within the other one.
    #[serde(default)]
    pub in_debug_info: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MoveKind {
    /// The function has another name.
    Renamed,
    /// A function of another name has it. That this is the same function is not shown.
    Moved,
    /// The function was put into its caller.
    Inlined,
    /// The function was taken out of its caller.
    Outlined,
    /// The caller does the function's work by string instructions.
    StringInstructions,
}

/// A kind of the kernel's work.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Area {
    /// Entry to and exit from the kernel.
    Entry,
    Interrupts,
    Timers,
    Scheduler,
    Locking,
    Rcu,
    Futex,
    /// System V's and POSIX's messages, semaphores and shared memory.
    Ipc,
    Signals,
    /// Making and ending processes and threads.
    Processes,
    /// Page faults, page tables and mappings.
    PageTables,
    Allocator,
    Files,
    Pipes,
    Sockets,
    Security,
    Tracing,
    User,
    Other,
}

impl Area {
    pub fn words(self) -> &'static str {
        match self {
            Self::Entry => "entry and exit",
            Self::Interrupts => "interrupts",
            Self::Timers => "timers",
            Self::Scheduler => "scheduler",
            Self::Locking => "locking",
            Self::Rcu => "RCU",
            Self::Futex => "futexes",
            Self::Ipc => "IPC",
            Self::Signals => "signals",
            Self::Processes => "processes",
            Self::PageTables => "page tables",
            Self::Allocator => "allocator",
            Self::Files => "files",
            Self::Pipes => "pipes",
            Self::Sockets => "sockets",
            Self::Security => "security",
            Self::Tracing => "tracing",
            Self::User => "user code",
            Self::Other => "other",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn causes() -> Causes {
        let part = CausePart {
            functions: vec!["vfs_read".to_owned()],
            change: Change::Grew,
            is_first: true,
            difference: 3,
            typical: Typical { difference: 3, rows: 1, of: 1 },
            per_call: None,
            calls: 0,
            share: 1.0,
            moves: Vec::new(),
        };
        let events = EventDifferences::new();
        let row = CauseInRow { path: "file.read".to_owned(), difference: 3, events };
        let cause = Cause {
            difference: 3,
            typical: part.typical,
            per_call: None,
            share: 1.0,
            parts: vec![part],
            caller: None,
            area: Area::Files,
            rows: vec![row],
        };
        let row =
            CauseRow { path: "file.read".to_owned(), base: 10, recorded: 3, executions: None };
        Causes { rows: vec![row], causes: vec![cause], moves: Vec::new() }
    }

    #[test]
    fn causes_that_add_up_are_believed_and_others_are_not() {
        assert_eq!(causes().contradiction(), None);
        let changes: [fn(&mut Causes); 7] = [
            |it| it.rows[0].recorded = 4,
            |it| it.rows.push(it.rows[0].clone()),
            |it| it.causes[0].share = 1.5,
            |it| it.causes[0].parts[0].functions.clear(),
            |it| it.causes[0].parts.clear(),
            |it| it.causes[0].difference = 2,
            |it| it.causes[0].rows[0].path = "file.write".to_owned(),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut changed = causes();
            change(&mut changed);
            assert!(changed.contradiction().is_some(), "change {number}");
        }
    }
}
