//! The compact form of a path's entry, in which a part keeps it.
//!
//! As text, an entry says the same more than once: a sample is the sum of two of its events, and
//! the estimate follows from the samples. Here each thing is said once, numbers that belong
//! together stand side by side, and each is kept as its distance from the one before. That is a
//! fraction of the bytes, and is read in a fraction of the time.
//!
//! The form is used only where the text follows from it, byte by byte; another text is kept as it
//! is. No text begins with [`MARK`], so the first byte tells which it is.
//!
//! Numbers are LEB128. A list is its length and its items; a text is a list of bytes. In a list of
//! numbers, each is the difference to the one before, folded so that small ones of either sign are
//! small (zigzag). The order of the fields is that of [`compact`].

use std::borrow::Cow;

use pathmeter_model::{
    Check, Estimate, MAX_SAMPLES_PER_PATH, PathEvents, PathResult, Unit, check_path, parse_path,
};
use serde::de::value::{Error, StrDeserializer};
use serde::de::{Deserialize, IntoDeserializer};

use crate::document::{push_varint, varint};

/// The first byte of the compact form. A document's text can't have it here.
const MARK: u8 = 1;
/// Longest compact form, so that the text that a small file claims stays small.
const MAX_FORM_BYTES: usize = 1 << 20;
/// Most items of a list that room is made for before they are read.
const MAX_RESERVED: usize = 256;

/// What a part keeps of an entry: `text`, of which `result` was read, or the compact form.
pub(crate) fn stored<'a>(text: &'a [u8], result: &PathResult) -> Cow<'a, [u8]> {
    let form = compact(result);
    let follows = serde_json::to_vec(result).is_ok_and(|written| written == text)
        && expanded(&form).as_ref() == Some(result);
    if follows { Cow::Owned(form) } else { Cow::Borrowed(text) }
}

/// The text that was kept as `stored`. None if it is damaged.
pub(crate) fn text(stored: Vec<u8>) -> Option<Vec<u8>> {
    if stored.first() == Some(&MARK) {
        serde_json::to_vec(&expanded(&stored)?).ok()
    } else {
        Some(stored)
    }
}

/// The path that was kept as `stored`, checked as one of a document that was measured by `clock`.
pub(crate) fn read(stored: &[u8], clock: Unit) -> Result<PathResult, String> {
    if stored.first() == Some(&MARK) {
        let result = expanded(stored).ok_or("not a whole entry")?;
        check_path(&result, clock).map_err(|error| error.to_string())?;
        Ok(result)
    } else {
        parse_path(stored, clock).map_err(|error| error.to_string())
    }
}

fn compact(result: &PathResult) -> Vec<u8> {
    let mut out = Writer(vec![MARK]);
    out.text(&result.path);
    out.text(&word(&result.unit));
    out.text(&word(&result.status));
    out.list(result.reason.iter(), |out, reason| out.text(reason));
    out.numbers(result.samples_per_run.iter().copied().map(u64::from));
    out.numbers(result.lower_bounds.iter().copied().map(u64::from));
    out.list(result.checks.iter(), |out, check| {
        out.text(&check.name);
        out.text(&check.value);
    });
    match &result.events {
        None => {
            out.number(0);
            out.numbers(result.samples.iter().copied());
        }
        Some(events) => {
            out.number(1);
            out.events(events);
        }
    }
    out.0
}

fn expanded(form: &[u8]) -> Option<PathResult> {
    if form.len() > MAX_FORM_BYTES {
        return None;
    }
    let mut input = Reader(form.strip_prefix(&[MARK])?);
    let path = input.text()?.to_owned();
    let unit = named(input.text()?)?;
    let status = named(input.text()?)?;
    let reason = input.list(|input| Some(input.text()?.to_owned()))?.pop();
    let samples_per_run = input.small_numbers()?;
    let lower_bounds = input.small_numbers()?;
    let checks = input.list(|input| {
        Some(Check { name: input.text()?.to_owned(), value: input.text()?.to_owned() })
    })?;
    let (samples, events) = match input.number()? {
        0 => (input.numbers()?, None),
        1 => {
            let events = input.events()?;
            (events.samples()?, Some(events))
        }
        _ => return None,
    };
    let estimate = Estimate::of(&samples);
    input.0.is_empty().then_some(PathResult {
        path,
        unit,
        status,
        reason,
        samples,
        samples_per_run,
        lower_bounds,
        estimate,
        events,
        checks,
        work: None,
        functions: Vec::new(),
    })
}

