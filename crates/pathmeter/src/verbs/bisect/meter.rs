//! What measures the kernels of a bisection.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use pathmeter_model::{Causes, Measurement, PairsCompared};
use pathmeter_trace::Explain;

use super::args::BisectArgs;
use crate::arguments::Words;
use crate::comparison::causes;
use crate::comparison::differences::differences;
use crate::comparison::sides::refuse_few;
use crate::failure::Failure;
use crate::packing::pack_cell_program;
use crate::screen::output::Screen;
use crate::screen::progress::Board;
use crate::setup;
use pathmeter_measure::interrupt;
use pathmeter_measure::path::additions::Probes;
use pathmeter_measure::path::selection::Selection;
use pathmeter_measure::program::result::Asked;
use pathmeter_measure::recording::{RecordablePath, only};
use pathmeter_measure::session::cell::CellProgram;
use pathmeter_measure::session::{Report, Session};
use pathmeter_measure::subject::Subject;
use pathmeter_measure::subject::image::Image;

/// A kernel, and its result.
pub(super) struct Measured {
    /// The kernel's file; of a result, the result's.
    pub(super) file: PathBuf,
    pub(super) result: Measurement,
}

/// QEMU and the cache, found once the first kernel is measured.
pub(super) struct Meter<'a> {
    args: &'a BisectArgs,
    probes: Probes<'a>,
    /// The program of which a row is looked at.
    program: Option<CellProgram>,
    screen: &'a Screen,
    session: OnceCell<Session>,
}

/// The program of `--program`, packed. Too few runs are refused.
fn program(args: &BisectArgs, screen: &Screen) -> Result<Option<CellProgram>, Failure> {
    match &args.program {
        Some(Words(command)) => {
            refuse_few(Some(args.guest.runs() as usize))?;
            pack_cell_program((command, &args.files), &args.guest, 0, screen).map(Some)
        }
        None => Ok(None),
    }
}

impl<'a> Meter<'a> {
    /// Refuses a path that there is not.
    pub(super) fn new(args: &'a BisectArgs, screen: &'a Screen) -> Result<Self, Failure> {
        let path = std::slice::from_ref(&args.path);
        let probes = Probes::new(args.probes.additions(), args.guest.size(), path)?;
        // A result may have other paths than this version.
        let results = args.kernels.iter().map(|kernel| Subject::open(kernel));
        let results: Vec<Subject> = results.collect::<Result<_, _>>()?;
        let own = Subject::Kernel(PathBuf::new());
        let mut names = own.paths();
        names.extend(results.iter().flat_map(Subject::paths));
        let more = probes.names();
        names.extend(more.iter().map(String::as_str));
        let program = program(args, screen)?;
        // A program's rows are known once it has run.
        if program.is_none() {
            Selection::new(path, &names)?;
        }
        Ok(Self { args, probes, program, screen, session: OnceCell::new() })
    }

    fn session(&self) -> Result<&Session, Failure> {
        if let Some(session) = self.session.get() {
            return Ok(session);
        }
        let session = setup::session(&self.args.guest, interrupt::listen())?;
        Ok(self.session.get_or_init(|| session))
    }

    /// The result of the kernel in `file`; a result is its own.
    pub(super) fn measure(&self, file: &Path) -> Result<Measured, Failure> {
        let result = match Subject::open(file)? {
            Subject::Result(result) => *result,
            Subject::Kernel(_) => {
                let session = self.session()?;
                let image = setup::under(&self.args.guest, Image::open(file)?)?;
                let board = Board::new(self.screen);
                board.during(image.subject().name, |it| self.measure_image(session, &image, it))?
            }
        };
        Ok(Measured { file: file.to_owned(), result })
    }

    fn measure_image(
        &self,
        session: &Session,
        image: &Image,
        progress: Report<'_>,
    ) -> Result<Measurement, Failure> {
        let Some(program) = &self.program else {
            return Ok(self.probes.measure(session, image, progress)?);
        };
        let asked = Asked { functions: true, ..Asked::rows(&program.packed) };
        Ok(program.measure(session, image, &asked, progress)?)
    }

    /// In which functions the two differ on the path, in the pair that its row shows, and the
    /// causes; none if one is no kernel, or the path has no windows to record.
    pub(super) fn explained(
        &self,
        (path, pairs): (&str, Option<PairsCompared>),
        sides: [&Measured; 2],
    ) -> Result<Option<(Explain, Option<Causes>)>, Failure> {
        for side in sides {
            if !matches!(Subject::open(&side.file), Ok(Subject::Kernel(_))) {
                return Ok(None);
            }
        }
        let windows = &self.args.probes.windows.window;
        let Ok(path) = RecordablePath::or_window(path, windows) else { return Ok(None) };
        let path = path.showing(pairs);
        let [base, new] = sides.map(|side| Image::open(&side.file));
        let [base, new] = [base?, new?].map(|image| setup::under(&self.args.guest, image));
        let (base, new) = (base?, new?);
        let board = Board::new(self.screen);
        let session = self.session()?;
        let explanation = only(differences(session, [&base, &new], &[path], &board)?)?;
        let of = std::slice::from_ref(&explanation);
        let causes = causes::of_explanations(of, session, [&base, &new]).ok();
        Ok(Some((explanation, causes)))
    }
}
