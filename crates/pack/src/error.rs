//! What can keep a program from being packed, and what the user should do about it.
//!
//! Contract: a name or path in a message is printable; control characters are escaped, since a
//! name from a file could carry a terminal's.

use std::fmt;
use std::io;
use std::path::Path;

use pathmeter_image::ImageError;
use thiserror::Error;

use crate::limits::{MAX_ENTRIES, MAX_FILE_BYTES, MAX_MODULES, MAX_TOTAL_BYTES};

/// Why a program can't be packed. Paths are the guest's where the guest's files are concerned,
/// and the host's where a file was to be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PackError {
    /// There is no program in the command.
    #[error("no program was given")]
    NoProgram,
    /// A word that the kernel can't hand to a program, or that is no UTF-8 where it must be.
    #[error("{word}: {fault}")]
    Word {
        word: String,
        /// What is wrong with it.
        fault: &'static str,
    },
    #[error("{path}: no such file")]
    Missing {
        /// The path that was asked for.
        path: String,
    },
    /// No folder of the search path has the program.
    #[error("{name}: no such program in {searched}")]
    NotInPath {
        name: String,
        /// The search path that was looked through.
        searched: String,
    },
    /// A part of a path that must be a folder is none.
    #[error("{path}: {at} is no folder")]
    NotAFolder {
        path: String,
        /// The part of it that is no folder.
        at: String,
    },
    /// More links than Linux follows.
    #[error("{path}: its symbolic links lead in a circle, or there are more than 40")]
    Loop { path: String },
    /// The file system refuses to let the file be read.
    #[error("{path}: cannot read: {source}")]
    Unreadable {
        /// The path of the host's file.
        path: String,
        source: io::Error,
    },
    /// A folder where a program must be.
    #[error("{path}: a folder, not a program")]
    IsAFolder { path: String },
    /// A device, pipe or socket.
    #[error("{path}: not a regular file")]
    NotRegular { path: String },
    /// A program without permission to be executed.
    #[error("{path}: not executable")]
    NotExecutable { path: String },
    /// Neither an ELF program nor a script with a `#!` line.
    #[error("{path}: not a program: neither an ELF file nor a script with a #! line")]
    NotAProgram { path: String },
    /// An ELF file that is no program: an object file, or a core dump.
    #[error("{path}: an ELF file, but no program")]
    NotExecutableElf { path: String },
    /// A program for another processor.
    #[error("{path}: made for {machine}, not x86")]
    OtherMachine {
        path: String,
        /// The processor that it is made for.
        machine: String,
    },
    /// An ELF file that contradicts itself.
    #[error("{path}: damaged: {fault}")]
    Damaged { path: String, fault: &'static str },
    /// The dynamic loader that the program names is missing.
    #[error("{program} needs the dynamic loader {loader}, which is missing")]
    MissingLoader { program: String, loader: String },
    #[error("{needed_by} needs the library {library}, which {}", absence(searched))]
    MissingLibrary {
        library: String,
        /// The program or library that needs it.
        needed_by: String,
        /// The folders that were searched; none if it is named by a relative path.
        searched: Vec<String>,
    },
    /// A `#!` line that the kernel can't follow.
    #[error("{path}: its #! line {fault}")]
    Script { path: String, fault: &'static str },
    /// A script's interpreter is missing.
    #[error("{script} needs the interpreter {interpreter}, which is missing")]
    MissingInterpreter { script: String, interpreter: String },
    /// What a script has `env` look for is missing.
    #[error("{script} needs the program {name}, which is in none of {searched}")]
    MissingForEnv {
        script: String,
        /// The program that `env` looks for.
        name: String,
        /// The folders of the guest's PATH.
        searched: String,
    },
    /// A path that the agent has in the guest.
    #[error("{path}: pathmeter's own agent is there in the guest")]
    Reserved { path: String },
    /// A path on which the agent mounts one of the kernel's file systems.
    #[error("{path}: hidden in the guest, where one of the kernel's file systems is mounted there")]
    Hidden { path: String },
    /// Two things for one path.
    #[error("{path}: a {wanted} was to be packed there, and there is a {there}")]
    Collision {
        path: String,
        /// The kind of what is packed there.
        there: Kind,
        /// The kind of what was to be packed.
        wanted: Kind,
    },
    /// A path longer than the kernel unpacks.
    #[error("{path}: the path is too long")]
    TooLong { path: String },
    /// A file that is too large.
    #[error("{path}: {bytes} bytes, and at most {MAX_FILE_BYTES} can be packed")]
    TooLarge { path: String, bytes: u64 },
    /// All files together are too large.
    #[error("{path}: with it there are more than {MAX_TOTAL_BYTES} bytes, the most that is packed")]
    TotalTooLarge {
        /// The file with which the limit was crossed.
        path: String,
    },
    /// There are too many files to pack.
    #[error("{path}: with it there are more than {MAX_ENTRIES} files, the most that are packed")]
    TooMany {
        /// The file with which the limit was crossed.
        path: String,
    },
    /// A file that grew or shrank meanwhile.
    #[error("{path}: its size changed while it was read")]
    Changed { path: String },
    /// This machine can't hold the file.
    #[error("{path}: no memory for it")]
    NoMemory { path: String },
    /// The package in which modules were to be found can't be read.
    #[error(transparent)]
    Package(ImageError),
    /// A kernel module is missing.
    #[error("{place} has no module {module}, and does not list it as part of the kernel")]
    NoModule {
        module: String,
        /// Where it was looked for.
        place: String,
    },
    /// A module that can't be read.
    #[error("{path}: not a kernel module: {fault}")]
    NotAModule {
        path: String,
        /// What is wrong with it.
        fault: String,
    },
    /// A module for another kernel.
    #[error("{module} is made for the kernel {made_for}, and this one is {release}")]
    ModuleRelease {
        /// The file of the module.
        module: String,
        /// The release of the kernel that it is made for.
        made_for: String,
        /// The release of the kernel that is to load it.
        release: String,
    },
    /// Modules that need each other.
    #[error("these modules need each other: {}", modules.join(", "))]
    ModuleCycle {
        /// Each needs the next, and the last one the first.
        modules: Vec<String>,
    },
    #[error("more than {MAX_MODULES} modules would have to be loaded")]
    TooManyModules,
}

/// How a library is missing.
fn absence(searched: &[String]) -> String {
    if searched.is_empty() {
        return "is named by a relative path".to_owned();
    }
    format!("is in none of {}", searched.join(", "))
}

/// A kind of entry in a guest's root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Folder,
    File,
    Link,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Folder => "folder",
            Self::File => "file",
            Self::Link => "link",
        })
    }
}

