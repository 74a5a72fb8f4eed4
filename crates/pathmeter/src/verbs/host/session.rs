//! A session: paths that are executed on this machine, in processes of their own, and timed.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use pathmeter_host::{Condition, Progress, Wanted, allowed_cpus, host_paths};
use pathmeter_measure::interrupt;
use pathmeter_measure::path::selection::Selection;
use pathmeter_measure::subject::times;
use pathmeter_model::{Boots, MOST_REPLICATES, Times};

use super::args::SessionArgs;
use crate::arguments::RowArgs;
use crate::failure::Failure;
use crate::screen::output::Screen;
use crate::screen::progress::Board;

/// Batches of each side in a process.
const BATCHES: u32 = 20;

/// A session on this machine.
pub(super) fn take_times(
    args: &SessionArgs,
    shown: &dyn Fn(&str) -> bool,
    conditions: &[Condition],
    margin: f64,
    screen: &Screen,
) -> Result<Times, Failure> {
    let interrupt = interrupt::listen();
    let paths = host_paths();
    let chosen: Vec<&str> = paths.iter().map(|path| path.name).filter(|name| shown(name)).collect();
    let wanted = Wanted {
        paths: &chosen,
        conditions,
        cpu: choose_cpu(args)?,
        replicates: args.replicates(),
        most: MOST_REPLICATES,
        width: margin.ln_1p(),
        batches: BATCHES,
        seed: args.seed.unwrap_or_else(draw_number),
        delays: [0; 3],
        limit: args.limit(conditions.len()),
        interrupted: &|| interrupt.check().is_err(),
    };
    let board = Board::new(screen);
    let line = board.line("host".to_owned());
    let show = |Progress { done, all }: Progress| line.show_share(done, all);
    Ok(pathmeter_host::measure(&wanted, &show)?)
}

/// The CPU to execute on.
pub(super) fn choose_cpu(args: &SessionArgs) -> Result<u32, Failure> {
    let cpus = allowed_cpus();
    match args.pin {
        Some(cpu) if !cpus.contains(&cpu) => Err(refuse_cpu(cpu, &cpus)),
        Some(cpu) => Ok(cpu),
        None => Ok(cpus.last().copied().unwrap_or(0)),
    }
}

fn refuse_cpu(cpu: u32, cpus: &[u32]) -> Failure {
    let all: Vec<String> = cpus.iter().map(ToString::to_string).collect();
    Failure::Usage {
        message: format!("--pin {cpu}: this process may not execute on CPU {cpu}"),
        help: format!("name one of {}", all.join(", ")),
    }
}

/// Another number each time: nothing but an order is drawn from it, and the document keeps it.
fn draw_number() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::from(now.subsec_nanos()) << 20 ^ now.as_secs()
}

/// Refuses options of a session where `document` has the times.
pub(super) fn refuse_idle(session: &SessionArgs, document: &Path) -> Result<(), Failure> {
    session.first_given().map_or(Ok(()), |option| Err(would_change_nothing(option, document)))
}

/// That an option is about measuring, and `document` was measured.
pub(super) fn would_change_nothing(option: &str, document: &Path) -> Failure {
    let document = document.display();
    Failure::Usage {
        message: format!(
            "{option} would change nothing: {document} is a document, so nothing is run"
        ),
        help: "leave it out, or leave out the document, to measure this machine".to_owned(),
    }
}

/// The paths that are shown, of those that a host has and of those in the documents.
pub(super) fn select(rows: &RowArgs, documents: &[&Path]) -> Result<Selection, Failure> {
    let documents = documents.iter().map(|path| times(path)).collect::<Result<Vec<Boots>, _>>()?;
    let paths = host_paths();
    let sessions = documents.iter().flat_map(|boots| &boots.boots);
    let of_documents = sessions.flat_map(|times| &times.paths);
    let known: Vec<&str> =
        paths.iter().map(|path| path.name).chain(of_documents.map(|path| &*path.path)).collect();
    Ok(Selection::new(&rows.only.only, &known)?)
}
