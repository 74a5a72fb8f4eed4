//! Kernels that go by a name instead of a file: `apt:PACKAGE`, a package of the distribution's, and
//! `running`, the image of the kernel that this machine runs.
//!
//! Contract: pathmeter opens no connection. apt-get(8) of this machine says which file the package
//! is and fetches it, from its own sources and by its own lists (apt-secure(8)); `APT_CONFIG` names
//! others. A package is kept beside the cache's entries by the SHA-256 of apt's lists, is fetched
//! once, and is never removed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pathmeter_image::ImageFault;
use pathmeter_plan::FileStep;
use pathmeter_vm::Cache;

use crate::digest::sha256;
use crate::error::MeasureError;

/// What begins the name of a package.
const APT: &str = "apt:";
const RUNNING: &str = "running";
/// Largest package that is read, in bytes.
const MAX_PACKAGE: u64 = 4 << 30;
/// Largest metapackage that is read, in bytes.
const MOST_OF_META: u64 = 1 << 20;
/// Packages of which each leads to the next, at most: a distribution's name, a release, its files.
const MOST_STEPS: usize = 3;

/// Whether this names a kernel. A file of such a name is meant with a folder: `./running`.
pub fn is_named(subject: &Path) -> bool {
    subject == Path::new(RUNNING) || package(subject).is_some()
}

/// The file of the kernel that goes by this name. `tell` is told before a package is fetched.
///
/// # Errors
/// The machine has no apt-get(8), or that knows no such package or can't fetch it; the running
/// kernel's image is not there, or this user may not read it.
pub fn file(subject: &Path, tell: impl Fn(&str)) -> Result<PathBuf, MeasureError> {
    match package(subject) {
        Some(package) => with_kernel(package, &tell),
        None => running(),
    }
}

/// The file of this package, or of the one that it leads to: that has the kernel of a metapackage
/// such as `linux-image-cloud-amd64`.
fn with_kernel(package: &str, tell: &dyn Fn(&str)) -> Result<PathBuf, MeasureError> {
    let mut package = package.to_owned();
    for _ in 0..MOST_STEPS {
        let file = Apt { package: &package }.file(tell)?;
        let Some(holder) = holder(&file) else { return Ok(file) };
        tell(&format!("{APT}{package}: the kernel is in {holder}"));
        package = holder;
    }
    Apt { package: &package }.file(tell)
}

/// The package that has the kernel that this one lacks, as far as it says so. Only a small one is
/// looked into: a kernel has some megabytes, and what leads to another package has hardly any.
fn holder(file: &Path) -> Option<String> {
    if file.metadata().ok()?.len() > MOST_OF_META {
        return None;
    }
    match pathmeter_image::load(file).err()?.fault {
        ImageFault::NoKernelInPackage { holder } => holder,
        _ => None,
    }
}

fn package(subject: &Path) -> Option<&str> {
    subject.to_str()?.strip_prefix(APT)
}

/// The image of the running kernel, where distributions put it.
fn running() -> Result<PathBuf, MeasureError> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let image = PathBuf::from(format!("/boot/vmlinuz-{}", release.trim()));
    match fs::File::open(&image) {
        Ok(_) => Ok(image),
        Err(error) => Err(MeasureError::Request {
            message: format!("{RUNNING}: {}: {error}", image.display()),
            help: match error.kind() {
                io::ErrorKind::PermissionDenied => "become root, or copy the image".to_owned(),
                _ => format!(
                    "the image of this machine's kernel, {}, is not where distributions put it: \
                     name its file or its package",
                    release.trim()
                ),
            },
        }),
    }
}

/// A package, as apt-get(8) takes it: with `=VERSION` or `/RELEASE`, if that is told.
struct Apt<'a> {
    package: &'a str,
}

/// What apt's lists say of a package's file.
#[derive(Debug, PartialEq, Eq)]
struct Listed<'a> {
    file: &'a str,
    sha256: &'a str,
}

