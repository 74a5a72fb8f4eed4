//! Windows between two points of the kernel, in a run of a program.

use std::io::Read;

use super::{MAX_WINDOWS, Reader, RegionWindow};
use crate::LoosePoints;
use crate::kernel::points;

/// A window between two points of the kernel, in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccountWindow {
    /// Which, by its place in the table of points.
    pub number: u32,
    /// How often the window began.
    pub count: u64,
    /// The first [`MAX_WINDOWS`] times; and the one that was open when the run ended, if there is
    /// one.
    pub windows: Vec<KernelWindow>,
    /// Points that are no begin or end.
    pub loose: LoosePoints,
    /// Begins while the region was not open that it must begin in.
    pub outside: u64,
}

/// All that was executed from the one point to the other, by any task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelWindow {
    pub counts: RegionWindow,
    /// Whether its end was seen; else it has at least these counts.
    pub ended: bool,
}

impl<R: Read> Reader<R> {
    /// One execution of a window.
    pub(super) fn read_point_window(&mut self) -> Result<(), &'static str> {
        let number = self.number()?;
        let (steps, surplus, user) = (self.number()?, self.number()?, self.number()?);
        let memory = self.memory_events()?;
        let ended = self.number()?;
        let events = self.events(memory)?;
        let instructions =
            steps.checked_sub(surplus).ok_or("a window has less than no instruction")?;
        let window = self.window_of(number)?;
        // The one without an end may come after all that are told.
        if window.windows.len() > MAX_WINDOWS {
            return Err("a window comes too often");
        }
        let counts = RegionWindow { steps, instructions, user, events };
        window.windows.push(KernelWindow { counts, ended: ended != 0 });
        Ok(())
    }

    /// What was seen of a window beside its executions.
    pub(super) fn passed(&mut self) -> Result<(), &'static str> {
        let number = self.number()?;
        let (count, overlapping, ends) = (self.number()?, self.number()?, self.number()?);
        let (outside, elsewhere, hidden) = (self.number()?, self.number()?, self.number()?);
        let window = self.window_of(number)?;
        let omitted = count.saturating_sub(window.windows.len() as u64);
        window.count = count;
        window.outside = outside;
        window.loose = LoosePoints { overlapping, ends, omitted, elsewhere, hidden, misplaced: 0 };
        Ok(())
    }

    fn window_of(&mut self, number: u64) -> Result<&mut AccountWindow, &'static str> {
        let number = u32::try_from(number).ok().filter(|at| (*at as usize) < points::MAX_WINDOWS);
        let number = number.ok_or("a window's number is out of range")?;
        let known = self.account.windows.iter().position(|window| window.number == number);
        let at = known.unwrap_or(self.account.windows.len());
        if known.is_none() {
            self.account.windows.push(AccountWindow { number, ..AccountWindow::default() });
        }
        self.account.windows.get_mut(at).ok_or("a window is missing")
    }
}
