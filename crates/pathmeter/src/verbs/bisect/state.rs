//! What outlives an interrupted bisection: a folder beside git's own state.
//!
//! Contract: which commits are good and bad is in git's log and nowhere else. Here are results and
//! kernels by their commits, so that the same command goes on without measuring again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pathmeter_model::{Measurement, parse_measurement};
use pathmeter_plan::FileStep;
use pathmeter_seal::unsealed;
use serde::{Deserialize, Serialize};

use super::meter::Measured;
use crate::failure::Failure;
use crate::screen::destination::save;
use crate::screen::output;

/// The folder's name, within git's.
const FOLDER: &str = "pathmeter-bisect";

/// The folder of one bisection.
pub(super) struct State {
    folder: PathBuf,
    kept: Kept,
}

#[derive(Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct Kept {
    /// Everything on the command line that decides what is found.
    asked: String,
    /// Files that were there before, which git neither knows nor ignores.
    strangers: Vec<String>,
}

impl State {
    /// The state that an earlier command of the same meaning left.
    ///
    /// # Errors
    /// There is one of another meaning.
    pub(super) fn find(git_folder: &Path, asked: &str) -> Result<Option<Self>, Failure> {
        let folder = git_folder.join(FOLDER);
        let Ok(bytes) = fs::read(folder.join("state.json")) else { return Ok(None) };
        match serde_json::from_slice::<Kept>(&bytes) {
            Ok(kept) if kept.asked == asked => Ok(Some(Self { folder, kept })),
            _ => Err(Failure::Usage {
                message: "another bisection was begun in this tree".to_owned(),
                help: format!(
                    "go on with its own command, or give it up with `git bisect reset` and remove \
                     {}",
                    folder.display()
                ),
            }),
        }
    }

    /// Begins the state of a new bisection, in a folder within git's.
    pub(super) fn new(
        git_folder: &Path,
        asked: &str,
        strangers: Vec<String>,
    ) -> Result<Self, Failure> {
        let folder = git_folder.join(FOLDER);
        fs::create_dir_all(&folder).map_err(|error| Failure::File {
            doing: FileStep::Writing,
            path: folder.clone(),
            error,
        })?;
        let kept = Kept { asked: asked.to_owned(), strangers };
        let bytes = serde_json::to_vec(&kept);
        let bytes = bytes
            .map_err(|error| Failure::System { doing: "writing JSON", error: error.into() })?;
        save(&folder.join("state.json"), &bytes)?;
        Ok(Self { folder, kept })
    }

    /// Where all of it is kept.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the output of the latest build goes.
    pub(super) fn log(&self) -> PathBuf {
        self.folder.join("build.log")
    }

    /// Files that were there before.
    pub(super) fn strangers(&self) -> &[String] {
        &self.kept.strangers
    }

    /// A copy of the kernel that was built of a commit: the next build replaces it.
    pub(super) fn keep_kernel(&self, commit: &str, file: &Path) -> Result<PathBuf, Failure> {
        let (copy, whole) = (self.folder.join("new.kernel"), self.kernel(commit));
        fs::copy(file, &copy).and_then(|_| fs::rename(&copy, &whole)).map_err(|error| {
            Failure::File { doing: FileStep::Reading, path: file.to_owned(), error }
        })?;
        Ok(whole)
    }

    fn kernel(&self, commit: &str) -> PathBuf {
        self.folder.join(format!("{commit}.kernel"))
    }

    /// Keeps the result of a commit.
    pub(super) fn keep(&self, commit: &str, result: &Measurement) -> Result<(), Failure> {
        save(&self.result(commit), &output::json(result)?)
    }

    fn result(&self, commit: &str) -> PathBuf {
        self.folder.join(format!("{commit}.result"))
    }

    /// What was kept of a commit; what was damaged is measured again.
    pub(super) fn of(&self, commit: &str) -> Option<Measured> {
        let bytes = fs::read(self.result(commit)).ok()?;
        let result = parse_measurement(&unsealed(&bytes).ok()?).ok()?;
        Some(Measured { file: self.kernel(commit), result })
    }

    /// How many commits were measured.
    pub(super) fn count_measured(&self) -> usize {
        let names = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        names.filter(|entry| entry.path().extension().is_some_and(|it| it == "result")).count()
    }

    /// Removes its folder, if that is still there.
    pub(super) fn remove(self) -> Result<(), Failure> {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Failure::File { doing: FileStep::Removing, path: self.folder, error })
            }
            _ => Ok(()),
        }
    }
}
