//! What a path is: its name, its kind, and what follows from the kind.

/// Windows executed and proved, but not recorded, before the first sample: first touches of
/// memory, of lazily set-up kernel state and of the page tables are not the path.
pub const WARMUP: u32 = 3;

/// Calls that a CPU makes in a batch of [`Kind::Batches`].
pub const CALLS_PER_BATCH: u32 = 1000;

/// One hot path of the kernel.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// `group.what[+variant]`.
    pub name: &'static str,
    /// What it gives, and how it is executed.
    pub kind: Kind,
    /// What is measured, in one line.
    pub about: &'static str,
}

/// What a path gives. Numbers are per perturbed run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A validity check: it passes or fails, and costs nothing.
    Check,
    /// So many windows, each executed and proved on one CPU that does not idle.
    Windows(u32),
    /// So many waits: windows between two points of the kernel, which [`crate::WAITS`] names and
    /// QEMU's counter sees; or, on the lab kernel, by its own records.
    Wait(u32),
    /// So many windows, while a second CPU executes a partner of the probe.
    TwoCpus(u32),
    /// So many pairs of batches in elapsed time: by one CPU alone, then by two at once.
    Batches(u32),
}

impl Kind {
    /// Samples that each perturbed run gives.
    pub const fn samples(self) -> u32 {
        match self {
            Self::Check => 0,
            Self::Windows(samples) | Self::Wait(samples) | Self::TwoCpus(samples) => samples,
            Self::Batches(pairs) => 2 * pairs,
        }
    }

    /// The round in which it is executed.
    pub const fn round(self) -> Round {
        match self {
            Self::Check | Self::Windows(_) | Self::Batches(_) => Round::Busy,
            Self::Wait(_) | Self::TwoCpus(_) => Round::Idle,
        }
    }

    /// Whether its windows can be recorded instruction by instruction; if not, why.
    ///
    /// # Errors
    /// The reason, as half a sentence for the user.
    pub const fn recordable(self) -> Result<(), &'static str> {
        match self {
            Self::Windows(_) | Self::Wait(_) => Ok(()),
            Self::Check => Err("it is a check, which passes or fails and has none"),
            Self::TwoCpus(_) => {
                Err("its samples count what both CPUs executed, and a call tree shows one")
            }
            Self::Batches(_) => Err("it is measured in elapsed time, batch by batch"),
        }
    }
}

/// A round of perturbed runs. Every path belongs to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// Paths in which the CPU does not idle: all of these come first, since QEMU's clock is exact
    /// as long as the CPU is busy (`docs/explanation/exactness.md`).
    Busy,
    /// Paths in which it may idle.
    Idle,
}

impl Round {
    /// All rounds, in the order in which they are executed.
    pub const ALL: [Self; 2] = [Self::Busy, Self::Idle];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Busy => "busy",
            Self::Idle => "idle",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_windows_on_one_cpu_can_be_recorded() {
        assert_eq!(Kind::Windows(51).recordable(), Ok(()));
        for kind in [Kind::Check, Kind::TwoCpus(1), Kind::Batches(1)] {
            assert!(kind.recordable().is_err(), "{kind:?}");
        }
    }

    #[test]
    fn a_pair_of_batches_gives_two_samples_and_a_check_none() {
        assert_eq!((Kind::Batches(25).samples(), Kind::Check.samples()), (50, 0));
    }
}
