//! Probes at functions of the program's own files, switched on with nobody who listens
//! (`Documentation/trace/uprobetracer.rst`): set anew in each run, whose files are new ones, before
//! the clock is read, and gone after it.
//!
//! Whether they can be had is tried before the first run, in a root as every run has it.

use core::fmt::Write;

use pathmeter_probes::{
    sys::{self, CStr, Timespec, errno, flag},
    text::Text,
};
use pathmeter_wire::message::UnmetCause;

use crate::disk::Disk;
use crate::file::Held;
use crate::refusal::{Refusal, kernel_refusal, not_taken, unknown};
use crate::root::Roots;
use crate::tracing;
use crate::trouble::Trouble;

/// Files of the tracing file system, as a run's root has it.
const EVENTS: CStr<'static> = CStr::new(b"/sys/kernel/tracing/uprobe_events\0");
/// Switches on all events of this group.
const ENABLE: CStr<'static> = CStr::new(b"/sys/kernel/tracing/events/pathmeter/enable\0");
/// Room for the probes of a condition.
const MAX_TEXT: usize = 2048;

/// The probes of a condition, as the kernel takes them: a line each.
pub(crate) struct Uprobes(Text<MAX_TEXT>);

impl Uprobes {
    pub(crate) const NONE: Self = Self(Text::EMPTY);

    /// Adds one at this offset in the file, and tries all there are in a root of their own.
    pub(crate) fn add(
        &mut self,
        (file, offset): (&[u8], &[u8]),
        archive: &'static [u8],
    ) -> Result<Held, Refusal> {
        let number = self.0.as_bytes().len();
        let text = |bytes| core::str::from_utf8(bytes).unwrap_or_default();
        writeln!(self.0, "p:pathmeter/at{number} {}:{}", text(file), text(offset))
            .map_err(|_| kernel_refusal(format_args!("there are too many probes")))?;
        let trouble = |text: Trouble| (UnmetCause::Refused, text);
        let roots = Roots::new(archive, Disk::Memory).map_err(trouble)?;
        roots.enter().map_err(trouble)?;
        let tried = self.set();
        self.remove();
        roots.leave().map_err(trouble)?;
        roots.forget();
        tried.map(|()| Held::from_message(format_args!("the probe's file enable reads 1")))
    }

    /// Sets them in this root.
    pub(crate) fn set(&self) -> Result<(), Refusal> {
        if self.is_none() {
            return Ok(());
        }
        tracing::add(EVENTS, self.0.as_bytes()).map_err(|error| match error {
            errno::ENOENT => unknown("this kernel has no uprobes by files (CONFIG_UPROBE_EVENTS)"),
            errno::EINVAL => kernel_refusal(format_args!("this can't have a uprobe")),
            error => not_taken(error),
        })?;
        tracing::add(ENABLE, b"1").map_err(not_taken)?;
        tracing::shows(ENABLE, b"1")
    }

    pub(crate) fn remove(&self) {
        if self.is_none() {
            return;
        }
        let _ = tracing::add(ENABLE, b"0");
        // Whoever opens it so removes all of them.
        let _ = sys::open(EVENTS, flag::O_WRONLY | flag::O_TRUNC, 0).map(sys::close);
        // What the kernel frees later it frees now.
        let _ = sys::sleep(Timespec { seconds: 1, nanoseconds: 0 });
    }

    fn is_none(&self) -> bool {
        self.0.as_bytes().is_empty()
    }
}
