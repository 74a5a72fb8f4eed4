//! Source lines and inlined functions of addresses: of kernels, from a vmlinux with DWARF, and of
//! programs, from their own DWARF or that of their debug files.
//!
//! Addresses are link addresses: those of a kernel that runs where it was linked (`nokaslr`), and
//! of a program as its file has them. Modules are not in a vmlinux, so their addresses have no
//! frames.
//!
//! Contract: the file is untrusted; whatever it holds, nothing here panics, and what is not
//! understood gives no frames. Memory held is the sections that lines come from (about 200 MiB for
//! a distribution's kernel, at most 2 GiB for a program) and what was unpacked of the units asked
//! for.
//!
//! Sources: the DWARF 5 standard, sections 2.17, 3.3.8 and 6.2; Linux `lib/Kconfig.debug`.

#![forbid(unsafe_code)]

mod banner;
mod elf;
mod error;
mod holders;
mod roots;

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::iter;
use std::path::Path;
use std::sync::Arc;

use addr2line::Context;
use gimli::{AbbreviationsCacheStrategy, Dwarf, EndianArcSlice, LittleEndian, SectionId, Unit};

use elf::{Elf, Of};
pub use error::{DebugInfoError, DebugInfoFault};
pub use holders::MAX_HOLDERS;
use roots::Roots;

/// The most frames given for one address; the deepest inlining in a kernel is about 20.
pub const MAX_FRAMES: usize = 64;
/// Longer names and file names are cut here.
const MAX_NAME_CHARS: usize = 1024;

/// A kernel's first units are assembly, which is described by other means than the C after it.
const UNITS_LOOKED_AT: usize = 256;

/// The sections that functions and lines are in. Left out are those that only variables, types and
/// unwinding need, a third of the whole.
const WANTED: [SectionId; 10] = [
    SectionId::DebugAbbrev,
    SectionId::DebugAddr,
    SectionId::DebugAranges,
    SectionId::DebugInfo,
    SectionId::DebugLine,
    SectionId::DebugLineStr,
    SectionId::DebugRanges,
    SectionId::DebugRngLists,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
];

type Bytes = EndianArcSlice<LittleEndian>;

/// A function that an instruction belongs to, and the line in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SourceFrame {
    /// Name as in the source, so without the compiler's suffixes (`.isra.0`). None for code that
    /// has lines but no function, as assembly often.
    pub function: Option<String>,
    /// File, relative to the kernel's source where it lies there: `kernel/sched/core.c`; of a
    /// program relative to where it was compiled, if it lies there.
    pub file: Option<String>,
    /// Line in `file`, from 1: the instruction's in the innermost frame, the call's in the others.
    pub line: Option<u32>,
    /// Whether the compiler put the function into the next frame's, so that no call was made.
    pub inlined: bool,
}

/// What a vmlinux holds about the kernel's addresses, or a file about a program's.
pub struct DebugInfo {
    context: Context<Bytes>,
    dwarf: Arc<Dwarf<Bytes>>,
    roots: Roots,
    banner: Option<String>,
    build_id: Option<Vec<u8>>,
}

/// The marks by which a measured kernel is known.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    /// The line it prints first, or else its release.
    pub banner: Option<String>,
    /// Its GNU build ID, if that is known.
    pub build_id: Option<Vec<u8>>,
}

impl fmt::Debug for DebugInfo {
    /// Shows the banner only: the rest is hundreds of MiB.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DebugInfo").field("banner", &self.banner).finish_non_exhaustive()
    }
}

impl DebugInfo {
    /// Reads the vmlinux at `path`.
    ///
    /// # Errors
    /// [`DebugInfoError`] names the file, what is wrong and what to do: see [`DebugInfoFault`].
    pub fn open(path: &Path) -> Result<Self, DebugInfoError> {
        kernel(path).map_err(|fault| fault.at(path))
    }

    /// Reads what a program or library in memory says of itself.
    ///
    /// # Errors
    /// There is none, or it can't be used. What is in separate `.dwo` files is not missed: lines
    /// are not there.
    pub fn of_program(bytes: &[u8]) -> Result<Self, DebugInfoFault> {
        of(&Elf::of_program(bytes)?, Of::Program)
    }

    /// Reads the debug file of a program or library. The caller has to check that both come from
    /// the same build.
    ///
    /// # Errors
    /// As [`Self::of_program`]; or it can't be read.
    pub fn of_debug_file(path: &Path) -> Result<Self, DebugInfoFault> {
        of(&Elf::open(path, Of::Program)?, Of::Program)
    }

    /// The line this kernel prints first: `Linux version …`. None if the file's data was removed.
    pub fn banner(&self) -> Option<&str> {
        self.banner.as_deref()
    }

