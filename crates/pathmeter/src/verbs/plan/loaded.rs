//! A plan that was read, and where it and its files lie.
//!
//! Contract: paths in a plan are relative to a folder that it names, and so is this process from
//! then on. Whoever reads a plan makes other paths absolute before.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use pathmeter_plan::{Cell, FileStep, Plan};

/// Longest plan that is read: some million cells.
const MOST_BYTES: u64 = 512 << 20;

/// Reads the plan at `path`.
///
/// # Errors
/// There is none, or it is no plan.
pub(super) fn read(path: &Path) -> Result<Plan, Failure> {
    let failed = |error| Failure::File { doing: FileStep::Reading, path: path.to_owned(), error };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(failed)?;
    Plan::parse(&bytes)
        .map_err(|error| Failure::Document { path: path.to_owned(), what: error.to_string() })
}

/// Makes this process's folder the one that the plan's paths are relative to.
///
/// # Errors
/// It is not there.
pub(super) fn enter(path: &Path, plan: &Plan) -> Result<(), Failure> {
    change_to(&folder_of(path).join(&plan.folder))
}

/// The same, so that other paths are relative to `folder`.
pub(super) fn change_to(folder: &Path) -> Result<(), Failure> {
    std::env::set_current_dir(folder).map_err(|error| Failure::File {
        doing: FileStep::Entering,
        path: folder.to_owned(),
        error,
    })
}

/// The folder in which a file lies.
pub(super) fn folder_of(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_owned()
}

/// The same path wherever this process is.
pub(super) fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| Failure::File {
        doing: FileStep::Finding,
        path: path.to_owned(),
        error,
    })
}

/// A QEMU that the user named by its place, absolute; one on PATH as it is.
pub(super) fn qemu(path: Option<&Path>) -> Result<Option<PathBuf>, Failure> {
    let has_folder = |path: &Path| path.components().count() > 1 || path.is_file();
    path.map(|path| if has_folder(path) { absolute(path) } else { Ok(path.to_owned()) }).transpose()
}

/// The cells whose ids begin so, each named once.
///
/// # Errors
/// None begins so, or more than one.
pub(super) fn cells<'a>(plan: &'a Plan, named: &[String]) -> Result<Vec<&'a Cell>, Failure> {
    let find = |beginning: &String| {
        plan.cell(beginning).ok_or_else(|| {
            let count = plan.cells.iter().filter(|it| it.id.starts_with(&**beginning)).count();
            Failure::Usage {
                message: format!("--cell {beginning}: {count} cells of the plan begin so"),
                help: "`pathmeter plan status --missing` prints ids; name one, or enough of it"
                    .to_owned(),
            }
        })
    };
    let mut found: Vec<&Cell> = named.iter().map(find).collect::<Result<_, _>>()?;
    found.sort();
    found.dedup();
    Ok(found)
}
