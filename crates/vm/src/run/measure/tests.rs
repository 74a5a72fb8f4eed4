//! Measurements in a guest of a script, which dies where a test wants.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use pathmeter_wire::{
    Kind,
    message::{self, Memory, Place},
};

use super::*;
use crate::error::{GuestCause, Step};
use crate::machine::Origin;
use crate::qemu::memory_file::memory_file;
use crate::run::fake::{
    At, FakeGuest, FakeHost, Fault, ROOM, frame, outcome, sample, with_request,
};
use crate::{
    Cache, Caller, Condition, EntryKind, Interrupt, Key, PathStatus, ProofState, Sought, UnmetCause,
};

fn measure_paths(host: &Rc<FakeHost>, cache: Option<&Cache>) -> Result<Vec<PathOutcome>, VmError> {
    let counter = Counter::with(memory_file("plugin", &[]).unwrap(), &|_| ());
    with_request(host, cache, |request| {
        let plan = Plan::new(Suite::Exact, request.runs);
        measure_in::<FakeGuest, ()>(host, request, (&plan, None), &counter)
    })
    .map(|kernel| kernel.paths)
}

fn panicked() -> GuestCause {
    let message = "Kernel panic - not syncing: oops".to_owned();
    GuestCause::Panicked { message, doubt: crate::arch::Doubt::None }
}

/// What is known of a setting in a guest that shows this of its files.
fn proved(under: &str, texts: &[(u64, &[u8])]) -> Result<Vec<Proof>, VmError> {
    let shows = |(file, &(error, text)): (usize, &(u64, &[u8]))| {
        let shown = message::Shown { file: file as u64, error, text };
        frame(|buffer| message::write_shown(buffer, &shown))
    };
    prove_settings(under, texts.iter().enumerate().map(shows).collect())
}

