//! Packs a program that was asked for, with the input that it is given; notes what it is not given.

mod file_list;
mod opened_files;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use pathmeter_pack::{FileArg, Packed, Packing};
use pathmeter_plan::FileStep;
use rustix::io::ioctl_fionread;
use tempfile::NamedTempFile;

use self::file_list::find_files;
use crate::arguments::{FilesArgs, GuestArgs};
use crate::executable;
use crate::failure::Failure;
use crate::screen::output::Screen;
use pathmeter_measure::interrupt;
use pathmeter_measure::session::cell::CellProgram;

/// What names this command's own standard input.
const OWN: &str = "-";
/// What the names of interpreters begin with that open files of a library at their start.
const WITH_LIBRARY: [&str; 4] = ["java", "pypy", "python", "ruby"];
/// Most bytes that are read of it: 64 MiB.
const MAX_INPUT: u64 = 64 << 20;

/// The program and its arguments, with its files.
pub(crate) fn pack(
    command: &[OsString],
    args: &FilesArgs,
    screen: &Screen,
) -> Result<Packed, Failure> {
    let mut files = Vec::new();
    if args.root.is_none() && args.find_files.is_none() {
        let named = named_by_shell(command, &args.file);
        named.note(screen);
        files = named.files();
    }
    let own = args.stdin.as_deref().is_some_and(|stdin| stdin == Path::new(OWN));
    let read = if own { Some(own_input()?) } else { None };
    let stdin = read.as_ref().map(NamedTempFile::path).or(args.stdin.as_deref());
    let given = args.packing(command);
    files.extend_from_slice(given.files);
    let packing = Packing { stdin, files: &files, ..given };
    let mut packed = pathmeter_pack::pack(&packing)?;
    if let Some(list) = &args.find_files {
        let found = find_files(list, &packed, stdin, screen)?;
        let files = [&found[..], packing.files].concat();
        packed = pathmeter_pack::pack(&Packing { files: &files, ..packing })?;
    }
    note_library(&packed, args, screen);
    packed.notes.iter().for_each(|note| screen.note(&note.to_string()));
    if stdin.is_none() && input_waits() {
        screen.note("standard input is not given to the program: --stdin - gives it");
    }
    Ok(packed)
}

/// What a shell's own words name on this machine, by the words.
pub(crate) struct NamedByShell {
    files: Vec<(String, PathBuf)>,
    folders: Vec<(String, PathBuf)>,
}

/// What the words of `sh -c` name beside the files that are given; nothing of another command.
pub(crate) fn named_by_shell(command: &[OsString], given: &[FileArg]) -> NamedByShell {
    // `/bin` may be a link to `/usr/bin`.
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let has = |file: &FileArg, path: &Path| {
        let source = file.source.file_name().unwrap_or_default();
        let place = file.destination.as_ref().map(|place| match place.as_os_str().as_bytes() {
            [.., b'/'] => place.join(source),
            _ => place.clone(),
        });
        real(path).starts_with(real(&file.source)) || place.is_some_and(|it| path.starts_with(it))
    };
    let is_new = |(_, path): &(String, PathBuf)| !given.iter().any(|file| has(file, path));
    let named: Vec<_> = executable::of_shell(command).into_iter().filter(is_new).collect();
    let is_file = |path: &Path| path.is_file() && File::open(path).is_ok();
    let (files, rest): (Vec<_>, Vec<_>) = named.into_iter().partition(|(_, path)| is_file(path));
    let folders = rest.into_iter().filter(|(_, path)| path.is_dir()).collect();
    NamedByShell { files, folders }
}

impl NamedByShell {
    /// The files, which are packed as well.
    pub(crate) fn files(&self) -> Vec<FileArg> {
        let file =
            |(_, source): &(String, PathBuf)| FileArg { source: source.clone(), destination: None };
        self.files.iter().map(file).collect()
    }

    /// Says what is packed of it, and what is not.
    fn note(&self, screen: &Screen) {
        let names = |of: &[(String, PathBuf)]| {
            of.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        };
        if !self.files.is_empty() {
            screen.note(&format!("in the shell's words, and packed: {}", names(&self.files)));
        }
        if !self.folders.is_empty() {
            let options = self.folders.iter().map(|(_, it)| format!(" --file {}", it.display()));
            screen.note(&format!(
                "in the shell's words, not packed: {}; add{}, or --find-files LIST",
                names(&self.folders),
                options.collect::<String>()
            ));
        }
    }
}

/// Tells before a guest boots that a program can't do without files that are not packed.
fn note_library(packed: &Packed, args: &FilesArgs, screen: &Screen) {
    if args.root.is_some() || args.find_files.is_some() || !args.file.is_empty() {
        return;
    }
    let name = |path: &str| path.rsplit_once("bin/").map(|(_, name)| name.to_owned());
    let mut names = packed.sources.keys().filter_map(|path| name(path));
    let found = names.find(|name| WITH_LIBRARY.iter().any(|known| name.starts_with(known)));
    if let Some(name) = found {
        screen.note(&format!(
            "{name} opens files of its own library, of which none is packed: --find-files LIST \
             packs the files that the program opens on this machine"
        ));
    }
}

/// All of this command's standard input, to its end, as a file.
fn own_input() -> Result<NamedTempFile, Failure> {
    let failed =
        |error| Failure::File { doing: FileStep::Reading, path: "standard input".into(), error };
    let mut bytes = Vec::new();
    interrupt::blocking(|| io::stdin().lock().take(MAX_INPUT + 1).read_to_end(&mut bytes))?
        .map_err(failed)?;
    if bytes.len() as u64 > MAX_INPUT {
        return Err(Failure::Usage {
            message: format!("standard input has more than {} MiB", MAX_INPUT >> 20),
            help: "give the program a file of its own: --stdin FILE".to_owned(),
        });
    }
    let mut file = NamedTempFile::new().map_err(failed)?;
    file.write_all(&bytes).map_err(failed)?;
    Ok(file)
}

/// Whether somebody put something into this command's standard input: a file or a pipe with bytes
/// that nobody has read. Nothing is read, since a pipe may never end.
fn input_waits() -> bool {
    let input = io::stdin();
    !input.is_terminal() && ioctl_fionread(&input).is_ok_and(|bytes| bytes > 0)
}
/// The program with its files, which must end with `exit_code`.
pub(crate) fn pack_cell_program(
    (command, files): (&[OsString], &FilesArgs),
    guest: &GuestArgs,
    exit_code: u8,
    screen: &Screen,
) -> Result<CellProgram, Failure> {
    let packed = pack(command, files, screen)?;
    Ok(CellProgram::new(packed, guest.runs(), guest.memory, exit_code)?)
}
