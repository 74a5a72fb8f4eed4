//! The messages: what stands in the payload of each [`Kind`], written and read in one place.

use crate::condition::{MAX_SHOWN, MAX_SHOWN_TEXT};
use crate::{HEADER, Kind, PayloadError, RawFrame, Reader, Writer, seal};

/// Most paths a plan may have, and so the bound on a path's index.
pub const MAX_PATHS: u64 = 256;
/// Most perturbed runs of one run.
pub const MAX_RUNS: u64 = 1024;
/// Most samples of one path in one run.
pub const MAX_SAMPLES: u64 = 1024;
/// Most words of the mask that marks lower bounds: a bit for each sample.
pub const MAX_MASK: u64 = MAX_SAMPLES / u64::BITS as u64;
/// Most of the kernel's files about its CPU that the host is told of.
pub const MAX_FACTS: usize = 64;
/// Longest name of one of them, in bytes.
pub const MAX_FACT_NAME: usize = 64;
/// Most bytes of one of them that are sent; the longest, `/proc/cpuinfo`, has fewer of one CPU.
pub const MAX_FACT: usize = 8 << 10;
/// Most checks that a probe reports.
pub const MAX_CHECKS: u64 = 16;

/// How a probe ended, as numbers on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum OutcomeStatus {
    /// It ran its path in every window and proved it.
    Ok = 0,
    /// This kernel can't run the path; the reason tells why.
    Unsupported = 1,
    /// A proof failed, or the probe died.
    Failed = 2,
}

impl OutcomeStatus {
    /// The status with this number, if there is one.
    pub fn from_u8(number: u8) -> Option<Self> {
        [Self::Ok, Self::Unsupported, Self::Failed].into_iter().find(|s| *s as u8 == number)
    }
}

/// Which path in which run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The perturbed run, from 0.
    pub run: u64,
    /// The path's index in the plan, from 0.
    pub path: u64,
}

/// A frame without fields or with one text: Ready, Done, Abort.
pub fn plain<'a>(buffer: &'a mut [u8], kind: Kind, text: &[u8]) -> Option<&'a [u8]> {
    let mut writer = Writer::new(buffer.get_mut(HEADER..)?);
    writer.text(text);
    let length = writer.finish()?;
    seal(buffer, kind, length)
}

/// A [`Kind::Begin`] frame.
pub fn begin(buffer: &mut [u8], place: Place) -> Option<&[u8]> {
    let mut writer = Writer::new(buffer.get_mut(HEADER..)?);
    writer.integer(place.run);
    writer.integer(place.path);
    let length = writer.finish()?;
    seal(buffer, Kind::Begin, length)
}

/// Bytes in the guest's memory, at an address of the agent's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The virtual address of the first byte.
    pub address: u64,
    /// How many bytes there are.
    pub length: u64,
}

/// Most bytes of symbols that the host fetches: five times those of a distribution's kernel.
pub const MAX_SYMBOLS: u64 = 48 << 20;
/// What the agent's port reads, once the guest goes on from READY, if the symbols are all that is
/// asked for: the plan is not run. Else it reads 0xe9, as a debugging port does.
pub const SYMBOLS_ASKED: u8 = 0x53;

/// A [`Kind::Symbols`] or a [`Kind::Start`] frame.
pub fn memory(buffer: &mut [u8], kind: Kind, memory: Memory) -> Option<&[u8]> {
    let mut writer = Writer::new(buffer.get_mut(HEADER..)?);
    writer.integer(memory.address);
    writer.integer(memory.length);
    let length = writer.finish()?;
    seal(buffer, kind, length)
}

/// Decodes such a frame of at most so many bytes of memory.
pub fn read_memory(frame: &RawFrame<'_>, most: u64) -> Result<Memory, PayloadError> {
    let mut reader = Reader::new(frame.payload);
    let address = reader.integer(u64::MAX)?;
    let length = reader.integer(most)?;
    reader.end()?;
    Ok(Memory { address, length })
}

/// A [`Kind::Fact`] frame: the beginning of a file of this name.
pub fn fact<'a>(buffer: &'a mut [u8], name: &[u8], text: &[u8]) -> Option<&'a [u8]> {
    let mut writer = Writer::new(buffer.get_mut(HEADER..)?);
    writer.text(name);
    writer.text(text);
    let length = writer.finish()?;
    seal(buffer, Kind::Fact, length)
}

