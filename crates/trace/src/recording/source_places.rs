//! Places in the source by number: what the decoder counts by, instead of by file names.
//!
//! Contract: what a resolver returns is bounded here; beyond the bounds, lines are not known.

use std::collections::HashMap;

use crate::recording::tree::SourceLine;

/// Most files of one recording. A whole kernel has about as many.
const MAX_FILES: usize = 1 << 16;

/// The number of no place.
pub(crate) const NOWHERE: u32 = 0;

/// All places met so far.
#[derive(Default)]
pub(crate) struct SourcePlaces {
    files: Vec<String>,
    file_numbers: HashMap<String, u32>,
    /// File and line; the first has number 1.
    lines: Vec<(u32, u32)>,
    numbers: HashMap<(u32, u32), u32>,
}

impl SourcePlaces {
    /// The number of `line`; [`NOWHERE`] without one.
    pub(crate) fn number(&mut self, line: Option<&SourceLine>) -> u32 {
        let place = line.and_then(|line| Some((self.file(&line.file)?, line.line)));
        let Some(place) = place else { return NOWHERE };
        // Never saturates: each instruction brings at most two, see MAX_INSTRUCTIONS.
        let next = u32::try_from(self.lines.len() + 1).unwrap_or(NOWHERE);
        let lines = &mut self.lines;
        *self.numbers.entry(place).or_insert_with(|| {
            lines.push(place);
            next
        })
    }

    fn file(&mut self, file: &str) -> Option<u32> {
        if let Some(number) = self.file_numbers.get(file) {
            return Some(*number);
        }
        if self.files.len() == MAX_FILES {
            return None;
        }
        let number = u32::try_from(self.files.len()).ok()?;
        self.files.push(file.to_owned());
        self.file_numbers.insert(file.to_owned(), number);
        Some(number)
    }

    /// The place that has `number`.
    pub(crate) fn get(&self, number: u32) -> Option<SourceLine> {
        let (file, line) = *self.lines.get(number.checked_sub(1)? as usize)?;
        Some(SourceLine { file: self.files[file as usize].clone(), line })
    }
}