impl PackError {
    /// What the user can do about it.
    pub fn help(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoProgram => "name it after `--`, with its arguments",
            Self::Word { .. } => "change the word, or the name of the file",
            Self::Missing { .. } => {
                "check the path; with --root DIR a program's path is one in DIR, and --file \
                 SOURCE:DESTINATION adds a file"
            }
            Self::NotInPath { .. } => {
                "install the program, or name it by its path; with --root DIR it is looked for in \
                 DIR"
            }
            Self::NotAFolder { .. } | Self::Loop { .. } => {
                "check where the symbolic links lead (`readlink -f`, `namei`)"
            }
            Self::Unreadable { .. } => "check the file's permissions (`namei -l`) and the disk",
            Self::IsAFolder { .. } => "name the program in it",
            Self::NotRegular { .. } => "copy its contents to a regular file, and give that",
            Self::NotExecutable { .. } => "make it executable with `chmod +x`",
            Self::NotAProgram { .. } => {
                "put the line `#!/bin/sh` first if it is a shell script, or run its interpreter \
                 with the file as argument and add it with --file"
            }
            Self::NotExecutableElf { .. } => "link it to a program first",
            Self::OtherMachine { .. } => "give a build of the program for x86-64 or 32-bit x86",
            Self::Damaged { .. } => "copy or build the file again",
            Self::MissingLoader { .. } => {
                "install it (Debian: libc6, libc6:i386 for 32-bit programs, musl), link the \
                 program statically, or use --root DIR with a folder that has it"
            }
            Self::MissingLibrary { .. } => {
                "install it, add it with --file SOURCE:DESTINATION, name its folder with --env \
                 LD_LIBRARY_PATH=FOLDER, or use --root DIR with a folder that has everything"
            }
            Self::Script { .. } => {
                "begin the script with #! and the interpreter's absolute path, in a line of less \
                 than 256 bytes"
            }
            Self::MissingInterpreter { .. } => {
                "install it, add it with --file SOURCE:DESTINATION, or name another one in the \
                 script's first line"
            }
            Self::MissingForEnv { .. } => {
                "name its folder with --env PATH=FOLDER:…, as env looks for it in the guest, or \
                 name it by its path in the script's first line"
            }
            Self::Reserved { .. } => "give it another name with --file SOURCE:DESTINATION",
            Self::Hidden { .. } => "move it: /dev, /proc and /sys are the kernel's in the guest",
            Self::Collision { .. } => "give another destination with --file SOURCE:DESTINATION",
            Self::TooLong { .. } => "give it a shorter one with --file SOURCE:DESTINATION",
            Self::TooLarge { .. } | Self::TotalTooLarge { .. } | Self::TooMany { .. } => {
                "the guest holds all files in memory: name fewer or smaller ones, and with --root \
                 a smaller folder"
            }
            Self::Changed { .. } => "end the program that writes to it, and try again",
            Self::NoMemory { .. } => "end other programs, or give fewer files",
            _ => return self.module_help(),
        })
    }

    /// The same for kernel modules.
    fn module_help(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoModule { .. } => {
                "check its name (`modinfo`); distributions have some modules in packages of their \
                 own (Ubuntu: linux-modules-extra-…, Fedora: kernel-modules, kernel-modules-extra)"
            }
            Self::NotAModule { .. } => "install the kernel's modules again",
            Self::ModuleRelease { .. } => "give the modules that were built with this kernel",
            Self::ModuleCycle { .. } => "build the modules again, from one source",
            Self::TooManyModules => "name fewer modules",
            // A package's message ends with the next step.
            _ => return None,
        })
    }
}

