//! A guest that goes on from READY: restored from where it waited, by the cache or after booting
//! the kernel, and handed its parcel.

use std::mem::take;
use std::os::fd::OwnedFd;

use pathmeter_wire::{message::Memory, parcel::LENGTH};

use crate::{
    Parcel, Progress, Proof, Request, Settings, Unmet, VmError,
    arch::{Supply, loaded, places, vmlinux},
    cache::{
        Sought,
        entry::{EntryKind, Key, sha256},
    },
    error::{GuestCause, Step},
    guest::{Extra, Guest},
    machine::{Origin, fd},
    qemu::memory_file::memory_file,
    run::{
        before_ready::{Stage, Told, await_end},
        snapshot::{Description, Snapshot},
    },
};

/// Changes whenever a change to this crate makes old snapshots useless.
const SNAPSHOT_FORMAT: &str = "8";

/// Where the guest waits, to be restored: from the cache, or by booting the kernel.
pub(crate) fn snapshot<G: Guest>(
    host: &G::Host,
    request: &Request<'_>,
    parcel: &Parcel,
) -> Result<Snapshot, VmError> {
    let initramfs = parcel.initramfs();
    let stage = if parcel.is_handed_over() { Stage::Boot } else { Stage::Whole };
    let boots_with = (stage, &initramfs[..]);
    let slot = match seek(request, boots_with)? {
        Some(Sought::Found(snapshot)) => return Ok(snapshot),
        Some(Sought::Missing(slot)) => Some(slot),
        None => None,
    };
    let (mut guest, about) =
        boot::<G>(host, request, request.settings, boots_with, Extra::default())?;
    let snapshot = Snapshot::save(&mut guest, about)?;
    if let Some(slot) = slot {
        slot.keep(|entry| snapshot.write(entry));
    }
    Ok(snapshot)
}

/// Looks for the snapshot in the cache, if there is one.
fn seek<'a>(
    request: &'a Request<'a>,
    boots_with: (Stage, &[u8]),
) -> Result<Option<Sought<'a, Snapshot>>, VmError> {
    let Some(cache) = request.cache else { return Ok(None) };
    let key = snapshot_key(request, boots_with);
    let caller = request.caller("booting the kernel again");
    Ok(Some(match cache.seek(key.clone(), caller, Snapshot::open)? {
        Sought::Found(snapshot) => Sought::Found(snapshot.cached_as(key)),
        Sought::Missing(slot) => Sought::Missing(slot),
    }))
}

/// What the guest boots with, and for one that boots with its parcel the whole condition.
fn snapshot_key(request: &Request<'_>, (stage, initramfs): (Stage, &[u8])) -> Key {
    let guest = match stage {
        Stage::Whole => request.settings.fingerprint(),
        Stage::Boot | Stage::Parcel => request.settings.boot_fingerprint(),
    };
    let parts = [
        ("format", SNAPSHOT_FORMAT),
        ("image_sha256", &request.kernel.sha256),
        ("qemu", &request.qemu.version),
        ("guest", &guest),
        ("initramfs_sha256", &sha256(initramfs)),
    ];
    Key::new(EntryKind::Snapshot, &parts)
}

/// A guest that is restored with `extra`, has its parcel, and goes on from READY.
pub(crate) fn go_on<G: Guest>(
    host: &G::Host,
    request: &Request<'_>,
    (snapshot, parcel): (&Snapshot, &Parcel),
    mut extra: Extra,
) -> Result<(G, Description), VmError> {
    let handed = parcel.handed();
    extra.stub = handed.as_ref().map(|_| extra.serve_stub()).transpose()?;
    let mut guest = snapshot.restore::<G>(host, request, extra)?;
    let mut about = snapshot.about.clone();
    let Some(handed) = handed else {
        guest.begin(Step::Run);
        guest.resume()?;
        return Ok((guest, about));
    };
    let condition = &request.settings.condition;
    guest.begin(if condition.is_default() { Step::Run } else { Step::Condition });
    hand_over(&mut guest, about.room, &handed)?;
    guest.resume()?;
    let told = await_end(&mut guest, condition, Stage::Parcel);
    about.proofs = proofs(request.settings, told, &about.unmet)?;
    guest.begin(Step::Run);
    Ok((guest, about))
}

