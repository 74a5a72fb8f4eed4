//! One kernel, measured: from its image, or its snapshot, to the outcomes of all paths.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::time::Duration;

use pathmeter_catalogue::Suite;
use pathmeter_image::{Boot, ImageError, KernelImage};
use pathmeter_wire::{Kind, message};

use crate::{
    Cache, Initramfs, Interrupt, PathOutcome, Plan, Qemu, Settings, VmError,
    agent_run::{AgentEvent, AgentRun},
    cache::{key, sha256},
    error::Step,
    guest::{Extra, Guest},
    initramfs::may_lose,
    machine::{Clock, Firmware, Origin, fd},
    memory_file::memory_file,
    outcome::Gathered,
    snapshot::{Description, Snapshot},
};

/// Changes whenever a change to this crate makes old snapshots useless.
const SNAPSHOT_FORMAT: &str = "2";

/// The kernel to measure: named by its hash, read only if no snapshot of it is cached.
pub struct Kernel<'a> {
    /// SHA-256 of the image file.
    pub sha256: String,
    /// Reads and unpacks the image.
    pub load: &'a (dyn Fn() -> Result<KernelImage, ImageError> + Sync),
}

/// What to measure and how.
pub struct Request<'a> {
    /// The QEMU to run it in.
    pub qemu: &'a Qemu,
    /// The kernel.
    pub kernel: Kernel<'a>,
    /// The guest's machine.
    pub settings: &'a Settings,
    /// Perturbed runs.
    pub runs: u32,
    /// Where snapshots are kept; `None` keeps none.
    pub cache: Option<&'a Cache>,
    /// The longest that a boot, or one run, is waited for.
    pub limit: Duration,
    /// The user's interrupt.
    pub interrupt: &'a Interrupt,
    /// Told how far it is.
    pub progress: &'a (dyn Fn(Progress<'_>) + Sync),
}

/// How far a measurement is.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// The image is read and unpacked.
    Loading,
    /// The kernel boots.
    Booting,
    /// A path is being run.
    Running {
        /// The path's name.
        path: &'a str,
        /// Runs done, over all paths and runs.
        done: u64,
        /// Runs to do.
        of: u64,
    },
    /// Something the user should know.
    Note(&'a str),
}

/// A measured kernel.
#[derive(Debug)]
pub struct MeasuredKernel {
    /// The kernel's release, as its image says.
    pub release: Option<String>,
    /// What started it.
    pub firmware: Firmware,
    /// SHA-256 of the initramfs that was first booted.
    pub initramfs_sha256: String,
    /// What came of each path, in the request's order.
    pub paths: Vec<PathOutcome>,
    /// What the reader must know: kernels that died, and where.
    pub notes: Vec<String>,
}

/// Measures one kernel.
pub fn measure(request: &Request<'_>) -> Result<MeasuredKernel, VmError> {
    let mut lost: Vec<(usize, String)> = Vec::new();
    loop {
        let all = Plan::new(Suite::Exact, request.runs);
        let plan = lost.iter().fold(all, |plan, (index, _)| plan.without(*index));
        let snapshot = snapshot(request, &Initramfs::new(&plan))?;
        match collect(request, &snapshot, &plan) {
            Ok(gathered) => return Ok(conclude(request, snapshot.about, gathered, lost)),
            Err(VmError::Ended { step: Step::Start | Step::Restore, how, .. })
                if snapshot.forget(request) =>
            {
                let note = format!("the cached snapshot can't be restored ({how}); booting again");
                (request.progress)(Progress::Note(&note));
            }
            Err(error) => match error.in_path() {
                Some(index) if may_lose(&plan, index) => {
                    let reason = format!("the kernel did not survive it: {error}");
                    (request.progress)(Progress::Note(&format!(
                        "{error}; measuring the other paths without it"
                    )));
                    lost.push((index, reason));
                }
                _ => return Err(error),
            },
        }
    }
}

fn conclude(
    request: &Request<'_>,
    about: Description,
    mut gathered: Gathered,
    lost: Vec<(usize, String)>,
) -> MeasuredKernel {
    let mut notes = Vec::new();
    for (index, reason) in lost {
        notes.push(format!("{}: {reason}", path_name(Suite::Exact, index)));
        gathered.mark_lost(index, reason);
    }
    let plan = Plan::new(Suite::Exact, request.runs);
    MeasuredKernel {
        release: about.release,
        firmware: about.firmware,
        initramfs_sha256: sha256(Initramfs::new(&plan).as_bytes()),
        paths: gathered.finish(),
        notes,
    }
}

/// Runs the paths of [`Suite::Elapsed`] once, in the host's time, the guest's CPUs running at once where
/// the host lets them: what came of each, in the order of the suite.
///
/// The kernel is booted afresh, since a snapshot would be of another clock, and runs on where it was
/// READY. Samples are what the guest's own clock said, in nanoseconds.
pub fn measure_elapsed(request: &Request<'_>) -> Result<Vec<PathOutcome>, VmError> {
    let plan = Plan::new(Suite::Elapsed, 1);
    let settings = Settings { clock: Clock::Host, ..request.settings.clone() };
    let (guest, _) = boot_guest(request, &settings, &Initramfs::new(&plan))?;
    Ok(run_all(AgentRun::resume(request, guest, &plan)?)?.finish())
}

