//! `pathmeter explain`: which functions a path's instructions, or a difference's, are in.
//!
//! The guest is restored once more, the recorder writes down every instruction of the path's windows,
//! and the decoder makes the call tree of the most frequent one. Its total is checked against what
//! the guest's own clock said of the same windows.

use std::iter;
use std::path::{Path, PathBuf};
use std::thread;

use pathmeter_debuginfo::{DebugInfo, DebugInfoError, Fault, Frame};
use pathmeter_report::{callgrind, explanation, flame_graph, folded_stacks};
use pathmeter_trace::{
    Explain, Location, Recording, Resolve, SourceLine, Stop, SubjectWindow, Symbols, decode,
};
use pathmeter_vm::{Interrupt, PathOutcome, Progress, Status};

use crate::cli::{ExplainArgs, ExplainOutput};
use crate::exact::{self, Exact, Image, LONGEST_WINDOW, MOST_TRACED, joined};
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::output::{self, Screen};
use crate::progress::{Board, Line};
use crate::selection;
use crate::subject;

/// Records the path, and puts out where its instructions are.
pub(crate) fn run(args: &ExplainArgs, screen: &Screen) -> Result<Exit, Failure> {
    args.output.files().try_for_each(output::check_writable)?;
    let explain = explained(args, interrupt::listen()?, screen)?;
    deliver(&args.output, &explain, screen)?;
    Ok(Exit::Done)
}

/// Where the path's instructions are, or the difference to another kernel or path.
pub(crate) fn explained(
    args: &ExplainArgs,
    interrupt: Interrupt,
    screen: &Screen,
) -> Result<Explain, Failure> {
    let path = Walked::find(&args.path)?;
    subject::refuse_results(iter::once(&args.subject).chain(&args.new))?;
    let board = Board::new(screen);
    match (&args.new, &args.against) {
        (Some(new), _) => two_kernels(args, path, [&args.subject, new], interrupt, &board),
        (None, Some(base)) => two_paths(args, [Walked::find(base)?, path], interrupt, &board),
        (None, None) => {
            let (exact, [image]) = exact::prepare(&args.guest, interrupt, [&args.subject])?;
            let line = board.line(image.subject().name);
            let side = Side { image: &image, path, vmlinux: args.vmlinux.as_deref(), line };
            Ok(Explain::new(side.window(&exact)?, None))
        }
    }
}

fn two_kernels(
    args: &ExplainArgs,
    path: Walked<'_>,
    subjects: [&Path; 2],
    interrupt: Interrupt,
    board: &Board,
) -> Result<Explain, Failure> {
    let (exact, images) = exact::prepare(&args.guest, interrupt, subjects)?;
    let [base, new] = &images;
    let named = [("base", base, &args.vmlinux), ("new", new, &args.new_vmlinux)];
    let sides = named.map(|(role, image, vmlinux)| {
        let line = board.line(format!("{role} {}", image.subject().name));
        Side { image, path, vmlinux: vmlinux.as_deref(), line }
    });
    at_once(&exact, sides)
}

fn two_paths(
    args: &ExplainArgs,
    paths: [Walked<'_>; 2],
    interrupt: Interrupt,
    board: &Board,
) -> Result<Explain, Failure> {
    let (exact, [image]) = exact::prepare(&args.guest, interrupt, [&args.subject])?;
    let [base, new] = paths;
    let sides = [("base", base), ("new", new)].map(|(role, path)| {
        let line = board.line(format!("{role} {}", path.name));
        Side { image: &image, path, vmlinux: args.vmlinux.as_deref(), line }
    });
    at_once(&exact, sides)
}

/// Records both sides at once, and finds what they do differently.
fn at_once(exact: &Exact, [base, new]: [Side<'_>; 2]) -> Result<Explain, Failure> {
    // A thread each, which outlives the guest that it starts: QEMU is killed when that thread ends.
    let windows = thread::scope(|scope| {
        let base = scope.spawn(|| base.window(exact));
        let new = new.window(exact);
        [joined(base), new]
    });
    match windows {
        [Ok(base), Ok(new)] => Ok(Explain::new(base, Some(new))),
        windows => Err(Failure::all(windows.into_iter().filter_map(Result::err).collect())),
    }
}

/// A path that has windows to record.
#[derive(Clone, Copy)]
struct Walked<'a> {
    name: &'a str,
    /// In the exact suite.
    index: usize,
}

impl<'a> Walked<'a> {
    fn find(name: &'a str) -> Result<Self, Failure> {
        Ok(Self { name, index: selection::one_path(name)? })
    }
}

/// What one window is recorded of.
struct Side<'a> {
    image: &'a Image,
    path: Walked<'a>,
    vmlinux: Option<&'a Path>,
    line: Line<'a>,
}

