//! File names as kernel developers write them: `kernel/sched/core.c`, wherever it was built.
//!
//! Contract: a file outside the directories that the kernel was built from keeps its whole name.
//! Nothing is looked up on this machine; `..` is resolved by its text.
//!
//! Sources: DWARF 5, section 3.1.1 (`DW_AT_comp_dir`, `DW_AT_name`); Linux `Makefile` (`O=`).

use std::collections::BTreeSet;

use gimli::{Reader as _, Unit};

use crate::{Bytes, bounded};

/// Linux's build links this file first, so its unit comes first; since it is assembly, the unit
/// names it with the whole path of the source.
const FIRST_FILE: &str = "arch/x86/kernel/head_64.S";

/// The directories a kernel was built in and from.
#[derive(Debug, Default)]
pub(crate) struct Roots(Vec<String>);

impl Roots {
    /// The directories that these units name.
    pub(crate) fn of(units: &[Unit<Bytes>]) -> Self {
        Self::longest_first(units.iter().flat_map(roots_of).collect())
    }

    fn longest_first(roots: BTreeSet<String>) -> Self {
        let mut roots: Vec<String> = roots.into_iter().filter(|root| !root.is_empty()).collect();
        roots.sort_by_key(|root| std::cmp::Reverse(root.len()));
        Self(roots)
    }

    /// `file` without the directory that the kernel was built from.
    pub(crate) fn relative(&self, file: &str) -> String {
        let file = plain(file);
        let below = |root: &String| file.strip_prefix(root.as_str())?.strip_prefix('/');
        self.0.iter().find_map(below).unwrap_or(&file).to_owned()
    }
}

/// The unit's working directory, and the source's if this is the first file.
fn roots_of(unit: &Unit<Bytes>) -> impl Iterator<Item = String> {
    let text = |bytes: &Bytes| Some(bounded(&bytes.to_string_lossy().ok()?));
    let directory = unit.comp_dir.as_ref().and_then(text).unwrap_or_default();
    let name = unit.name.as_ref().and_then(text).unwrap_or_default();
    let name = if name.starts_with('/') { name } else { format!("{directory}/{name}") };
    let source = plain(&name).strip_suffix(FIRST_FILE).map(plain);
    [Some(plain(&directory)), source].into_iter().flatten()
}

/// The path without `.`, `..` and doubled or trailing slashes.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots(roots: &[&str]) -> Roots {
        Roots::longest_first(roots.iter().map(|&root| plain(root)).collect())
    }

    #[test]
    fn files_are_named_from_the_kernels_source() {
        let roots = roots(&["/home/u/linux", "/home/u/linux/out", "debian/build"]);
        let files = [
            ("/home/u/linux/out/../kernel/fork.c", "kernel/fork.c"),
            ("/home/u/linux/out/include/generated/asm.h", "include/generated/asm.h"),
            ("debian/build/./mm//mmap.c", "mm/mmap.c"),
            ("/home/u/linux-next/mm/mmap.c", "/home/u/linux-next/mm/mmap.c"),
            ("../elsewhere.c", "../elsewhere.c"),
        ];
        for (file, expected) in files {
            assert_eq!(roots.relative(file), expected);
        }
    }

    #[test]
    fn without_a_directory_a_file_keeps_its_name() {
        assert_eq!(roots(&["", "/"]).relative("/a/b.c"), "/a/b.c");
    }
}