/// Writes the parcel, after its length, to where the agent reads it when it goes on.
fn hand_over(guest: &mut impl Guest, room: Option<Memory>, parcel: &[u8]) -> Result<(), VmError> {
    let length: [u8; LENGTH] = (parcel.len() as u64).to_le_bytes();
    let handed = [&length, parcel].concat();
    let Some(room) = room.filter(|room| room.length >= handed.len() as u64) else {
        let what = "no place for what the guest is to do".to_owned();
        return Err(guest.failure(GuestCause::Protocol { what }));
    };
    guest.write_memory(room.address, &handed).map_err(|error| match error {
        VmError::Refused { answer, .. } => {
            let what =
                format!("a place for what the guest is to do, and has none there ({answer})");
            guest.failure(GuestCause::Protocol { what })
        }
        error => error,
    })
}

/// Boots the kernel with the parcel in its initramfs, until the agent is ready and has paused the
/// guest.
pub(crate) fn boot_whole<G: Guest>(
    host: &G::Host,
    request: &Request<'_>,
    settings: &Settings,
    parcel: &Parcel,
    extra: Extra,
) -> Result<(G, Description), VmError> {
    boot(host, request, settings, (Stage::Whole, &parcel.whole()), extra)
}

/// Boots the kernel, with this initramfs, until the agent has paused the guest at the stage's end.
fn boot<G: Guest>(
    host: &G::Host,
    request: &Request<'_>,
    settings: &Settings,
    (stage, initramfs): (Stage, &[u8]),
    mut extra: Extra,
) -> Result<(G, Description), VmError> {
    (request.progress)(Progress::Loading);
    let image = (request.kernel.load)();
    // It may be the reason why there is none.
    request.interrupt.check()?;
    let image = image?;
    let (bytes, firmware) = loaded(&image.boot);
    (request.progress)(Progress::Booting);
    answer_reads(settings, vmlinux(&image.boot), &mut extra)?;
    extra.files.extend([
        (fd::KERNEL, OwnedFd::from(memory_file("pathmeter-kernel", bytes)?)),
        (fd::INITRAMFS, OwnedFd::from(memory_file("pathmeter-initramfs", initramfs)?)),
    ]);
    let release = image.release.clone();
    let missing = settings.condition.missing_parameters(vmlinux(&image.boot));
    drop(image);
    let mut guest = G::start(host, request.bounds(), settings, (Origin::Boot, firmware), extra)?;
    guest.resume()?;
    let mut told = await_end(&mut guest, &settings.condition, stage)?;
    let about = Description {
        release,
        firmware,
        facts: take(&mut told.facts),
        proofs: vec![],
        unmet: [missing, take(&mut told.unmet)].concat(),
        room: told.room,
    };
    let proofs = match stage {
        Stage::Whole => proofs(settings, Ok(told), &about.unmet)?,
        Stage::Boot | Stage::Parcel => vec![],
    };
    Ok((guest, Description { proofs, ..about }))
}

/// Has the kernel read what its CPU has to say from a register that the interpreter lacks, if the
/// kernel reads it at all.
fn answer_reads(settings: &Settings, vmlinux: &[u8], extra: &mut Extra) -> Result<(), VmError> {
    let Some(value) = settings.cpu.arch_capabilities() else { return Ok(()) };
    let places = places(vmlinux).ok_or(VmError::ArchCapabilityPlaces)?;
    if places.is_empty() {
        return Ok(());
    }
    extra.supply = Some(Supply::new(extra.serve_stub()?, value, places));
    Ok(())
}

