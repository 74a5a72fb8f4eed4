//! The guest's own tracepoints, read as text from tracefs (Linux `Documentation/trace/ftrace.rst`).
//!
//! With the `x86-tsc` trace clock every event carries the TSC at which it was recorded, so events
//! and a probe's own stamps are on one clock.
//!
//! No event is lost in silence: the trace says how many events were recorded and how many it still
//! has, and a trace of which some are missing is an error.

use crate::{
    failure::{Failure, broken, unsupported},
    sys::{self, CStr, flag},
    text::Text,
};

/// Most bytes of a trace; a longer one is an error.
const TRACE: usize = 64 * 1024;

/// One recorded event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event<'a> {
    /// Number of the task that was running; 0 is the idle task.
    pub(crate) pid: u32,
    /// Whether it was recorded in a hardware interrupt.
    pub(crate) hard_irq: bool,
    /// The TSC.
    pub(crate) stamp: u64,
    /// `softirq_raise` and the like.
    pub(crate) name: &'a str,
    /// The rest of the line.
    pub(crate) detail: &'a str,
}

/// Reads one line: `TASK-PID [CPU] FLAGS STAMP: NAME: DETAIL`. Comments and foreign lines are none.
pub(crate) fn parse(line: &str) -> Option<Event<'_>> {
    // A task's name may hold anything, so the line is split at the CPU's bracket, the last before
    // the flags, and the number taken from before it.
    let (task, rest) = line.split_once(" [")?;
    let pid = task.trim_end().rsplit_once('-')?.1.parse().ok()?;
    let rest = rest.split_once("] ")?.1;
    let (flags, rest) = rest.trim_start().split_once(' ')?;
    let (stamp, rest) = rest.trim_start().split_once(": ")?;
    let (name, detail) = rest.split_once(": ")?;
    // One of the flags' columns is h or H in a hardware interrupt; which one depends on the kernel
    // (a lazily preemptible one has a column more), but no other column has these letters.
    let hard_irq = flags.contains(['h', 'H']);
    Some(Event { pid, hard_irq, stamp: stamp.parse().ok()?, name, detail })
}

/// The events of a whole trace, in order.
///
/// An error if the kernel's buffer has overwritten events, or if the text does not say so:
/// `# entries-in-buffer/entries-written: 12/12   #P:1` must be among its comments.
pub(crate) fn events(text: &[u8]) -> Result<impl Iterator<Item = Event<'_>>, Failure> {
    let lines = || text.split(|byte| *byte == b'\n').filter_map(|it| core::str::from_utf8(it).ok());
    match lines().find_map(entries) {
        None => broken!("the trace does not say how many events were recorded"),
        Some((held, written)) if held < written => {
            broken!("the trace has {held} of {written} events: its buffer overran")
        }
        Some(_) => Ok(lines().filter_map(parse)),
    }
}

/// Events still held, and events ever recorded, if `line` is the comment that says so.
fn entries(line: &str) -> Option<(u64, u64)> {
    let (held, rest) =
        line.strip_prefix("# entries-in-buffer/entries-written: ")?.split_once('/')?;
    Some((held.parse().ok()?, rest.split_whitespace().next()?.parse().ok()?))
}

/// Tracing of some events, switched off when dropped.
pub(crate) struct Tracer {
    events: &'static [&'static str],
    text: &'static mut [u8],
}

impl Tracer {
    /// Sets the clock and enables `events`, such as `irq/softirq_raise`.
    pub(crate) fn new(events: &'static [&'static str]) -> Result<Self, Failure> {
        put("trace_clock", "x86-tsc", flag::O_TRUNC)?;
        put("tracing_on", "1", 0)?;
        let text = match sys::map(TRACE, flag::MAP_PRIVATE) {
            // SAFETY: a fresh private mapping of that size, never unmapped.
            Ok(address) => unsafe { core::slice::from_raw_parts_mut(address as *mut u8, TRACE) },
            Err(error) => return unsupported!("no memory for the trace (mmap: error {error})"),
        };
        let tracer = Self { events, text };
        events.iter().try_for_each(|event| set(event, true))?;
        Ok(tracer)
    }

    /// All events recorded since [`forget`], in order; an error if any of them is missing.
    pub(crate) fn read(&mut self) -> Result<impl Iterator<Item = Event<'_>>, Failure> {
        let fd = open("trace", flag::O_RDONLY)?;
        let mut length = 0;
        let end = loop {
            match sys::read(fd, self.text.get_mut(length..).unwrap_or_default()) {
                Ok(got @ 1..) => length += got,
                end => break end,
            }
        };
        let _ = sys::close(fd);
        if let Err(error) = end {
            return broken!("the trace can't be read (error {error})");
        }
        match self.text.get(..length) {
            Some(text) if length < TRACE => events(text),
            _ => broken!("the trace is longer than {TRACE} bytes"),
        }
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        for event in self.events {
            // Nothing better can be done about it here.
            let _ = set(event, false);
        }
    }
}

