//! A probe's report, in memory that it shares with the process that waits for it.
//!
//! The waiting process reads it after the probe's process has ended, so neither needs a lock; it
//! does not trust the counts, since a probe may have been killed at any instruction.

use crate::{
    clock,
    failure::{Failure, Outcome, REASON},
    path::WARMUP,
    text::Text,
};

/// Most samples of one path in one run.
pub const MAX_SAMPLES: usize = 1024;
/// Most checks of one path.
pub const MAX_CHECKS: usize = 16;

/// Something a probe noticed, worth telling the reader.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ProbeCheck {
    pub name: Text<32>,
    pub value: Text<96>,
}

/// How far the probe came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeStatus {
    /// The probe's process ended before it reported anything.
    Silent,
    /// Every window ran and was proved.
    Ok,
    /// See [`Failure::Unsupported`].
    Unsupported,
    /// See [`Failure::Broken`].
    Broken,
}

/// The report of one probe. Any bytes are a valid one: it is plain integers throughout, and every
/// count in it is checked when it is read.
#[repr(C)]
pub struct ProbeReport {
    /// A [`ProbeStatus`], as its number.
    status: u32,
    windows: u32,
    parent: u32,
    count: u32,
    check_count: u32,
    /// Bits that follow from the run's number.
    bits: u64,
    /// Where the rseq area of the probe's thread is; 0 if it has registered none.
    rseq: usize,
    reason: Text<REASON>,
    checks: [ProbeCheck; MAX_CHECKS],
    samples: [u64; MAX_SAMPLES],
    /// A bit for each sample.
    lower_bounds: [u64; MAX_SAMPLES / WORD],
}

/// Bits of a word of a mask.
const WORD: usize = u64::BITS as usize;

impl ProbeReport {
    /// Empties the report for a probe that shall record `windows` samples, to be run in a child of
    /// the process numbered `parent`; `bits` follow from the run's number alone, spread well.
    pub fn reset(&mut self, windows: u32, parent: u32, bits: u64) {
        self.status = ProbeStatus::Silent as u32;
        self.windows = windows;
        self.parent = parent;
        self.bits = bits;
        self.rseq = 0;
        self.count = 0;
        self.check_count = 0;
        self.reason = Text::EMPTY;
    }

    /// Records how the probe ended.
    pub fn conclude(&mut self, outcome: &Outcome) {
        let (status, reason) = match outcome {
            Ok(()) => (ProbeStatus::Ok, Text::EMPTY),
            Err(Failure::Unsupported(reason)) => (ProbeStatus::Unsupported, *reason),
            Err(Failure::Broken(reason)) => (ProbeStatus::Broken, *reason),
        };
        (self.status, self.reason) = (status as u32, reason);
    }

    pub fn status(&self) -> ProbeStatus {
        let reported = [ProbeStatus::Ok, ProbeStatus::Unsupported, ProbeStatus::Broken];
        reported
            .into_iter()
            .find(|status| *status as u32 == self.status)
            .unwrap_or(ProbeStatus::Silent)
    }

    /// Why it has no samples.
    pub fn reason(&self) -> &[u8] {
        self.reason.as_bytes()
    }

    pub fn checks(&self) -> &[ProbeCheck] {
        self.checks.get(..self.check_count as usize).unwrap_or_default()
    }

    /// The samples taken, in the clock's unit.
    pub fn samples(&self) -> &[u64] {
        self.samples.get(..self.count as usize).unwrap_or_default()
    }

    /// Which of the samples are lower bounds: a bit for each, the first word's lowest is the first
    /// sample's.
    pub fn lower_bounds(&self) -> &[u64] {
        self.lower_bounds.get(..self.samples().len().div_ceil(WORD)).unwrap_or_default()
    }

    /// The number that the parent of the probe's process knows itself by.
    pub fn parent(&self) -> usize {
        self.parent as usize
    }

    /// Bits by which a run differs from others, the same on every kernel.
    pub(crate) fn bits(&self) -> u64 {
        self.bits
    }

    /// Where the rseq area of the probe's thread is; 0 if it has registered none.
    pub(crate) fn rseq(&self) -> usize {
        self.rseq
    }

    /// Says that the probe's thread has registered the area at `place`; 0 for none.
    pub(crate) fn set_rseq(&mut self, place: usize) {
        self.rseq = place;
    }

    /// Windows that the probe shall record.
    pub fn windows(&self) -> usize {
        self.windows as usize
    }

    /// Executions of the path: in the windows, and to warm up.
    pub fn executions(&self) -> usize {
        (self.windows() + WARMUP as usize) * usize::try_from(clock::calls()).unwrap_or(1)
    }

    /// Executes the path in all windows: `once` runs it once, proves it and returns the cost.
    pub fn execute(&mut self, mut once: impl FnMut() -> Result<u64, Failure>) -> Outcome {
        for _ in 0..WARMUP {
            once()?;
        }
        for _window in 0..self.windows {
            #[cfg(feature = "batch")]
            crate::batch::begin(_window as usize);
            let cost = once()?;
            self.push(cost);
        }
        Ok(())
    }