/// What is known of the settings by what the agent has told, and of the boot.
///
/// # Errors
/// All that can't be had, each once, by the reason that is nearest to the setting: that of the
/// agent, that of the boot, what a file shows.
fn proofs(
    settings: &Settings,
    told: Result<Told<'_>, VmError>,
    of_boot: &[Unmet],
) -> Result<Vec<Proof>, VmError> {
    let (of_agent, read) = match told {
        Ok(Told { unmet, read, .. }) => (unmet, Some(read)),
        Err(VmError::Unmet(unmet)) => (unmet, None),
        Err(error) => return Err(error),
    };
    let proofs = read.map(|read| settings.condition.proofs(&read, settings.memory_mib));
    let (proofs, shown) = match proofs {
        Some(Ok(proofs)) => (proofs, vec![]),
        Some(Err(shown)) => (vec![], shown),
        None => (vec![], vec![]),
    };
    let mut unmet: Vec<Unmet> = Vec::new();
    for one in of_agent.into_iter().chain(of_boot.iter().cloned()).chain(shown) {
        if unmet.iter().all(|before| before.setting != one.setting) {
            unmet.push(one);
        }
    }
    if unmet.is_empty() { Ok(proofs) } else { Err(VmError::Unmet(unmet)) }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::run::fake::{FakeGuest, FakeHost, ROOM, with_request};
    use crate::{Condition, Plan};
    use pathmeter_probes::Suite;

    #[test]
    fn a_parcel_is_written_after_its_length_to_where_there_is_room_for_both() {
        let host = Rc::new(FakeHost::default());
        let plan = Plan::new(Suite::Exact, 1);
        let parcel = Parcel::of_paths(&plan, &Condition::default());
        let bytes = parcel.handed().unwrap();
        let all = bytes.len() + LENGTH;
        let mut guest = with_request(&host, None, |request| {
            let snapshot = snapshot::<FakeGuest>(&host, request, &parcel).unwrap();
            snapshot.restore::<FakeGuest>(&host, request, Extra::default()).unwrap()
        });
        let room = |length: usize| Some(Memory { length: length as u64, ..ROOM });
        for none in [None, room(all - 1)] {
            let error = hand_over(&mut guest, none, &bytes).unwrap_err();
            assert!(error.to_string().contains("no place for what the guest is to do"), "{error}");
        }
        hand_over(&mut guest, room(all), &bytes).unwrap();
        let length = (bytes.len() as u64).to_le_bytes();
        assert_eq!(*host.written.borrow(), [[&length, &bytes[..]].concat()]);
    }

    #[test]
    fn one_boot_serves_all_plans_and_conditions_but_those_with_other_words_or_in_the_initramfs() {
        let folder = tempfile::tempdir().unwrap();
        let cache = crate::Cache::at(folder.path().to_owned()).unwrap();
        let boots = std::cell::Cell::new(0);
        let boot_under = |under: &str, runs: u32, in_initramfs: bool| {
            let condition = Condition::parse(under, &|_: &str| Err(String::new())).unwrap();
            let parcel = Parcel::of_paths(&Plan::new(Suite::Exact, runs), &condition);
            let parcel = if in_initramfs { parcel.in_initramfs() } else { parcel };
            let settings = Settings { condition, ..Settings::default() };
            let host = Rc::new(FakeHost { settings, ..FakeHost::default() });
            with_request(&host, Some(&cache), |request| {
                snapshot::<FakeGuest>(&host, request, &parcel).unwrap();
            });
            boots.set(boots.get() + host.origins().len());
            boots.get()
        };
        assert_eq!(boot_under("default", 1, false), 1);
        assert_eq!(boot_under("default", 2, false), 1);
        assert_eq!(boot_under("cgroup:depth=3", 2, false), 1);
        assert_eq!(boot_under("boot:threadirqs", 2, false), 2);
        assert_eq!(boot_under("boot:threadirqs cgroup:depth=3", 2, false), 2);
        assert_eq!(boot_under("default", 1, true), 3);
        assert_eq!(boot_under("default", 2, true), 4);
    }
}
