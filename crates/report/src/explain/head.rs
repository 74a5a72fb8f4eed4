//! What an explanation is about: path, subjects, windows, and the window in one line.

use pathmeter_model::{clean, command_line};
use pathmeter_trace::{
    Counts, DEEPEST_CALL, Explain, Footprint, MAX_NODES, ProgramTree, RecordedWindows,
    SubjectWindow, UnusedDebug, WindowTree,
};

use crate::comparison::MANY_VALUES;
use crate::measured_with::of_two;
use crate::number::grouped;
use crate::style::{QUIET, Style};

/// Lines of a heading and what it stands for.
pub(super) fn head(explain: &Explain, style: Style) -> String {
    let base = &explain.base;
    let word = if base.program.is_some() { "row" } else { "path" };
    let path = || (word, base.path.clone());
    let subject = || ("subject", base.name.clone());
    let two = |name: fn(&SubjectWindow) -> &str, new| {
        [("base", in_short(name(base), base)), ("new", in_short(name(new), new))]
    };
    let facts = match &explain.new {
        None => [vec![path(), subject()], of_subject(base)].concat(),
        Some(new) if new.path != base.path => {
            let program = base.program.iter().map(|it| ("program", command_of(it)));
            let program: Vec<_> = program.collect();
            [&[subject()][..], &program, &two(|it| &it.path, new)].concat()
        }
        Some(new) => [&[path()][..], &two(|it| &it.name, new)].concat(),
    };
    let new = explain.new.as_ref().map_or(base, |new| new);
    let with = of_two(base.measured_with.as_ref(), new.measured_with.as_ref());
    let facts: Vec<_> = facts.into_iter().chain(with.into_iter().map(|it| ("with", it))).collect();
    let width = facts.iter().map(|(heading, _)| heading.len()).max().unwrap_or_default();
    let line = |(heading, fact): &(&str, String)| {
        format!(
            "{}  {}\n",
            style.paint(&format!("{heading:width$}"), QUIET),
            style.fill(fact, width + 2)
        )
    };
    facts.iter().map(line).collect()
}

fn of_subject(subject: &SubjectWindow) -> Vec<(&'static str, String)> {
    if let Some(program) = &subject.program {
        return of_program(subject, program);
    }
    let windows = format!("{}; one with that total is shown", windows(&subject.windows));
    vec![
        ("recorded", windows),
        ("executes", executes(subject)),
        ("touches", touches(&subject.window.footprint)),
        ("pages", pages(&subject.window.footprint)),
        ("accesses", accesses(&counts_of(&subject.window))),
        ("branches", branches(&counts_of(&subject.window))),
    ]
}

fn of_program(subject: &SubjectWindow, program: &ProgramTree) -> Vec<(&'static str, String)> {
    let counted = runs(subject, program);
    let facts = [
        ("program", command_of(program)),
        ("counted", counted),
        ("executes", executes(subject) + &calls(subject, program)),
    ];
    facts.into_iter().chain(lacks(program).map(|lack| ("note", lack))).collect()
}

fn command_of(program: &ProgramTree) -> String {
    clean(&command_line(&program.command))
}

/// ` in 20 calls, 1,363 each`; nothing of what is not called.
fn calls(subject: &SubjectWindow, program: &ProgramTree) -> String {
    match program.calls {
        0 => String::new(),
        1 => " in 1 call".to_owned(),
        calls => format!(
            " in {} calls, {} each",
            grouped(calls),
            grouped((subject.window.total + calls / 2) / calls)
        ),
    }
}

/// `6 runs after the first, 4 with this number; run 3 is shown`.
fn runs(subject: &SubjectWindow, program: &ProgramTree) -> String {
    let RecordedWindows { recorded, alike, .. } = subject.windows;
    match (recorded, program.run) {
        (1, 1) => "1 run, which is cold".to_owned(),
        (1, _) => "1 run after the first".to_owned(),
        (runs, shown) => format!(
            "{} runs after the first, {} with this number; run {shown} is shown",
            grouped(runs),
            grouped(alike)
        ),
    }
}

const UNNAMED_CODE: &str = "some code is in no packed file, and is named by its address: it is the \
     vDSO's, or a JIT's that wrote no names to /tmp/perf-PID.map, as node --perf-basic-prof does";

