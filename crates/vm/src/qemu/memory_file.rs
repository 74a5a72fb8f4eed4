//! Files without a name, for what a QEMU process is handed.

use std::fs::File;
use std::io::Write;

use rustix::fs::{MemfdFlags, memfd_create};

use crate::VmError;

/// A file in memory that holds `bytes`.
pub fn memory_file(name: &str, bytes: &[u8]) -> Result<File, VmError> {
    let failed = |source| VmError::Host { what: "making a file in memory", source };
    let made = memfd_create(name, MemfdFlags::CLOEXEC);
    let mut file = made.map(File::from).map_err(|error| failed(error.into()))?;
    file.write_all(bytes).map_err(failed)?;
    Ok(file)
}
