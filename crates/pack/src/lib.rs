//! Decides which files an unmodified Linux program needs in a guest of its own: the program, its
//! interpreters, its dynamic loader and libraries, what was asked for in addition, and what every
//! program expects of a system.
//!
//! Contract: nothing is executed, and nothing is written. The same bytes in the same places give
//! the same [`Packed`]: there are no times and no owners in it, hard links are separate files, and
//! everything is in order; only [`Packed::sources`] tells where they are. Nothing of the host's
//! environment is in it. With a root folder of the program's own, no path leads out of that folder,
//! whatever links are in it.
//!
//! Sources: those of each form in its file.

#![forbid(unsafe_code)]

mod cache;
mod code;
mod copy;
mod debug_marks;
mod defaults;
mod dependencies;
mod elf;
mod error;
mod folders;
mod functions;
mod host;
mod libraries;
mod limits;
pub mod modules;
mod perf_map;
mod resolve;
mod script;
mod tree;
mod view;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use copy::{Copy, Role, absolute, text};
use dependencies::{Added, Programs, Variables};
use libraries::{Cached, own_names};
use resolve::{Files, Last, Look};
use tree::{Node, Tree};
use view::View;

pub use code::{Code, CodeFunction, CodeSegment, LINKAGE};
pub use debug_marks::{DebugLink, DebugMarks};
pub use error::{Kind, Note, PackError};
pub use functions::{Function, KNOWN_BYTES, file_offset, functions};
pub use limits::{MAX_ENTRIES, MAX_FILE_BYTES, MAX_TOTAL_BYTES};
pub use perf_map::{MOST_PERF_MAP_LINES, PerfMap};
pub use tree::{MOUNTED, RESERVED};

/// Where the guest has the standard input.
pub const STDIN: &str = "/.stdin";

/// What is to be run, and with what.
#[derive(Debug, Clone, Copy, Default)]
pub struct Packing<'a> {
    /// The program and its arguments.
    pub command: &'a [OsString],
    /// The folder that is the guest's root. Without one, files are where the host has them.
    pub root: Option<&'a Path>,
    /// Files and folders in addition; of two for the same path the later one is taken.
    pub files: &'a [FileArg],
    /// Variables that are added to the default ones, or replace them.
    pub env: &'a [(OsString, OsString)],
    /// What the program reads as its standard input: a regular file.
    pub stdin: Option<&'a Path>,
}

/// A file or folder of the host, and where the guest has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileArg {
    /// The path that it has on the host.
    pub source: PathBuf,
    /// In the guest, absolute; without one, where the host has it. A `/` at the end means: in that
    /// folder, under its own name.
    pub destination: Option<PathBuf>,
}

impl FileArg {
    /// Reads `SOURCE[:DESTINATION]`. The destination begins at the last `:/`.
    pub fn parse(word: &OsStr) -> Self {
        let bytes = word.as_bytes();
        let path = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
        match bytes.windows(2).rposition(|pair| pair == b":/").filter(|at| *at > 0) {
            Some(at) => {
                Self { source: path(&bytes[..at]), destination: Some(path(&bytes[at + 1..])) }
            }
            None => Self { source: path(bytes), destination: None },
        }
    }
}

/// A program and all of its files, ready to be unpacked as a guest's root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// The files: parents before what is in them, in order of their names.
    pub entries: Vec<PackedEntry>,
    /// What is to be executed: an absolute path in the guest.
    pub executable: String,
    /// The program's arguments, beginning with its name as it was given.
    pub arguments: Vec<Vec<u8>>,
    /// Its environment, as `NAME=VALUE`, in order.
    pub environment: Vec<Vec<u8>>,
    /// The standard input's absolute path in the guest, if there is one.
    pub stdin: Option<String>,
    /// How many regular files there are.
    pub files: u64,
    /// The bytes in all regular files.
    pub bytes: u64,
    /// Where the host has the regular files that were taken from it, by their names.
    pub sources: BTreeMap<String, PathBuf>,
    /// What was left out, or may be missing, in order.
    pub notes: Vec<Note>,
}

