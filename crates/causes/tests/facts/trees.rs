//! Call trees as text: a line a node, two spaces a level, its name and the instructions that it
//! executes itself. A name may go on with the function's source file: `vfs_read@fs/read_write.c`.

use std::collections::HashMap;

use pathmeter_trace::{
    Census, Counts, EventCounts, Explain, Footprint, Function, Node, NodeKind, RecordedWindows,
    SlowInstruction, SourceLine, SubjectWindow, WindowTree,
};

/// One path of two kernels, explained.
pub(crate) fn explained(path: &str, base: &str, new: &str) -> Explain {
    Explain::new(window(path, base), Some(window(path, new)))
}

/// One path of one kernel.
pub(crate) fn alone(path: &str, base: &str) -> Explain {
    Explain::new(window(path, base), None)
}

fn window(path: &str, text: &str) -> SubjectWindow {
    SubjectWindow {
        path: path.to_owned(),
        name: "kernel".to_owned(),
        image_sha256: String::new(),
        measured_with: None,
        windows: RecordedWindows { recorded: 1, interrupted: 0, unstamped: 0, alike: 1 },
        idle: 0,
        program: None,
        window: tree(text),
    }
}

/// The counts of a line's words: `NAME INSTRUCTIONS [WORD=N]…`, of which the words are below.
fn counts(words: &[&str]) -> (Counts, Census) {
    let number = |word: &str| word.parse().unwrap_or_else(|_| panic!("{word} is no number"));
    let instructions = number(words[1]);
    let mut counts = Counts { instructions, clock: instructions, ..Counts::default() };
    let mut census = Census::new();
    for word in &words[2..] {
        match word.split_once('=') {
            Some(("stored", bytes)) => counts.bytes_stored = number(bytes),
            Some(("strings", bytes)) => counts.rep_bytes = number(bytes),
            Some(("loads", loads)) => counts.loads = number(loads),
            Some(("returns", returns)) => counts.returns = number(returns),
            Some(("lfence", count)) => {
                census.insert(SlowInstruction::Lfence, number(count));
            }
            _ => panic!("{word} is not known"),
        }
    }
    (counts, census)
}

fn tree(text: &str) -> WindowTree {
    let mut window = WindowTree {
        window: 0,
        total: 0,
        clock: 0,
        unattributed: 0,
        interrupts: 0,
        unmatched_returns: 0,
        functions: Vec::new(),
        nodes: Vec::new(),
        footprint: Footprint::default(),
        census: Census::new(),
        events: EventCounts::new(),
    };
    let (mut numbers, mut open) = (HashMap::new(), Vec::new());
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let depth = (line.len() - line.trim_start().len()) / 2;
        let words: Vec<&str> = line.split_whitespace().collect();
        let (counts, census) = counts(&words);
        let function = *numbers.entry(words[0].to_owned()).or_insert_with(|| {
            window.functions.push(function(words[0]));
            window.functions.len() - 1
        });
        window.functions[function].counts += counts;
        for sum in [&mut window.functions[function].census, &mut window.census] {
            for (slow, count) in &census {
                *sum.entry(*slow).or_default() += count;
            }
        }
        open.truncate(depth);
        let parent = open.last().copied();
        open.push(u32::try_from(window.nodes.len()).unwrap());
        let function = u32::try_from(function).unwrap();
        let kind = NodeKind::Call;
        window.nodes.push(Node { parent, function, kind, counts, census });
        window.total += counts.instructions;
        window.clock += counts.clock;
    }
    window
}

fn function(text: &str) -> Function {
    let (name, file) = text.split_once('@').map_or((text, None), |(name, file)| (name, Some(file)));
    Function {
        name: name.to_owned(),
        module: None,
        address: None,
        entry_in_line: None,
        source: file.map(|file| SourceLine { file: file.to_owned(), line: 1 }),
        lines: Vec::new(),
        counts: Counts::default(),
        census: Census::new(),
        footprint: Footprint::default(),
        events: EventCounts::new(),
    }
}