    /// Checks that the file at `path`, as given to [`DebugInfo::open`], belongs to the `measured`
    /// kernel: by its banner, which a copy may lack that has nothing but debug information, and by
    /// its build ID. Of a kernel of which neither is known it is believed.
    ///
    /// # Errors
    /// [`DebugInfoFault::OtherKernel`] or [`DebugInfoFault::OtherBuild`] if the two differ,
    /// [`DebugInfoFault::Unidentified`] if nothing tells.
    pub fn check_kernel(&self, path: &Path, measured: &Measured) -> Result<(), DebugInfoError> {
        let banners = self.banner.clone().zip(measured.banner.clone());
        let build_ids = self.build_id.clone().zip(measured.build_id.clone());
        let is_known = measured.banner.is_some() || measured.build_id.is_some();
        let fault = match (banners, build_ids) {
            (Some((has, measured)), _) if !banner::agrees(&has, &measured) => {
                DebugInfoFault::OtherKernel { has, measured }
            }
            (_, Some((has, measured))) if has != measured => {
                DebugInfoFault::OtherBuild { has: hex(&has), measured: hex(&measured) }
            }
            (None, None) if is_known => DebugInfoFault::Unidentified,
            _ => return Ok(()),
        };
        Err(fault.at(path))
    }

    /// The functions at `address`, innermost first: those inlined there, then the one that was
    /// called. Empty where the file has nothing; at most [`MAX_FRAMES`].
    pub fn frames(&self, address: u64) -> Vec<SourceFrame> {
        // The lookup asks for the range up to the next address.
        if address == u64::MAX {
            return Vec::new();
        }
        let Ok(mut found) = self.context.find_frames(address).skip_all_loads() else {
            return Vec::new();
        };
        let mut frames = Vec::new();
        while let (Ok(Some(frame)), true) = (found.next(), frames.len() < MAX_FRAMES) {
            frames.push(self.frame(&frame));
        }
        // Each but the last is in the one after it.
        frames.iter_mut().rev().skip(1).for_each(|frame: &mut SourceFrame| frame.inlined = true);
        frames
    }

    /// Of each function with one of these names those into which the compiler put its code, by
    /// name, at most [`MAX_HOLDERS`]; absent if there are none. Takes some seconds for a
    /// distribution's kernel: all units are read.
    pub fn holders<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> HashMap<String, BTreeSet<String>> {
        holders::holders(&self.dwarf, names)
    }

    fn frame(&self, found: &addr2line::Frame<'_, Bytes>) -> SourceFrame {
        let function = found.function.as_ref().and_then(|name| name.demangle().ok());
        let location = found.location.as_ref();
        let file = location.and_then(|location| location.file);
        SourceFrame {
            function: function.map(|name| bounded(&name)),
            file: file.map(|file| self.roots.relative(&bounded(file))),
            line: location.and_then(|location| location.line),
            inlined: false,
        }
    }
}

fn kernel(path: &Path) -> Result<DebugInfo, DebugInfoFault> {
    let vmlinux = Elf::open(path, Of::Kernel)?;
    let info = of(&vmlinux, Of::Kernel)?;
    Ok(DebugInfo { banner: banner::find(&vmlinux.section(".rodata")?), ..info })
}

fn of(elf: &Elf<'_>, of: Of) -> Result<DebugInfo, DebugInfoFault> {
    check_sections(elf)?;
    if of == Of::Program {
        // A kernel's is named by the user; a program brings it.
        elf.check_total(WANTED.iter().map(|id| id.name()))?;
    }
    let mut dwarf = Dwarf::load(|id| load(elf, id))?;
    dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::Duplicates);
    let units = first_units(&dwarf);
    if of == Of::Kernel {
        check_whole(&units)?;
    }
    let roots = Roots::of(&units);
    let dwarf = Arc::new(dwarf);
    let context = Context::from_arc_dwarf(Arc::clone(&dwarf));
    let context = context.map_err(|error| DebugInfoFault::malformed(&error))?;
    let build_id = elf.build_id().map(<[u8]>::to_vec);
    Ok(DebugInfo { context, dwarf, roots, banner: None, build_id })
}

fn check_sections(elf: &Elf<'_>) -> Result<(), DebugInfoFault> {
    let needed = [SectionId::DebugInfo, SectionId::DebugAbbrev, SectionId::DebugLine];
    if needed.iter().all(|id| elf.has(id.name())) { Ok(()) } else { Err(DebugInfoFault::NoDwarf) }
}

/// The first units, enough to know all by; those that can't be read are passed over.
fn first_units(dwarf: &Dwarf<Bytes>) -> Vec<Unit<Bytes>> {
    let mut headers = dwarf.units();
    let headers = iter::from_fn(|| headers.next().ok().flatten()).take(UNITS_LOOKED_AT);
    headers.filter_map(|header| dwarf.unit(header).ok()).collect()
}

/// Refuses a kernel whose functions are in `.dwo` files: it would give lines and no names.
fn check_whole(units: &[Unit<Bytes>]) -> Result<(), DebugInfoFault> {
    let is_skeleton = |unit: &Unit<Bytes>| unit.dwo_id.is_some();
    if units.iter().any(is_skeleton) { Err(DebugInfoFault::SplitDwarf) } else { Ok(()) }
}

fn load(elf: &Elf<'_>, id: SectionId) -> Result<Bytes, DebugInfoFault> {
    let wanted = WANTED.contains(&id);
    let bytes = if wanted { elf.section(id.name())? } else { [].into() };
    Ok(Bytes::new(bytes, LittleEndian))
}

fn hex(bytes: &[u8]) -> String {
    let digit = |four_bits| char::from_digit(u32::from(four_bits), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn bounded(text: &str) -> String {
    text.chars().take(MAX_NAME_CHARS).collect()
}
