//! The steps of `bisect`.

use super::args::BisectArgs;
use super::document::Put;
use super::meter::Meter;
use super::{order, request, tree};
use crate::command_line::given::Given;
use crate::failure::{Exit, Failure};
use crate::screen::output::Screen;

/// Finds it, among ready images or in a git tree.
pub(crate) fn run(
    args: &mut BisectArgs,
    given: &Given<'_>,
    screen: &Screen,
) -> Result<Exit, Failure> {
    request::find_kernels(args, given, screen)?;
    let args = &*args;
    let meter = Meter::new(args, screen)?;
    let put = Put::new(args, screen)?;
    match (&args.good, &args.bad) {
        (Some(good), Some(bad)) => tree::run(args, [good, bad], &meter, &put, screen),
        _ => order::run(args, &meter, &put, screen),
    }
}
