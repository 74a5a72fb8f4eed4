//! A session: QEMU, the cache and the guest's settings, found out once, and everything that is
//! measured with them.
//!
//! Contract: a result from the cache and one just measured are the same document, but for the
//! subject's name, which is always the one given now.

use std::collections::BTreeSet;
use std::fs::File;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pathmeter_model::{Configuration, Measurement, ResultSchema, Unit};
use pathmeter_probes::{Group, Suite, WARMUP};
use pathmeter_trace::{Counting, MeasuredWith, PointTable, SettingProof, SettingState};
use pathmeter_vm::{
    Accounting, Cache, Condition, Execution, FIRMWARE, Firmware, Interrupt, Kernel, MeasuredKernel,
    Parcel, PathOutcome, Plan, Progress, Proof, ProofState, Qemu, RanProgram, Recorded,
    RecordingLimits, Request, Settings, VmError,
};

use crate::digest::sha256;
use crate::error::MeasureError;
use crate::path::result::{path_result, with_cause};
use crate::path::rows::Counted;
use crate::path::waits::WaitPoints;
use crate::session::groups::{GroupResult, Groups};
use crate::session::guest_files::{guest_report, note_of};
use crate::session::plan_results::PlanResults;
use crate::subject::image::Image;

mod cache;
mod cached_results;
pub mod cell;
pub mod elapsed;
mod group_times;
mod groups;
mod guest_files;
mod identity;
mod joint_progress;
pub mod memory;
pub mod plan_results;
mod repeat;
pub mod selftest;
mod turns;

/// Bytes of a trace after which recording stops: a hundred times those of the longest path.
pub const MOST_TRACED: u64 = 1 << 30;
/// Instructions after which a window counts as one that never ends.
pub const LONGEST_WINDOW: u64 = 20_000_000;

