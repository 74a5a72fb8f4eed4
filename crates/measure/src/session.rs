//! A session: QEMU, the cache and the guest's settings, found out once, and everything that is
//! measured with them.
//!
//! Contract: a result from the cache and one just measured are the same document, but for the
//! subject's name, which is always the one given now.

use std::fs::File;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use pathmeter_catalogue::{self as catalogue, Kind, Suite, WARMUP};
use pathmeter_model::{
    Check, Configuration, MAX_DOCUMENT_BYTES, MAX_SAMPLE, Measurement, PathResult, ResultSchema,
    Unit,
};
use pathmeter_trace::{Counting, MeasuredWith, PointTable, SettingProof, SettingState};
use pathmeter_vm::{
    Accounting, Bochs, Cache, Caller, Condition, Cpu, Entry, EntryKind, Execution, FIRMWARE,
    Firmware, Initramfs, Interrupt, Kernel, Key, Landmarks, MeasuredKernel, PathOutcome,
    PathStatus, Plan, Progress, Proof, ProofState, Qemu, RanProgram, Recorded, RecordingLimits,
    Request, Settings, Sought, Stop, TracedWindow, VmError,
};
use serde::Serialize;

use crate::failure::Failure;
use crate::guest_files::{guest_report, note_of};
use crate::image::{Build, Image};
use crate::path_rows::{Counted, PathCounts};
use crate::repeat;
use crate::results::{self, Dependencies, sha256};
use crate::waits::{self, WaitPoints};

