//! A folder of a test's own, the command run in it, and what came of that.

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use pathmeter_model::Measurement;
use serde::Serialize;

/// A folder with its own cache.
pub(crate) struct Scene {
    folder: tempfile::TempDir,
}

/// What a run of pathmeter left.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A folder that holds `base.json` and `new.json`.
    pub(crate) fn with(base: &Measurement, new: &Measurement) -> Self {
        let scene = Self::new();
        scene.write("base.json", document(base));
        scene.write("new.json", document(new));
        scene
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The names of all files in `folder` of the scene; none if it isn't there.
    pub(crate) fn files(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(folder)).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
    }

    /// The command, in the folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("pathmeter"));
        command.args(arguments).current_dir(self.folder.path());
        command.env_remove("NO_COLOR").env("XDG_CACHE_HOME", self.path("cache"));
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.command(arguments).output().unwrap().into()
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A document as pathmeter writes it, without the line's end.
pub(crate) fn document<D: Serialize>(document: &D) -> String {
    pathmeter_seal::to_document(document).unwrap()
}

/// The text of a document that a test has changed, with the seal of what it is now.
pub(crate) fn reseal(text: &str) -> String {
    let content =
        text.rsplit_once(",\"seal\":\"").map_or(text.to_owned(), |(it, _)| format!("{it}}}"));
    pathmeter_seal::sealed(&content).unwrap()
}

/// Whether the tests' long forms are wanted (`make soak`).
pub(crate) fn soak() -> bool {
    std::env::var_os("PATHMETER_SOAK").is_some_and(|value| value == "1")
}

/// The script that plays a QEMU in this state.
pub(crate) fn qemu(state: &str) -> String {
    fixture(&format!("tests/command/qemu/{state}"))
}

/// A tiny file that is a kernel as far as its format goes.
pub(crate) fn kernel(name: &str) -> String {
    fixture(&format!("../image/tests/fixtures/{name}"))
}

fn fixture(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    assert!(path.is_file(), "{} is missing", path.display());
    path.to_string_lossy().into_owned()
}
