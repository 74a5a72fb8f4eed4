//! `plan merge`: folders of results joined into one.

use pathmeter_plan::{Folder, MergeError, merge};

use super::node::failed;
use crate::cli::MergeArgs;
use crate::screen::output::{self, Screen, print_line};
use pathmeter_measure::failure::{Exit, Failure};

/// Joins the folders.
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
    for damaged in &merged.damaged {
        screen.note(&format!("{} is no result, and was left out", damaged.display()));
    }
    let (results, new) = (merged.results, merged.new);
    output::print(format!("{results} results, {new} of them new\n").as_bytes())?;
    Ok(Exit::Done)
}
