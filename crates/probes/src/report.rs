//! What a probe leaves behind, in memory that it shares with the process that waits for it.
//!
//! The waiting process reads it after the probe's process has ended, so neither needs a lock; it does
//! not trust the counts, since a probe may have been killed at any instruction.

use crate::{Failure, Outcome, REASON, text::Text};

/// Most samples of one path in one start.
pub const MAX_SAMPLES: usize = 1024;
/// Most checks of one path.
pub const MAX_CHECKS: usize = 8;
/// Windows walked and proved, but not recorded, before the first sample: first touches of memory,
/// of lazily set-up kernel state and of the page tables are not the path.
pub const WARMUP: usize = 3;

/// Something a probe noticed, worth telling the reader.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Check {
    /// What was looked at.
    pub name: Text<32>,
    /// What was seen.
    pub value: Text<96>,
}

/// How far the probe came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Status {
    /// The probe's process ended before it said anything.
    Silent = 0,
    /// Every window was walked and proved.
    Ok = 1,
    /// See [`Failure::Unsupported`].
    Unsupported = 2,
    /// See [`Failure::Broken`].
    Broken = 3,
}

/// The report of one probe.
#[repr(C)]
pub struct Report {
    status: Status,
    windows: u32,
    parent: u32,
    count: u32,
    check_count: u32,
    reason: Text<REASON>,
    checks: [Check; MAX_CHECKS],
    samples: [u64; MAX_SAMPLES],
}

impl Report {
    /// Empties the report for a probe that shall record `windows` samples, to be run in a child of
    /// the process numbered `parent`.
    pub fn reset(&mut self, windows: u32, parent: u32) {
        self.status = Status::Silent;
        self.windows = windows;
        self.parent = parent;
        self.count = 0;
        self.check_count = 0;
        self.reason = Text::EMPTY;
    }

    /// Records how the probe ended.
    pub fn conclude(&mut self, outcome: &Outcome) {
        (self.status, self.reason) = match outcome {
            Ok(()) => (Status::Ok, Text::EMPTY),
            Err(Failure::Unsupported(reason)) => (Status::Unsupported, *reason),
            Err(Failure::Broken(reason)) => (Status::Broken, *reason),
        };
    }

    /// How the probe ended.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Why it has no samples.
    pub fn reason(&self) -> &[u8] {
        self.reason.as_bytes()
    }

    /// What it noticed.
    pub fn checks(&self) -> &[Check] {
        self.checks.get(..self.check_count as usize).unwrap_or_default()
    }

    /// The samples taken, in the clock's unit.
    pub fn samples(&self) -> &[u64] {
        self.samples.get(..self.count as usize).unwrap_or_default()
    }

    /// The number that the parent of the probe's process knows itself by.
    pub fn parent(&self) -> usize {
        self.parent as usize
    }

    /// Windows that the probe shall record.
    pub fn windows(&self) -> usize {
        self.windows as usize
    }

    /// Windows that the probe shall walk, the warm-up included.
    pub fn walks(&self) -> usize {
        self.windows() + WARMUP
    }

    /// Walks all windows: `once` walks one, proves it and returns its cost.
    pub fn walk(&mut self, mut once: impl FnMut() -> Result<u64, Failure>) -> Outcome {
        for _ in 0..WARMUP {
            once()?;
        }
        for _ in 0..self.windows {
            let cost = once()?;
            self.push(cost);
        }
        Ok(())
    }

    /// Records one sample; beyond [`MAX_SAMPLES`] it is dropped.
    pub fn push(&mut self, cost: u64) {
        if let Some(place) = self.samples.get_mut(self.count as usize) {
            *place = cost;
            self.count += 1;
        }
    }

    /// Records something noticed; beyond [`MAX_CHECKS`] it is dropped.
    pub fn check(&mut self, name: &str, value: core::fmt::Arguments<'_>) {
        if let Some(place) = self.checks.get_mut(self.check_count as usize) {
            *place =
                Check { name: Text::format(format_args!("{name}")), value: Text::format(value) };
            self.check_count += 1;
        }
    }
}
