//! Perf maps, in which JITs name the code that they make: a line `START SIZE NAME` for each piece
//! of code, the numbers in hexadecimal (Linux `tools/perf/Documentation/jit-interface.txt`).
//!
//! A JIT reuses the memory of code that it no longer needs, and adds a line for the new code there:
//! the later of two lines for an address is taken.
//!
//! Contract: the file is untrusted; what is not understood names nothing, and is counted.

use std::collections::BTreeMap;

use crate::CodeFunction;

/// Most pieces of code that are kept: ten times those of a large application.
pub const MOST_PERF_MAP_LINES: usize = 1 << 20;

/// What a perf map says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PerfMap {
    /// By where they begin; they don't overlap.
    functions: BTreeMap<u64, CodeFunction>,
    /// Lines that are not of the form, and those after [`MOST_PERF_MAP_LINES`] others.
    pub unread: usize,
}

impl PerfMap {
    /// Reads a map. A last line without its end was cut, and is not read.
    pub fn read(text: &[u8]) -> Self {
        let mut map = Self::default();
        for (number, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let line = line.strip_suffix(b"\n").filter(|_| number < MOST_PERF_MAP_LINES);
            match line.and_then(function) {
                Some(function) => map.add(function),
                None => map.unread += 1,
            }
        }
        map
    }

    /// The function that holds this address.
    pub fn function_at(&self, address: u64) -> Option<&CodeFunction> {
        let (_, last) = self.functions.range(..=address).next_back()?;
        (address - last.address < last.size).then_some(last)
    }

    /// Adds a function in the place of those that it overlaps.
    fn add(&mut self, function: CodeFunction) {
        let end = function.address.saturating_add(function.size);
        let before = self.functions.range(..function.address).next_back();
        let before = before.filter(|it| it.1.address + it.1.size > function.address);
        let first = before.map_or(function.address, |(start, _)| *start);
        let overlapped: Vec<u64> =
            self.functions.range(first..end).map(|(start, _)| *start).collect();
        for start in overlapped {
            self.functions.remove(&start);
        }
        self.functions.insert(function.address, function);
    }
}

/// The code that a line names.
fn function(line: &[u8]) -> Option<CodeFunction> {
    let mut words = line.splitn(3, |byte| *byte == b' ');
    let (address, size) = (number(words.next()?)?, number(words.next()?)?);
    let name = String::from_utf8_lossy(words.next()?).trim().to_owned();
    let is_code = size > 0 && address.checked_add(size).is_some() && !name.is_empty();
    is_code.then_some(CodeFunction { address, size, name })
}

/// Digits in hexadecimal; Java writes `0x` before them.
fn number(digits: &[u8]) -> Option<u64> {
    let digits = digits.strip_prefix(b"0x").unwrap_or(digits);
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
    let digits = std::str::from_utf8(digits).ok().filter(|_| is_number)?;
    u64::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_at(map: &PerfMap, address: u64) -> Option<&str> {
        map.function_at(address).map(|function| &*function.name)
    }

    #[test]
    fn an_address_has_the_name_of_the_code_that_holds_it() {
        let map = PerfMap::read(b"1000 20 JS:*add file.js:1:2\n0x0000000000001020 0x10 main\n");
        assert_eq!(map.unread, 0);
        assert_eq!(name_at(&map, 0xfff), None);
        assert_eq!(name_at(&map, 0x101f), Some("JS:*add file.js:1:2"));
        assert_eq!(name_at(&map, 0x1020), Some("main"));
        assert_eq!(name_at(&map, 0x1030), None);
    }

    #[test]
    fn later_code_takes_the_place_of_all_that_it_overlaps() {
        let map = PerfMap::read(b"1000 20 a\n1020 20 b\n1040 20 c\n1010 31 d\n");
        let names = [0x1000, 0x1010, 0x1040, 0x1041].map(|at| name_at(&map, at));
        assert_eq!(names, [None, Some("d"), Some("d"), None]);
        let map = PerfMap::read(b"1000 100 a\n1010 10 b\n1000 8 c\n");
        let names = [0x1000, 0x1008, 0x1010, 0x1020].map(|at| name_at(&map, at));
        assert_eq!(names, [Some("c"), None, Some("b"), None]);
    }

    #[test]
    fn lines_that_name_no_code_are_counted() {
        let wrong = b"1000 0 empty\nffffffffffffffff 10 beyond\n1000 10\n1000 10  \nx 1 a\n\n\
                      +1 1 a\n11111111111111111 1 a\n0x 1 a\n1000 10 cut";
        let map = PerfMap::read(wrong);
        assert_eq!((map.functions.len(), map.unread), (0, 10));
        assert_eq!(PerfMap::read(b""), PerfMap::default());
        let odd = PerfMap::read(b"10 1 \xff\x1b[m\n");
        assert_eq!(name_at(&odd, 0x10), Some("\u{fffd}\u{1b}[m"));
    }

    #[test]
    fn as_many_lines_are_kept_as_there_is_room_for() {
        let lines = (0..MOST_PERF_MAP_LINES + 2).map(|at| format!("{at:x} 1 f\n"));
        let map = PerfMap::read(lines.collect::<String>().as_bytes());
        assert_eq!((map.functions.len(), map.unread), (MOST_PERF_MAP_LINES, 2));
    }
}
