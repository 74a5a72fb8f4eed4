//! Completions and manual pages, both generated from the command line's own definition.

use std::path::Path;

use clap::builder::PossibleValuesParser;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use pathmeter_catalogue::Suite;
use pathmeter_report::Format;
use pathmeter_vm::PROFILES;

use crate::cli::{Cli, CompletionsArgs, ManArgs};
use crate::screen::destination;
use crate::screen::output;
use crate::verbs::experiment;
use crate::verbs::settings::BUNDLED;
use pathmeter_measure::failure::{Exit, Failure};

/// What bash's script does beside what the command line's definition tells.
const POINTS_IN_BASH: &[u8] = include_bytes!("manual/points.bash");

/// Prints the completion script of a shell.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    let mut command = with_values(Cli::command());
    clap_complete::generate(args.shell, &mut command, "pathmeter", &mut script);
    if args.shell == Shell::Bash {
        script.extend_from_slice(POINTS_IN_BASH);
    }
    output::print(&script)?;
    Ok(Exit::Done)
}

/// The same command, with the words that a shell proposes for what takes others too: files, CPU
/// models, patterns, rows of results.
fn with_values(command: Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|it| it.get_name().to_owned()).collect();
    let verb = command.get_name().to_owned();
    let command = command.mut_args(|argument| match values(&verb, argument.get_id().as_str()) {
        // They are needed until the process ends, which is soon.
        Some(values) => {
            let values = values.into_iter().map(|value| &*value.leak());
            argument.value_parser(PossibleValuesParser::new(values))
        }
        None => argument,
    });
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, with_values))
}

/// What this argument of the verb may be, if that can be told.
fn values(verb: &str, argument: &str) -> Option<Vec<String>> {
    let owned = |names: &mut dyn Iterator<Item = &'static str>| names.map(str::to_owned).collect();
    Some(match (verb, argument) {
        (_, "cpu") => owned(&mut PROFILES.iter().map(|profile| profile.name)),
        (_, "set") => owned(&mut BUNDLED.iter().map(|(name, _)| *name)),
        (_, "only" | "path" | "paths" | "against") => {
            owned(&mut Suite::Exact.paths().iter().map(|path| path.name))
        }
        ("experiment", "name") => experiment::names(),
        (_, "format") => owned(&mut Format::ALL.into_iter().map(Format::word)),
        (_, "write") => Format::ALL.iter().map(|format| format!("{}=", format.word())).collect(),
        _ => return None,
    })
}

/// Prints the manual page, or writes it and one a verb into a folder.
pub(crate) fn pages(args: &ManArgs) -> Result<Exit, Failure> {
    let mut command = Cli::command();
    command.build();
    match &args.out {
        None => output::print(&page(&command)?)?,
        Some(folder) => {
            std::fs::create_dir_all(folder).map_err(|error| {
                let (doing, path) = ("making the folder", folder.to_owned());
                Failure::File { doing, path, error }
            })?;
            write_all(&command, folder)?;
        }
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
