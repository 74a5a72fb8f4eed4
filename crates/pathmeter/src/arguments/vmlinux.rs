//! Debug information of kernels.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use pathmeter_measure::subject::image::Image;

/// The vmlinux of each kernel.
#[derive(Debug, Default, Args)]
pub(crate) struct VmlinuxArgs {
    /// The kernel's vmlinux with debug information: shows source lines, and, if there is one of
    /// each kernel, inlined functions
    ///
    /// For a build folder, the vmlinux in it is used without this option.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) vmlinux: Option<PathBuf>,
    /// NEW's vmlinux with debug information
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "new")]
    pub(crate) new_vmlinux: Option<PathBuf>,
}

impl VmlinuxArgs {
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.vmlinux.iter().chain(&self.new_vmlinux).map(PathBuf::as_path)
    }

    /// The kernels with what is named for them. Two that are one kernel have one vmlinux.
    pub(crate) fn of(&self, images: Vec<Image>, is_one: bool) -> Vec<Image> {
        let base = self.vmlinux.as_deref();
        let new = if is_one { base } else { self.new_vmlinux.as_deref() };
        let named = [base, new].into_iter().chain(std::iter::repeat(None));
        images.into_iter().zip(named).map(|(image, named)| image.with_vmlinux(named)).collect()
    }
}
