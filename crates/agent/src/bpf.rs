//! BPF programs that do nothing, attached where the condition has them, with nobody who listens
//! (bpf(2), `perf_event_open(2)`, `<linux/bpf.h>`).
//!
//! A program that is attached by a descriptor stays so while that is open: this process, which
//! lives on, holds them all, above its other descriptors, and no other process has them.

mod call;
mod kinds;
mod target;

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use pathmeter_probes::sys::{self, CStr, Timespec, errno, flag, nr};

use crate::file::{self, Held, contents};
use crate::path::Path;
use crate::refusal::{Refusal, kernel_refusal, unknown};
use crate::{btf, cgroup, tracing};
use call::{LOAD, Load, ProgramInfo, bpf, lock_memory};
use kinds::{LSM, PlaceKind, TYPES, Type};
use target::Target;

/// Room for what the kernel says of a program of two instructions.
const MAX_LOG: usize = 4096;
/// There are too many programs already.
const E2BIG: i32 = 7;
/// A function of this name is in the kernel more than once.
const EADDRNOTAVAIL: i32 = 99;

/// Attaches so many programs there, each loaded by itself.
pub(crate) fn attach(name: &[u8], count: u32) -> Result<Held, Refusal> {
    let found = TYPES.iter().find_map(|kind| Some((kind, name.strip_prefix(kind.name)?)));
    let (kind, name) = found.ok_or_else(|| unknown("programs of this type are not known"))?;
    // SAFETY: there is no pointer in it.
    if unsafe { bpf(LOAD, &mut Load::default()) } == Err(errno::ENOSYS) {
        return Err(unknown("this kernel has no BPF (CONFIG_BPF_SYSCALL)"));
    }
    let before = lock_memory([u64::MAX; 2]);
    let translated = attach_all(kind, &Path::from_parts(&[name]), count);
    before.map(lock_memory);
    let how = if translated? { "translated by the JIT" } else { "interpreted" };
    settle();
    let plural = if count == 1 { "" } else { "s" };
    Ok(Held::from_message(format_args!("{count} program{plural} loaded, {how}, and attached")))
}

/// What programs of a type are attached to here.
struct Place {
    /// The number of the function, for types that name one.
    function: u32,
    target: Target,
}

/// Attaches them all; whether the kernel has translated them.
fn attach_all(kind: &Type, name: &Path, count: u32) -> Result<bool, Refusal> {
    let place = find(kind, name)?;
    let mut translated = true;
    for before in 0..count {
        let mut log = [0; MAX_LOG];
        let program =
            load(kind, place.function, &mut log).map_err(|error| not_loaded(kind, error, &log))?;
        let shown = ProgramInfo::of(program).map_err(not_shown)?;
        let holder = place
            .target
            .attach(kind.attachment, program)
            .map_err(|error| not_attached(kind, before, error))?;
        if place.target.attached(holder).map_err(not_shown)? != shown.id {
            return Err(kernel_refusal(format_args!("the kernel shows another program there")));
        }
        translated &= shown.translated > 0;
        let _ = sys::close(program);
        hold(holder).map_err(not_shown)?;
    }
    let is_open = matches!(kind.place, PlaceKind::Group | PlaceKind::Network);
    if let (Target::Link(descriptor, _), true) = (&place.target, is_open) {
        let _ = sys::close(*descriptor as usize);
    }
    Ok(translated)
}

/// Where programs of this type are attached.
fn find(kind: &Type, name: &Path) -> Result<Place, Refusal> {
    let address = name.as_text().as_ptr() as u64;
    let mut function = 0;
    let target = match kind.place {
        PlaceKind::RawTracepoint => Target::Raw(address),
        PlaceKind::Tracepoint => Target::event(2, tracing::number(name.as_text())?, 0),
        PlaceKind::Kprobe(entry_or_return) => {
            let file = CStr::new(b"/sys/bus/event_source/devices/kprobe/type\0");
            let number = file::number(file).map_err(|_| {
                unknown("this kernel has no kprobes as events (CONFIG_KPROBE_EVENTS)")
            })?;
            Target::event(number, entry_or_return, address)
        }
        PlaceKind::Function(prefix) => {
            if prefix == LSM {
                has_module()?;
            }
            function = btf::function(Path::from_parts(&[prefix, name.as_text()]).as_text())?;
            Target::Function
        }
        PlaceKind::Group => Target::Link(cgroup::of_all()? as u32, 0),
        PlaceKind::Loopback(flags) => {
            /// The first device of all (Linux `LOOPBACK_IFINDEX`).
            const LOOPBACK: u32 = 1;
            Target::Link(LOOPBACK, flags)
        }
        PlaceKind::Network => {
            let file = sys::open(CStr::new(b"/proc/self/ns/net\0"), flag::O_RDONLY, 0);
            let none = |_| unknown("this kernel has no network namespaces (CONFIG_NET_NS)");
            Target::Link(file.map_err(none)? as u32, 0)
        }
        PlaceKind::Hook(number) => Target::Hook(number),
    };
    Ok(Place { function, target })
}