/// Proves the settings `under` in a guest that sends these frames before READY.
fn prove_settings(under: &str, frames: Vec<Vec<u8>>) -> Result<Vec<Proof>, VmError> {
    let condition = Condition::parse(under, &|_: &str| Err(String::new())).unwrap();
    let faults = frames.into_iter().map(|frame| (At::Parcel, Fault::Sends(frame))).collect();
    let settings = Settings { condition, ..Settings::default() };
    let host = Rc::new(FakeHost { faults, settings, ..FakeHost::default() });
    let counter = Counter::with(memory_file("plugin", &[]).unwrap(), &|_| ());
    with_request(&host, None, |request| {
        let plan = Plan::new(Suite::Exact, request.runs);
        measure_in::<FakeGuest, ()>(&host, request, (&plan, None), &counter)
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
    let errors = |under: &str, texts: &[(u64, &[u8])]| match proved(under, texts) {
        Err(VmError::Unmet(unmet)) => unmet,
        other => panic!("{other:?}"),
    };
    let error = |under: &str, texts: &[(u64, &[u8])]| errors(under, texts).swap_remove(0);
    let shows: [(u64, &[u8]); 2] = [(0, b"tsc\n"), (0, b"tsc jiffies\n")];
    let clock = error("boot:clocksource=hpet", &shows);
    assert_eq!(clock.cause, UnmetCause::Refused);
    assert!(clock.to_string().ends_with("reads \"tsc jiffies\""), "{clock}");
    let pages = error("boot:transparent_hugepage=always", &[(0, b"always [never]\n")]);
    assert_eq!(pages.cause, UnmetCause::Unseen);
    assert!(pages.help.unwrap().contains("--memory 1024"));
    let parameter = error("boot:printk.nosuch=1", &[(2, b"")]);
    assert_eq!(parameter.cause, UnmetCause::Unknown);
    let mitigated = [&shows[..], &[(0, b"Mitigation: Clear CPU buffers\n")]].concat();
    let both = errors("boot:clocksource=hpet boot:mds=off", &mitigated);
    assert_eq!(both.len(), 2, "{both:?}");
}

#[test]
fn all_settings_that_the_agent_can_not_have_are_told_at_once_and_each_once() {
    let unmet = |setting| {
        let unmet = message::Unmet { setting, cause: message::UnmetCause::Refused, what: b"no" };
        frame(|buffer| message::unmet(buffer, &unmet))
    };
    let done = || frame(|buffer| message::plain(buffer, Kind::Done, b""));
    let told =
        |frames: Vec<Vec<u8>>| prove_settings("boot:x boot:y", frames).unwrap_err().to_string();
    assert_eq!(told(vec![unmet(0), unmet(1), done()]), "boot:x: no; boot:y: no");
    // What is known of the boot comes after, and is not told again.
    let both = |frames| prove_settings("boot:a.b=1 boot:c.d=1", frames).unwrap_err().to_string();
    let of_boot = "boot:c.d=1: no module that is built into this kernel has such a parameter";
    assert_eq!(both(vec![unmet(0), done()]), format!("boot:a.b=1: no; {of_boot}"));
    // None goes on without them, and none is told twice or was not asked for.
    assert!(told(vec![unmet(1)]).contains("READY"), "{}", told(vec![unmet(1)]));
    for again in [vec![unmet(1), unmet(1), done()], vec![unmet(2), done()]] {
        assert!(told(again).contains("a setting that was not asked for"));
    }
}

#[test]
fn a_guest_shows_what_it_was_asked_for_and_nothing_else() {
    for (under, texts) in [
        ("default", &[(0, &b"x"[..])][..]),
        ("boot:mds=off", &[]),
        ("boot:mds=off", &[(0, b"Vulnerable"), (0, b"Vulnerable")]),
    ] {
        let Err(VmError::Guest { cause: GuestCause::Protocol { .. }, .. }) = proved(under, texts)
        else {
            panic!("{under} {texts:?} was taken");
        };
    }
}

#[test]
fn what_comes_at_another_stage_is_refused() {
    let fact = frame(|buffer| message::fact(buffer, b"meltdown", b"Mitigation: PTI"));
    let room =
        |length| frame(|buffer| message::memory(buffer, Kind::Start, Memory { length, ..ROOM }));
    let ready = frame(|buffer| message::plain(buffer, Kind::Ready, b""));
    let shown = message::Shown { file: 0, error: 0, text: b"x" };
    let shown = frame(|buffer| message::write_shown(buffer, &shown));
    let sends = |at, sent: &Vec<u8>| {
        let host = FakeHost::with_fault(at, Fault::Sends(sent.clone()));
        match measure_paths(&host, None) {
            Ok(_) => None,
            Err(VmError::Guest { cause: GuestCause::Protocol { what }, .. }) => Some(what),
            Err(error) => panic!("{error}"),
        }
    };
    assert_eq!(sends(At::Boot, &fact), None);
    assert!(sends(At::Parcel, &fact).unwrap().contains("a frame Fact now"));
    assert!(sends(At::Boot, &ready).unwrap().contains("a frame Ready now"));
    assert!(sends(At::Boot, &shown).unwrap().contains("a frame Shown now"));
    assert!(sends(At::Parcel, &room(1 << 20)).unwrap().contains("a frame Start now"));
    assert!(sends(At::Boot, &room(u64::MAX)).is_some());
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
        let paths = measure_paths(&host, None).unwrap();
        let name = path_name(Suite::Exact, 3);
        let reason = format!("the kernel did not survive it: running {name}: {cause}");
        assert_eq!(paths[3].status, PathStatus::Failed(reason));
        let mut others = paths.iter().enumerate().filter(|(index, _)| *index != 3);
        assert!(others.all(|(index, path)| is_whole(index, path)));
        assert_eq!(host.origins(), [Origin::Boot, Origin::Snapshot, Origin::Snapshot]);
        assert!(host.started.borrow()[2].1.as_ref().unwrap().skips(3));
        assert_eq!(host.notes.borrow().len(), 1);
    }
}

#[test]
fn the_fifth_path_that_kills_the_kernel_is_an_error() {
    let four = FakeHost::dying_in(&[0, 1, 2, 3], &panicked());
    let paths = measure_paths(&four, None).unwrap();
    assert_eq!(paths.iter().filter(|path| path.status != PathStatus::Ok).count(), 4);
    let five = FakeHost::dying_in(&[0, 1, 2, 3, 4], &panicked());
    assert_eq!(measure_paths(&five, None).unwrap_err().in_path(), Some(4));
    assert_eq!((four.origins().len(), five.origins().len()), (6, 6));
}

#[test]
fn a_kernel_that_dies_between_paths_is_not_given_another_chance() {
    for cause in [panicked(), GuestCause::Timeout { limit: Duration::from_secs(60) }] {
        let host = FakeHost::with_fault(At::Before(3), Fault::Dies(cause.clone()));
        let Err(VmError::Guest { step: Step::Run, cause: found, .. }) = measure_paths(&host, None)
        else {
            panic!("{cause}");
        };
        assert_eq!((found, host.origins().len()), (cause, 2));
    }
}

#[test]
fn what_is_not_the_kernels_doing_or_is_hostile_costs_no_path() {
    for cause in [
        GuestCause::Ended { by_guest: false, how: "killed".to_owned() },
        GuestCause::Protocol { what: "noise".to_owned() },
    ] {
        let host = FakeHost::dying_in(&[3], &cause);
        assert!(measure_paths(&host, None).is_err());
        assert_eq!(host.origins().len(), 2);
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
            measure_paths(&host, None)
        else {
            panic!("taken");
        };
        assert_eq!(host.origins().len(), 2);
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
        let error = measure_paths(&host, None).unwrap_err().to_string();
        assert!(error.starts_with(&format!("booting the kernel: {why}")), "{error}");
        assert_eq!(host.origins(), [Origin::Boot]);
    }
}

#[test]
fn a_cached_snapshot_that_cannot_be_restored_is_forgotten_and_the_kernel_booted_again() {
    let (_folder, cache) = cache();
    let host = Rc::new(FakeHost::default());
    measure_paths(&host, Some(&cache)).unwrap();
    measure_paths(&host, Some(&cache)).unwrap();
    let (boot, restored) = (Origin::Boot, Origin::Snapshot);
    assert_eq!(host.origins(), [boot, restored, restored]);
    host.unrestorable.set(1);
    let paths = measure_paths(&host, Some(&cache)).unwrap();
    assert!(paths.iter().enumerate().all(|(index, path)| is_whole(index, path)));
    assert_eq!(host.origins()[3..], [restored, boot, restored]);
    assert_eq!(host.notes.borrow().len(), 1);
    measure_paths(&host, Some(&cache)).unwrap();
    assert_eq!(host.origins()[6..], [restored]);
}

#[test]
fn a_guest_with_two_cpus_goes_on_where_it_has_booted() {
    let (_folder, cache) = cache();
    for cache in [None, Some(&cache)] {
        let settings = Settings { cpus: 2, ..Settings::default() };
        let host = Rc::new(FakeHost { settings, ..FakeHost::default() });
        let paths = measure_paths(&host, cache).unwrap();
        assert!(paths.iter().enumerate().all(|(index, path)| is_whole(index, path)));
        assert_eq!(host.origins(), [Origin::Boot]);
    }
}

#[test]
fn a_corrupt_snapshot_is_made_again() {
    let (folder, cache) = cache();
    let host = Rc::new(FakeHost::default());
    measure_paths(&host, Some(&cache)).unwrap();
    let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    File::options().write(true).open(file).unwrap().set_len(20).unwrap();
    measure_paths(&host, Some(&cache)).unwrap();
    assert_eq!(host.origins(), [[Origin::Boot, Origin::Snapshot]; 2].concat());
    measure_paths(&host, Some(&cache)).unwrap();
    assert_eq!(host.origins()[4..], [Origin::Snapshot]);
    assert_eq!(host.notes.borrow().len(), 1);
}

#[test]
fn what_cannot_be_kept_is_said_once_and_measured_all_the_same() {
    let (folder, cache) = cache();
    std::fs::remove_dir(folder.path()).unwrap();
    let host = Rc::new(FakeHost::default());
    for _ in 0..2 {
        let paths = measure_paths(&host, Some(&cache)).unwrap();
        assert!(paths.iter().enumerate().all(|(index, path)| is_whole(index, path)));
    }
    assert_eq!(host.origins(), [[Origin::Boot, Origin::Snapshot]; 2].concat());
    let notes = host.notes.borrow();
    let named = format!("the cache folder {}: No such file", folder.path().display());
    assert!(notes.len() == 1 && notes[0].starts_with(&named), "{notes:?}");
}

#[test]
fn a_guest_that_cannot_be_saved_is_an_error_and_leaves_nothing() {
    let (folder, cache) = cache();
    let host = Rc::new(FakeHost { full: true, ..FakeHost::default() });
    assert!(matches!(measure_paths(&host, Some(&cache)), Err(VmError::Save { .. })));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_snapshot_of_another_kernel_is_not_restored() {
    let (folder, cache) = cache();
    let host = Rc::new(FakeHost::default());
    measure_paths(&host, Some(&cache)).unwrap();
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
    measure_paths(&host, None).unwrap();
    let firsts = Suite::Exact.rounds().flat_map(|round| {
        let first = Suite::Exact
            .in_round(round)
            .next()
            .map(|(index, path)| Step::Path { index, name: path.name.to_owned() });
        first.into_iter().flat_map(|first| [first.clone(), first])
    });
    // The very first run's began at READY, and the limit for that as the guest was resumed.
    let before = [Step::Save, Step::Run, Step::Run];
    let expected: Vec<_> = before.into_iter().chain(firsts.skip(1)).collect();
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