/// Enables or disables one event.
pub(crate) fn set(event: &str, on: bool) -> Result<(), Failure> {
    let file = Text::<48>::format(format_args!("events/{event}/enable"));
    let file = core::str::from_utf8(file.as_bytes()).unwrap_or_default();
    put(file, if on { "1" } else { "0" }, 0)
}

/// Forgets what was recorded.
pub(crate) fn forget() -> Result<(), Failure> {
    put("trace", "\n", flag::O_TRUNC)
}

fn open(name: &str, flags: usize) -> Result<usize, Failure> {
    let path = Text::<64>::format(format_args!("/sys/kernel/tracing/{name}\0"));
    sys::open(CStr::new(path.as_bytes()), flags, 0).map_err(|error| {
        Failure::unsupported(format_args!("tracefs has no {name} (error {error}; CONFIG_FTRACE)"))
    })
}

fn put(name: &str, text: &str, flags: usize) -> Result<(), Failure> {
    let fd = open(name, flag::O_WRONLY | flags)?;
    let put = sys::write(fd, text.as_bytes());
    let _ = sys::close(fd);
    match put {
        Ok(_) => Ok(()),
        Err(error) => unsupported!("tracefs: {name} does not take {text:?} (error {error})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_task_is_read() {
        let line =
            "            init-57      [000] d.h1.   123456: softirq_raise: vec=1 [action=TIMER]";
        let expected = Event {
            pid: 57,
            hard_irq: true,
            stamp: 123_456,
            name: "softirq_raise",
            detail: "vec=1 [action=TIMER]",
        };
        assert_eq!(parse(line), Some(expected));
    }

    #[test]
    fn a_real_time_kernels_further_column_is_no_matter() {
        let line = "            init-9       [000] d..h1..  7: softirq_raise: vec=1 [action=TIMER]";
        assert_eq!(parse(line).map(|event| event.hard_irq), Some(true));
    }

    #[test]
    fn the_idle_task_is_number_zero() {
        let line = "          <idle>-0       [000] ..s1.   99: softirq_entry: vec=1 [action=TIMER]";
        assert_eq!(parse(line).map(|event| (event.pid, event.hard_irq)), Some((0, false)));
    }

    /// A trace with two events, of which the comment says this.
    fn trace(comment: &str) -> String {
        let event = "init-9 [000] d.h1. 7: softirq_raise: vec=1 [action=TIMER]\n";
        format!("# tracer: nop\n#\n{comment}\n#\n# TASK-PID\n{event}{event}")
    }

    #[test]
    fn a_whole_trace_has_all_its_events() {
        let text = trace("# entries-in-buffer/entries-written: 2/2   #P:1");
        assert_eq!(events(text.as_bytes()).ok().map(Iterator::count), Some(2));
    }

    #[test]
    fn a_buffer_that_overran_is_an_error() {
        let text = trace("# entries-in-buffer/entries-written: 2/3   #P:1");
        let Err(Failure::Broken(reason)) = events(text.as_bytes()).map(Iterator::count) else {
            panic!("accepted");
        };
        assert_eq!(reason.as_bytes(), b"the trace has 2 of 3 events: its buffer overran");
    }

    #[test]
    fn a_trace_that_does_not_count_its_events_is_an_error() {
        for comment in ["#", "# entries-in-buffer/entries-written: 2", "# entries-in-buffer: 2/2"] {
            assert!(events(trace(comment).as_bytes()).is_err(), "{comment}");
        }
    }

    #[test]
    fn comments_and_nonsense_are_no_events() {
        for line in ["# tracer: nop", "", "a [b", "x-1 [0] d 12", "x-1 [0] d..1 twelve: a: b"] {
            assert_eq!(parse(line), None);
        }
    }
}
