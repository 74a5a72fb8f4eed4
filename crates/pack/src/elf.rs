//! The little of ELF that tells what a program or library needs.
//!
//! Contract: bounds-checked, and nothing is held but names of at most [`MAX_NAME_BYTES`], at most
//! [`MAX_NEEDED`] of them.
//!
//! Sources: the System V ABI's "Object Files" and "Dynamic Linking"; `elf(5)`.

use object::LittleEndian;
use object::elf::{
    DF_1_NODEFLIB, DT_FLAGS_1, DT_NEEDED, DT_NULL, DT_RPATH, DT_RUNPATH, DT_SONAME, DT_STRSZ,
    DT_STRTAB, FileHeader32, FileHeader64, PT_LOAD,
};
use object::read::elf::{Dyn as _, FileHeader, ProgramHeader as _};
use pathmeter_image::machine_name;

const MAGIC: &[u8] = b"\x7fELF";
/// Enough of a file for [`Target::of`].
pub(crate) const HEAD_BYTES: usize = 64;

// Offsets in the ELF header, the same in both classes.
const EI_CLASS: usize = 4;
const EI_DATA: usize = 5;
const E_TYPE: usize = 16;
const E_MACHINE: usize = 18;

const CLASS_32: u8 = 1;
const CLASS_64: u8 = 2;
const LITTLE_ENDIAN: u8 = 1;
const ET_EXEC: u16 = 2;
const ET_DYN: u16 = 3;
const EM_386: u16 = 3;
const EM_X86_64: u16 = 62;

const MAX_NEEDED: usize = 1024;
/// Linux's `PATH_MAX`; search paths of libraries are longer, but not by much.
const MAX_NAME_BYTES: usize = 4096;

/// What x86 processor mode a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    Bits32,
    Bits64,
}

/// What an ELF file is for, by its first bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A program or shared library for x86.
    X86(Class),
    /// An object file, a core dump.
    NotLinked,
    /// It is made for this other processor.
    Other(String),
}

impl Target {
    /// None for what is no ELF file.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        if !head.starts_with(MAGIC) {
            return None;
        }
        let number =
            |at: usize| head.get(at..at + 2).map_or(0, |two| u16::from_le_bytes([two[0], two[1]]));
        let byte = |at: usize| head.get(at).copied().unwrap_or(0);
        if byte(EI_DATA) != LITTLE_ENDIAN {
            return Some(Self::Other("a big-endian processor".to_owned()));
        }
        let linked = matches!(number(E_TYPE), ET_EXEC | ET_DYN);
        Some(match (byte(EI_CLASS), number(E_MACHINE)) {
            (CLASS_64, EM_X86_64) | (CLASS_32, EM_386) if !linked => Self::NotLinked,
            (CLASS_64, EM_X86_64) => Self::X86(Class::Bits64),
            (CLASS_32, EM_386) => Self::X86(Class::Bits32),
            (_, EM_X86_64) => Self::Other("x32".to_owned()),
            (_, machine) => Self::Other(machine_name(machine)),
        })
    }
}

/// What a program or library needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Elf {
    pub(crate) class: Class,
    /// The dynamic loader, for a program.
    pub(crate) interpreter: Option<String>,
    /// The libraries needed, in order.
    pub(crate) needed: Vec<String>,
    /// The name by which others need it.
    pub(crate) soname: Option<String>,
    pub(crate) rpath: Option<String>,
    pub(crate) runpath: Option<String>,
    /// Whether the default folders are not to be searched for what it needs.
    pub(crate) no_default_folders: bool,
}

impl Elf {
    /// Reads a file whose target is known.
    pub(crate) fn read(data: &[u8], class: Class) -> Result<Self, &'static str> {
        match class {
            Class::Bits32 => read::<FileHeader32<LittleEndian>>(data, class),
            Class::Bits64 => read::<FileHeader64<LittleEndian>>(data, class),
        }
    }
}

