//! Exact measurements: kernel images to result documents, by way of the cache.
//!
//! Contract: a result from the cache and one just measured are the same document, but for the
//! subject's name, which is always the one given now.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use pathmeter_catalogue::{self as catalogue, Suite, WARMUP};
use pathmeter_image::{Boot, Fault, ImageError, KernelImage};
use pathmeter_model::{
    Check, Identity, MAX_SAMPLE, Measurement, PathResult, ResultSchema, Subject, Unit,
};
use pathmeter_vm::{
    AGENT, Cache, Initramfs, Interrupt, Kernel, PathOutcome, Plan, Progress, Qemu, Recorded,
    Recording, Request, Run, Settings, Status, VmError,
};

use crate::cli::GuestArgs;
use crate::failure::Failure;
use crate::lab::{self, Lab};
use crate::paths::unit;
use crate::results::{self, Found, Key, sha256};

/// A kernel image, named by its hash.
#[derive(Default)]
pub(crate) struct Image {
    /// The file, or the lab kernel, as the user named it.
    pub(crate) path: PathBuf,
    /// SHA-256 of the file; of the lab kernel, of it and its policies.
    pub(crate) sha256: String,
    /// How the lab kernel is asked for, if it is the one.
    pub(crate) lab: Option<Lab>,
}

impl Image {
    /// The image's name in documents.
    pub(crate) fn subject(&self) -> Subject {
        let name = self.path.to_string_lossy();
        match self.lab {
            Some(_) => Subject::lab(&name),
            None => Subject::kernel_image(&name),
        }
    }
}

/// Everything that a measurement needs but the kernel.
pub(crate) struct Exact {
    qemu: Qemu,
    cache: Option<Cache>,
    settings: Settings,
    starts: u32,
    limit: Duration,
    interrupt: Interrupt,
    agent_sha256: String,
    initramfs_sha256: String,
}

/// Finds QEMU and hashes the images, all at once: it is what a run from the cache waits for.
///
/// # Errors
/// All that are found, of QEMU, the cache and the images.
pub(crate) fn prepare<const N: usize>(
    args: &GuestArgs,
    interrupt: Interrupt,
    paths: [&Path; N],
) -> Result<(Exact, [Image; N]), Failure> {
    let (exact, images) = thread::scope(|scope| {
        let hashers = paths.map(|path| scope.spawn(move || hashed(path)));
        (Exact::new(args, interrupt), hashers.map(joined))
    });
    let mut failures = Vec::new();
    // The image that stands for a failure is dropped below, with all others.
    let images = images.map(|image| {
        image.unwrap_or_else(|failure| {
            failures.push(failure);
            Image::default()
        })
    });
    match exact {
        Ok(exact) if failures.is_empty() => return Ok((exact, images)),
        Ok(_) => {}
        Err(failure) => failures.push(failure),
    }
    Err(Failure::all(failures))
}

fn hashed(path: &Path) -> Result<Image, Failure> {
    let lab = Lab::asked_by(path)?;
    let sha256 = match &lab {
        Some(lab) => sha256(&[pathmeter_lab::KERNEL, b"\0", lab.policies.as_bytes()].concat()),
        None => pathmeter_image::hash_file(path)?,
    };
    Ok(Image { path: path.to_owned(), sha256, lab })
}