impl Packed {
    /// What the file at this path in the guest holds, to which links may lead.
    pub fn file(&self, path: &str) -> Option<&[u8]> {
        let path = resolve::resolve(self, path, Last::Follow).ok()?.path;
        match self.entry(&path)? {
            PackedEntry::File { data, .. } => Some(data),
            _ => None,
        }
    }

    fn entry(&self, path: &str) -> Option<&PackedEntry> {
        self.entries.iter().find(|entry| entry.name() == path)
    }
}

impl PackedEntry {
    fn name(&self) -> &str {
        let (Self::Directory { name, .. } | Self::File { name, .. } | Self::Symlink { name, .. }) =
            self;
        name
    }
}

impl Files for Packed {
    fn look(&self, path: &str) -> std::io::Result<Look> {
        Ok(match self.entry(path) {
            None => Look::Missing,
            Some(PackedEntry::Directory { .. }) => Look::Directory,
            Some(PackedEntry::File { .. }) => Look::File,
            Some(PackedEntry::Symlink { target, .. }) => Look::Symlink(target.clone()),
        })
    }
}

/// One file of the guest's root. Names are relative to the root and have no leading `/`; `mode` is
/// the permission bits, with setuid, setgid and sticky. All belong to root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PackedEntry {
    Directory { name: String, mode: u32 },
    File { name: String, mode: u32, data: Vec<u8> },
    Symlink { name: String, target: String },
}

/// Decides on the files of a guest.
///
/// # Errors
/// [`PackError`] names the file, what is wrong with it and what to do.
pub fn pack(packing: &Packing<'_>) -> Result<Packed, PackError> {
    let arguments = arguments(packing.command)?;
    let variables = environment(packing.env)?;
    let mut view = View { tree: Tree::default(), of_host: packing.root.is_none() };
    let mut notes = Vec::new();
    if let Some(root) = packing.root {
        add_root(&mut view, root, &mut notes)?;
    }
    let mut added = Vec::new();
    for file in packing.files {
        added.extend(add_file(&mut view, file, &mut notes)?);
    }
    let executable = executable(&view, packing)?;
    let cached = add_programs(&mut view, &executable, &added, &variables, &mut notes)?;
    let stdin = packing.stdin.map(|stdin| add_stdin(&mut view, stdin)).transpose()?;
    defaults::add(&mut view.tree, &cached);
    if packing.root.is_none() {
        note_dangling(&view.tree, &mut notes);
    }
    notes.sort_by_key(ToString::to_string);
    notes.dedup();
    Ok(finished(
        view.tree,
        Packed {
            entries: Vec::new(),
            executable,
            arguments,
            environment: variables
                .into_iter()
                .map(|(name, value)| [name, value].join(&b'='))
                .collect(),
            stdin,
            files: 0,
            bytes: 0,
            sources: BTreeMap::new(),
            notes,
        },
    ))
}

fn finished(tree: Tree, packed: Packed) -> Packed {
    let bytes = tree.bytes();
    let source = |(name, node): (&str, &Node)| match node {
        Node::File { source, .. } => Some((name.to_owned(), source.clone()?)),
        _ => None,
    };
    let sources = tree.paths().filter_map(source).collect();
    let entries: Vec<_> = tree.into_nodes().map(entry).collect();
    let files = entries.iter().filter(|entry| matches!(entry, PackedEntry::File { .. })).count();
    Packed { entries, files: files as u64, bytes, sources, ..packed }
}

fn entry((name, node): (String, Node)) -> PackedEntry {
    match node {
        Node::Directory { mode } => PackedEntry::Directory { name, mode },
        Node::File { mode, data, .. } => PackedEntry::File { name, mode, data },
        Node::Symlink { target } => PackedEntry::Symlink { name, target },
    }
}

fn arguments(command: &[OsString]) -> Result<Vec<Vec<u8>>, PackError> {
    if command.first().is_none_or(|program| program.is_empty()) {
        return Err(PackError::NoProgram);
    }
    command.iter().map(|word| without_nul(word)).collect()
}

