//! What the targets share. Each is a program in `bin/`, of a few lines: it hands libFuzzer's bytes
//! to one reader, which must not panic, and checks what must be true of whatever comes out.

use std::{
    fs::File,
    io::{self, Write as _},
    os::fd::AsRawFd as _,
    path::PathBuf,
};

use rustix::fs::{MemfdFlags, memfd_create};

/// A file in memory, for readers that open files by their path.
pub struct InMemory(File);

impl InMemory {
    /// A file that holds `bytes`.
    ///
    /// # Errors
    /// The host is out of memory or descriptors.
    pub fn new(bytes: &[u8]) -> io::Result<Self> {
        let mut file = File::from(memfd_create("fuzz", MemfdFlags::CLOEXEC)?);
        file.write_all(bytes)?;
        Ok(Self(file))
    }

    /// Its path, good while this lives.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }
}
