//! BPF programs that do nothing, attached while a process of a live host takes its times: the
//! agent's programs at the agent's places (`../agent/src/bpf.rs`).
//!
//! The server attaches them before it starts the process, and detaches them after its end, so that
//! the process has no descriptor of theirs; the kernel detaches them if the server is killed. Those
//! at tracepoints and functions are executed by all processes of the machine meanwhile.

#![allow(dead_code, reason = "the agent shows more of its programs")]

#[path = "../../agent/src/bpf/call.rs"]
mod call;
#[path = "../../agent/src/bpf/kinds.rs"]
mod kinds;
#[path = "../../agent/src/bpf/target.rs"]
mod target;

use pathmeter_probes::sys::{self, nr};

use crate::ground::{Refused, at};
use call::{LOAD, Load, bpf, lock_memory};
use kinds::{PlaceKind, TYPES, Type};
use target::Target;

/// Most bytes of a list of programs.
const MAX_LIST: usize = 4096;
/// The most programs of one condition.
const MOST: usize = 128;

/// Which programs a condition has, a line each: `COUNT NUMBER TYPE:PLACE`. The number is that of
/// the tracepoint in tracefs, of the kind of events or of the function in the kernel's types.
pub(crate) struct Programs {
    list: [u8; MAX_LIST],
    length: usize,
}

impl Programs {
    /// Reads them from the file that is open by this number, from its beginning, and closes it.
    pub(crate) fn read(file: usize) -> Result<Self, Refused> {
        let mut list = [0; MAX_LIST];
        let length = sys::read_at(file, &mut list, 0).map_err(at("bpf-list"))?;
        let _ = sys::close(file);
        Ok(Self { list, length })
    }

    /// Loads and attaches them all; `apart` is whether the caller has a network of its own.
    pub(crate) fn attach(&self, apart: bool) -> Result<Attached, Refused> {
        let before = lock_memory([u64::MAX; 2]);
        let mut attached = Attached::NONE;
        let lines = self.list[..self.length].split(|byte| *byte == b'\n');
        let mut lines = lines.filter(|line| !line.is_empty());
        let all = lines.try_for_each(|line| attached.add(line, apart));
        before.map(lock_memory);
        all.map(|()| attached)
    }
}

/// Programs that are attached until this is dropped.
pub(crate) struct Attached {
    /// By which each is attached, and by which it is known.
    descriptors: [(usize, usize); MOST],
    count: usize,
}

impl Attached {
    const NONE: Self = Self { descriptors: [(0, 0); MOST], count: 0 };

    /// Loads and attaches those of a line.
    fn add(&mut self, line: &[u8], apart: bool) -> Result<(), Refused> {
        const LIST: Refused = Refused { step: "bpf-list", error: 0 };
        let mut words = line.splitn(3, |byte| *byte == b' ');
        let mut number = || core::str::from_utf8(words.next()?).ok()?.parse::<u64>().ok();
        let (count, number) = (number().ok_or(LIST)?, number().ok_or(LIST)?);
        let name = words.next().ok_or(LIST)?;
        let found = TYPES.iter().find_map(|kind| Some((kind, name.strip_prefix(kind.name)?)));
        let (kind, place) = found.ok_or(LIST)?;
        let mut text = [0; 256];
        text.get_mut(..place.len()).ok_or(LIST)?.copy_from_slice(place);
        let target = target(kind, number, text.as_ptr() as u64, apart)?;
        for _ in 0..count {
            let free = self.descriptors.get_mut(self.count).ok_or(LIST)?;
            *free = attach(kind, &target, number as u32)?;
            self.count += 1;
        }
        if let (Target::Link(namespace, _), PlaceKind::Network) = (&target, &kind.place) {
            let _ = sys::close(*namespace as usize);
        }
        Ok(())
    }

    fn each(&self) -> &[(usize, usize)] {
        self.descriptors.get(..self.count).unwrap_or_default()
    }

    /// Has the kernel count how often programs are executed, which makes each take longer, until
    /// the descriptor is closed.
    pub(crate) fn count_runs() -> sys::Ret {
        const ENABLE_STATS: usize = 32;
        const RUN_TIME: u64 = 0;
        // SAFETY: takes no pointer.
        unsafe { bpf(ENABLE_STATS, &mut [RUN_TIME]) }
    }

    /// How often the one was executed that was executed the least, while that was counted, and
    /// whether all were translated to machine code.
    pub(crate) fn runs(&self) -> (u64, bool) {
        let infos = || self.each().iter().filter_map(|(_, program)| Info::of(*program).ok());
        let runs = infos().map(|info| info.runs).min().unwrap_or(0);
        (runs, infos().all(|info| info.translated > 0))
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        for (holder, program) in self.each() {
            let _ = [holder, program].map(|descriptor| sys::close(*descriptor));
        }
    }
}

