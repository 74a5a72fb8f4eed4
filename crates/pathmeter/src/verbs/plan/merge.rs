//! `plan merge`: folders of results joined into one.

use pathmeter_plan::{Folder, Left, MergeError, merge};

use super::args::MergeArgs;
use super::node::failed;
use crate::failure::{Exit, Failure};
use crate::screen::formats;
use crate::screen::output::{self, Screen, print_line};
use pathmeter_measure::error::MeasureError;

/// What to do about a result that was left out.
const LOST: &str = "no folder has this cell's result: have it measured again, pathmeter plan run \
                    PLAN --results FOLDER, and join the folders again";

pub(super) fn run(args: &MergeArgs, screen: &Screen) -> Result<Exit, Failure> {
    let sources = args.folders.iter().map(|path| Folder::open(path).map_err(failed));
    let sources = Failure::gather(sources)?;
    let out = Folder::create(&args.output).map_err(failed)?;
    let merged = match merge(&sources, &out) {
        Ok(merged) => merged,
        Err(MergeError::Folder(error)) => return Err(failed(error)),
        Err(conflict) => {
            print_line(&format!("finding: {conflict}; nothing was joined"));
            return Ok(Exit::Worse);
        }
    };
    for Left { path, what, .. } in merged.left.iter().filter(|left| !left.is_lost) {
        screen.note(&format!("{} was left out, and is in another folder: {what}", path.display()));
    }
    let (results, new) = (merged.results, merged.new);
    output::print(format!("{results} results, {new} of them new\n").as_bytes())?;
    let lost = merged.left.into_iter().filter(|left| left.is_lost);
    let lost = lost.map(|Left { path, what, .. }| {
        Failure::from(MeasureError::PlanResult { path, what, help: LOST })
    });
    formats::failed(lost.collect())?;
    Ok(Exit::Done)
}
