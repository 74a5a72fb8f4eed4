//! What measures the cells of a plan: a session for each CPU, kernels and programs as they lie
//! here, each made sure to be what it is called.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use pathmeter_pack::{FileArg, Note, Packing};
use pathmeter_plan::{PlanProgram, WantedProgram};

use crate::arguments::{GuestArgs, variable};
use crate::failure::Failure;
use crate::packing::named_by_shell;
use crate::setup;
use pathmeter_measure::interrupt;
use pathmeter_measure::program::packed::PackedProgram;
use pathmeter_measure::session::Session;
use pathmeter_measure::session::cell::CellProgram;
use pathmeter_measure::subject::image::Image;

/// How guests run, as options of a command line.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    pub(super) qemu: Option<PathBuf>,
    pub(super) timeout: Option<u64>,
    pub(super) no_cache: bool,
    pub(super) memory: Option<u32>,
    pub(super) perturb: Option<u32>,
    pub(super) append: Option<String>,
    pub(super) modules: Option<String>,
}

/// What is found out once of each thing that cells share.
pub(super) struct Bench {
    options: Options,
    sessions: Mutex<HashMap<Option<String>, Arc<Session>>>,
    conditions: Mutex<HashMap<String, Arc<GuestArgs>>>,
}

impl Bench {
    pub(super) fn new(options: Options) -> Self {
        let (sessions, conditions) = (Mutex::default(), Mutex::default());
        Self { options, sessions, conditions }
    }

    /// How guests run, with one more option.
    pub(super) fn guest(&self, more: Option<String>) -> Result<GuestArgs, Failure> {
        let Options { qemu, timeout, no_cache, memory, perturb, append, modules: _ } =
            &self.options;
        let number = |name, value: Option<u64>| value.map(|value| format!("--{name}={value}"));
        let words = [
            number("timeout", *timeout),
            number("memory", memory.map(u64::from)),
            number("perturb", perturb.map(u64::from)),
            append.as_ref().map(|append| format!("--append={append}")),
            more,
        ];
        let words: Vec<String> = words.into_iter().flatten().collect();
        let guest = GuestArgs::of_words(&words).map_err(|message| Failure::Usage {
            message: format!("{}: {message}", words.last().map_or("", |word| word)),
            help: "`pathmeter measure --help` describes these options".to_owned(),
        })?;
        Ok(GuestArgs { qemu: qemu.clone(), no_cache: *no_cache, ..guest })
    }

    /// The session with this CPU.
    pub(super) fn session(&self, cpu: Option<&str>) -> Result<Arc<Session>, Failure> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let key = cpu.map(str::to_owned);
        if let Some(session) = sessions.get(&key) {
            return Ok(Arc::clone(session));
        }
        let guest = self.guest(cpu.map(|cpu| format!("--cpu={cpu}")))?;
        let session = Arc::new(setup::session(&guest, interrupt::listen())?);
        sessions.insert(key, Arc::clone(&session));
        Ok(session)
    }

    /// What this condition asks of guests.
    pub(super) fn condition(&self, under: &str) -> Result<Arc<GuestArgs>, Failure> {
        let mut conditions = self.conditions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(guest) = conditions.get(under) {
            return Ok(Arc::clone(guest));
        }
        let guest = self.guest(Some(format!("--under={under}")))?;
        let modules = self.options.modules.as_ref().map(PathBuf::from);
        let guest = Arc::new(GuestArgs { modules, ..guest });
        setup::refuse_unfit(&guest)?;
        conditions.insert(under.to_owned(), Arc::clone(&guest));
        Ok(guest)
    }

    /// The kernel under this condition.
    pub(super) fn under(&self, image: &Image, under: Option<&str>) -> Result<Image, Failure> {
        match under {
            None => Ok(image.clone()),
            Some(under) => setup::under(&*self.condition(under)?, image.clone()),
        }
    }

    /// Packs a program; what was left out of it is told to `note`.
    pub(super) fn pack(
        &self,
        wanted: &WantedProgram,
        note: impl Fn(&Note),
    ) -> Result<CellProgram, Failure> {
        let usual = self.guest(None)?;
        let command: Vec<OsString> = wanted.command.iter().map(OsString::from).collect();
        let mut files: Vec<FileArg> =
            wanted.file.iter().map(|file| FileArg::parse(file.as_ref())).collect();
        if wanted.root.is_none() {
            files.splice(..0, named_by_shell(&command, &files).files());
        }
        let env = wanted.env.iter().map(|word| variable(word.into()).map_err(|what| (word, what)));
        let env = env.collect::<Result<Vec<_>, _>>().map_err(|(word, what)| Failure::Usage {
            message: format!("env: {word:?}: {what}"),
            help: "such as env = [\"LANG=C\"]".to_owned(),
        })?;
        let packed = pathmeter_pack::pack(&Packing {
            command: &command,
            root: wanted.root.as_deref().map(Path::new),
            files: &files,
            env: &env,
            stdin: wanted.stdin.as_deref().map(Path::new),
        });
        let packed = packed?;
        packed.notes.iter().for_each(note);
        Ok(CellProgram::new(packed, usual.runs(), usual.memory, wanted.exit_code)?)
    }
}

/// That a program packs here to what was planned.
///
/// # Errors
/// It does not; with the first file that differs.
pub(super) fn refuse_changed(packed: &PackedProgram, planned: &PlanProgram) -> Result<(), Failure> {
    if packed.sha256() == planned.packed_sha256 {
        return Ok(());
    }
    let here = packed.file_hashes();
    let changed = planned.files.iter().find(|(name, hash)| here.get(*name) != Some(hash));
    let added = || here.keys().find(|name| !planned.files.contains_key(*name));
    let what = match (changed, added()) {
        (Some((name, _)), _) if here.contains_key(name) => format!("/{name} is another file here"),
        (Some((name, _)), _) => format!("/{name} is not packed here"),
        (None, Some(name)) => format!("/{name} is packed here, too"),
        (None, None) => "it packs to something else here".to_owned(),
    };
    let program = planned.command.first().map_or("", |word| word);
    Err(Failure::Unplanned { subject: program.into(), what })
}
