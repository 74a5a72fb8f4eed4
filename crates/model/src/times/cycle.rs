//! What a cycle of the core takes, in ticks: by two chains of instructions whose latencies are
//! known in cycles, or why it is not known.
//!
//! Each instruction of a chain needs the result of the one before (`live`'s `chain.rs` says which
//! instructions, and why no core shortens them). A core that did shorten one of the two kinds would
//! make cycles too many, with intervals as narrow as ever. So both must have held still, must
//! agree, and must tell a frequency that a core can have.

use pathmeter_probes::{MULTIPLY, ROTATE};
use thiserror::Error;

use crate::Times;
use crate::times::document::float;

const CYCLES_OF_MULTIPLICATION: f64 = 3.0;
/// By so much, as a share, a chain's time may vary in the middle half of the replicates.
const STILL: f64 = 0.01;
/// By so much, as a share, the two chains may differ. Other work moves them apart by 2 or 3 %
/// (`docs/evidence/times.md`), and a core that shortens chains does so by a half or more.
const AGREEMENT: f64 = 0.05;
/// Frequencies that a core can have, in GHz: less is no core that Linux runs at, and none has
/// reached the most.
const LEAST: f64 = 0.4;
const MOST: f64 = 7.0;

/// Why it is not known what a cycle is.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum NoCycle {
    /// A chain has no times, as in sessions of versions that had one of additions only.
    #[error("the session has no times of {0}")]
    Unmeasured(&'static str),
    /// A chain's time varies too much between the replicates.
    #[error("the core's frequency did not hold still")]
    Unsteady,
    /// The chains tell two cycles.
    #[error(
        "a cycle is {multiply:.3} ticks by {MULTIPLY} and {rotate:.3} ticks by {ROTATE}: the core \
         shortens or stretches one of them, or changed its frequency"
    )]
    Disagreement {
        /// Ticks, by the chain of multiplications.
        multiply: f64,
        /// Ticks, by the chain of rotations.
        rotate: f64,
    },
    /// No core has the frequency that they tell.
    #[error("a cycle of {ticks:.3} ticks would be a core of {gigahertz:.1} GHz")]
    Impossible { ticks: f64, gigahertz: f64 },
}

impl Times {
    /// Ticks of a cycle of the core.
    ///
    /// # Errors
    /// If the core's frequency did not hold still over the session, if the two chains don't agree,
    /// or if no core can have the frequency that they tell.
    pub fn ticks_per_cycle(&self) -> Result<f64, NoCycle> {
        let multiply = self.ticks_of_link(MULTIPLY)? / CYCLES_OF_MULTIPLICATION;
        let rotate = self.ticks_of_link(ROTATE)?;
        if (multiply - rotate).abs() > AGREEMENT * multiply.min(rotate) {
            return Err(NoCycle::Disagreement { multiply, rotate });
        }
        // The longer chain has less of what stands around it, and leaves its unit free more often.
        let (ticks, gigahertz) = (multiply, float(self.method.ticks_per_second) / multiply / 1e9);
        if !(LEAST..=MOST).contains(&gigahertz) {
            return Err(NoCycle::Impossible { ticks, gigahertz });
        }
        Ok(ticks)
    }

    /// Ticks of one instruction of this chain, if it took the same time throughout.
    fn ticks_of_link(&self, chain: &'static str) -> Result<f64, NoCycle> {
        let unmeasured = NoCycle::Unmeasured(chain);
        let path = self.path(chain).ok_or(unmeasured)?;
        let mut batches = path.statistics(0, self.method.step);
        batches.sort_unstable_by(f64::total_cmp);
        let quarter = batches.len() / 4;
        let middle = batches.get(quarter).zip(batches.iter().rev().nth(quarter));
        let ((low, high), level) = middle.zip(self.level(path, 0)).ok_or(unmeasured)?;
        if high - low > STILL * low {
            return Err(NoCycle::Unsteady);
        }
        Ok(level.ticks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    /// Ticks of a batch without calls, in the examples, where a tick is a nanosecond.
    const STAMPS: u64 = 50;

    /// A session in which a hundred links of each chain took so many ticks.
    fn session(multiply: u64, rotate: u64) -> Times {
        let batches = [multiply, rotate].map(|ticks| [STAMPS + ticks; 8]);
        example::times(&[(MULTIPLY, 100, &batches[0]), (ROTATE, 100, &batches[1])])
    }

    #[test]
    fn two_chains_that_agree_on_3_ghz_tell_a_cycle() {
        let cycle = session(100, 33).ticks_per_cycle().unwrap();
        assert!((cycle - 1.0 / 3.0).abs() < 1e-9, "{cycle}");
        assert_eq!([104, 96].map(|it| session(300, it).ticks_per_cycle()), [Ok(1.0); 2]);
    }

    /// As additions of small numbers are: four each cycle.
    #[test]
    fn a_chain_that_the_core_shortens_tells_no_cycle() {
        for (multiply, rotate) in [(1200, 100), (300, 400), (300, 106), (300, 94), (300, 0)] {
            let told = session(multiply, rotate).ticks_per_cycle();
            assert!(matches!(told, Err(NoCycle::Disagreement { .. })), "{told:?}");
        }
        let words = session(1200, 100).ticks_per_cycle().unwrap_err().to_string();
        let begin = "a cycle is 4.000 ticks by clock.multiply and 1.000 ticks by clock.rotate: the";
        assert!(words.starts_with(begin), "{words}");
    }

    #[test]
    fn a_frequency_that_no_core_has_tells_no_cycle() {
        let cycle = |ticks_per_second| {
            let mut times = session(300, 100);
            times.method.ticks_per_second = ticks_per_second;
            times.ticks_per_cycle()
        };
        for megahertz in [0, 390, 7010, 12_000] {
            let told = cycle(megahertz * 1_000_000);
            assert!(matches!(told, Err(NoCycle::Impossible { .. })), "{told:?}");
        }
        assert_eq!([410, 6990].map(|megahertz| cycle(megahertz * 1_000_000)), [Ok(1.0); 2]);
        let words = cycle(12_000_000_000).unwrap_err().to_string();
        assert_eq!(words, "a cycle of 1.000 ticks would be a core of 12.0 GHz");
        assert!(matches!(session(0, 0).ticks_per_cycle(), Err(NoCycle::Impossible { .. })));
    }

    #[test]
    fn a_frequency_that_moves_tells_no_cycle() {
        let still = [STAMPS + 3000; 8];
        let moving = [950, 950, 950, 1080, 1080, 1080, 1080, 1080];
        let times = example::times(&[(MULTIPLY, 100, &still), (ROTATE, 100, &moving)]);
        assert_eq!(times.ticks_per_cycle(), Err(NoCycle::Unsteady));
    }

    /// Documents of earlier versions have one, of additions.
    #[test]
    fn a_session_without_both_chains_tells_no_cycle() {
        let old = example::times(&[("clock.chain", 100, &[STAMPS + 100; 8])]);
        assert_eq!(old.ticks_per_cycle(), Err(NoCycle::Unmeasured(MULTIPLY)));
        let mut none = session(300, 100);
        none.paths[1].replicates.clear();
        assert_eq!(none.ticks_per_cycle(), Err(NoCycle::Unmeasured(ROTATE)));
    }
}
