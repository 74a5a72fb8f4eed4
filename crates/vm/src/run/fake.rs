//! A guest of a script, for tests: it gets the same descriptors and arguments as QEMU, runs the
//! plan of its parcel, and fails where the test wants.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use pathmeter_image::{ImageError, KernelImage};
use pathmeter_wire::message::{self, Memory, OutcomeStatus, Place};
use pathmeter_wire::plan::Plan;
use pathmeter_wire::{Kind, MAX_FRAME, RawFrame, next_frame};

use crate::{
    Cache, Interrupt, Kernel, Progress, Qemu, Request, Settings, VmError,
    arch::{Firmware, READBACK, any_boot},
    console::Tail,
    error::{GuestCause, Step},
    guest::{Bounds, Extra, Guest},
    machine::{Origin, fd},
};

/// Where in a guest's run a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// Before the guest is paused.
    Boot,
    /// After it has its parcel, before READY.
    Parcel,
    /// In a path, each time that it is run.
    Path(usize),
    /// Between paths: before the first run of this one, not yet begun.
    Before(usize),
}

/// What happens where a fault strikes.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// The guest ends for this cause.
    Dies(GuestCause),
    /// The agent sends this frame, then goes on.
    Sends(Vec<u8>),
}

/// What guests of a script run in: their kernel's faults, and what was seen of them.
#[derive(Default)]
pub(crate) struct FakeHost {
    pub(crate) faults: Vec<(At, Fault)>,
    /// The guest that is asked for.
    pub(crate) settings: Settings,
    /// So many restored guests end before they are.
    pub(crate) unrestorable: Cell<u32>,
    /// There is no room for a guest's state.
    pub(crate) full: bool,
    /// Each guest that was started: how, and which plan it was handed.
    pub(crate) started: RefCell<Vec<(Origin, Option<Plan>)>>,
    /// Each step for which the limit began anew.
    pub(crate) begun: RefCell<Vec<Step>>,
    /// What was written to memory.
    pub(crate) written: RefCell<Vec<Vec<u8>>>,
    /// What the user was told.
    pub(crate) notes: RefCell<Vec<String>>,
}

impl FakeHost {
    /// A host whose kernel dies of `cause` in these paths.
    pub(crate) fn dying_in(paths: &[usize], cause: &GuestCause) -> Rc<Self> {
        let faults = paths.iter().map(|path| (At::Path(*path), Fault::Dies(cause.clone())));
        Rc::new(Self { faults: faults.collect(), ..Self::default() })
    }

    /// A host whose kernel has one fault.
    pub(crate) fn with_fault(at: At, fault: Fault) -> Rc<Self> {
        Rc::new(Self { faults: vec![(at, fault)], ..Self::default() })
    }

    /// How the guests so far were started.
    pub(crate) fn origins(&self) -> Vec<Origin> {
        self.started.borrow().iter().map(|(origin, _)| *origin).collect()
    }
}