/// Decodes a Fact frame: the file's name, and bytes of any kind.
pub fn read_fact<'a>(frame: &RawFrame<'a>) -> Result<(&'a str, &'a [u8]), PayloadError> {
    let mut reader = Reader::new(frame.payload);
    let (name, text) = (reader.text()?, reader.bytes()?);
    reader.end()?;
    if name.len() > MAX_FACT_NAME || text.len() > MAX_FACT {
        return Err(PayloadError::Range);
    }
    Ok((name, text))
}

/// Why a guest can't be put under its condition, as numbers on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum UnmetCause {
    /// The kernel does not know such a word or sysctl.
    Unknown = 0,
    /// The kernel knows it and refuses the value, or holds another one.
    Refused = 1,
}

/// A setting that can't be had in the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unmet<'a> {
    /// Its place in the condition, from 0.
    pub setting: u64,
    /// Whether the kernel knows it at all.
    pub cause: UnmetCause,
    /// What the kernel did, for the host's user.
    pub what: &'a [u8],
}

/// A [`Kind::Unmet`] frame.
pub fn unmet<'a>(buffer: &'a mut [u8], unmet: &Unmet<'_>) -> Option<&'a [u8]> {
    let mut writer = Writer::new(buffer.get_mut(HEADER..)?);
    writer.integer(unmet.setting);
    writer.integer(unmet.cause as u64);
    writer.text(unmet.what);
    let length = writer.finish()?;
    seal(buffer, Kind::Unmet, length)
}

pub fn read_unmet<'a>(frame: &RawFrame<'a>) -> Result<Unmet<'a>, PayloadError> {
    let mut reader = Reader::new(frame.payload);
    let setting = reader.integer(u64::from(u16::MAX))?;
    let cause = match reader.integer(1)? {
        0 => UnmetCause::Unknown,
        _ => UnmetCause::Refused,
    };
    let what = reader.text()?.as_bytes();
    reader.end()?;
    Ok(Unmet { setting, cause, what })
}

/// What a file shows of the condition's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown<'a> {
    /// Its place among the files that are shown, from 0.
    pub file: u64,
    /// Why it can't be read, as the kernel has it; 0 if it can.
    pub error: u64,
    /// The lines that were asked for, each with its end, as far as they fit.
    pub text: &'a [u8],
}

/// Writes a [`Kind::Shown`] frame into `buffer`; None if it does not fit.
pub fn write_shown<'a>(buffer: &'a mut [u8], shown: &Shown<'_>) -> Option<&'a [u8]> {
    let mut writer = Writer::new(buffer.get_mut(HEADER..)?);
    writer.integer(shown.file);
    writer.integer(shown.error);
    writer.text(shown.text);
    let length = writer.finish()?;
    seal(buffer, Kind::Shown, length)
}

/// Decodes a Shown frame: bytes of any kind.
pub fn read_shown<'a>(frame: &RawFrame<'a>) -> Result<Shown<'a>, PayloadError> {
    let mut reader = Reader::new(frame.payload);
    let file = reader.integer(MAX_SHOWN as u64 - 1)?;
    let error = reader.integer(u64::from(u16::MAX))?;
    let text = reader.bytes()?;
    reader.end()?;
    if text.len() > MAX_SHOWN_TEXT {
        return Err(PayloadError::Range);
    }
    Ok(Shown { file, error, text })
}

/// What [`outcome`] sends, as the agent has it.
pub struct Outcome<'a, C> {
    /// The run and the path that it belongs to.
    pub place: Place,
    pub status: OutcomeStatus,
    /// Why not ok; empty if ok.
    pub reason: &'a [u8],
    /// (name, value) of what the probe noticed.
    pub checks: C,
    /// Every sample, in the clock's unit, in the order taken.
    pub samples: &'a [u64],
    /// Which samples are lower bounds: a bit for each, the first word's lowest is the first
    /// sample's. What is missing at the end is 0.
    pub lower_bounds: &'a [u64],
}

