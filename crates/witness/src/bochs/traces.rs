//! Traces of windows: Bochs stops where a path begins and ends, and at the first stamp of each of
//! its windows. From that of the wanted window on, its debugger prints every instruction. What it
//! prints is handed on as it comes, to the pipe of that window, as long as somebody reads: it is
//! executed in pieces, so that it need not be traced any further.
//!
//! The guest is not touched, and its clock goes on as without. The agent marks where a path begins
//! and ends in the same way; which of the two it is, and of which path, follows from what it said
//! last.

use std::fs::File;
use std::io::Write;
use std::mem::take;

use crate::bochs::watch::addresses_of;

/// The marker of a path's begin and end (`crates/probes/src/arch/x86_64/stamp.rs`).
const PATH: [u8; 8] = [0x0f, 0x1f, 0x84, 0, 0, 3, b'M', b'P'];
/// What Bochs is told to run on while it traces: so many instructions.
const PIECE: &str = "s 20000";
/// Bytes that are kept back: as many as Bochs prints where it stops, and more.
const KEPT: usize = 1 << 10;
/// Most places of stamps at which it stops at a time.
const MOST_STAMPS: usize = 12;

/// A window that is traced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TracedWindow {
    /// The index of its path in the suite.
    pub path: usize,
    /// Where the first stamps of the path's windows stand in the agent.
    pub stamps: Vec<u64>,
    /// The window's number among those of the path, the warm-up included.
    pub window: u64,
}

/// The windows to trace, and how far they are.
pub(crate) struct Traces {
    /// The markers of paths; the first breakpoints are at these.
    places: Vec<u64>,
    /// The windows that are wanted, each with its pipe.
    wanted: Vec<(TracedWindow, File)>,
    /// The path that has begun.
    open: Option<usize>,
    /// The wanted window, while its path is open, and its pipe as long as somebody reads.
    current: Option<(TracedWindow, Option<File>)>,
    /// Windows that it has had.
    hits: u64,
    /// Numbers of the breakpoints at its stamps.
    numbers: Vec<usize>,
    /// How many breakpoints were set so far.
    breakpoints: usize,
    tracing: bool,
}

impl Traces {
    /// Of windows of what the `agent` executes, each with its pipe.
    pub(crate) fn new(wanted: Vec<(TracedWindow, File)>, agent: &[u8]) -> Self {
        let places = addresses_of(agent, &PATH);
        Self {
            breakpoints: places.len(),
            places,
            wanted,
            open: None,
            current: None,
            hits: 0,
            numbers: Vec::new(),
            tracing: false,
        }
    }

    /// Where Bochs has to stop from the beginning.
    pub(crate) fn places(&self) -> impl Iterator<Item = u64> {
        self.places.iter().copied()
    }

    /// It has stopped at this address, and the agent last said that it is at this path: what its
    /// debugger has to be told before it goes on.
    pub(crate) fn stopped(&mut self, address: u64, path: Option<usize>) -> Vec<String> {
        if self.places.contains(&address) {
            let mut commands = self.close();
            let is_end = self.open.is_some() && self.open == path;
            self.open = path.filter(|_| !is_end);
            if !is_end {
                commands.extend(self.begin(path));
            }
            return commands;
        }
        let Some((window, pipe)) = &self.current else { return Vec::new() };
        if self.tracing {
            let is_done = pipe.is_none();
            return if is_done { self.close() } else { Vec::new() };
        }
        if window.stamps.contains(&address) {
            self.hits += 1;
            if self.hits > window.window {
                self.tracing = true;
                return vec!["trace on".to_owned()];
            }
        }
        Vec::new()
    }

    /// A path begins: the commands for Bochs.
    fn begin(&mut self, path: Option<usize>) -> Vec<String> {
        let Some(place) = self.wanted.iter().position(|(one, _)| Some(one.path) == path) else {
            return Vec::new();
        };
        let (window, pipe) = self.wanted.swap_remove(place);
        let stamps = window.stamps.iter().take(MOST_STAMPS);
        let commands = stamps.map(|address| {
            self.breakpoints += 1;
            self.numbers.push(self.breakpoints);
            format!("lb {address:#x}")
        });
        let commands = commands.collect();
        self.hits = 0;
        self.current = Some((window, Some(pipe)));
        commands
    }

