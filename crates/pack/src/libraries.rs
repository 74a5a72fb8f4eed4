//! The libraries of a program, found as its dynamic loader finds them, but without executing it.
//!
//! Contract: breadth first, as a loader does, so that of two libraries with one name the same is
//! taken. A candidate for another processor or mode is passed over. What only an added file needs
//! may be missing: that is noted. It is not, if a packed library outside of the loader's folders
//! has this name for its own (`DT_SONAME`): glibc's loader takes one that is loaded already, from
//! wherever it was, and a JDK's launcher loads `lib/server/libjvm.so` by its path before all that
//! need it. Whether a program does so is not known before it is executed; and a note that is wrong
//! for each of a JDK's libraries hides the right ones. musl's loader compares no such names.
//!
//! Sources: `ld.so(8)`; glibc's `elf/dl-load.c` (`_dl_map_object`); musl's `ldso/dynlink.c`
//! (`load_library`).

use std::collections::BTreeSet;

use crate::elf::{Class, Elf, HEAD_BYTES, Target};
use crate::error::{Note, PackError, guest, printable};
use crate::folders::{Flavour, Folders, lib_names, path_list, platform};
use crate::resolve::{Resolved, parent};
use crate::tree::{Node, Tree};
use crate::view::View;

/// The C library of glibc itself.
const LIBC: &str = "libc.so.6";
/// What glibc loads while a program runs: when a thread ends, and to look up users and hosts.
const LOADED_LATER: [&str; 2] = ["libgcc_s.so.1", "libnss_files.so.2"];
/// Libraries that are musl's loader itself, whatever follows these names.
const IN_MUSL: [&str; 7] =
    ["libc.", "libpthread.", "librt.", "libm.", "libdl.", "libutil.", "libxnet."];
/// No program has more; and each is read.
const MAX_OBJECTS: usize = 4096;

/// A program, its loader, or a library.
#[derive(Debug, Clone)]
struct Object {
    /// In the guest, without a leading `/` or link.
    path: String,
    /// What `$ORIGIN` stands for.
    origin: String,
    /// The names by which it was found.
    names: Vec<String>,
    elf: Elf,
    /// The object that needed it first, by its index.
    loader: Option<usize>,
    /// Whether it is no error if what it needs is missing.
    optional: bool,
}

/// A library that is found without a program's own search path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cached {
    /// By which it is needed.
    pub(crate) name: String,
    /// The absolute path at which it was found.
    pub(crate) path: String,
    pub(crate) bits64: bool,
}

/// A program with the libraries that are loaded with it.
#[derive(Debug)]
pub(crate) struct Linked {
    class: Class,
    flavour: Flavour,
    folders: Folders,
    library_path: Vec<String>,
    objects: Vec<Object>,
    /// The number of objects whose needs are met.
    done: usize,
    pub(crate) cached: Vec<Cached>,
    missing: Vec<Missing>,
}

/// A library that is needed and was not found.
#[derive(Debug)]
struct Missing {
    library: String,
    needed_by: String,
}

impl Linked {
    /// A program, the file at `path`, that is loaded by `flavour` of loader. If it is `optional`,
    /// what it needs may be missing.
    pub(crate) fn new(
        view: &View,
        (path, elf, optional): (&str, Elf, bool),
        flavour: Flavour,
        library_path: &str,
    ) -> Self {
        let class = elf.class;
        let folders = Folders::read(view, &flavour, class);
        let library_path = path_list(library_path);
        let origin = format!("/{}", parent(path));
        let names = Vec::new();
        let program = Object { path: path.to_owned(), origin, names, elf, loader: None, optional };
        Self {
            class,
            flavour,
            folders,
            library_path,
            objects: vec![program],
            done: 0,
            cached: Vec::new(),
            missing: Vec::new(),
        }
    }

    pub(crate) fn class(&self) -> Class {
        self.class
    }

    /// Adds the loader that was found by the path `name`.
    pub(crate) fn add_loader(&mut self, found: &Resolved, name: &str, elf: Elf) {
        self.objects.push(Object {
            path: found.path.clone(),
            origin: format!("/{}", parent(&found.path)),
            names: vec![name.to_owned()],
            elf,
            loader: Some(0),
            optional: false,
        });
    }

