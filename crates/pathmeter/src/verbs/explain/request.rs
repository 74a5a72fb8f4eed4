//! What `explain` refuses, and the kernels that it opens.

use std::iter;
use std::path::{Path, PathBuf};

use pathmeter_measure::interrupt;
use pathmeter_measure::path::additions::REGIONS;
use pathmeter_measure::session::Session;
use pathmeter_measure::subject::image::Image;
use pathmeter_trace::PointWindow;

use super::args::ExplainArgs;
use crate::command_line::given::{Given, Need, Needs};
use crate::failure::Failure;
use crate::screen::output::Screen;
use crate::setup;
use crate::subject_files::find_files;

/// What options need to change something.
pub(crate) const NEEDS: Needs = &[
    (&["vmlinux", "new_vmlinux", "command"], Need::Kernel),
    (&["callers", "exit_code", "region_function", "FilesArgs"], Need::Program),
];

/// Refuses options that would change nothing, and finds the files of the kernels.
///
/// # Errors
/// There is such an option, or no such kernel.
pub(super) fn find_subjects(
    args: &mut ExplainArgs,
    given: &Given<'_>,
    screen: &Screen,
) -> Result<(), Failure> {
    given.refuse_idle(NEEDS)?;
    find_files([&mut args.subject].into_iter().chain(&mut args.new), screen)
}

/// Refuses of a path what only a program or a window has.
///
/// # Errors
/// There is any of it.
pub(super) fn refuse_of_programs(args: &ExplainArgs) -> Result<(), Failure> {
    refuse_regions(args)?;
    refuse_unused_windows(args)
}

/// Refuses regions, which only a program has.
fn refuse_regions(args: &ExplainArgs) -> Result<(), Failure> {
    let mut names = iter::once(&*args.path).chain(args.against.as_deref());
    match names.find(|name| name.starts_with(REGIONS)) {
        None => Ok(()),
        Some(region) => Err(Failure::Usage {
            message: format!("{region} is a region of a program, and no program is named"),
            help: "name it after the kernel and two dashes: pathmeter explain user.NAME KERNEL -- \
                   PROGRAM ARGS"
                .to_owned(),
        }),
    }
}

/// Refuses a window that neither path names.
fn refuse_unused_windows(args: &ExplainArgs) -> Result<(), Failure> {
    let paths = || iter::once(&*args.path).chain(args.against.as_deref());
    let is_named =
        |name: &str| paths().any(|path| path.split_once('/').is_some_and(|it| it.1 == name));
    match args.windows.window.iter().find(|window| !is_named(&window.name)) {
        None => Ok(()),
        Some(PointWindow { name, .. }) => Err(Failure::Usage {
            message: format!("--window would change nothing: no path here has the window {name}"),
            help: format!("name it with its path: {}/{name}", args.path),
        }),
    }
}

/// One kernel, two, or one on two CPUs or under two conditions.
pub(super) fn prepare(args: &ExplainArgs) -> Result<(Session, Vec<Image>), Failure> {
    let (guest, interrupt) = (&args.guest, interrupt::listen());
    let Some(pair) = guest.pair()? else {
        let names: Vec<&Path> =
            iter::once(&args.subject).chain(&args.new).map(PathBuf::as_path).collect();
        return setup::prepare(guest, interrupt, &names);
    };
    if args.new.is_some() || args.against.is_some() {
        return Err(Failure::Usage {
            message: "two CPUs or conditions leave no room for a second kernel, path or row"
                .to_owned(),
            help: "leave out NEW and --against, or one --cpu or --under".to_owned(),
        });
    }
    setup::prepare_on(guest, interrupt, &args.subject, pair)
}
