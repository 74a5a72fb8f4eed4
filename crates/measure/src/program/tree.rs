//! The call tree of one row, or of one region, of a packed program on a kernel.
//!
//! Contract: in each run, not only in the one that is shown, the instructions of all nodes add up
//! to the row's; or there is no tree.

use std::collections::{BTreeMap, BTreeSet};

use pathmeter_model::suggestion::suggest;
use pathmeter_model::{ProgramRun, RowKind, lower_median, row_name};
use pathmeter_trace::{
    Account, AccountTree, Accounts, AlsoCounted, BlockFunction, BlockNames, Explain, KernelPlaces,
    Owner, ProgramFunction, ProgramTree, RecordedWindows, Resolve, SourceLine, SubjectWindow,
    TreeCell, UNNAMED, VECTOR, WindowTree, class_table, program_tree, start_lines,
};
use pathmeter_vm::{Accounting, RanProgram};

use crate::error::MeasureError;
use crate::path::additions::REGIONS;
use crate::program::code::{PackedCode, ProgramCode};
use crate::program::debug_file::DebugFile;
use crate::program::failure::unmeasured;
use crate::program::jit_code::JitCode;
use crate::program::kernel_names::{KernelNames, row_name as name_of_id};
use crate::program::packed::PackedProgram;
use crate::program::processes::process_names;
use crate::program::result::{ended_well, kernel_names};
use crate::program::runs::{Accounted, account_runs};
use crate::recording::{Inlined, Names};
use crate::session::{Report, Session};
use crate::subject::image::Image;

/// Changes whenever a change that the key can't see makes old trees wrong.
const FORMAT: &str = "4";

/// What is to be explained.
#[derive(Clone, Copy)]
pub struct AskedTree<'a> {
    pub packed: &'a PackedProgram,
    /// The row, as tables name it; a region as `user.NAME`.
    pub row: &'a str,
    /// The program's functions that are regions.
    pub regions: &'a [ProgramFunction],
    /// Whether the calls of the program that lead to the row are told as well.
    pub callers: bool,
}

/// The tree of the row on the kernel in `image`, from the cache or counted now by the second
/// session, whose guests have memory for the program: of the run after the
/// first that has the row's median, or of the first itself if there is no other.
///
/// # Errors
/// The program has no such row, did not end as expected, or what was counted does not add up.
pub fn row_tree(
    [session, guests]: [&Session; 2],
    image: &Image,
    asked: &AskedTree<'_>,
    progress: Report<'_>,
) -> Result<SubjectWindow, MeasureError> {
    let condition = asked.packed.with_offsets(&guests.settings_of(image).condition)?;
    let parcel = asked.packed.parcel_under(&condition);
    let debug: Vec<DebugFile> = asked.packed.files().map(|file| DebugFile::find(&file)).collect();
    let make = || {
        let kernel = kernel_names(session, image, &[], progress)?;
        let names = Names::new(session, image, Inlined::InCallers, progress)?;
        let wanted = Wanted::find(image, asked.row, &kernel.places)?;
        let mut places = kernel.places.table(asked.regions, &[]);
        let code = PackedCode::read(asked.packed.files(), debug.iter().cloned());
        places.extend_from_slice(wanted.lines(asked.callers).as_bytes());
        places.extend_from_slice(code.start_lines().as_bytes());
        let kallsyms = session.symbols(image, progress)?;
        let starts = start_lines(&kallsyms);
        let starts = starts.map_err(|error| unmeasured(image, error.to_string()))?;
        places.extend_from_slice(starts.as_bytes());
        let accounting = Accounting {
            places: &places,
            points: kernel.windows.table.as_bytes(),
            classes: &class_table(false),
            runs: asked.packed.runs(),
            functions: false,
            lines: false,
            perf_maps: true,
        };
        let read = &|stream| pathmeter_trace::accounts(stream);
        let ran = guests.run_program(image, &parcel, accounting, read, progress)?;
        window(guests, image, (asked, &wanted), (&kernel, &names, &code), ran)
    };
    if image.debug_info(progress)?.is_some() {
        return make();
    }
    let debug: Vec<_> = debug.iter().filter(|it| **it != DebugFile::default()).collect();
    let AskedTree { packed, row, regions, callers } = asked;
    let document =
        format!("tree {FORMAT} {row} {callers} {} {regions:?} {debug:?}", packed.expected);
    let key = guests.program_key(image, &parcel, &document);
    let parse = |bytes: &[u8]| {
        let window: SubjectWindow = serde_json::from_slice(bytes).ok()?;
        Explain::new(window.clone(), None).check().ok().map(|()| window)
    };
    let window = guests.cached(image, key, progress, parse, make)?;
    Ok(SubjectWindow { name: image.subject().name, ..window })
}

