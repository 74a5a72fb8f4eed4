//! The list of the files that a program opens: kept, so that later measurements pack the same ones;
//! made by executing the program on this machine if there is no list yet.
//!
//! Format: a path in each line; a line that begins with `#` is a comment.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use pathmeter_measure::bounded_file::read_bounded;
use pathmeter_measure::interrupt;
use pathmeter_model::command_line;
use pathmeter_pack::{FileArg, Packed};
use pathmeter_plan::FileStep;

use super::opened_files::{Ended, LONGEST, Program, Search, search};
use crate::failure::Failure;
use crate::screen::destination::save;
use crate::screen::output::Screen;

/// Most bytes of a list: 16 MiB.
const LONGEST_LIST: u64 = 16 << 20;

/// The files of the list; if there is none, those that `packed` opens on this machine, which are
/// written to the list.
pub(super) fn find_files(
    list: &Path,
    packed: &Packed,
    stdin: Option<&Path>,
    screen: &Screen,
) -> Result<Vec<FileArg>, Failure> {
    let failed = |doing| move |error| Failure::File { doing, path: list.into(), error };
    match read_bounded(list, LONGEST_LIST) {
        Ok(bytes) => return Ok(read_list(&bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(failed(FileStep::Reading)(error)),
    }
    let words: Vec<String> =
        packed.arguments.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    let command = command_line(&words);
    let search = execute(packed, stdin)?;
    save(list, &write_list(&command, &search))?;
    screen.note(&format!(
        "{command} was executed here and {}; the {} files that it opened are packed, their names \
         are in {}",
        describe(search.ended),
        search.files.len(),
        list.display()
    ));
    Ok(search.files.into_iter().map(to_argument).collect())
}

fn execute(packed: &Packed, stdin: Option<&Path>) -> Result<Search, Failure> {
    let failed = |error| Failure::System { doing: "executing the program here", error };
    let folder = tempfile::tempdir().map_err(failed)?;
    let arguments = packed.arguments.iter().skip(1);
    let program = Program {
        file: packed.executable.clone().into(),
        arguments: arguments.map(|word| OsStr::from_bytes(word).to_owned()).collect(),
        environment: packed.environment.clone(),
        stdin: stdin.map(Path::to_owned),
        folder: folder.path().to_owned(),
    };
    // A signal must not leave the folder behind.
    interrupt::listen();
    interrupt::abandoning(move || search(&program))?.map_err(failed)
}

fn describe(ended: Ended) -> String {
    match ended {
        Ended::Code(code) => format!("ended with exit code {code}"),
        Ended::Signal(signal) => format!("was ended by signal {signal}"),
        Ended::Late => format!("was killed after {} s", LONGEST.as_secs()),
    }
}

fn write_list(command: &str, search: &Search) -> Vec<u8> {
    let comment = format!("# opened by {}; remove this file to look again\n", one_line(command));
    let mut list = comment.into_bytes();
    for file in &search.files {
        list.extend_from_slice(file.as_os_str().as_bytes());
        list.push(b'\n');
    }
    list
}

fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

fn read_list(bytes: &[u8]) -> Vec<FileArg> {
    let lines = bytes.split(|byte| *byte == b'\n');
    let names = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    names.map(|name| to_argument(PathBuf::from(OsStr::from_bytes(name)))).collect()
}

fn to_argument(source: PathBuf) -> FileArg {
    FileArg { source, destination: None }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let files: BTreeSet<PathBuf> = ["/a/b c", "/d"].map(PathBuf::from).into();
        let written = write_list("x '\n'", &Search { files, ended: Ended::Code(0) });
        assert_eq!(written.split(|byte| *byte == b'\n').count(), 4);
        let read = read_list(&written).into_iter().map(|file| file.source);
        assert_eq!(read.collect::<Vec<_>>(), ["/a/b c", "/d"].map(PathBuf::from));
    }
}