impl Apt<'_> {
    fn file(&self, tell: &dyn Fn(&str)) -> Result<PathBuf, MeasureError> {
        let said = self.get(&["--print-uris"], Path::new("."))?;
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        let listed = said.lines().find_map(Listed::read);
        let listed =
            listed.ok_or_else(|| self.explain_failure("apt-get names no file with a SHA-256"))?;
        let packages = Cache::location().map(|cache| cache.join("packages"));
        let packages = packages.ok_or_else(|| {
            self.explain_failure("there is no folder to keep it in: set HOME or XDG_CACHE_HOME")
        })?;
        let place = packages.join(listed.sha256).join(listed.file);
        if !place.is_file() {
            tell(&format!("{APT}{}: fetching {}", self.package, listed.file));
            self.fetch(&listed, &packages, &place)?;
        }
        Ok(place)
    }

    /// Fetches it beside its place, and puts it there if it is the one that is listed.
    fn fetch(
        &self,
        listed: &Listed<'_>,
        packages: &Path,
        place: &Path,
    ) -> Result<(), MeasureError> {
        let kept =
            |error| MeasureError::File { doing: FileStep::Writing, path: place.to_owned(), error };
        let folder = place.parent().unwrap_or(packages);
        fs::create_dir_all(folder).map_err(kept)?;
        let beside = tempfile::tempdir_in(packages).map_err(kept)?;
        self.get(&[], beside.path())?;
        let fetched = beside.path().join(listed.file);
        let size = fetched.metadata().map_err(kept)?.len();
        let bytes =
            if size > MAX_PACKAGE { Vec::new() } else { fs::read(&fetched).map_err(kept)? };
        if sha256(&bytes) != listed.sha256 {
            return Err(
                self.explain_failure("the file that was fetched is not the one that apt lists")
            );
        }
        fs::File::open(&fetched).and_then(|file| file.sync_all()).map_err(kept)?;
        fs::rename(&fetched, place).map_err(kept)
    }

    /// `apt-get download`, in this folder.
    fn get(&self, options: &[&str], folder: &Path) -> Result<Output, MeasureError> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "+-._=~:/".contains(c);
        if !self.package.starts_with(|c: char| c.is_ascii_alphanumeric())
            || !self.package.chars().all(allowed)
        {
            return Err(self.explain_failure("no package has such a name"));
        }
        // As root apt drops to a user who may not write here.
        let own = ["-q", "-o", "APT::Sandbox::User=root", "download"];
        let command = Command::new("apt-get")
            .args(own)
            .args(options)
            .arg(self.package)
            .current_dir(folder)
            .env("LC_ALL", "C")
            .output();
        let ran = command.map_err(|error| self.explain_failure(&format!("apt-get: {error}")))?;
        if ran.status.success() {
            return Ok(ran);
        }
        let said = String::from_utf8_lossy(&ran.stderr);
        let error = said.lines().find_map(|line| line.strip_prefix("E: "));
        Err(self.explain_failure(&format!(
            "apt-get: {}",
            error.unwrap_or("it failed without a message")
        )))
    }

    fn explain_failure(&self, why: &str) -> MeasureError {
        MeasureError::Request {
            message: format!("{APT}{}: {why}", self.package),
            help: "`apt-get update` brings apt's lists up to date, and `apt-cache search \
                   linux-image` prints the kernels in them; APT_CONFIG names other sources"
                .to_owned(),
        }
    }
}

impl<'a> Listed<'a> {
    /// Reads `'URI' FILE SIZE SHA256:HASH`. Both words become names of files, so no other
    /// characters are taken than names of packages have.
    fn read(line: &'a str) -> Option<Self> {
        let mut words = line.strip_prefix('\'')?.split_once("' ")?.1.split(' ');
        let (file, sha256) = (words.next()?, words.nth(1)?.strip_prefix("SHA256:")?);
        let is_hash = sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
        let allowed = |c: char| c.is_ascii_alphanumeric() || "+-._~%:".contains(c);
        let is_deb = Path::new(file).extension().is_some_and(|extension| extension == "deb");
        (is_hash && is_deb && file.chars().all(allowed)).then_some(Self { file, sha256 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_goes_by_its_name_and_a_file_by_its_folder() {
        let is_this = |name| super::is_named(Path::new(name));
        assert!(is_this("apt:linux-image-amd64") && is_this("running"));
        assert!(!is_this("./running") && !is_this("./apt:x") && !is_this("running2"));
    }

    #[test]
    fn what_apt_lists_is_read_and_nothing_that_leads_elsewhere() {
        let hash = "0123456789abcdef".repeat(4);
        let line = |file: &str, hash: &str| format!("'http://a/b c.deb' {file} 26 SHA256:{hash}");
        let good = line("linux_6.1+deb12-1_amd64.deb", &hash);
        let listed = Listed { file: "linux_6.1+deb12-1_amd64.deb", sha256: &hash };
        assert_eq!(Listed::read(&good), Some(listed));
        for bad in [
            line("../x.deb", &hash),
            line("a/b.deb", &hash),
            line(".deb", &hash),
            line("x.rpm", &hash),
            line("x.deb", &hash[1..]),
            line("x.deb", &format!("{}/", &hash[1..])),
            "E: no such package".to_owned(),
            "'http://a' x.deb 26 MD5Sum:00".to_owned(),
            String::new(),
        ] {
            assert_eq!(Listed::read(&bad), None, "{bad}");
        }
    }
}
