//! Measuring a cell: the same steps as `measure` and `run`, and the same bytes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pathmeter_model::Status;
use pathmeter_plan::{Cell, Plan};

use super::args::RunnerArgs;
use super::bench::{Bench, Options, refuse_changed};
use super::loaded::{enter, qemu};
use crate::failure::Failure;
use crate::screen::output::{self, Screen};
use crate::subject_files::find_kernel;
use pathmeter_measure::interrupt;
use pathmeter_measure::session::cell::{self, CellProgram};
use pathmeter_measure::session::{Report, Session};
use pathmeter_measure::subject::image::Image;

/// A plan on this machine.
pub(super) struct Stand<'a> {
    plan: &'a Plan,
    screen: &'a Screen,
    /// The longest that a cell's guests may take, in seconds.
    limit: Option<u64>,
    bench: Bench,
    images: Mutex<HashMap<usize, Image>>,
    programs: Mutex<HashMap<usize, Arc<CellProgram>>>,
}

/// What came of a cell.
pub(super) struct Measured {
    /// The document, as `measure` writes it.
    pub(super) bytes: Vec<u8>,
    /// Whether a path of it failed.
    pub(super) has_failed_path: bool,
}

impl<'a> Stand<'a> {
    /// For the plan that `args` names; paths are relative to its folder from here on.
    ///
    /// # Errors
    /// The plan was made for another version of pathmeter or QEMU than this machine has.
    pub(super) fn new(
        plan: &'a Plan,
        (args, no_cache): (&RunnerArgs, bool),
        screen: &'a Screen,
    ) -> Result<Self, Failure> {
        let options = Options {
            qemu: qemu(args.qemu.as_deref())?,
            timeout: Some(args.timeout),
            no_cache,
            memory: Some(plan.memory_mib),
            perturb: Some(plan.perturb),
            append: Some(plan.append.clone()),
            modules: plan.modules.clone(),
        };
        refuse_other(&args.plan, "pathmeter", &plan.pathmeter, env!("CARGO_PKG_VERSION"))?;
        enter(&args.plan, plan)?;
        let bench = Bench::new(options);
        let cpu = plan.cells.first().and_then(|cell| cell.cpu.as_deref());
        let usual = bench.session(cpu)?;
        refuse_other(&args.plan, "QEMU", &plan.qemu, usual.qemu_version())?;
        refuse_other(&args.plan, "the agent", &plan.agent_sha256, usual.agent_sha256())?;
        let (images, programs) = (Mutex::default(), Mutex::default());
        Ok(Self { plan, screen, limit: args.limit, bench, images, programs })
    }

    /// Measures a cell.
    ///
    /// # Errors
    /// It can't be measured; or what lies here is not what was planned.
    pub(super) fn measure(&self, cell: &Cell, progress: Report<'_>) -> Result<Measured, Failure> {
        let session = self.bench.session(cell.cpu.as_deref())?.refuse_late();
        let image = self.image(cell.image)?;
        let image = self.bench.under(&image, cell.under.as_deref())?;
        let program = cell.program.map(|number| self.program(number)).transpose()?;
        self.refuse_another(cell, (&session, &image, program.as_deref()))?;
        let result = match self.limit {
            None => Ok(cell::measure(&session, &image, program.as_deref(), progress)?),
            Some(limit) => {
                let ends = session.until(Instant::now() + Duration::from_secs(limit));
                let result = cell::measure(&ends, &image, program.as_deref(), progress);
                result.map_err(|error| self.over_limit(cell, limit, error.into()))
            }
        }?;
        let has_failed_path = result.paths.iter().any(|path| path.status == Status::Failed);
        Ok(Measured { bytes: output::json(&result)?, has_failed_path })
    }

    /// Refuses what is not the cell that was planned.
    fn refuse_another(
        &self,
        cell: &Cell,
        (session, image, program): (&Session, &Image, Option<&CellProgram>),
    ) -> Result<(), Failure> {
        if cell::id(session, image, program) == cell.id {
            return Ok(());
        }
        let what = "a file of its condition, its CPU or its modules is another one here";
        let subject = PathBuf::from(self.plan.title(cell));
        Err(Failure::Unplanned { subject, what: what.to_owned() })
    }

    /// What a cell failed for that was to end at its limit: for that, if no signal came.
    fn over_limit(&self, cell: &Cell, limit: u64, failure: Failure) -> Failure {
        match failure {
            Failure::Interrupted if interrupt::check().is_ok() => {
                Failure::OverLimit { subject: PathBuf::from(self.plan.title(cell)), limit }
            }
            failure => failure,
        }
    }

    /// The kernel, if it is the one that was planned; it is hashed once.
    fn image(&self, number: usize) -> Result<Image, Failure> {
        let mut images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(image) = images.get(&number) {
            return Ok(image.clone());
        }
        let planned = &self.plan.images[number];
        let place = planned.place.as_ref().unwrap_or(&planned.subject);
        let image = Image::open(&find_kernel(Path::new(place), self.screen)?)?;
        if image.sha256() != planned.sha256 {
            let what =
                format!("its SHA-256 is {}, not the planned {}", image.sha256(), planned.sha256);
            return Err(Failure::Unplanned { subject: PathBuf::from(place), what });
        }
        images.insert(number, image.clone());
        Ok(image)
    }

    /// A program of the plan, packed when it is first asked for.
    fn program(&self, number: usize) -> Result<Arc<CellProgram>, Failure> {
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = programs.get(&number) {
            return Ok(Arc::clone(program));
        }
        let planned = &self.plan.programs[number];
        // What is left out of it was told when it was planned.
        let program = self.bench.pack(&planned.to_wanted(), |_| {})?;
        refuse_changed(&program.packed, planned)?;
        let program = Arc::new(program);
        programs.insert(number, Arc::clone(&program));
        Ok(program)
    }
}

/// Refuses another version than the plan was made for: the results would have other bytes.
fn refuse_other(plan: &Path, what: &str, planned: &str, here: &str) -> Result<(), Failure> {
    if planned == here {
        return Ok(());
    }
    let what = format!(
        "it was made for {what} {planned}, and this machine has {here}: no result would be the same"
    );
    Err(Failure::Unplanned { subject: plan.to_owned(), what })
}