/// The word that documents have for a value without fields.
pub(crate) fn word<T: serde::Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

/// The value that documents call `word`.
fn named<'a, T: Deserialize<'a>>(word: &'a str) -> Option<T> {
    let word: StrDeserializer<'a, Error> = word.into_deserializer();
    T::deserialize(word).ok()
}

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, number: u64) {
        push_varint(&mut self.0, number);
    }

    fn list<T>(&mut self, items: impl ExactSizeIterator<Item = T>, write: impl Fn(&mut Self, T)) {
        self.number(items.len() as u64);
        items.for_each(|item| write(self, item));
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn numbers(&mut self, numbers: impl ExactSizeIterator<Item = u64>) {
        self.number(numbers.len() as u64);
        let mut last = 0;
        for number in numbers {
            let step = number.wrapping_sub(last).cast_signed();
            self.number(((step << 1) ^ (step >> 63)).cast_unsigned());
            last = number;
        }
    }

    /// A column of all combinations after the other: what is alike in most of them.
    fn events(&mut self, events: &PathEvents) {
        self.list(events.names.iter(), |out, name| out.text(name));
        self.numbers(events.of_samples.iter().copied().map(u64::from));
        self.bytes(&events.placement);
        self.number(events.distinct.len() as u64);
        for column in 0..events.names.len() {
            // Each combination has a number for each name, or this is not what is kept.
            let number = |row: &Vec<u64>| row.get(column).copied().unwrap_or_default();
            self.numbers(events.distinct.iter().map(number));
        }
    }
}

