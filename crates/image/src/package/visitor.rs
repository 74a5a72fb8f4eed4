//! What is done with the files of a package's archive, whatever its format.

use std::io::Read;

use crate::file::ReadFault;

/// What is done with the files of an archive.
pub(super) trait Visitor {
    /// Takes in one regular file of `size` bytes; whether the search is over.
    fn file(&mut self, path: &[u8], size: u64, data: &mut dyn Read) -> Result<bool, ReadFault>;
}