/// The trees of two rows of one program on the kernel in `image`, base first, each as [`row_tree`]
/// finds it. The program is executed once for each, from the same snapshot.
///
/// # Errors
/// As [`row_tree`]; what the kernel has no row of is told of both, before the program is executed.
pub fn two_row_trees(
    sessions: [&Session; 2],
    image: &Image,
    [base, new]: [AskedTree<'_>; 2],
    progress: Report<'_>,
) -> Result<[SubjectWindow; 2], MeasureError> {
    let kernel = kernel_names(sessions[0], image, &[], progress)?;
    let find = |asked: AskedTree<'_>| Wanted::find(image, asked.row, &kernel.places).map(drop);
    MeasureError::both(find(base), find(new))?;
    let base = row_tree(sessions, image, &base, progress)?;
    Ok([base, row_tree(sessions, image, &new, progress)?])
}

/// Whether the row's tree always begins with the outermost functions of each process.
pub fn has_callers(row: &str) -> bool {
    row.starts_with(REGIONS) || row == row_name(RowKind::User, "")
}

/// Refuses what can be seen to be no row's name without a kernel.
///
/// # Errors
/// What regions are called.
pub fn refuse_odd_row(row: &str) -> Result<(), MeasureError> {
    row.strip_prefix(REGIONS).map_or(Ok(()), refuse_odd)
}

/// The row or region whose tree is wanted.
struct Wanted<'a> {
    /// As the user named it.
    name: &'a str,
    region: Option<&'a str>,
    /// Kinds and ids of rows that have this name.
    rows: Vec<(RowKind, u32)>,
}

/// Kinds of rows that have no names in a kernel's symbol table, and their ids.
const UNNAMED_ROWS: [RowKind; 4] =
    [RowKind::User, RowKind::Softirq, RowKind::NewTask, RowKind::KernelThread];
/// Kinds of rows that have.
const NAMED_ROWS: [RowKind; 4] =
    [RowKind::Syscall, RowKind::Syscall32, RowKind::Exception, RowKind::Interrupt];
/// Error codes of page faults that are told apart.
const ERROR_CODES: u32 = 32;
const VECTORS: u32 = 256;
/// Longest name of a region that the plugin takes, in bytes.
const LONGEST_REGION: usize = 127;

/// Refuses what can't be a region's name.
fn refuse_odd(region: &str) -> Result<(), MeasureError> {
    let is_name = (1..=LONGEST_REGION).contains(&region.len());
    if is_name && region.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(());
    }
    Err(MeasureError::Request {
        message: format!("{REGIONS}{region}: no region has such a name"),
        help: "regions have names of 1 to 63 bytes of [A-Za-z0-9._+-]".to_owned(),
    })
}

/// Kinds and ids of the rows with this name, as tables have it.
///
/// # Errors
/// There are none: what was probably meant.
fn find_rows(name: &str, places: &KernelPlaces) -> Result<Vec<(RowKind, u32)>, String> {
    let names = (0..).map_while(|id| places.name(id).map(|_| id)).chain([UNNAMED]);
    let named = names.flat_map(|id| NAMED_ROWS.map(|kind| (kind, id)));
    let vectors = (0..VECTORS).map(|vector| (RowKind::Interrupt, VECTOR | vector));
    let codes = || (0..ERROR_CODES).chain([UNNAMED]);
    let faults = [RowKind::PageFault, RowKind::InterpreterFault];
    let faults = faults.into_iter().flat_map(|kind| codes().map(move |code| (kind, code)));
    let all = UNNAMED_ROWS.map(|kind| (kind, 0)).into_iter().chain(faults).chain(vectors);
    let all: BTreeMap<(RowKind, u32), String> = all
        .chain(named)
        .map(|(kind, id)| ((kind, id), row_name(kind, &name_of_id(kind, id, places))))
        .collect();
    let rows: Vec<_> = all.iter().filter(|row| row.1 == name).map(|row| *row.0).collect();
    if rows.is_empty() {
        return Err(suggest(name, &all.values().map(String::as_str).collect::<Vec<_>>()));
    }
    Ok(rows)
}

impl<'a> Wanted<'a> {
    fn find(image: &Image, name: &'a str, places: &KernelPlaces) -> Result<Self, MeasureError> {
        refuse_odd_row(name)?;
        if let Some(region) = name.strip_prefix(REGIONS) {
            return Ok(Self { name, region: Some(region), rows: Vec::new() });
        }
        let rows = find_rows(name, places).map_err(|meant| MeasureError::Request {
            message: format!("{name}: a program has no such row on {}", image.name().display()),
            help: meant
                + "`pathmeter run KERNEL --all -- PROGRAM` shows the rows; a region is user.NAME",
        })?;
        Ok(Self { name, region: None, rows })
    }

