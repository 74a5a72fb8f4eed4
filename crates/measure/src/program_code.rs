//! The functions of a program's own code: pages that the plugin saw are found in the packed files
//! by what is in them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use pathmeter_pack::Code;
use pathmeter_trace::{BlockFunction, CODE_PAGE_BYTES, CodePage, CodePlace, code_hash};
use rustc_demangle::try_demangle;

/// The code of all packed files.
pub(crate) struct PackedCode {
    files: Vec<CodeFile>,
    /// By what is in a page of code: which file has it, and where in the file. A page that several
    /// files have is that of the first.
    pages: BTreeMap<u64, (usize, u64)>,
}

impl PackedCode {
    /// Reads the files, each with its name in the guest.
    pub(crate) fn read<'a>(files: impl Iterator<Item = (&'a str, &'a [u8])>) -> Self {
        let mut code = Self { files: Vec::new(), pages: BTreeMap::new() };
        for (name, data) in files {
            let Some(read) = Code::read(data) else { continue };
            for (offset, hash) in pages(&read, data) {
                code.pages.entry(hash).or_insert((code.files.len(), offset));
            }
            let name = name.rsplit('/').next().unwrap_or(name).to_owned();
            code.files.push(CodeFile { name, code: with_debug_file(read) });
        }
        code
    }

    /// The lines of the table of places by which the plugin is told where functions begin.
    pub(crate) fn start_lines(&self) -> String {
        let starts: Vec<Vec<u64>> = self.files.iter().map(|file| file.code.starts()).collect();
        let line = |(hash, (file, offset)): (&u64, &(usize, u64))| {
            let of_file = &starts[*file];
            let first = of_file.partition_point(|start| start < offset);
            let in_page = of_file[first..].iter().map(|start| start - offset);
            let places: Vec<String> = in_page
                .take_while(|place| *place < CODE_PAGE_BYTES as u64)
                .map(|place| format!(" {place:x}"))
                .collect();
            format!("z {hash:x} {:x}{}\n", places.len(), places.concat())
        };
        self.pages.iter().map(line).collect()
    }
}

/// The code of the packed files, as a program executed it.
pub(crate) struct ProgramCode<'a> {
    pages: Vec<FoundPage>,
    files: &'a [CodeFile],
    /// Files of which blocks without a symbol were asked for.
    without_symbols: RefCell<BTreeSet<String>>,
}

struct CodeFile {
    /// Its name without folders.
    name: String,
    code: Code,
}

/// A page of the plugin's.
struct FoundPage {
    /// Where it was in memory.
    address: u64,
    /// Which file has it, and where in the file; `None` if none does.
    file: Option<(usize, u64)>,
}

impl<'a> ProgramCode<'a> {
    /// Finds the pages that the plugin saw.
    pub(crate) fn find(pages: &[CodePage], packed: &'a PackedCode) -> Self {
        let page = |page: &CodePage| FoundPage {
            address: page.address,
            file: packed.pages.get(&page.hash).copied(),
        };
        let pages = pages.iter().map(page).collect();
        Self { pages, files: &packed.files, without_symbols: RefCell::default() }
    }

    /// The function of a block; `None` without a symbol.
    pub(crate) fn function(&self, block: u64) -> Option<BlockFunction> {
        let (file, address) = self.place(block)?;
        let function = file.code.function_at(address);
        if function.is_none() {
            self.without_symbols.borrow_mut().insert(file.name.clone());
        }
        let function = function?;
        Some(BlockFunction {
            name: plain(&function.name),
            module: Some(file.name.clone()),
            offset: address - function.address,
            address,
        })
    }

    /// What a function without a symbol that begins with the block is called, and its file.
    pub(crate) fn nameless(&self, block: u64) -> (String, Option<String>) {
        if let Some((file, address)) = self.place(block) {
            return (format!("{address:#x}"), Some(file.name.clone()));
        }
        let page = CodePlace::of(block).and_then(|at| Some((self.pages.get(at.page)?, at.offset)));
        let name = page.map_or_else(
            || "[code in no known place]".to_owned(),
            |(page, offset)| format!("[code at {:#x}]", page.address.wrapping_add(offset)),
        );
        (name, None)
    }

    /// Files of which code without a symbol was asked for so far.
    pub(crate) fn without_symbols(&self) -> Vec<String> {
        self.without_symbols.borrow().iter().cloned().collect()
    }

    /// The file that a block is in, and its address there.
    fn place(&self, block: u64) -> Option<(&CodeFile, u64)> {
        let CodePlace { page, offset } = CodePlace::of(block)?;
        let (file, begin) = self.pages.get(page)?.file?;
        let file = self.files.get(file)?;
        Some((file, file.code.address_of(begin + offset)?))
    }
}

