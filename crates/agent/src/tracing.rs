//! What the kernel traces while it is measured, with nobody who listens: tracepoints, kprobes,
//! functions by their entries, switched on by the files of its tracing file system
//! (`Documentation/trace/{events,kprobetrace,ftrace}.rst`).
//!
//! That file system is mounted only meanwhile, so a program of the user's sees none. What was
//! switched on stays on.

use pathmeter_probes::{
    sys::{self, CStr, errno, flag},
    text::Text,
};

use crate::file::{self, Held, contents, words};
use crate::path::Path;
use crate::refusal::{Refusal, kernel_refusal, not_taken, unknown};

/// Where the file system is mounted, and its files.
const PLACE: &[u8] = b"/tracing\0";
const KPROBES: CStr<'static> = CStr::new(b"/tracing/kprobe_events\0");
const FILTER: CStr<'static> = CStr::new(b"/tracing/set_ftrace_filter\0");
const TRACER: CStr<'static> = CStr::new(b"/tracing/current_tracer\0");
const NO_TRACEPOINT: &str = "this kernel has no such tracepoint";
/// Adds to what a file has; each of ours has what the kernel's own settings are.
const O_APPEND: usize = 0o2000;
/// Most of a file that is read back.
const MAX_TEXT: usize = 512;

/// Switches on the tracepoint `GROUP:EVENT`.
pub(crate) fn tracepoint(name: &[u8]) -> Result<Held, Refusal> {
    mounted(|| {
        let path = name.iter().map(|byte| if *byte == b':' { b'/' } else { *byte });
        enable(path, NO_TRACEPOINT)?;
        Ok(Held::from_message(format_args!("the tracepoint's file enable reads 1")))
    })
}

/// Puts a probe at the entry of a function, and switches it on.
pub(crate) fn kprobe(function: &[u8]) -> Result<Held, Refusal> {
    let function = core::str::from_utf8(function).unwrap_or_default();
    // Names of events have no dots.
    let event = function.bytes().map(|byte| if byte == b'.' { b'_' } else { byte });
    mounted(|| {
        // A kprobe without a name is called p_FUNCTION_0, in the group kprobes.
        let probe = Text::<MAX_TEXT>::format(format_args!("p {function}"));
        add(KPROBES, probe.as_bytes()).map_err(|error| match error {
            errno::ENOENT if !is_there(KPROBES) => {
                unknown("this kernel has no kprobes by files (CONFIG_KPROBE_EVENTS)")
            }
            errno::ENOENT => unknown("this kernel has no such function, or it is inlined"),
            errno::EINVAL => kernel_refusal(format_args!("this function can't have a kprobe")),
            error => not_taken(error),
        })?;
        let path = b"kprobes/p_".iter().copied().chain(event).chain(*b"_0");
        enable(path, "the kernel has not made the kprobe")?;
        Ok(Held::from_message(format_args!("the kprobe's file enable reads 1")))
    })
}

/// Traces the calls of a function.
pub(crate) fn function(name: &[u8]) -> Result<Held, Refusal> {
    mounted(|| {
        let name = core::str::from_utf8(name).unwrap_or_default();
        // Without an end of the line, it would be read only when the file is closed.
        let line = Text::<MAX_TEXT>::format(format_args!("{name}\n"));
        add(FILTER, line.as_bytes()).map_err(|error| match error {
            errno::ENOENT => unknown("this kernel has no tracer of functions by name"),
            errno::EINVAL => unknown("this kernel has no such function that can be traced"),
            error => not_taken(error),
        })?;
        add(TRACER, b"function").map_err(not_taken)?;
        for (file, word) in [(FILTER, name), (TRACER, "function")] {
            shows(file, word.as_bytes())?;
        }
        Ok(Held::from_message(format_args!("the tracer is function, and its filter has this one")))
    })
}

/// The number that `perf_event_open(2)` knows the tracepoint `GROUP:EVENT` by.
pub(crate) fn number(name: &[u8]) -> Result<u64, Refusal> {
    mounted(|| {
        let path = name.iter().map(|byte| if *byte == b':' { b'/' } else { *byte });
        let path = Path::of(b"/tracing/events/", path.chain(*b"/id"));
        file::number(path.as_c()).map_err(|_| unknown(NO_TRACEPOINT))
    })
}

/// Does this while the tracing file system is mounted.
fn mounted<T>(what: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
    let place = CStr::new(PLACE);
    let _ = sys::mkdir(place, 0o755);
    let kind = CStr::new(b"tracefs\0");
    sys::mount(kind, place, kind).map_err(|error| match error {
        errno::ENODEV => unknown("this kernel has no tracing (CONFIG_TRACING)"),
        error => {
            kernel_refusal(format_args!("its tracing file system can't be mounted (error {error})"))
        }
    })?;
    let done = what();
    let _ = sys::unmount(place, flag::MNT_DETACH);
    done
}

/// Switches on the event that has this folder.
fn enable(folder: impl Iterator<Item = u8>, absent: &str) -> Result<(), Refusal> {
    let path = Path::of(b"/tracing/events/", folder.chain(*b"/enable"));
    let fd = sys::open(path.as_c(), flag::O_WRONLY, 0).map_err(|error| match error {
        errno::ENOENT => unknown(absent),
        error => kernel_refusal(format_args!("it can't be switched on (error {error})")),
    })?;
    let written = sys::write(fd, b"1");
    let _ = sys::close(fd);
    written.map_err(not_taken)?;
    shows(path.as_c(), b"1")
}

/// Whether one of the file's words is this one.
pub(crate) fn shows(file: CStr<'_>, word: &[u8]) -> Result<(), Refusal> {
    let mut text = [0; MAX_TEXT];
    let length = contents(file, &mut text)
        .map_err(|error| kernel_refusal(format_args!("it can't be read back (error {error})")))?;
    if words(&text[..length]).any(|held| held == word) {
        return Ok(());
    }
    let held = core::str::from_utf8(&text[..length]).unwrap_or("?").trim_end();
    Err(kernel_refusal(format_args!("the kernel holds {held} after this was written")))
}

/// Adds a line to one of the files.
pub(crate) fn add(file: CStr<'_>, line: &[u8]) -> Result<(), i32> {
    let fd = sys::open(file, flag::O_WRONLY | O_APPEND, 0)?;
    let written = sys::write(fd, line);
    let _ = sys::close(fd);
    written.map(drop)
}

fn is_there(file: CStr<'_>) -> bool {
    let found = sys::open(file, flag::O_RDONLY, 0);
    found.map(sys::close).is_ok()
}
