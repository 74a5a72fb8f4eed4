//! `plan emit`: what an engine needs to run a plan.

use pathmeter_plan::{EmitError, Engine, Job, emit};

use super::args::EmitArgs;
use super::loaded::read;
use crate::failure::{Exit, Failure};
use crate::screen::output;

/// Prints the file that the engine needs.
pub(super) fn run(args: &EmitArgs) -> Result<Exit, Failure> {
    let plan = read(&args.plan)?;
    let [name, results] = [&args.plan, &args.results].map(|path| path.to_string_lossy());
    let engine = Engine::ALL.into_iter().find(|(word, _)| *word == args.engine);
    let Some((_, engine)) = engine else {
        // The command line takes no other word.
        return Ok(Exit::Usage);
    };
    let job = Job {
        plan: &name,
        results: &results,
        cells: plan.cells.len(),
        seconds: args.seconds,
        shards: plan.shards,
    };
    let text = emit(engine, &job).map_err(|error| Failure::Usage {
        help: match &error {
            EmitError::Shards(..) => "plan again with other --shards, or without",
            EmitError::Name(_) => "name files by letters, digits and / . _ + - @ , = only",
        }
        .to_owned(),
        message: error.to_string(),
    })?;
    output::print(text.as_bytes())?;
    Ok(Exit::Done)
}
