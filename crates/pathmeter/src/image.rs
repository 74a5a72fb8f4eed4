//! A kernel to measure: a file, or the lab kernel with its variants.
//!
//! Everything that differs between the two is answered here: hash, bytes, the guest's settings,
//! what of them a result's configuration shows, and what a failure means.

use std::path::{Path, PathBuf};

use pathmeter_image::{Boot, ImageError, ImageFault, KernelImage};
use pathmeter_model::Subject;
use pathmeter_vm::{Settings, VmError};

use crate::failure::Failure;
use crate::lab::{Lab, LabComplaint, Vendor};
use crate::results::sha256;

/// A kernel, named by its hash.
pub(crate) enum Image {
    /// A kernel file, a package or a build folder.
    File {
        /// As the user named it.
        path: PathBuf,
        /// SHA-256 of the file.
        sha256: String,
    },
    /// The bundled lab kernel.
    Lab {
        /// As the user named it: `lab:…`.
        name: PathBuf,
        /// Its variants and CPUs.
        lab: Lab,
        /// SHA-256 of the kernel and its variants.
        sha256: String,
    },
}

impl Image {
    /// Finds the kernel that the user named, and hashes it.
    pub(crate) fn open(name: &Path) -> Result<Self, Failure> {
        if let Some(lab) = Lab::asked_by(name)? {
            let sha256 = sha256(&[pathmeter_lab::KERNEL, b"\0", lab.variants.as_bytes()].concat());
            return Ok(Self::Lab { name: name.to_owned(), lab, sha256 });
        }
        Ok(Self::File { path: name.to_owned(), sha256: pathmeter_image::hash_file(name)? })
    }

    /// As the user named it.
    pub(crate) fn name(&self) -> &Path {
        match self {
            Self::File { path: name, .. } | Self::Lab { name, .. } => name,
        }
    }

    /// SHA-256 of all that makes it this kernel.
    pub(crate) fn sha256(&self) -> &str {
        match self {
            Self::File { sha256, .. } | Self::Lab { sha256, .. } => sha256,
        }
    }

    /// Its name in documents.
    pub(crate) fn subject(&self) -> Subject {
        let name = self.name().to_string_lossy();
        match self {
            Self::File { .. } => Subject::kernel_image(&name),
            Self::Lab { .. } => Subject::lab(&name),
        }
    }

    /// CPUs of its machine.
    pub(crate) fn cpus(&self) -> u32 {
        match self {
            Self::File { .. } => 1,
            Self::Lab { lab, .. } => lab.cpus,
        }
    }

    /// Whose CPUs they are.
    fn vendor(&self) -> Vendor {
        match self {
            Self::File { .. } => Vendor::Usual,
            Self::Lab { lab, .. } => lab.vendor,
        }
    }

    /// Whether a measurement of `other` would be one of this.
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        let machine = |image: &Self| (image.cpus(), image.vendor());
        self.sha256() == other.sha256() && machine(self) == machine(other)
    }

    /// The guest's settings for it.
    pub(crate) fn settings(&self, usual: &Settings) -> Settings {
        match self {
            Self::File { .. } => usual.clone(),
            Self::Lab { lab, .. } => lab.settings(usual),
        }
    }

    /// The settings that a result's configuration shows: those that a kernel is measured under. The
    /// lab's variants are the kernel's own, as a file's bytes are.
    pub(crate) fn conditions(&self, usual: &Settings) -> Settings {
        match self {
            Self::File { .. } => usual.clone(),
            Self::Lab { lab, .. } => Lab { variants: String::new(), ..lab.clone() }.settings(usual),
        }
    }

    /// The release that a result shows; `of_image` is the one in the image itself.
    pub(crate) fn release(&self, of_image: Option<String>) -> Option<String> {
        match self {
            Self::File { .. } => of_image,
            Self::Lab { .. } => Some("lab".to_owned()),
        }
    }

    /// Its bytes, ready to boot. A file is made sure to be still the one that was hashed: a build
    /// may be writing it, and its numbers must not be kept under another's name.
    pub(crate) fn load(&self) -> Result<KernelImage, ImageError> {
        let Self::File { path, sha256 } = self else {
            let boot = Boot::Pvh(pathmeter_lab::KERNEL.to_vec());
            return Ok(KernelImage { boot, release: None, banner: None, config: None });
        };
        let kernel = pathmeter_image::load(path)?;
        if pathmeter_image::hash_file(path)? == *sha256 {
            return Ok(kernel);
        }
        let fault = ImageFault::Malformed("it changed while it was read");
        Err(ImageError { path: path.clone(), fault })
    }

    /// The vmlinux that lies beside it: that of a build folder.
    pub(crate) fn vmlinux(&self) -> Option<PathBuf> {
        match self {
            Self::File { path, .. } => pathmeter_image::vmlinux_of(path),
            Self::Lab { .. } => None,
        }
    }

    /// Why it could not be measured. The lab kernel checks its command line itself: what it prints
    /// about it is the user's mistake, or this machine's limit.
    pub(crate) fn failure(&self, error: VmError) -> Failure {
        let Self::Lab { name, .. } = self else { return Failure::measuring(self.name(), error) };
        match LabComplaint::found_in(&error) {
            Some(LabComplaint::CommandLine { message, valid }) => {
                Failure::Usage { message: format!("{}: {message}", name.display()), help: valid }
            }
            Some(LabComplaint::Unsupported { reason }) => {
                Failure::UnsupportedHere { subject: name.clone(), reason }
            }
            None => Failure::measuring(name, error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_that_changed_is_not_measured() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), pathmeter_lab::KERNEL).unwrap();
        let image = Image::open(file.path()).unwrap();
        assert!(image.load().is_ok());
        std::fs::write(file.path(), [pathmeter_lab::KERNEL, b"\0"].concat()).unwrap();
        assert!(image.load().unwrap_err().to_string().contains("changed while it was read"));
    }

    #[test]
    fn variants_are_the_kernels_and_cpus_are_the_machines() {
        let open = |name| Image::open(Path::new(name)).unwrap();
        let (plain, lazy) = (open("lab"), open("lab:iobitmap=lazy"));
        let two = open("lab:cpus=2");
        let intel = open("lab:vendor=intel");
        assert!(!plain.is_same_as(&lazy) && !plain.is_same_as(&two) && !plain.is_same_as(&intel));
        assert!(plain.is_same_as(&open("lab:")));
        let usual = Settings::default();
        assert_eq!(lazy.settings(&usual).append, "iobitmap=lazy");
        assert_eq!(lazy.conditions(&usual), plain.conditions(&usual));
        assert_eq!(two.conditions(&usual).cpus, 2);
        assert!(intel.conditions(&usual).cpu.ends_with("vendor=GenuineIntel"));
    }
}
