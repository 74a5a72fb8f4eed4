//! The plugins, made fit for the QEMU at hand.
//!
//! QEMU takes a plugin only if the API version that it was built for lies in a narrow range, and
//! that range moves with every release. A plugin is built once and knows the signatures of all
//! versions; which one it claims is set here, and QEMU itself is asked which one it takes.

use std::fs::File;
use std::os::fd::OwnedFd;

use crate::{
    Interrupt, Qemu, VmError, console::Tail, machine::fd, qemu::memory_file::memory_file,
    qemu::process::require_open_files, qemu::query::ask,
};

/// A plugin's shared object, built with this crate from `plugin/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plugin {
    /// Writes down every instruction of some windows.
    Recorder,
    /// Counts what every window executes.
    Counter,
    /// Splits what a program executes.
    Program,
    /// Keeps the guest's clock right, as all of them do.
    Clock,
}

impl Plugin {
    fn bytes(self) -> &'static [u8] {
        match self {
            Self::Recorder => include_bytes!(concat!(env!("OUT_DIR"), "/recorder.so")),
            Self::Counter => include_bytes!(concat!(env!("OUT_DIR"), "/counter.so")),
            Self::Clock => include_bytes!(concat!(env!("OUT_DIR"), "/clock.so")),
            Self::Program => include_bytes!(concat!(env!("OUT_DIR"), "/program.so")),
        }
    }

    /// The plugin as one that was built for this API version.
    fn with_version(self, version: u32) -> Vec<u8> {
        let mut bytes = self.bytes().to_vec();
        if let Some(place) = bytes.windows(4).position(|word| word == PLACE) {
            bytes[place..place + 4].copy_from_slice(&version.to_le_bytes());
        }
        bytes
    }

    /// The plugin as a file that `qemu` will load.
    ///
    /// # Errors
    /// [`VmError::Recorder`] if it takes no plugin.
    pub(crate) fn for_qemu(self, qemu: &Qemu, interrupt: &Interrupt) -> Result<File, VmError> {
        require_open_files()?;
        let version = api_of(qemu, interrupt)?;
        memory_file(NAME, &self.with_version(version))
    }
}

/// A plugin's name as a file.
const NAME: &str = "pathmeter-plugin";
/// What the plugin shows as its version until it is set; occurs once in it.
const PLACE: [u8; 4] = 0x7ab1_e001_u32.to_le_bytes();
/// The API version that a QEMU from this version on most likely takes, and so is tried first. QEMU
/// `include/plugins/qemu-plugin.h`.
const LIKELY: [((u32, u32), u32); 6] =
    [((11, 0), 7), ((10, 1), 5), ((9, 2), 4), ((9, 1), 3), ((9, 0), 2), ((0, 0), 1)];
/// The newest version whose signatures the plugin knows.
const NEWEST: u32 = 7;
/// Versions that may come and still have the signatures of [`NEWEST`]; whether they do, the
/// self-test of an untested QEMU finds out.
const FUTURE: u32 = 12;
/// What the plugin prints before the range of versions that QEMU takes.
const ANSWER: &str = "recorder: ";

/// The version that the plugin has to claim: QEMU loads it with no other.
fn api_of(qemu: &Qemu, interrupt: &Interrupt) -> Result<u32, VmError> {
    let likely = LIKELY.iter().find(|(first, _)| qemu.number >= *first).map(|(_, api)| *api);
    let mut last = String::new();
    for version in likely.into_iter().chain((1..=NEWEST).rev()).chain(NEWEST + 1..=FUTURE) {
        let plugin = memory_file(NAME, &Plugin::Recorder.with_version(version))?;
        let files = vec![(fd::PLUGIN, OwnedFd::from(plugin))];
        let plugin = format!("/proc/self/fd/{},ask=on", fd::PLUGIN);
        let arguments = [
            "-M",
            "none",
            "-no-user-config",
            "-nodefaults",
            "-display",
            "none",
            "-plugin",
            &plugin,
        ];
        let answer = ask(&qemu.path, &arguments, files, interrupt)?;
        if answer.output.starts_with(ANSWER) {
            return Ok(version);
        }
        last = answer.errors;
    }
    let mut how = Tail::default();
    how.extend(last.as_bytes());
    Err(VmError::Recorder { how: format!("{how}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_stands_in_one_place() {
        let places = |bytes: &[u8]| bytes.windows(4).filter(|word| *word == PLACE).count();
        for plugin in [Plugin::Recorder, Plugin::Counter, Plugin::Program, Plugin::Clock] {
            assert_eq!((places(plugin.bytes()), places(&plugin.with_version(4))), (1, 0));
        }
    }
}
