//! All that it takes to execute a program: scripts' interpreters, loaders, libraries.

use std::collections::BTreeSet;

use crate::elf::{Class, Elf, Target};
use crate::error::{Note, PackError, guest, printable};
use crate::folders::Flavour;
use crate::libraries::{Linked, read};
use crate::resolve::{Last, Look, Resolved};
use crate::script::{self, MAX_SCRIPTS};
use crate::tree::is_reserved;
use crate::view::View;

/// The variables that decide what a program loads and starts.
#[derive(Debug)]
pub(crate) struct Variables {
    /// `PATH`
    pub(crate) path: String,
    /// `LD_LIBRARY_PATH`
    pub(crate) library_path: String,
    /// `LD_PRELOAD`
    pub(crate) preloaded: String,
}

/// A file that was given with `--file`, itself or in a folder.
#[derive(Debug)]
pub(crate) struct Added {
    /// The path that it has in the guest.
    pub(crate) file: String,
    /// Whether it was named itself.
    pub(crate) named: bool,
}

/// The programs that were packed.
pub(crate) struct Programs<'a> {
    pub(crate) view: &'a mut View,
    pub(crate) variables: &'a Variables,
    /// Those that are ELF files.
    pub(crate) linked: Vec<Linked>,
    pub(crate) notes: Vec<Note>,
    seen: BTreeSet<String>,
}

impl<'a> Programs<'a> {
    pub(crate) fn new(view: &'a mut View, variables: &'a Variables) -> Self {
        Self { view, variables, linked: Vec::new(), notes: Vec::new(), seen: BTreeSet::new() }
    }

    /// Packs the program at `path`.
    pub(crate) fn pack(&mut self, path: &str) -> Result<(), PackError> {
        let found = self.view.resolve(path, Last::Follow)?;
        self.pack_found(path, &found, 0)
    }

    /// `scripts` is how many led here.
    fn pack_found(
        &mut self,
        path: &str,
        found: &Resolved,
        scripts: usize,
    ) -> Result<(), PackError> {
        check(self.view, path, found)?;
        self.view.adopt(found)?;
        let (data, _) = self.view.packed_file(&found.path).unwrap_or_default();
        match Target::of(data) {
            Some(Target::X86(class)) => self.link(&found.path, class, false),
            Some(Target::NotLinked) => Err(PackError::NotExecutableElf { path: guest(path) }),
            Some(Target::Other(machine)) => {
                Err(PackError::OtherMachine { path: guest(path), machine })
            }
            None if script::is_script(data) => self.interpret(path, &found.path, scripts),
            None => Err(PackError::NotAProgram { path: guest(path) }),
        }
    }

    /// Packs what a script needs.
    fn interpret(&mut self, path: &str, file: &str, scripts: usize) -> Result<(), PackError> {
        let failed = |fault| PackError::Script { path: guest(path), fault };
        let (data, _) = self.view.packed_file(file).unwrap_or_default();
        let line = script::line(data).map_err(failed)?;
        if scripts + 1 > MAX_SCRIPTS {
            return Err(failed("is one too many: the kernel follows five of them"));
        }
        let found = self.view.resolve(&line.interpreter, Last::Follow)?;
        if found.look == Look::Missing {
            let (script, interpreter) = (guest(path), printable(&line.interpreter));
            return Err(PackError::MissingInterpreter { script, interpreter });
        }
        self.pack_found(&line.interpreter, &found, scripts + 1)?;
        let Some(name) = line.for_env() else { return Ok(()) };
        let started = self.started_by_env(path, &name)?;
        let found = self.view.resolve(&started, Last::Follow)?;
        self.pack_found(&started, &found, scripts + 1)
    }

    fn started_by_env(&self, script: &str, name: &str) -> Result<String, PackError> {
        if name.contains('/') {
            return Ok(name.to_owned());
        }
        search(self.view, &self.variables.path, name).ok_or_else(|| PackError::MissingForEnv {
            script: guest(script),
            name: printable(name),
            searched: printable(&self.variables.path),
        })
    }

