//! The little of ELF that matters: is it x86-64, is it whole, has it a PVH entry.
//!
//! Contract: bounds-checked; [`check`] comes first and its faults are the user's, the other
//! functions answer `false` for what can't be read.
//!
//! Sources: the System V ABI's "Object Files" chapters; Xen `public/elfnote.h`; Linux
//! `arch/x86/platform/pvh/head.S`; QEMU `hw/i386/x86.c`, which searches for the same note.

use object::LittleEndian;
use object::elf::{FileHeader64, PF_X, PT_LOAD, PT_NOTE, ProgramHeader64};
use object::read::elf::{FileHeader as _, ProgramHeader as _};

use crate::error::{ImageFault, LooksLike};

const MAGIC: &[u8] = b"\x7fELF";

// Offsets in the ELF header, the same in both classes.
const EI_CLASS: usize = 4;
const EI_DATA: usize = 5;
const E_MACHINE: usize = 0x12;

const CLASS_64: u8 = 2;
const BIG_ENDIAN: u8 = 2;

const EM_386: u16 = 3;
const EM_X86_64: u16 = 62;

/// `XEN_ELFNOTE_PHYS32_ENTRY`: the physical address of the 32-bit entry point.
const PVH_NOTE_TYPE: u32 = 18;
const PVH_NOTE_NAME: &[u8] = b"Xen";
/// The least the note can hold: a 32-bit address. Linux writes 64 bits.
const PVH_ENTRY_BYTES: usize = 4;

/// `NT_GNU_BUILD_ID`: the hash that the linker made of all that it linked.
const BUILD_ID_NOTE_TYPE: u32 = 3;
const BUILD_ID_NOTE_NAME: &[u8] = b"GNU";
/// The longest one that a linker makes by itself has 20.
const MOST_BUILD_ID_BYTES: usize = 64;

/// Processors Linux runs on, by `e_machine`, named as people name them.
const MACHINES: [(u16, &str); 12] = [
    (2, "sparc"),
    (4, "m68k"),
    (8, "mips"),
    (15, "parisc"),
    (20, "powerpc"),
    (21, "powerpc64"),
    (22, "s390x"),
    (40, "arm (32-bit)"),
    (43, "sparc64"),
    (183, "aarch64 (arm64)"),
    (243, "riscv"),
    (258, "loongarch"),
];

type Header = FileHeader64<LittleEndian>;
type Segment = ProgramHeader64<LittleEndian>;

/// Whether the bytes begin as an ELF file does.
pub(crate) fn is_elf(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// An ELF file that is no kernel, for want of both a PVH note and Linux's banner.
pub(crate) fn not_a_kernel() -> ImageFault {
    ImageFault::NotAKernel(LooksLike::Known("an ELF program or library"))
}

/// Checks that this is a whole ELF file for x86-64.
pub(crate) fn check(bytes: &[u8]) -> Result<(), ImageFault> {
    check_machine(bytes)?;
    let segments = segments(bytes)?;
    if !segments.iter().any(|segment| kind(segment) == PT_LOAD.0) {
        return Err(not_a_kernel());
    }
    segments.iter().try_for_each(|segment| check_segment(segment, bytes))
}

/// Whether a PVH entry point is noted, so that QEMU can enter the file directly.
pub(crate) fn has_pvh_note(bytes: &[u8]) -> bool {
    let segments = segments(bytes).unwrap_or_default();
    segments.iter().any(|segment| pvh_entry(segment, bytes).is_some())
}

/// A vmlinux as a loader sees it that enters it by its PVH note.
#[derive(Debug)]
pub struct Loadable<'a> {
    /// The physical address of the 32-bit entry.
    pub entry: u32,
    /// What is loaded, in the file's order.
    pub segments: Vec<LoadableSegment<'a>>,
}

/// A segment that is loaded.
#[derive(Debug)]
pub struct LoadableSegment<'a> {
    /// The physical address that it is loaded at.
    pub address: u64,
    /// Its bytes in the file.
    pub bytes: &'a [u8],
    /// Its bytes in memory; those that the file lacks are zero.
    pub size: u64,
}

