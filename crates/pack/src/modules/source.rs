//! The modules that there are, in a folder or a kernel's package.
//!
//! Contract: of a package all modules are read at once, since reading it again for each module that
//! another one needs takes seconds; `image` bounds what it unpacks. Links are not followed: those
//! of `/lib/modules` lead to sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use pathmeter_image::{Choice, PackageFile, read_package, unpacked};

use super::info::Info;
use super::{MAX_MODULE_BYTES, normal};
use crate::error::{PackError, host, printable};
use crate::host;
use crate::limits::MAX_ENTRIES;
use crate::resolve::Look;

/// How a module's file name may end.
const ENDS: [&str; 4] = [".ko", ".ko.gz", ".ko.xz", ".ko.zst"];
/// The list of modules that are part of the kernel, and what they state about themselves.
const BUILT_IN: &str = "modules.builtin";
const BUILT_IN_INFO: &str = "modules.builtin.modinfo";

/// The modules that there are, in a folder or a package.
pub(super) struct Source {
    modules: BTreeMap<String, File>,
    /// Names and aliases of what is part of the kernel.
    built_in: BTreeSet<String>,
    /// Modules by alias, once somebody asked for one.
    aliases: Option<BTreeMap<String, String>>,
}

enum File {
    OnDisk(PathBuf),
    /// As the package has it.
    Read(PackageFile),
}

impl File {
    /// Formats the module's path for messages.
    fn format_path(&self) -> String {
        match self {
            Self::OnDisk(path) => host(path),
            Self::Read(file) => printable(&file.path),
        }
    }

    /// The module's ELF file, unpacked.
    fn elf(&self) -> Result<Vec<u8>, PackError> {
        let data = match self {
            Self::OnDisk(path) => host::read(path)?.data,
            Self::Read(file) => file.data.clone(),
        };
        unpacked(data, MAX_MODULE_BYTES).map_err(|fault| self.fault(&fault.to_string()))
    }

    fn fault(&self, fault: &str) -> PackError {
        PackError::NotAModule { path: self.format_path(), fault: fault.to_owned() }
    }
}

impl Source {
    /// Looks at what is in `source`; of modules of several kernels those of `release` are taken.
    pub(super) fn open(source: &Path, release: Option<&str>) -> Result<Self, PackError> {
        let found = fs::metadata(source)
            .map_err(|error| PackError::Unreadable { path: host(source), source: error })?;
        let mut opened =
            Self { modules: BTreeMap::new(), built_in: BTreeSet::new(), aliases: None };
        if found.is_dir() {
            for path in files_below(source)? {
                opened.add_on_disk(path, release)?;
            }
            return Ok(opened);
        }
        let is_wanted = |path: &str| name_of(path).is_some() || is_list(path);
        let mut choose = |path: &str| if is_wanted(path) { Choice::Take } else { Choice::Skip };
        let files = read_package(source, MAX_MODULE_BYTES, &mut choose);
        for file in files.map_err(PackError::Package)? {
            match name_of(&file.path) {
                Some(name) => drop(opened.modules.insert(name, File::Read(file))),
                None => opened.add_built_in(&file.path, &file.data),
            }
        }
        Ok(opened)
    }

    fn add_on_disk(&mut self, path: PathBuf, release: Option<&str>) -> Result<(), PackError> {
        let text = path.to_string_lossy().into_owned();
        let Some(name) = name_of(&text) else {
            if is_list(&text) {
                self.add_built_in(&text, &host::read(&path)?.data);
            }
            return Ok(());
        };
        let is_own = release.is_some_and(|release| path.iter().any(|part| part == release));
        if is_own || !self.modules.contains_key(&name) {
            self.modules.insert(name, File::OnDisk(path));
        }
        Ok(())
    }

    fn add_built_in(&mut self, path: &str, data: &[u8]) {
        let text = String::from_utf8_lossy(data);
        if path.ends_with(BUILT_IN) {
            self.built_in.extend(text.lines().filter_map(|path| name_of(path.trim())));
        } else {
            let aliases = text.split('\0').filter_map(|text| text.split_once(".alias="));
            self.built_in.extend(aliases.map(|(_, alias)| normal(alias)));
        }
    }

    /// Whether a module of this name, or what it is an alias for, is part of the kernel.
    pub(super) fn is_built_in(&self, name: &str) -> bool {
        self.built_in.contains(name)
    }

    /// The name of the module that is asked for by name or alias.
    pub(super) fn find(&mut self, name: &str) -> Option<String> {
        if self.modules.contains_key(name) {
            return Some(name.to_owned());
        }
        let modules = &self.modules;
        self.aliases.get_or_insert_with(|| aliases(modules)).get(name).cloned()
    }

    /// The module's ELF file, and what it states. `release` is the kernel's.
    pub(super) fn read(
        &self,
        name: &str,
        release: Option<&str>,
    ) -> Result<Option<(Vec<u8>, Info)>, PackError> {
        let Some(file) = self.modules.get(name) else { return Ok(None) };
        let bytes = file.elf()?;
        let info = Info::read(&bytes).map_err(|fault| file.fault(fault))?;
        let made_for = info.made_for.as_deref().ok_or_else(|| file.fault("it names no kernel"))?;
        if let Some(release) = release.filter(|release| *release != made_for) {
            let (module, made_for) = (file.format_path(), printable(made_for));
            return Err(PackError::ModuleRelease { module, made_for, release: printable(release) });
        }
        Ok(Some((bytes, info)))
    }
}

/// The modules by alias. Of several the portable one is taken, which every CPU can execute; what
/// can't be read has none.
fn aliases(modules: &BTreeMap<String, File>) -> BTreeMap<String, String> {
    let mut aliases: BTreeMap<String, String> = BTreeMap::new();
    for (name, file) in modules {
        let info = file.elf().ok().and_then(|bytes| Info::read(&bytes).ok()).unwrap_or_default();
        for alias in info.aliases {
            if name.ends_with("_generic") || !aliases.contains_key(&alias) {
                aliases.insert(alias, name.clone());
            }
        }
    }
    aliases
}

/// The name of the module in a file with this path, if it is one's.
fn name_of(path: &str) -> Option<String> {
    let file = path.rsplit('/').next()?;
    ENDS.iter().find_map(|end| file.strip_suffix(end)).map(normal)
}

fn is_list(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name == BUILT_IN || name == BUILT_IN_INFO)
}

/// All regular files below a folder, in order.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>, PackError> {
    let mut files = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        let failed = |source| PackError::Unreadable { path: host(&folder), source };
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            match host::look(&path) {
                Ok(Look::Directory) => pending.push(path),
                Ok(Look::File) => files.push(path),
                _ => {}
            }
            if files.len() + pending.len() > MAX_ENTRIES {
                return Err(PackError::TooMany { path: host(&folder) });
            }
        }
    }
    files.sort();
    Ok(files)
}