impl Side<'_> {
    /// The window that stands for all that were recorded.
    fn window(&self, exact: &Exact) -> Result<SubjectWindow, Failure> {
        let progress = |progress: Progress<'_>| self.line.show(progress);
        let names = Names::new(exact, self.image, self.vmlinux, &progress)?;
        recorded_by(exact, self.image, self.path, names, &self.line)
    }
}

/// The window that stands for all that were recorded of a path; `names` gives names to addresses.
pub(crate) fn recorded(
    exact: &Exact,
    image: &Image,
    path: &str,
    names: impl Resolve + Send,
    line: &Line<'_>,
) -> Result<SubjectWindow, Failure> {
    recorded_by(exact, image, Walked::find(path)?, names, line)
}

fn recorded_by(
    exact: &Exact,
    image: &Image,
    path: Walked<'_>,
    names: impl Resolve + Send,
    line: &Line<'_>,
) -> Result<SubjectWindow, Failure> {
    let progress = |progress: Progress<'_>| line.show(progress);
    let read = move |trace| decode(trace, &names);
    let recorded = exact.record(image, path.index, &progress, read)?;
    let (name, sha256) = (image.subject().name, image.sha256.clone());
    let window = SubjectWindow::new(path.name.to_owned(), name, sha256, &recorded.trace);
    let cpus = image.lab.as_ref().map_or(1, |lab| lab.cpus);
    checked(window, &recorded.trace, &recorded.outcome, cpus)
        .map_err(|what| Failure::unexplained(&image.path, path.name, &what))
}

/// The recorder must have seen what the guest's clock counted: the total shown is one of the samples.
fn checked(
    window: Option<SubjectWindow>,
    recording: &Recording,
    outcome: &PathOutcome,
    cpus: u32,
) -> Result<SubjectWindow, String> {
    match &outcome.status {
        Status::Ok => {}
        Status::Unsupported(reason) | Status::Failed(reason) => return Err(reason.clone()),
    }
    if let Some(fault) = &recording.fault {
        return Err(fault.to_string());
    }
    let window = window.ok_or_else(|| why_none(recording))?;
    let total = window.window.total;
    let samples = outcome.starts.iter().flatten();
    if samples.clone().any(|sample| *sample == total) {
        return Ok(window);
    }
    let clock: Vec<_> = samples.take(5).collect();
    let said = format!("{total} instructions were recorded, but the clock said {clock:?}");
    // The clock counts what every CPU executes, the recorder is on one.
    let others = if cpus > 1 {
        "; the samples hold what the other CPUs executed meanwhile, which no call tree of one has"
    } else {
        ""
    };
    Err(said + others)
}

/// Why no window of a recording can stand for all.
fn why_none(recording: &Recording) -> String {
    match recording.stop {
        Some(Stop::WindowLimit) => {
            format!("a window did not end within {LONGEST_WINDOW} instructions")
        }
        Some(Stop::ByteLimit) => {
            format!("no window ended within {} MiB of recording", MOST_TRACED >> 20)
        }
        _ if recording.windows.interrupted > 0 => "an interrupt came in every window".to_owned(),
        _ => "no window was recorded whole".to_owned(),
    }
}

/// Names of addresses: the kernel's symbols, with inlined functions and lines where there is DWARF.
struct Names {
    symbols: Option<Symbols>,
    debug: Option<DebugInfo>,
}

