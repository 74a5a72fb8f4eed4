//! Recorded paths: the guest is restored once more, the recorder writes down every instruction of
//! the paths' windows, and the decoder makes the call tree of one window of each: the one that a
//! comparison's row shows, one with the value of the path's own row, or else, where nothing was
//! measured, the most frequent one. Its steps of the clock are checked
//! against what the guest's own clock counted in the same windows.

use std::sync::PoisonError;

use pathmeter_debuginfo::SourceFrame;
use pathmeter_model::{PairShown, PairsCompared, PathResult};
use pathmeter_probes::{Group, Suite, WARMUP, Wait};
use pathmeter_trace::{
    Location, PointWindow, Recording, Resolve, SourceLine, Stop, SubjectWindow, Symbols, decode,
    decode_window,
};
use pathmeter_vm::{Execution, PathStatus, Progress, Recorded};

use crate::error::MeasureError;
use crate::path::selection;
use crate::session::{LONGEST_WINDOW, MOST_TRACED, Report, Session};
use crate::subject::debug::SharedDebugInfo;
use crate::subject::image::Image;
use crate::subject::points;

pub mod cache;

/// A path that has windows to record.
#[derive(Clone, Copy)]
pub struct RecordablePath<'a> {
    name: &'a str,
    /// The path's index in the exact suite.
    index: usize,
    /// Of the path, instead of its own.
    window: Option<&'a PointWindow>,
    /// The window to show; None for the most frequent one of the first run.
    place: Option<WindowPlace>,
}

impl<'a> RecordablePath<'a> {
    /// # Errors
    /// There is no such path, or it has no window to record.
    pub fn find(name: &'a str) -> Result<Self, MeasureError> {
        Ok(Self { name, index: selection::one_path(name)?, window: None, place: None })
    }

    /// The same, or one of these windows of a path: `PATH/NAME`.
    ///
    /// # Errors
    /// As [`Self::find`]; or there is no such window.
    pub fn or_window(name: &'a str, windows: &'a [PointWindow]) -> Result<Self, MeasureError> {
        let is_path = |(path, _): &(&str, &str)| Suite::Exact.find(path).is_some();
        let Some((path, of_path)) = name.split_once('/').filter(is_path) else {
            return Self::find(name);
        };
        let window = windows.iter().find(|window| window.name == of_path);
        let window = window.ok_or_else(|| MeasureError::Request {
            message: format!("{name}: there is no window {of_path}"),
            help: format!("say what it is: --window {of_path}=FROM..TO"),
        })?;
        let index = selection::one_path(path)?;
        Ok(Self { name, index, window: Some(window), place: None })
    }

    /// The path, recorded by the window that the row of a comparison shows, if it shows one.
    #[must_use]
    pub fn showing(self, pairs: Option<PairsCompared>) -> Self {
        self.at(pairs.and_then(|pairs| pairs.shown))
    }

    /// The path, recorded by the window that stands for all that were measured.
    #[must_use]
    pub fn standing_for(self, measured: &PathResult) -> Self {
        self.at(measured.typical_sample())
    }

    fn at(self, place: Option<PairShown>) -> Self {
        let place = place.and_then(|PairShown { run, execution }| {
            let (run, window) = (u32::try_from(run).ok()?, u64::try_from(execution?).ok()?);
            Some(WindowPlace { run, window })
        });
        Self { place, ..self }
    }

    /// The group that it is measured and recorded with.
    fn group(&self) -> Option<&'static Group> {
        Suite::Exact.paths().get(self.index).and_then(|path| Group::of(path.name))
    }

    /// The execution that is recorded.
    fn execution(&self) -> Execution {
        Execution { run: self.place.map_or(0, |place| place.run), path: self.index }
    }

    /// All that its recording depends on but the kernel and the guest.
    pub(crate) fn key(&self) -> String {
        format!("{} {:?} {:?}", self.name, self.place, self.window)
    }

    /// As `pathmeter list paths` lists it.
    pub fn name(self) -> &'a str {
        self.name
    }

    /// The window of the path that is recorded instead of its own.
    pub fn window(self) -> Option<&'a PointWindow> {
        self.window
    }
}