    /// Nothing more of this path is wanted.
    fn close(&mut self) -> Vec<String> {
        self.current = None;
        let off = take(&mut self.tracing).then(|| "trace off".to_owned());
        let numbers = take(&mut self.numbers).into_iter();
        off.into_iter().chain(numbers.map(|number| format!("d {number}"))).collect()
    }

    /// How Bochs goes on: in pieces while it traces, or by the command `go`.
    pub(crate) fn go(&self, go: &'static str) -> &'static str {
        if self.tracing { PIECE } else { go }
    }

    /// Whether a window is traced.
    pub(crate) fn are_on(&self) -> bool {
        self.tracing
    }

    /// Hands on what was printed, but for the last lines, while a window is traced.
    pub(crate) fn pass(&mut self, printed: &mut Vec<u8>) {
        let Some(most) = printed.len().checked_sub(KEPT).filter(|_| self.tracing) else { return };
        let passed = self.pass_lines(&printed[..most]);
        printed.drain(..passed);
    }

    /// Hands on the whole lines of what was printed, if a window is traced: not the prompt at a
    /// stop, after which the next line begins. How many bytes they have.
    pub(crate) fn pass_lines(&mut self, printed: &[u8]) -> usize {
        let whole = printed.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let Some((_, pipe)) = self.current.as_mut().filter(|_| self.tracing) else { return whole };
        // Who reads may have what was asked for, and have gone.
        if pipe.as_mut().is_some_and(|pipe| pipe.write_all(&printed[..whole]).is_err()) {
            *pipe = None;
        }
        whole
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::io::Read;

    use super::*;

    const STAMP: u64 = 0x21_2345;

    fn traces(window: u64) -> (Traces, File) {
        let (output, input) = rustix::pipe::pipe().unwrap();
        let window = TracedWindow { path: 7, stamps: vec![STAMP, STAMP + 64], window };
        let traces = Traces::new(vec![(window, File::from(input))], pathmeter_vm::PATHS);
        (traces, File::from(output))
    }

    #[test]
    fn the_window_is_traced_until_nobody_reads() {
        let (mut traces, mut output) = traces(2);
        let marker = traces.places().next().unwrap();
        let first = traces.places().count() + 1;
        assert_eq!(traces.stopped(marker, Some(6)), Vec::<String>::new());
        assert_eq!(traces.stopped(marker, Some(6)), Vec::<String>::new());
        assert_eq!(traces.stopped(marker, Some(7)), ["lb 0x212345", "lb 0x212385"]);
        assert!(traces.stopped(STAMP, Some(7)).is_empty());
        assert!(traces.stopped(STAMP + 64, Some(7)).is_empty());
        assert_eq!(traces.go("c"), "c");
        assert_eq!(traces.stopped(STAMP, Some(7)), ["trace on"]);
        assert_eq!(traces.go("c"), PIECE);
        let mut printed = [vec![b'x'; 100], vec![b'\n'], vec![b'y'; KEPT]].concat();
        traces.pass(&mut printed);
        assert_eq!(printed, vec![b'y'; KEPT]);
        let mut passed = [0; 101];
        output.read_exact(&mut passed).unwrap();
        assert!(traces.stopped(STAMP + 1, Some(7)).is_empty());
        drop(output);
        assert_eq!(traces.pass_lines(b"more\n<bochs:7> "), 5);
        let [one, other] = [first, first + 1].map(|number| format!("d {number}"));
        assert_eq!(traces.stopped(STAMP + 2, Some(7)), ["trace off".to_owned(), one, other]);
        assert!(traces.stopped(marker, Some(7)).is_empty());
    }

    #[test]
    fn a_path_that_ends_early_is_no_longer_traced() {
        let (mut traces, mut output) = traces(0);
        let marker = traces.places().next().unwrap();
        traces.stopped(marker, Some(7));
        traces.stopped(STAMP, Some(7));
        assert_eq!(traces.stopped(marker, Some(7))[0], "trace off");
        let mut rest = Vec::new();
        output.read_to_end(&mut rest).unwrap();
        assert!(rest.is_empty());
    }
}
