//! One kernel, measured: from its image, or its snapshot, to the outcomes of all paths.

use std::fs::File;
use std::mem::take;
use std::os::fd::OwnedFd;

use pathmeter_catalogue::Suite;
use pathmeter_image::Boot;
use pathmeter_wire::{Kind, RawFrame, message, plan::Execution};

use crate::{
    Condition, Facts, Initramfs, PathOutcome, Plan, Progress, Proof, Request, Settings, Unmet,
    UnmetCause, VmError,
    agent_run::{AgentEvent, AgentRun},
    arch_capabilities::{self, Supply},
    cache::Sought,
    console::Tail,
    counter::Counter,
    entry::{EntryKind, Key, sha256},
    error::GuestCause,
    guest::{Extra, Guest},
    initramfs::may_lose,
    machine::{Clock, Firmware, Origin, fd},
    memory_file::memory_file,
    outcome::{Gathered, printable},
    proof::Read,
    qemu_guest::QemuGuest,
    request::path_name,
    snapshot::{Description, Snapshot},
};

/// Changes whenever a change to this crate makes old snapshots useless.
const SNAPSHOT_FORMAT: &str = "5";

/// A measured kernel.
#[derive(Debug)]
pub struct MeasuredKernel<C> {
    /// The kernel's release, as its image says.
    pub release: Option<String>,
    /// What started it.
    pub firmware: Firmware,
    /// What it printed about its CPU.
    pub facts: Facts,
    /// What became of the settings of its condition.
    pub proofs: Vec<Proof>,
    /// What came of each path, in the request's order.
    pub paths: Vec<PathOutcome>,
    /// The executions of paths in their order, and what was made of the counter's stream; None if
    /// QEMU takes no plugin.
    pub counts: Option<(Vec<Execution>, C)>,
    /// What the reader must know: kernels that died, and where.
    pub notes: Vec<String>,
}

/// Measures one kernel. `read` is handed the counter's stream as it comes, on a thread of its own;
/// it should read to the end, and what it returns is handed back.
pub fn measure<C: Send>(
    request: &Request<'_>,
    read: &(dyn Fn(File) -> C + Sync),
) -> Result<MeasuredKernel<C>, VmError> {
    measure_plan(request, &Plan::new(Suite::Exact, request.runs), read)
}

/// The same with a plan of one's own. The paths that it leaves out have failed.
pub fn measure_plan<C: Send>(
    request: &Request<'_>,
    plan: &Plan,
    read: &(dyn Fn(File) -> C + Sync),
) -> Result<MeasuredKernel<C>, VmError> {
    measure_in::<QemuGuest, C>(request.qemu, request, plan, &Counter::of(request, read)?)
}

