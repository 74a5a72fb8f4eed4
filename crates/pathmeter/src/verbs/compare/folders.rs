//! `pathmeter compare OLD-FOLDER NEW-FOLDER`: the results of two plans, compared cell by cell.
//!
//! Contract: as for two results, a comparison that shows more than the kernel is refused, and what
//! was not compared does not pass `--check`. No cell is left out without being named.

use std::path::Path;

use pathmeter_gate::Gate;
use pathmeter_model::{CellPairs, Comparison, FolderComparison, Measurement, Verdict, differences};
use pathmeter_report::{Format, folder_comparison_table, name_cells};

use super::args::CompareArgs;
use super::request::{formats, judge};
use crate::comparison::judge::note_uncompared;
use crate::comparison::sides::refuse_few;
use crate::failure::{Exit, Failure};
use crate::results_folder::read_results;
use crate::screen::formats::Formats;
use crate::screen::output::{self, Screen};

/// Compares the results of both folders, in pairs, and puts the comparisons out.
pub(super) fn compare(args: &CompareArgs, screen: &Screen) -> Result<Exit, Failure> {
    refuse_options(args)?;
    let names = args.names();
    let folders = Failure::gather(names.iter().map(|folder| read_results(folder)))?;
    let all: Vec<&Measurement> = folders.iter().flatten().collect();
    refuse_few(all.iter().filter_map(|result| result.later_runs()).min())?;
    let paths = all.iter().flat_map(|result| &result.paths).map(|path| &*path.path).collect();
    let judge = judge(args, paths, &[], screen)?;
    let formats = formats(args, &names, screen)?;
    let CellPairs { pairs, alone } = find_pairs(folders, &names)?;
    refuse_unlike(&pairs, args.across)?;
    if let Some(pair) = pairs.iter().find(|[base, new]| is_of_two_qemus(base, new)) {
        note_uncompared(pair, screen);
    }
    let judged = pairs.into_iter().map(|pair| judge.compare(pair));
    let (comparisons, gates): (_, Vec<Gate>) = Failure::gather(judged)?.into_iter().unzip();
    let document = FolderComparison::new(comparisons, [&alone[0], &alone[1]]);
    let delivered = deliver(&document, &formats, args.rows.all, screen);
    if judge.check.is_none() {
        let is_broken = |it: &Comparison| it.summary.count(Verdict::Broken) > 0;
        let broken = document.comparisons.iter().any(is_broken);
        return delivered.map(|()| if broken { Exit::Unmeasured } else { Exit::Done });
    }
    exit(&document, &gates, delivered, screen)
}

/// Refuses options that are about one comparison.
fn refuse_options(args: &CompareArgs) -> Result<(), Failure> {
    let given = [
        ("--format", args.formats.format.is_some()),
        ("--write", !args.formats.write.is_empty()),
        ("--times", !args.times.is_empty()),
    ];
    let Some((option, _)) = given.into_iter().find(|(_, given)| *given) else { return Ok(()) };
    Err(Failure::Usage {
        message: format!(
            "{option} is about one comparison, and {} is a folder of several results",
            args.base.display()
        ),
        help: "name a result of each folder; or leave it out, since --json has all comparisons"
            .to_owned(),
    })
}

/// Pairs the results of both folders.
///
/// # Errors
/// There is no pair.
fn find_pairs(folders: Vec<Vec<Measurement>>, names: &[&Path]) -> Result<CellPairs, Failure> {
    let mut folders = folders.into_iter();
    let mut next = || folders.next().unwrap_or_default();
    let found = CellPairs::find(next(), next());
    if !found.pairs.is_empty() {
        return Ok(found);
    }
    let names: Vec<String> = names.iter().map(|name| name.display().to_string()).collect();
    Err(Failure::Usage {
        message: format!(
            "no result of {} was measured like one of {}, but for the kernel",
            names[0],
            names.last().unwrap_or(&names[0])
        ),
        help: "results are paired by CPU, condition, program, memory, runs and command line, and, \
               if a folder has several kernels, by the kernels' names; compare two results by \
               naming their files"
            .to_owned(),
    })
}

/// Numbers that depend on more than the kernel show nothing about the kernel.
fn refuse_unlike(pairs: &[[Measurement; 2]], across: bool) -> Result<(), Failure> {
    if across {
        return Ok(());
    }
    let like = pairs.iter().map(|[base, new]| {
        let differences = differences(base, new);
        if differences.is_empty() {
            return Ok(());
        }
        let [base, new] = [base, new].map(|it| it.subject.name.clone());
        Err(Failure::Unlike { base, new, differences })
    });
    Failure::gather(like).map(drop)
}

fn is_of_two_qemus(base: &Measurement, new: &Measurement) -> bool {
    base.configuration.qemu != new.configuration.qemu
}

/// Puts the comparisons out, with their tables if `all` is wanted.
fn deliver(
    document: &FolderComparison,
    formats: &Formats<'_>,
    all: bool,
    screen: &Screen,
) -> Result<(), Failure> {
    let shown = all.then_some(formats.shown);
    let table =
        |document: &FolderComparison, style| folder_comparison_table(document, shown, style);
    formats.places.deliver(document, table, |_: Format| String::new(), screen)
}

/// What the gates say, each with its cell, even if not all could be put out: the worst counts.
fn exit(
    document: &FolderComparison,
    gates: &[Gate],
    delivered: Result<(), Failure>,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let mut failures = match delivered {
        Err(Failure::Interrupted) => return Err(Failure::Interrupted),
        delivered => delivered.err().into_iter().collect::<Vec<_>>(),
    };
    let names = name_cells(document);
    let cells = names.iter().zip(gates);
    let new = cells.clone().flat_map(|(cell, gate)| {
        gate.new_paths().iter().map(move |path| format!("{cell}: {path}"))
    });
    let (compared, alone) = names.split_at(gates.len());
    let (only_base, only_new) = alone.split_at(document.only_base.len());
    for what in new.chain(only_new.iter().cloned()) {
        screen.note(&format!("{what} was not compared: BASE has no result for it"));
    }
    let fails = compared.iter().zip(gates);
    let fails = fails
        .flat_map(|(cell, gate)| gate.fails().into_iter().map(move |why| format!("{cell}: {why}")));
    output::fails(&fails.collect::<Vec<_>>());
    failures.extend(cells.filter_map(|(cell, gate)| {
        let message = format!("{cell}: {}", gate.failure()?);
        Some(Failure::Unchecked { message })
    }));
    failures.extend((!only_base.is_empty()).then(|| Failure::Unchecked {
        message: format!("--check could not compare {} (only in BASE)", only_base.join(", ")),
    }));
    let failed = (!failures.is_empty()).then(|| screen.report(&Failure::all(failures)));
    Ok(match failed {
        Some(Exit::Interrupted) => Exit::Interrupted,
        _ if gates.iter().any(Gate::is_worse) => Exit::Worse,
        failed => failed.unwrap_or(Exit::Done),
    })
}
