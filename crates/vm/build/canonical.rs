//! Puts the code and data of a program into an order that no name and no line of source decides, so
//! that its bytes, by which measurements are known to be of the same program, survive a rename, a
//! comment and a moved module.
//!
//! Contract: the program is what `_start` refers to, what that refers to, and so on. Each function
//! or constant comes after the one that refers to it first, in the order of the references in it,
//! where a compiler has them in the order of names. Equal constants are one. The places of panics
//! in the source are one empty place: nobody reads them, since a panic here exits with a number.

use std::collections::HashMap;

use object::elf::{
    R_X86_64_NONE, SHF_EXECINSTR, SHF_MERGE, SHF_STRINGS, SHF_WRITE, SHT_NOBITS, SectionFlags,
};
use object::read::elf::{ElfFile64, ElfSection64, SectionHeader};
use object::write::{self, StandardSection, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, Object, ObjectSection, ObjectSymbol, RelocationFlags,
    RelocationTarget, SectionIndex, SymbolFlags, SymbolKind, SymbolScope,
};

/// The symbol at which the program begins.
const ENTRY: &str = "_start";
/// Bytes of `core::panic::Location`: a name with its length, a line and a column.
const LOCATION: usize = 24;
/// How a name in it ends.
const SOURCE: &[u8] = b".rs";

/// Puts a relocatable program, an ELF file, into this order; the result is a relocatable ELF file.
///
/// # Errors
/// The file is not the ELF file that rustc and the linker were asked for; the text says why.
pub(crate) fn reorder(program: &[u8]) -> Result<Vec<u8>, String> {
    let file = ElfFile64::parse(program).map_err(|error| error.to_string())?;
    let input = Input { pieces: split(&file)?, file };
    let entry = input.file.symbols().find(|symbol| symbol.name() == Ok(ENTRY));
    let entry = entry.and_then(|symbol| Some((symbol.section_index()?, symbol.address())));
    let (section, begin) = entry.ok_or("it has no _start")?;
    let entry = input.find_piece(section, begin)?;
    let mut output = Output::new();
    let (mut places, mut read) = (HashMap::new(), Vec::new());
    let mut waiting = vec![entry];
    while let Some(piece) = waiting.pop() {
        if places.contains_key(&piece) {
            continue;
        }
        let content = input.read(piece)?;
        places.insert(piece, output.place(&content));
        waiting.extend(content.references.iter().rev().map(|reference| reference.to));
        read.push((piece, content.references));
    }
    output.set_entry(places[&entry], begin - entry.begin);
    for (piece, references) in read {
        for reference in references {
            output.add_reference(places[&piece], &reference, places[&reference.to])?;
        }
    }
    output.object.write().map_err(|error| error.to_string())
}

/// A function or a constant: its section, and where in it it begins and ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Piece {
    section: SectionIndex,
    begin: u64,
    end: u64,
}

/// What a piece consists of.
struct Content {
    kind: StandardSection,
    align: u64,
    bytes: Vec<u8>,
    references: Vec<Reference>,
    /// Whether one that is equal may stand for it.
    is_shared: bool,
}

/// A place in a piece that the linker fills in.
struct Reference {
    /// Where, from the beginning of the piece.
    at: u64,
    flags: RelocationFlags,
    to: Piece,
    /// What is added to the address of `to`.
    addend: i64,
}

/// The pieces of each section in the order of their beginnings. Only sections of constants that a
/// linker may merge have several.
fn split(file: &ElfFile64<'_>) -> Result<HashMap<SectionIndex, Vec<Piece>>, String> {
    let mut pieces = HashMap::new();
    for section in file.sections() {
        let data = section.data().map_err(|error| error.to_string())?;
        let size = section.elf_section_header().sh_entsize(file.endian());
        let mut ends: Vec<u64> =
            match (has_flag(&section, SHF_MERGE), has_flag(&section, SHF_STRINGS)) {
                (true, true) => {
                    (1..).zip(data).filter(|(_, it)| **it == 0).map(|it| it.0).collect()
                }
                (true, false) if size > 0 => {
                    (1..=section.size() / size).map(|it| it * size).collect()
                }
                _ => Vec::new(),
            };
        if ends.last() != Some(&section.size()) {
            ends.push(section.size());
        }
        let begins = std::iter::once(0).chain(ends.iter().copied());
        let piece =
            |(begin, end): (u64, &u64)| Piece { section: section.index(), begin, end: *end };
        pieces.insert(section.index(), begins.zip(&ends).map(piece).collect());
    }
    Ok(pieces)
}

