//! A kernel to measure: a file, or the lab kernel with its variants.
//!
//! Everything that differs between the two is answered here: hash, bytes, the guest's settings,
//! what of them a result's configuration shows, and what a failure means.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pathmeter_debuginfo::Measured;
use pathmeter_image::{Boot, ImageError, ImageFault, KernelImage};
use pathmeter_model::Subject;
use pathmeter_vm::{Condition, Cpu, Module, Progress, Settings, VmError, find_own_words};
use serde::{Deserialize, Serialize};

use crate::condition::under::Under;
use crate::digest::sha256;
use crate::error::MeasureError;
use crate::interrupt;
use crate::subject::debug::{Debug, SharedDebugInfo};
use crate::subject::lab::{Lab, LabComplaint, Vendor};
use crate::subject::modules::{Kernel, Modules};

/// A kernel, named by its hash, and the CPU that it runs on.
#[derive(Clone)]
pub struct Image {
    source: Source,
    /// The CPU, if that is not the session's.
    cpu: Option<Cpu>,
    /// What it is measured under, if the user named it.
    condition: Option<Condition>,
    /// What of its modules all its guests load, and where they are.
    modules: Modules,
    /// Where it is kept once it was unpacked, if it is to be booted more than once.
    unpacked: Option<Unpacked>,
    /// The words that its code looks for, once they were asked for: a plan asks for each condition.
    own_words: Arc<OnceLock<BTreeSet<String>>>,
    /// Its debug information, shared by all that it is measured as.
    debug: Arc<Debug>,
}

/// How a kernel was built, as far as its file says so.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Build {
    /// The build configuration, if the file or its package has it.
    pub config: Option<String>,
    /// The compiler, in its own words.
    pub compiler: Option<String>,
}

/// A kernel that was unpacked, shared by all that it is measured as.
type Unpacked = Arc<Mutex<Option<Arc<KernelImage>>>>;

