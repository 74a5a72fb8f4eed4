//! The functions of a program's own code: pages that the plugin saw are found in the packed files
//! by what is in them.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};

use pathmeter_pack::Code;
use pathmeter_trace::{
    BlockFunction, CODE_PAGE_BYTES, CodePage, CodePlace, SourceLine, UnusedDebug, code_hash,
};

use crate::program::debug_file::DebugFile;
use crate::program::jit_code::JitCode;
use crate::program::lines::FileLines;
use crate::program::packed::PackedFile;
use crate::program::symbol::source_name;

/// The code of all packed files.
pub(crate) struct PackedCode<'a> {
    files: Vec<CodeFile<'a>>,
    /// By what is in a page of code: which file has it, and where in the file. A page that several
    /// files have is that of the first.
    pages: BTreeMap<u64, (usize, u64)>,
}

impl<'a> PackedCode<'a> {
    /// Reads the files, each with what this machine has of its debug file.
    pub(crate) fn read(
        files: impl Iterator<Item = PackedFile<'a>>,
        debug: impl IntoIterator<Item = DebugFile>,
    ) -> Self {
        let mut code = Self { files: Vec::new(), pages: BTreeMap::new() };
        for (file, debug) in files.zip(debug) {
            let Some(read) = Code::read(file.data) else { continue };
            for (offset, hash) in pages(&read, file.data) {
                code.pages.entry(hash).or_insert((code.files.len(), offset));
            }
            code.files.push(CodeFile::of(&file, read, debug));
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
    files: &'a [CodeFile<'a>],
    jit: JitCode,
    /// Whether code without a name was asked for that is in no file.
    unnamed: Cell<bool>,
    /// Files of which blocks without a symbol were asked for.
    without_symbols: RefCell<BTreeSet<String>>,
    /// Files of which blocks were asked for.
    executed: RefCell<BTreeSet<usize>>,
}

struct CodeFile<'a> {
    /// The file's name, without its folders.
    name: String,
    code: Code,
    lines: FileLines<'a>,
    /// Its debug files that are not used, each with the reason.
    unused: Vec<(PathBuf, String)>,
}

impl<'a> CodeFile<'a> {
    fn of(file: &PackedFile<'a>, own: Code, debug: DebugFile) -> Self {
        let DebugFile { path, mut unused, .. } = debug;
        let lines = FileLines::new(file.data, path.as_deref());
        let code = match path.map(|path| (functions_of(&path), path)) {
            Some((Ok(functions), _)) => own.with_functions_of(&functions),
            Some((Err(why), path)) => {
                unused.push((path, why));
                own
            }
            None => own,
        };
        let name = file.name.rsplit('/').next().unwrap_or(file.name).to_owned();
        Self { name, code, lines, unused }
    }

    /// The debug information of it that was not used.
    fn unused_debug(&self) -> impl Iterator<Item = UnusedDebug> {
        let files = self.unused.iter().map(|(path, why)| (Some(path), why));
        let lines = self.lines.unused().iter().map(|(path, why)| (path.as_ref(), why));
        files.chain(lines).map(|(path, why)| UnusedDebug {
            file: self.name.clone(),
            debug_file: path.map(|path| path.to_string_lossy().into_owned()),
            reason: why.clone(),
        })
    }
}

/// The functions that a debug file names.
fn functions_of(debug_file: &Path) -> Result<Code, String> {
    let file = File::open(debug_file).map_err(|error| format!("it can't be read: {error}"))?;
    let code = Code::of_file(&file);
    code.ok_or_else(|| "its symbols are damaged, or more than can be held".to_owned())
}

/// A page of the plugin's.
enum FoundPage {
    /// Which file has it, and where in the file.
    Packed(usize, u64),
    /// Of which process it is, and its address there.
    Made { process: u64, address: u64 },
    /// One that no file has any more.
    Unknown,
}

impl<'a> ProgramCode<'a> {
    /// Finds the pages that the plugin saw, in a run whose JITs made this code.
    pub(crate) fn find(pages: &[CodePage], packed: &'a PackedCode<'a>, jit: JitCode) -> Self {
        let page = |page: &CodePage| match page {
            CodePage::Made { address, process } => {
                FoundPage::Made { process: *process, address: *address }
            }
            CodePage::Packed(hash) => match packed.pages.get(hash) {
                Some((file, offset)) => FoundPage::Packed(*file, *offset),
                None => FoundPage::Unknown,
            },
        };
        let pages = pages.iter().map(page).collect();
        Self {
            pages,
            files: &packed.files,
            jit,
            unnamed: Cell::default(),
            without_symbols: RefCell::default(),
            executed: RefCell::default(),
        }
    }