fn has_flag(section: &ElfSection64<'_, '_>, flag: SectionFlags) -> bool {
    let flags = section.elf_section_header().sh_flags(Endianness::Little);
    flags.contains(flag)
}

/// The relocatable program that is put in order.
struct Input<'a> {
    file: ElfFile64<'a>,
    pieces: HashMap<SectionIndex, Vec<Piece>>,
}

impl<'a> Input<'a> {
    /// Finds the piece that holds this byte of a section.
    fn find_piece(&self, section: SectionIndex, at: u64) -> Result<Piece, String> {
        let pieces = self.pieces.get(&section).map_or(&[][..], Vec::as_slice);
        let before = pieces.partition_point(|piece| piece.begin <= at);
        pieces[..before].last().copied().ok_or_else(|| format!("nothing is at {at}"))
    }

    fn find_section(&self, piece: Piece) -> Result<ElfSection64<'a, '_>, String> {
        self.file.section_by_index(piece.section).map_err(|error| error.to_string())
    }

    /// Reads the bytes of a piece; one without content in the file, such as a variable that begins
    /// as 0, has zeros.
    fn read_bytes(&self, piece: Piece) -> Result<Vec<u8>, String> {
        let section = self.find_section(piece)?;
        if section.elf_section_header().sh_type(Endianness::Little) == SHT_NOBITS {
            return Ok(vec![0; usize::try_from(piece.end).unwrap_or(0)]);
        }
        let data = section.data().map_err(|error| error.to_string())?;
        let [begin, end] = [piece.begin, piece.end].map(|it| usize::try_from(it).unwrap_or(0));
        Ok(data.get(begin..end).unwrap_or_default().to_vec())
    }

    /// Reads a piece and its references; of the place of a panic nothing is left but zeros.
    fn read(&self, piece: Piece) -> Result<Content, String> {
        let section = self.find_section(piece)?;
        let is_empty = section.elf_section_header().sh_type(Endianness::Little) == SHT_NOBITS;
        let kind =
            match (has_flag(&section, SHF_EXECINSTR), has_flag(&section, SHF_WRITE), is_empty) {
                (true, ..) => StandardSection::Text,
                (_, true, true) => StandardSection::UninitializedData,
                (_, true, false) => StandardSection::Data,
                (_, false, _) => StandardSection::ReadOnlyData,
            };
        let (mut bytes, mut references) =
            (self.read_bytes(piece)?, self.list_references(&section, piece)?);
        let is_location = self.is_location(&bytes, &references)?;
        if is_location {
            bytes.fill(0);
            references.clear();
        }
        let is_merged = has_flag(&section, SHF_MERGE) && references.is_empty();
        let is_shared = is_location || is_merged;
        Ok(Content { kind, align: section.align().max(1), bytes, references, is_shared })
    }

    /// Lists the references in a piece, in the order of their places.
    fn list_references(
        &self,
        section: &ElfSection64<'_, '_>,
        piece: Piece,
    ) -> Result<Vec<Reference>, String> {
        let mut found = Vec::new();
        for (at, relocation) in section.relocations() {
            let flags = relocation.flags();
            let is_none = flags == RelocationFlags::Elf { r_type: R_X86_64_NONE };
            if is_none || !(piece.begin..piece.end).contains(&at) {
                continue;
            }
            let (to, addend) = self.find_target(relocation.target(), relocation.addend())?;
            found.push(Reference { at: at - piece.begin, flags, to, addend });
        }
        found.sort_by_key(|reference| reference.at);
        Ok(found)
    }