/// What one kernel is compared with itself in.
#[derive(Clone, Copy)]
pub enum Pair<'a> {
    Cpus([&'a Cpu; 2]),
    Conditions([&'a Under; 2]),
}

impl Pair<'_> {
    /// The kernel in both.
    ///
    /// # Errors
    /// The kernel lacks a module that a condition names.
    pub fn of(self, image: &Image) -> Result<[Image; 2], MeasureError> {
        let image = image.clone().unpacked_once();
        match self {
            Self::Cpus(cpus) => Ok(cpus.map(|cpu| image.clone().on(cpu))),
            Self::Conditions([base, new]) => {
                let side = |under: &Under| {
                    let image = image.clone().under(&under.condition)?;
                    Ok::<_, MeasureError>(under.cpu.iter().fold(image, Image::on))
                };
                Ok([side(base)?, side(new)?])
            }
        }
    }
}

/// Where a kernel comes from.
#[derive(Clone)]
enum Source {
    /// A kernel file, a package or a build folder.
    File {
        /// As the user named it.
        path: PathBuf,
        /// SHA-256 of the file.
        sha256: String,
    },
    /// The lab kernel, which is bundled.
    Lab {
        /// As the user named it: `lab:…`.
        name: PathBuf,
        /// Its variants and its machine's CPUs.
        lab: Lab,
        /// SHA-256 of the kernel and its variants.
        sha256: String,
    },
}

impl Image {
    /// Finds the kernel that the user named, and hashes it.
    pub fn open(name: &Path) -> Result<Self, MeasureError> {
        let (source, debug) = (Source::open(name)?, Arc::default());
        let (modules, own_words) = (Modules::default(), Arc::default());
        Ok(Self { source, cpu: None, condition: None, modules, unpacked: None, own_words, debug })
    }

    /// The same, with the debug information of the vmlinux that the user named, if any.
    #[must_use]
    pub fn with_vmlinux(self, vmlinux: Option<&Path>) -> Self {
        let debug = vmlinux.map(|vmlinux| Arc::new(Debug::of(vmlinux)));
        Self { debug: debug.unwrap_or(self.debug), ..self }
    }

    /// The same on this CPU.
    #[must_use]
    pub fn on(self, cpu: &Cpu) -> Self {
        Self { cpu: Some(cpu.clone()), ..self }
    }

    /// The same, with these modules, or where its modules are.
    #[must_use]
    pub fn with_modules(self, modules: Modules) -> Self {
        Self { modules, ..self }
    }

    /// The kernel under this condition, with the modules that it needs for that, and with the words
    /// that its code looks for.
    ///
    /// # Errors
    /// The kernel lacks a module that is named.
    pub fn under(self, condition: &Condition) -> Result<Self, MeasureError> {
        let release = || self.load().ok().and_then(|kernel| kernel.release.clone());
        let kernel = Kernel { file: self.file(), release: &release };
        let mut condition = self.modules.condition(&kernel, condition)?;
        // A kernel that can't be read is reported where it is to be booted.
        if condition.has_other_words()
            && let Ok(words) = self.find_own_words()
        {
            condition = condition.for_kernel(words);
        }
        Ok(Self { condition: Some(condition), ..self })
    }

    /// The words of the command line that its code looks for.
    fn find_own_words(&self) -> Result<&BTreeSet<String>, ImageError> {
        if let Some(words) = self.own_words.get() {
            return Ok(words);
        }
        let kernel = self.load()?;
        let (Boot::Pvh(vmlinux) | Boot::BzImage { vmlinux, .. }) = &kernel.boot;
        Ok(self.own_words.get_or_init(|| find_own_words(vmlinux)))
    }

    /// The kernel whose symbols are where this one has them: under the default condition, which
    /// hides none, as settings move none but those of modules. Where a module lies depends on
    /// whether the kernel has freed the beginnings of those before it, which it does by and by
    /// (Linux `kernel/module/main.c`, `do_free_init`); so with modules it has the settings as well,
    /// but for those that hide addresses or that only runs of a program have.
    #[must_use]
    pub fn of_symbols(&self) -> Self {
        let condition = self.condition.as_ref().filter(|it| !it.modules().is_empty());
        let condition = condition.map(Condition::of_symbols).unwrap_or_default();
        Self { condition: Some(condition), ..self.clone() }
    }

    /// The modules that its guests load, in this order.
    pub fn guest_modules(&self) -> &[Module] {
        self.condition.as_ref().map_or(&[], Condition::modules)
    }

    /// The same, kept in memory once it was unpacked, with all that is made of it: for what boots a
    /// kernel again and again.
    #[must_use]
    pub fn unpacked_once(self) -> Self {
        let unpacked = self.unpacked.unwrap_or_default();
        Self { unpacked: Some(unpacked), ..self }
    }

    /// As the user named it.
    pub fn name(&self) -> &Path {
        match &self.source {
            Source::File { path: name, .. } | Source::Lab { name, .. } => name,
        }
    }

    /// SHA-256 of all that makes it this kernel.
    pub fn sha256(&self) -> &str {
        match &self.source {
            Source::File { sha256, .. } | Source::Lab { sha256, .. } => sha256,
        }
    }

    /// Its name in documents: of the file without its folders, with what it is measured on and
    /// under if the user named that.
    pub fn subject(&self) -> Subject {
        self.name_subject(self.cpu.as_ref(), self.condition.as_ref())
    }

    /// The same in the cells of plans, which have a CPU beside it, and whose default condition has
    /// no name.
    pub(crate) fn cell_subject(&self) -> Subject {
        self.name_subject(None, self.condition.as_ref().filter(|it| !it.is_default()))
    }

    fn name_subject(&self, cpu: Option<&Cpu>, condition: Option<&Condition>) -> Subject {
        let name = self.name().to_string_lossy();
        let subject = match &self.source {
            Source::File { .. } => Subject::kernel_image(&name),
            Source::Lab { .. } => Subject::lab(&name),
        };
        let on = cpu.map(|cpu| format!(" on {}", cpu.name()));
        let under = condition.map(|condition| format!(" under {condition}"));
        let parts = [Some(subject.name), on, under];
        Subject { name: parts.into_iter().flatten().collect(), ..subject }
    }

    /// How many CPUs its machine has.
    pub fn cpus(&self) -> u32 {
        match &self.source {
            Source::File { .. } => 1,
            Source::Lab { lab, .. } => lab.cpus,
        }
    }

    fn vendor(&self) -> Vendor {
        match &self.source {
            Source::File { .. } => Vendor::Usual,
            Source::Lab { lab, .. } => lab.vendor,
        }
    }

    /// Whether a measurement of `other` would be one of this.
    pub fn is_same_as(&self, other: &Self) -> bool {
        let machine = |image: &Self| (image.cpus(), image.vendor());
        let same = machine(self) == machine(other)
            && self.cpu == other.cpu
            && self.condition == other.condition;
        self.sha256() == other.sha256() && same
    }

    /// The guest's settings for it.
    pub fn settings(&self, usual: &Settings) -> Settings {
        let usual = self.with_cpu(usual);
        match &self.source {
            Source::File { .. } => usual,
            Source::Lab { lab, .. } => lab.settings(&usual),
        }
    }

    fn with_cpu(&self, usual: &Settings) -> Settings {
        let cpu = self.cpu.as_ref().unwrap_or(&usual.cpu).clone();
        let condition = self.condition.as_ref().unwrap_or(&usual.condition).clone();
        Settings { cpu, condition, ..usual.clone() }
    }

    /// The settings that a result's configuration shows: those that a kernel is measured under. The
    /// lab's variants are the kernel's own, as a file's bytes are.
    pub fn conditions(&self, usual: &Settings) -> Settings {
        let usual = self.with_cpu(usual);
        match &self.source {
            Source::File { .. } => usual,
            Source::Lab { lab, .. } => {
                Lab { variants: String::new(), ..lab.clone() }.settings(&usual)
            }
        }
    }

    /// The release that a result shows; `of_image` is the one in the image itself.
    pub fn release(&self, of_image: Option<String>) -> Option<String> {
        match &self.source {
            Source::File { .. } => of_image,
            Source::Lab { .. } => Some("lab".to_owned()),
        }
    }

    /// Its bytes, ready to boot.
    pub fn load(&self) -> Result<Arc<KernelImage>, ImageError> {
        let Some(unpacked) = &self.unpacked else { return self.unpack().map(Arc::new) };
        let mut unpacked = unpacked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = &*unpacked {
            return Ok(Arc::clone(kernel));
        }
        let kernel = Arc::new(self.unpack()?);
        *unpacked = Some(Arc::clone(&kernel));
        Ok(kernel)
    }

    /// Reads and unpacks it, unless a signal comes meanwhile.
    fn unpack(&self) -> Result<KernelImage, ImageError> {
        let Source::File { path, sha256 } = &self.source else {
            let boot = Boot::Pvh(pathmeter_lab::KERNEL.to_vec());
            let (release, banner, build_id, config) = (None, None, None, None);
            return Ok(KernelImage { release, banner, build_id, boot, config });
        };
        let (file, hash) = (path.clone(), sha256.clone());
        interrupt::abandoning(move || read_unchanged(&file, &hash)).unwrap_or_else(|_| {
            let fault = ImageFault::Read(io::ErrorKind::Interrupted.into());
            Err(ImageError { path: path.clone(), fault })
        })
    }

    /// How the kernel was built.
    pub fn build(&self) -> Result<Build, ImageError> {
        let kernel = self.load()?;
        Ok(Build { config: kernel.config.clone(), compiler: kernel.compiler() })
    }

    /// The vmlinux that lies beside it: that of a build folder.
    pub fn vmlinux(&self) -> Option<PathBuf> {
        match &self.source {
            Source::File { path, .. } => pathmeter_image::vmlinux_of(path),
            Source::Lab { .. } => None,
        }
    }

    /// Its file, if it is not the lab kernel.
    fn file(&self) -> Option<&Path> {
        match &self.source {
            Source::File { path, .. } => Some(path),
            Source::Lab { .. } => None,
        }
    }

    /// Whether the user named a vmlinux, or one lies beside it.
    pub(crate) fn has_vmlinux(&self) -> bool {
        self.debug.is_named() || self.vmlinux().is_some()
    }

    /// Its debug information, if there is any: of the vmlinux that the user named, or of the one in
    /// a build folder.
    ///
    /// # Errors
    /// The vmlinux that the user named can't be used.
    pub fn debug_info(
        &self,
        progress: &dyn Fn(Progress<'_>),
    ) -> Result<Option<SharedDebugInfo>, MeasureError> {
        let measured = || {
            let kernel = self.load().ok();
            kernel.map_or_else(Measured::default, |kernel| Measured {
                banner: kernel.banner.clone(),
                build_id: kernel.build_id.clone(),
            })
        };
        self.debug.read(|| self.vmlinux(), measured, progress).map_err(MeasureError::DebugInfo)
    }

    /// Why it could not be measured. The lab kernel checks its command line itself: what it prints
    /// about it is the user's mistake, or this machine's limit.
    pub fn failure(&self, error: impl Into<VmError>) -> MeasureError {
        let error = error.into();
        let Source::Lab { name, .. } = &self.source else {
            return MeasureError::measuring(self.name(), error);
        };
        match LabComplaint::found_in(&error) {
            Some(LabComplaint::CommandLine { message, valid }) => MeasureError::Request {
                message: format!("{}: {message}", name.display()),
                help: valid,
            },
            Some(LabComplaint::Unsupported { reason }) => {
                MeasureError::UnsupportedHere { subject: name.clone(), reason }
            }
            None => MeasureError::measuring(name, error),
        }
    }
}

/// Reads and unpacks a kernel, and makes sure that its file is still the one that was hashed: a
/// build may be writing it, and its numbers must not be kept under another's name.
fn read_unchanged(path: &Path, sha256: &str) -> Result<KernelImage, ImageError> {
    let kernel = pathmeter_image::load(path)?;
    if pathmeter_image::hash_file(path)? == sha256 {
        return Ok(kernel);
    }
    let fault = ImageFault::Malformed("it changed while it was read");
    Err(ImageError { path: path.to_owned(), fault })
}

impl Source {
    /// Finds the kernel that the user named, and hashes it.
    fn open(name: &Path) -> Result<Self, MeasureError> {
        if let Some(lab) = Lab::asked_by(name)? {
            lab.refuse_unknown(name)?;
            let sha256 = sha256(&[pathmeter_lab::KERNEL, b"\0", lab.variants.as_bytes()].concat());
            return Ok(Self::Lab { name: name.to_owned(), lab, sha256 });
        }
        Ok(Self::File { path: name.to_owned(), sha256: pathmeter_image::hash_file(name)? })
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
    fn a_kernel_is_unpacked_once_for_all_that_it_is_measured_as() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), pathmeter_lab::KERNEL).unwrap();
        let image = Image::open(file.path()).unwrap().unpacked_once();
        let other = image.clone().under(&Condition::default()).unwrap();
        let kernel = image.load().unwrap();
        std::fs::write(file.path(), b"another build").unwrap();
        assert!(Arc::ptr_eq(&kernel, &other.load().unwrap()));
    }

    #[test]
    fn a_kernel_is_searched_once_for_its_own_words_whatever_it_is_measured_as() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), pathmeter_lab::KERNEL).unwrap();
        let image = Image::open(file.path()).unwrap();
        let condition = Under::parse("boot:number=1").unwrap().condition;
        image.clone().under(&condition).unwrap();
        std::fs::remove_file(file.path()).unwrap();
        assert!(image.find_own_words().is_ok(), "it was read again");
    }

    #[test]
    fn a_cell_is_named_without_its_cpu_and_without_the_default_condition() {
        let lab = Image::open(Path::new("lab")).unwrap();
        let on = lab.clone().on(&Cpu::from_name("zen2"));
        let default = on.clone().under(&Condition::default()).unwrap();
        assert_eq!(default.subject().name, "lab on zen2 under default");
        for image in [&lab, &on, &default] {
            assert_eq!(image.cell_subject(), lab.subject());
        }
        let under = on.under(&Under::parse("landlock:1").unwrap().condition).unwrap();
        assert_eq!(under.cell_subject().name, "lab under landlock:1");
    }

    #[test]
    fn a_condition_with_slashes_does_not_hide_the_kernel() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("vmlinuz");
        std::fs::write(&file, pathmeter_lab::KERNEL).unwrap();
        let filter = folder.path().join("deny.json");
        std::fs::write(&filter, r#"{"defaultAction": "SCMP_ACT_ALLOW"}"#).unwrap();
        let text = format!("sysctl:net/core/x=1 seccomp:{}", filter.display());
        let under = Under::parse(&text).unwrap();
        let subject = Image::open(&file).unwrap().under(&under.condition).unwrap().subject();
        assert_eq!(subject.name, "vmlinuz under sysctl:net/core/x=1 seccomp:deny.json");
    }

    #[test]
    fn variants_are_the_kernels_and_cpus_are_the_machines() {
        let open = |name| Image::open(Path::new(name)).unwrap();
        let (plain, lazy) = (open("lab"), open("lab:iobitmap=lazy"));
        let two = open("lab:cpus=2");
        let amd = open("lab:vendor=amd");
        assert!(!plain.is_same_as(&lazy) && !plain.is_same_as(&two) && !plain.is_same_as(&amd));
        assert!(plain.is_same_as(&open("lab:")));
        let usual = Settings::default();
        assert_eq!(lazy.settings(&usual).append, "iobitmap=lazy");
        assert_eq!(lazy.conditions(&usual), plain.conditions(&usual));
        assert_eq!(two.conditions(&usual).cpus, 2);
        assert!(amd.conditions(&usual).cpu.text().ends_with(",vendor=AuthenticAMD"));
    }
}