    /// The function of a block; `None` without a symbol.
    pub(crate) fn function(&self, block: u64) -> Option<BlockFunction> {
        if let Some((process, address)) = self.find_made_block(block) {
            return self.jit.function(process, address);
        }
        let (file, address) = self.place(block)?;
        let function = file.code.function_at(address);
        if function.is_none() {
            self.without_symbols.borrow_mut().insert(file.name.clone());
        }
        let function = function?;
        Some(BlockFunction {
            name: source_name(&function.name),
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
        let Some((_, address)) = self.find_made_block(block) else {
            return ("[code in no known place]".to_owned(), None);
        };
        self.unnamed.set(true);
        (format!("[code at {address:#x}]"), None)
    }

    /// The line of the source at this address of the file that a block is in.
    pub(crate) fn line(&self, block: u64, address: u64) -> Option<SourceLine> {
        self.place(block)?.0.lines.at(address)
    }

    /// The debug information that was not used of files of which code was asked for so far.
    pub(crate) fn unused_debug(&self) -> Vec<UnusedDebug> {
        let executed = self.executed.borrow();
        let files = executed.iter().filter_map(|file| self.files.get(*file));
        files.flat_map(CodeFile::unused_debug).chain(self.jit.unused.iter().cloned()).collect()
    }

    /// Whether code was asked for so far that no file has and no JIT named.
    pub(crate) fn has_unnamed(&self) -> bool {
        self.unnamed.get()
    }

    /// Files of which code without a symbol was asked for so far.
    pub(crate) fn without_symbols(&self) -> Vec<String> {
        self.without_symbols.borrow().iter().cloned().collect()
    }

    /// The file that a block is in, and its address there.
    fn place(&self, block: u64) -> Option<(&CodeFile<'a>, u64)> {
        let CodePlace { page, offset } = CodePlace::of(block)?;
        let FoundPage::Packed(number, begin) = self.pages.get(page)? else { return None };
        let file = self.files.get(*number)?;
        self.executed.borrow_mut().insert(*number);
        Some((file, file.code.address_of(begin + offset)?))
    }

    /// Finds the process that executed a block which no file has, and the block's address in it.
    fn find_made_block(&self, block: u64) -> Option<(u64, u64)> {
        let CodePlace { page, offset } = CodePlace::of(block)?;
        match self.pages.get(page)? {
            FoundPage::Made { process, address } => Some((*process, address.wrapping_add(offset))),
            _ => None,
        }
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

#[cfg(test)]
mod tests {
    use pathmeter_vm::PerfMapFile;

    use super::*;

    fn own() -> Vec<u8> {
        std::fs::read(std::env::current_exe().unwrap()).unwrap()
    }

    /// The page in which this test's `main` begins, and where in it.
    fn main_page(own: &[u8]) -> (CodePage, u64) {
        let offset = pathmeter_pack::file_offset(own, "main").unwrap();
        let begin = usize::try_from(offset).unwrap() / CODE_PAGE_BYTES * CODE_PAGE_BYTES;
        let hash = code_hash(&own[begin..begin + CODE_PAGE_BYTES]);
        (CodePage::Packed(hash), offset % CODE_PAGE_BYTES as u64)
    }

    #[test]
    fn a_page_of_a_packed_file_has_its_functions() {
        let own = own();
        let (page, offset) = main_page(&own);
        let made = CodePage::Made { address: 0x5000, process: 9 };
        let files = [("bin/sh", &b"#!"[..]), ("bin/own", &own)];
        let files = files.map(|(name, data)| PackedFile { name, data, source: None });
        let packed = PackedCode::read(files.into_iter(), [(); 2].map(|()| DebugFile::default()));
        let CodePage::Packed(hash) = page else { unreachable!() };
        let line = format!("z {hash:x} ");
        let lines = packed.start_lines();
        let line = lines.lines().find(|it| it.starts_with(&line)).unwrap();
        assert!(line.split(' ').skip(3).any(|place| place == format!("{offset:x}")), "{line}");
        let map = PerfMapFile { run: 0, process: 9, bytes: b"5020 8 add\n".to_vec(), total: 11 };
        let jit = JitCode::read([map].iter());
        let code = ProgramCode::find(&[made, page, CodePage::Packed(1)], &packed, jit);
        let found = code.function(2 << 12 | (offset + 1)).unwrap();
        assert_eq!((&*found.name, found.module.as_deref(), found.offset), ("main", Some("own"), 1));
        let made = code.function(1 << 12 | 0x21).unwrap();
        assert_eq!((&*made.name, made.module.as_deref(), made.offset), ("add", Some("JIT"), 1));
        assert_eq!((code.function(1 << 12), code.has_unnamed()), (None, false));
        assert_eq!(code.nameless(1 << 12 | 0x10), ("[code at 0x5010]".to_owned(), None));
        assert!(code.has_unnamed());
        let (name, module) = code.nameless(2 << 12 | offset);
        assert_eq!((module.as_deref(), name.starts_with("0x")), (Some("own"), true));
        // Numbers that no page has, and no place at all.
        for block in [0, 1, 3 << 12, 4 << 12, u64::MAX >> 1] {
            assert_eq!(code.function(block), None);
            assert_eq!(code.nameless(block).0, "[code in no known place]");
        }
        assert_eq!(code.without_symbols(), [""; 0]);
        assert_eq!(code.unused_debug(), []);
    }
}