fn measure_in<G: Guest, C: Send>(
    host: &G::Host,
    request: &Request<'_>,
    all: &Plan,
    counter: &Counter<'_, C>,
) -> Result<MeasuredKernel<C>, VmError> {
    let mut lost: Vec<(usize, String)> = Vec::new();
    loop {
        let plan = lost.iter().fold(all.clone(), |plan, (index, _)| plan.without(*index));
        let initramfs = Initramfs::new(&plan, &request.settings.condition);
        let (Attempt { collected, about, snapshot }, counts) =
            counter.with_guest(|extra| attempt::<G>(host, request, &initramfs, &plan, extra))?;
        match collected {
            Ok(gathered) => {
                let counts = counts.map(|counts| (gathered.executed().to_vec(), counts));
                return Ok(conclude(about, gathered, counts, lost));
            }
            Err(error)
                if error.unrestored().is_some()
                    && snapshot.as_ref().is_some_and(|snapshot| snapshot.forget(request)) =>
            {
                let how = error.unrestored().unwrap_or_default();
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

fn conclude<C>(
    about: Description,
    mut gathered: Gathered,
    counts: Option<(Vec<Execution>, C)>,
    lost: Vec<(usize, String)>,
) -> MeasuredKernel<C> {
    let mut notes = Vec::new();
    for (index, reason) in lost {
        notes.push(format!("{}: {reason}", path_name(Suite::Exact, index)));
        gathered.mark_lost(index, reason);
    }
    MeasuredKernel {
        release: about.release,
        firmware: about.firmware,
        facts: about.facts,
        proofs: about.proofs,
        paths: gathered.finish(),
        counts,
        notes,
    }
}

/// Runs the paths of [`Suite::Elapsed`] once, in the host's time, the guest's CPUs running at once
/// where the host lets them: what came of each, in the order of the suite.
///
/// The kernel is booted afresh, since a snapshot would be of another clock, and runs on where it
/// was READY. Samples are what the guest's own clock said, in nanoseconds.
pub fn measure_elapsed(request: &Request<'_>) -> Result<Vec<PathOutcome>, VmError> {
    measure_elapsed_in::<QemuGuest>(request.qemu, request)
}

fn measure_elapsed_in<G: Guest>(
    host: &G::Host,
    request: &Request<'_>,
) -> Result<Vec<PathOutcome>, VmError> {
    let plan = Plan::new(Suite::Elapsed, 1);
    let settings = Settings { clock: Clock::Host, ..request.settings.clone() };
    let initramfs = Initramfs::new(&plan, &settings.condition);
    let (guest, _) = boot_guest::<G>(host, request, &settings, &initramfs, Extra::default())?;
    Ok(run_all(AgentRun::resume(request, guest, &plan)?)?.finish())
}

/// What came of one guest.
struct Attempt {
    collected: Result<Gathered, VmError>,
    about: Description,
    /// What it was restored from; None if it was booted.
    snapshot: Option<Snapshot>,
}

/// Runs the plan in one guest, which gets `extra` as well.
fn attempt<G: Guest>(
    host: &G::Host,
    request: &Request<'_>,
    initramfs: &Initramfs,
    plan: &Plan,
    mut extra: Extra,
) -> Result<Attempt, VmError> {
    Ok(match at_ready::<G>(host, request, initramfs, &mut extra)? {
        AtReady::Booted(guest, about) => {
            Attempt { collected: collect(request, Ok(guest), plan), about, snapshot: None }
        }
        AtReady::Saved(snapshot) => {
            let guest = snapshot.restore::<G>(host, request, extra);
            let about = snapshot.about.clone();
            Attempt { collected: collect(request, guest, plan), about, snapshot: Some(snapshot) }
        }
    })
}

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
    let (bytes, firmware) = match &image.boot {
        Boot::Pvh(bytes) => (bytes, Firmware::Own),
        Boot::BzImage { image, .. } => (image, Firmware::Qemu),
    };
    (request.progress)(Progress::Booting);
    if let Some(value) = settings.cpu.arch_capabilities() {
        supply_arch_capabilities(value, &image.boot, &mut extra)?;
    }
    extra.files.extend([
        (fd::KERNEL, OwnedFd::from(memory_file("pathmeter-kernel", bytes)?)),
        (fd::INITRAMFS, OwnedFd::from(memory_file("pathmeter-initramfs", initramfs.as_bytes())?)),
    ]);
    let release = image.release.clone();
    let missing = settings.condition.missing_parameter(vmlinux(&image.boot));
    drop(image);
    let mut guest = G::start(host, request, settings, (Origin::Boot, firmware), extra)?;
    guest.resume()?;
    let (facts, read) = await_ready(&mut guest, &settings.condition)?;
    let proofs = match missing {
        Some(missing) => Err(missing),
        None => settings.condition.proofs(&read, settings.memory_mib),
    };
    let proofs = proofs.map_err(VmError::Unmet)?;
    Ok((guest, Description { release, firmware, facts, proofs }))
}

/// The kernel, unpacked.
fn vmlinux(boot: &Boot) -> &[u8] {
    let (Boot::Pvh(vmlinux) | Boot::BzImage { vmlinux, .. }) = boot;
    vmlinux
}

/// Has the kernel read this value from the MSR, if it reads it at all.
fn supply_arch_capabilities(value: u64, boot: &Boot, extra: &mut Extra) -> Result<(), VmError> {
    let places = arch_capabilities::places(vmlinux(boot)).ok_or(VmError::ArchCapabilityPlaces)?;
    if places.is_empty() {
        return Ok(());
    }
    let made = Supply::new(value, places);
    let (supply, far) =
        made.map_err(|source| VmError::Host { what: "making a channel to QEMU", source })?;
    extra.files.push((fd::GDB, far));
    extra.arguments.extend(arch_capabilities::arguments());
    extra.supply = Some(supply);
    Ok(())
}

/// What a frame before READY means.
enum BeforeReady {
    Fact { one_too_many: bool },
    Shown,
    Ready,
    Unmet(Unmet),
    Fails(GuestCause),
}

/// The agent tells what the kernel prints about its CPU, says READY and pauses the guest, which is
/// under its condition.
fn await_ready(
    guest: &mut impl Guest,
    condition: &Condition,
) -> Result<(Facts, Vec<Read>), VmError> {
    let mut told =
        Told { condition, asked: condition.reads(), facts: Facts::default(), read: vec![] };
    loop {
        let heard = guest.next_frame(|frame| told.before_ready(frame))?;
        let cause = match heard {
            BeforeReady::Fact { one_too_many: false } | BeforeReady::Shown => continue,
            BeforeReady::Fact { one_too_many: true } => {
                let what = "more files about the CPU than there are".to_owned();
                GuestCause::Protocol { what }
            }
            BeforeReady::Ready => {
                guest.await_pause()?;
                taken(&guest.printed(), condition)?;
                return Ok((told.facts, told.read));
            }
            BeforeReady::Unmet(unmet) => return Err(VmError::Unmet(unmet)),
            BeforeReady::Fails(cause) => cause,
        };
        return Err(guest.failure(cause));
    }
}

/// What the agent has told before READY.
struct Told<'a> {
    condition: &'a Condition,
    /// Which files it shall show, and what of them.
    asked: Vec<(String, &'static str)>,
    facts: Facts,
    /// What it has shown, in that order.
    read: Vec<Read>,
}

impl Told<'_> {
    /// Reads a frame that comes before READY, and keeps what it tells.
    fn before_ready(&mut self, frame: &RawFrame<'_>) -> BeforeReady {
        let protocol = |what: String| BeforeReady::Fails(GuestCause::Protocol { what });
        match frame.kind {
            Kind::Fact => match message::read_fact(frame) {
                Ok((name, text)) => {
                    BeforeReady::Fact { one_too_many: !self.facts.take(name, text) }
                }
                Err(error) => protocol(error.to_string()),
            },
            Kind::Shown => match message::read_shown(frame) {
                Ok(shown) => self.shown(&shown),
                Err(error) => protocol(error.to_string()),
            },
            Kind::Unmet => unmet(frame, self.condition),
            kind => match (kind, message::read_plain(frame)) {
                (Kind::Ready, Ok(_)) if self.read.len() == self.asked.len() => BeforeReady::Ready,
                (Kind::Ready, Ok(_)) => protocol("READY before what was to be shown".to_owned()),
                (Kind::Abort, Ok(reason)) => {
                    BeforeReady::Fails(GuestCause::Abort { reason: reason.to_owned() })
                }
                (_, Ok(_)) => protocol(format!("a frame {kind:?} before READY")),
                (_, Err(error)) => protocol(error.to_string()),
            },
        }
    }

    /// Keeps what a file shows: each once, in their order.
    fn shown(&mut self, shown: &message::Shown<'_>) -> BeforeReady {
        let next = self.read.len();
        match self.asked.get(next) {
            Some((path, part)) if shown.file == next as u64 => {
                self.read.push(Read::new((path, part), shown.error, shown.text));
                BeforeReady::Shown
            }
            _ => BeforeReady::Fails(GuestCause::Protocol {
                what: "a file that was not asked for".to_owned(),
            }),
        }
    }
}

/// Which setting the agent could not have.
fn unmet(frame: &RawFrame<'_>, condition: &Condition) -> BeforeReady {
    let protocol = |what: String| BeforeReady::Fails(GuestCause::Protocol { what });
    let message::Unmet { setting, cause, what } = match message::read_unmet(frame) {
        Ok(unmet) => unmet,
        Err(error) => return protocol(error.to_string()),
    };
    let named = usize::try_from(setting).ok().and_then(|at| condition.settings().get(at));
    let what = printable(&String::from_utf8_lossy(what));
    named.map_or_else(
        || protocol("a setting that was not asked for".to_owned()),
        |setting| {
            let (setting, cause) = (setting.to_string(), cause.into());
            BeforeReady::Unmet(Unmet { setting, cause, what, help: None })
        },
    )
}

/// Whether the kernel took the values of its words, as far as it printed anything about them.
fn taken(printed: &Tail, condition: &Condition) -> Result<(), VmError> {
    let Some((setting, line)) = condition.complaint(printed) else { return Ok(()) };
    let (setting, cause) = (setting.to_string(), UnmetCause::Refused);
    let what = format!("the kernel printed: {line}");
    Err(VmError::Unmet(Unmet { setting, cause, what, help: None }))
}

/// Lets the paused guest run, if there is one, and gathers what the agent sends until it is done.
fn collect<G: Guest>(
    request: &Request<'_>,
    guest: Result<G, VmError>,
    plan: &Plan,
) -> Result<Gathered, VmError> {
    run_all(AgentRun::resume(request, guest?, plan)?)
}

/// Hears the agent until it is done.
pub(crate) fn run_all<G: Guest>(mut run: AgentRun<'_, G>) -> Result<Gathered, VmError> {
    while run.hear()? != AgentEvent::Done {}
    Ok(run.into_gathered())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::path::Path;
    use std::rc::Rc;
    use std::time::Duration;

    use pathmeter_wire::message::Place;

    use super::*;
    use crate::error::Step;
    use crate::fake::{At, FakeGuest, FakeHost, Fault, frame, outcome, sample, with_request};
    use crate::{Cache, Caller, Interrupt, PathStatus, ProofState};

    fn measured(host: &Rc<FakeHost>, cache: Option<&Cache>) -> Result<Vec<PathOutcome>, VmError> {
        let counter = Counter::with(memory_file("plugin", &[]).unwrap(), &|_| ());
        with_request(host, cache, |request| {
            let plan = Plan::new(Suite::Exact, request.runs);
            measure_in::<FakeGuest, ()>(host, request, &plan, &counter)
        })
        .map(|kernel| kernel.paths)
    }

    fn panicked() -> GuestCause {
        let message = "Kernel panic - not syncing: oops".to_owned();
        GuestCause::Panicked { message, doubt: crate::qemu_panic::Doubt::None }
    }

    /// What is known of a setting in a guest that shows this of its files.
    fn proved(under: &str, texts: &[(u64, &[u8])]) -> Result<Vec<Proof>, VmError> {
        let condition = Condition::parse(under, |_| Err(String::new())).unwrap();
        let shows = |(file, &(error, text)): (usize, &(u64, &[u8]))| {
            let shown = message::Shown { file: file as u64, error, text };
            (At::Boot, Fault::Sends(frame(|buffer| message::shown(buffer, &shown))))
        };
        let faults = texts.iter().enumerate().map(shows).collect();
        let settings = Settings { condition, ..Settings::default() };
        let host = Rc::new(FakeHost { faults, settings, ..FakeHost::default() });
        let counter = Counter::with(memory_file("plugin", &[]).unwrap(), &|_| ());
        with_request(&host, None, |request| {
            let plan = Plan::new(Suite::Exact, request.runs);
            measure_in::<FakeGuest, ()>(&host, request, &plan, &counter)
        })
        .map(|kernel| kernel.proofs)
    }

    #[test]
    fn a_setting_is_proved_by_what_the_guest_shows_or_is_not() {
        let state = |under: &str, text: &[u8]| proved(under, &[(0, text)]).unwrap()[0].state;
        assert_eq!(state("boot:mds=off", b"Vulnerable\n"), ProofState::Proved);
        assert_eq!(state("boot:mds=off", b"Not affected\n"), ProofState::Moot);
        assert_eq!(state("sysctl:vm.swappiness=1", b"1\n"), ProofState::Proved);
        assert_eq!(state("cgroup:memory.max=max", b"max\n"), ProofState::Proved);
        let missing = proved("boot:mds=off", &[(2, b"")]).unwrap();
        assert_eq!(missing[0].state, ProofState::Unproved);
        assert_eq!(proved("boot:threadirqs", &[]).unwrap()[0].state, ProofState::Unproved);
        assert_eq!(proved("default", &[]).unwrap(), []);
    }

    #[test]
    fn a_setting_that_the_kernel_ignored_is_an_error_with_what_it_has() {
        let error = |under: &str, texts: &[(u64, &[u8])]| match proved(under, texts) {
            Err(VmError::Unmet(unmet)) => unmet,
            other => panic!("{other:?}"),
        };
        let shows: [(u64, &[u8]); 2] = [(0, b"tsc\n"), (0, b"tsc jiffies\n")];
        let clock = error("boot:clocksource=hpet", &shows);
        assert_eq!(clock.cause, UnmetCause::Refused);
        assert!(clock.to_string().ends_with("reads \"tsc jiffies\""), "{clock}");
        let pages = error("boot:transparent_hugepage=always", &[(0, b"always [never]\n")]);
        assert_eq!(pages.cause, UnmetCause::Unseen);
        assert!(pages.help.unwrap().contains("--memory 1024"));
        let parameter = error("boot:printk.nosuch=1", &[(2, b"")]);
        assert_eq!(parameter.cause, UnmetCause::Unknown);
    }

    #[test]
    fn a_guest_shows_what_it_was_asked_for_and_nothing_else() {
        for (under, texts) in [
            ("default", &[(0, &b"x"[..])][..]),
            ("boot:mds=off", &[]),
            ("boot:mds=off", &[(0, b"Vulnerable"), (0, b"Vulnerable")]),
        ] {
            let Err(VmError::Guest { cause: GuestCause::Protocol { .. }, .. }) =
                proved(under, texts)
            else {
                panic!("{under} {texts:?} was taken");
            };
        }
    }

    /// Whether the path was measured in full, in two runs.
    fn is_whole(index: usize, path: &PathOutcome) -> bool {
        let windows = Suite::Exact.paths()[index].kind.samples() as usize;
        path.status == PathStatus::Ok && path.runs == vec![vec![sample(index); windows]; 2]
    }

    fn cache() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().to_owned()).unwrap();
        (folder, cache)
    }

    #[test]
    fn a_kernel_that_dies_in_a_path_is_measured_again_without_it() {
        for cause in [
            panicked(),
            GuestCause::Timeout { limit: Duration::from_secs(60) },
            GuestCause::Ended { by_guest: true, how: "the guest rebooted".to_owned() },
            GuestCause::Abort { reason: "no port".to_owned() },
        ] {
            let host = FakeHost::dying_in(&[3], &cause);
            let paths = measured(&host, None).unwrap();
            let name = path_name(Suite::Exact, 3);
            let reason = format!("the kernel did not survive it: running {name}: {cause}");
            assert_eq!(paths[3].status, PathStatus::Failed(reason));
            let mut others = paths.iter().enumerate().filter(|(index, _)| *index != 3);
            assert!(others.all(|(index, path)| is_whole(index, path)));
            assert_eq!(host.origins(), [Origin::Boot, Origin::Boot]);
            assert!(host.started.borrow()[1..].iter().all(|(_, plan)| plan.skips(3)));
            assert_eq!(host.notes.borrow().len(), 1);
        }
    }

    #[test]
    fn the_fifth_path_that_kills_the_kernel_is_an_error() {
        let four = FakeHost::dying_in(&[0, 1, 2, 3], &panicked());
        let paths = measured(&four, None).unwrap();
        assert_eq!(paths.iter().filter(|path| path.status != PathStatus::Ok).count(), 4);
        let five = FakeHost::dying_in(&[0, 1, 2, 3, 4], &panicked());
        assert_eq!(measured(&five, None).unwrap_err().in_path(), Some(4));
        assert_eq!((four.origins().len(), five.origins().len()), (5, 5));
    }

    #[test]
    fn a_kernel_that_dies_between_paths_is_not_given_another_chance() {
        for cause in [panicked(), GuestCause::Timeout { limit: Duration::from_secs(60) }] {
            let host = FakeHost::with_fault(At::Before(3), Fault::Dies(cause.clone()));
            let Err(VmError::Guest { step: Step::Run, cause: found, .. }) = measured(&host, None)
            else {
                panic!("{cause}");
            };
            assert_eq!((found, &host.origins()[..]), (cause, &[Origin::Boot][..]));
        }
    }

    #[test]
    fn what_is_not_the_kernels_doing_or_is_hostile_costs_no_path() {
        for cause in [
            GuestCause::Ended { by_guest: false, how: "killed".to_owned() },
            GuestCause::Protocol { what: "noise".to_owned() },
        ] {
            let host = FakeHost::dying_in(&[3], &cause);
            assert!(measured(&host, None).is_err());
            assert_eq!(host.origins(), [Origin::Boot]);
        }
    }

    #[test]
    fn frames_in_excess_are_an_error() {
        let windows = Suite::Exact.paths()[3].kind.samples() as usize;
        let third = Place { run: 0, path: 3 };
        for sent in [
            frame(|buffer| message::begin(buffer, Place { run: 0, path: 4 })),
            frame(|buffer| outcome(buffer, Place { run: 1, path: 3 }, &[])),
            frame(|buffer| outcome(buffer, third, &vec![1; windows + 1])),
            frame(|buffer| message::plain(buffer, Kind::Ready, b"")),
        ] {
            let host = FakeHost::with_fault(At::Path(3), Fault::Sends(sent));
            let Err(VmError::Guest { cause: GuestCause::Protocol { .. }, .. }) =
                measured(&host, None)
            else {
                panic!("taken");
            };
            assert_eq!(host.origins(), [Origin::Boot]);
        }
    }

    #[test]
    fn a_kernel_that_does_not_get_ready_is_an_error() {
        let abort = frame(|buffer| message::plain(buffer, Kind::Abort, b"no port"));
        let early = frame(|buffer| message::begin(buffer, Place { run: 0, path: 0 }));
        for (fault, why) in [
            (Fault::Dies(panicked()), panicked().to_string()),
            (Fault::Sends(abort), "the agent gave up: no port".to_owned()),
            (Fault::Sends(early), "the protocol port carried".to_owned()),
        ] {
            let host = FakeHost::with_fault(At::Boot, fault);
            let error = measured(&host, None).unwrap_err().to_string();
            assert!(error.starts_with(&format!("booting the kernel: {why}")), "{error}");
            assert_eq!(host.origins(), [Origin::Boot]);
        }
    }

    #[test]
    fn a_cached_snapshot_that_cannot_be_restored_is_forgotten_and_the_kernel_booted_again() {
        let (_folder, cache) = cache();
        let host = Rc::new(FakeHost::default());
        measured(&host, Some(&cache)).unwrap();
        measured(&host, Some(&cache)).unwrap();
        assert_eq!(host.origins(), [Origin::Boot, Origin::Snapshot]);
        host.unrestorable.set(1);
        let paths = measured(&host, Some(&cache)).unwrap();
        assert!(paths.iter().enumerate().all(|(index, path)| is_whole(index, path)));
        assert_eq!(host.origins()[2..], [Origin::Snapshot, Origin::Boot]);
        assert_eq!(host.notes.borrow().len(), 1);
        measured(&host, Some(&cache)).unwrap();
        assert_eq!(host.origins()[4..], [Origin::Snapshot]);
    }

    #[test]
    fn a_guest_that_has_booted_goes_on_without_being_restored() {
        let (_folder, cache) = cache();
        for cache in [None, Some(&cache)] {
            let host = Rc::new(FakeHost::default());
            host.unrestorable.set(1);
            let paths = measured(&host, cache).unwrap();
            assert!(paths.iter().enumerate().all(|(index, path)| is_whole(index, path)));
            assert_eq!(host.origins(), [Origin::Boot]);
        }
    }

    #[test]
    fn a_corrupt_snapshot_is_made_again() {
        let (folder, cache) = cache();
        let host = Rc::new(FakeHost::default());
        measured(&host, Some(&cache)).unwrap();
        let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        File::options().write(true).open(file).unwrap().set_len(20).unwrap();
        measured(&host, Some(&cache)).unwrap();
        assert_eq!(host.origins(), [Origin::Boot, Origin::Boot]);
        measured(&host, Some(&cache)).unwrap();
        assert_eq!(host.origins()[2..], [Origin::Snapshot]);
        assert_eq!(host.notes.borrow().len(), 1);
    }

    #[test]
    fn what_cannot_be_kept_is_said_once_and_measured_all_the_same() {
        let (folder, cache) = cache();
        std::fs::remove_dir(folder.path()).unwrap();
        let host = Rc::new(FakeHost::default());
        for _ in 0..2 {
            let paths = measured(&host, Some(&cache)).unwrap();
            assert!(paths.iter().enumerate().all(|(index, path)| is_whole(index, path)));
        }
        assert_eq!(host.origins(), [Origin::Boot, Origin::Boot]);
        let notes = host.notes.borrow();
        let named = format!("the cache folder {}: No such file", folder.path().display());
        assert!(notes.len() == 1 && notes[0].starts_with(&named), "{notes:?}");
    }

    #[test]
    fn a_guest_that_cannot_be_saved_is_an_error_and_leaves_nothing() {
        let (folder, cache) = cache();
        let host = Rc::new(FakeHost { full: true, ..FakeHost::default() });
        assert!(matches!(measured(&host, Some(&cache)), Err(VmError::Save { .. })));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_snapshot_of_another_kernel_is_not_restored() {
        let (folder, cache) = cache();
        let host = Rc::new(FakeHost::default());
        measured(&host, Some(&cache)).unwrap();
        let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        let other = Key::new(EntryKind::Snapshot, &[("image_sha256", "1")]);
        let of_other = Path::new(folder.path()).join(other.name());
        std::fs::rename(&file, &of_other).unwrap();
        let (limit, interrupt) = (Duration::from_secs(60), Interrupt::default());
        let notes = RefCell::new(0);
        let progress = |_: Progress<'_>| *notes.borrow_mut() += 1;
        let caller = Caller { limit, interrupt: &interrupt, progress: &progress, again: "" };
        let sought = cache.seek(other, caller, Snapshot::open).unwrap();
        assert!(matches!(sought, Sought::Missing(_)) && *notes.borrow() == 1);
        assert!(!of_other.exists());
    }

    #[test]
    fn the_limit_holds_for_each_run_anew() {
        let host = Rc::new(FakeHost::default());
        measured(&host, None).unwrap();
        let firsts = Suite::Exact.rounds().flat_map(|round| {
            let first = Suite::Exact
                .in_round(round)
                .next()
                .map(|(index, path)| Step::Path { index, name: path.name.to_owned() });
            first.into_iter().flat_map(|first| [first.clone(), first])
        });
        // The very first run's began as the guest was resumed.
        let expected: Vec<_> = [Step::Run].into_iter().chain(firsts.skip(1)).collect();
        assert_eq!(*host.begun.borrow(), expected);
    }

    #[test]
    fn in_elapsed_time_the_guest_runs_on_after_its_boot() {
        let host = Rc::new(FakeHost::default());
        let measured =
            with_request(&host, None, |request| measure_elapsed_in::<FakeGuest>(&host, request));
        assert!(measured.unwrap().iter().all(|path| path.status == PathStatus::Ok));
        assert_eq!(host.origins(), [Origin::Boot]);
    }
}
