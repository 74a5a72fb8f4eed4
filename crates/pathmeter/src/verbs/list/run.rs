//! The steps of `list`.

use super::args::{ListArgs, ListWhat};
use super::{cpus, functions, paths};
use crate::command_line::given::Given;
use crate::failure::{Exit, Failure};
use crate::screen::output::Screen;

/// Lists what was asked for.
pub(crate) fn run(
    args: &mut ListArgs,
    given: &Given<'_>,
    screen: &Screen,
) -> Result<Exit, Failure> {
    given.refuse_idle(&[])?;
    match &mut args.what {
        ListWhat::Paths(args) => paths::run(args, screen),
        ListWhat::Functions(args) => functions::run(args, screen),
        ListWhat::Cpus(args) => cpus::run(args, screen),
    }
}
