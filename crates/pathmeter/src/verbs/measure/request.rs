//! What the arguments of `measure` come to, before the first guest is started.

use std::path::Path;

use pathmeter_gate::EventGate;
use pathmeter_measure::path::additions::Probes;
use pathmeter_measure::path::selection::Selection;
use pathmeter_measure::subject::Subject;

use super::args::MeasureArgs;
use crate::command_line::given::Given;
use crate::comparison::judge::{Judge, budget};
use crate::failure::Failure;
use crate::screen::formats::Places;
use crate::screen::output::Screen;
use crate::setup::open_results;
use crate::subject_files::find_files;

/// One subject, what is measured and judged of it, and where that goes.
pub(super) struct Request<'a> {
    pub(super) subject: Subject,
    /// What is measured beside the built-in paths.
    pub(super) probes: Probes<'a>,
    pub(super) judge: Judge<'a>,
    /// Where all goes; the files are open.
    pub(super) places: Places<'a>,
}

impl<'a> Request<'a> {
    /// # Errors
    /// Whatever of the command line can't be had.
    pub(super) fn new(
        args: &'a mut MeasureArgs,
        usual: &'a EventGate,
        given: &Given<'_>,
        screen: &Screen,
    ) -> Result<(Self, &'a MeasureArgs), Failure> {
        args.edited.apply();
        given.refuse_idle(&[])?;
        find_files([&mut args.subject], screen)?;
        open_results(&args.results, &mut args.guest)?;
        let args = &*args;
        args.guest.refuse_pairs()?;
        let subject = Subject::open(&args.subject)?;
        let probes = Probes::new(args.probes.additions(), args.guest.size(), &args.rows.only.only)?;
        let more = probes.names();
        let names: Vec<&str> =
            subject.paths().into_iter().chain(more.iter().map(String::as_str)).collect();
        let selection = Selection::new(&args.rows.only.only, &names)?;
        let budget = budget(args.budget.as_deref(), screen)?;
        if let Some(budget) = &budget {
            let help = "compare two subjects: pathmeter compare BASE NEW --check";
            budget.refuse_increases(help)?;
        }
        let inputs: Vec<&Path> =
            [&*args.subject].into_iter().chain(args.budget.as_deref()).collect();
        args.formats.refuse_without_gate(args.check)?;
        let places = Places::open(&args.document, &args.formats, &inputs, screen)?;
        let check = args.check.then_some(usual);
        let judge = Judge { selection, check, regions_only: false, budget, threshold: 0.0 };
        Ok((Self { subject, probes, judge, places }, args))
    }
}