    fn lines(&self, callers: bool) -> String {
        KernelPlaces::tree_lines(&self.rows, self.region, callers)
    }

    /// Whether a cell belongs to this row; no other region has any.
    fn has(&self, cell: &TreeCell) -> bool {
        match self.region {
            Some(_) => cell.kind == RowKind::Region,
            None => self.rows.contains(&(cell.kind, cell.id)),
        }
    }

    /// How often it was executed in a run, and its instructions, if all of these were kept.
    fn of_run(&self, run: &ProgramRun, regions: &Regions) -> (u64, Option<u64>) {
        if self.region.is_some() {
            return *regions;
        }
        let named = run.rows.iter().filter(|row| row_name(row.kind, &row.name) == self.name);
        let add = |sum: (u64, u64), more: (u64, u64)| (sum.0 + more.0, sum.1 + more.1);
        let (calls, instructions) =
            named.map(|row| (row.calls, row.instructions)).fold((0, 0), add);
        (calls, Some(instructions))
    }
}

/// How often the wanted region was executed, and its instructions, if none were left out.
type Regions = (u64, Option<u64>);

fn find_executed(account: &Account, region: Option<&str>) -> Regions {
    let all = account.regions.iter();
    let Some(found) = all.clone().find(|it| Some(&*it.name) == region) else {
        return (0, Some(0));
    };
    let whole = found.windows.len() as u64 == found.count;
    let sum = || found.windows.iter().fold(0, |sum: u64, it| sum.saturating_add(it.instructions));
    (found.count, whole.then(sum))
}

/// What a run has of the tree.
struct TreeRun {
    tree: AccountTree,
    regions: Regions,
    processes: BTreeMap<Owner, String>,
}

