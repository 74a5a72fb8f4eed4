//! The steps of `manual`.

use std::path::Path;

use clap::Command;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use clap_mangen::Man;
use pathmeter_plan::FileStep;
use pathmeter_probes::Suite;
use pathmeter_vm::PROFILES;

use super::args::{CompletionsArgs, ManArgs};
use crate::failure::{Exit, Failure};
use crate::screen::destination;
use crate::screen::output;
use crate::verbs::experiment;
use crate::verbs::settings::BUNDLED;

/// What bash's script does beside what the command line's definition tells.
const POINTS_IN_BASH: &[u8] = include_bytes!("points.bash");

/// Prints the completion script of a shell.
pub(crate) fn completions(args: &CompletionsArgs, command: &Command) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    let mut command = with_values(command);
    clap_complete::generate(args.shell, &mut command, "pathmeter", &mut script);
    if args.shell == Shell::Bash {
        script.extend_from_slice(POINTS_IN_BASH);
    }
    output::print(&script)?;
    Ok(Exit::Done)
}

/// The same command, with the words that a shell proposes for what takes others too: files, CPU
/// models, patterns, rows of results. What the help does not name is not proposed either.
fn with_values(command: &Command) -> Command {
    // Names and values are needed until the process ends, which is soon.
    let name: &'static str = command.get_name().to_owned().leak();
    let written = list_write_prefixes(command);
    let values_of = |argument: &str| match argument {
        "write" => Some(written.clone()),
        argument => values(name, argument),
    };
    let shown = command.get_arguments().filter(|argument| !argument.is_hide_set()).cloned();
    let arguments = shown.map(|argument| match values_of(argument.get_id().as_str()) {
        Some(values) => {
            let values = values.into_iter().map(|value| &*value.leak());
            argument.value_parser(PossibleValuesParser::new(values))
        }
        None => argument,
    });
    let same = Command::new(name).hide(command.is_hide_set());
    let same = command.get_about().cloned().into_iter().fold(same, Command::about);
    let same =
        command.get_version().iter().fold(same, |same, _| same.version(env!("CARGO_PKG_VERSION")));
    same.args(arguments).subcommands(command.get_subcommands().map(with_values))
}

/// What `--write` may begin with: the formats that `--format` has.
fn list_write_prefixes(command: &Command) -> Vec<String> {
    let format = command.get_arguments().find(|argument| argument.get_id() == "format");
    let formats = format.into_iter().flat_map(clap::Arg::get_possible_values);
    formats.map(|format| format!("{}=", format.get_name())).collect()
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
        _ => return None,
    })
}

/// Prints the manual page, or writes it and one a verb into a folder.
pub(crate) fn pages(args: &ManArgs, command: &Command) -> Result<Exit, Failure> {
    let mut command = command.clone();
    command.build();
    match &args.out {
        None => output::print(&page(&command)?)?,
        Some(folder) => {
            std::fs::create_dir_all(folder).map_err(|error| {
                let (doing, path) = (FileStep::MakingFolder, folder.to_owned());
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
