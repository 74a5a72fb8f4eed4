//! ELF files made byte by byte, and folders of them.

#![allow(dead_code, reason = "not every test file takes all of it")]
#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use pathmeter_pack::{FileArg, PackError, Packed, PackedEntry, Packing, pack};

pub(crate) const LOADER: &str = "/lib64/ld-linux-x86-64.so.2";

/// What an ELF file states.
#[derive(Clone, Copy)]
pub(crate) struct Elf<'a> {
    pub(crate) bits64: bool,
    pub(crate) machine: u16,
    /// `e_type`
    pub(crate) kind: u16,
    pub(crate) interpreter: Option<&'a str>,
    pub(crate) needed: &'a [&'a str],
    pub(crate) soname: Option<&'a str>,
    pub(crate) rpath: Option<&'a str>,
    pub(crate) runpath: Option<&'a str>,
    pub(crate) flags_1: u64,
}

/// A shared library for x86-64 that needs nothing.
pub(crate) const LIBRARY: Elf<'_> = Elf {
    bits64: true,
    machine: 62,
    kind: 3,
    interpreter: None,
    needed: &[],
    soname: None,
    rpath: None,
    runpath: None,
    flags_1: 0,
};

/// A dynamic program for x86-64 that needs nothing but its loader.
pub(crate) const PROGRAM: Elf<'_> = Elf { interpreter: Some(LOADER), ..LIBRARY };

/// The same for 32-bit x86.
pub(crate) const LIBRARY_32: Elf<'_> = Elf { bits64: false, machine: 3, ..LIBRARY };

impl Elf<'_> {
    /// Header, three segments, the strings, the dynamic section; all of it loaded at address 0.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let (header, segment) = if self.bits64 { (64, 56) } else { (52, 32) };
        let strings_at = header + 3 * segment;
        let mut strings = vec![0];
        let mut add = |text: &str| {
            let at = strings.len() as u64;
            strings.extend(text.as_bytes());
            strings.push(0);
            at
        };
        let interpreter = self.interpreter.map(|name| (add(name), name.len() as u64 + 1));
        let mut dynamic: Vec<(u64, u64)> = self.needed.iter().map(|name| (1, add(name))).collect();
        let named = [(14, self.soname), (15, self.rpath), (29, self.runpath)];
        dynamic.extend(named.iter().filter_map(|(tag, text)| Some((*tag, add((*text)?)))));
        let dynamic_at = (strings_at + strings.len()).next_multiple_of(8);
        let own = [(5, strings_at as u64), (10, strings.len() as u64), (0x6fff_fffb, self.flags_1)];
        dynamic.extend(own);
        dynamic.push((0, 0));
        let dynamic: Vec<u8> = dynamic
            .iter()
            .flat_map(|(tag, value)| [self.word(*tag), self.word(*value)].concat())
            .collect();
        let end = (dynamic_at + dynamic.len()) as u64;
        let place = interpreter.map_or((0, 0), |(at, size)| (strings_at as u64 + at, size));
        let mut out = self.header(header as u64);
        // PT_LOAD, PT_DYNAMIC, PT_INTERP or PT_NULL.
        out.extend(self.segment(1, (0, end)));
        out.extend(self.segment(2, (dynamic_at as u64, dynamic.len() as u64)));
        out.extend(self.segment(if self.interpreter.is_some() { 3 } else { 0 }, place));
        assert_eq!(out.len(), strings_at);
        out.extend(strings);
        out.resize(dynamic_at, 0);
        out.extend(dynamic);
        out
    }

    fn word(&self, value: u64) -> Vec<u8> {
        value.to_le_bytes()[..if self.bits64 { 8 } else { 4 }].to_vec()
    }

    fn header(&self, size: u64) -> Vec<u8> {
        let mut out = b"\x7fELF".to_vec();
        out.extend([if self.bits64 { 2 } else { 1 }, 1, 1]);
        out.resize(16, 0);
        out.extend([self.kind.to_le_bytes(), self.machine.to_le_bytes()].concat());
        out.extend(1_u32.to_le_bytes());
        // Entry, program headers, section headers.
        out.extend([self.word(0), self.word(size), self.word(0)].concat());
        out.extend(0_u32.to_le_bytes());
        let (header, segment) = if self.bits64 { (64_u16, 56_u16) } else { (52, 32) };
        out.extend([header, segment, 3, 0, 0, 0].iter().flat_map(|half| half.to_le_bytes()));
        out
    }

    fn segment(&self, kind: u32, (at, size): (u64, u64)) -> Vec<u8> {
        let flags = 5_u32.to_le_bytes().to_vec();
        let place = [at, at, at, size, size].map(|value| self.word(value)).concat();
        let align = self.word(8);
        let kind = kind.to_le_bytes().to_vec();
        if self.bits64 {
            [kind, flags, place, align].concat()
        } else {
            [kind, place, flags, align].concat()
        }
    }
}

/// A folder that is to be a guest's root.
pub(crate) struct Root {
    pub(crate) folder: tempfile::TempDir,
}

impl Root {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// With a loader, which every dynamic program here names.
    pub(crate) fn with_loader() -> Self {
        let root = Self::new();
        root.elf(LOADER, &LIBRARY);
        root
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path.trim_start_matches('/'))
    }

    pub(crate) fn file(&self, path: &str, mode: u32, data: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, data).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn elf(&self, path: &str, elf: &Elf<'_>) {
        self.file(path, 0o755, elf.bytes());
    }

    pub(crate) fn link(&self, path: &str, target: impl AsRef<Path>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }

    pub(crate) fn pack(&self, command: &[&str]) -> Result<Packed, PackError> {
        self.pack_with(command, &[], &[])
    }

    pub(crate) fn pack_with(
        &self,
        command: &[&str],
        files: &[FileArg],
        env: &[(&str, &str)],
    ) -> Result<Packed, PackError> {
        let command = words(command);
        let env: Vec<_> =
            env.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let root = Some(self.folder.path());
        pack(&Packing { command: &command, root, files, env: &env, stdin: None })
    }

    /// The message for a program that can't be packed.
    pub(crate) fn fault(&self, command: &[&str]) -> String {
        message(&self.pack(command).unwrap_err())
    }
}

/// An error as it is shown; every one has a next step.
pub(crate) fn message(error: &PackError) -> String {
    assert!(error.help().is_some(), "{error} has no next step");
    error.to_string()
}

pub(crate) fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(Into::into).collect()
}

pub(crate) fn name(entry: &PackedEntry) -> &str {
    match entry {
        PackedEntry::Directory { name, .. }
        | PackedEntry::File { name, .. }
        | PackedEntry::Symlink { name, .. } => name,
    }
}

/// The entry of that name.
pub(crate) fn entry<'a>(packed: &'a Packed, wanted: &str) -> Option<&'a PackedEntry> {
    packed.entries.iter().find(|entry| name(entry) == wanted)
}

pub(crate) fn data<'a>(packed: &'a Packed, wanted: &str) -> Option<&'a [u8]> {
    match entry(packed, wanted) {
        Some(PackedEntry::File { data, .. }) => Some(data),
        _ => None,
    }
}

pub(crate) fn target<'a>(packed: &'a Packed, wanted: &str) -> Option<&'a str> {
    match entry(packed, wanted) {
        Some(PackedEntry::Symlink { target, .. }) => Some(target),
        _ => None,
    }
}

/// A folder's files somewhere else in the guest.
pub(crate) fn at(source: impl Into<PathBuf>, destination: &str) -> FileArg {
    FileArg { source: source.into(), destination: Some(destination.into()) }
}