/// Told how far a measurement is.
pub type Report<'a> = &'a (dyn Fn(Progress<'_>) + Sync);

/// How guests are measured: what a command line says of it, resolved.
#[derive(Debug, Clone)]
pub struct Guests {
    /// Their machine.
    pub settings: Settings,
    /// Perturbed runs.
    pub runs: u32,
    /// The longest wait for a boot or a run.
    pub limit: Duration,
}

/// Everything that a measurement needs but the kernel.
pub struct Session {
    qemu: Qemu,
    cache: Option<Cache>,
    settings: Settings,
    runs: u32,
    limit: Duration,
    interrupt: Interrupt,
    agent_sha256: String,
    initramfs_sha256: String,
    /// Whether the snapshots of programs' guests are kept.
    keeps_snapshots: bool,
    /// What the user is still to be told.
    note: Mutex<Option<String>>,
}

impl Session {
    /// With a QEMU and a cache that were found already.
    pub fn new(qemu: Qemu, cache: Option<Cache>, guests: Guests, interrupt: Interrupt) -> Self {
        let Guests { settings, runs, limit } = guests;
        let initramfs = Initramfs::new(&Plan::new(Suite::Exact, runs), &Condition::default());
        Self {
            qemu,
            cache,
            settings,
            runs,
            limit,
            interrupt,
            agent_sha256: pathmeter_vm::agent_sha256(),
            initramfs_sha256: sha256(initramfs.as_bytes()),
            keeps_snapshots: true,
            note: Mutex::default(),
        }
    }

    /// The same, with something that the user is told when work begins.
    #[must_use]
    pub fn with_note(self, note: Option<String>) -> Self {
        Self { note: Mutex::new(note), ..self }
    }

    /// Measures `image`, or finds its result in the cache. Says so if the guest's kernel does not
    /// print what it should on its CPU, and was not asked to: mitigations are boot parameters.
    pub fn measure(&self, image: &Image, progress: Report<'_>) -> Result<Measurement, Failure> {
        let result = self.measure_or_find(image, progress)?;
        let Settings { cpu, condition, append, .. } = image.settings(&self.settings);
        if condition.is_of_boot() || !append.is_empty() {
            return Ok(result);
        }
        if let Some(note) = result.guest.as_ref().and_then(|guest| note_of(guest, cpu.name())) {
            progress(Progress::Note(&note));
        }
        Ok(result)
    }

    fn measure_or_find(&self, image: &Image, progress: Report<'_>) -> Result<Measurement, Failure> {
        let Some(cache) = &self.cache else { return self.measure_anew(image, progress) };
        let (limit, interrupt) = (self.limit, &self.interrupt);
        let caller = Caller { limit, interrupt, progress, again: "measuring again" };
        let read = |entry: Entry| {
            let result = results::read(&entry)?;
            Ok(result.filter(|result| self.is_of(image, &result.configuration)))
        };
        let sought = cache.seek(self.result_key(image), caller, read);
        let slot = match sought.map_err(|error| image.failure(error))? {
            Sought::Found(result) => return Ok(Measurement { subject: image.subject(), ..result }),
            Sought::Missing(slot) => slot,
        };
        let result = self.measure_anew(image, progress)?;
        results::keep(slot, &result);
        Ok(result)
    }

    /// Measures once; a guest with two CPUs until two measurements, each of a boot of its own, give
    /// the same document.
    fn measure_anew(&self, image: &Image, progress: Report<'_>) -> Result<Measurement, Failure> {
        if image.cpus() == 1 {
            return self.measure_now(image, progress);
        }
        let booting = self.again(None);
        repeat::twice(|| booting.measure_now(image, progress))?
            .map_err(|times| Failure::Disagree { subject: image.subject().name, times })
    }

    fn measure_now(&self, image: &Image, progress: Report<'_>) -> Result<Measurement, Failure> {
        let points = waits::points(image, &self.symbols(image, progress)?);
        let measured = self.with_points(image, &points.table, progress, |request| {
            pathmeter_vm::measure(request, &pathmeter_trace::count)
        })?;
        Ok(self.document(image, measured, &points))
    }

    /// What is counted in a window between two points, in all executions of paths: from the cache,
    /// or anew.
    pub fn count_window(
        &self,
        image: &Image,
        table: &PointTable,
        progress: Report<'_>,
    ) -> Result<(Vec<Execution>, Counting), Failure> {
        let measured = self.with_points(image, table, progress, |request| {
            pathmeter_vm::measure(request, &pathmeter_trace::count)
        })?;
        measured.counts.ok_or_else(|| Failure::Usage {
            message: "this QEMU can't see windows between two points of the kernel".to_owned(),
            help: "use a QEMU with plugins: `pathmeter doctor` shows whether it has them"
                .to_owned(),
        })
    }

    /// What came of the paths that a witness is asked about, and what was counted, run anew.
    pub fn count(
        &self,
        image: &Image,
        progress: Report<'_>,
    ) -> Result<(Vec<PathOutcome>, Counted), Failure> {
        let measured = self.with_request(image, progress, |request| {
            let plan = pathmeter_vm::witness_plan(request.settings);
            pathmeter_vm::measure_plan(request, &plan, &pathmeter_trace::count)
        })?;
        let counts = measured.counts.map(|(order, counting)| Counted::new(&order, counting));
        Ok((measured.paths, counts.unwrap_or_else(|| Counted::new(&[], Counting::default()))))
    }

    /// What came of the same paths in Bochs.
    pub fn witness(
        &self,
        image: &Image,
        bochs: &Bochs,
        progress: Report<'_>,
    ) -> Result<Vec<PathOutcome>, Failure> {
        self.with_request(image, progress, |request| pathmeter_vm::witness(bochs, request))
    }

    /// The same, with guests of so much memory, in MiB.
    #[must_use]
    pub fn with_memory(&self, memory_mib: u32) -> Self {
        let settings = Settings { memory_mib, ..self.settings.clone() };
        Self { settings, ..self.again(self.cache.clone()) }
    }

    /// The same, whose measurements are interrupted at `end`. It tells what this one was still to
    /// tell.
    #[must_use]
    pub fn until(&self, end: Instant) -> Self {
        let note = self.note.lock().unwrap_or_else(PoisonError::into_inner).take();
        let ends = Self { interrupt: self.interrupt.until(end), ..self.again(self.cache.clone()) };
        ends.with_note(note)
    }

    /// The same, without keeping the snapshots of programs: for many that are executed once, whose
    /// results would soon be removed to make room for them.
    #[must_use]
    pub fn without_snapshots(&self) -> Self {
        Self { keeps_snapshots: false, ..self.again(self.cache.clone()) }
    }

    /// The same with this cache.
    fn again(&self, cache: Option<Cache>) -> Self {
        Self {
            qemu: self.qemu.clone(),
            cache,
            settings: self.settings.clone(),
            interrupt: self.interrupt.clone(),
            agent_sha256: self.agent_sha256.clone(),
            initramfs_sha256: self.initramfs_sha256.clone(),
            note: Mutex::default(),
            ..*self
        }
    }

    /// Runs the program of `initramfs`; `read` makes of the plugin's stream what it will.
    pub fn run_program<C: Send>(
        &self,
        image: &Image,
        initramfs: &Initramfs,
        asked: Accounting<'_>,
        read: &(dyn Fn(File) -> C + Sync),
        progress: Report<'_>,
    ) -> Result<RanProgram<C>, Failure> {
        self.with_request(image, progress, |request| {
            let cache = request.cache.filter(|_| self.keeps_snapshots);
            let kernel = Kernel { sha256: request.kernel.sha256.clone(), ..request.kernel };
            let request = Request { cache, kernel, ..*request };
            pathmeter_vm::run_program(&request, initramfs, asked, read)
        })
    }

    /// Runs the program of `initramfs` in Bochs, which stops at the landmarks.
    pub fn witness_program(
        &self,
        image: &Image,
        bochs: &Bochs,
        initramfs: &Initramfs,
        (runs, landmarks): (u32, &Landmarks),
        progress: Report<'_>,
    ) -> Result<RanProgram<Vec<Vec<Stop>>>, Failure> {
        self.with_request(image, progress, |request| {
            pathmeter_vm::witness_program(bochs, request, initramfs, runs, landmarks.clone())
        })
    }

    /// The document with this key: from the cache, or made by `make` and kept.
    pub fn cached<D: Serialize>(
        &self,
        image: &Image,
        key: Key,
        progress: Report<'_>,
        parse: impl Fn(&[u8]) -> Option<D>,
        make: impl FnOnce() -> Result<D, Failure>,
    ) -> Result<D, Failure> {
        let Some(cache) = &self.cache else { return make() };
        let read = |entry: Entry| document_in(&entry, &parse);
        let sought =
            cache.seek(key, self.caller(progress), read).map_err(|error| image.failure(error))?;
        let slot = match sought {
            Sought::Found(document) => return Ok(document),
            Sought::Missing(slot) => slot,
        };
        let document = make()?;
        slot.keep(|entry| entry.write_all(&serde_json::to_vec(&document)?));
        Ok(document)
    }

    /// The document with this key, if the cache has it.
    pub fn kept<D>(&self, key: &Key, parse: impl Fn(&[u8]) -> Option<D>) -> Option<D> {
        let read = |entry: Entry| document_in(&entry, &parse);
        self.cache.as_ref()?.find(key, self.caller(&|_| {}), read)
    }

    /// Who asks the cache for documents.
    fn caller<'a>(&'a self, progress: Report<'a>) -> Caller<'a> {
        let (limit, interrupt) = (self.limit, &self.interrupt);
        Caller { limit, interrupt, progress, again: "measuring again" }
    }

    /// How a kernel was built.
    pub fn build(&self, image: &Image) -> Build {
        let parts = [("document", "build 1"), ("image_sha256", image.sha256())];
        let key = Key::new(EntryKind::Result, &parts);
        let parse = |bytes: &[u8]| serde_json::from_slice(bytes).ok();
        let read = || image.build().map_err(|error| image.failure(error.into()));
        self.cached(image, key, &|_| {}, parse, read).unwrap_or_default()
    }

    /// The key of a program's result: of this initramfs, and what the plugin was `asked`.
    pub fn program_key(&self, image: &Image, initramfs: &[u8], asked: &str) -> Key {
        let parts = [
            ("document", "program 5"),
            ("pathmeter", env!("CARGO_PKG_VERSION")),
            ("image_sha256", image.sha256()),
            ("qemu", &self.qemu.version),
            ("guest", &image.settings(&self.settings).fingerprint()),
            ("initramfs_sha256", &sha256(initramfs)),
            ("asked", asked),
        ];
        Key::new(EntryKind::Result, &parts)
    }

    /// The configuration of a program's result; `agent` and initramfs by their SHA-256.
    pub fn program_configuration(
        &self,
        image: &Image,
        ran: &RanProgram<impl Sized>,
        (agent_sha256, initramfs_sha256): (String, String),
    ) -> Configuration {
        let release = image.release(ran.release.clone());
        let usual = self.configuration(image, release, ran.firmware == Firmware::Own);
        let proofs = ran.proofs.iter().cloned().map(setting_proof).collect();
        Configuration { agent_sha256, initramfs_sha256, proofs, ..usual }
    }

    /// The guest's settings for `image`.
    pub fn settings_of(&self, image: &Image) -> Settings {
        image.settings(&self.settings)
    }

    /// The QEMU's version.
    pub fn qemu_version(&self) -> &str {
        &self.qemu.version
    }

    /// SHA-256 of the agent.
    pub fn agent_sha256(&self) -> &str {
        &self.agent_sha256
    }

    /// Whether a result with this configuration is one of `image`, measured as this session does.
    /// Which firmware starts the kernel, and its release, are the image's own: they are not known
    /// before it is loaded.
    fn is_of(&self, image: &Image, found: &Configuration) -> bool {
        let own = found.firmware_sha256.is_some();
        found.as_asked() == self.configuration(image, found.release.clone(), own)
    }

    fn result_key(&self, image: &Image) -> Key {
        self.key_of(EntryKind::Result, "result", image)
    }

    /// The key of a document of `image` that depends on all that a result does, and on what
    /// `document` says.
    pub fn key_of(&self, kind: EntryKind, document: &str, image: &Image) -> Key {
        let dependencies = Dependencies {
            image_sha256: image.sha256(),
            qemu: &self.qemu.version,
            guest: &image.settings(&self.settings).fingerprint(),
            initramfs_sha256: &self.initramfs_sha256,
            agent_sha256: &self.agent_sha256,
        };
        dependencies.key_of(kind, document)
    }

    /// What came of the paths of [`Suite::Elapsed`], in nanoseconds of this host.
    pub fn measure_elapsed(
        &self,
        image: &Image,
        progress: Report<'_>,
    ) -> Result<Vec<PathOutcome>, Failure> {
        self.with_request(image, progress, pathmeter_vm::measure_elapsed)
    }

    /// Records the paths with these indexes, all in one guest, in their order; `read` makes of each
    /// trace what it will. Of paths that `table` has windows for, those are recorded that begin
    /// after the first `warm` begin markers.
    pub fn record<R: Send>(
        &self,
        image: &Image,
        paths: &[usize],
        (table, warm): (&PointTable, u64),
        progress: Report<'_>,
        read: impl Fn(usize, File) -> R + Sync,
    ) -> Result<Vec<Result<Recorded<R>, Failure>>, Failure> {
        let (skip, bytes, most) = (u64::from(WARMUP), MOST_TRACED, LONGEST_WINDOW);
        let limits = RecordingLimits { skip, warm, bytes, most };
        let recorded = self.with_points(image, table, progress, |request| {
            let plan = Plan::new(Suite::Exact, request.runs);
            pathmeter_vm::record(request, &plan, paths, limits, read)
        })?;
        let named = |one: Result<_, VmError>| one.map_err(|error| image.failure(error));
        Ok(recorded.into_iter().map(named).collect())
    }

    /// The same of what a witness is asked about, in QEMU, the warm-up included.
    pub fn record_witnessed<R: Send>(
        &self,
        image: &Image,
        paths: &[usize],
        progress: Report<'_>,
        read: impl Fn(usize, File) -> R + Sync,
    ) -> Result<Vec<Result<R, VmError>>, Failure> {
        let (bytes, most) = (MOST_TRACED, LONGEST_WINDOW);
        let limits = RecordingLimits { skip: 0, warm: 0, bytes, most };
        let recorded = self.with_request(image, progress, |request| {
            let plan = pathmeter_vm::witness_plan(request.settings);
            pathmeter_vm::record(request, &plan, paths, limits, read)
        })?;
        Ok(recorded.into_iter().map(|one| one.map(|recorded| recorded.trace)).collect())
    }

    /// What `read` makes of the traces of these windows in Bochs, run anew.
    pub fn witness_traced<R: Send>(
        &self,
        image: &Image,
        bochs: &Bochs,
        windows: &[TracedWindow],
        progress: Report<'_>,
        read: impl Fn(File) -> R + Sync,
    ) -> Result<Vec<R>, Failure> {
        self.with_request(image, progress, |request| {
            pathmeter_vm::witness_traced(bochs, request, windows, read)
        })
    }

    /// The kernel's symbols, as its `/proc/kallsyms` has them.
    pub fn symbols(&self, image: &Image, progress: Report<'_>) -> Result<Vec<u8>, Failure> {
        self.with_request(&image.of_symbols(), progress, pathmeter_vm::symbols)
    }

    /// The same if the cache has them.
    ///
    /// # Errors
    /// None; a request can't be made without a way to fail.
    pub fn cached_symbols(&self, image: &Image) -> Result<Option<Vec<u8>>, Failure> {
        let cached = |request: &Request<'_>| Ok(pathmeter_vm::cached_symbols(request));
        self.with_request(&image.of_symbols(), &|_| {}, cached)
    }

    fn with_request<R>(
        &self,
        image: &Image,
        progress: Report<'_>,
        act: impl FnOnce(&Request<'_>) -> Result<R, VmError>,
    ) -> Result<R, Failure> {
        self.with_points(image, &PointTable::default(), progress, act)
    }

    fn with_points<R>(
        &self,
        image: &Image,
        points: &PointTable,
        progress: Report<'_>,
        act: impl FnOnce(&Request<'_>) -> Result<R, VmError>,
    ) -> Result<R, Failure> {
        if let Some(note) = self.note.lock().unwrap_or_else(PoisonError::into_inner).take() {
            progress(Progress::Note(&note));
        }
        let request = Request {
            qemu: &self.qemu,
            kernel: Kernel { sha256: image.sha256().to_owned(), load: &|| image.load() },
            settings: &image.settings(&self.settings),
            runs: self.runs,
            cache: self.cache.as_ref(),
            limit: self.limit,
            points: points.as_bytes(),
            interrupt: &self.interrupt,
            progress,
        };
        act(&request).map_err(|error| image.failure(error))
    }

    fn document(
        &self,
        image: &Image,
        measured: MeasuredKernel<Counting>,
        points: &WaitPoints,
    ) -> Measurement {
        let own = measured.firmware == Firmware::Own;
        let cpu = image.settings(&self.settings).cpu;
        let counted = measured.counts.map(|(order, counting)| Counted::new(&order, counting));
        let paths = Suite::Exact.paths().iter().zip(measured.paths).enumerate();
        let configuration = self.configuration(image, image.release(measured.release), own);
        let proofs = measured.proofs.into_iter().map(setting_proof).collect();
        let unit = if counted.is_some() { Unit::Instructions } else { Unit::Clock };
        let guest = guest_report(&measured.facts, &cpu, configuration.release.as_deref());
        let result = |(index, (path, outcome))| {
            let outcome = points.or_missing(index, with_cause(outcome, &cpu));
            path_result(index, path, outcome, counted.as_ref())
        };
        Measurement {
            schema: ResultSchema::V1,
            subject: image.subject(),
            configuration: Configuration { clock: unit, proofs, ..configuration },
            guest: Some(guest),
            paths: paths.map(result).collect(),
            execution: None,
            notes: measured.notes,
        }
    }

    /// What `image` is measured with.
    pub fn measured_with(&self, image: &Image) -> MeasuredWith {
        self.configuration(image, None, true).measured_with()
    }

    /// The configuration of a result of `image`, of this release, started by our own firmware or
    /// by QEMU's.
    fn configuration(&self, image: &Image, release: Option<String>, own: bool) -> Configuration {
        let conditions = image.conditions(&self.settings);
        Configuration {
            clock: Unit::Instructions,
            image_sha256: image.sha256().to_owned(),
            release,
            command_line: conditions.command_line_without_condition(),
            condition: conditions.condition.fingerprint(),
            proofs: Vec::new(),
            machine: conditions.machine().to_owned(),
            qemu: self.qemu.version.clone(),
            firmware_sha256: own.then(|| sha256(FIRMWARE)),
            portable: own && conditions.is_portable() && self.qemu.is_tested(),
            agent_sha256: self.agent_sha256.clone(),
            initramfs_sha256: self.initramfs_sha256.clone(),
            runs: self.runs,
            memory_mib: conditions.memory_mib,
            cpus: conditions.cpus,
            program: None,
            cpu: conditions.cpu.description(),
        }
    }
}

/// What became of a setting, as documents have it.
fn setting_proof(Proof { setting, state, shown }: Proof) -> SettingProof {
    let state = match state {
        ProofState::Proved => SettingState::Proved,
        ProofState::Unproved => SettingState::Unproved,
        ProofState::Moot => SettingState::Moot,
    };
    SettingProof { setting, state, shown }
}

/// Bytes of a trace after which recording stops: a hundred times those of the longest path.
pub const MOST_TRACED: u64 = 1 << 30;
/// Instructions after which a window counts as one that never ends.
pub const LONGEST_WINDOW: u64 = 20_000_000;

/// The outcome; where it says that the CPU lacks something that the machine has, it says why.
fn with_cause(outcome: PathOutcome, cpu: &Cpu) -> PathOutcome {
    let PathStatus::Unsupported(reason) = &outcome.status else { return outcome };
    let Some(lack) = cpu.lack_behind(reason) else { return outcome };
    let reason = format!(
        "{reason}: the machine has it, but the profile {} does not, since QEMU's interpreter \
         can't execute {lack} (in 7.2)",
        cpu.name()
    );
    PathOutcome { status: PathStatus::Unsupported(reason), ..outcome }
}

/// One path's row. Values that a document may not have for a path that is ok make it failed: the
/// guest is not believed.
fn path_result(
    index: usize,
    path: &catalogue::Path,
    outcome: PathOutcome,
    counted: Option<&Counted>,
) -> PathResult {
    let (name, unit) = (path.name, unit_of(path.kind, counted));
    let counts = match outcome.status {
        PathStatus::Ok => counted.and_then(|counted| counted.of(index, &outcome)),
        _ => None,
    };
    let PathOutcome { status, checks, runs, lower_bounds } = outcome;
    let samples = || runs.iter().flatten();
    let checks = checks.into_iter().map(|(name, value)| Check { name, value }).collect();
    match &status {
        PathStatus::Unsupported(reason) => PathResult::unsupported(name, unit, reason),
        PathStatus::Failed(reason) => PathResult::failed(name, unit, reason).noticing(checks),
        PathStatus::Ok
            if matches!(path.kind, Kind::Wait(_))
                && counted.is_none()
                && runs.concat().is_empty() =>
        {
            PathResult::unsupported(name, unit, "this path needs a QEMU with plugins")
        }
        PathStatus::Ok if unit != Unit::Check && samples().next().is_none() && counts.is_none() => {
            PathResult::failed(name, unit, "the agent reported ok and sent no samples")
        }
        PathStatus::Ok if samples().any(|&sample| sample > MAX_SAMPLE) => {
            PathResult::failed(name, unit, "a sample is out of bounds")
        }
        PathStatus::Ok => match counts {
            Some(Ok(PathCounts { retired, lower_bounds, events })) => {
                PathResult::ok(name, Unit::Instructions, &retired, checks)
                    .with_lower_bounds(lower_bounds)
                    .counting(events)
            }
            Some(Err(what)) => PathResult::failed(name, unit, &what).noticing(checks),
            None => PathResult::ok(name, unit, &runs, checks).with_lower_bounds(lower_bounds),
        },
    }
}

/// What the samples of a path of this kind are; without a counter, steps of the clock.
fn unit_of(kind: Kind, counted: Option<&Counted>) -> Unit {
    match unit(kind) {
        Unit::Instructions if counted.is_none() => Unit::Clock,
        unit => unit,
    }
}

/// What the samples of a path of this kind count.
pub fn unit(kind: Kind) -> Unit {
    match kind {
        Kind::Check => Unit::Check,
        Kind::Windows(_) => Unit::Instructions,
        Kind::Wait(_) | Kind::TwoCpus(_) => Unit::Clock,
        Kind::Batches(_) => Unit::Ns,
    }
}

/// What `parse` makes of an entry that holds a document.
fn document_in<D>(entry: &Entry, parse: impl Fn(&[u8]) -> Option<D>) -> std::io::Result<Option<D>> {
    let document = entry.bytes(MAX_DOCUMENT_BYTES)?;
    Ok(document.and_then(|document| parse(&document)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(runs: &[&[u64]]) -> PathOutcome {
        let runs = runs.iter().map(|run| run.to_vec()).collect();
        PathOutcome {
            status: PathStatus::Ok,
            checks: vec![("entry".into(), "sysenter".into())],
            runs,
            lower_bounds: vec![1],
        }
    }

    fn result(runs: &[&[u64]]) -> PathResult {
        path_result(0, &Suite::Exact.paths()[0], outcome(runs), None)
    }

    #[test]
    fn samples_and_checks_are_kept() {
        let result = result(&[&[330, 331], &[330]]);
        assert_eq!((result.samples, result.samples_per_run), (vec![330, 331, 330], vec![2, 1]));
        assert_eq!((result.lower_bounds, &*result.checks[0].value), (vec![1], "sysenter"));
    }

    #[test]
    fn an_ok_that_no_document_may_hold_is_a_failure() {
        for runs in [&[&[][..]][..], &[&[1, u64::MAX][..]][..]] {
            assert_eq!(result(runs).status, pathmeter_model::Status::Failed);
        }
    }

    #[test]
    fn a_check_needs_no_samples() {
        let (index, path) = Suite::Exact.find("flags.isolation").unwrap();
        let result = path_result(index, path, outcome(&[&[]]), None);
        assert_eq!((result.status, result.unit), (pathmeter_model::Status::Ok, Unit::Check));
    }
}
