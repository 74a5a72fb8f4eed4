//! `pathmeter run --new-probe`: a folder with a complete small program to begin one's own from.
//!
//! Contract: nothing is overwritten, and the folder is there whole or not at all, even if the
//! process is killed.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process;

use pathmeter_measure::interrupt;
use pathmeter_plan::FileStep;

use crate::failure::{Exit, Failure};
use crate::screen::output;

/// The files, with [`PLACE`] for the probe's name, in names and texts.
const FILES: [(&str, &str); 4] = [
    ("@NAME@.c", include_str!("new_probe/probe.c")),
    ("pathmeter.h", include_str!("../../../../../include/pathmeter.h")),
    ("Makefile", include_str!("new_probe/Makefile")),
    ("README.md", include_str!("new_probe/README.md")),
];
/// Stands for the probe's name in [`FILES`].
const PLACE: &str = "@NAME@";

/// Writes the folder and prints what to do next.
pub(crate) fn run(name: &str) -> Result<Exit, Failure> {
    let files = FILES.map(|(file, text)| (file.replace(PLACE, name), text.replace(PLACE, name)));
    interrupt::undisturbed(|| write(Path::new(name), &files))?;
    let text = format!(
        "{name}/ has a probe that works: {name}.c\n\n  cd {name}\n  make run KERNEL=bzImage\n"
    );
    output::print(text.as_bytes())?;
    Ok(Exit::Done)
}

/// Makes the folder with these files, or leaves nothing: it gets its name when it is whole.
fn write(folder: &Path, files: &[(String, String)]) -> Result<(), Failure> {
    if folder.symlink_metadata().is_ok() {
        return Err(failed(folder, ErrorKind::AlreadyExists.into()));
    }
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let part = folder.with_file_name(format!(".pathmeter-{name}-{}", process::id()));
    fs::create_dir(&part).map_err(|error| failed(&part, error))?;
    let written = files.iter().try_for_each(|(name, text)| {
        write_new(&part.join(name), text).map_err(|error| failed(&folder.join(name), error))
    });
    // In the meantime others may have made it: with anything in it, it keeps its name.
    let named = || fs::rename(&part, folder).map_err(|error| failed(folder, error));
    written.and_then(|()| named()).inspect_err(|_| {
        // What can't be removed lies in a folder of this process's own.
        let _ = fs::remove_dir_all(&part);
    })
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    File::create_new(path)?.write_all(text.as_bytes())
}

fn failed(path: &Path, error: io::Error) -> Failure {
    if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty) {
        return Failure::Usage {
            message: format!("{} exists already, and nothing was written", path.display()),
            help: "choose another name, or another folder to write it in".to_owned(),
        };
    }
    Failure::File { doing: FileStep::Writing, path: path.to_owned(), error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_written_whole_is_not_there() {
        let scene = tempfile::tempdir().unwrap();
        let folder = scene.path().join("probe");
        let files = ["first", "missing/second", "third"].map(|it| (it.to_owned(), String::new()));
        let failure = write(&folder, &files).unwrap_err();
        assert!(failure.to_string().contains("missing/second"), "{failure}");
        assert_eq!(fs::read_dir(scene.path()).unwrap().count(), 0);
    }

    #[test]
    fn nothing_is_overwritten() {
        let scene = tempfile::tempdir().unwrap();
        let path = scene.path().join("probe");
        fs::write(&path, "precious").unwrap();
        let failure = write(&path, &[("file".to_owned(), String::new())]).unwrap_err();
        assert!(failure.to_string().contains("probe exists already"), "{failure}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    }

    #[test]
    fn every_place_for_the_name_is_filled() {
        for (file, text) in FILES {
            let text = text.replace(PLACE, "it");
            assert!(!file.replace(PLACE, "it").contains('@'), "{file}");
            assert!(!text.contains("NAME@") && !text.contains("@NAME"), "{file}");
        }
    }
}
