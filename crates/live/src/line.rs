//! Lines of text for the command that started the program, on its standard output.
//!
//! ```text
//! refused STEP ERROR          a step of the preparation failed, with Linux's error number; the end
//! cgroup YES                  whether it is in the root cgroup: 0 or 1
//! straight NOPS SAMPLE…       what the counter said of windows written out by hand
//! path INDEX ok SAMPLE…       every sample of the path with this index in the catalogue
//! path INDEX WORD REASON      no samples: `unsupported`, `failed` or `left-out`
//! end                         all was written
//! ```

use core::fmt::{self, Write};

use pathmeter_probes::sys;

/// The descriptor of the standard output.
const OUTPUT: usize = 1;
/// Bytes that are written at once.
const BUFFER: usize = 4096;

/// A line that is being written.
pub(crate) struct Line {
    bytes: [u8; BUFFER],
    used: usize,
}

impl Line {
    /// Writes a line that begins with `head`, then a space and each of `numbers`.
    pub(crate) fn write(head: fmt::Arguments<'_>, numbers: impl IntoIterator<Item = u64>) {
        let mut line = Self { bytes: [0; BUFFER], used: 0 };
        // Nobody is left to tell of a reader that has gone; the command misses the `end`.
        let _ = line.write_fmt(head);
        for number in numbers {
            let _ = write!(line, " {number}");
        }
        let _ = line.write_str("\n");
        line.flush();
    }

    fn flush(&mut self) {
        let mut left = self.bytes.get(..self.used).unwrap_or_default();
        while let Ok(written) = sys::write(OUTPUT, left) {
            left = left.get(written..).unwrap_or_default();
            if left.is_empty() {
                break;
            }
        }
        self.used = 0;
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            if self.used == BUFFER {
                self.flush();
            }
            if let Some(place) = self.bytes.get_mut(self.used) {
                *place = byte;
                self.used += 1;
            }
        }
        Ok(())
    }
}

/// A text that came from a probe, without what would end the line.
pub(crate) struct Reason<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = core::str::from_utf8(self.0).unwrap_or("its reason is not a text");
        text.chars().try_for_each(|c| f.write_char(if c.is_control() { ' ' } else { c }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_stays_in_its_line() {
        assert_eq!(Reason(b"a\nend\x1b").to_string(), "a end ");
        assert_eq!(Reason(&[0xff]).to_string(), "its reason is not a text");
    }
}
