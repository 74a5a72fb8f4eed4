//! The sections of a vmlinux, or of a program or its debug file, read as they are asked for.
//!
//! Contract: the file is untrusted. Of it are held the section headers and the sections asked for,
//! each at most [`MAX_SECTION_BYTES`] however it was packed. It is read and never mapped, so a
//! build that rewrites it in the meantime spoils the answer and not the process.
//!
//! Sources: the System V ABI's "Object Files" chapters; Linux `scripts/Makefile.debug`.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::iter;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

use object::{
    Architecture, CompressedData, CompressedFileRange, CompressionFormat, Object as _, ObjectKind,
    ObjectSection as _, ReadCache, ReadRef,
};

use crate::error::DebugInfoFault;

/// The largest section read, unpacked. The largest of a distribution's kernel has 400 MiB.
const MAX_SECTION_BYTES: u64 = 2 << 30;

const MAGIC: [u8; 4] = *b"\x7fELF";

/// What a guest executes beside 64-bit code.
const PROGRAMS: [Architecture; 2] = [Architecture::I386, Architecture::X86_64_X32];

/// What the file is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    Kernel,
    /// A program or library, or a debug file of one.
    Program,
}

enum Source<'a> {
    File(File),
    Memory(&'a [u8]),
}

/// An open ELF file, or one in memory.
pub(crate) struct Elf<'a> {
    source: Source<'a>,
    /// Length of the file when it was opened.
    bytes: u64,
    head: Head,
}

/// What is known of it from its headers.
struct Head {
    /// Where each section lies, in the order of the file.
    sections: Vec<(String, CompressedFileRange)>,
    build_id: Option<Vec<u8>>,
}

/// The longest build ID that a linker makes by itself has 20.
const MOST_BUILD_ID_BYTES: usize = 64;

impl Elf<'static> {
    /// Opens the file and reads its section headers.
    pub(crate) fn open(path: &Path, of: Of) -> Result<Self, DebugInfoFault> {
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
        let head = Head::read(&cache, of)?;
        Ok(Self { source: Source::File(file), bytes, head })
    }
}

impl<'a> Elf<'a> {
    /// Reads the section headers of a program that is in memory.
    pub(crate) fn of_program(bytes: &'a [u8]) -> Result<Self, DebugInfoFault> {
        if !bytes.starts_with(&MAGIC) {
            return Err(DebugInfoFault::NotElf);
        }
        let head = Head::read(bytes, Of::Program)?;
        Ok(Self { source: Source::Memory(bytes), bytes: bytes.len() as u64, head })
    }

    /// Its GNU build ID, if it has one.
    pub(crate) fn build_id(&self) -> Option<&[u8]> {
        self.head.build_id.as_deref()
    }

    /// Refuses a file in which these sections together, unpacked, have more bytes than may be held.
    pub(crate) fn check_total(
        &self,
        mut names: impl Iterator<Item = &'static str>,
    ) -> Result<(), DebugInfoFault> {
        let mut total: u64 = 0;
        let largest = names.find(|name| {
            let bytes = self.range(name).map_or(0, |range| range.uncompressed_size);
            total = total.saturating_add(bytes);
            total > MAX_SECTION_BYTES
        });
        largest.map_or(Ok(()), |section| Err(too_large(section)))
    }

    /// Whether there is a section of this name with anything in the file.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.range(name).is_some_and(|range| range.compressed_size > 0)
    }

    /// The section's bytes, unpacked; none at all if there is no such section.
    pub(crate) fn section(&self, name: &'static str) -> Result<Arc<[u8]>, DebugInfoFault> {
        let Some(range) = self.range(name) else { return Ok(Arc::new([])) };
        if range.uncompressed_size > MAX_SECTION_BYTES {
            return Err(too_large(name));
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
        self.head.sections.iter().find(|(called, _)| called == name).map(|&(_, range)| range)
    }

    /// `size` bytes from `offset`, which the caller has seen to lie in the file.
    fn read(&self, offset: u64, size: u64) -> Result<Arc<[u8]>, DebugInfoFault> {
        let size = usize::try_from(size).map_err(|error| DebugInfoFault::malformed(&error))?;
        let mut bytes: Arc<[u8]> = iter::repeat_n(0, size).collect();
        if let Some(room) = Arc::get_mut(&mut bytes) {
            self.source.read_exact_at(room, offset).map_err(DebugInfoFault::Read)?;
        }
        Ok(bytes)
    }
}

impl Source<'_> {
    fn read_exact_at(&self, room: &mut [u8], offset: u64) -> io::Result<()> {
        match self {
            Self::File(file) => file.read_exact_at(room, offset),
            Self::Memory(bytes) => {
                let begin = usize::try_from(offset).ok();
                let rest = begin.and_then(|begin| bytes.get(begin..)).unwrap_or_default();
                (&*rest).read_exact(room)
            }
        }
    }
}

impl Head {
    fn read<'d>(data: impl ReadRef<'d>, of: Of) -> Result<Self, DebugInfoFault> {
        let elf = object::File::parse(data).map_err(|error| DebugInfoFault::malformed(&error))?;
        check_kind(of, elf.architecture(), elf.kind())?;
        if !elf.is_little_endian() {
            return Err(DebugInfoFault::malformed(&"not little-endian"));
        }
        let sections = elf.sections().filter_map(|section| {
            let name = section.name().ok()?.to_owned();
            section.compressed_file_range().ok().map(|range| (name, range))
        });
        let sections = sections.collect();
        let build_id = elf.build_id().ok().flatten();
        let build_id = build_id.map(|id| id.iter().take(MOST_BUILD_ID_BYTES).copied().collect());
        Ok(Self { sections, build_id })
    }
}

fn too_large(section: &'static str) -> DebugInfoFault {
    DebugInfoFault::TooLarge { section, limit_mib: MAX_SECTION_BYTES >> 20 }
}

fn begins_as_elf(file: &File) -> Result<bool, DebugInfoFault> {
    let mut head = Vec::with_capacity(MAGIC.len());
    file.take(MAGIC.len() as u64).read_to_end(&mut head).map_err(DebugInfoFault::Read)?;
    Ok(head == MAGIC)
}

fn check_kind(of: Of, architecture: Architecture, kind: ObjectKind) -> Result<(), DebugInfoFault> {
    let is_program = of == Of::Program && PROGRAMS.contains(&architecture);
    if architecture != Architecture::X86_64 && !is_program {
        return Err(DebugInfoFault::NotAKernel("made for another processor"));
    }
    match kind {
        ObjectKind::Executable | ObjectKind::Dynamic => Ok(()),
        // Its addresses are not known before it is loaded or linked.
        _ => Err(DebugInfoFault::NotAKernel("an object file or module")),
    }
}