/// A [`Kind::Outcome`] frame.
pub fn outcome<'a, 'c, C>(buffer: &'a mut [u8], outcome: Outcome<'_, C>) -> Option<&'a [u8]>
where
    C: ExactSizeIterator<Item = (&'c [u8], &'c [u8])>,
{
    let mut writer = Writer::new(buffer.get_mut(HEADER..)?);
    writer.integer(outcome.place.run);
    writer.integer(outcome.place.path);
    writer.integer(outcome.status as u64);
    writer.text(outcome.reason);
    writer.integer(outcome.checks.len() as u64);
    for (name, value) in outcome.checks {
        writer.text(name);
        writer.text(value);
    }
    writer.samples(outcome.samples);
    // Words are coded as samples are: nearly always all of them are 0.
    writer.samples(outcome.lower_bounds);
    let length = writer.finish()?;
    seal(buffer, Kind::Outcome, length)
}

/// Receives what an [`Kind::Outcome`] frame holds, field by field.
pub trait OutcomeSink {
    /// Place, status and reason; comes first.
    fn status(&mut self, place: Place, status: OutcomeStatus, reason: &str);
    fn check(&mut self, name: &str, value: &str);
    fn sample(&mut self, value: u64);
    /// The sample at `position`, from 0, is a lower bound; after all samples, ascending. It may be
    /// a position without a sample.
    fn lower_bound(&mut self, position: usize);
}

/// Decodes the text of a Ready, Done or Abort frame.
pub fn read_plain<'a>(frame: &RawFrame<'a>) -> Result<&'a str, PayloadError> {
    let mut reader = Reader::new(frame.payload);
    let text = reader.text()?;
    reader.end()?;
    Ok(text)
}

pub fn read_begin(frame: &RawFrame<'_>) -> Result<Place, PayloadError> {
    let mut reader = Reader::new(frame.payload);
    let place = read_place(&mut reader)?;
    reader.end()?;
    Ok(place)
}

/// Decodes an Outcome frame into `sink`. On an error the sink may have seen part of it.
pub fn read_outcome(frame: &RawFrame<'_>, sink: &mut impl OutcomeSink) -> Result<(), PayloadError> {
    let mut reader = Reader::new(frame.payload);
    let place = read_place(&mut reader)?;
    let number = reader.integer(u64::from(u8::MAX))?;
    let status =
        u8::try_from(number).ok().and_then(OutcomeStatus::from_u8).ok_or(PayloadError::Range)?;
    sink.status(place, status, reader.text()?);
    for _ in 0..reader.integer(MAX_CHECKS)? {
        sink.check(reader.text()?, reader.text()?);
    }
    reader.samples(MAX_SAMPLES, |sample| sink.sample(sample))?;
    let mut first = 0;
    reader.samples(MAX_MASK, |word| {
        let marked = (0..u64::BITS).filter(|bit| word >> bit & 1 == 1);
        marked.for_each(|bit| sink.lower_bound(first + bit as usize));
        first += u64::BITS as usize;
    })?;
    reader.end()
}

