//! The cells of a plan: all kernels × conditions × CPUs × (all paths, and each program).

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{Builder, ScopedJoinHandle, available_parallelism, scope};

use pathmeter_plan::Cell;

use super::bench::{self, Bench, Program};
use super::conditions::PlanCondition;
use pathmeter_measure::failure::Failure;
use pathmeter_measure::image::Image;
use pathmeter_measure::session::Session;

/// A CPU as the user names it, and its session.
pub(super) type OnCpu<'a> = (&'a Option<String>, Arc<Session>);

/// What each kernel is measured on.
pub(super) struct Product<'a> {
    pub(super) bench: &'a Bench,
    pub(super) conditions: &'a [PlanCondition],
    pub(super) cpus: &'a [OnCpu<'a>],
    /// Whether all paths are measured.
    pub(super) paths: bool,
    pub(super) programs: &'a [&'a Program],
}

impl Product<'_> {
    /// The cells of these kernels. Their ids are hashes, worked out by as many threads as there are
    /// processors; where no thread can be had, by this one.
    ///
    /// # Errors
    /// A kernel can't have a condition.
    pub(super) fn cells(&self, images: &[&Image]) -> Result<Vec<Cell>, Failure> {
        let threads = available_parallelism().map_or(1, usize::from);
        let share = images.len().div_ceil(threads).max(1);
        let parts = scope(|scope| {
            let start = |(number, part)| {
                let work = move || self.part(number * share, part);
                (number, part, Builder::new().spawn_scoped(scope, work).ok())
            };
            let started: Vec<_> = images.chunks(share).enumerate().map(start).collect();
            let finish =
                |(number, part, thread): (usize, &[&Image], Option<ScopedJoinHandle<_>>)| {
                    thread.map_or_else(
                        || self.part(number * share, part),
                        |thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
                    )
                };
            started.into_iter().map(finish).collect::<Vec<_>>()
        });
        Ok(Failure::gather(parts)?.concat())
    }

    /// The cells of some of the kernels, of which the first has the number `first`.
    fn part(&self, first: usize, images: &[&Image]) -> Result<Vec<Cell>, Failure> {
        let mut cells = Vec::new();
        for (number, image) in images.iter().enumerate() {
            for condition in self.conditions {
                let under = &condition.under;
                let image = self.bench.under(image, under.as_deref())?;
                for (cpu, session) in self.cpus {
                    cells.extend(self.runs(condition).map(|program| Cell {
                        id: bench::id(session, &image, program.map(|at| self.programs[at])),
                        image: first + number,
                        cpu: (*cpu).clone(),
                        under: under.clone(),
                        program,
                    }));
                }
            }
        }
        Ok(cells)
    }

    /// None for all paths, and the number of each program.
    fn runs(&self, condition: &PlanCondition) -> impl Iterator<Item = Option<usize>> {
        let paths = self.paths.then_some(None);
        let programs = if condition.is_layout { 0 } else { self.programs.len() };
        paths.into_iter().chain((0..programs).map(Some))
    }
}
