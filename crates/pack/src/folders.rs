//! Where a dynamic loader looks for libraries: its configuration and its defaults.
//!
//! Contract: folders of `glibc-hwcaps` are left alone. Which of them a loader takes is decided by
//! the guest's CPU, and the plain library is right for every CPU.
//!
//! Sources: `ld.so(8)`, `ldconfig(8)`; glibc's `elf/ldconfig.c`; musl's `ldso/dynlink.c`; Debian's
//! multiarch folders.

use crate::elf::Class;
use crate::view::View;

/// The most files that `ld.so.conf` may include, all together.
const MAX_INCLUDED: usize = 256;
const MAX_FOLDERS: usize = 1024;

/// Whose dynamic loader loads the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Flavour {
    Glibc,
    /// musl, with the processor's name in that of its configuration.
    Musl(String),
}

impl Flavour {
    /// By the loader's path: musl's is `ld-musl-x86_64.so.1` or the like.
    pub(crate) fn of(interpreter: &str) -> Self {
        let name = interpreter.rsplit('/').next().unwrap_or_default();
        let musl = name.strip_prefix("ld-musl-").and_then(|rest| rest.split('.').next());
        musl.map_or(Self::Glibc, |machine| Self::Musl(machine.to_owned()))
    }
}

/// The folders that every program's libraries are looked for in, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Folders {
    /// The folders that the loader's configuration names.
    pub(crate) configured: Vec<String>,
    /// The folders that are the loader's own.
    pub(crate) default: Vec<String>,
}

impl Folders {
    pub(crate) fn read(view: &View, flavour: &Flavour, class: Class) -> Self {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        match flavour {
            Flavour::Glibc => {
                Self { configured: configured(view), default: owned(glibc_defaults(class)) }
            }
            Flavour::Musl(machine) => {
                let text = view.text(&format!("/etc/ld-musl-{machine}.path"));
                let folders = text.map(|text| path_list(&text.replace('\n', ":")));
                let default = folders.unwrap_or_else(|| owned(&MUSL_DEFAULTS));
                Self { configured: Vec::new(), default }
            }
        }
    }
}

const MUSL_DEFAULTS: [&str; 3] = ["/lib", "/usr/local/lib", "/usr/lib"];

/// Those of every distribution: each has some of them, and a library of the wrong class is passed
/// over.
fn glibc_defaults(class: Class) -> &'static [&'static str] {
    match class {
        Class::Bits64 => &[
            "/lib/x86_64-linux-gnu",
            "/usr/lib/x86_64-linux-gnu",
            "/lib64",
            "/usr/lib64",
            "/lib",
            "/usr/lib",
        ],
        Class::Bits32 => &[
            "/lib/i386-linux-gnu",
            "/usr/lib/i386-linux-gnu",
            "/lib32",
            "/usr/lib32",
            "/lib",
            "/usr/lib",
        ],
    }
}

/// What `$LIB` stands for: it depends on the distribution that built the loader.
pub(crate) fn lib_names(class: Class) -> &'static [&'static str] {
    match class {
        Class::Bits64 => &["lib/x86_64-linux-gnu", "lib64", "lib"],
        Class::Bits32 => &["lib/i386-linux-gnu", "lib32", "lib"],
    }
}

/// What `$PLATFORM` stands for, on a CPU without extensions.
pub(crate) fn platform(class: Class) -> &'static str {
    match class {
        Class::Bits64 => "x86_64",
        Class::Bits32 => "i686",
    }
}

/// The absolute folders of a list such as `LD_LIBRARY_PATH`. An empty or relative one stands for a
/// folder below the guest's working folder, where there is no library.
pub(crate) fn path_list(list: &str) -> Vec<String> {
    let folders = list.split([':', ';']).map(str::trim);
    folders.filter(|folder| folder.starts_with(['/', '$'])).map(str::to_owned).collect()
}

/// The folders of `/etc/ld.so.conf` and of what it includes.
fn configured(view: &View) -> Vec<String> {
    let mut folders = Vec::new();
    // The last line first; those of an included file come in the place of its line.
    let mut pending = reversed_lines(view, "/etc/ld.so.conf");
    let mut included = 0;
    while let Some(line) = pending.pop() {
        match directive(&line) {
            Line::Folder(folder) if folders.len() < MAX_FOLDERS => folders.push(folder),
            Line::Include(pattern) => {
                let mut files = view.glob(&beside_configuration(&pattern));
                files.truncate(MAX_INCLUDED - included);
                included += files.len();
                let lines = files.iter().rev().flat_map(|file| reversed_lines(view, file));
                pending.extend(lines);
            }
            _ => {}
        }
    }
    folders
}

fn reversed_lines(view: &View, path: &str) -> Vec<String> {
    let text = view.text(path).unwrap_or_default();
    text.lines().rev().map(str::to_owned).collect()
}

enum Line {
    Folder(String),
    Include(String),
    Nothing,
}

/// One line of a configuration.
fn directive(line: &str) -> Line {
    let line = line.split('#').next().unwrap_or_default().trim();
    if let Some(pattern) = line.strip_prefix("include").filter(|rest| rest.starts_with([' ', '\t']))
    {
        return Line::Include(pattern.trim().to_owned());
    }
    // A folder could once name the C library's kind: `/lib=libc6`.
    let folder = line.split('=').next().unwrap_or_default().trim_end().trim_end_matches('/');
    if folder.starts_with('/') { Line::Folder(folder.to_owned()) } else { Line::Nothing }
}

/// A relative pattern is one in the configuration's folder.
fn beside_configuration(pattern: &str) -> String {
    if pattern.starts_with('/') { pattern.to_owned() } else { format!("/etc/{pattern}") }
}
