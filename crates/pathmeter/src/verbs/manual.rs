//! Completions and manual pages, both generated from the command line's own definition.

use std::path::Path;

use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::cli::{Cli, CompletionsArgs, ManArgs};
use crate::screen::destination;
use crate::screen::output;
use pathmeter_measure::failure::{Exit, Failure};

/// What bash's script does beside what the command line's definition tells.
const POINTS_IN_BASH: &[u8] = include_bytes!("manual/points.bash");

/// Prints the completion script of a shell.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "pathmeter", &mut script);
    if args.shell == Shell::Bash {
        script.extend_from_slice(POINTS_IN_BASH);
    }
    output::print(&script)?;
    Ok(Exit::Done)
}

/// Prints the manual page, or writes it and one a verb into a folder.
pub(crate) fn pages(args: &ManArgs) -> Result<Exit, Failure> {
    let mut command = Cli::command();
    command.build();
    match &args.out {
        None => output::print(&page(&command)?)?,
        Some(folder) => write_all(&command, folder)?,
    }
    Ok(Exit::Done)
}

/// Writes a page of the command and of each verb below it that its help names.
fn write_all(command: &Command, folder: &Path) -> Result<(), Failure> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    destination::save(&folder.join(format!("{name}.1")), &page(command)?)?;
    let verbs = command.get_subcommands();
    let mut shown = verbs.filter(|verb| verb.get_name() != "help" && !verb.is_hide_set());
    shown.try_for_each(|verb| write_all(verb, folder))
}

fn page(command: &Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    Man::new(command.clone())
        .render(&mut page)
        .map_err(|error| Failure::System { doing: "making the manual page", error })?;
    Ok(page)
}