    /// Finds the piece that a relocation is about, and what is added to its address.
    fn find_target(&self, target: RelocationTarget, addend: i64) -> Result<(Piece, i64), String> {
        let RelocationTarget::Symbol(index) = target else {
            return Err("a relocation is about no symbol".to_owned());
        };
        let symbol = self.file.symbol_by_index(index).map_err(|error| error.to_string())?;
        let name = symbol.name().unwrap_or_default();
        let section = symbol.section_index().ok_or_else(|| format!("{name} is nowhere"))?;
        // Of a section that is one piece, the addend may lead out of it: to before the next
        // instruction. Of others it is the place of a constant, and the symbol is the section's.
        let whole = self.pieces.get(&section).filter(|pieces| pieces.len() == 1);
        let of_section = if symbol.kind() == SymbolKind::Section { addend } else { 0 };
        let at = symbol.address().saturating_add_signed(of_section);
        let piece = whole.map_or_else(|| self.find_piece(section, at), |whole| Ok(whole[0]))?;
        Ok((piece, symbol.address().cast_signed() + addend - piece.begin.cast_signed()))
    }

    /// Whether a constant is the place of a panic.
    fn is_location(&self, bytes: &[u8], references: &[Reference]) -> Result<bool, String> {
        let [Reference { at: 0, to, addend, .. }] = references else { return Ok(false) };
        let Some(length) = bytes.get(8..16).filter(|_| bytes.len() == LOCATION) else {
            return Ok(false);
        };
        let length = length.iter().rev().fold(0, |length, byte| length << 8 | usize::from(*byte));
        let name = self.read_bytes(*to)?;
        let name = usize::try_from(*addend).ok().and_then(|begin| name.get(begin..));
        let name = name.and_then(|name| name.get(..length));
        Ok(name.is_some_and(|name| name.ends_with(SOURCE)))
    }
}

/// Where a piece is in the program that is written.
#[derive(Clone, Copy)]
struct Place {
    section: write::SectionId,
    offset: u64,
    symbol: write::SymbolId,
}

/// The program as it is written.
struct Output {
    object: write::Object<'static>,
    /// The constants that may be shared, by their bytes and what they are aligned to.
    shared: HashMap<(Vec<u8>, u64), Place>,
}

impl Output {
    fn new() -> Self {
        let format = (BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
        Self { object: write::Object::new(format.0, format.1, format.2), shared: HashMap::new() }
    }

    /// Adds a piece, or finds one that is equal.
    fn place(&mut self, content: &Content) -> Place {
        let Content { kind, align, bytes, is_shared, .. } = content;
        let key = (bytes.clone(), *align);
        if let Some(place) = self.shared.get(&key).filter(|_| *is_shared) {
            return *place;
        }
        let section = self.object.section_id(*kind);
        let offset = match kind {
            StandardSection::UninitializedData => {
                self.object.append_section_bss(section, bytes.len() as u64, *align)
            }
            _ => self.object.append_section_data(section, bytes, *align),
        };
        let symbol = self.add_symbol(String::new(), SymbolScope::Compilation, section, offset);
        let place = Place { section, offset, symbol };
        if *is_shared {
            self.shared.insert(key, place);
        }
        place
    }

    /// Has the program begin at this byte of a piece.
    fn set_entry(&mut self, place: Place, at: u64) {
        self.add_symbol(ENTRY.to_owned(), SymbolScope::Linkage, place.section, place.offset + at);
    }

    fn add_symbol(
        &mut self,
        name: String,
        scope: SymbolScope,
        section: write::SectionId,
        value: u64,
    ) -> write::SymbolId {
        let (section, flags) = (SymbolSection::Section(section), SymbolFlags::None);
        self.object.add_symbol(write::Symbol {
            name: name.into_bytes(),
            value,
            size: 0,
            kind: SymbolKind::Text,
            scope,
            weak: false,
            section,
            flags,
        })
    }

    /// Adds a reference from one piece to another.
    fn add_reference(
        &mut self,
        from: Place,
        reference: &Reference,
        to: Place,
    ) -> Result<(), String> {
        let relocation = write::Relocation {
            offset: from.offset + reference.at,
            symbol: to.symbol,
            addend: reference.addend,
            flags: reference.flags,
        };
        let added = self.object.add_relocation(from.section, relocation);
        added.map_err(|error| error.to_string())
    }
}