/// A window of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WindowPlace {
    /// The perturbed run that it is in, from 0.
    run: u32,
    /// Its number among the windows that are sampled in that run, from 0.
    window: u64,
}

/// The only one of `results`.
pub fn only<T, E: From<MeasureError>>(
    results: impl IntoIterator<Item = Result<T, E>>,
) -> Result<T, E> {
    let missing = || MeasureError::System {
        doing: "recording",
        error: std::io::Error::other("nothing was recorded"),
    };
    results.into_iter().next().unwrap_or_else(|| Err(missing().into()))
}

/// Records `paths`, those of one group in one guest: of each the window that stands for all;
/// `names` gives names to addresses.
///
/// # Errors
/// For all paths, what stands in the way of all.
pub fn recorded(
    session: &Session,
    image: &Image,
    paths: &[RecordablePath<'_>],
    names: &(impl Resolve + Sync),
    progress: Report<'_>,
) -> Result<Vec<Result<SubjectWindow, MeasureError>>, MeasureError> {
    let mut results: Vec<Option<Result<SubjectWindow, MeasureError>>> =
        paths.iter().map(|_| None).collect();
    // Each window is recorded in a guest of its own, as it is counted, and each group, too.
    let mut left: Vec<usize> = (0..paths.len()).collect();
    while let Some(first) = left.first() {
        let guest =
            |path: &RecordablePath<'_>| (path.window.cloned(), session.plan_with(path.index));
        let of_first = guest(&paths[*first]);
        let (now, later): (Vec<usize>, Vec<usize>) =
            left.iter().partition(|place| guest(&paths[**place]) == of_first);
        let of_guest: Vec<RecordablePath<'_>> = now.iter().map(|place| paths[*place]).collect();
        let windows = recorded_in_one(session, image, &of_guest, names, progress)?;
        for (place, window) in now.into_iter().zip(windows) {
            results[place] = Some(window);
        }
        left = later;
    }
    Ok(results.into_iter().flatten().collect())
}

/// Records paths of one group, of which all or none have one window, in one guest.
fn recorded_in_one(
    session: &Session,
    image: &Image,
    paths: &[RecordablePath<'_>],
    names: &(impl Resolve + Sync),
    progress: Report<'_>,
) -> Result<Vec<Result<SubjectWindow, MeasureError>>, MeasureError> {
    let executions: Vec<Execution> = paths.iter().map(RecordablePath::execution).collect();
    let group = paths.first().and_then(RecordablePath::group);
    let waits = session.find_waits(image, group.as_slice(), progress)?;
    let (table, warm) = match paths.first().and_then(|path| path.window) {
        Some(window) => {
            let kallsyms = session.symbols(image, progress)?;
            let paths = executions.iter().map(|it| it.path);
            (points::table_of(image, &kallsyms, window, paths)?, u64::from(WARMUP))
        }
        None => (waits.table.clone(), 0),
    };
    let places = paths.iter().filter_map(|path| path.place);
    let windows = places.map(|place| place.window + 1).max().unwrap_or(0);
    let points = (&table, warm, windows);
    let recorded = session.record(image, &executions, points, progress, |execution, trace| {
        let of_path = paths.iter().find(|path| path.execution() == execution);
        match of_path.and_then(|path| path.place) {
            Some(place) => decode_window(trace, names, place.window),
            None => decode(trace, names),
        }
    })?;
    let window =
        |(path, recorded): (&RecordablePath<'_>, Result<Recorded<Recording>, MeasureError>)| {
            if let (None, Some(why)) = (path.window, waits.why_none(path.index)) {
                return Err(MeasureError::unexplained(image.name(), path.name, why));
            }
            let recorded = recorded?;
            let (name, sha256) = (image.subject().name, image.sha256().to_owned());
            let window = SubjectWindow::new(path.name.to_owned(), name, sha256, &recorded.trace);
            let window = window.map(|window| SubjectWindow {
                measured_with: Some(session.measured_with(image)),
                ..window
            });
            // A window between two points has no stamps, and so no sample of the guest's own clock.
            let clock = path.window.is_none().then_some(&recorded.outcome.runs);
            let waits = Wait::of(path.name).is_some();
            checked(window, &recorded.trace, (&recorded.outcome.status, waits), clock)
                .map_err(|what| MeasureError::unexplained(image.name(), path.name, &what))
        };
    Ok(paths.iter().zip(recorded).map(window).collect())
}

/// The recorder must have seen what the guest's clock counted: the window's steps of the clock are
/// one of the samples.
fn checked(
    window: Option<SubjectWindow>,
    recording: &Recording,
    (status, waits): (&PathStatus, bool),
    clock: Option<&Vec<Vec<u64>>>,
) -> Result<SubjectWindow, String> {
    match status {
        PathStatus::Ok => {}
        PathStatus::Unsupported(reason) | PathStatus::Failed(reason) => return Err(reason.clone()),
    }
    if let Some(fault) = &recording.fault {
        return Err(fault.to_string());
    }
    let window = window.ok_or_else(|| why_none(recording))?;
    let steps = window.window.clock;
    let samples = clock.into_iter().flatten().flatten();
    if samples.clone().next().is_none() || samples.clone().any(|sample| *sample == steps) {
        return Ok(window);
    }
    // In a wait the CPU may have idled: the clock went on, and nothing was executed.
    let number = usize::try_from(window.window.window).unwrap_or(usize::MAX);
    if let Some(idle) = samples.clone().nth(number).and_then(|sample| sample.checked_sub(steps))
        && waits
    {
        return Ok(SubjectWindow { idle, ..window });
    }
    let clock: Vec<_> = samples.take(5).collect();
    Err(format!("{steps} steps of the clock were recorded, but the clock counted {clock:?}"))
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

/// Whether a function that the compiler put into another one has a place of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inlined {
    /// It has, as far as debug information tells them apart.
    Apart,
    /// What it executes is its caller's, as where there is no debug information.
    InCallers,
}

/// Names of addresses: the kernel's symbols, with inlined functions and lines where there is DWARF.
pub struct Names {
    symbols: Option<Symbols>,
    debug: Option<SharedDebugInfo>,
    inlined: Inlined,
}

impl Names {
    /// Those of `image`, with its debug information, if there is any.
    ///
    /// # Errors
    /// The vmlinux can't be used, or the kernel's symbols not be had.
    pub fn new(
        session: &Session,
        image: &Image,
        inlined: Inlined,
        progress: Report<'_>,
    ) -> Result<Self, MeasureError> {
        let debug = image.debug_info(progress)?;
        let text = session.symbols(image, progress)?;
        let symbols = Symbols::parse(&text).map_err(|error| {
            let note = format!("no symbols: {error}; addresses are shown instead");
            progress(Progress::Note(&note));
        });
        Ok(Self { symbols: symbols.ok(), debug, inlined })
    }

    /// The DWARF's frames of `address` that have a place of their own, the called function first.
    fn frames(&self, address: u64) -> impl Iterator<Item = SourceFrame> {
        let frames = self
            .debug
            .as_ref()
            .map(|debug| debug.lock().unwrap_or_else(PoisonError::into_inner).frames(address));
        let places = if self.inlined == Inlined::Apart { usize::MAX } else { 1 };
        frames.unwrap_or_default().into_iter().rev().take(places)
    }
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
        let line = |frame: SourceFrame| Some(SourceLine { file: frame.file?, line: frame.line? });
        // All or none: each stands for one function.
        self.frames(address).map(line).collect::<Option<_>>().unwrap_or_default()
    }
}