/// A path in the guest, as messages show it.
pub(crate) fn guest(path: &str) -> String {
    let path = printable(path);
    if path.starts_with('/') { path } else { format!("/{path}") }
}

/// A path of the host, as messages show it.
pub(crate) fn host(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

/// Text in which control characters are escaped.
pub(crate) fn printable(text: &str) -> String {
    let escaped = |character: char| {
        if character.is_control() {
            character.escape_default().to_string()
        } else {
            character.into()
        }
    };
    text.chars().map(escaped).collect()
}

/// Something that was left out, or may be missing in the guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// A device, pipe or socket, which was left out.
    Special(String),
    /// A file whose name, or a link whose target, is no UTF-8; left out.
    NotUtf8(String),
    /// The root's own file, in whose place the guest has the agent's.
    Replaced(String),
    /// A folder whose contents are left out, since the kernel's own file system is mounted there.
    Hidden(String),
    /// A link that leads to nothing in the guest.
    Dangling(String),
    /// So many more of them.
    MoreDangling(usize),
    /// A program in a folder given with `--file` that can't be executed in the guest: why.
    Incomplete(String),
    /// A library that a file given with `--file`, or one that glibc may load, needs and that is
    /// missing.
    MissingLibrary { library: String, needed_by: String },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Special(path) => write!(f, "{path}: left out: a device, pipe or socket"),
            Self::NotUtf8(path) => {
                write!(f, "{path}: left out: its name, or where it leads, is no UTF-8")
            }
            Self::Replaced(path) => write!(f, "{path}: replaced by pathmeter's own"),
            Self::Hidden(path) => {
                write!(f, "{path}: what is in it is left out: the kernel's files are there")
            }
            Self::Dangling(path) => write!(f, "{path}: a link that leads to nothing in the guest"),
            Self::MoreDangling(count) => {
                write!(f, "more links that lead to nothing in the guest: {count}")
            }
            Self::Incomplete(why) => f.write_str(why),
            Self::MissingLibrary { library, needed_by } => {
                write!(f, "{needed_by} needs the library {library}, which was not found")
            }
        }
    }
}