    /// Packs an ELF program's loader and libraries; of an `optional` one libraries may be missing.
    fn link(&mut self, file: &str, class: Class, optional: bool) -> Result<(), PackError> {
        if !self.seen.insert(file.to_owned()) {
            return Ok(());
        }
        let elf = read(self.view, file, class)?;
        let interpreter = elf.interpreter.clone();
        let flavour = interpreter.as_deref().map_or(Flavour::Glibc, Flavour::of);
        let library_path = &self.variables.library_path;
        let mut linked = Linked::new(self.view, (file, elf, optional), flavour, library_path);
        // Without a loader nobody reads what it needs: a static program, or the loader itself.
        if let Some(name) = interpreter {
            let (found, loader) = self.loader(file, class, &name)?;
            linked.add_loader(&found, &name, loader);
            linked.pack(self.view, &self.variables.preloaded)?;
        }
        self.linked.push(linked);
        Ok(())
    }

    fn loader(
        &mut self,
        program: &str,
        class: Class,
        name: &str,
    ) -> Result<(Resolved, Elf), PackError> {
        let missing = || {
            let (program, loader) = (guest(program), printable(name));
            PackError::MissingLoader { program, loader }
        };
        let found = self.view.resolve(name, Last::Follow)?;
        if found.look != Look::File || !name.starts_with('/') {
            return Err(missing());
        }
        self.view.adopt(&found)?;
        let (data, _) = self.view.packed_file(&found.path).unwrap_or_default();
        if Target::of(data) != Some(Target::X86(class)) {
            return Err(missing());
        }
        let elf = read(self.view, &found.path, class)?;
        Ok((found, elf))
    }

    /// Packs what a file given with `--file` needs, if it is an ELF file for x86. A program that
    /// nobody named, since it was in a folder, may lack something: who knows if it is executed.
    pub(crate) fn pack_added(&mut self, added: &Added) -> Result<(), PackError> {
        let Added { file, named } = added;
        let (data, _) = self.view.packed_file(file).unwrap_or_default();
        let Some(Target::X86(class)) = Target::of(data) else { return Ok(()) };
        // What can't be read can't be loaded either.
        let Ok(elf) = Elf::read(data, class) else { return Ok(()) };
        if elf.interpreter.is_some() && elf.soname.is_none() {
            return match self.link(file, class, !named) {
                Err(why @ (PackError::MissingLoader { .. } | PackError::Damaged { .. }))
                    if !named =>
                {
                    self.notes.push(Note::Incomplete(why.to_string()));
                    Ok(())
                }
                linked => linked,
            };
        }
        let mut programs = self.linked.iter_mut().rev();
        if let Some(program) = programs.find(|program| program.class() == class) {
            return program.pack_loadable(self.view, file, elf);
        }
        let library_path = &self.variables.library_path;
        let mut alone = Linked::new(self.view, (file, elf, true), Flavour::Glibc, library_path);
        alone.pack_needed(self.view)?;
        self.linked.push(alone);
        Ok(())
    }
}

/// Whether the kernel would execute what was found, as far as its kind and its mode tell.
fn check(view: &View, path: &str, found: &Resolved) -> Result<(), PackError> {
    let path = guest(path);
    if is_reserved(&found.path) {
        return Err(PackError::Reserved { path });
    }
    match found.look {
        Look::Missing | Look::Symlink(_) => Err(PackError::Missing { path }),
        Look::Directory => Err(PackError::IsAFolder { path }),
        Look::Special => Err(PackError::NotRegular { path }),
        Look::File if view.mode(&found.path) & 0o111 == 0 => Err(PackError::NotExecutable { path }),
        Look::File => Ok(()),
    }
}

/// The first executable file `name` in the folders of a search path.
pub(crate) fn search(view: &View, folders: &str, name: &str) -> Option<String> {
    let folders = folders.split(':').filter(|folder| folder.starts_with('/'));
    let mut paths = folders.map(|folder| format!("{}/{name}", folder.trim_end_matches('/')));
    paths.find(|path| {
        let found = view.find(path);
        found.is_some_and(|found| view.mode(&found.path) & 0o111 != 0)
    })
}