/// What of a vmlinux is loaded where, and where it is entered; None if it has no PVH note, or is no
/// vmlinux.
pub fn loadable(vmlinux: &[u8]) -> Option<Loadable<'_>> {
    let segments = segments(vmlinux).ok()?;
    let entry = segments.iter().find_map(|segment| pvh_entry(segment, vmlinux))?;
    let loaded = segments.iter().filter(|segment| kind(segment) == PT_LOAD.0);
    let segments = loaded.map(|segment| {
        Some(LoadableSegment {
            address: segment.p_paddr(LittleEndian),
            bytes: segment.data(LittleEndian, vmlinux).ok()?,
            size: segment.p_memsz(LittleEndian),
        })
    });
    Some(Loadable { entry, segments: segments.collect::<Option<_>>()? })
}

/// The executable segments of a vmlinux: the virtual address of each, and its bytes. Nothing for
/// what is no vmlinux.
pub fn executable_segments(vmlinux: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let segments = segments(vmlinux).unwrap_or_default().iter();
    let executable = |segment: &&Segment| {
        kind(segment) == PT_LOAD.0 && segment.p_flags(LittleEndian).contains(PF_X)
    };
    segments.filter(executable).filter_map(move |segment| {
        Some((segment.p_vaddr(LittleEndian), segment.data(LittleEndian, vmlinux).ok()?))
    })
}

fn check_machine(bytes: &[u8]) -> Result<(), ImageFault> {
    let has = bytes.len() as u64;
    ImageFault::unless_fits("the ELF header", size_of::<Header>() as u64, has)?;
    let pair = [bytes[E_MACHINE], bytes[E_MACHINE + 1]];
    let machine = match bytes[EI_DATA] {
        BIG_ENDIAN => u16::from_be_bytes(pair),
        _ => u16::from_le_bytes(pair),
    };
    match (machine, bytes[EI_CLASS]) {
        (EM_X86_64, CLASS_64) => Ok(()),
        (EM_X86_64 | EM_386, _) => Err(ImageFault::ThirtyTwoBit),
        _ => Err(ImageFault::OtherArchitecture(machine_name(machine))),
    }
}

/// The processor with this `e_machine`, as people name it; one that Linux does not run on by its
/// number.
pub fn machine_name(machine: u16) -> String {
    let known = MACHINES.iter().find(|(number, _)| *number == machine);
    known.map_or_else(|| format!("ELF machine {machine}"), |(_, name)| (*name).to_owned())
}

fn segments(bytes: &[u8]) -> Result<&[Segment], ImageFault> {
    let header =
        Header::parse(bytes).map_err(|_| ImageFault::Malformed("the ELF header is invalid"))?;
    let table = u64::from(header.e_phnum.get(LittleEndian)) * size_of::<Segment>() as u64;
    let end = header.e_phoff.get(LittleEndian).saturating_add(table);
    ImageFault::unless_fits("the ELF program header table", end, bytes.len() as u64)?;
    header
        .program_headers(LittleEndian, bytes)
        .map_err(|_| ImageFault::Malformed("the ELF program header table is invalid"))
}

fn check_segment(segment: &Segment, bytes: &[u8]) -> Result<(), ImageFault> {
    if ![PT_LOAD.0, PT_NOTE.0].contains(&kind(segment)) {
        return Ok(());
    }
    let (offset, size) = segment.file_range(LittleEndian);
    ImageFault::unless_fits("an ELF segment", offset.saturating_add(size), bytes.len() as u64)
}

/// The build ID, if there is one.
pub(crate) fn build_id(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut segments = segments(bytes).unwrap_or_default().iter();
    let id = segments.find_map(|it| noted(it, bytes, BUILD_ID_NOTE_NAME, BUILD_ID_NOTE_TYPE))?;
    Some(id.iter().take(MOST_BUILD_ID_BYTES).copied().collect())
}

/// The entry that the segment notes, if it does.
fn pvh_entry(segment: &Segment, bytes: &[u8]) -> Option<u32> {
    let note = noted(segment, bytes, PVH_NOTE_NAME, PVH_NOTE_TYPE)?;
    Some(u32::from_le_bytes(*note.first_chunk::<PVH_ENTRY_BYTES>()?))
}

/// The text of the segment's first note of this name and type.
fn noted<'a>(segment: &Segment, bytes: &'a [u8], name: &[u8], kind: u32) -> Option<&'a [u8]> {
    let mut notes = segment.notes(LittleEndian, bytes).ok()??.map_while(Result::ok);
    let note = notes.find(|it| it.name() == name && it.n_type(LittleEndian).0 == kind)?;
    Some(note.desc())
}

fn kind(segment: &Segment) -> u32 {
    segment.p_type(LittleEndian).0
}
