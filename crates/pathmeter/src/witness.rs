//! `pathmeter witness`: the paths of a kernel in QEMU and in Bochs, a second interpreter.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use pathmeter_catalogue::{Kind, Suite};
use pathmeter_report::{WitnessRow, Witnessed, WitnessedCounts, witness_table};
use pathmeter_trace::{Event, WindowEvents};
use pathmeter_vm::{Bochs, Cpu, PathOutcome, PathStatus, WITNESS_CPU};

use crate::cli::{GuestArgs, WitnessArgs};
use crate::failure::{Exit, Failure};
use crate::image::Image;
use crate::interrupt;
use crate::output::{self, Screen};
use crate::progress::Board;
use crate::session::Session;
use crate::setup;
use crate::subject::Subject;

/// Measures each subject in both, and prints a table of each.
pub(crate) fn run(args: &WitnessArgs, screen: &Screen) -> Result<Exit, Failure> {
    let guest = with_common_cpu(&args.guest)?;
    let names: Vec<PathBuf> = args
        .subjects
        .iter()
        .map(|name| match Subject::open(name)? {
            Subject::Kernel(path) => Ok(path),
            Subject::Result(_) => Err(Failure::Usage {
                message: format!("{} is a result", name.display()),
                help: "name a kernel: it is executed in two interpreters".to_owned(),
            }),
        })
        .collect::<Result<_, _>>()?;
    let interrupt = interrupt::listen();
    let bochs = Bochs::find(args.bochs.as_deref(), &interrupt).map_err(Failure::Host)?;
    let names: Vec<_> = names.iter().map(PathBuf::as_path).collect();
    let (session, images) = setup::prepare(&guest, interrupt, &names)?;
    let mut all_agree = true;
    for image in &images {
        let (title, rows) = witnessed(&session, &bochs, image, screen)?;
        let table = witness_table(&rows, screen.style());
        output::print(format!("{title}\n\n{table}\n").as_bytes())?;
        all_agree &= rows.iter().all(agrees);
    }
    Ok(if all_agree { Exit::Done } else { Exit::Worse })
}

/// The arguments, with the CPU that both interpreters have.
fn with_common_cpu(guest: &GuestArgs) -> Result<GuestArgs, Failure> {
    if guest.cpu.is_empty() {
        return Ok(GuestArgs { cpu: vec![Cpu::named(WITNESS_CPU)], ..guest.clone() });
    }
    Err(Failure::Usage {
        message: "--cpu can't be chosen here".to_owned(),
        help: "both interpreters have the same CPU: what each can execute of it".to_owned(),
    })
}

fn agrees(row: &WitnessRow) -> bool {
    match &row.witnessed {
        Witnessed::Both(counts) => counts.agree(),
        Witnessed::Not(_) => true,
    }
}

/// What was measured, and a row for each path that has windows.
fn witnessed(
    session: &Session,
    bochs: &Bochs,
    image: &Image,
    screen: &Screen,
) -> Result<(String, Vec<WitnessRow>), Failure> {
    let board = Board::new(screen);
    let line = board.line(format!("{} in QEMU", image.subject().name));
    let report = |progress: pathmeter_vm::Progress<'_>| line.show(progress);
    let (outcomes, counted) = session.count(image, &report)?;
    line.clear();
    let line = board.line(format!("{} in Bochs", image.subject().name));
    let seen = session.witness(image, bochs, &|progress| line.show(progress))?;
    line.clear();
    let paths = Suite::Exact.paths().iter().enumerate();
    let paths = paths.filter(|(_, path)| matches!(path.kind, Kind::Windows(_)));
    let rows = paths.map(|(index, path)| WitnessRow {
        path: path.name.to_owned(),
        witnessed: judged(
            counted.run_windows(index, &outcomes[index]),
            &outcomes[index],
            &seen[index],
        ),
    });
    let title = format!(
        "{}: QEMU {} and Bochs {}",
        image.subject().name,
        session.qemu_version(),
        bochs.version
    );
    Ok((title, rows.collect()))
}

/// What both saw of a path: QEMU's windows with their events, and Bochs' samples.
fn judged(
    windows: Result<Vec<&WindowEvents>, String>,
    in_qemu: &PathOutcome,
    in_bochs: &PathOutcome,
) -> Witnessed {
    if let Some(reason) = trouble("QEMU", in_qemu).or_else(|| trouble("Bochs", in_bochs)) {
        return Witnessed::Not(reason);
    }
    let windows = match windows {
        Ok(windows) if !windows.is_empty() => windows,
        Ok(_) => return Witnessed::Not("QEMU: no windows".to_owned()),
        Err(reason) => return Witnessed::Not(format!("QEMU: {reason}")),
    };
    let samples: Vec<u64> = in_bochs.runs.concat();
    compared(&windows, &samples).unwrap_or_else(|| Witnessed::Not("Bochs: no windows".to_owned()))
}

fn trouble(interpreter: &str, outcome: &PathOutcome) -> Option<String> {
    match &outcome.status {
        PathStatus::Ok => None,
        PathStatus::Unsupported(reason) | PathStatus::Failed(reason) => {
            Some(format!("{interpreter}: {reason}"))
        }
    }
}

fn compared(windows: &[&WindowEvents], samples: &[u64]) -> Option<Witnessed> {
    let expected =
        |window: &WindowEvents| window.events.of(Event::Clock).saturating_sub(window.checks);
    // Of windows that take as long in Bochs, the first that most others are like.
    let mut known: BTreeMap<u64, HashMap<&WindowEvents, usize>> = BTreeMap::new();
    for window in windows {
        *known.entry(expected(window)).or_default().entry(window).or_default() += 1;
    }
    let mut seen: BTreeMap<u64, usize> = BTreeMap::new();
    for sample in samples {
        *seen.entry(*sample).or_default() += 1;
    }
    let most = |seen: &mut dyn Iterator<Item = (u64, usize)>| {
        seen.max_by_key(|(value, times)| (*times, std::cmp::Reverse(*value)))
            .map(|(value, _)| value)
    };
    let mut shared = seen.iter().filter(|(value, _)| known.contains_key(value));
    let alike: usize = shared.clone().map(|(_, times)| times).sum();
    let agreed = most(&mut shared.by_ref().map(|(value, times)| (*value, *times)));
    let in_bochs = agreed.or_else(|| most(&mut seen.iter().map(|(v, n)| (*v, *n))))?;
    let in_qemu = agreed.or_else(|| {
        most(&mut known.iter().map(|(value, windows)| (*value, windows.values().sum())))
    })?;
    let like = known.get(&in_qemu)?;
    let window = like
        .iter()
        .max_by_key(|(window, times)| (**times, std::cmp::Reverse(window.events.retired())))?
        .0;
    Some(Witnessed::Both(WitnessedCounts {
        retired: window.events.retired(),
        string_bytes: window.events.of(Event::StringBytes),
        clock: window.events.of(Event::Clock),
        checks: window.checks,
        bochs: in_bochs,
        windows: samples.len(),
        shared: alike,
    }))
}
