//! The debug file of a program or library: where its symbols and source lines are, if it is
//! stripped. It is found by the build id and by `.gnu_debuglink`.
//!
//! Contract: a file of another build is never used, and if there are only such files, they are
//! told. What is read of it is bounded: a checksum takes no memory, and only tables are held.
//!
//! Source: gdb's manual, "Debugging Information in Separate Files".

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use pathmeter_pack::{DebugLink, DebugMarks};

use crate::program::packed::PackedFile;

/// Where distributions keep debug files.
const FOLDER: &str = "usr/lib/debug";
/// The largest debug file that is read: 2 GiB.
const MOST_BYTES: u64 = 2 << 30;
/// How much of a file is read at a time for its checksum.
const PART_BYTES: usize = 1 << 16;

/// What this machine has of the debug file of a packed file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct DebugFile {
    /// The one of the same build.
    pub(crate) path: Option<PathBuf>,
    /// Its length, and when it was changed: what a name that was read depends on.
    stamp: [i64; 3],
    /// Without one, those that are not used, each with the reason.
    pub(crate) unused: Vec<(PathBuf, String)>,
}

impl DebugFile {
    /// Looks for that of a packed file: by build id first, as gdb does.
    pub(crate) fn find(file: &PackedFile<'_>) -> Self {
        let marks = DebugMarks::read(file.data);
        if marks == DebugMarks::default() {
            return Self::default();
        }
        let folders = Folders::of(file);
        let mut found = Self::default();
        let by_id = folders.by_build_id(&marks.build_id).into_iter().map(|path| (path, None));
        let by_link = marks.link.iter().flat_map(|link| {
            let of_link = folders.by_link(link).into_iter();
            of_link.map(move |path| (path, Some(link)))
        });
        for (path, link) in by_id.chain(by_link) {
            let Ok(about) = path.metadata() else { continue };
            if folders.is_itself(&about) {
                continue;
            }
            match check(&path, &about, &marks.build_id, link) {
                Ok(()) => {
                    let stamp = [about.size().cast_signed(), about.mtime(), about.mtime_nsec()];
                    return Self { path: Some(path), stamp, unused: Vec::new() };
                }
                Err(why) => found.unused.push((path, why)),
            }
        }
        found
    }
}

/// Where the debug file of one file may be.
struct Folders {
    /// Where the host has the file.
    source: Option<PathBuf>,
    /// The folder that the file's own is below, and the path from there.
    roots: Vec<(PathBuf, PathBuf)>,
}

impl Folders {
    fn of(file: &PackedFile<'_>) -> Self {
        let host = PathBuf::from("/");
        let mut roots = Vec::new();
        let parent = |path: &Path| path.parent().map(Path::to_owned).unwrap_or_default();
        let source = file.source.and_then(|source| std::path::absolute(source).ok());
        if let Some(source) = &source {
            // Of a root folder of the program's own, and of files that the guest has elsewhere.
            let root = source.ancestors().find(|root| root.join(file.name) == *source);
            if let Some(root) = root.filter(|root| *root != host) {
                roots.push((root.to_owned(), parent(Path::new(file.name))));
            }
            let folder = parent(source);
            let below = folder.strip_prefix("/").map_or_else(|_| folder.clone(), Path::to_owned);
            roots.push((host, below));
        } else {
            roots.push((host, parent(Path::new(file.name))));
        }
        Self { source, roots }
    }

    fn by_build_id(&self, build_id: &[u8]) -> Vec<PathBuf> {
        let Some((first, rest)) = build_id.split_first().filter(|(_, rest)| !rest.is_empty())
        else {
            return Vec::new();
        };
        let name = format!("{FOLDER}/.build-id/{first:02x}/{}.debug", HEXLOWER.encode(rest));
        self.roots.iter().map(|(root, _)| root.join(&name)).collect()
    }

    fn by_link(&self, link: &DebugLink) -> Vec<PathBuf> {
        let own = self.source.as_deref().and_then(Path::parent);
        let beside = own.map(|own| [own.join(&link.name), own.join(".debug").join(&link.name)]);
        let below = self.roots.iter().map(|(root, below)| {
            let folder = root.join(FOLDER).join(below);
            folder.join(&link.name)
        });
        beside.into_iter().flatten().chain(below).collect()
    }

    /// Whether this is the file whose debug file is looked for.
    fn is_itself(&self, about: &Metadata) -> bool {
        let own = self.source.as_ref().and_then(|source| source.metadata().ok());
        own.is_some_and(|own| (own.dev(), own.ino()) == (about.dev(), about.ino()))
    }
}

/// Checks that the file at `path` comes from the build with this id, and has the checksum of the
/// link by which it was found.
///
/// # Errors
/// Why it is not used.
fn check(
    path: &Path,
    about: &Metadata,
    build_id: &[u8],
    link: Option<&DebugLink>,
) -> Result<(), String> {
    if !about.is_file() {
        return Err("it is no regular file".to_owned());
    }
    if about.len() > MOST_BYTES {
        return Err(format!("it has more than {} MiB", MOST_BYTES >> 20));
    }
    let unread = |error: io::Error| format!("it can't be read: {error}");
    let mut file = File::open(path).map_err(unread)?;
    let marks = DebugMarks::of_file(&file).ok_or("it is no ELF file, or damaged")?;
    check_build(&marks.build_id, build_id, link.is_some())?;
    let Some(link) = link else { return Ok(()) };
    let has = checksum(&mut file).map_err(unread)?;
    if has != link.crc32 {
        return Err(format!(
            "its CRC-32 is {has:08x}, and .gnu_debuglink asks for {:08x}",
            link.crc32
        ));
    }
    Ok(())
}

/// Compares the build id that a file has with the wanted one. If either has none, the checksum of
/// the link alone decides, where there is one.
///
/// # Errors
/// They differ.
fn check_build(has: &[u8], wanted: &[u8], is_linked: bool) -> Result<(), String> {
    let is_decided_by_link = is_linked && (has.is_empty() || wanted.is_empty());
    if has == wanted || is_decided_by_link {
        return Ok(());
    }
    let has = if has.is_empty() {
        "it has no build id".to_owned()
    } else {
        format!("its build id is {}", HEXLOWER.encode(has))
    };
    Err(format!("{has}, and not {}", HEXLOWER.encode(wanted)))
}

/// The CRC-32 of a whole file.
fn checksum(file: &mut File) -> io::Result<u32> {
    io::Seek::rewind(file)?;
    let mut sum = crc32fast::Hasher::new();
    let mut part = vec![0; PART_BYTES];
    let mut bounded = file.take(MOST_BYTES);
    loop {
        match bounded.read(&mut part) {
            Ok(0) => return Ok(sum.finalize()),
            Ok(bytes) => sum.update(&part[..bytes]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests;
