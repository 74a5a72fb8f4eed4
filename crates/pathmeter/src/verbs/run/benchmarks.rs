//! `pathmeter run --benchmarks`: what each benchmark of a program costs, as a path of its own.

use std::ffi::OsString;

use pathmeter_measure::benchmark::Benchmarks;
use pathmeter_measure::benchmark::framework::Framework;
use pathmeter_measure::path::selection::Selection;
use pathmeter_measure::program::packed::memory_for;
use pathmeter_measure::session::{Report, Session};
use pathmeter_measure::subject::Subject;
use pathmeter_measure::subject::image::Image;
use pathmeter_model::{Measurement, Status};
use pathmeter_pack::Packed;

use super::args::RunArgs;
use crate::arguments::Words;
use crate::comparison::sides::Sides;
use crate::failure::{Exit, Failure};
use crate::packing;
use crate::screen::output::Screen;

/// Refuses what is known of a whole program only.
pub(crate) fn refuse(args: &RunArgs) -> Result<(), Failure> {
    let Some(framework) = args.benchmarks else { return Ok(()) };
    let regions_only = args.check.as_ref().is_some_and(|check| check.regions_only);
    let whole = [
        (args.explain, "--explain"),
        (args.lines, "--lines"),
        (args.returns, "--returns"),
        (!args.window.is_empty(), "--window"),
        (!args.region_function.is_empty(), "--region-function"),
        (args.only_process.is_some(), "--only-process"),
        (regions_only, "--check=regions"),
    ];
    match whole.into_iter().find(|(given, _)| *given) {
        Some((_, option)) => Err(Failure::Usage {
            message: format!("{option} is about a whole program, and --benchmarks about parts"),
            help: "leave out one of the two, or run the command of one benchmark by itself \
                   (docs/guide/benchmarks.md)"
                .to_owned(),
        }),
        None if args.iterations.is_some() && !framework.counts() => Err(Failure::Usage {
            message: format!(
                "--iterations would change nothing: {} executes one iteration",
                framework.word
            ),
            help: "leave it out".to_owned(),
        }),
        None => Ok(()),
    }
}

/// The results of both sides, or of the only one: the kernels among them are measured.
pub(crate) fn results(
    framework: Framework,
    args: &RunArgs,
    subjects: Vec<Subject>,
    screen: &Screen,
) -> Result<Vec<Measurement>, Failure> {
    let programs = pack_programs(args, screen)?;
    let needed = programs.iter().map(|packed| memory_for(packed.bytes)).max().unwrap_or(0);
    let memory = args.guest.memory.max(needed);
    let measures = programs.iter().map(|packed| {
        let benchmarks = Benchmarks {
            framework,
            packed,
            wanted: &args.only_benchmark,
            iterations: args.iterations,
            later: args.guest.runs(),
            memory,
            exit_code: args.exit_code,
        };
        move |session: &Session, image: &Image, progress: Report<'_>| {
            let sessions = [session, &session.with_memory(memory)];
            benchmarks.measure(sessions, image, progress).map_err(Failure::from)
        }
    });
    let measures: Vec<_> = measures.collect();
    let mut sides = Sides::prepare(subjects, &args.guest)?;
    if !args.across {
        sides.refuse_unlike()?;
    }
    match &measures[..] {
        [base, new] => sides.of_both([base, new], screen),
        [only, ..] => sides.results(only, screen),
        [] => Ok(Vec::new()),
    }
}

/// The program, after the one that it is compared against if there is one.
fn pack_programs(args: &RunArgs, screen: &Screen) -> Result<Vec<Packed>, Failure> {
    let (command, files) = args.packing.words();
    let against = args.against.as_ref().map(|Words(words)| &words[..]);
    let commands: Vec<&[OsString]> = against.into_iter().chain([command]).collect();
    commands.into_iter().map(|command| packing::pack(command, files, screen)).collect()
}

/// The exit code where nobody checks: benchmarks that failed were not measured.
pub(crate) fn exit(
    exit: Exit,
    result: &Measurement,
    selection: &Selection,
    is_checked: bool,
) -> Exit {
    let mut shown = result.paths.iter().filter(|path| selection.holds(&path.path));
    let failed = !is_checked && shown.any(|path| path.status == Status::Failed);
    if failed { Exit::Unmeasured } else { exit }
}