fn window(
    session: &Session,
    image: &Image,
    (asked, wanted): (&AskedTree<'_>, &Wanted<'_>),
    (kernel, names, packed): (&KernelNames, &Names, &PackedCode<'_>),
    mut ran: RanProgram<Accounts>,
) -> Result<SubjectWindow, MeasureError> {
    ended_well(image, asked.packed, &ran)?;
    let clocks: Vec<u64> = ran.runs.iter().map(|run| run.clock).collect();
    let accounts = &mut ran.counts;
    let regions = region_names(accounts);
    let trees = accounts.runs.iter_mut().flatten().map(|account| TreeRun {
        tree: account.tree.take().unwrap_or_default(),
        regions: find_executed(account, wanted.region),
        processes: process_names(&account.processes),
    });
    let trees: Vec<TreeRun> = trees.collect();
    let pages = std::mem::take(&mut accounts.pages);
    let Accounted { runs, .. } = account_runs(ran.counts, &clocks, kernel, AlsoCounted::default())
        .map_err(|what| unmeasured(image, what))?;
    let totals = totals(wanted, &trees, &runs).map_err(|what| unmeasured(image, what))?;
    let names_of_all = || row_names(&runs).chain(regions).collect::<BTreeSet<_>>();
    let shown = choose_run(&totals).ok_or_else(|| none(image, wanted, &names_of_all(), &totals))?;
    let of_run = ran.perf_maps.iter().filter(|map| map.run == shown as u64);
    let code = ProgramCode::find(&pages, packed, JitCode::read(of_run));
    let named = TreeNames { kernel: names, code: &code, processes: &trees[shown].processes };
    let number = shown as u64 + 1;
    let tree = program_tree(&trees[shown].tree, number, |cell| wanted.has(cell), &named);
    let (calls, _) = wanted.of_run(&runs[shown], &trees[shown].regions);
    let of_tree = &trees[shown].tree;
    let program = ProgramTree {
        command: asked.packed.command().to_vec(),
        run: number,
        calls,
        deeper: of_tree.deeper,
        beyond: of_tree.beyond,
        without_symbols: code.without_symbols(),
        unused_debug: code.unused_debug(),
        unnamed_code: code.has_unnamed(),
    };
    subject(session, image, (wanted.name, program), (tree, &totals))
}

fn subject(
    session: &Session,
    image: &Image,
    (path, program): (&str, ProgramTree),
    (window, totals): (WindowTree, &[u64]),
) -> Result<SubjectWindow, MeasureError> {
    let later = &totals[usize::from(totals.len() > 1)..];
    let subject = SubjectWindow {
        path: path.to_owned(),
        name: image.subject().name,
        image_sha256: image.sha256().to_owned(),
        measured_with: Some(session.measured_with(image)),
        windows: RecordedWindows {
            recorded: later.len() as u64,
            interrupted: 0,
            unstamped: 0,
            alike: later.iter().filter(|total| **total == window.total).count() as u64,
        },
        idle: 0,
        program: Some(program),
        window,
    };
    let checked = Explain::new(subject.clone(), None).check();
    checked.map_err(|fault| unmeasured(image, format!("the call tree of {path}: {fault}")))?;
    Ok(subject)
}

/// The instructions in the trees of all runs, each of which must be those of the row.
fn totals(wanted: &Wanted<'_>, trees: &[TreeRun], runs: &[ProgramRun]) -> Result<Vec<u64>, String> {
    let total = |(number, (tree, run)): (usize, (&TreeRun, &ProgramRun))| {
        let cells = tree.tree.cells.iter().filter(|cell| wanted.has(cell));
        let sum = cells.fold(0, |sum: u64, cell| sum.saturating_add(cell.instructions));
        match wanted.of_run(run, &tree.regions).1 {
            Some(counted) if counted != sum => Err(format!(
                "run {}: {} has {counted} instructions, but {sum} in its call tree: that is worth \
                 a report",
                number + 1,
                wanted.name
            )),
            _ => Ok(sum),
        }
    };
    trees.iter().zip(runs).enumerate().map(total).collect()
}

/// Chooses the run that stands for all: the first of the later ones that has their median. None if
/// the row has no instruction there.
fn choose_run(totals: &[u64]) -> Option<usize> {
    let first = usize::from(totals.len() > 1);
    let median = lower_median(totals.iter().skip(first).copied());
    let found = totals.iter().skip(first).position(|total| *total == median)?;
    (median > 0).then_some(found + first)
}

/// The regions that the program marked in any run, as rows are named.
fn region_names(accounts: &Accounts) -> BTreeSet<String> {
    let regions = accounts.runs.iter().flatten().flat_map(|account| &account.regions);
    regions.map(|region| format!("{REGIONS}{}", region.name)).collect()
}

/// The rows of all runs, as tables have them.
fn row_names(runs: &[ProgramRun]) -> impl Iterator<Item = String> {
    runs.iter().flat_map(|run| &run.rows).map(|row| row_name(row.kind, &row.name))
}

/// The program, which has the rows and regions `names`, does not execute what is wanted.
fn none(
    image: &Image,
    wanted: &Wanted<'_>,
    names: &BTreeSet<String>,
    totals: &[u64],
) -> MeasureError {
    let first = totals.first().is_some_and(|total| *total > 0);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let what = if first {
        format!("{} is in the first run only, which is cold", wanted.name)
    } else {
        format!("the program has no {}", wanted.name)
    };
    let proposed = if first { String::new() } else { suggest(wanted.name, &names) };
    let help = proposed + "`pathmeter run KERNEL --all -- PROGRAM` shows its rows and regions";
    MeasureError::Program {
        subject: image.name().to_owned(),
        what,
        help: Some(help),
        stdout: Vec::new(),
        stderr: Vec::new(),
    }
}

/// Names of the kernel's code and the program's, and of its processes.
struct TreeNames<'a> {
    kernel: &'a Names,
    code: &'a ProgramCode<'a>,
    processes: &'a BTreeMap<Owner, String>,
}

impl BlockNames for TreeNames<'_> {
    fn function(&self, block: u64) -> Option<BlockFunction> {
        if block >> 63 == 0 {
            return self.code.function(block);
        }
        let found = self.kernel.resolve(block)?;
        Some(BlockFunction {
            name: found.name.to_owned(),
            module: found.module.map(str::to_owned),
            offset: found.offset,
            address: block,
        })
    }

    fn nameless(&self, block: u64) -> (String, Option<String>) {
        match block >> 63 {
            0 => self.code.nameless(block),
            _ => (format!("{block:#x}"), None),
        }
    }

    fn process(&self, number: u64) -> String {
        let owner = match number {
            0 => return "[no process of the program]".to_owned(),
            number if number == u64::from(UNNAMED) => Owner::Beyond,
            number => Owner::Process(usize::try_from(number - 1).unwrap_or(usize::MAX)),
        };
        self.processes
            .get(&owner)
            .map_or_else(|| "[program]".to_owned(), |name| format!("[{name}]"))
    }

    fn line(&self, block: u64, function: &BlockFunction) -> Option<SourceLine> {
        let entry = function.address.wrapping_sub(function.offset);
        if block >> 63 == 0 {
            return self.code.line(block, entry);
        }
        let kernel = function.module.is_none().then(|| self.kernel.lines(entry));
        kernel?.into_iter().next()
    }
}

#[cfg(test)]
mod tests;
