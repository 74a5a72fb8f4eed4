//! Modules of the kernel's that a guest loads before its condition is made.

use std::sync::Arc;

/// A module, ready to be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its name, as `lsmod` prints it.
    pub name: String,
    /// The module's ELF file, already unpacked.
    pub bytes: Arc<[u8]>,
    /// Whether it need not be loaded, and may refuse.
    pub optional: bool,
}

/// Where the guest has the files of modules.
pub(crate) const FOLDER: &str = ".modules";

impl Module {
    /// Its file in the guest.
    pub(crate) fn file(&self) -> String {
        format!("{FOLDER}/{}.ko", self.name)
    }
}
