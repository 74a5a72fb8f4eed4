//! The recorder plugin, made fit for the QEMU at hand.
//!
//! QEMU takes a plugin only if the version that it was built for lies in a narrow range, and that
//! range moves with every release. What the recorder uses has hardly changed, and it looks at the
//! running QEMU's version where it has; so it is built once, and the number it shows is set here.

use std::fs::File;

use crate::{Qemu, VmError, measure::memory_file};

/// The plugin's shared object, built with this crate from `plugin/recorder.c`.
const RECORDER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/recorder.so"));
/// What the plugin shows as its version until it is set; occurs once in it.
const PLACE: [u8; 4] = 0x7ab1_e001_u32.to_le_bytes();
/// API versions by the first QEMU that has them (QEMU `include/qemu/qemu-plugin.h`).
const API: [((u32, u32), u32); 5] =
    [((10, 1), 5), ((9, 2), 4), ((9, 1), 3), ((9, 0), 2), ((0, 0), 1)];

/// The plugin as a file that `qemu` will load.
pub(crate) fn for_qemu(qemu: &Qemu) -> Result<File, VmError> {
    memory_file("pathmeter-recorder", &with_version(api_of(qemu.number)))
}

fn api_of(number: (u32, u32)) -> u32 {
    API.iter().find(|(first, _)| number >= *first).map_or(1, |(_, api)| *api)
}

fn with_version(version: u32) -> Vec<u8> {
    let mut bytes = RECORDER.to_vec();
    if let Some(place) = bytes.windows(4).position(|word| word == PLACE) {
        bytes[place..place + 4].copy_from_slice(&version.to_le_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_stands_in_one_place() {
        assert_eq!(RECORDER.windows(4).filter(|word| *word == PLACE).count(), 1);
        assert_eq!(with_version(4).windows(4).filter(|word| *word == PLACE).count(), 0);
    }

    #[test]
    fn each_qemu_has_its_api() {
        for (number, api) in [((7, 2), 1), ((8, 2), 1), ((9, 0), 2), ((10, 0), 4), ((11, 3), 5)] {
            assert_eq!(api_of(number), api);
        }
    }
}
