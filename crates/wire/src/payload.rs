//! Fields inside a payload: LEB128 integers, length-prefixed strings, run-length coded samples.

/// Appends fields to a fixed buffer. A field that doesn't fit sets `overflow` and writes nothing.
pub struct Writer<'a> {
    buffer: &'a mut [u8],
    length: usize,
    overflow: bool,
}

impl<'a> Writer<'a> {
    /// A writer that fills `buffer` from its start.
    pub fn new(buffer: &'a mut [u8]) -> Self {
        Self { buffer, length: 0, overflow: false }
    }

    /// Bytes written, or `None` if a field did not fit.
    pub fn finish(self) -> Option<usize> {
        (!self.overflow).then_some(self.length)
    }

    /// An unsigned integer, 7 bits a byte, lowest first.
    pub fn integer(&mut self, mut value: u64) {
        loop {
            let low = (value & 0x7f) as u8;
            value >>= 7;
            self.bytes(&[if value == 0 { low } else { low | 0x80 }]);
            if value == 0 {
                return;
            }
        }
    }

    /// A string: its length in bytes, then the bytes.
    pub fn text(&mut self, text: &[u8]) {
        self.integer(text.len() as u64);
        self.bytes(text);
    }

    /// Samples as runs of equal values: their number, then (value, repetitions) until all are
    /// listed.
    pub fn samples(&mut self, samples: &[u64]) {
        self.integer(samples.len() as u64);
        for run in samples.chunk_by(|a, b| a == b) {
            self.integer(run[0]);
            self.integer(run.len() as u64);
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        match self.buffer.get_mut(self.length..self.length + bytes.len()) {
            Some(place) => {
                place.copy_from_slice(bytes);
                self.length += bytes.len();
            }
            None => self.overflow = true,
        }
    }
}

/// Why a payload could not be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayloadError {
    /// It ends inside a field.
    Short,
    /// An integer exceeds 64 bits, or the bound of its field.
    Range,
    /// A string is not UTF-8.
    Text,
    /// Bytes are left after the last field.
    Rest,
}

impl core::fmt::Display for PayloadError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Short => "a message that ends inside a field",
            Self::Range => "a message with a number out of range",
            Self::Text => "a message with text that is not UTF-8",
            Self::Rest => "a message with bytes after its end",
        })
    }
}

impl core::error::Error for PayloadError {}

/// Takes fields off a payload, trusting none of them.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A reader of `payload` from its start.
    pub fn new(payload: &'a [u8]) -> Self {
        Self { rest: payload }
    }

    /// An integer that must not exceed `limit`.
    pub fn integer(&mut self, limit: u64) -> Result<u64, PayloadError> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.rest.split_first().ok_or(PayloadError::Short)?;
            self.rest = rest;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return Err(PayloadError::Range);
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return if value <= limit { Ok(value) } else { Err(PayloadError::Range) };
            }
        }
        Err(PayloadError::Range)
    }

    /// A string, which must be UTF-8.
    pub fn text(&mut self) -> Result<&'a str, PayloadError> {
        core::str::from_utf8(self.bytes()?).map_err(|_| PayloadError::Text)
    }

    /// A string of any bytes.
    pub fn bytes(&mut self) -> Result<&'a [u8], PayloadError> {
        let length = self.length()?;
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(PayloadError::Short)?;
        self.rest = rest;
        Ok(bytes)
    }

    /// Samples, each handed to `sink`; more than `limit` of them are an error, before any is
    /// handed.
    pub fn samples(&mut self, limit: u64, mut sink: impl FnMut(u64)) -> Result<(), PayloadError> {
        let mut left = self.integer(limit)?;
        while left > 0 {
            let value = self.integer(u64::MAX)?;
            let run = self.integer(left)?;
            if run == 0 {
                return Err(PayloadError::Range);
            }
            (0..run).for_each(|_| sink(value));
            left -= run;
        }
        Ok(())
    }

    /// Checks that no bytes are left.
    pub fn end(self) -> Result<(), PayloadError> {
        if self.rest.is_empty() { Ok(()) } else { Err(PayloadError::Rest) }
    }

    fn length(&mut self) -> Result<usize, PayloadError> {
        usize::try_from(self.integer(u64::MAX)?).map_err(|_| PayloadError::Range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fill_payload(fill: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
        let mut buffer = vec![0; 8192];
        let mut writer = Writer::new(&mut buffer);
        fill(&mut writer);
        let length = writer.finish().unwrap();
        buffer.truncate(length);
        buffer
    }

    #[test]
    fn a_field_that_does_not_fit_is_an_overflow() {
        let mut buffer = [0; 3];
        let mut writer = Writer::new(&mut buffer);
        writer.text(b"four");
        assert_eq!(writer.finish(), None);
    }

    #[test]
    fn a_run_longer_than_announced_is_refused() {
        let bytes = fill_payload(|w| [2, 330, 3].into_iter().for_each(|n| w.integer(n)));
        assert_eq!(Reader::new(&bytes).samples(100, |_| ()), Err(PayloadError::Range));
    }

    #[test]
    fn an_empty_run_is_refused_rather_than_looped_on() {
        let bytes = fill_payload(|w| [2, 330, 0].into_iter().for_each(|n| w.integer(n)));
        assert_eq!(Reader::new(&bytes).samples(100, |_| ()), Err(PayloadError::Range));
    }

    #[test]
    fn an_integer_of_more_than_64_bits_is_refused() {
        assert_eq!(Reader::new(&[0xff; 10]).integer(u64::MAX), Err(PayloadError::Range));
    }

    proptest! {
        #[test]
        fn fields_are_read_back(
            number: u64, text in ".{0,40}", samples in prop::collection::vec(300_u64..303, 0..200),
        ) {
            let bytes = fill_payload(|w| {
                w.integer(number);
                w.text(text.as_bytes());
                w.samples(&samples);
            });
            let mut reader = Reader::new(&bytes);
            let mut seen = vec![];
            prop_assert_eq!(reader.integer(u64::MAX), Ok(number));
            prop_assert_eq!(reader.text(), Ok(&text[..]));
            reader.samples(200, |sample| seen.push(sample)).unwrap();
            prop_assert_eq!(seen, samples);
            prop_assert_eq!(reader.end(), Ok(()));
        }

        #[test]
        fn any_bytes_are_answered_within_the_bound(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let mut count = 0;
            let _ = Reader::new(&bytes).samples(50, |_| count += 1);
            prop_assert!(count <= 50);
            let _ = Reader::new(&bytes).text();
        }
    }
}