/// The rest of a compact form. What it claims to have costs no more than what is there.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn number(&mut self) -> Option<u64> {
        varint(&mut self.0)
    }

    /// How many items of at least a byte follow.
    fn count(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|&count| count <= self.0.len())
    }

    fn list<T>(&mut self, read: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.count()?;
        let mut items = Vec::with_capacity(count.min(MAX_RESERVED));
        for _ in 0..count {
            items.push(read(self)?);
        }
        Some(items)
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let count = self.count()?;
        let (bytes, rest) = self.0.split_at(count);
        self.0 = rest;
        Some(bytes)
    }

    fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    fn numbers(&mut self) -> Option<Vec<u64>> {
        let count = self.count()?;
        let mut last = 0_u64;
        let mut numbers = Vec::with_capacity(count);
        for _ in 0..count {
            let folded = self.number()?;
            let step = (folded >> 1).cast_signed() ^ -(folded & 1).cast_signed();
            last = last.wrapping_add(step.cast_unsigned());
            numbers.push(last);
        }
        Some(numbers)
    }

    fn small_numbers(&mut self) -> Option<Vec<u32>> {
        let numbers = self.numbers()?;
        let mut small = Vec::with_capacity(numbers.len());
        for number in numbers {
            small.push(u32::try_from(number).ok()?);
        }
        Some(small)
    }

    fn events(&mut self) -> Option<PathEvents> {
        let names = self.list(|input| Some(input.text()?.to_owned()))?;
        let of_samples = self.small_numbers()?;
        let placement = self.bytes()?.to_vec();
        let rows = usize::try_from(self.number()?).ok().filter(|&it| it <= MAX_SAMPLES_PER_PATH)?;
        let mut columns = Vec::with_capacity(names.len());
        for _ in &names {
            columns.push(self.numbers().filter(|column| column.len() == rows)?);
        }
        let row = |row: usize| columns.iter().map(|column| column[row]).collect();
        let distinct = (0..rows).map(row).collect();
        Some(PathEvents { names, distinct, of_samples, placement })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathmeter_model::Status;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// Entries as documents may have them; most contradict themselves somewhere.
    fn any_entry() -> impl Strategy<Value = PathResult> {
        let names = vec(prop_oneof!["user", "kernel", "[a-zä]{0,9}"], 0..6);
        let events =
            (names, vec(vec(any_number(), 0..6), 0..6), vec(0_u32..7, 0..9), vec(0_u8..64, 0..9));
        let events = events.prop_map(|(names, mut distinct, of_samples, placement)| {
            let filled = of_samples.len() % 4 > 0;
            distinct.iter_mut().filter(|_| filled).for_each(|row| row.resize(names.len(), 7));
            PathEvents { names, distinct, of_samples, placement }
        });
        let unit = prop_oneof![Just(Unit::Instructions), Just(Unit::Clock), Just(Unit::Check)];
        let status = prop_oneof![Just(Status::Ok), Just(Status::Unsupported), Just(Status::Failed)];
        let samples = vec(any_number(), 0..20);
        let fields = (
            "[a-z.+ä\"\n]{0,12}",
            (unit, status, proptest::option::of(".{0,9}")),
            (samples, vec(any::<u32>(), 0..4), vec(any::<u32>(), 0..4)),
            proptest::option::of(events),
            vec(("[a-z]{0,5}", ".{0,9}"), 0..3),
            any::<bool>(),
        );
        fields.prop_map(|(path, (unit, status, reason), numbers, events, checks, honest)| {
            let (samples, samples_per_run, lower_bounds) = numbers;
            let of_events = events.as_ref().and_then(PathEvents::samples);
            let samples = of_events.filter(|_| honest).unwrap_or(samples);
            let estimate = Estimate::of(&samples).filter(|_| honest);
            let check = |(name, value)| Check { name, value };
            let checks = checks.into_iter().map(check).collect();
            PathResult {
                path,
                unit,
                status,
                reason,
                samples,
                samples_per_run,
                lower_bounds,
                estimate,
                events,
                checks,
                // A row of a program is kept as it stands.
                work: None,
                functions: Vec::new(),
            }
        })
    }

    /// The same where what follows from something else does so. None if nothing follows.
    fn consistent(mut entry: PathResult) -> Option<PathResult> {
        if let Some(events) = &mut entry.events {
            let (columns, rows) =
                (events.names.len(), u32::try_from(events.distinct.len()).unwrap());
            events.distinct.iter_mut().for_each(|row| row.resize(columns, 7));
            events.of_samples.iter_mut().for_each(|row| *row %= rows.max(1));
            entry.samples = events.samples()?;
        }
        entry.estimate = Estimate::of(&entry.samples);
        Some(entry)
    }

    fn any_number() -> impl Strategy<Value = u64> {
        prop_oneof![0_u64..300, any::<u64>()]
    }

    proptest! {
        #[test]
        fn every_text_comes_back_and_is_read_as_it_would_be(entry in any_entry()) {
            for written in [serde_json::to_vec, serde_json::to_vec_pretty] {
                let bytes = written(&entry).unwrap();
                let kept = stored(&bytes, &entry);
                let read = read(&kept, Unit::Instructions);
                let parsed = parse_path(&bytes, Unit::Instructions);
                prop_assert_eq!(read, parsed.map_err(|error| error.to_string()));
                prop_assert_eq!(text(kept.into_owned()), Some(bytes));
            }
        }

        #[test]
        fn what_does_not_contradict_itself_is_kept_compact(entry in any_entry()) {
            let Some(entry) = consistent(entry) else { return Ok(()) };
            prop_assert_eq!(expanded(&compact(&entry)), Some(entry.clone()));
            prop_assert_eq!(stored(&serde_json::to_vec(&entry).unwrap(), &entry)[0], MARK);
        }

        #[test]
        fn no_bytes_panic(form in vec(any::<u8>(), 0..200)) {
            let _ = expanded(&[&[MARK], &form[..]].concat());
        }
    }

    #[test]
    fn what_pathmeter_writes_is_kept_compact_and_other_texts_as_they_are() {
        let entry = PathResult::ok("a.b", Unit::Instructions, &vec![vec![4000; 30]; 6], Vec::new());
        let written = serde_json::to_vec(&entry).unwrap();
        let kept = stored(&written, &entry);
        assert!(kept[0] == MARK && kept.len() * 3 < written.len(), "{}", kept.len());
        let spaced = serde_json::to_vec_pretty(&entry).unwrap();
        assert_eq!(*stored(&spaced, &entry), spaced);
    }

    #[test]
    fn what_would_be_too_long_is_kept_as_text() {
        let reason = "x".repeat(MAX_FORM_BYTES);
        let entry = PathResult::failed("a.b", Unit::Instructions, &reason);
        let written = serde_json::to_vec(&entry).unwrap();
        assert_eq!(*stored(&written, &entry), written);
        assert_eq!(expanded(&compact(&entry)), None);
    }
}
