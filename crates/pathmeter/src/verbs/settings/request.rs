//! What the arguments of `settings` come to, before the first guest is started.

use pathmeter_measure::path::selection::Selection;
use pathmeter_measure::subject;
use pathmeter_probes::Suite;

use super::args::SettingsArgs;
use super::gate::SettingGates;
use super::set::Set;
use crate::command_line::given::{Given, Need, Needs};
use crate::failure::Failure;
use crate::screen::formats::Places;
use crate::screen::output::Screen;
use crate::setup::open_results;
use crate::subject_files::find_files;

/// What options need to change something.
pub(crate) const NEEDS: Needs = &[(&["FilesArgs"], Need::Program), (&["command"], Need::Kernel)];

/// The settings, what they may cost, which paths are looked at, and where all goes.
pub(super) struct Request<'a> {
    pub(super) sets: Vec<Set>,
    /// With `--check`.
    pub(super) gates: Option<SettingGates>,
    pub(super) selection: Selection,
    pub(super) places: Places<'a>,
}

impl<'a> Request<'a> {
    /// # Errors
    /// Whatever of the command line can't be had.
    pub(super) fn new(
        args: &'a mut SettingsArgs,
        given: &Given<'_>,
        screen: &Screen,
    ) -> Result<(Self, &'a SettingsArgs), Failure> {
        given.refuse_idle(NEEDS)?;
        find_files([&mut args.kernel], screen)?;
        open_results(&args.results, &mut args.guest)?;
        let args = &*args;
        args.guest.refuse_two_conditions()?;
        refuse_several_cpus(args)?;
        subject::refuse_results([&args.kernel])?;
        let sets = args.set.iter().map(|name| Set::open(name)).collect::<Result<Vec<_>, _>>()?;
        let gates = SettingGates::of(args, screen)?;
        args.formats.refuse_without_gate(args.check.is_some())?;
        let names: Vec<&str> = Suite::Exact.paths().iter().map(|path| path.name).collect();
        let selection = Selection::new(&args.only.only, &names)?;
        let places = Places::open(&args.document, &args.formats, &[&args.kernel], screen)?;
        Ok((Self { sets, gates, selection, places }, args))
    }
}

/// Refuses what a slope has no use for.
fn refuse_several_cpus(args: &SettingsArgs) -> Result<(), Failure> {
    if args.slope.is_none() || args.guest.cpu.len() < 2 {
        return Ok(());
    }
    Err(Failure::Usage {
        message: "--slope with several --cpu: a slope is measured on one".to_owned(),
        help: "measure it on each in turn".to_owned(),
    })
}