    /// Records one sample; beyond [`MAX_SAMPLES`] it is dropped.
    pub fn push(&mut self, cost: u64) {
        self.record(cost, false);
    }

    /// Records a sample of what had not ended when its observation did: it is no less than `cost`.
    /// Beyond [`MAX_SAMPLES`] it is dropped.
    pub fn push_at_least(&mut self, cost: u64) {
        self.record(cost, true);
    }

    fn record(&mut self, cost: u64, is_lower_bound: bool) {
        let number = self.count as usize;
        let Some(place) = self.samples.get_mut(number) else { return };
        *place = cost;
        if let Some(word) = self.lower_bounds.get_mut(number / WORD) {
            let bit = 1 << (number % WORD);
            *word = if is_lower_bound { *word | bit } else { *word & !bit };
        }
        self.count += 1;
    }

    /// Drops what was sampled: QEMU's counter sees what this path is about.
    pub fn forget_samples(&mut self) {
        self.count = 0;
    }

    /// Whether it has a sample of every window.
    pub fn is_full(&self) -> bool {
        self.samples().len() >= self.windows()
    }

    /// Records something noticed; beyond [`MAX_CHECKS`] it is dropped.
    pub fn check(&mut self, name: &str, value: core::fmt::Arguments<'_>) {
        if let Some(place) = self.checks.get_mut(self.check_count as usize) {
            *place = ProbeCheck {
                name: Text::format(format_args!("{name}")),
                value: Text::format(value),
            };
            self.check_count += 1;
        }
    }
}

/// As fresh memory has it.
#[cfg(test)]
impl Default for ProbeReport {
    fn default() -> Self {
        Self {
            status: 0,
            windows: 0,
            parent: 0,
            count: 0,
            check_count: 0,
            bits: 0,
            rseq: 0,
            reason: Text::EMPTY,
            checks: [ProbeCheck { name: Text::EMPTY, value: Text::EMPTY }; MAX_CHECKS],
            samples: [0; MAX_SAMPLES],
            lower_bounds: [0; MAX_SAMPLES / WORD],
        }
    }
}

const _: () = assert!(MAX_SAMPLES == crate::batch::MOST_WINDOWS);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::unsupported;

    #[test]
    fn a_path_is_executed_to_warm_up_before_it_is_sampled() {
        let mut report = ProbeReport::default();
        report.reset(4, 1, 0);
        let mut cost = 0;
        let outcome = report.execute(|| {
            cost += 1;
            Ok(cost)
        });
        assert!(outcome.is_ok() && report.is_full());
        assert_eq!(report.samples(), [4, 5, 6, 7]);
    }

    #[test]
    fn how_a_probe_ended_is_read_back() {
        let mut report = ProbeReport::default();
        report.reset(1, 1, 0);
        assert_eq!(report.status(), ProbeStatus::Silent);
        report.conclude(&Ok(()));
        assert_eq!(report.status(), ProbeStatus::Ok);
        report.conclude(&unsupported!("no such driver"));
        assert_eq!(
            (report.status(), report.reason()),
            (ProbeStatus::Unsupported, &b"no such driver"[..])
        );
        report.conclude(&Err(Failure::broken(format_args!("{} instead of {}", 1, 2))));
        assert_eq!(
            (report.status(), report.reason()),
            (ProbeStatus::Broken, &b"1 instead of 2"[..])
        );
    }

    #[test]
    fn counts_that_can_not_be_are_no_panic() {
        let mut report = ProbeReport::default();
        (report.status, report.count, report.check_count) = (77, u32::MAX, u32::MAX);
        assert_eq!(report.status(), ProbeStatus::Silent);
        assert!(report.samples().is_empty() && report.checks().is_empty());
        assert!(report.lower_bounds().is_empty());
        report.push(1);
        report.check("entry", format_args!("syscall"));
    }

    #[test]
    fn lower_bounds_are_marked_and_the_next_report_begins_without() {
        let mut report = ProbeReport::default();
        report.reset(66, 1, 0);
        (0..65).for_each(|cost| report.push(cost));
        report.push_at_least(65);
        assert_eq!(report.lower_bounds(), [0, 0b10]);
        report.reset(66, 1, 0);
        (0..66).for_each(|cost| report.push(cost));
        assert_eq!(report.lower_bounds(), [0, 0]);
    }

    #[test]
    fn what_is_too_much_is_dropped() {
        let mut report = ProbeReport::default();
        report.reset(2, 1, 0);
        (0..2000).for_each(|cost| report.push_at_least(cost));
        assert_eq!((report.samples().len(), report.samples().last()), (MAX_SAMPLES, Some(&1023)));
        assert_eq!(report.lower_bounds(), [u64::MAX; MAX_SAMPLES / WORD]);
        (0..20).for_each(|number| report.check("number", format_args!("{number}")));
        assert_eq!(report.checks().len(), MAX_CHECKS);
    }
}
