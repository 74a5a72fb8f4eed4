//! The cells of a plan: all kernels × conditions × CPUs × (all paths, and each program).

use std::sync::Arc;
use std::thread::available_parallelism;

use pathmeter_plan::Cell;

use super::bench::Bench;
use crate::failure::Failure;
use pathmeter_measure::session::Session;
use pathmeter_measure::session::cell::{self, CellProgram};
use pathmeter_measure::subject::image::Image;
use pathmeter_measure::threads::each;

/// A CPU as the user names it, and its session.
pub(super) type OnCpu<'a> = (&'a Option<String>, Arc<Session>);

/// What each kernel is measured on.
pub(super) struct Product<'a> {
    pub(super) bench: &'a Bench,
    /// As `--under` takes them; None for the default.
    pub(super) conditions: &'a [Option<String>],
    pub(super) cpus: &'a [OnCpu<'a>],
    /// Whether all paths are measured.
    pub(super) paths: bool,
    pub(super) programs: &'a [&'a CellProgram],
}

impl Product<'_> {
    /// The cells of these kernels. Their ids are hashes, worked out by as many threads as there are
    /// processors.
    ///
    /// # Errors
    /// A kernel can't have a condition.
    pub(super) fn cells(&self, images: &[&Image]) -> Result<Vec<Cell>, Failure> {
        let threads = available_parallelism().map_or(1, usize::from);
        let cells = each(images.iter().enumerate(), threads, |(at, image)| self.of_one(at, image));
        Ok(Failure::gather(cells)?.concat())
    }

    /// The cells of the kernel with this number.
    fn of_one(&self, number: usize, image: &Image) -> Result<Vec<Cell>, Failure> {
        let mut cells = Vec::new();
        for under in self.conditions {
            let image = self.bench.under(image, under.as_deref())?;
            for (cpu, session) in self.cpus {
                cells.extend(self.runs().map(|program| Cell {
                    id: cell::id(session, &image, program.map(|at| self.programs[at])),
                    image: number,
                    cpu: (*cpu).clone(),
                    under: under.clone(),
                    program,
                }));
            }
        }
        Ok(cells)
    }

    /// None for all paths, and the number of each program.
    fn runs(&self) -> impl Iterator<Item = Option<usize>> {
        let paths = self.paths.then_some(None);
        paths.into_iter().chain((0..self.programs.len()).map(Some))
    }
}
