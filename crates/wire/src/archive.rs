//! Files as the host hands them to the agent, in a `newc` archive: those of the parcel, and in it
//! those of the user's program, which the agent unpacks before each run.
//!
//! Source: Linux `Documentation/driver-api/early-userspace/buffer-format.rst`.

/// Bytes of a record's header: the magic and 13 numbers of 8 hexadecimal digits.
const HEADER: usize = 6 + 13 * 8;
const MAGIC: &[u8] = b"070701";
const END_NAME: &[u8] = b"TRAILER!!!\0";
/// Headers with their names, and data, are padded to this.
const ALIGNMENT: usize = 4;
/// The bits of a mode that tell what a file is.
const S_IFMT: u32 = 0o170_000;

/// One file of the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Its path from the root, without a leading `/`, ended by NUL.
    pub name: &'a [u8],
    pub mode: u32,
    pub kind: RecordKind<'a>,
}

/// What a file of the archive is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind<'a> {
    Directory,
    /// A regular file that holds this.
    File(&'a [u8]),
    /// A symbolic link to this, without a NUL.
    Symlink(&'a [u8]),
}

/// The archive is not as the host writes it, from this byte on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoArchive {
    /// How many of its last bytes were not read.
    pub left: usize,
}

impl core::fmt::Display for NoArchive {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "the archive is damaged {} bytes before its end", self.left)
    }
}

impl core::error::Error for NoArchive {}

/// The files of an archive, in its order; after an error none.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    /// What is left to be read; nothing after the end.
    rest: Option<&'a [u8]>,
}

impl<'a> Records<'a> {
    pub fn of(archive: &'a [u8]) -> Self {
        Self { rest: Some(archive) }
    }

    /// The record at the beginning of `rest`, of whatever kind, and what is after it.
    fn split(rest: &'a [u8]) -> Option<(Raw<'a>, &'a [u8])> {
        let header = rest.get(..HEADER)?;
        let number = |index: usize| {
            let start = MAGIC.len() + index * 8;
            let digits = core::str::from_utf8(&header[start..start + 8]).ok()?;
            u32::from_str_radix(digits, 16).ok()
        };
        let (mode, size, name_size) = (number(1)?, number(6)? as usize, number(11)? as usize);
        let name = rest.get(HEADER..HEADER.checked_add(name_size)?)?;
        let start = padded(HEADER + name_size);
        let data = rest.get(start..start.checked_add(size)?)?;
        if !header.starts_with(MAGIC) || name.iter().position(|byte| *byte == 0)? + 1 != name_size {
            return None;
        }
        // The end may lack its padding.
        let after = rest.get(padded(start + size)..).unwrap_or_default();
        Some((Raw { name, mode, data }, after))
    }
}

/// A record as the archive has it.
struct Raw<'a> {
    name: &'a [u8],
    mode: u32,
    data: &'a [u8],
}

impl<'a> Raw<'a> {
    fn record(&self) -> Option<Record<'a>> {
        let kind = match self.mode & S_IFMT {
            0o040_000 => RecordKind::Directory,
            0o100_000 => RecordKind::File(self.data),
            0o120_000 => RecordKind::Symlink(self.data),
            _ => return None,
        };
        Some(Record { name: self.name, mode: self.mode & !S_IFMT, kind })
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, NoArchive>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest.take()?;
        let damaged = NoArchive { left: rest.len() };
        let Some((raw, after)) = Self::split(rest) else { return Some(Err(damaged)) };
        if raw.name == END_NAME {
            return None;
        }
        let record = raw.record();
        self.rest = record.map(|_| after);
        Some(record.ok_or(damaged))
    }
}

fn padded(length: usize) -> usize {
    length.next_multiple_of(ALIGNMENT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Formats a record of this mode, independently of the code under test.
    fn format_record(name: &str, mode: u32, data: &[u8]) -> Vec<u8> {
        let [data_length, name_length] =
            [data.len(), name.len() + 1].map(|length| u32::try_from(length).unwrap());
        let numbers = [1, mode, 0, 0, 1, 0, data_length, 0, 0, 0, 0, name_length, 0];
        let mut bytes = MAGIC.to_vec();
        bytes.extend(numbers.iter().flat_map(|number| format!("{number:08x}").into_bytes()));
        for part in [[name.as_bytes(), &[0]].concat(), data.to_vec()] {
            bytes.extend(part);
            bytes.resize(padded(bytes.len()), 0);
        }
        bytes
    }

    fn three() -> Vec<u8> {
        [
            format_record("tmp", 0o041_777, b""),
            format_record("tmp/a", 0o104_755, b"hello"),
            format_record("tmp/link", 0o120_777, b"a"),
            format_record("TRAILER!!!", 0, b""),
        ]
        .concat()
    }

    #[test]
    fn folders_files_and_links_are_read_in_order() {
        let archive = three();
        let read: Vec<_> = Records::of(&archive).map(Result::unwrap).collect();
        let record = |name, mode, kind| Record { name, mode, kind };
        let expected = [
            record(&b"tmp\0"[..], 0o1777, RecordKind::Directory),
            record(b"tmp/a\0", 0o4755, RecordKind::File(b"hello")),
            record(b"tmp/link\0", 0o777, RecordKind::Symlink(b"a")),
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn one_that_is_cut_or_has_another_kind_of_file_is_damaged() {
        let whole = three();
        // The end's name is padded by one byte, which nobody reads.
        for length in 0..whole.len() - 1 {
            assert!(Records::of(&whole[..length]).last().unwrap().is_err(), "{length}");
        }
        let device = format_record("dev/console", 0o020_600, b"");
        assert_eq!(Records::of(&device).next(), Some(Err(NoArchive { left: device.len() })));
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered(
            bytes in prop::collection::vec(any::<u8>(), 0..300), at in 0_usize..400,
        ) {
            let mut damaged = three();
            let at = at.min(damaged.len());
            damaged.splice(at..at, bytes.iter().copied());
            for archive in [&bytes, &damaged] {
                let records = Records::of(archive);
                prop_assert!(records.count() <= archive.len() / HEADER + 1);
            }
        }
    }
}