fn read_place(reader: &mut Reader<'_>) -> Result<Place, PayloadError> {
    let run = reader.integer(MAX_RUNS - 1)?;
    let path = reader.integer(MAX_PATHS - 1)?;
    Ok(Place { run, path })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::next_frame;

    #[derive(Default, Debug, PartialEq)]
    struct Seen {
        status: Option<(Place, OutcomeStatus, String)>,
        checks: Vec<(String, String)>,
        samples: Vec<u64>,
        lower_bounds: Vec<usize>,
    }

    impl OutcomeSink for Seen {
        fn status(&mut self, place: Place, status: OutcomeStatus, reason: &str) {
            self.status = Some((place, status, reason.to_owned()));
        }
        fn check(&mut self, name: &str, value: &str) {
            self.checks.push((name.to_owned(), value.to_owned()));
        }
        fn sample(&mut self, value: u64) {
            self.samples.push(value);
        }
        fn lower_bound(&mut self, position: usize) {
            self.lower_bounds.push(position);
        }
    }

    const PLACE: Place = Place { run: 7, path: 41 };

    #[test]
    fn an_outcome_is_read_back() {
        let mut buffer = [0; 256];
        let checks = [(&b"entry"[..], &b"syscall"[..])];
        let samples = [330, 330, 331];
        let sent = Outcome {
            place: PLACE,
            status: OutcomeStatus::Ok,
            reason: b"",
            checks: checks.into_iter(),
            samples: &samples,
            lower_bounds: &[],
        };
        let frame = next_frame(outcome(&mut buffer, sent).unwrap()).unwrap().unwrap();
        let mut seen = Seen::default();
        read_outcome(&frame, &mut seen).unwrap();
        assert_eq!(seen.lower_bounds, []);
        assert_eq!(seen.status, Some((PLACE, OutcomeStatus::Ok, String::new())));
        assert_eq!(seen.checks, [("entry".to_owned(), "syscall".to_owned())]);
        assert_eq!(seen.samples, samples);
    }

    /// As many words as [`MAX_MASK`].
    const WORDS: usize = 16;
    const _: () = assert!(WORDS as u64 == MAX_MASK);

    /// What is read of an outcome with two samples and this mask.
    fn marked(lower_bounds: &[u64]) -> Result<Vec<usize>, PayloadError> {
        let mut buffer = [0; 256];
        let checks = [(&b""[..], &b""[..]); 0];
        let sent = Outcome {
            place: PLACE,
            status: OutcomeStatus::Ok,
            reason: b"",
            checks: checks.into_iter(),
            samples: &[7, 8],
            lower_bounds,
        };
        let frame = next_frame(outcome(&mut buffer, sent).unwrap()).unwrap().unwrap();
        let mut seen = Seen::default();
        read_outcome(&frame, &mut seen).map(|()| seen.lower_bounds)
    }

    #[test]
    fn lower_bounds_are_read_back_by_position() {
        assert_eq!(marked(&[0b10]), Ok(vec![1]));
        assert_eq!(marked(&[1 << 63 | 1, 0, 0b100]), Ok(vec![0, 63, 130]));
        assert_eq!(marked(&[0; WORDS]), Ok(vec![]));
    }

    #[test]
    fn more_lower_bounds_than_samples_may_be_are_refused() {
        assert_eq!(marked(&[0; WORDS + 1]), Err(PayloadError::Range));
    }

    #[test]
    fn begin_and_plain_are_read_back() {
        let mut buffer = [0; 64];
        let frame = next_frame(begin(&mut buffer, PLACE).unwrap()).unwrap().unwrap();
        assert_eq!(read_begin(&frame), Ok(PLACE));
        let frame = next_frame(plain(&mut buffer, Kind::Abort, b"no port").unwrap());
        assert_eq!(read_plain(&frame.unwrap().unwrap()), Ok("no port"));
    }

    #[test]
    fn an_unmet_setting_is_read_back() {
        let mut buffer = [0; 64];
        for cause in [UnmetCause::Unknown, UnmetCause::Refused] {
            let sent = Unmet { setting: 3, cause, what: b"error 22" };
            let frame = next_frame(unmet(&mut buffer, &sent).unwrap()).unwrap().unwrap();
            assert_eq!(read_unmet(&frame), Ok(sent));
        }
    }

    #[test]
    fn a_place_is_read_back_within_its_bound() {
        let mut buffer = [0; 64];
        let memory = Memory { address: 0x7fff_0000_1000, length: MAX_SYMBOLS };
        let frame = next_frame(super::memory(&mut buffer, Kind::Symbols, memory).unwrap())
            .unwrap()
            .unwrap();
        assert_eq!(read_memory(&frame, MAX_SYMBOLS), Ok(memory));
        let memory = Memory { length: MAX_SYMBOLS + 1, ..memory };
        let frame = next_frame(super::memory(&mut buffer, Kind::Symbols, memory).unwrap())
            .unwrap()
            .unwrap();
        assert_eq!(read_memory(&frame, MAX_SYMBOLS), Err(PayloadError::Range));
    }

    #[test]
    fn facts_are_read_back_within_their_bounds() {
        let mut buffer = [0; MAX_FACT + 256];
        let frame = next_frame(fact(&mut buffer, b"meltdown", b"\xffPTI").unwrap());
        assert_eq!(read_fact(&frame.unwrap().unwrap()), Ok(("meltdown", &b"\xffPTI"[..])));
        for (name, text) in [(MAX_FACT_NAME + 1, 0), (0, MAX_FACT + 1)] {
            let (name, text) = (vec![b'a'; name], vec![b'a'; text]);
            let frame = next_frame(fact(&mut buffer, &name, &text).unwrap()).unwrap().unwrap();
            assert_eq!(read_fact(&frame), Err(PayloadError::Range));
        }
    }

    #[test]
    fn a_start_beyond_the_bound_is_refused() {
        let mut buffer = [0; 64];
        let place = Place { run: MAX_RUNS, path: 0 };
        let frame = next_frame(begin(&mut buffer, place).unwrap()).unwrap().unwrap();
        assert_eq!(read_begin(&frame), Err(PayloadError::Range));
    }
}
