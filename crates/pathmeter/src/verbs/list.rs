//! `pathmeter list`: what there is to name.

pub(crate) mod cpus;
mod functions;
mod paths;

use crate::cli::{ListArgs, ListWhat};
use crate::failure::{Exit, Failure};
use crate::screen::output::Screen;

/// Lists what was asked for.
pub(crate) fn run(args: &ListArgs, screen: &Screen) -> Result<Exit, Failure> {
    match &args.what {
        ListWhat::Paths(args) => paths::run(args, screen),
        ListWhat::Functions(args) => functions::run(args, screen),
        ListWhat::Cpus(args) => cpus::run(args, screen),
    }
}