/// Where distributions keep the symbols of stripped files, by build id (gdb's manual, "Separate
/// Debug Files").
const DEBUG_FILES: &str = "/usr/lib/debug/.build-id";
/// Largest such file that is read.
const MOST_DEBUG_BYTES: u64 = 2 << 30;

/// Where the debug file of this build id is, if this machine has it.
fn debug_file(build_id: &[u8]) -> Option<PathBuf> {
    let (first, rest) = build_id.split_first()?;
    let name = format!("{first:02x}/{}.debug", HEXLOWER.encode(rest));
    let file = Path::new(DEBUG_FILES).join(name);
    let about = file.metadata().ok()?;
    (about.is_file() && about.len() <= MOST_DEBUG_BYTES).then_some(file)
}

/// The debug files that this machine has of these files: names depend on them.
pub(crate) fn debug_files<'a>(files: impl Iterator<Item = (&'a str, &'a [u8])>) -> Vec<PathBuf> {
    files.filter_map(|(_, data)| debug_file(&Code::build_id(data))).collect()
}

/// The code with the names that its debug file has, if there is one of the same build.
fn with_debug_file(code: Code) -> Code {
    let read = debug_file(&code.build_id).and_then(|file| std::fs::read(file).ok());
    match read.and_then(|data| Code::read(&data)) {
        Some(debug) if debug.build_id == code.build_id => code.with_functions_of(&debug),
        _ => code,
    }
}

/// The pages of a file's code: where in it they begin, and what they are told by.
fn pages(code: &Code, data: &[u8]) -> BTreeMap<u64, u64> {
    let bytes = CODE_PAGE_BYTES as u64;
    let numbers = code.segments.iter().flat_map(|segment| {
        let end = segment.offset.saturating_add(segment.length).min(data.len() as u64);
        segment.offset / bytes..end.div_ceil(bytes)
    });
    let page = |number: u64| {
        let begin = usize::try_from(number).ok()?.checked_mul(CODE_PAGE_BYTES)?;
        let rest = data.get(begin..)?;
        Some((number * bytes, code_hash(&rest[..rest.len().min(CODE_PAGE_BYTES)])))
    };
    numbers.filter_map(page).collect()
}

/// A symbol as the source has it: Rust's without the hash.
fn plain(symbol: &str) -> String {
    try_demangle(symbol).map_or_else(|_| symbol.to_owned(), |name| format!("{name:#}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Vec<u8> {
        std::fs::read(std::env::current_exe().unwrap()).unwrap()
    }

    /// The page in which this test's `main` begins, and where in it.
    fn main_page(own: &[u8]) -> (CodePage, u64) {
        let offset = pathmeter_pack::file_offset(own, "main").unwrap();
        let begin = usize::try_from(offset).unwrap() / CODE_PAGE_BYTES * CODE_PAGE_BYTES;
        let hash = code_hash(&own[begin..begin + CODE_PAGE_BYTES]);
        (CodePage { hash, address: 0x7f00_0000_0000 }, offset % CODE_PAGE_BYTES as u64)
    }

    #[test]
    fn a_page_of_a_packed_file_has_its_functions() {
        let own = own();
        let (page, offset) = main_page(&own);
        let unknown = CodePage { hash: 1, address: 0x5000 };
        let files = [("bin/sh", &b"#!"[..]), ("bin/own", &own)];
        let packed = PackedCode::read(files.into_iter());
        let line = format!("z {:x} ", page.hash);
        let lines = packed.start_lines();
        let line = lines.lines().find(|it| it.starts_with(&line)).unwrap();
        assert!(line.split(' ').skip(3).any(|place| place == format!("{offset:x}")), "{line}");
        let code = ProgramCode::find(&[unknown, page], &packed);
        let found = code.function(2 << 12 | (offset + 1)).unwrap();
        assert_eq!((&*found.name, found.module.as_deref(), found.offset), ("main", Some("own"), 1));
        assert_eq!(code.function(1 << 12), None);
        assert_eq!(code.nameless(1 << 12 | 0x10), ("[code at 0x5010]".to_owned(), None));
        let (name, module) = code.nameless(2 << 12 | offset);
        assert_eq!((module.as_deref(), name.starts_with("0x")), (Some("own"), true));
        // Numbers that no page has, and no place at all.
        for block in [0, 1, 3 << 12, u64::MAX >> 1] {
            assert_eq!(code.function(block), None);
            assert_eq!(code.nameless(block).0, "[code in no known place]");
        }
        assert_eq!(code.without_symbols(), [""; 0]);
    }

    #[test]
    fn names_of_rust_are_those_of_the_source() {
        assert_eq!(plain("_ZN4core3fmt5write17h0123456789abcdefE"), "core::fmt::write");
        assert_eq!(plain("memcpy"), "memcpy");
    }
}
