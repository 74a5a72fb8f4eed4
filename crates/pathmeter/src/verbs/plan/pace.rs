//! How far a run of a plan is: cells, how many a minute, and about how long the rest takes.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::screen::progress::{Board, Line};

/// How often a line is printed where lines don't change in place.
const PAUSE: Duration = Duration::from_secs(10);

/// The progress of a run.
pub(super) struct Pace<'a> {
    board: &'a Board,
    line: Line<'a>,
    of: usize,
    begun: Instant,
    state: Mutex<State>,
}

struct State {
    done: usize,
    measured: usize,
    shown: Instant,
}

impl<'a> Pace<'a> {
    /// That of a run of so many cells.
    pub(super) fn new(board: &'a Board, of: usize) -> Self {
        let (line, begun) = (board.line("plan".to_owned()), Instant::now());
        Self {
            board,
            line,
            of,
            begun,
            state: Mutex::new(State { done: 0, measured: 0, shown: begun }),
        }
    }

    /// One more cell is done; whether it was measured for that.
    pub(super) fn step(&self, measured: bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.done += 1;
        state.measured += usize::from(measured);
        if self.board.is_lively() || state.shown.elapsed() >= PAUSE {
            state.shown = Instant::now();
            self.line.say(&text(state.done, self.of, state.measured, self.begun.elapsed()));
        }
    }
}

/// `5 of 40 cells, 12 a minute, about 3 min left`.
fn text(done: usize, of: usize, measured: usize, elapsed: Duration) -> String {
    let (seconds, all) = (elapsed.as_secs(), format!("{done} of {of} cells"));
    if measured == 0 || seconds == 0 {
        return all;
    }
    let left = seconds * (of - done) as u64 / measured as u64;
    let left = if left < 120 { format!("{left} s") } else { format!("{} min", left / 60) };
    format!("{all}, {} a minute, about {left} left", measured as u64 * 60 / seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_cells_that_were_measured() {
        let told = |done, measured, seconds| text(done, 40, measured, Duration::from_secs(seconds));
        assert_eq!(told(5, 0, 9), "5 of 40 cells");
        assert_eq!(told(10, 5, 30), "10 of 40 cells, 10 a minute, about 3 min left");
        assert_eq!(told(39, 39, 78), "39 of 40 cells, 30 a minute, about 2 s left");
    }
}
