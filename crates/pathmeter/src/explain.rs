//! `pathmeter explain`: which functions a path's instructions, or a difference's, are in.
//!
//! The guest is restored once more, the recorder writes down every instruction of the path's windows,
//! and the decoder makes the call tree of the most frequent one. Its total is checked against what
//! the guest's own clock said of the same windows.

use std::path::Path;
use std::thread;

use pathmeter_debuginfo::DebugInfo;
use pathmeter_report::{callgrind, explanation, flame_graph, folded_stacks};
use pathmeter_trace::{Explain, Location, Recording, Resolve, SubjectWindow, Symbols, decode};
use pathmeter_vm::{PathOutcome, Progress, Status};

use crate::cli::{ExplainArgs, ExplainOutput};
use crate::exact::{self, Exact, Image, joined};
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::output::{self, Screen};
use crate::progress::{Board, Line};
use crate::selection;

/// Records the path, and puts out where its instructions are.
pub(crate) fn run(args: &ExplainArgs, screen: &Screen) -> Result<Exit, Failure> {
    let index = selection::one_path(&args.path)?;
    args.output.files().try_for_each(output::check_writable)?;
    let [base, new] = recorded(args, index, screen)?;
    let base = base.ok_or_else(|| Failure::unexplained(&args.path, "nothing was recorded"))?;
    let explain = Explain::new(args.path.clone(), base, new);
    deliver(&args.output, &explain, screen)?;
    Ok(Exit::Done)
}

/// What each subject executes: the second is none if there is but one subject.
fn recorded(
    args: &ExplainArgs,
    index: usize,
    screen: &Screen,
) -> Result<[Option<SubjectWindow>; 2], Failure> {
    let listener = interrupt::listen()?;
    let board = Board::new(screen);
    let Some(new) = &args.new else {
        let (exact, [image]) = exact::prepare(&args.guest, listener, [&args.subject])?;
        let line = board.line(image.subject().name);
        return Ok([Some(window(&exact, &image, args.vmlinux.as_deref(), index, &line)?), None]);
    };
    let (exact, [base, new]) = exact::prepare(&args.guest, listener, [&args.subject, new])?;
    let lines = [("base", &base), ("new", &new)]
        .map(|(side, image)| board.line(format!("{side} {}", image.subject().name)));
    let [upper, lower] = lines;
    // A thread each, which outlives the guest that it starts: QEMU is killed when that thread ends.
    let sides = thread::scope(|scope| {
        let base = scope.spawn(|| window(&exact, &base, args.vmlinux.as_deref(), index, &upper));
        let new = window(&exact, &new, args.new_vmlinux.as_deref(), index, &lower);
        [joined(base), new]
    });
    if sides.iter().all(Result::is_ok) {
        return Ok(sides.map(Result::ok));
    }
    Err(Failure::all(sides.into_iter().filter_map(Result::err).collect()))
}

/// The window that stands for all that were recorded of a path in one kernel.
fn window(
    exact: &Exact,
    image: &Image,
    vmlinux: Option<&Path>,
    index: usize,
    line: &Line<'_>,
) -> Result<SubjectWindow, Failure> {
    let progress = |progress: Progress<'_>| line.show(progress);
    let names = Names::new(exact, image, vmlinux, &progress)?;
    let recorded = exact.record(image, index, &progress, move |trace| decode(trace, &names))?;
    checked(&recorded.trace, &recorded.outcome).map_err(|what| {
        let path = pathmeter_probes::paths().nth(index).map_or("", |path| path.name);
        Failure::unexplained(path, &what)
    })?;
    let name = image.subject().name;
    SubjectWindow::new(name, image.sha256.clone(), &recorded.trace)
        .ok_or_else(|| Failure::unexplained(&image.subject().name, "every window was interrupted"))
}

/// The recorder must have seen what the guest's clock counted: the total shown is one of the samples.
fn checked(recording: &Recording, outcome: &PathOutcome) -> Result<(), String> {
    match &outcome.status {
        Status::Ok => {}
        Status::Unsupported(reason) | Status::Failed(reason) => return Err(reason.clone()),
    }
    if let Some(fault) = &recording.fault {
        return Err(fault.to_string());
    }
    let Some(window) = &recording.representative else {
        return Err("no window was recorded whole".to_owned());
    };
    let samples = outcome.starts.iter().flatten();
    if samples.clone().any(|sample| *sample == window.total) {
        return Ok(());
    }
    let clock: Vec<_> = samples.take(5).collect();
    Err(format!("{} instructions were recorded, but the clock said {clock:?}", window.total))
}

/// Names of addresses: the kernel's symbols, with inlined functions where there is DWARF.
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
        let debug = vmlinux.map(|path| {
            let debug = DebugInfo::open(path)?;
            exact::release(image).map_or(Ok(()), |release| debug.check_kernel(path, &release))?;
            Ok(debug)
        });
        let debug = debug.transpose().map_err(Failure::DebugInfo)?;
        let text = exact.symbols(image, progress)?;
        let symbols = Symbols::parse(&text).map_err(|error| {
            let note = format!("no symbols: {error}; addresses are shown instead");
            progress(Progress::Note(&note));
        });
        Ok(Self { symbols: symbols.ok(), debug })
    }
}

impl Resolve for Names {
    fn resolve(&self, address: u64) -> Option<Location<'_>> {
        self.symbols.as_ref()?.resolve(address)
    }

    fn inlined(&self, address: u64) -> Vec<String> {
        let frames = self.debug.as_ref().map(|debug| debug.frames(address)).unwrap_or_default();
        let inlined = frames.into_iter().filter(|frame| frame.inlined).rev();
        inlined.filter_map(|frame| frame.function).collect()
    }
}

/// The table, or the document, on stdout; everything else in files.
fn deliver(output: &ExplainOutput, explain: &Explain, screen: &Screen) -> Result<(), Failure> {
    let put = |file: &Option<_>, bytes: Vec<u8>| {
        file.as_deref().map_or(Ok(()), |file: &Path| output::save(file, &bytes))
    };
    put(&output.folded, folded_stacks(explain).into_bytes())?;
    let side = explain.new.as_ref().unwrap_or(&explain.base);
    put(&output.callgrind, callgrind(&explain.path, side).into_bytes())?;
    if output.svg.is_some() {
        let svg = flame_graph(explain)
            .map_err(|error| Failure::unexplained(&explain.path, &error.to_string()))?;
        put(&output.svg, svg.into_bytes())?;
    }
    let document = output::json(explain)?;
    if output.json && output.output.is_none() {
        return output::print(&document);
    }
    put(&output.output, document)?;
    if output.json {
        return Ok(());
    }
    output::print(
        explanation(explain, output.limits(explain.new.is_some()), screen.style()).as_bytes(),
    )
}
