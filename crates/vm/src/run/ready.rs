//! A guest at READY: from the cache, or by booting the kernel.

use std::mem::take;
use std::os::fd::OwnedFd;

use crate::{
    Initramfs, Progress, Request, Settings, VmError,
    arch::{answer_reads, loaded, vmlinux},
    cache::{
        Sought,
        entry::{EntryKind, Key, sha256},
    },
    machine::{Origin, fd},
    qemu::memory_file::memory_file,
    run::{
        before_ready::{Told, await_ready},
        guest::{Extra, Guest},
        snapshot::{Description, Snapshot},
    },
};

/// Changes whenever a change to this crate makes old snapshots useless.
const SNAPSHOT_FORMAT: &str = "6";

/// A guest at READY.
pub(crate) enum AtReady<G> {
    /// It has booted, and is paused.
    Booted(G, Description),
    /// It can be restored.
    Saved(Snapshot),
}

/// The guest at READY: from the cache, or by booting the kernel. One that has booted need not be
/// restored: where it was paused it goes on as its snapshot does.
pub(crate) fn at_ready<G: Guest>(
    host: &G::Host,
    request: &Request<'_>,
    initramfs: &Initramfs,
    extra: &mut Extra,
) -> Result<AtReady<G>, VmError> {
    let slot = match seek(request, initramfs)? {
        Some(Sought::Found(snapshot)) => return Ok(AtReady::Saved(snapshot)),
        Some(Sought::Missing(slot)) => Some(slot),
        None => None,
    };
    let (mut guest, about) =
        boot_guest::<G>(host, request, request.settings, initramfs, take(extra))?;
    if let Some(slot) = slot {
        let snapshot = Snapshot::save(&mut guest, about.clone())?;
        slot.keep(|entry| snapshot.write(entry));
    }
    Ok(AtReady::Booted(guest, about))
}

/// The guest at READY, to be restored: from the cache, or by booting the kernel.
pub(crate) fn snapshot<G: Guest>(
    host: &G::Host,
    request: &Request<'_>,
    initramfs: &Initramfs,
) -> Result<Snapshot, VmError> {
    let slot = match seek(request, initramfs)? {
        Some(Sought::Found(snapshot)) => return Ok(snapshot),
        Some(Sought::Missing(slot)) => Some(slot),
        None => None,
    };
    let snapshot = boot::<G>(host, request, initramfs)?;
    if let Some(slot) = slot {
        slot.keep(|entry| snapshot.write(entry));
    }
    Ok(snapshot)
}

/// Looks for the snapshot in the cache, if there is one.
fn seek<'a>(
    request: &'a Request<'a>,
    initramfs: &Initramfs,
) -> Result<Option<Sought<'a, Snapshot>>, VmError> {
    let Some(cache) = request.cache else { return Ok(None) };
    let key = snapshot_key(request, initramfs);
    let caller = request.caller("booting the kernel again");
    Ok(Some(match cache.seek(key.clone(), caller, Snapshot::open)? {
        Sought::Found(snapshot) => Sought::Found(snapshot.cached_as(key)),
        Sought::Missing(slot) => Sought::Missing(slot),
    }))
}

fn snapshot_key(request: &Request<'_>, initramfs: &Initramfs) -> Key {
    let parts = [
        ("format", SNAPSHOT_FORMAT),
        ("image_sha256", &request.kernel.sha256),
        ("qemu", &request.qemu.version),
        ("guest", &request.settings.fingerprint()),
        ("initramfs_sha256", &sha256(initramfs.as_bytes())),
    ];
    Key::new(EntryKind::Snapshot, &parts)
}

/// Boots the kernel until the agent is ready and has paused the guest, and saves it.
pub(crate) fn boot<G: Guest>(
    host: &G::Host,
    request: &Request<'_>,
    initramfs: &Initramfs,
) -> Result<Snapshot, VmError> {
    let (mut guest, about) =
        boot_guest::<G>(host, request, request.settings, initramfs, Extra::default())?;
    Snapshot::save(&mut guest, about)
}

/// Boots the kernel until the agent is ready and has paused the guest.
pub(crate) fn boot_guest<G: Guest>(
    host: &G::Host,
    request: &Request<'_>,
    settings: &Settings,
    initramfs: &Initramfs,
    mut extra: Extra,
) -> Result<(G, Description), VmError> {
    (request.progress)(Progress::Loading);
    let image = (request.kernel.load)()?;
    request.interrupt.check()?;
    let (bytes, firmware) = loaded(&image.boot);
    (request.progress)(Progress::Booting);
    answer_reads(settings, &image.boot, &mut extra)?;
    extra.files.extend([
        (fd::KERNEL, OwnedFd::from(memory_file("pathmeter-kernel", bytes)?)),
        (fd::INITRAMFS, OwnedFd::from(memory_file("pathmeter-initramfs", initramfs.as_bytes())?)),
    ]);
    let release = image.release.clone();
    let missing = settings.condition.missing_parameters(vmlinux(&image.boot));
    drop(image);
    let mut guest = G::start(host, request, settings, (Origin::Boot, firmware), extra)?;
    guest.resume()?;
    let Told { facts, read, room, .. } = await_ready(&mut guest, &settings.condition)?;
    let proofs = match settings.condition.proofs(&read, settings.memory_mib) {
        Ok(proofs) if missing.is_empty() => proofs,
        Ok(_) => return Err(VmError::Unmet(missing)),
        Err(ignored) => return Err(VmError::Unmet([missing, ignored].concat())),
    };
    Ok((guest, Description { release, firmware, facts, proofs, room }))
}
