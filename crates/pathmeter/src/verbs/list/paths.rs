//! `pathmeter list paths`: what can be measured.

use pathmeter_model::Unit;
use pathmeter_probes::Suite;
use pathmeter_report::{PathRow, paths_table};
use serde::Serialize;

use super::args::PathsArgs;
use crate::failure::{Exit, Failure};
use crate::screen::output::{self, Screen};
use pathmeter_measure::path::result::unit;

/// The document of `--json`, `pathmeter.paths/1`.
#[derive(Serialize)]
struct Paths {
    schema: &'static str,
    paths: Vec<Path>,
}

/// One path in the document.
#[derive(Serialize)]
struct Path {
    #[serde(rename = "path")]
    name: &'static str,
    unit: Unit,
    about: &'static str,
    /// Samples that each perturbed run gives.
    windows: u32,
}

pub(crate) fn run(args: &PathsArgs, screen: &Screen) -> Result<Exit, Failure> {
    let paths: Vec<Path> = Suite::Exact.paths().iter().map(describe).collect();
    if args.json {
        output::print(&output::json(&Paths { schema: "pathmeter.paths/1", paths })?)?;
    } else {
        let row = |path: &Path| PathRow { name: path.name, unit: path.unit, about: path.about };
        let rows: Vec<PathRow<'_>> = paths.iter().map(row).collect();
        output::print(paths_table(&rows, screen.style()).as_bytes())?;
    }
    Ok(Exit::Done)
}

fn describe(path: &pathmeter_probes::Path) -> Path {
    let (unit, windows) = (unit(path.kind), path.kind.samples());
    Path { name: path.name, unit, about: path.about, windows }
}
