//! The result of a packed program on a kernel: what each kind of its work costs.
//!
//! Contract: a program that did not end as expected, or whose rows do not add up to the guest's
//! clock, gives no document.

use std::cell::Cell;

use pathmeter_model::{
    Configuration, Ended, Execution, Measurement, Output, Program, ProgramRun, ResultSchema,
    Written, parse_measurement, process_results, program_rows,
};
use pathmeter_trace::{
    Accounts, AlsoCounted, Event, KernelPlaces, ProgramFunction, Symbols, class_table,
    counted_events,
};
use pathmeter_vm::{Accounting, INIT, RanProgram};

use crate::digest::sha256;
use crate::error::MeasureError;
use crate::program::failure::{check_ends, failed_expectation, failed_program, unmeasured};
use crate::program::kernel_names::KernelNames;
use crate::program::packed::PackedProgram;
use crate::program::point_windows::{ProgramWindow, ProgramWindows};
use crate::program::runs::{Accounted, Slept, account_runs};
use crate::program::sleeps::{note as sleeps_note, sleeps};
use crate::session::plan_results::Elsewhere;
use crate::session::{Report, Session};
use crate::subject::image::Image;

/// The kernel's functions, by its own symbols.
pub fn kernel_names(
    session: &Session,
    image: &Image,
    windows: &[ProgramWindow],
    progress: Report<'_>,
) -> Result<KernelNames, MeasureError> {
    let text = session.symbols(image, progress)?;
    let places = KernelPlaces::find(&text).map_err(|error| unmeasured(image, error.to_string()))?;
    let symbols = Symbols::parse(&text).map_err(|error| unmeasured(image, error.to_string()))?;
    let windows = ProgramWindows::find(image, &text, windows)?;
    Ok(KernelNames { places, symbols, windows })
}

/// What is to be measured.
pub struct Asked<'a> {
    pub packed: &'a PackedProgram,
    /// Whether each function of the kernel is counted as well.
    pub functions: bool,
    pub also: AlsoCounted,
    /// The program's functions that are regions.
    pub regions: &'a [ProgramFunction],
    /// The windows between two points of the kernel.
    pub windows: &'a [ProgramWindow],
}

impl<'a> Asked<'a> {
    /// Asks for the rows of the program alone.
    pub fn rows(packed: &'a PackedProgram) -> Self {
        let also = AlsoCounted::default();
        Self { packed, functions: false, also, regions: &[], windows: &[] }
    }

    /// Whether nothing else is asked for, as by the cells of plans.
    fn is_of_rows(&self) -> bool {
        let Self { packed: _, functions, also, regions, windows } = *self;
        !functions && also == AlsoCounted::default() && regions.is_empty() && windows.is_empty()
    }
}

/// Runs the program on the kernel in `image`, whose functions `names` finds out; or takes an
/// earlier result of the same, from the cache or of a plan's cell.
pub fn measure(
    session: &Session,
    image: &Image,
    asked: &Asked<'_>,
    names: impl FnOnce() -> Result<KernelNames, MeasureError>,
    progress: Report<'_>,
) -> Result<Measurement, MeasureError> {
    let Asked { packed, functions, also, regions, windows } = *asked;
    let AlsoCounted { lines, returns } = also;
    let windows: Vec<String> = windows.iter().map(ProgramWindow::to_string).collect();
    let condition = packed.with_offsets(&session.settings_of(image).condition)?;
    let parcel = packed.parcel_under(&condition);
    let key = session.program_key(
        image,
        &parcel,
        &format!("{functions} {lines} {returns} {regions:?} {windows:?}"),
    );
    let parse = |bytes: &[u8]| parse_measurement(bytes).ok().filter(|it| packed.is_of(it));
    let loaded = image.guest_modules().iter().map(|module| module.name.clone()).collect();
    let program = Program { modules: loaded, windows, ..packed.program.clone() };
    let is_of = |it: &Measurement| packed.is_of(it) && session.is_of_program(image, &program, it);
    if asked.is_of_rows()
        && let Some(result) = session.find_planned(image, Some(packed), is_of)?
    {
        return Ok(result);
    }
    let is_measured = Cell::new(false);
    let result = session.cached(image, key, progress, parse, || {
        is_measured.set(true);
        session.tell(Elsewhere::Guest);
        let kernel = names()?;
        let places = kernel.places.table(regions, &kernel.windows.inside());
        let points = kernel.windows.table.as_bytes();
        let (runs, classes) = (packed.runs(), &class_table(returns));
        let places = &places;
        let asked =
            Accounting { places, points, classes, runs, functions, lines, perf_maps: false };
        let read = &|stream| pathmeter_trace::accounts(stream);
        let ran = session.run_program(image, &parcel, asked, read, progress)?;
        document(session, image, (packed, program), (&kernel, also), ran)
    })?;
    if !is_measured.get() {
        session.tell(Elsewhere::Cache);
    }
    Ok(Measurement { subject: image.subject(), ..result })
}

fn document(
    session: &Session,
    image: &Image,
    (packed, program): (&PackedProgram, Program),
    (kernel, also): (&KernelNames, AlsoCounted),
    ran: RanProgram<Accounts>,
) -> Result<Measurement, MeasureError> {
    let (ended, output) = (ended_well(image, packed, &ran)?, output(&ran.outputs));
    let clocks: Vec<u64> = ran.runs.iter().map(|run| run.clock).collect();
    let agent = (sha256(INIT), program.packed_sha256.clone());
    let configuration = session.program_configuration(image, &ran, agent);
    let Accounted { runs, regions, functions, notes, slept, names } =
        account_runs(ran.counts, &clocks, kernel, also).map_err(|what| unmeasured(image, what))?;
    let are_sleeps_known = slept.iter().all(Slept::has_wake_ups);
    let is_counted = |event: &Event| are_sleeps_known || !event.is_of_tasks();
    let counted: Vec<Event> = counted_events(also).filter(is_counted).collect();
    let clocks = runs.iter().map(|run: &ProgramRun| run.clock).collect();
    let processes = process_results(&runs, &counted);
    let sleeps = sleeps(&slept, &names, &kernel.places, processes.len() > 1);
    Ok(Measurement {
        schema: ResultSchema::V1,
        subject: image.subject(),
        configuration: Configuration { program: Some(program), ..configuration },
        guest: None,
        paths: program_rows(&runs, &counted, functions, regions),
        execution: Some(Execution { ended, output, runs: clocks, processes, sleeps }),
        notes: notes.into_iter().chain(sleeps_note(&slept)).collect(),
    })
}

/// How all runs of the program ended, which is as they should.
///
/// # Errors
/// One did not.
pub(crate) fn ended_well(
    image: &Image,
    packed: &PackedProgram,
    ran: &RanProgram<Accounts>,
) -> Result<Ended, MeasureError> {
    let last = output(ran.unlike.as_ref().map_or(&ran.outputs, |run| &run.outputs));
    check_ends(&ran.runs, packed.expected, &last.stderr).map_err(|(what, help)| {
        let failed = failed_expectation(&ran.counts).unwrap_or_default();
        failed_program(image, what + &failed, help, &last)
    })
}

fn output(outputs: &[pathmeter_vm::Written; 2]) -> Output {
    let [stdout, stderr] = outputs.each_ref().map(|written| Written {
        text: String::from_utf8_lossy(&written.bytes).into_owned(),
        bytes: written.total,
        truncated: written.total > written.bytes.len() as u64,
    });
    Output { stdout, stderr }
}