/// What the tree of a program does not have.
fn lacks(program: &ProgramTree) -> impl Iterator<Item = String> + '_ {
    let deeper = (program.deeper > 0).then(|| {
        format!(
            "{} calls of the run are nested deeper than {DEEPEST_CALL}: their instructions count \
             in the call at that depth",
            grouped(program.deeper)
        )
    });
    let beyond = (program.beyond > 0).then(|| {
        format!(
            "the tree has more than {} places: what the others execute is in one of its own",
            grouped(MAX_NODES as u64 - 1)
        )
    });
    let nameless = (!program.without_symbols.is_empty()).then(|| {
        format!(
            "some functions have no symbol, and are named by their addresses: in {}",
            clean(&program.without_symbols.join(", "))
        )
    });
    let unnamed = program.unnamed_code.then(|| UNNAMED_CODE.to_owned());
    let unused = program.unused_debug.iter().map(unused_debug);
    [deeper, beyond, nameless, unnamed].into_iter().flatten().chain(unused)
}

/// `a.out: its debug file a.debug is not used: its build id is 1234, and not 5678`.
fn unused_debug(unused: &UnusedDebug) -> String {
    let UnusedDebug { file, debug_file, reason } = unused;
    let (file, reason) = (clean(file), clean(reason));
    match debug_file {
        Some(path) => format!("{file}: {} is not used: {reason}", clean(path)),
        None => format!("{file} has no source lines of its own: {reason}"),
    }
}

fn in_short(name: &str, subject: &SubjectWindow) -> String {
    let Some(program) = &subject.program else {
        return format!("{name}: {}; {}", executes(subject), windows(&subject.windows));
    };
    let all = [executes(subject) + &calls(subject, program), runs(subject, program)];
    let all: Vec<String> = all.into_iter().chain(lacks(program)).collect();
    format!("{name}: {}", all.join("; "))
}

/// `31 windows, 29 with equal totals, 2 interrupted`.
fn windows(windows: &RecordedWindows) -> String {
    let RecordedWindows { recorded, interrupted, unstamped, alike } = *windows;
    let unstamped =
        if unstamped > 0 { format!(", {} incomplete", grouped(unstamped)) } else { String::new() };
    format!(
        "{} windows, {} with equal totals, {} interrupted{unstamped}",
        grouped(recorded),
        grouped(alike),
        grouped(interrupted)
    )
}

/// The total, marked if other windows have another one, and how much of it has no place in the
/// tree.
fn executes(SubjectWindow { window, idle, windows, .. }: &SubjectWindow) -> String {
    let RecordedWindows { recorded, interrupted, unstamped, alike } = *windows;
    let is_only = alike.saturating_add(interrupted).saturating_add(unstamped) >= recorded;
    let marker = if is_only { String::new() } else { MANY_VALUES.to_string() };
    let total = format!("{}{marker} instructions", grouped(window.total));
    let total = match window.unattributed {
        0 => total,
        lost => format!("{total}, {} of them unattributed", grouped(lost)),
    };
    match idle {
        0 => total,
        idle => format!("{total}; and {} steps of the clock pass in hlt", grouped(*idle)),
    }
}

fn touches(lines: &Footprint) -> String {
    format!(
        "{} lines (64 bytes each) of code, {} of data in this window: {} read, {} written",
        grouped(lines.code_lines),
        grouped(lines.data_lines),
        grouped(lines.read_lines),
        grouped(lines.written_lines),
    )
}

fn pages(lines: &Footprint) -> String {
    let (code, data) = (grouped(lines.code_pages), grouped(lines.data_pages));
    format!("{code} (4 KiB each) of code, {data} of data")
}

fn accesses(counts: &Counts) -> String {
    let Counts { loads, stores, split_accesses, rep_bytes, .. } = *counts;
    format!(
        "{} loads, {} stores, {} of them split, {} bytes by rep strings",
        grouped(loads),
        grouped(stores),
        grouped(split_accesses),
        grouped(rep_bytes)
    )
}

fn branches(counts: &Counts) -> String {
    let Counts { taken_branches, indirect_branches, returns, mispredicted_returns, .. } = *counts;
    let mispredicted = match mispredicted_returns {
        0 => String::new(),
        some => format!(", {} of them mispredicted", grouped(some)),
    };
    format!(
        "{} taken: {} indirect, {} returns{mispredicted}",
        grouped(taken_branches),
        grouped(indirect_branches),
        grouped(returns)
    )
}

/// All that a window executed.
pub(super) fn counts_of(window: &WindowTree) -> Counts {
    let mut sum = Counts::default();
    window.nodes.iter().for_each(|node| sum += node.counts);
    sum
}