/// What a kernel can hand to a program.
fn without_nul(word: &OsStr) -> Result<Vec<u8>, PackError> {
    if word.as_bytes().contains(&0) {
        return Err(word_fault(word, "a NUL byte is in it"));
    }
    Ok(word.as_bytes().to_vec())
}

fn word_fault(word: &OsStr, fault: &'static str) -> PackError {
    PackError::Word { word: error::printable(&word.to_string_lossy()), fault }
}

fn environment(given: &[(OsString, OsString)]) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, PackError> {
    let defaults = defaults::ENVIRONMENT.iter();
    let mut variables: BTreeMap<Vec<u8>, Vec<u8>> = defaults
        .map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()))
        .collect();
    for (name, value) in given {
        if name.is_empty() || name.as_bytes().contains(&b'=') {
            return Err(word_fault(name, "not the name of a variable"));
        }
        variables.insert(without_nul(name)?, without_nul(value)?);
    }
    Ok(variables)
}

fn add_root(view: &mut View, root: &Path, notes: &mut Vec<Note>) -> Result<(), PackError> {
    if source_look(root)? != Look::Directory {
        let path = error::host(root);
        return Err(PackError::NotAFolder { at: path.clone(), path });
    }
    Copy { view, role: Role::Root, notes, files: Vec::new() }.folder(root, "")
}

/// What a path that the user named leads to on the host.
fn source_look(path: &Path) -> Result<Look, PackError> {
    let shown = || error::host(path);
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Ok(Look::Directory),
        Ok(found) if found.is_file() => Ok(Look::File),
        Ok(_) => Err(PackError::NotRegular { path: shown() }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(PackError::Missing { path: shown() })
        }
        Err(source) => Err(PackError::Unreadable { path: shown(), source }),
    }
}

/// Adds a file or folder; the regular files that this gives.
fn add_file(
    view: &mut View,
    file: &FileArg,
    notes: &mut Vec<Note>,
) -> Result<Vec<Added>, PackError> {
    let look = source_look(&file.source)?;
    let to = destination(file, &look)?;
    let from = &file.source;
    if view.of_host && file.destination.is_none() {
        // With the links that lead there on the host.
        let found = view.resolve(&to, Last::Follow)?;
        view.adopt_links(&found)?;
        return add_at(view, from, &look, &found.path, notes);
    }
    let last = if look == Look::Directory { Last::CreateFollowed } else { Last::Create };
    let found = view.resolve(&to, last)?;
    view.adopt_links(&found)?;
    // A folder that only the host has is not in the guest.
    let is_there = !view.of_host || view.tree.get(&found.path).is_some() || found.path.is_empty();
    if look == Look::File && found.look == Look::Directory && is_there {
        let (there, wanted) = (Kind::Folder, Kind::File);
        return Err(PackError::Collision { path: error::guest(&to), there, wanted });
    }
    add_at(view, from, &look, &found.path, notes)
}

/// Where the guest has it.
fn destination(file: &FileArg, look: &Look) -> Result<String, PackError> {
    let Some(destination) = &file.destination else { return absolute(&file.source) };
    let to = text(destination.as_os_str())?;
    if !to.starts_with('/') {
        return Err(word_fault(destination.as_os_str(), "not an absolute path in the guest"));
    }
    match file.source.file_name() {
        Some(name) if to.ends_with('/') && *look == Look::File => Ok(to + &text(name)?),
        _ => Ok(to),
    }
}

fn add_at(
    view: &mut View,
    from: &Path,
    look: &Look,
    to: &str,
    notes: &mut Vec<Note>,
) -> Result<Vec<Added>, PackError> {
    if *look == Look::Directory {
        if !to.is_empty() {
            let mode = host::mode_followed(from).unwrap_or(tree::FOLDER_MODE);
            view.put(to, Node::Directory { mode })?;
        }
        let mut copy = Copy { view, role: Role::Addition, notes, files: Vec::new() };
        copy.folder(from, to)?;
        return Ok(copy.files.into_iter().map(|file| Added { file, named: false }).collect());
    }
    let host::Contents { mode, data } = host::read_followed(from)?;
    let source = Some(fs::canonicalize(from).unwrap_or_else(|_| from.to_owned()));
    view.put(to, Node::File { mode, data, source })?;
    Ok(vec![Added { file: to.to_owned(), named: true }])
}