    /// Packs all libraries that the program needs, and `preloaded` ones.
    pub(crate) fn pack(&mut self, view: &mut View, preloaded: &str) -> Result<(), PackError> {
        let separators = [' ', '\t', '\n', ':'];
        for name in preloaded.split(separators).filter(|name| !name.is_empty()) {
            self.need(view, 0, name)?;
        }
        self.pack_needed(view)?;
        let libc = self.objects.iter().position(|object| object.answers(LIBC));
        let Some(libc) = libc.filter(|_| self.flavour == Flavour::Glibc) else { return Ok(()) };
        for name in LOADED_LATER {
            let found = self.search(view, libc, name);
            if let Some((found, path)) = found.filter(|_| !self.is_loaded(name)) {
                let before = self.objects.len();
                self.load(view, libc, name, &found, &path)?;
                self.objects[before..].iter_mut().for_each(|added| added.optional = true);
            }
        }
        self.pack_needed(view)
    }

    /// Packs the libraries of a file that the program may load while it runs. What is missing is
    /// noted.
    pub(crate) fn pack_loadable(
        &mut self,
        view: &mut View,
        path: &str,
        elf: Elf,
    ) -> Result<(), PackError> {
        let before = self.objects.len();
        self.objects.push(Object {
            path: path.to_owned(),
            origin: format!("/{}", parent(path)),
            names: Vec::new(),
            elf,
            loader: Some(0),
            optional: true,
        });
        self.pack_needed(view)?;
        // Another file can't rely on what this one loads.
        self.objects.truncate(before);
        self.done = before;
        Ok(())
    }

    /// Packs what is needed and not packed yet.
    pub(crate) fn pack_needed(&mut self, view: &mut View) -> Result<(), PackError> {
        while let Some(object) = self.objects.get(self.done) {
            for name in object.elf.needed.clone() {
                self.need(view, self.done, &name)?;
            }
            self.done += 1;
        }
        Ok(())
    }

    /// Packs the library `name` that the object `by` needs, unless it is loaded already.
    fn need(&mut self, view: &mut View, by: usize, name: &str) -> Result<(), PackError> {
        if self.is_loaded(name) {
            return Ok(());
        }
        if let Some((found, path)) = self.search(view, by, name) {
            return self.load(view, by, name, &found, &path);
        }
        let needed_by = guest(&self.objects[by].path);
        if self.objects[by].optional {
            self.missing.push(Missing { library: name.to_owned(), needed_by });
            return Ok(());
        }
        let searched = self.candidates(by, name);
        // Configured folders may be default ones, too.
        let mut folders: Vec<String> = Vec::new();
        for folder in searched.iter().map(|path| guest(parent(path))) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        Err(PackError::MissingLibrary { library: printable(name), needed_by, searched: folders })
    }

    /// What is missing, and is not among `carried` either.
    pub(crate) fn notes(self, carried: &BTreeSet<(Class, String)>) -> impl Iterator<Item = Note> {
        let (class, glibc) = (self.class, self.flavour == Flavour::Glibc);
        let missing = self.missing.into_iter();
        let missing =
            missing.filter(move |it| !(glibc && carried.contains(&(class, it.library.clone()))));
        missing.map(|Missing { library, needed_by }| Note::MissingLibrary {
            library: printable(&library),
            needed_by,
        })
    }

    fn is_loaded(&self, name: &str) -> bool {
        let in_musl = matches!(self.flavour, Flavour::Musl(_))
            && IN_MUSL.iter().any(|start| name.starts_with(start));
        in_musl || self.objects.iter().any(|object| object.answers(name))
    }

    /// The first candidate that is a library for this processor and mode, and its path.
    fn search(&self, view: &View, by: usize, name: &str) -> Option<(Resolved, String)> {
        self.candidates(by, name).into_iter().find_map(|path| {
            let found = view.find(&path)?;
            let head = view.head(&found.path, HEAD_BYTES).ok()?;
            (Target::of(&head) == Some(Target::X86(self.class))).then_some((found, path))
        })
    }

    /// Packs a library that was found at `path`.
    fn load(
        &mut self,
        view: &mut View,
        by: usize,
        name: &str,
        found: &Resolved,
        path: &str,
    ) -> Result<(), PackError> {
        view.adopt(found)?;
        let same = |object: &&mut Object| object.path == found.path;
        if let Some(object) = self.objects.iter_mut().find(same) {
            object.names.push(name.to_owned());
            return Ok(());
        }
        let elf = read(view, &found.path, self.class)?;
        self.note_cached(name, path);
        if self.objects.len() >= MAX_OBJECTS {
            return Err(PackError::TooMany { path: guest(path) });
        }
        self.objects.push(Object {
            path: found.path.clone(),
            origin: parent(path).to_owned(),
            names: vec![name.to_owned()],
            elf,
            loader: Some(by),
            optional: self.objects[by].optional,
        });
        Ok(())
    }