/// Has `act` handle a request for two runs, with what `host` is told.
pub(crate) fn with_request<R>(
    host: &FakeHost,
    cache: Option<&Cache>,
    act: impl FnOnce(&Request<'_>) -> R,
) -> R {
    let notes = std::sync::Mutex::new(Vec::new());
    let qemu = Qemu { path: "qemu".into(), version: "7.2.0".to_owned(), number: (7, 2) };
    let request = Request {
        points: &[],
        qemu: &qemu,
        kernel: Kernel { sha256: "0".repeat(64), load: &load },
        settings: &host.settings,
        runs: 2,
        cache,
        limit: Duration::from_secs(60),
        interrupt: &Interrupt::default(),
        boots_with_parcel: false,
        progress: &|progress| {
            if let Progress::Note(note) = progress {
                notes.lock().unwrap().push(note.to_owned());
            }
        },
    };
    let result = act(&request);
    host.notes.borrow_mut().extend(notes.into_inner().unwrap());
    result
}

#[expect(clippy::unnecessary_wraps, reason = "a request's kernel may fail to load")]
fn load() -> Result<Arc<KernelImage>, ImageError> {
    let release = Some("6.1.0".to_owned());
    let boot = any_boot();
    Ok(Arc::new(KernelImage { release, banner: None, build_id: None, boot, config: None }))
}

/// What comes of a guest next.
enum Next {
    Frame(Vec<u8>),
    Dies(GuestCause),
}

/// A guest of a script.
pub(crate) struct FakeGuest {
    host: Rc<FakeHost>,
    plan: Option<Plan>,
    /// Whether it was handed its parcel.
    is_handed: bool,
    step: Step,
    next: VecDeque<Next>,
    /// Paths, by their indexes, of whose first execution a trace goes to a file.
    traces: Vec<(usize, File)>,
    /// Where its symbols go, if they are all that it is asked for.
    memory: Option<File>,
}

impl Guest for FakeGuest {
    type Host = Rc<FakeHost>;

    fn start(
        host: &Rc<FakeHost>,
        _: Bounds<'_>,
        _: &Settings,
        (origin, _): (Origin, Firmware),
        mut extra: Extra,
    ) -> Result<Self, VmError> {
        let step = if origin == Origin::Boot { Step::Boot } else { Step::Restore };
        let number = if origin == Origin::Boot { fd::INITRAMFS } else { fd::INCOMING };
        let mut bytes = Vec::new();
        let mut file = take(&mut extra.files, number);
        // A pipe can't be rewound, and need not be.
        let _ = file.rewind();
        file.read_to_end(&mut bytes).unwrap();
        let plan = read_plan(&bytes);
        host.started.borrow_mut().push((origin, plan.clone()));
        let asked = extra.arguments.iter().any(|word| word.starts_with(READBACK));
        let memory = asked.then(|| take(&mut extra.files, fd::MEMORY));
        let traces = traces(&mut extra);
        let (host, next) = (Rc::clone(host), VecDeque::new());
        let mut guest = Self { host, plan, is_handed: false, step, next, traces, memory };
        let host = Rc::clone(&guest.host);
        if origin == Origin::Snapshot && host.unrestorable.get() > 0 {
            host.unrestorable.set(host.unrestorable.get() - 1);
            let how = "QEMU ended by itself".to_owned();
            return Err(guest.failure(GuestCause::Ended { by_guest: false, how }));
        }
        if origin == Origin::Boot && guest.strike(At::Boot) {
            match guest.plan {
                Some(_) => guest.send(|buffer| message::plain(buffer, Kind::Ready, b"")),
                None => guest.send(|buffer| message::memory(buffer, Kind::Start, ROOM)),
            }
        }
        Ok(guest)
    }

    /// Only now are its paths run: at READY nothing is.
    fn resume(&mut self) -> Result<(), VmError> {
        if !matches!(self.step, Step::Run | Step::Condition) {
            return Ok(());
        }
        if self.is_handed {
            if !self.strike(At::Parcel) {
                return Ok(());
            }
            self.send(|buffer| message::plain(buffer, Kind::Ready, b""));
        }
        let asked = self.memory.is_some();
        if asked || self.run_plan() {
            self.send(|buffer| message::plain(buffer, Kind::Done, b""));
        }
        if asked {
            let memory = Memory { address: 0, length: SYMBOLS.len() as u64 };
            self.send(|buffer| message::memory(buffer, Kind::Symbols, memory));
        }
        Ok(())
    }

    fn begin(&mut self, step: Step) {
        self.host.begun.borrow_mut().push(step.clone());
        self.step = step;
    }

    fn proceed(&mut self, step: Step) {
        self.step = step;
    }

    fn next_frame<R>(&mut self, take: impl FnOnce(&RawFrame<'_>) -> R) -> Result<R, VmError> {
        match self.next.pop_front().expect("the sequence waits for a guest that is done") {
            Next::Frame(bytes) => Ok(take(&next_frame(&bytes).unwrap().unwrap())),
            Next::Dies(cause) => Err(self.failure(cause)),
        }
    }

    fn await_pause(&mut self) -> Result<(), VmError> {
        Ok(())
    }

    /// All the state that it has is the plan, if it has booted with that.
    fn save(&mut self, mut file: File) -> Result<(), VmError> {
        let written = if self.host.full {
            Err(std::io::ErrorKind::StorageFull.into())
        } else {
            let plan = self.plan.as_ref().map(Plan::to_string);
            file.write_all(plan.unwrap_or_default().as_bytes())
        };
        written.map_err(|source| VmError::Save { source })
    }

    fn copy_memory(&mut self, _: Memory) -> Result<(), VmError> {
        self.memory.as_mut().unwrap().write_all(SYMBOLS).unwrap();
        Ok(())
    }

    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), VmError> {
        assert_eq!(address, ROOM.address);
        self.plan = read_plan(bytes);
        self.is_handed = true;
        self.host.started.borrow_mut().last_mut().unwrap().1 = self.plan.clone();
        self.host.written.borrow_mut().push(bytes.to_vec());
        Ok(())
    }

    fn printed(&self) -> Tail {
        Tail::default()
    }

    fn failure(&self, cause: GuestCause) -> VmError {
        VmError::Guest { step: self.step.clone(), cause, console: Tail::default() }
    }
}

impl FakeGuest {
    /// Runs all that the plan has, one sample a window; false if it died.
    fn run_plan(&mut self) -> bool {
        let plan = self.plan.clone().unwrap();
        for execution in plan.order() {
            let place = Place { run: execution.run.into(), path: execution.path as u64 };
            if execution.run == 0 && !self.strike(At::Before(execution.path)) {
                return false;
            }
            self.send(|buffer| message::begin(buffer, place));
            let wanted = self.traces.iter().position(|(path, _)| *path == execution.path);
            if let Some(wanted) = wanted {
                let (path, mut file) = self.traces.remove(wanted);
                write!(file, "{path}").unwrap();
            }
            if !self.strike(At::Path(execution.path)) {
                return false;
            }
            let windows = plan.suite().paths()[execution.path].kind.samples();
            let samples = vec![sample(execution.path); windows as usize];
            self.send(|buffer| outcome(buffer, place, &samples));
        }
        true
    }

    /// The faults of this place; false if it died of them.
    fn strike(&mut self, here: At) -> bool {
        for (_, fault) in self.host.faults.iter().filter(|(at, _)| *at == here) {
            match fault {
                Fault::Sends(bytes) => self.next.push_back(Next::Frame(bytes.clone())),
                Fault::Dies(cause) => {
                    self.next.push_back(Next::Dies(cause.clone()));
                    return false;
                }
            }
        }
        true
    }

    fn send(&mut self, write: impl FnOnce(&mut [u8]) -> Option<&[u8]>) {
        self.next.push_back(Next::Frame(frame(write)));
    }
}

/// Where it waits for its parcel.
pub(crate) const ROOM: Memory = Memory { address: 1 << 40, length: 1 << 20 };

/// The symbols of the fake guest's kernel.
pub(crate) const SYMBOLS: &[u8] = b"ffffffff81000000 T _text\n";

/// The sample of every window of this path.
pub(crate) fn sample(path: usize) -> u64 {
    300 + path as u64
}

/// A frame as it goes over the port.
pub(crate) fn frame(write: impl FnOnce(&mut [u8]) -> Option<&[u8]>) -> Vec<u8> {
    write(&mut vec![0; MAX_FRAME]).unwrap().to_vec()
}

/// What came of a path, ok.
pub(crate) fn outcome<'a>(buffer: &'a mut [u8], place: Place, samples: &[u64]) -> Option<&'a [u8]> {
    let checks = [].into_iter();
    let status = OutcomeStatus::Ok;
    let (reason, lower_bounds) = (&b""[..], &[][..]);
    message::outcome(
        buffer,
        message::Outcome { place, status, reason, checks, samples, lower_bounds },
    )
}

