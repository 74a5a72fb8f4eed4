//! Files in memory, by which a process hands bytes to those that it starts.

use std::fs::File;
use std::io::{self, Write};

use rustix::fs::{MemfdFlags, memfd_create};

/// A file in memory with this content. It is not closed on execution: programs open it by its
/// number.
pub(crate) fn memory_file(content: &[u8]) -> Result<File, io::Error> {
    let mut file = File::from(memfd_create("pathmeter", MemfdFlags::empty())?);
    file.write_all(content)?;
    Ok(file)
}