fn read<H: FileHeader<Endian = LittleEndian>>(
    data: &[u8],
    class: Class,
) -> Result<Elf, &'static str> {
    let header = H::parse(data).map_err(|_| "its ELF header is invalid")?;
    let segments = header
        .program_headers(LittleEndian, data)
        .map_err(|_| "its program headers are outside the file")?;
    for segment in segments.iter().filter(|segment| segment.p_type(LittleEndian) == PT_LOAD) {
        segment
            .data(LittleEndian, data)
            .map_err(|()| "a part that is loaded is outside the file")?;
    }
    let mut interpreter = None;
    for segment in segments {
        let name = segment.interpreter(LittleEndian, data);
        if let Some(name) = name.map_err(|_| "its interpreter's name is outside the file")? {
            interpreter = Some(text(name)?);
            break;
        }
    }
    let mut elf = Elf {
        class,
        interpreter,
        needed: Vec::new(),
        soname: None,
        rpath: None,
        runpath: None,
        no_default_folders: false,
    };
    for segment in segments {
        let entries = segment.dynamic(LittleEndian, data);
        if let Some(entries) = entries.map_err(|_| "its dynamic section is outside the file")? {
            fill::<H>(&mut elf, segments, entries, data)?;
            break;
        }
    }
    Ok(elf)
}

/// Takes in the dynamic section.
fn fill<H: FileHeader<Endian = LittleEndian>>(
    elf: &mut Elf,
    segments: &[H::ProgramHeader],
    entries: &[H::Dyn],
    data: &[u8],
) -> Result<(), &'static str> {
    let pairs = entries.iter().map(|entry| {
        let value: u64 = entry.d_val(LittleEndian).into();
        (entry.d_tag(LittleEndian), value)
    });
    let pairs: Vec<_> = pairs.take_while(|(tag, _)| *tag != DT_NULL).collect();
    let last = |wanted| pairs.iter().rev().find(|(tag, _)| *tag == wanted).map(|(_, value)| *value);
    let strings = strings(segments, last(DT_STRTAB), last(DT_STRSZ), data);
    let name = |offset: u64| {
        let start = usize::try_from(offset).ok().and_then(|offset| strings.get(offset..));
        text(start.ok_or("a name of a library is outside the file")?)
    };
    let needed = pairs.iter().filter(|(tag, _)| *tag == DT_NEEDED);
    if needed.clone().count() > MAX_NEEDED {
        return Err("it needs more libraries than any program does");
    }
    elf.needed = needed.map(|(_, offset)| name(*offset)).collect::<Result<_, _>>()?;
    elf.soname = last(DT_SONAME).map(name).transpose()?;
    elf.rpath = last(DT_RPATH).map(name).transpose()?;
    elf.runpath = last(DT_RUNPATH).map(name).transpose()?;
    let flags = last(DT_FLAGS_1).unwrap_or(0);
    elf.no_default_folders = flags & DF_1_NODEFLIB.0 != 0;
    Ok(())
}

/// The dynamic section's strings, which it names by their address in memory.
fn strings<'a, P: object::read::elf::ProgramHeader<Endian = LittleEndian>>(
    segments: &[P],
    address: Option<u64>,
    size: Option<u64>,
    data: &'a [u8],
) -> &'a [u8] {
    let place = address.zip(size);
    let found = place.and_then(|(address, size)| {
        let in_segment =
            |segment: &P| segment.data_range(LittleEndian, data, address, size).ok().flatten();
        segments.iter().find_map(in_segment)
    });
    found.unwrap_or_default()
}

/// A name that ends with NUL, or with the bytes.
fn text(bytes: &[u8]) -> Result<String, &'static str> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    if end > MAX_NAME_BYTES {
        return Err("a name in it is too long");
    }
    let name = String::from_utf8(bytes[..end].to_vec());
    name.map_err(|_| "a name in it is no UTF-8")
}