/// Told how far a measurement is.
pub type Report<'a> = &'a (dyn Fn(Progress<'_>) + Sync);

/// How guests are measured: what a command line says of it, resolved.
#[derive(Debug, Clone)]
pub struct Guests {
    pub settings: Settings,
    /// How many perturbed runs are made.
    pub runs: u32,
    /// The longest wait for a boot or a run.
    pub limit: Duration,
}

/// Everything that a measurement needs but the kernel.
pub struct Session {
    qemu: Qemu,
    cache: Option<Cache>,
    /// Results of cells, in which a result is looked for first.
    results: Option<Arc<PlanResults>>,
    settings: Settings,
    runs: u32,
    limit: Duration,
    interrupt: Interrupt,
    agent_sha256: String,
    initramfs_sha256: String,
    /// The groups of paths that are measured.
    groups: Groups,
    /// Whether there is no result if a path took longer than the limit.
    refuses_late: bool,
    /// Whether snapshots are kept that only one program can be executed from.
    keeps_own_snapshots: bool,
    /// What the user is still to be told.
    note: Mutex<Option<String>>,
    /// What the user was told of conditions, by this session or by one like it.
    told: Arc<Mutex<BTreeSet<String>>>,
}

impl Session {
    /// With a QEMU and a cache that were found already.
    pub fn new(qemu: Qemu, cache: Option<Cache>, guests: Guests, interrupt: Interrupt) -> Self {
        let Guests { settings, runs, limit } = guests;
        let parcel = Parcel::of_paths(&Plan::new(Suite::Exact, runs), &Condition::default());
        let initramfs_sha256 = sha256((parcel.sha256() + &groups::describe_plans(runs)).as_bytes());
        Self {
            qemu,
            cache,
            results: None,
            settings,
            runs,
            limit,
            interrupt,
            agent_sha256: pathmeter_vm::agent_sha256(),
            initramfs_sha256,
            groups: Groups::ALL,
            refuses_late: false,
            keeps_own_snapshots: true,
            note: Mutex::default(),
            told: Arc::default(),
        }
    }

    /// The same, with something that the user is told when work begins.
    #[must_use]
    pub fn with_note(self, note: Option<String>) -> Self {
        Self { note: Mutex::new(note), ..self }
    }

    /// The same, which takes results of a plan's cells in place of measuring.
    #[must_use]
    pub fn with_results(self, results: Option<Arc<PlanResults>>) -> Self {
        Self { results, ..self }
    }

    /// The same, with no result if a path took longer than the limit: that is time of this machine,
    /// and the result of another one would have other bytes.
    #[must_use]
    pub fn refuse_late(&self) -> Self {
        Self { refuses_late: true, ..self.hand_over() }
    }

    /// Measures `image`, or finds its result, in the cache or among those of a plan. Says so if the
    /// guest's kernel does not print what it should on its CPU, and was not asked to: mitigations
    /// are boot parameters.
    pub fn measure(
        &self,
        image: &Image,
        progress: Report<'_>,
    ) -> Result<Measurement, MeasureError> {
        self.tell_doubts(image, progress);
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

    /// Says what of the image's condition is not as it looks, once.
    fn tell_doubts(&self, image: &Image, progress: Report<'_>) {
        let condition = image.settings(&self.settings).condition;
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        for doubt in condition.doubts().filter(|doubt| told.insert(doubt.clone())) {
            progress(Progress::Note(&doubt));
        }
    }

    fn measure_or_find(
        &self,
        image: &Image,
        progress: Report<'_>,
    ) -> Result<Measurement, MeasureError> {
        let is_of = |result: &Measurement| self.is_of(image, &result.configuration);
        match self.find_planned(image, None, is_of)? {
            Some(result) => Ok(result),
            None => self.measure_groups(image, progress),
        }
    }

    /// Measures once; a guest with two CPUs until two measurements, each of a boot of its own, give
    /// the same documents.
    fn measure_anew(
        &self,
        image: &Image,
        groups: &[&Group],
        progress: Report<'_>,
    ) -> Result<Vec<GroupResult>, MeasureError> {
        if image.cpus() == 1 {
            return self.measure_now(image, groups, progress);
        }
        repeat::twice(|| self.measure_now(image, groups, progress))?
            .map_err(|times| MeasureError::Disagree { subject: image.subject().name, times })
    }

    /// A session like this one, with guests of so much memory, in MiB.
    #[must_use]
    pub fn with_memory(&self, memory_mib: u32) -> Self {
        let settings = Settings { memory_mib, ..self.settings.clone() };
        Self { settings, ..self.again(self.cache.clone()) }
    }

    /// A session like this one, whose measurements are interrupted at `end`. It tells what this one
    /// was still to tell.
    #[must_use]
    pub fn until(&self, end: Instant) -> Self {
        Self { interrupt: self.interrupt.until(end), ..self.hand_over() }
    }

    /// A session like this one, whose measurements are also interrupted once this flag is set. It
    /// tells what this one was still to tell.
    #[must_use]
    pub fn ended_by(&self, flag: Arc<AtomicBool>) -> Self {
        Self { interrupt: self.interrupt.or(flag), ..self.hand_over() }
    }

    /// A session like this one, which tells in its place what this one was still to tell.
    fn hand_over(&self) -> Self {
        let note = self.note.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.again(self.cache.clone()).with_note(note)
    }

    /// The same, without keeping a snapshot that only one program can be executed from: for many
    /// that are executed once, whose results would soon be removed to make room for them.
    #[must_use]
    pub fn without_own_snapshots(&self) -> Self {
        Self { keeps_own_snapshots: false, ..self.again(self.cache.clone()) }
    }

    /// The same with this cache.
    fn again(&self, cache: Option<Cache>) -> Self {
        Self {
            qemu: self.qemu.clone(),
            cache,
            results: self.results.clone(),
            settings: self.settings.clone(),
            interrupt: self.interrupt.clone(),
            agent_sha256: self.agent_sha256.clone(),
            initramfs_sha256: self.initramfs_sha256.clone(),
            note: Mutex::default(),
            told: Arc::clone(&self.told),
            ..*self
        }
    }

    /// Runs the program of `parcel`; `read` makes of the plugin's stream what it will.
    pub fn run_program<C: Send>(
        &self,
        image: &Image,
        parcel: &Parcel,
        asked: Accounting<'_>,
        read: &(dyn Fn(File) -> C + Sync),
        progress: Report<'_>,
    ) -> Result<RanProgram<C>, MeasureError> {
        self.with_request(image, progress, |request| {
            let keeps = self.keeps_own_snapshots || parcel.is_handed_over();
            let kernel = Kernel { sha256: request.kernel.sha256.clone(), ..request.kernel };
            let cache = request.cache.filter(|_| keeps);
            let request = Request { cache, kernel, ..*request };
            pathmeter_vm::run_program(&request, parcel, asked, read)
        })
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

    pub fn qemu_version(&self) -> &str {
        &self.qemu.version
    }

    pub fn agent_sha256(&self) -> &str {
        &self.agent_sha256
    }

    /// What came of the paths of [`Suite::Elapsed`], in nanoseconds of this host.
    pub fn measure_elapsed(
        &self,
        image: &Image,
        progress: Report<'_>,
    ) -> Result<Vec<PathOutcome>, MeasureError> {
        self.with_request(image, progress, pathmeter_vm::measure_elapsed)
    }

    /// Records these executions, of paths of one group, all in one guest, in their order; `read`
    /// makes of each trace what it will. Of paths that `table` has windows for, those are recorded
    /// that begin after the first `warm` begin markers, `windows` of them or more.
    pub fn record<R: Send>(
        &self,
        image: &Image,
        wanted: &[Execution],
        (table, warm, windows): (&PointTable, u64, u64),
        progress: Report<'_>,
        read: impl Fn(Execution, File) -> R + Sync,
    ) -> Result<Vec<Result<Recorded<R>, MeasureError>>, MeasureError> {
        let (skip, bytes, most) = (u64::from(WARMUP), MOST_TRACED, LONGEST_WINDOW);
        let limits = RecordingLimits { skip, warm, windows, bytes, most };
        let Some(first) = wanted.first() else { return Ok(Vec::new()) };
        let plan = self.plan_with(first.path);
        let recorded = self.with_points(image, table, progress, |request| {
            pathmeter_vm::record(request, &plan, wanted, limits, read)
        })?;
        let named = |one: Result<_, VmError>| one.map_err(|error| image.failure(error));
        Ok(recorded.into_iter().map(named).collect())
    }

    /// The kernel's symbols, as its `/proc/kallsyms` has them.
    pub fn symbols(&self, image: &Image, progress: Report<'_>) -> Result<Vec<u8>, MeasureError> {
        self.with_request(&image.of_symbols(), progress, pathmeter_vm::symbols)
    }

    /// The same if the cache has them.
    ///
    /// # Errors
    /// None; a request can't be made without a way to fail.
    pub fn cached_symbols(&self, image: &Image) -> Result<Option<Vec<u8>>, MeasureError> {
        let cached = |request: &Request<'_>| Ok(pathmeter_vm::cached_symbols(request));
        self.with_request(&image.of_symbols(), &|_| {}, cached)
    }

    /// Has `act` do what is asked of the guests of this image.
    pub fn with_request<R>(
        &self,
        image: &Image,
        progress: Report<'_>,
        act: impl FnOnce(&Request<'_>) -> Result<R, VmError>,
    ) -> Result<R, MeasureError> {
        self.with_points(image, &PointTable::default(), progress, act)
    }

    fn with_points<R>(
        &self,
        image: &Image,
        points: &PointTable,
        progress: Report<'_>,
        act: impl FnOnce(&Request<'_>) -> Result<R, VmError>,
    ) -> Result<R, MeasureError> {
        if let Some(note) = self.note.lock().unwrap_or_else(PoisonError::into_inner).take() {
            progress(Progress::Note(&note));
        }
        self.tell_doubts(image, progress);
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
            boots_with_parcel: false,
        };
        act(&request).map_err(|error| image.failure(error))
    }

    fn document(
        &self,
        image: &Image,
        measured: MeasuredKernel<Counting>,
        (group, points): (&Group, &WaitPoints),
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
            paths: paths.filter(|(_, (path, _))| group.holds(path.name)).map(result).collect(),
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
