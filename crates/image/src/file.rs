//! Opening, bounding and hashing the file as it lies on disk.
//!
//! Contract: only regular files are opened (opening a pipe could block for ever), an empty one is
//! refused, and no more is read than the length seen at opening.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::ImageFault;
use crate::limits::MAX_FILE_BYTES;

/// Large enough that system calls don't show, small enough to stay in the L2 cache while hashed.
const HASH_CHUNK_BYTES: usize = 256 << 10;

/// An open regular file that is not empty.
pub(crate) struct Source {
    file: File,
    /// Length when it was opened.
    pub(crate) bytes: u64,
}

impl Source {
    pub(crate) fn open(path: &Path) -> Result<Self, ImageFault> {
        if !fs::metadata(path).map_err(ImageFault::Open)?.is_file() {
            return Err(ImageFault::NotAFile);
        }
        let file = File::open(path).map_err(ImageFault::Open)?;
        let bytes = file.metadata().map_err(ImageFault::Open)?.len();
        if bytes == 0 { Err(ImageFault::Empty) } else { Ok(Self { file, bytes }) }
    }

    /// The file's first bytes: so many, or all. Leaves the position at the start.
    pub(crate) fn head(&mut self, bytes: usize) -> Result<Vec<u8>, ImageFault> {
        let mut head = Vec::with_capacity(bytes);
        (&self.file).take(bytes as u64).read_to_end(&mut head).map_err(ImageFault::Read)?;
        self.file.seek(SeekFrom::Start(0)).map_err(ImageFault::Read)?;
        Ok(head)
    }

    /// Refuses what is too large for a kernel.
    pub(crate) fn check_size(&self) -> Result<(), ImageFault> {
        const CURE: &str = "strip its debug information (strip --strip-debug vmlinux)";
        if self.bytes > MAX_FILE_BYTES {
            return Err(too_large("the file", MAX_FILE_BYTES, CURE));
        }
        Ok(())
    }

    /// The whole file, which must be small enough for a kernel.
    pub(crate) fn read_all(self) -> Result<Vec<u8>, ImageFault> {
        self.check_size()?;
        read_exactly(self.file, self.bytes, "the file").map_err(|error| match error {
            ReadFault::Io(error) => ImageFault::Read(error),
            ReadFault::Other(fault) => fault,
        })
    }

    /// The file as a buffered stream that can be moved forward.
    pub(crate) fn into_reader(self) -> BufReader<File> {
        BufReader::with_capacity(HASH_CHUNK_BYTES, self.file)
    }

    /// Its SHA-256 in lower-case hexadecimal.
    pub(crate) fn hash(mut self) -> Result<String, ImageFault> {
        let mut state = Sha256::new();
        let mut chunk = vec![0; HASH_CHUNK_BYTES];
        loop {
            match self.file.read(&mut chunk) {
                Ok(0) => return Ok(data_encoding::HEXLOWER.encode(&state.finalize())),
                Ok(count) => state.update(&chunk[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(ImageFault::Read(error)),
            }
        }
    }
}

/// Why [`read_exactly`] failed: the stream itself, or what it held.
pub(crate) enum ReadFault {
    Io(io::Error),
    Other(ImageFault),
}

impl From<io::Error> for ReadFault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Reads `bytes` bytes of `part`; fewer are `Truncated`. The caller has bounded `bytes`.
pub(crate) fn read_exactly(
    input: impl Read,
    bytes: u64,
    part: &'static str,
) -> Result<Vec<u8>, ReadFault> {
    let mut out = reserve(part, bytes).map_err(ReadFault::Other)?;
    input.take(bytes).read_to_end(&mut out).map_err(ReadFault::Io)?;
    ImageFault::unless_fits(part, bytes, out.len() as u64).map_err(ReadFault::Other)?;
    Ok(out)
}

/// An empty vector with room for `bytes` and the byte by which a reader finds the end; a machine
/// without the memory is told so instead of being aborted.
pub(crate) fn reserve(part: &'static str, bytes: u64) -> Result<Vec<u8>, ImageFault> {
    let mut out = Vec::new();
    let room = usize::try_from(bytes).unwrap_or(usize::MAX).saturating_add(1);
    match out.try_reserve_exact(room) {
        Ok(()) => Ok(out),
        Err(_) => Err(ImageFault::NoMemory { part, needs_mib: bytes >> 20 }),
    }
}

/// An [`ImageFault::TooLarge`] for a bound given in bytes.
pub(crate) fn too_large(part: &'static str, limit_bytes: u64, cure: &'static str) -> ImageFault {
    ImageFault::TooLarge { part, limit_mib: limit_bytes >> 20, cure }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_sha_256_of_the_file() {
        let hash = |bytes: &[u8]| {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), bytes).unwrap();
            Source::open(file.path()).unwrap().hash().unwrap()
        };
        // FIPS 180-4's example, and a file longer than one read.
        assert_eq!(
            hash(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(
            hash(&vec![b'a'; 1_000_000]),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        );
    }

    #[test]
    fn a_file_that_fails_while_read_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let file = File::create(folder.path().join("write-only")).unwrap();
        let mut source = Source { file, bytes: 1 };
        assert!(matches!(source.head(1), Err(ImageFault::Read(_))));
        assert!(matches!(source.hash(), Err(ImageFault::Read(_))));
    }

    #[test]
    fn a_file_that_shrinks_while_read_is_truncated() {
        let result = read_exactly(&b"abc"[..], 4, "it");
        let Err(ReadFault::Other(fault)) = result else { panic!("not a fault of the data") };
        assert!(matches!(fault, ImageFault::Truncated { part: "it", needs: 4, has: 3 }));
    }

    #[test]
    fn memory_that_cannot_be_had_is_a_fault() {
        let fault = reserve("it", u64::MAX).unwrap_err();
        assert!(matches!(fault, ImageFault::NoMemory { part: "it", .. }), "{fault:?}");
    }
}
