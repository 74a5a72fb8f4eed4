//! Numbers that look random and are the same every time.

/// `SplitMix64` (Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA
/// 2014): one word of state, a period of 2^64, and every seed is as good as another.
#[derive(Debug, Clone)]
pub struct Numbers(u64);

impl Numbers {
    /// The numbers of a seed.
    pub fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number, of all 64-bit numbers.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number below `limit`, 0 if that is 0. Some come more often, by 1 part in 2^64 / limit.
    #[allow(clippy::cast_possible_truncation, reason = "it is below a usize")]
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.word()) * limit as u128) >> 64) as usize
    }
}