    fn note_cached(&mut self, name: &str, path: &str) {
        let folder = parent(path);
        let shared = self.folders.configured.iter().chain(&self.folders.default);
        if self.flavour == Flavour::Glibc && shared.into_iter().any(|each| each == folder) {
            let bits64 = self.class == Class::Bits64;
            self.cached.push(Cached { name: name.to_owned(), path: path.to_owned(), bits64 });
        }
    }

    /// The absolute paths at which the loader looks for `name`, in order.
    fn candidates(&self, by: usize, name: &str) -> Vec<String> {
        if name.contains('/') {
            let paths = self.expanded(name, &self.objects[by].origin);
            return paths.into_iter().filter(|path| path.starts_with('/')).collect();
        }
        let folders = self.search_path(by);
        folders.iter().map(|folder| format!("{}/{name}", folder.trim_end_matches('/'))).collect()
    }

    /// The folders in which the loader looks for what the object `by` needs.
    fn search_path(&self, by: usize) -> Vec<String> {
        let library_path = self.expanded_list(&self.library_path, &self.objects[0].origin);
        let needing = &self.objects[by];
        let of_chain: Vec<String> =
            self.chain(by).flat_map(|object| self.own_path(object)).collect();
        let folders = self.folders.configured.iter().chain(&self.folders.default).cloned();
        if self.flavour != Flavour::Glibc {
            return library_path.into_iter().chain(of_chain).chain(folders).collect();
        }
        let (first, then) = match &needing.elf.runpath {
            None => (of_chain, Vec::new()),
            Some(_) => (Vec::new(), self.own_path(needing)),
        };
        let folders = if needing.elf.no_default_folders {
            self.folders.configured.clone()
        } else {
            folders.collect()
        };
        [first, library_path, then, folders].concat()
    }

    /// The object, what needed it, and so on to the program.
    fn chain(&self, by: usize) -> impl Iterator<Item = &Object> {
        let of_glibc = self.flavour == Flavour::Glibc;
        let objects = std::iter::successors(Some(by), |index| self.objects[*index].loader);
        // With glibc a runpath is for the object's own needs only.
        objects
            .map(|index| &self.objects[index])
            .filter(move |object| !of_glibc || object.elf.runpath.is_none())
    }

    /// The search path that an object brings: of rpath and runpath the latter, if it has both.
    fn own_path(&self, object: &Object) -> Vec<String> {
        let list = object.elf.runpath.as_ref().or(object.elf.rpath.as_ref());
        let folders = list.map(|list| path_list(list)).unwrap_or_default();
        self.expanded_list(&folders, &object.origin)
    }

    fn expanded_list(&self, folders: &[String], origin: &str) -> Vec<String> {
        folders.iter().flat_map(|folder| self.expanded(folder, origin)).collect()
    }

    /// A path in which `$ORIGIN`, `$LIB` and `$PLATFORM` are replaced, in all ways that loaders do.
    fn expanded(&self, path: &str, origin: &str) -> Vec<String> {
        let replaced = |path: &str, name: &str, value: &str| {
            path.replace(&format!("${{{name}}}"), value).replace(&format!("${name}"), value)
        };
        let path = replaced(path, "ORIGIN", origin);
        let path = replaced(&path, "PLATFORM", platform(self.class));
        if replaced(&path, "LIB", "") == path {
            return vec![path];
        }
        lib_names(self.class).iter().map(|lib| replaced(&path, "LIB", lib)).collect()
    }
}

impl Object {
    fn answers(&self, name: &str) -> bool {
        self.elf.soname.as_deref() == Some(name) || self.names.iter().any(|known| known == name)
    }
}

/// The libraries that are packed, wherever they are, by their own names.
pub(crate) fn own_names(tree: &Tree) -> BTreeSet<(Class, String)> {
    let files = tree.paths().filter_map(|(_, node)| match node {
        Node::File { data, .. } => Some(data),
        _ => None,
    });
    let named = files.filter_map(|data| {
        let Some(Target::X86(class)) = Target::of(data) else { return None };
        Some((class, Elf::read(data, class).ok()?.soname?))
    });
    named.collect()
}

/// What the packed file at `path` needs, which is for that mode of the processor.
pub(crate) fn read(view: &View, path: &str, class: Class) -> Result<Elf, PackError> {
    let (data, _) = view.packed_file(path).unwrap_or_default();
    Elf::read(data, class).map_err(|fault| PackError::Damaged { path: guest(path), fault })
}
