//! A comparison whose causes are known.

use pathmeter_model::example::{self, in_runs, unsupported};
use pathmeter_model::{
    Area, Cause, CauseInRow, CausePart, CauseRow, Causes, CodeMove, Comparison, MoveKind,
    PathResult, PerCall, Threshold, Typical, compare,
};
use pathmeter_trace::{Change, Event, EventDifferences, SlowInstruction};

fn part(name: &str, difference: i64, share: f64, change: Change) -> CausePart {
    CausePart {
        functions: vec![name.to_owned()],
        change,
        is_first: true,
        difference,
        typical: Typical { difference, rows: 1, of: 1 },
        per_call: None,
        calls: 0,
        share,
        moves: Vec::new(),
    }
}

fn in_row(path: &str, difference: i64, events: &[(Event, i64)]) -> CauseInRow {
    let events: EventDifferences = events.iter().copied().collect();
    CauseInRow { path: path.to_owned(), difference, events }
}

/// A random number at each system call in place of the time stamp, and a stack that is cleared in
/// another way.
pub(crate) fn causes() -> Causes {
    let rdtsc = (Event::Slow(SlowInstruction::Rdtsc), -1);
    let random = CausePart {
        typical: Typical { difference: 40, rows: 2, of: 2 },
        per_call: Some(40),
        calls: 2,
        ..part("prandom_u32_state", 80, 0.7, Change::Appeared)
    };
    let entry = Cause {
        difference: 78,
        typical: Typical { difference: 39, rows: 2, of: 2 },
        per_call: Some(PerCall { difference: 39, rows: 2, events: [rdtsc].into() }),
        share: 0.72,
        parts: vec![random, part("do_syscall_64", -2, 0.02, Change::Shrank)],
        caller: None,
        area: Area::Entry,
        rows: vec![in_row("a.read", 39, &[rdtsc]), in_row("b.write", 39, &[rdtsc])],
    };
    let strings = CodeMove {
        kind: MoveKind::StringInstructions,
        from: "memset_orig".to_owned(),
        to: "copy_process".to_owned(),
        balance: 0.99,
        callees: None,
        rows: 1,
        absent: None,
        in_debug_info: false,
    };
    let stack = CausePart {
        functions: vec!["memset_orig".to_owned(), "copy_process".to_owned()],
        moves: vec![strings],
        ..part("", -2824, 0.28, Change::Shrank)
    };
    let stack = Cause {
        difference: -2824,
        typical: Typical { difference: -2824, rows: 1, of: 1 },
        per_call: None,
        share: 0.28,
        parts: vec![stack],
        caller: Some("kernel_clone".to_owned()),
        area: Area::Processes,
        rows: vec![in_row("c.thread", -2824, &[(Event::StringBytes, 16384)])],
    };
    let row = |path: &str, base, recorded| CauseRow {
        path: path.to_owned(),
        base,
        recorded,
        executions: None,
    };
    let rows = vec![row("a.read", 328, 39), row("b.write", 598, 39), row("c.thread", 24891, -2824)];
    Causes { rows, causes: vec![entry, stack], moves: Vec::new() }
}

/// Two kernels, of which the first has these numbers and the second differs in the first three.
pub(crate) fn comparison(more: usize) -> Comparison {
    let side = |values: [u64; 3], name: &str| {
        let named = ["a.read", "b.write", "c.thread"].into_iter().zip(values);
        let mut paths: Vec<PathResult> =
            named.map(|(path, value)| in_runs(path, &[&[value, value]])).collect();
        paths.extend((0..more).map(|it| in_runs(&format!("d.same{it}"), &[&[7, 7]])));
        paths.push(unsupported("e.none", "no such device"));
        example::measurement(name, example::configuration(name, 1), paths)
    };
    let base = side([328, 328, 24891], "7.0");
    let new = side([367, 367, 22067], "7.1");
    Comparison { causes: Some(causes()), ..compare(&base, &new, Threshold::default()) }
}
