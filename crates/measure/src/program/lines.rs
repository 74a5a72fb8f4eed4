//! Source lines of a program's code: by the debug information in the file itself, or in its debug
//! file.
//!
//! Contract: what can't be used gives no lines, and is told.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use pathmeter_debuginfo::{DebugInfo, DebugInfoFault};
use pathmeter_trace::SourceLine;

/// The lines of one file of a program. They are read when the first is asked for.
pub(crate) struct FileLines<'a> {
    data: &'a [u8],
    debug_file: Option<PathBuf>,
    read: OnceCell<Lines>,
}

/// What was read of the file.
struct Lines {
    info: Option<DebugInfo>,
    /// What was not used: a debug file, or what the file itself has, and why.
    unused: Vec<(Option<PathBuf>, String)>,
}

impl<'a> FileLines<'a> {
    /// Those of a file that has these bytes, and this debug file.
    pub(crate) fn new(data: &'a [u8], debug_file: Option<&Path>) -> Self {
        let debug_file = debug_file.map(Path::to_owned);
        Self { data, debug_file, read: OnceCell::new() }
    }

    /// The line at an address of the file, in the function that was called: what the compiler put
    /// into it is its own.
    pub(crate) fn at(&self, address: u64) -> Option<SourceLine> {
        let lines = self.read.get_or_init(|| read(self.data, self.debug_file.as_deref()));
        let frame = lines.info.as_ref()?.frames(address).pop()?;
        Some(SourceLine { file: frame.file?, line: frame.line? })
    }

    /// The debug information that was not used so far; its file, if it is not this one, and why.
    pub(crate) fn unused(&self) -> &[(Option<PathBuf>, String)] {
        self.read.get().map_or(&[], |lines| &lines.unused)
    }
}

fn read(data: &[u8], debug_file: Option<&Path>) -> Lines {
    let mut unused = Vec::new();
    let mut kept = |path: Option<&Path>, read: Result<DebugInfo, DebugInfoFault>| match read {
        Ok(info) => Some(info),
        Err(fault) => {
            unused.extend(why(&fault).map(|why| (path.map(Path::to_owned), why)));
            None
        }
    };
    let own = kept(None, DebugInfo::of_program(data));
    let info = own.or_else(|| kept(debug_file, DebugInfo::of_debug_file(debug_file?)));
    Lines { info, unused }
}

/// Why debug information can't be used; `None` if there is none, as in most programs.
fn why(fault: &DebugInfoFault) -> Option<String> {
    Some(match fault {
        DebugInfoFault::NoDwarf | DebugInfoFault::NotElf => return None,
        DebugInfoFault::Open(error) | DebugInfoFault::Read(error) => {
            format!("it can't be read: {error}")
        }
        DebugInfoFault::Malformed(what) => format!("its debug information is damaged: {what}"),
        DebugInfoFault::TooLarge { section, limit_mib } => format!(
            "its debug information, of which {section} is a part, has more than {limit_mib} MiB"
        ),
        DebugInfoFault::NotAKernel(what) => format!("it is {what}"),
        _ => "the format of its debug information is unknown".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_lines_or_damaged_ones_gives_none_and_the_damage_is_told() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let script = FileLines::new(b"#!/bin/sh", None);
        assert_eq!((script.at(0), script.unused()), (None, &[][..]));
        let whole = FileLines::new(&own, None);
        assert_eq!((whole.at(u64::MAX), whole.unused()), (None, &[][..]));
        // The table of sections is at the file's end.
        let cut = FileLines::new(&own[..own.len() / 2], Some(Path::new("/no/such/file")));
        assert_eq!((cut.at(0), cut.unused().len()), (None, 2));
        let told: Vec<&str> = cut.unused().iter().map(|(_, why)| &**why).collect();
        assert!(told[0].starts_with("its debug information is damaged: "), "{told:?}");
        assert!(told[1].starts_with("it can't be read: "), "{told:?}");
    }
}