/// The name of the path with this index in the suite.
pub(crate) fn path_name(suite: Suite, index: usize) -> &'static str {
    suite.paths().get(index).map_or("an unknown path", |path| path.name)
}

/// The guest at READY: from the cache, or by booting the kernel.
pub(crate) fn snapshot(request: &Request<'_>, initramfs: &Initramfs) -> Result<Snapshot, VmError> {
    let Some(cache) = request.cache else {
        return boot(request, initramfs, memory_file("pathmeter-snapshot", &[])?);
    };
    let name = snapshot_name(request, initramfs);
    if let Some(file) = cache.get(&name) {
        let failed = |source| VmError::Host { what: "reading the snapshot", source };
        if let Some(mut snapshot) = Snapshot::open(file).map_err(failed)? {
            snapshot.cached_as = Some(name);
            return Ok(snapshot);
        }
        let file = cache.folder().join(&name);
        let note = format!("{} was corrupt; booting the kernel again", file.display());
        (request.progress)(Progress::Note(&note));
        cache.forget(&name);
    }
    let file = cache.begin()?;
    let failed = |source| VmError::Host { what: "writing the snapshot", source };
    let snapshot = boot(request, initramfs, file.reopen().map_err(failed)?)
        .map_err(|error| naming(error, cache))?;
    cache.keep(file, &name)?;
    Ok(snapshot)
}

/// A write that failed names where it went.
fn naming(error: VmError, cache: &Cache) -> VmError {
    match error {
        VmError::Host { what: "writing the snapshot", source } => {
            VmError::Write { path: cache.folder().to_owned(), source }
        }
        other => other,
    }
}

fn snapshot_name(request: &Request<'_>, initramfs: &Initramfs) -> String {
    let parts = [
        SNAPSHOT_FORMAT,
        &request.kernel.sha256,
        &request.qemu.version,
        &request.settings.fingerprint(),
        &sha256(initramfs.as_bytes()),
    ];
    key(&parts, ".snapshot")
}

/// Boots the kernel until the agent is ready and has paused the guest, and saves it to `file`.
pub(crate) fn boot(
    request: &Request<'_>,
    initramfs: &Initramfs,
    file: File,
) -> Result<Snapshot, VmError> {
    let (guest, about) = boot_guest(request, request.settings, initramfs)?;
    Snapshot::save(guest, file, about)
}

/// Boots the kernel until the agent is ready and has paused the guest.
fn boot_guest(
    request: &Request<'_>,
    settings: &Settings,
    initramfs: &Initramfs,
) -> Result<(Guest, Description), VmError> {
    (request.progress)(Progress::Loading);
    let image = (request.kernel.load)()?;
    request.interrupt.check()?;
    let (bytes, firmware) = match &image.boot {
        Boot::Pvh(bytes) => (bytes, Firmware::Own),
        Boot::BzImage(bytes) => (bytes, Firmware::Qemu),
    };
    (request.progress)(Progress::Booting);
    let files = vec![
        (fd::KERNEL, OwnedFd::from(memory_file("pathmeter-kernel", bytes)?)),
        (fd::INITRAMFS, OwnedFd::from(memory_file("pathmeter-initramfs", initramfs.as_bytes())?)),
    ];
    let about = Description { release: image.release.clone(), firmware };
    drop(image);
    let mut guest = Guest::start(
        request.qemu,
        settings,
        (Origin::Boot, firmware),
        Extra { files, arguments: vec![] },
        request.limit,
        request.interrupt,
    )?;
    guest.resume()?;
    await_ready(&mut guest)?;
    Ok((guest, about))
}

/// The agent says READY and pauses the guest.
fn await_ready(guest: &mut Guest) -> Result<(), VmError> {
    let heard =
        guest.next_frame(|frame| (frame.kind, message::read_plain(frame).map(str::to_owned)))?;
    match heard {
        (Kind::Ready, Ok(_)) => guest.await_pause(),
        (Kind::Abort, Ok(reason)) => Err(guest.gave_up(reason)),
        (kind, Ok(_)) => Err(guest.not_the_protocol(format!("a frame {kind:?} before READY"))),
        (_, Err(error)) => Err(guest.not_the_protocol(error.to_string())),
    }
}

/// Restores the snapshot and gathers what the agent sends until it is done.
fn collect(request: &Request<'_>, snapshot: &Snapshot, plan: &Plan) -> Result<Gathered, VmError> {
    let guest = snapshot.restore(request, Extra::default())?;
    run_all(AgentRun::resume(request, guest, plan)?)
}

/// Hears the agent until it is done.
fn run_all(mut run: AgentRun<'_>) -> Result<Gathered, VmError> {
    while run.hear()? != AgentEvent::Done {}
    Ok(run.into_gathered())
}
