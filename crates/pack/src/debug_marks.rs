//! What tells which debug file belongs to a program or library: its build id, and the name and
//! checksum in `.gnu_debuglink`.
//!
//! Contract: the file is untrusted; what is not understood is as if it were not there.
//!
//! Source: gdb's manual, "Debugging Information in Separate Files".

use std::fs::File;

use object::{Object, ReadCache, ReadRef};

/// The longest build id that is compared, in bytes; linkers make 20 or fewer.
const MOST_BUILD_ID_BYTES: usize = 64;
/// The longest name of a file.
const MOST_NAME_BYTES: usize = 255;

/// What a file says about its debug file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DebugMarks {
    /// The build id, which both have; empty if there is none.
    pub build_id: Vec<u8>,
    /// The name and checksum of its debug file.
    pub link: Option<DebugLink>,
}

/// A debug file by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebugLink {
    /// The file's name, without its folders.
    pub name: String,
    /// The CRC-32 of all its bytes, as zlib and Ethernet have it.
    pub crc32: u32,
}

impl DebugMarks {
    /// Those of a file; none if it is no ELF file.
    pub fn read(elf: &[u8]) -> Self {
        object::File::parse(elf).map_or_else(|_| Self::default(), |file| Self::of(&file))
    }

    /// Those of a file of the host; `None` if it is no ELF file.
    pub fn of_file(file: &File) -> Option<Self> {
        let cache = ReadCache::new(file);
        let file = object::File::parse(&cache).ok()?;
        Some(Self::of(&file))
    }

    fn of<'data>(file: &object::File<'data, impl ReadRef<'data>>) -> Self {
        let build_id = file.build_id().ok().flatten().unwrap_or_default();
        let build_id = build_id.iter().take(MOST_BUILD_ID_BYTES).copied().collect();
        let link = file.gnu_debuglink().ok().flatten();
        let link = link.and_then(|(name, crc32)| Some(DebugLink { name: plain(name)?, crc32 }));
        Self { build_id, link }
    }
}

/// The name without folders, which gdb leaves out too; `None` if it is that of no file.
fn plain(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok()?.rsplit('/').next()?;
    let is_file = !["", ".", ".."].contains(&name) && name.len() <= MOST_NAME_BYTES;
    is_file.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_names_a_file_and_no_folder() {
        assert_eq!(plain(b"a.debug").as_deref(), Some("a.debug"));
        assert_eq!(plain(b"../../etc/a.debug").as_deref(), Some("a.debug"));
        for name in [&b""[..], b".", b"..", b"a/", b"/", b"a/..", b"\xff", &[b'a'; 256]] {
            assert_eq!(plain(name), None, "{name:?}");
        }
    }

    #[test]
    fn what_is_no_elf_file_has_no_marks() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(DebugMarks::read(b"#!/bin/sh"), DebugMarks::default());
        for length in (0..own.len()).step_by(own.len() / 50 + 1) {
            let _ = DebugMarks::read(&own[..length]);
        }
        let file = File::open(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(DebugMarks::of_file(&file), Some(DebugMarks::read(&own)));
    }
}
