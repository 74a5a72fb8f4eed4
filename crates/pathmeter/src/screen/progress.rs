//! How far each measurement is, on stderr. On a terminal each subject has a line that changes in
//! place and disappears at the end; elsewhere each phase is one plain line.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use pathmeter_measure::session::Report;
use pathmeter_model::clean;
use pathmeter_vm::Progress;

use crate::screen::output::{self, Screen};

/// How often a spinner turns.
const TICK: Duration = Duration::from_millis(100);

/// Shows the progress of all subjects.
pub(crate) struct Board {
    quiet: bool,
    /// The bars, if text on stderr can be moved.
    bars: Option<MultiProgress>,
    lines: AtomicUsize,
}

impl Board {
    pub(crate) fn new(screen: &Screen) -> Self {
        let bars = screen.lively().then(MultiProgress::new);
        Self { quiet: screen.quiet(), bars, lines: AtomicUsize::new(0) }
    }

    /// A line on it, below those before; seen as soon as it has a text.
    pub(crate) fn line(&self, name: String) -> Line<'_> {
        let place = self.lines.fetch_add(1, Ordering::Relaxed);
        Line {
            board: self,
            place,
            name,
            bar: OnceLock::new(),
            phase: Mutex::new(""),
            cost: Mutex::default(),
        }
    }

    /// Does work that reports its progress in a line, which disappears when the work is done.
    pub(crate) fn during<T>(&self, name: String, work: impl FnOnce(Report<'_>) -> T) -> T {
        let line = self.line(name);
        work(&|progress| line.show(progress))
    }

    /// Whether texts change in place.
    pub(crate) fn is_lively(&self) -> bool {
        self.bars.is_some()
    }

    /// Does what prints on stderr while lines are shown there.
    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.bars {
            Some(bars) => bars.suspend(print),
            None => print(),
        }
    }

    fn print_line(&self, text: &str) {
        match &self.bars {
            Some(bars) => bars.suspend(|| output::print_line(text)),
            None => output::print_line(text),
        }
    }
}

/// One subject's progress. Dropping it clears it.
pub(crate) struct Line<'a> {
    board: &'a Board,
    place: usize,
    name: String,
    bar: OnceLock<ProgressBar>,
    phase: Mutex<&'static str>,
    /// What the measurement in progress costs.
    cost: Mutex<String>,
}

impl Line<'_> {
    /// Shows how far it is.
    pub(crate) fn show(&self, progress: Progress<'_>) {
        if self.board.quiet {
            return;
        }
        match progress {
            Progress::Note(text) => self.board.print_line(&format!("note: {}: {text}", self.name)),
            Progress::Groups { count, took } => {
                let cost = describe_groups(count, took);
                // Where lines change in place, it stays beside the turns.
                if self.board.is_lively() {
                    *self.cost.lock().unwrap_or_else(PoisonError::into_inner) = cost;
                } else {
                    self.say(&cost);
                }
            }
            Progress::Benchmark { name, done, of } => {
                self.say(&format!("benchmark {} of {of}: {}", done + 1, clean(name)));
            }
            progress => self.advance(progress),
        }
    }

    /// Shows a text of ours about how far it is.
    pub(crate) fn say(&self, text: &str) {
        if self.board.quiet {
            return;
        }
        let text = text.to_owned();
        match &self.board.bars {
            Some(bars) => self.bar.get_or_init(|| self.spinner(bars)).set_message(text),
            None => self.board.print_line(&format!("{}: {text}", self.name)),
        }
    }

    /// Shows how much of many small parts is done: on a terminal only, where it changes in place.
    pub(crate) fn show_share(&self, done: usize, of: usize) {
        if let (false, Some(bars)) = (self.board.quiet, &self.board.bars) {
            let text = format!("{} % done", 100 * done / of.max(1));
            self.bar.get_or_init(|| self.spinner(bars)).set_message(text);
        }
    }

    fn advance(&self, progress: Progress<'_>) {
        let phase = phase(progress);
        let Some(bars) = &self.board.bars else {
            return self.announce(phase);
        };
        let bar = self.bar.get_or_init(|| self.spinner(bars));
        bar.set_message(clean(&match progress {
            // A turn is one path in one run.
            Progress::Running { path, done, of } => {
                let cost = self.cost.lock().unwrap_or_else(PoisonError::into_inner);
                let separator = if cost.is_empty() { "" } else { "; " };
                format!("running {path}: turn {} of {of}{separator}{cost}", done + 1)
            }
            Progress::Program { done, of } => {
                format!("running the program: run {} of {of}", done + 1)
            }
            _ => phase.to_owned(),
        }));
    }

    fn spinner(&self, bars: &MultiProgress) -> ProgressBar {
        let bar = bars.insert(self.place, ProgressBar::new_spinner());
        // A template that is wrong leaves the default one.
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix}  {msg}") {
            bar.set_style(style);
        }
        bar.set_prefix(clean(&self.name));
        turn(&bar);
        bar
    }

    /// Takes it off the board.
    pub(crate) fn clear(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }

    /// Prints a phase when it begins.
    fn announce(&self, phase: &'static str) {
        let mut last = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        if *last != phase {
            *last = phase;
            self.board.print_line(&format!("{}: {phase}", self.name));
        }
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Has the spinner turn until its bar is finished. Where no thread can be had it stands still.
fn turn(bar: &ProgressBar) {
    let bar = bar.downgrade();
    let turning = move || {
        while let Some(bar) = bar.upgrade().filter(|bar| !bar.is_finished()) {
            bar.tick();
            drop(bar);
            std::thread::sleep(TICK);
        }
    };
    let _ = Builder::new().name("spinner".to_owned()).spawn(turning);
}

fn phase(progress: Progress<'_>) -> &'static str {
    match progress {
        Progress::Loading => "reading the image",
        Progress::Waiting => "another pathmeter is measuring it: waiting",
        Progress::Booting => "booting",
        Progress::Groups { .. } | Progress::Running { .. } | Progress::Note(_) => {
            "running the paths"
        }
        Progress::Program { .. } | Progress::Benchmark { .. } => "running the program",
    }
}

/// How many groups of paths are measured, and how long they took the last time.
fn describe_groups(count: usize, took: Option<Duration>) -> String {
    let groups = if count == 1 { "1 group of paths" } else { &format!("{count} groups of paths") };
    match took.map(|took| took.as_secs_f64().ceil()) {
        None => groups.to_owned(),
        Some(seconds) => format!("{groups}, {seconds} s the last time"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_of_a_question_is_told_with_the_last_time_if_that_is_known() {
        assert_eq!(describe_groups(1, None), "1 group of paths");
        let took = Some(Duration::from_millis(7_200));
        assert_eq!(describe_groups(5, took), "5 groups of paths, 8 s the last time");
    }
}
