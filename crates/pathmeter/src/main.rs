//! The command: flags to plan to output. The only crate that prints or exits.
//!
//! Contract: results go to stdout and nothing else does; progress, notes and errors go to stderr;
//! [`Exit`] defines the exit codes. A reader that closes stdout early ends the run in peace.

mod arguments;
mod build_command;
mod cli;
mod command_line;
mod comparison;
mod executable;
mod failure;
mod git;
mod packing;
mod results_folder;
#[cfg(test)]
mod schema_test;
mod screen;
mod setup;
mod subject_files;
mod verbs;

use std::error::Error;
use std::ffi::OsString;
use std::process::ExitCode;
use std::thread;

use clap::error::ContextKind;
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches};
use rustix::process::{Resource, getrlimit};

use crate::cli::Cli;
use crate::command_line::given::Given;
use crate::command_line::{foreign_option, word_order};
use crate::failure::Exit;
use crate::screen::output::Screen;
use pathmeter_model::{clean, shorten};

/// Bytes of the stack that everything is done on.
const STACK: usize = 8 << 20;

fn main() -> ExitCode {
    let limit = getrlimit(Resource::Stack).current;
    // That is the limit of the first thread alone (`ulimit -s`).
    let thread = limit
        .filter(|limit| *limit < STACK as u64)
        .and_then(|_| thread::Builder::new().stack_size(STACK).spawn(run).ok());
    match thread {
        Some(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        None => run(),
    }
}

/// Does what the command line says.
fn run() -> ExitCode {
    let mut command = with_negative_numbers(Cli::command());
    let (mut cli, matches) = match parse_command_line(&mut command, std::env::args_os()) {
        Ok(parsed) => parsed,
        Err(answer) => return report_wrong_usage(&mut command, answer).into(),
    };
    let screen = Screen::new(cli.look.color, cli.look.quiet);
    if let Err(failure) = pathmeter_measure::interrupt::register(Exit::Interrupted as i32) {
        return screen.report(&failure.into()).into();
    }
    if let Some(failure) = word_order::find_error(&command, &words()) {
        return for_git(screen.report(&failure)).into();
    }
    let definition = Cli::command();
    let given = Given::new(&definition, &command, &matches);
    let done = cli.verb.run(&given, &screen);
    if let Some(sources) = cli.verb.describe_results() {
        screen.note(&sources);
    }
    done.unwrap_or_else(|failure| screen.report(&failure)).into()
}

/// The command, all of whose options take a negative number for what it is: then the answer says
/// which numbers there can be, and clap proposes no two dashes, which would not help.
fn with_negative_numbers(command: Command) -> Command {
    let command = command.mut_args(|arg| {
        let takes_value = !arg.is_positional() && arg.get_action().takes_values();
        if takes_value { arg.allow_negative_numbers(true) } else { arg }
    });
    command.mut_subcommands(with_negative_numbers)
}

fn parse_command_line(
    command: &mut Command,
    words: impl Iterator<Item = OsString>,
) -> Result<(Cli, ArgMatches), clap::Error> {
    let matches = command.try_get_matches_from_mut(words)?;
    Ok((Cli::from_arg_matches(&matches)?, matches))
}

/// The answer, fit for a terminal and to be read: it repeats words of the command line, and of the
/// files that these name.
fn clean_answer(command: &mut Command, answer: clap::Error) -> clap::Error {
    let clean_text = |text: &str| shorten(&clean(text)).into_owned();
    let clean_words = || std::env::args_os().map(|word| clean_text(&word.to_string_lossy()).into());
    let why = answer.source().map(ToString::to_string);
    let is_fit = |text: &String| clean_text(text) == *text;
    if why.iter().all(is_fit) && std::env::args_os().eq(clean_words()) {
        return answer;
    }
    if let Some(why) = why {
        let [value, argument] = [ContextKind::InvalidValue, ContextKind::InvalidArg]
            .map(|kind| answer.get(kind).map(ToString::to_string).unwrap_or_default());
        let why = format!("invalid value '{value}' for '{argument}': {why}");
        return command.error(answer.kind(), clean_text(&why));
    }
    match parse_command_line(command, clean_words()) {
        Err(same) => foreign_option::name_verbs_with(command, same),
        Ok(_) => command.error(answer.kind(), clean_text(&answer.to_string())),
    }
}

/// Tells what is wrong with a command line that clap does not take.
fn report_wrong_usage(command: &mut Command, answer: clap::Error) -> Exit {
    let order = word_order::find_error(command, &words()).filter(|_| answer.use_stderr());
    if let Some(failure) = order {
        return for_git(Screen::new(clap::ColorChoice::Auto, false).report(&failure));
    }
    let answer = foreign_option::name_verbs_with(command, answer);
    print_answer(&clean_answer(command, answer))
}

/// The command line, as far as it is text.
fn words() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Prints what clap answers instead of a plan: the help, the version, or what was wrong.
fn print_answer(answer: &clap::Error) -> Exit {
    // Nobody is left to be told if that fails.
    let _ = answer.print();
    for_git(if answer.use_stderr() { Exit::Usage } else { Exit::Done })
}

/// The same for `git bisect run`, if that is who asks.
fn for_git(exit: Exit) -> Exit {
    let for_git = std::env::args_os().any(|argument| argument == "--bisect");
    if for_git { exit.for_git_bisect() } else { exit }
}