impl Names {
    fn new(
        exact: &Exact,
        image: &Image,
        vmlinux: Option<&Path>,
        progress: &(dyn Fn(Progress<'_>) + Sync),
    ) -> Result<Self, Failure> {
        let debug = match vmlinux {
            Some(path) => Some(debug_info(path, image).map_err(Failure::DebugInfo)?),
            None => debug_info_beside(image, progress),
        };
        let text = exact.symbols(image, progress)?;
        let symbols = Symbols::parse(&text).map_err(|error| {
            let note = format!("no symbols: {error}; addresses are shown instead");
            progress(Progress::Note(&note));
        });
        Ok(Self { symbols: symbols.ok(), debug })
    }

    /// What the DWARF says of `address`, the called function first.
    fn frames(&self, address: u64) -> impl Iterator<Item = Frame> {
        let frames = self.debug.as_ref().map(|debug| debug.frames(address)).unwrap_or_default();
        frames.into_iter().rev()
    }
}

/// Reads a vmlinux, which must be of the kernel in `image`.
fn debug_info(vmlinux: &Path, image: &Image) -> Result<DebugInfo, DebugInfoError> {
    let debug = DebugInfo::open(vmlinux)?;
    exact::release(image).map_or(Ok(()), |release| debug.check_kernel(vmlinux, &release))?;
    Ok(debug)
}

/// The same of the vmlinux in a build folder, if that is what the user named. Nobody asked for it,
/// so nothing is said if it has no debug information, and only noted if it can't be used.
fn debug_info_beside(image: &Image, progress: &(dyn Fn(Progress<'_>) + Sync)) -> Option<DebugInfo> {
    if image.lab.is_some() {
        return None;
    }
    match debug_info(&pathmeter_image::vmlinux_of(&image.path)?, image) {
        Ok(debug) => return Some(debug),
        Err(DebugInfoError { fault: Fault::NoDwarf, .. }) => {}
        Err(error) => progress(Progress::Note(&format!("no source lines: {error}"))),
    }
    None
}

impl Resolve for Names {
    fn resolve(&self, address: u64) -> Option<Location<'_>> {
        self.symbols.as_ref()?.resolve(address)
    }

    fn inlined(&self, address: u64) -> Vec<String> {
        let inlined = self.frames(address).filter(|frame| frame.inlined);
        inlined.filter_map(|frame| frame.function).collect()
    }

    fn lines(&self, address: u64) -> Vec<SourceLine> {
        let line = |frame: Frame| Some(SourceLine { file: frame.file?, line: frame.line? });
        // All or none: each stands for one function.
        self.frames(address).map(line).collect::<Option<_>>().unwrap_or_default()
    }
}

/// The table, or the document, on stdout; everything else in files. What can't be written costs
/// nothing of the rest.
fn deliver(output: &ExplainOutput, explain: &Explain, screen: &Screen) -> Result<(), Failure> {
    let put = |file: &Option<PathBuf>, make: &dyn Fn() -> Result<Vec<u8>, Failure>| {
        file.as_deref().map_or(Ok(()), |file| output::save(file, &make()?))
    };
    let shown = explain.new.as_ref().unwrap_or(&explain.base);
    let done = [
        put(&output.folded, &|| Ok(folded_stacks(explain).into_bytes())),
        put(&output.callgrind, &|| Ok(callgrind(shown).into_bytes())),
        put(&output.svg, &|| drawn(explain)),
        put(&output.output, &|| output::json(explain)),
        print(output, explain, screen),
    ];
    match done.into_iter().filter_map(Result::err).collect::<Vec<_>>() {
        failures if failures.is_empty() => Ok(()),
        failures => Err(Failure::all(failures)),
    }
}

fn drawn(explain: &Explain) -> Result<Vec<u8>, Failure> {
    flame_graph(explain).map(String::into_bytes).map_err(Failure::Drawing)
}

fn print(output: &ExplainOutput, explain: &Explain, screen: &Screen) -> Result<(), Failure> {
    match (output.json, &output.output) {
        (true, None) => output::print(&output::json(explain)?),
        (true, Some(_)) => Ok(()),
        (false, _) => output::print(tables(output, explain, screen).as_bytes()),
    }
}

/// What a person reads.
pub(crate) fn tables(output: &ExplainOutput, explain: &Explain, screen: &Screen) -> String {
    explanation(explain, output.limits(explain.new.is_some()), screen.style())
}
