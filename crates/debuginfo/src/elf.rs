//! The sections of a vmlinux, read from disk as they are asked for.
//!
//! Contract: the file is untrusted. Of it are held the section headers and the sections asked for,
//! each at most [`MAX_SECTION_BYTES`] however it was packed. It is read and never mapped, so a
//! kernel build that rewrites it in the meantime spoils the answer and not the process.
//!
//! Sources: the System V ABI's "Object Files" chapters; Linux `scripts/Makefile.debug`.

use std::fs::{self, File};
use std::io::Read as _;
use std::iter;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

use object::read::elf::ElfFile64;
use object::{
    Architecture, CompressedData, CompressedFileRange, CompressionFormat, LittleEndian,
    Object as _, ObjectKind, ObjectSection as _, ReadCache,
};

use crate::error::DebugInfoFault;

/// The largest section read, unpacked. The largest of a distribution's kernel has 400 MiB.
const MAX_SECTION_BYTES: u64 = 2 << 30;

const MAGIC: [u8; 4] = *b"\x7fELF";

/// An open vmlinux.
pub(crate) struct Vmlinux {
    file: File,
    /// Length of the file when it was opened.
    bytes: u64,
    /// Where each section lies, in the order of the file.
    sections: Vec<(String, CompressedFileRange)>,
    /// Its GNU build ID, if it has one.
    pub(crate) build_id: Option<Vec<u8>>,
}

/// The longest build ID that a linker makes by itself has 20.
const MOST_BUILD_ID_BYTES: usize = 64;

impl Vmlinux {
    /// Opens the file and reads its section headers.
    pub(crate) fn open(path: &Path) -> Result<Self, DebugInfoFault> {
        // Asked before opening, since opening a pipe could block for ever.
        if !fs::metadata(path).map_err(DebugInfoFault::Open)?.is_file() {
            return Err(DebugInfoFault::NotAFile);
        }
        let file = File::open(path).map_err(DebugInfoFault::Open)?;
        let bytes = file.metadata().map_err(DebugInfoFault::Open)?.len();
        if !begins_as_elf(&file)? {
            return Err(DebugInfoFault::NotElf);
        }
        let cache = ReadCache::new(file.try_clone().map_err(DebugInfoFault::Open)?);
        let elf = ElfFile64::<LittleEndian, _>::parse(&cache).map_err(not_readable)?;
        check_kind(elf.architecture(), elf.kind())?;
        let sections = elf.sections().filter_map(|section| {
            let name = section.name().ok()?.to_owned();
            section.compressed_file_range().ok().map(|range| (name, range))
        });
        let sections = sections.collect();
        let build_id = elf.build_id().ok().flatten();
        let build_id = build_id.map(|id| id.iter().take(MOST_BUILD_ID_BYTES).copied().collect());
        Ok(Self { file, bytes, sections, build_id })
    }

    /// Whether there is a section of this name with anything in the file.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.range(name).is_some_and(|range| range.compressed_size > 0)
    }

    /// The section's bytes, unpacked; none at all if there is no such section.
    pub(crate) fn section(&self, name: &'static str) -> Result<Arc<[u8]>, DebugInfoFault> {
        let Some(range) = self.range(name) else { return Ok(Arc::new([])) };
        if range.uncompressed_size > MAX_SECTION_BYTES {
            return Err(DebugInfoFault::TooLarge {
                section: name,
                limit_mib: MAX_SECTION_BYTES >> 20,
            });
        }
        let end = range.offset.checked_add(range.compressed_size);
        if end.is_none_or(|end| end > self.bytes) {
            return Err(DebugInfoFault::malformed(&format!("section {name} ends beyond the file")));
        }
        let stored = self.read(range.offset, range.compressed_size)?;
        if range.format == CompressionFormat::None {
            return Ok(stored);
        }
        let uncompressed_size = range.uncompressed_size;
        let data = CompressedData { format: range.format, data: &stored, uncompressed_size };
        data.decompress().map(Arc::from).map_err(|error| DebugInfoFault::malformed(&error))
    }

    fn range(&self, name: &str) -> Option<CompressedFileRange> {
        self.sections.iter().find(|(called, _)| called == name).map(|&(_, range)| range)
    }

    /// `size` bytes from `offset`, which the caller has seen to lie in the file.
    fn read(&self, offset: u64, size: u64) -> Result<Arc<[u8]>, DebugInfoFault> {
        let size = usize::try_from(size).map_err(|error| DebugInfoFault::malformed(&error))?;
        let mut bytes: Arc<[u8]> = iter::repeat_n(0, size).collect();
        if let Some(room) = Arc::get_mut(&mut bytes) {
            self.file.read_exact_at(room, offset).map_err(DebugInfoFault::Read)?;
        }
        Ok(bytes)
    }
}

fn begins_as_elf(file: &File) -> Result<bool, DebugInfoFault> {
    let mut head = Vec::with_capacity(MAGIC.len());
    file.take(MAGIC.len() as u64).read_to_end(&mut head).map_err(DebugInfoFault::Read)?;
    Ok(head == MAGIC)
}

/// The parser takes 64-bit little-endian files only, and reports others as damaged.
fn not_readable(error: object::Error) -> DebugInfoFault {
    DebugInfoFault::malformed(&format!("{error} (or not 64-bit little-endian)"))
}

fn check_kind(architecture: Architecture, kind: ObjectKind) -> Result<(), DebugInfoFault> {
    if architecture != Architecture::X86_64 {
        return Err(DebugInfoFault::NotAKernel("made for another processor"));
    }
    match kind {
        ObjectKind::Executable | ObjectKind::Dynamic => Ok(()),
        // Its addresses are not known before it is loaded or linked.
        _ => Err(DebugInfoFault::NotAKernel("an object file or module")),
    }
}