/// Loads a program and attaches it; proved by the kernel, which shows the program there.
fn attach(kind: &Type, target: &Target, function: u32) -> Result<(usize, usize), Refused> {
    let names_function = matches!(target, Target::Function);
    let program = load(kind, if names_function { function } else { 0 }).map_err(at("bpf-load"))?;
    let attached = target.attach(kind.attachment, program).map_err(at("bpf-attach"));
    let shown = attached.and_then(|holder| match target.attached(holder) {
        Ok(number) if Info::of(program).is_ok_and(|info| info.number == number) => Ok(holder),
        shown => {
            let _ = sys::close(holder);
            Err(Refused { step: "bpf-show", error: shown.err().unwrap_or(0) })
        }
    });
    match shown {
        Ok(holder) => Ok((holder, program)),
        Err(refused) => {
            let _ = sys::close(program);
            Err(refused)
        }
    }
}

/// Where programs of this type are attached; the place's name has this address.
fn target(kind: &Type, number: u64, name: u64, apart: bool) -> Result<Target, Refused> {
    const TRACEPOINT: u64 = 2;
    const LOOPBACK: u32 = 1;
    const NOT_APART: Refused = Refused { step: "bpf-network", error: 0 };
    Ok(match kind.place {
        PlaceKind::RawTracepoint => Target::Raw(name),
        PlaceKind::Tracepoint => Target::event(TRACEPOINT, number, 0),
        PlaceKind::Kprobe(entry_or_return) => Target::event(number, entry_or_return, name),
        PlaceKind::Function(_) => Target::Function,
        // The machine's own network, and the group of all its processes, are left alone.
        PlaceKind::Group => return Err(NOT_APART),
        PlaceKind::Loopback(_) | PlaceKind::Network | PlaceKind::Hook(_) if !apart => {
            return Err(NOT_APART);
        }
        PlaceKind::Loopback(flags) => Target::Link(LOOPBACK, flags),
        PlaceKind::Network => Target::Link(own_network()?, 0),
        PlaceKind::Hook(hook) => Target::Hook(hook),
    })
}

/// The caller's network namespace, as an open file: by a socket, since its root has no procfs.
fn own_network() -> Result<u32, Refused> {
    const AF_INET: usize = 2;
    const SOCK_DGRAM: usize = 2;
    const SIOCGSKNS: usize = 0x894c;
    // SAFETY: neither takes a pointer.
    unsafe {
        let socket = sys::checked(nr::SOCKET, [AF_INET, SOCK_DGRAM, 0, 0, 0, 0]);
        let socket = socket.map_err(at("bpf-network"))?;
        let namespace = sys::checked(nr::IOCTL, [socket, SIOCGSKNS, 0, 0, 0, 0]);
        let _ = sys::close(socket);
        namespace.map(|it| it as u32).map_err(at("bpf-network"))
    }
}

/// Loads a program that only returns.
fn load(kind: &Type, function: u32) -> sys::Ret {
    /// `r0 = RESULT` and `exit`, as the kernel takes instructions.
    const MOVE: u64 = 0xb7;
    const EXIT: u64 = 0x95;
    let instructions = [MOVE | u64::from(kind.result.cast_unsigned()) << 32, EXIT];
    let mut attr = Load {
        kind: kind.program,
        count: instructions.len() as u32,
        instructions: instructions.as_ptr() as u64,
        licence: c"GPL".as_ptr() as u64,
        attachment: kind.attachment,
        function,
        ..Load::default()
    };
    // SAFETY: the instructions and the licence live, and are as long as is said; there is no log.
    unsafe { bpf(LOAD, &mut attr) }
}

/// `struct bpf_prog_info`, as far as it is looked at.
#[repr(C)]
#[derive(Default)]
struct Info {
    kind: u32,
    number: u32,
    tag: u64,
    /// Bytes of its machine code.
    translated: u32,
    checked: u32,
    others: [u64; 22],
    /// How often it was executed while that was counted.
    runs: u64,
}

const _: () = assert!(core::mem::offset_of!(Info, runs) == 200);

impl Info {
    fn of(program: usize) -> Result<Self, i32> {
        const INFO_BY_FD: usize = 15;
        let mut info = Self::default();
        let mut attr = [program as u64 | (size_of::<Self>() as u64) << 32, &raw mut info as u64];
        // SAFETY: the kernel writes at most as many bytes to `info` as it is told that there are;
        // it is zeroed, so nothing else is asked for.
        unsafe { bpf(INFO_BY_FD, &mut attr) }.map(|_| info)
    }
}
