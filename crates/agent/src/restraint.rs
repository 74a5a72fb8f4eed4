//! What each measured process does to itself before all else, as the condition has it: layers of
//! Landlock or a ruleset, and a system-call filter. All are in the file `/filter`.

use pathmeter_probes::{
    sys::{self, CStr, errno, flag},
    text::Text,
};
use pathmeter_wire::{
    condition::{self, FILTER_INSTRUCTION, MAX_FILTER},
    ruleset::{MAX_RULESET, Ruleset},
};

use crate::{file::contents, filter::Filter, landlock, ruleset, trouble::Trouble};

/// What a process restrains itself by.
#[derive(Clone, Copy)]
pub(crate) struct Restraint {
    layers: u8,
    ruleset: Option<Ruleset<'static>>,
    filter: Option<Filter>,
}

impl Restraint {
    /// Reads `/filter`; none if the condition has none.
    pub(crate) fn read() -> Result<Option<Self>, Trouble> {
        const SPACE: usize =
            condition::Restraint::BYTES + MAX_RULESET + MAX_FILTER * FILTER_INSTRUCTION;
        let failed = |error: i32| -> Trouble {
            Text::format(format_args!("/filter can't be read (error {error})"))
        };
        let path = CStr::new(b"/filter\0");
        match sys::open(path, flag::O_RDONLY, 0) {
            Ok(fd) => drop(sys::close(fd)),
            Err(errno::ENOENT) => return Ok(None),
            Err(error) => return Err(failed(error)),
        }
        let place = sys::map(SPACE, flag::MAP_PRIVATE).map_err(failed)?;
        // SAFETY: mapped just now, for good, and known to nobody else.
        let space = unsafe { core::slice::from_raw_parts_mut(place as *mut u8, SPACE) };
        let length = contents(path, space).map_err(failed)?;
        let (head, rest) = space.split_first_chunk().ok_or_else(|| failed(errno::EINVAL))?;
        let condition::Restraint { flags, layers, ruleset } =
            condition::Restraint::from_bytes(*head);
        let rest = &rest[..length.saturating_sub(condition::Restraint::BYTES).min(rest.len())];
        let (ruleset, program) = rest.split_at(usize::from(ruleset).min(rest.len()));
        let filter = Filter::new(flags, program);
        Ok(Some(Self { layers, ruleset: Ruleset::read(ruleset), filter }))
    }

    /// Restrains this process from now on, and its children: by Landlock first, whose calls a
    /// filter may refuse.
    pub(crate) fn install(self) -> Result<(), i32> {
        self.install_landlock()?;
        self.filter.map_or(Ok(()), Filter::install)
    }

    /// The same by Landlock alone.
    pub(crate) fn install_landlock(self) -> Result<(), i32> {
        if self.layers > 0 {
            landlock::restrict(self.layers)?;
        }
        self.ruleset.map_or(Ok(()), ruleset::restrict)
    }

    pub(crate) fn filter(self) -> Option<Filter> {
        self.filter
    }
}