/// What a thread returned; if it panicked, so does this one.
pub(crate) fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl Exact {
    fn new(args: &GuestArgs, interrupt: Interrupt) -> Result<Self, Failure> {
        let cache = if args.no_cache { None } else { Some(Cache::open().map_err(VmError::from)?) };
        let qemu = Qemu::find(args.qemu.as_deref()).map_err(VmError::from)?;
        let initramfs = Initramfs::new(&Plan::new(Suite::Exact, args.perturb));
        Ok(Self {
            qemu,
            cache,
            settings: args.settings(),
            starts: args.perturb,
            limit: args.limit(),
            interrupt,
            agent_sha256: sha256(AGENT),
            initramfs_sha256: sha256(initramfs.as_bytes()),
        })
    }

    /// Measures `image`, or finds its result in the cache.
    pub(crate) fn measure(
        &self,
        image: &Image,
        progress: &(dyn Fn(Progress<'_>) + Sync),
    ) -> Result<Measurement, Failure> {
        let name = self.result_name(image);
        if let Some(result) = self.cached(&name, progress) {
            return Ok(Measurement { subject: image.subject(), ..result });
        }
        let run = self.with_request(image, progress, pathmeter_vm::measure)?;
        let result = self.document(image, run);
        if let Some(cache) = &self.cache {
            results::keep(cache, &name, &result)
                .map_err(|error| lab::failure(image, error.into()))?;
        }
        Ok(result)
    }

    fn cached(&self, name: &str, progress: &dyn Fn(Progress<'_>)) -> Option<Measurement> {
        let cache = self.cache.as_ref()?;
        match results::find(cache, name) {
            Found::Whole(result) => Some(*result),
            Found::Nothing => None,
            Found::Corrupt => {
                let file = cache.folder().join(name);
                let note = format!("{} was corrupt; measuring again", file.display());
                progress(Progress::Note(&note));
                None
            }
        }
    }

    fn result_name(&self, image: &Image) -> String {
        let key = Key {
            image_sha256: &image.sha256,
            qemu: &self.qemu.version,
            guest: &self.settings(image).fingerprint(),
            initramfs_sha256: &self.initramfs_sha256,
            agent_sha256: &self.agent_sha256,
        };
        key.file()
    }

    /// What came of the paths of [`Suite::Elapsed`], in nanoseconds of this host.
    pub(crate) fn measure_elapsed(
        &self,
        image: &Image,
        progress: &(dyn Fn(Progress<'_>) + Sync),
    ) -> Result<Vec<PathOutcome>, Failure> {
        self.with_request(image, progress, pathmeter_vm::measure_elapsed)
    }

    /// Records the path with this index; `read` makes of the trace what it will.
    pub(crate) fn record<R: Send>(
        &self,
        image: &Image,
        index: usize,
        progress: &(dyn Fn(Progress<'_>) + Sync),
        read: impl FnMut(File) -> R + Send,
    ) -> Result<Recorded<R>, Failure> {
        let windows = Suite::Exact.paths().get(index).map_or(0, |path| path.kind.samples());
        let recording = Recording {
            path: index,
            skip: u64::from(WARMUP),
            take: u64::from(windows),
            bytes: MOST_TRACED,
            most: LONGEST_WINDOW,
        };
        self.with_request(image, progress, |request| pathmeter_vm::record(request, recording, read))
    }

    /// The kernel's symbols, as its `/proc/kallsyms` has them.
    pub(crate) fn symbols(
        &self,
        image: &Image,
        progress: &(dyn Fn(Progress<'_>) + Sync),
    ) -> Result<Vec<u8>, Failure> {
        self.with_request(image, progress, pathmeter_vm::symbols)
    }

    /// The guest's settings, with what this image's command line has and no other's.
    fn settings(&self, image: &Image) -> Settings {
        match &image.lab {
            None => self.settings.clone(),
            Some(lab) => lab.settings(&self.settings),
        }
    }

    fn with_request<R>(
        &self,
        image: &Image,
        progress: &(dyn Fn(Progress<'_>) + Sync),
        act: impl FnOnce(&Request<'_>) -> Result<R, VmError>,
    ) -> Result<R, Failure> {
        let request = Request {
            qemu: &self.qemu,
            kernel: Kernel { sha256: image.sha256.clone(), load: &|| load(image) },
            settings: &self.settings(image),
            starts: self.starts,
            cache: self.cache.as_ref(),
            limit: self.limit,
            interrupt: &self.interrupt,
            progress,
        };
        act(&request).map_err(|error| lab::failure(image, error))
    }

    fn document(&self, image: &Image, run: Run) -> Measurement {
        let lab = image.lab.as_ref();
        // The lab's policies are the kernel's, not the conditions' that it is measured under.
        let conditions = lab.map_or_else(
            || self.settings.clone(),
            |lab| Lab { policies: String::new(), ..lab.clone() }.settings(&self.settings),
        );
        let identity = Identity {
            clock: Unit::Instructions,
            image_sha256: image.sha256.clone(),
            release: if lab.is_some() { Some("lab".to_owned()) } else { run.release },
            command_line: conditions.command_line(),
            machine: conditions.machine().to_owned(),
            qemu: self.qemu.version.clone(),
            agent_sha256: self.agent_sha256.clone(),
            initramfs_sha256: run.initramfs_sha256,
            starts: self.starts,
            memory_mib: conditions.memory_mib,
            cpus: conditions.cpus,
            cpu: conditions.cpu,
        };
        let paths = Suite::Exact.paths().iter().zip(run.paths);
        Measurement {
            schema: ResultSchema::V1,
            subject: image.subject(),
            identity,
            paths: paths.map(|(path, outcome)| path_result(path, outcome)).collect(),
            notes: run.notes,
        }
    }
}

/// Bytes of a trace after which recording stops: a hundred times those of the longest path.
pub(crate) const MOST_TRACED: u64 = 1 << 30;
/// Instructions after which a window counts as one that never ends.
pub(crate) const LONGEST_WINDOW: u64 = 20_000_000;

/// The release that the image says it is; none if it can't be read.
pub(crate) fn release(image: &Image) -> Option<String> {
    load(image).ok()?.release
}

/// Reads the image and makes sure that it is still the one that was hashed: a build may be writing
/// it, and its numbers must not be kept under another's name.
fn load(image: &Image) -> Result<KernelImage, ImageError> {
    if image.lab.is_some() {
        let boot = Boot::Pvh(pathmeter_lab::KERNEL.to_vec());
        return Ok(KernelImage { boot, release: None, banner: None, config: None });
    }
    let kernel = pathmeter_image::load(&image.path)?;
    if pathmeter_image::hash_file(&image.path)? == image.sha256 {
        return Ok(kernel);
    }
    let fault = Fault::Malformed("it changed while it was read");
    Err(ImageError { path: image.path.clone(), fault })
}

/// One path's row. What a document may not say of a path that is ok makes it failed: the guest is
/// not believed.
fn path_result(path: &catalogue::Path, outcome: PathOutcome) -> PathResult {
    let (name, unit) = (path.name, unit(path.kind));
    let PathOutcome { status, checks, starts } = outcome;
    let samples = || starts.iter().flatten();
    let checks = checks.into_iter().map(|(name, value)| Check { name, value }).collect();
    match &status {
        Status::Unsupported(reason) => PathResult::unsupported(name, unit, reason),
        Status::Failed(reason) => PathResult::failed(name, unit, reason).noticing(checks),
        Status::Ok if unit != Unit::Check && samples().next().is_none() => {
            PathResult::failed(name, unit, "the agent said ok and sent no samples")
        }
        Status::Ok if samples().any(|&sample| sample > MAX_SAMPLE) => {
            PathResult::failed(name, unit, "a sample is out of bounds")
        }
        Status::Ok => PathResult::ok(name, unit, &starts, checks),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(starts: &[&[u64]]) -> PathOutcome {
        let starts = starts.iter().map(|start| start.to_vec()).collect();
        PathOutcome {
            status: Status::Ok,
            checks: vec![("entry".into(), "sysenter".into())],
            starts,
        }
    }

    fn result(starts: &[&[u64]]) -> PathResult {
        path_result(&Suite::Exact.paths()[0], outcome(starts))
    }

    #[test]
    fn samples_and_checks_are_kept() {
        let result = result(&[&[330, 331], &[330]]);
        assert_eq!((result.samples, result.samples_per_start), (vec![330, 331, 330], vec![2, 1]));
        assert_eq!(result.checks[0].value, "sysenter");
    }

    #[test]
    fn an_ok_that_no_document_may_hold_is_a_failure() {
        for starts in [&[&[][..]][..], &[&[1, u64::MAX][..]][..]] {
            assert_eq!(result(starts).status, pathmeter_model::Status::Failed);
        }
    }

    #[test]
    fn a_check_needs_no_samples() {
        let (_, path) = Suite::Exact.find("flags.isolation").unwrap();
        let result = path_result(path, outcome(&[&[]]));
        assert_eq!((result.status, result.unit), (pathmeter_model::Status::Ok, Unit::Check));
    }

    #[test]
    fn an_image_that_changed_is_not_measured() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"not even a kernel").unwrap();
        let image = Image { path: file.path().to_owned(), sha256: "00".repeat(32), lab: None };
        assert!(load(&image).is_err());
    }
}
