//! The job: the user's program, as the host hands it to the agent.
//!
//! Fields one after the other, each ended by a NUL byte:
//!
//! ```text
//! pathmeter program 3␀ RUNS␀ FILE-LIMIT␀ EXECUTABLE␀ STDIN␀
//!     N␀ N arguments␀… N␀ N variables␀… ARCHIVE
//! ```
//!
//! RUNS, FILE-LIMIT (bytes) and each N are decimal. STDIN is empty for `/dev/null`. ARCHIVE has the
//! program's files ([`crate::archive`]), to the end.
//!
//! Each field is a C string as it stands: the agent hands pointers to them to execve(2).

use crate::message::MAX_RUNS;

/// Longest job without its archive, in bytes: Linux takes no more arguments and variables than this
/// by default (a quarter of 8 MiB of stack).
pub const MAX_JOB: usize = 2 << 20;
/// Most arguments, and most variables.
pub const MAX_WORDS: usize = 16_384;

/// The first field of every job.
const MAGIC: &[u8] = b"pathmeter program 3";

/// A job that was read; all byte strings end in NUL.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// How many perturbed runs there are.
    pub runs: u32,
    /// Bytes that a file may grow to.
    pub file_limit: u64,
    /// The path of what is executed.
    pub executable: &'a [u8],
    /// What it reads; only a NUL for nothing.
    pub stdin: &'a [u8],
    /// Its arguments, its own name first.
    pub arguments: Words<'a>,
    pub environment: Words<'a>,
    /// The archive of the program's files.
    pub archive: &'a [u8],
}

/// A list of byte strings that each end in NUL.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    count: usize,
    bytes: &'a [u8],
}

impl<'a> Words<'a> {
    /// How many there are; at most [`MAX_WORDS`].
    pub fn len(&self) -> usize {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Each string, with its NUL at the end.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> {
        self.bytes.split_inclusive(|byte| *byte == 0)
    }
}

/// Why bytes are no job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoJob {
    /// Which field is wrong, from 0.
    pub field: usize,
}

impl core::fmt::Display for NoJob {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "field {} is not as the host writes it", self.field)
    }
}

impl core::error::Error for NoJob {}

/// What is left to be read, and which field comes next.
struct Fields<'a> {
    rest: &'a [u8],
    next: usize,
}

impl<'a> Fields<'a> {
    /// The next field, with its NUL.
    fn take(&mut self) -> Result<&'a [u8], NoJob> {
        let end = self.rest.iter().position(|byte| *byte == 0).ok_or(self.wrong())?;
        let (field, rest) = self.rest.split_at(end + 1);
        (self.rest, self.next) = (rest, self.next + 1);
        Ok(field)
    }

    fn wrong(&self) -> NoJob {
        NoJob { field: self.next }
    }

    fn number(&mut self, most: u64) -> Result<u64, NoJob> {
        let wrong = self.wrong();
        let field = self.take()?;
        let digits = field.strip_suffix(&[0]).unwrap_or_default();
        if !digits.iter().all(u8::is_ascii_digit) {
            return Err(wrong);
        }
        let number = core::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
        number.filter(|number| *number <= most).ok_or(wrong)
    }

    fn words(&mut self) -> Result<Words<'a>, NoJob> {
        let wrong = self.wrong();
        let count = usize::try_from(self.number(MAX_WORDS as u64)?).map_err(|_| wrong)?;
        let all = self.rest;
        for _ in 0..count {
            self.take()?;
        }
        Ok(Words { count, bytes: &all[..all.len() - self.rest.len()] })
    }
}

impl<'a> Job<'a> {
    /// Reads a job.
    ///
    /// # Errors
    /// Whatever the host does not write, by its field.
    pub fn read(bytes: &'a [u8]) -> Result<Self, NoJob> {
        let mut fields = Fields { rest: bytes, next: 0 };
        if fields.take()?.strip_suffix(&[0]) != Some(MAGIC) {
            return Err(NoJob { field: 0 });
        }
        let runs = fields.number(MAX_RUNS)?;
        Ok(Self {
            runs: u32::try_from(runs).unwrap_or(0),
            file_limit: fields.number(u64::MAX)?,
            executable: fields.take()?,
            stdin: fields.take()?,
            arguments: fields.words()?,
            environment: fields.words()?,
            archive: fields.rest,
        })
    }
}

/// Hands a job's text, piece by piece, to `put`: arguments and environment are `words`, which
/// must have no NUL in them. The archive is to follow.
pub fn write<W: AsRef<[u8]>>(
    (runs, file_limit): (u32, u64),
    (executable, stdin): (&[u8], &[u8]),
    words: [&[W]; 2],
    mut put: impl FnMut(&[u8]),
) {
    let mut field = |bytes: &[u8]| {
        put(bytes);
        put(&[0]);
    };
    field(MAGIC);
    decimal(u64::from(runs), &mut field);
    decimal(file_limit, &mut field);
    field(executable);
    field(stdin);
    for words in words {
        decimal(words.len() as u64, &mut field);
        for word in words {
            field(word.as_ref());
        }
    }
}

/// The digits of a number.
fn decimal(number: u64, put: &mut impl FnMut(&[u8])) {
    let mut digits = [0; 20];
    let mut first = digits.len();
    let mut left = number;
    loop {
        first -= 1;
        digits[first] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            return put(&digits[first..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encode_job(runs: u32, words: &[Vec<u8>], variables: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        write((runs, 1 << 26), (b"/bin/ls", b""), [words, variables], |piece| {
            bytes.extend_from_slice(piece);
        });
        bytes
    }

    #[test]
    fn a_job_without_its_end_is_refused_and_what_follows_is_the_archive() {
        let whole = encode_job(3, &[b"ls".to_vec()], &[b"A=b".to_vec()]);
        assert!(Job::read(&whole).is_ok());
        for length in 0..whole.len() {
            assert!(Job::read(&whole[..length]).is_err(), "{length}");
        }
        let more = [&whole[..], b"x"].concat();
        assert_eq!(Job::read(&more).unwrap().archive, b"x");
        let other = [b"pathmeter program 1", &whole[19..]].concat();
        assert_eq!(Job::read(&other).unwrap_err(), NoJob { field: 0 });
    }

    fn words() -> impl Strategy<Value = Vec<Vec<u8>>> {
        prop::collection::vec(prop::collection::vec(1..=255_u8, 0..20), 0..10)
    }

    proptest! {
        #[test]
        fn a_job_is_read_back(
            runs in 0..1024_u32, arguments in words(), environment in words(),
        ) {
            let bytes = encode_job(runs, &arguments, &environment);
            let job = Job::read(&bytes).unwrap();
            prop_assert_eq!((job.runs, job.file_limit), (runs, 1 << 26));
            prop_assert_eq!((job.executable, job.stdin), (&b"/bin/ls\0"[..], &b"\0"[..]));
            let of = |words: Words<'_>| -> Vec<Vec<u8>> {
                words.iter().map(|word| word[..word.len() - 1].to_vec()).collect()
            };
            prop_assert_eq!(job.arguments.len(), arguments.len());
            prop_assert_eq!(of(job.arguments), arguments);
            prop_assert_eq!(of(job.environment), environment);
        }

        #[test]
        fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Job::read(&bytes);
            let _ = Job::read(&[&b"pathmeter program 1\0"[..], &bytes].concat());
        }
    }
}