/// Whether BPF is among the security modules: without it the kernel attaches programs to hooks
/// that it never calls.
fn has_module() -> Result<(), Refusal> {
    let (kind, place) = (CStr::new(b"securityfs\0"), CStr::new(b"/sys/kernel/security\0"));
    let mut list = [0; 256];
    let mounted = sys::mount(kind, place, kind);
    let length = contents(CStr::new(b"/sys/kernel/security/lsm\0"), &mut list).unwrap_or(0);
    let _ = mounted.map(|_| sys::unmount(place, flag::MNT_DETACH));
    if list[..length].split(|byte| *byte == b',').any(|module| module.trim_ascii_end() == b"bpf") {
        return Ok(());
    }
    Err(kernel_refusal(format_args!(
        "bpf is not among the security modules that this kernel was booted with: give boot:lsm=bpf \
         as well (CONFIG_BPF_LSM)"
    )))
}

/// Loads a program that only returns; what the kernel says of it is in `log`.
fn load(kind: &Type, function: u32, log: &mut [u8]) -> sys::Ret {
    /// `r0 = RESULT` and `exit`, as the kernel takes instructions.
    const MOVE: u64 = 0xb7;
    const EXIT: u64 = 0x95;
    let instructions = [MOVE | u64::from(kind.result.cast_unsigned()) << 32, EXIT];
    let mut attr = Load {
        kind: kind.program,
        count: instructions.len() as u32,
        instructions: instructions.as_ptr() as u64,
        licence: c"GPL".as_ptr() as u64,
        log_level: 1,
        log_size: log.len() as u32,
        log: log.as_mut_ptr() as u64,
        attachment: kind.attachment,
        function,
        ..Load::default()
    };
    // SAFETY: the instructions, the licence and the log live, and are as long as is said.
    unsafe { bpf(LOAD, &mut attr) }
}

/// Waits until the kernel has freed what it made on the way: it does so later, by tasks of its own,
/// which would be seen in what is measured.
fn settle() {
    let _ = sys::sleep(Timespec { seconds: 2, nanoseconds: 0 });
}

/// The number of the first descriptor by which programs are held.
const FIRST: usize = 64;
/// How many descriptors hold programs, from [`FIRST`] on.
static HELD: AtomicUsize = AtomicUsize::new(0);

/// Moves a descriptor to those that are held for good.
fn hold(fd: usize) -> Result<(), i32> {
    const F_DUPFD_CLOEXEC: usize = 1030;
    // SAFETY: takes no pointer.
    unsafe { sys::checked(nr::FCNTL, [fd, F_DUPFD_CLOEXEC, FIRST, 0, 0, 0]) }?;
    HELD.fetch_add(1, Relaxed);
    sys::close(fd).map(drop)
}

/// Closes them in a process that becomes another program, which would do so itself otherwise.
#[cfg(feature = "init")]
pub(crate) fn let_go() {
    for fd in FIRST..FIRST + HELD.load(Relaxed) {
        let _ = sys::close(fd);
    }
}

fn not_loaded(kind: &Type, error: i32, log: &[u8]) -> Refusal {
    let log = log.split(|byte| *byte == 0).next().unwrap_or_default();
    let is_reason = |line: &&[u8]| !line.is_empty() && !line.starts_with(b"processed ");
    let reason = log.split(|byte| *byte == b'\n').rfind(is_reason);
    match (reason.and_then(|line| core::str::from_utf8(line).ok()), error) {
        (Some(reason), _) => kernel_refusal(format_args!("the kernel's verifier: {reason}")),
        (None, errno::EINVAL) => unknown(kind.lack),
        (None, error) => {
            kernel_refusal(format_args!("the kernel does not load the program (error {error})"))
        }
    }
}

fn not_attached(kind: &Type, before: u32, error: i32) -> Refusal {
    match (&kind.place, error) {
        (PlaceKind::RawTracepoint, errno::ENOENT) => {
            unknown("this kernel has no such raw tracepoint")
        }
        (PlaceKind::Kprobe(_), errno::ENOENT) => {
            unknown("this kernel has no such function, or it is inlined")
        }
        (PlaceKind::Kprobe(_), errno::EINVAL) => {
            kernel_refusal(format_args!("this function can't have a kprobe"))
        }
        (PlaceKind::Kprobe(_), EADDRNOTAVAIL) => {
            kernel_refusal(format_args!("the kernel has several functions of this name"))
        }
        // It knows the type of the program, but not this place for it.
        (PlaceKind::Loopback(_) | PlaceKind::Network, errno::EINVAL) => unknown(kind.lack),
        (_, E2BIG) => kernel_refusal(format_args!("the kernel takes only {before} programs there")),
        (_, error) => {
            kernel_refusal(format_args!("the kernel does not attach the program (error {error})"))
        }
    }
}

fn not_shown(error: i32) -> Refusal {
    kernel_refusal(format_args!("the kernel does not show what is attached (error {error})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathmeter_wire::message::UnmetCause;

    #[test]
    fn what_the_verifier_says_last_is_the_reason() {
        let log = b"0: R1=ctx()\nattach_btf_id 7 is not a function\nprocessed 0 insns\n\0\0";
        let (_, what) = not_loaded(&TYPES[4], errno::EINVAL, log);
        assert_eq!(what.as_bytes(), b"the kernel's verifier: attach_btf_id 7 is not a function");
        let (cause, what) = not_loaded(&TYPES[7], errno::EINVAL, &[0; 8]);
        assert_eq!(cause, UnmetCause::Unknown);
        assert!(what.as_bytes().ends_with(b"(CONFIG_BPF_LSM)"));
    }
}