fn add_stdin(view: &mut View, file: &Path) -> Result<String, PackError> {
    if source_look(file)? != Look::File {
        return Err(PackError::NotRegular { path: error::host(file) });
    }
    let host::Contents { data, .. } = host::read_followed(file)?;
    let node = Node::File { mode: 0o644, data, source: None };
    view.put(STDIN.trim_start_matches('/'), node)?;
    Ok(STDIN.to_owned())
}

/// The absolute path in the guest of the program that was asked for.
fn executable(view: &View, packing: &Packing<'_>) -> Result<String, PackError> {
    let Some(program) = packing.command.first() else { return Err(PackError::NoProgram) };
    let name = text(program)?;
    if !name.contains('/') {
        let folders = match packing.root {
            Some(_) => None,
            None => std::env::var_os("PATH").and_then(|path| path.into_string().ok()),
        };
        let folders = folders.unwrap_or_else(|| defaults::PATH.to_owned());
        return dependencies::search(view, &folders, &name).ok_or_else(|| PackError::NotInPath {
            name: error::printable(&name),
            searched: error::printable(&folders),
        });
    }
    let path = if packing.root.is_some() {
        absolute(&Path::new("/").join(&name))?
    } else {
        absolute(Path::new(&name))?
    };
    without_parents(view, &path)
}

/// The same path without `..`, for which folders would be needed that the program does not need.
fn without_parents(view: &View, path: &str) -> Result<String, PackError> {
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    if !path.split('/').any(|component| component == "..") {
        return Ok(path.to_owned());
    }
    let above = view.resolve(above, Last::Follow)?.path;
    Ok(if above.is_empty() { format!("/{name}") } else { format!("/{above}/{name}") })
}

/// Adds the program and all that it and the added files need; those libraries that the loader finds
/// by its cache.
fn add_programs(
    view: &mut View,
    executable: &str,
    added: &[Added],
    variables: &BTreeMap<Vec<u8>, Vec<u8>>,
    notes: &mut Vec<Note>,
) -> Result<Vec<Cached>, PackError> {
    let value = |name: &str| {
        let value = variables.get(name.as_bytes());
        value.map(|value| String::from_utf8_lossy(value).into_owned()).unwrap_or_default()
    };
    let variables = Variables {
        path: value("PATH"),
        library_path: value("LD_LIBRARY_PATH"),
        preloaded: value("LD_PRELOAD"),
    };
    let mut programs = Programs::new(view, &variables);
    programs.pack(executable)?;
    for file in added {
        programs.pack_added(file)?;
    }
    let Programs { view, mut linked, notes: more, .. } = programs;
    let cached = linked.iter_mut().flat_map(|linked| std::mem::take(&mut linked.cached)).collect();
    let carried = own_names(&view.tree);
    notes.extend(linked.into_iter().flat_map(|linked| linked.notes(&carried)).chain(more));
    Ok(cached)
}

/// Links to nothing that are named; a folder may have very many.
const DANGLING_NAMED: usize = 3;

/// Notes the links of folders that lead to something that was not packed.
fn note_dangling(tree: &Tree, notes: &mut Vec<Note>) {
    let links = tree.paths().filter(|(_, node)| matches!(node, Node::Symlink { .. }));
    let mut dangling = links.filter(|(path, _)| match resolve::resolve(tree, path, Last::Follow) {
        Ok(found) => found.look == Look::Missing && !tree::is_mounted(&found.path),
        Err(_) => true,
    });
    let named = dangling.by_ref().take(DANGLING_NAMED);
    notes.extend(named.map(|(path, _)| Note::Dangling(error::guest(path))));
    let more = dangling.count();
    notes.extend((more > 0).then_some(Note::MoreDangling(more)));
}
