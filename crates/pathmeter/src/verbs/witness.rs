//! `pathmeter witness`: the paths of a kernel in QEMU and in Bochs, a second interpreter.

mod outcome;
mod reconciliation;
mod runs;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use pathmeter_probes::{Kind, Suite};
use pathmeter_report::{Style, WitnessOutcome, WitnessRow, witness_table};
use pathmeter_trace::Reconciled;
use pathmeter_vm::{Bochs, Cpu, WITNESS_CPU};

use self::outcome::outcome;
use self::reconciliation::{Differing, reconciliations};
use self::runs::WitnessProgram;
use crate::cli::{GuestArgs, WitnessArgs};
use crate::failure::{Exit, Failure};
use crate::screen::output::{self, Screen};
use crate::screen::progress::Board;
use crate::setup;
use pathmeter_measure::error::MeasureError;
use pathmeter_measure::interrupt;
use pathmeter_measure::session::{Report, Session};
use pathmeter_measure::subject::Subject;
use pathmeter_measure::subject::image::Image;
use pathmeter_model::clean;

/// Why a path is left out in both.
const REFUSED: &str = "left out: Bochs' CPU has AMD's syscall in 64-bit code only";

/// Measures each subject in both, and prints a table of each.
pub(crate) fn run(args: &WitnessArgs, screen: &Screen) -> Result<Exit, Failure> {
    let guest = with_common_cpu(&args.guest)?;
    let names = args.kernels.iter().map(|name| kernel(name)).collect::<Result<Vec<_>, _>>()?;
    let interrupt = interrupt::listen();
    let bochs = Bochs::find(args.bochs.as_deref(), &interrupt).map_err(MeasureError::Host)?;
    let names: Vec<_> = names.iter().map(PathBuf::as_path).collect();
    let (session, images) = setup::prepare(&guest, interrupt, &names)?;
    if let Some(image) = images.iter().find(|image| image.cpus() > 1) {
        return Err(Failure::Usage {
            message: format!("{}: Bochs is given one CPU", image.subject().name),
            help: "name a subject with one".to_owned(),
        });
    }
    let program = WitnessProgram::of(&args.packing, &guest, screen)?;
    let mut all_agree = true;
    for image in &images {
        let both = Both { session: &session, bochs: &bochs, image, board: Board::new(screen) };
        let (table, agree) = match &program {
            Some(program) => program.table(&both, screen.style())?,
            None => both.table(screen.style())?,
        };
        let title = format!(
            "{}: QEMU {} and Bochs {}",
            image.subject().name,
            session.qemu_version(),
            bochs.version
        );
        output::print(format!("{}\n\n{table}\n", clean(&title)).as_bytes())?;
        all_agree &= agree;
    }
    Ok(if all_agree { Exit::Done } else { Exit::Worse })
}

/// A subject, which must be a kernel.
fn kernel(name: &Path) -> Result<PathBuf, Failure> {
    match Subject::open(name)? {
        Subject::Kernel(path) => Ok(path),
        Subject::Result(_) => Err(Failure::Usage {
            message: format!("{} is a result", name.display()),
            help: "name a kernel: it is executed in two interpreters".to_owned(),
        }),
    }
}

/// The arguments, with the CPU that both interpreters have.
fn with_common_cpu(guest: &GuestArgs) -> Result<GuestArgs, Failure> {
    if guest.cpus().next().is_none() {
        return Ok(GuestArgs { cpu: vec![Cpu::from_name(WITNESS_CPU)], ..guest.clone() });
    }
    Err(Failure::Usage {
        message: "--cpu can't be chosen here".to_owned(),
        help: "both interpreters have the same CPU: what each can execute of it".to_owned(),
    })
}

/// A kernel in both interpreters.
struct Both<'a> {
    session: &'a Session,
    bochs: &'a Bochs,
    image: &'a Image,
    board: Board,
}

impl Both<'_> {
    /// Does work in one of them, which its line on the board tells.
    fn during<T>(&self, place: &str, work: impl FnOnce(Report<'_>) -> T) -> T {
        self.board.during(format!("{} {place}", self.image.subject().name), work)
    }

    /// The table of the paths, and whether the two agree on all of them, or differ only where the
    /// kernel decided differently.
    fn table(&self, style: Style) -> Result<(String, bool), Failure> {
        let rows = self.rows()?;
        Ok((witness_table(&rows, style), rows.iter().all(WitnessRow::agrees)))
    }

    /// A row for each path that has windows.
    fn rows(&self) -> Result<Vec<WitnessRow>, Failure> {
        let mut rows = self.outcomes()?;
        let differing = rows.iter().filter_map(|(index, row)| match row.outcome {
            WitnessOutcome::Both(counts) if !counts.agree() => {
                Some(Differing { index: *index, counts })
            }
            _ => None,
        });
        let differing: Vec<Differing> = differing.collect();
        let why = reconciliations(self, &differing)?;
        let mut why: HashMap<usize, Reconciled> =
            differing.iter().map(|one| one.index).zip(why).collect();
        for (index, row) in &mut rows {
            row.reconciled = why.remove(index);
        }
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }

    /// What came of each of these paths, by its index.
    fn outcomes(&self) -> Result<Vec<(usize, WitnessRow)>, Failure> {
        let Self { session, bochs, image, .. } = self;
        let (outcomes, counted) = self.during("in QEMU", |it| session.count(image, it))?;
        let seen = self.during("in Bochs", |it| session.witness(image, bochs, it))?;
        let plan = pathmeter_vm::witness_plan(&session.settings_of(image));
        let paths = Suite::Exact.paths().iter().enumerate();
        let paths = paths.filter(|(_, path)| matches!(path.kind, Kind::Windows(_)));
        let row = |(index, path): (usize, &pathmeter_probes::Path)| {
            let outcome = if plan.skips(index) {
                WitnessOutcome::Not(REFUSED.to_owned())
            } else {
                let windows = counted.of_run(index, 0, &outcomes[index]);
                outcome(windows, &outcomes[index], &seen[index])
            };
            (index, WitnessRow { path: path.name.to_owned(), outcome, reconciled: None })
        };
        Ok(paths.map(row).collect())
    }
}
