//! The program that is executed: packed, and measured on each kernel.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use super::args::RunArgs;
use crate::arguments::Words;
use crate::comparison::sides::Sides;
use crate::failure::Failure;
use crate::packing;
use crate::screen::output::Screen;
use pathmeter_measure::path::selection::{may_be_call, refuse_unknown_calls};
use pathmeter_measure::program::packed::memory_for;
use pathmeter_measure::program::point_windows::{ProgramWindow, refuse_twice};
use pathmeter_measure::program::result::{self as program_result, Asked};
use pathmeter_measure::session::cell::CellProgram;
use pathmeter_measure::session::{Report, Session};
use pathmeter_measure::subject::Subject;
use pathmeter_measure::subject::image::Image;
use pathmeter_model::Measurement;
use pathmeter_trace::AlsoCounted;

/// The results of both sides, or of the only one, kernels measured at once.
pub(crate) fn results(
    args: &RunArgs,
    subjects: Vec<Subject>,
    screen: &Screen,
) -> Result<Vec<Measurement>, Failure> {
    if subjects.iter().all(|subject| subject.kernel().is_none()) {
        let refuse_unnamed = |_: &Session, _: &Image, _: Report<'_>| Err(unnamed(&[]));
        return Sides::prepare(subjects, &args.guest)?.results(&refuse_unnamed, screen);
    }
    if args.packing.command.is_empty() {
        return Err(unnamed(&subjects));
    }
    refuse_twice(&args.window)?;
    let programs = programs(args, screen)?;
    let regions = programs.iter().map(|program| program.packed.regions(&args.region_function));
    let regions = regions.collect::<Result<Vec<_>, _>>()?;
    let measures = programs.iter().zip(&regions).map(|(program, regions)| {
        let asked = Asked {
            packed: &program.packed,
            functions: args.explain,
            also: AlsoCounted { lines: args.lines, returns: args.returns },
            regions,
            windows: &args.window,
        };
        move |session: &Session, image: &Image, progress: Report<'_>| {
            program.measure(session, image, &asked, progress).map_err(Failure::from)
        }
    });
    let measures: Vec<_> = measures.collect();
    let results = subjects.iter().filter(|subject| subject.kernel().is_none());
    let named = NamedInKernels::with_rows(results.flat_map(Subject::paths));
    let mut sides = Sides::prepare(subjects, &args.guest)?;
    if !args.across {
        sides.refuse_unlike()?;
    }
    if NamedInKernels::is_needed(args) {
        sides.find(&|session, image, it| named.find(args, (session, image), it), screen)?;
        named.refuse_unknown(args)?;
    }
    match &measures[..] {
        [base, new] => sides.of_both([base, new], screen),
        [measure, ..] => sides.results(measure, screen),
        [] => Err(unnamed(&[])),
    }
}

/// Finds what the user named of the kernels, before the program is executed.
#[derive(Default)]
pub(super) struct NamedInKernels(Mutex<BTreeSet<String>>);

impl NamedInKernels {
    /// Rows of results are known as well.
    fn with_rows<'a>(rows: impl Iterator<Item = &'a str>) -> Self {
        Self(Mutex::new(rows.map(str::to_owned).collect()))
    }

    /// Whether anything is named that a kernel may lack. Where results may be at hand, no kernel is
    /// asked for the sake of a name.
    pub(super) fn is_needed(args: &RunArgs) -> bool {
        let mut names = args.rows.only.only.iter();
        let calls = args.results.results.is_none() && names.any(|name| may_be_call(name));
        !args.window.is_empty() || calls
    }

    /// Finds the windows in the kernel in `image`, and keeps the names of its system calls.
    ///
    /// # Errors
    /// It lacks a window's points.
    pub(super) fn find(
        &self,
        args: &RunArgs,
        (session, image): (&Session, &Image),
        progress: Report<'_>,
    ) -> Result<(), Failure> {
        let kernel = program_result::kernel_names(session, image, &args.window, progress)?;
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.extend(kernel.places.names().iter().cloned());
        Ok(())
    }

    /// Refuses a system call that none of the kernels has.
    ///
    /// # Errors
    /// `--only` names one.
    pub(super) fn refuse_unknown(self, args: &RunArgs) -> Result<(), Failure> {
        let calls = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let windows: Vec<&str> = args.window.iter().map(ProgramWindow::name).collect();
        Ok(refuse_unknown_calls(&args.rows.only.only, &Vec::from_iter(calls), &windows)?)
    }
}

/// The program, after the one that it is compared against if there is one; their guests have the
/// same memory.
fn programs(args: &RunArgs, screen: &Screen) -> Result<Vec<CellProgram>, Failure> {
    let (command, files) = args.packing.words();
    let against = args.against.as_ref().map(|Words(words)| &words[..]);
    let commands = against.into_iter().chain([command]);
    let packed = commands.map(|command| packing::pack(command, files, screen));
    let packed = packed.collect::<Result<Vec<_>, _>>()?;
    let needed = packed.iter().map(|packed| memory_for(packed.bytes)).max().unwrap_or(0);
    let memory = args.guest.memory.max(needed);
    let program = |packed| CellProgram::new(packed, args.guest.runs(), memory, args.exit_code);
    Ok(packed.into_iter().map(program).collect::<Result<_, _>>()?)
}

/// There is nothing to run. Results do not hold the files of their program, but its words.
pub(super) fn unnamed(subjects: &[Subject]) -> Failure {
    let again = match subjects.iter().find_map(Subject::command) {
        Some(command) => format!("again after the kernels and two dashes: -- {command}"),
        None => "after the kernels and two dashes: pathmeter run KERNEL -- PROGRAM ARGS".to_owned(),
    };
    Failure::Usage { message: "no program is named".to_owned(), help: format!("name it {again}") }
}