fn take(files: &mut Vec<(i32, OwnedFd)>, number: i32) -> File {
    let place = files.iter().position(|(given, _)| *given == number).unwrap();
    File::from(files.swap_remove(place).1)
}

/// The plan in an archive, or in a snapshot, if there is one: a text from its first word on.
fn read_plan(bytes: &[u8]) -> Option<Plan> {
    let begin = bytes.windows(6).rposition(|word| word == b"suite ")?;
    let ends = bytes[begin..].iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
    let mut plans = ends.filter_map(|(end, _)| Plan::read(&bytes[begin..=begin + end]).ok());
    plans.next()
}

/// The recorder's `path=INDEX,fd=NUMBER`, as it is told them.
fn traces(extra: &mut Extra) -> Vec<(usize, File)> {
    let Some(plugin) = extra.arguments.get(1) else { return Vec::new() };
    let number = |word: &str| word.parse::<i32>().unwrap();
    let words: Vec<_> = plugin.split(',').filter_map(|word| word.split_once('=')).collect();
    let paths = words.iter().filter(|(name, _)| *name == "path").map(|(_, value)| number(value));
    let numbers = words.iter().filter(|(name, _)| *name == "fd").map(|(_, value)| number(value));
    paths
        .zip(numbers)
        .map(|(path, fd)| (usize::try_from(path).unwrap(), take(&mut extra.files, fd)))
        .collect()
}
