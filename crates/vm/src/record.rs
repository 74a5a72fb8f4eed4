//! One path, recorded: the guest is restored once more, with the recorder plugin, and walks its first
//! start as it did when it was measured, up to the path.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::OwnedFd;

use pathmeter_catalogue::Suite;
use pathmeter_wire::{Kind, message, plan::Plan};
use serde_json::json;

use crate::{
    Initramfs, PathOutcome, Progress, Request, Settings, VmError,
    cache::{Corrupt, key},
    error::Step,
    guest::{Extra, Guest},
    initramfs::may_lose,
    machine::fd,
    measure::{boot, snapshot},
    memory_file::memory_file,
    plugin,
    snapshot::Snapshot,
    walk::{Heard, Walk},
};

/// What to record of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recording {
    /// The path's index in [`Suite::Exact`].
    pub path: usize,
    /// Windows that the probe walks before the first that it samples.
    pub skip: u64,
    /// Windows to record.
    pub take: u64,
    /// Bytes after which recording stops.
    pub bytes: u64,
    /// Instructions after which a window counts as one that never ends.
    pub most: u64,
}

/// A recorded path.
#[derive(Debug)]
pub struct Recorded<R> {
    /// What the reader of the trace made of it.
    pub trace: R,
    /// What came of the path in the start that was recorded: its samples by the guest's own clock.
    pub outcome: PathOutcome,
}

/// Records one path of the first start. `read` is handed the trace as it comes, on a thread of its
/// own; it should read to the end, and what it returns is handed back. A path before this one that
/// kills the kernel is left out, as when the kernel is measured; then `read` is called anew.
pub fn record<R: Send>(
    request: &Request<'_>,
    recording: Recording,
    mut read: impl FnMut(File) -> R + Send,
) -> Result<Recorded<R>, VmError> {
    let mut plan = Plan::new(Suite::Exact, request.starts);
    loop {
        let error = match record_once(request, &plan, recording, &mut read) {
            Err(error) => error,
            recorded => return recorded,
        };
        match error.in_path() {
            Some(index) if index != recording.path && may_lose(&plan, index) => {
                let note = format!("{error}; recording without it");
                (request.progress)(Progress::Note(&note));
                plan = plan.without(index);
            }
            _ => return Err(error),
        }
    }
}

fn record_once<R: Send>(
    request: &Request<'_>,
    plan: &Plan,
    recording: Recording,
    read: impl FnOnce(File) -> R + Send,
) -> Result<Recorded<R>, VmError> {
    let snapshot = snapshot(request, &Initramfs::new(plan))?;
    let pipe = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC);
    let (trace, writer) = pipe.map_err(|error| VmError::Host {
        what: "making a pipe for the trace",
        source: error.into(),
    })?;
    let extra = Extra {
        files: vec![
            (fd::PLUGIN, OwnedFd::from(plugin::for_qemu(request.qemu)?)),
            (fd::TRACE, writer),
        ],
        arguments: plugin_arguments(recording, plan),
    };
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || read(File::from(trace)));
        let outcome = walk_once(request, &snapshot, plan, extra, recording.path);
        // The guest is gone, and with it the pipe's other end: the reader comes to an end.
        let trace = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok(Recorded { trace, outcome: outcome? })
    })
}

/// QEMU restores the same snapshot without the recorder, so if it ended here, that is why.
fn refused(error: VmError) -> VmError {
    match error {
        VmError::Ended { step: Step::Start | Step::Restore, by_guest: false, how, .. } => {
            VmError::Recorder { how }
        }
        other => other,
    }
}

/// Runs a guest until the path with this index has been walked once; what came of it.
fn walk_once(
    request: &Request<'_>,
    snapshot: &Snapshot,
    plan: &Plan,
    extra: Extra,
    path: usize,
) -> Result<PathOutcome, VmError> {
    let guest = snapshot.restore(request, extra).map_err(refused)?;
    let mut walk = Walk::resume(request, guest, plan)?;
    while !matches!(walk.hear()?, Heard::Done) && !walk.has_walked(path) {}
    Ok(walk.into_gathered().first_start(path))
}

fn plugin_arguments(recording: Recording, plan: &Plan) -> Vec<String> {
    let Recording { path, skip, take, bytes, most } = recording;
    // The recorder counts path marks, one an execution. A path that is left out has none: then
    // nothing is recorded.
    let path = plan.before(path).unwrap_or(usize::MAX);
    let file = format!("/proc/self/fd/{}", fd::PLUGIN);
    let trace = fd::TRACE;
    let plugin =
        format!("{file},fd={trace},path={path},skip={skip},take={take},bytes={bytes},most={most}");
    vec!["-plugin".to_owned(), plugin]
}

/// The kernel's symbols as its `/proc/kallsyms` has them: from the cache, or from a guest of their
/// own. Empty if the kernel has none to give.
pub fn symbols(request: &Request<'_>) -> Result<Vec<u8>, VmError> {
    let Some(cache) = request.cache else { return fetch_symbols(request) };
    let name = symbols_name(request.settings, &request.kernel.sha256, &request.qemu.version);
    match cache.get_checked(&name) {
        Ok(Some(bytes)) => return Ok(bytes),
        Ok(None) => {}
        Err(Corrupt(file)) => {
            let note = format!("{} was corrupt; asking the kernel again", file.display());
            (request.progress)(Progress::Note(&note));
        }
    }
    let bytes = fetch_symbols(request)?;
    cache.put_checked(&name, &bytes)?;
    Ok(bytes)
}

fn symbols_name(settings: &Settings, sha256: &str, qemu: &str) -> String {
    key(&["symbols", sha256, qemu, &settings.fingerprint()], ".symbols")
}

/// Boots a guest that walks no path: the kernel need not survive them all to have symbols.
fn fetch_symbols(request: &Request<'_>) -> Result<Vec<u8>, VmError> {
    let failed = |source| VmError::Host { what: "reading the kernel's symbols", source };
    let nothing = Plan::new(Suite::Exact, 0);
    let snapshot =
        boot(request, &Initramfs::new(&nothing), memory_file("pathmeter-snapshot", &[])?)?;
    let mut file = memory_file("pathmeter-symbols", &[])?;
    let files = vec![(fd::MEMORY, OwnedFd::from(file.try_clone().map_err(failed)?))];
    let extra = Extra { files, arguments: vec![] };
    let mut walk = Walk::resume(request, snapshot.restore(request, extra)?, &nothing)?;
    while walk.hear()? != Heard::Done {}
    copy_symbols(&mut walk.guest)?;
    drop(walk);
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).map_err(failed)?;
    Ok(bytes)
}

/// Waits for the agent to say where the symbols are and to pause, and has QEMU copy them to
/// [`fd::MEMORY`], by virtual address as the agent sees it.
fn copy_symbols(guest: &mut Guest) -> Result<(), VmError> {
    let said = guest.next_frame(|frame| (frame.kind, message::read_symbols(frame)))?;
    let (Kind::Symbols, Ok(memory)) = said else {
        return Err(guest.not_the_protocol("something else than the symbols' place".to_owned()));
    };
    if memory.length == 0 {
        return Ok(());
    }
    guest.await_pause()?;
    let filename = format!("/proc/self/fd/{}", fd::MEMORY);
    let arguments = json!({ "val": memory.address, "size": memory.length, "filename": filename });
    guest.call("memsave", &arguments, None).map(|_| ())
}
