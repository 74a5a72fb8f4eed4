//! Distinct cache lines and pages: how much memory a stretch of code touched.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
    ops::AddAssign,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Distinct lines of 64 bytes and pages of 4 KiB, by virtual address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Footprint {
    pub code_lines: u64,
    /// Lines of data read or written.
    pub data_lines: u64,
    pub read_lines: u64,
    pub written_lines: u64,
    pub code_pages: u64,
    /// Pages of data read or written.
    pub data_pages: u64,
}

impl Footprint {
    /// The largest of its numbers.
    pub(crate) fn largest(self) -> u64 {
        let Self { code_lines, data_lines, read_lines, written_lines, code_pages, data_pages } =
            self;
        let lines = code_lines.max(data_lines).max(read_lines).max(written_lines);
        lines.max(code_pages).max(data_pages)
    }

    /// The median of each number; of two middle ones the lower, so that it is one that occurred.
    pub(crate) fn median(footprints: &[Self]) -> Self {
        let of = |lines: fn(&Self) -> u64| {
            let mut numbers: Vec<u64> = footprints.iter().map(lines).collect();
            numbers.sort_unstable();
            numbers.get(numbers.len().saturating_sub(1) / 2).copied().unwrap_or_default()
        };
        Self {
            code_lines: of(|it| it.code_lines),
            data_lines: of(|it| it.data_lines),
            read_lines: of(|it| it.read_lines),
            written_lines: of(|it| it.written_lines),
            code_pages: of(|it| it.code_pages),
            data_pages: of(|it| it.data_pages),
        }
    }

    fn add_page(&mut self, uses: u8) {
        self.code_pages += u64::from(uses & CODE != 0);
        self.data_pages += u64::from(uses & (READ | WRITTEN) != 0);
    }

    fn add_line(&mut self, uses: u8) {
        self.code_lines += u64::from(uses & CODE != 0);
        self.data_lines += u64::from(uses & (READ | WRITTEN) != 0);
        self.read_lines += u64::from(uses & READ != 0);
        self.written_lines += u64::from(uses & WRITTEN != 0);
    }
}

impl AddAssign for Footprint {
    fn add_assign(&mut self, other: Self) {
        self.code_lines += other.code_lines;
        self.data_lines += other.data_lines;
        self.read_lines += other.read_lines;
        self.written_lines += other.written_lines;
        self.code_pages += other.code_pages;
        self.data_pages += other.data_pages;
    }
}

/// Uses of a line, as bits. What is not settled yet stands [`TENTATIVE`] bits higher.
pub(crate) const CODE: u8 = 1 << 0;
pub(crate) const READ: u8 = 1 << 1;
pub(crate) const WRITTEN: u8 = 1 << 2;
const SETTLED: u8 = CODE | READ | WRITTEN;
const TENTATIVE: u32 = 4;

/// log2 of a line's size in bytes.
const LINE_SHIFT: u32 = 6;
/// log2 of a page's size in lines.
const LINES_SHIFT: u32 = 6;
/// Most (function, line) pairs kept of one window: 64 MiB of data touched.
const MAX_PAIRS: usize = 1 << 20;

/// How each function uses each line, or each page.
type Uses = HashMap<(u32, u64), u8, BuildHasherDefault<LineHasher>>;

/// The lines that each function of one window touched.
///
/// Touches are tentative until [`Lines::settle`]: what follows the last stamp doesn't count, and
/// which stamp is the last shows only at the window's end.
#[derive(Default)]
pub(crate) struct Lines {
    uses: Uses,
    tentative: Vec<(u32, u64)>,
    /// The last touch; most touches hit the same line again.
    last: Option<(u32, u64, u8)>,
}

impl Lines {
    pub(crate) fn clear(&mut self) {
        self.uses.clear();
        self.tentative.clear();
        self.last = None;
    }

    /// Notes that `function` uses the `bytes` (at least one) at `address` as `how`.
    #[inline]
    pub(crate) fn touch(&mut self, function: u32, address: u64, bytes: u32, how: u8) {
        let first = address >> LINE_SHIFT;
        let last = address.wrapping_add(u64::from(bytes) - 1) >> LINE_SHIFT;
        self.touch_line(function, first, how);
        if last != first {
            self.touch_line(function, last, how);
        }
    }

    #[inline]
    fn touch_line(&mut self, function: u32, line: u64, how: u8) {
        if self.last == Some((function, line, how)) {
            return;
        }
        self.last = Some((function, line, how));
        if self.uses.len() == MAX_PAIRS {
            return;
        }
        let uses = self.uses.entry((function, line)).or_default();
        if *uses & (how | how << TENTATIVE) == 0 {
            if *uses >> TENTATIVE == 0 {
                self.tentative.push((function, line));
            }
            *uses |= how << TENTATIVE;
        }
    }

    /// All touches so far count.
    pub(crate) fn settle(&mut self) {
        for key in self.tentative.drain(..) {
            if let Some(uses) = self.uses.get_mut(&key) {
                *uses = (*uses | *uses >> TENTATIVE) & SETTLED;
            }
        }
        self.last = None;
    }

    /// The settled footprint of each of `functions` functions.
    pub(crate) fn by_function(&self, functions: usize) -> Vec<Footprint> {
        let mut footprints = vec![Footprint::default(); functions];
        let mut pages = Uses::default();
        for ((function, line), uses) in &self.uses {
            footprints[*function as usize].add_line(uses & SETTLED);
            *pages.entry((*function, line >> LINES_SHIFT)).or_default() |= uses & SETTLED;
        }
        for ((function, _), uses) in &pages {
            footprints[*function as usize].add_page(*uses);
        }
        footprints
    }

    /// The settled footprint of all together.
    pub(crate) fn together(&self) -> Footprint {
        let (mut lines, mut pages) = (Uses::default(), Uses::default());
        for ((_, line), uses) in &self.uses {
            *lines.entry((0, *line)).or_default() |= uses & SETTLED;
            *pages.entry((0, line >> LINES_SHIFT)).or_default() |= uses & SETTLED;
        }
        let mut footprint = Footprint::default();
        for uses in lines.values() {
            footprint.add_line(*uses);
        }
        for uses in pages.values() {
            footprint.add_page(*uses);
        }
        footprint
    }
}

/// Multiplies and folds: these keys need speed, and the standard hasher shows in the profile.
#[derive(Default)]
pub(crate) struct LineHasher(u64);

impl Hasher for LineHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        /// 2^64 divided by the golden ratio.
        const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
        let product = u128::from(self.0.rotate_left(26) ^ value) * u128::from(SPREAD);
        #[allow(clippy::cast_possible_truncation, reason = "folds the product's halves")]
        let folded = (product >> 64) as u64 ^ product as u64;
        self.0 = folded;
    }
}
