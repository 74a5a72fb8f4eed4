//! A folder of kernels that were built from commits, by whichever machine came to them first.
//!
//! Contract: a kernel appears whole and is never replaced, since plans may have its hash already.
//! What was built in another way lies in another folder. A commit that can't be built has the
//! output of its build instead, and is not built again while that lies there.

use std::fs;
use std::path::{Path, PathBuf};

use crate::file::Pending;
use crate::file_step::FileStep;
use crate::folder::FolderError;
use crate::id::sha256;

/// Digits of the name of a way to build.
const DIGITS: usize = 8;

/// The kernels of one way to build.
pub struct KernelFolder {
    path: PathBuf,
}

/// What is known of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelState {
    Built,
    /// Its kernel can't be built.
    Failed,
    /// Nothing is known of it.
    Missing,
}

impl KernelFolder {
    /// The folder within `kernels` for what this command leaves under this name.
    pub fn of(kernels: &Path, build: &str, image: &str) -> Self {
        let way = sha256(format!("{build}\0{image}").as_bytes());
        Self { path: kernels.join(&way[..DIGITS]) }
    }

    /// Where the kernel of this name is, or would be.
    pub fn kernel(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Where the output of a build that failed is, or would be.
    pub fn log(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}.log"))
    }

    /// What is known of the commit of this name.
    pub fn state(&self, name: &str) -> KernelState {
        if self.kernel(name).is_file() {
            KernelState::Built
        } else if self.log(name).is_file() {
            KernelState::Failed
        } else {
            KernelState::Missing
        }
    }

    /// Makes it, if it is not there.
    ///
    /// # Errors
    /// It can't be made.
    pub fn create(&self) -> Result<(), FolderError> {
        let path = &self.path;
        fs::create_dir_all(path).map_err(|error| FolderError {
            doing: FileStep::Making,
            path: path.clone(),
            error,
        })
    }

    /// Keeps a kernel; false if one is there already, which stays.
    ///
    /// # Errors
    /// It can't be written.
    pub fn keep(&self, name: &str, kernel: &[u8]) -> Result<bool, FolderError> {
        self.put(self.kernel(name), kernel)
    }

    /// Keeps the output of a build that failed.
    ///
    /// # Errors
    /// It can't be written.
    pub fn fail(&self, name: &str, output: &[u8]) -> Result<(), FolderError> {
        self.put(self.log(name), output).map(drop)
    }

    fn put(&self, path: PathBuf, bytes: &[u8]) -> Result<bool, FolderError> {
        let put = || {
            let pending = Pending::new(&self.path, bytes)?;
            pending.file().sync_all()?;
            pending.publish(&path)
        };
        put().map_err(|error| FolderError { doing: FileStep::Writing, path, error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_never_replaced_and_one_that_was_built_otherwise_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let kernels = KernelFolder::of(folder.path(), "make", "bzImage");
        assert_eq!(kernels.state("a"), KernelState::Missing);
        kernels.create().unwrap();
        kernels.fail("a", b"no compiler").unwrap();
        assert_eq!(kernels.state("a"), KernelState::Failed);
        assert!(kernels.keep("a", b"one").unwrap() && !kernels.keep("a", b"two").unwrap());
        assert_eq!(kernels.state("a"), KernelState::Built);
        assert_eq!(fs::read(kernels.kernel("a")).unwrap(), b"one");
        for other in [("make -s", "bzImage"), ("make", "vmlinux")] {
            let other = KernelFolder::of(folder.path(), other.0, other.1);
            assert_eq!(other.state("a"), KernelState::Missing);
        }
    }
}
