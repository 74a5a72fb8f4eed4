//! Words that stand in another place than a verb takes them: a program where a kernel is expected,
//! a kernel where a path is, events behind `--check` without its equals sign, a second subject of a
//! verb that takes one, files where commits are. Whoever types so is told the right order, before
//! anything is read.

use std::path::Path;
use std::process::Command as Program;

use clap::{Arg, Command};
use pathmeter_gate::EventGate;
use pathmeter_model::command_line;
use pathmeter_probes::Suite;

use crate::executable::{is_executable, on_path};
use crate::failure::Failure;
use pathmeter_measure::subject::lab_words;

/// The words of a command line from the verb on.
#[derive(Clone)]
struct Line<'a> {
    verb: &'a str,
    /// Those after the verb and before two dashes.
    words: &'a [String],
    /// The words after the two dashes.
    program: &'a [String],
    /// Where the words are that are neither options nor their values.
    places: Vec<usize>,
}

/// The usage error of a command line whose words are out of order; None if they are not.
pub(crate) fn find_error(command: &Command, words: &[String]) -> Option<Failure> {
    let line = Line::of(command, words)?;
    let (message, help) = match line.verb {
        "run" | "settings" => line.program_as_kernel().or_else(|| line.events())?,
        "compare" => line.events()?,
        "explain" => line.kernel_as_row().or_else(|| line.kernel_as_path())?,
        "measure" => line.second_subject(command)?,
        "bisect" => line.files_as_commits()?,
        _ => return None,
    };
    Some(Failure::Usage { message, help })
}

impl<'a> Line<'a> {
    fn of(command: &Command, words: &'a [String]) -> Option<Self> {
        let at = words.iter().skip(1).position(|word| !word.starts_with('-'))? + 1;
        let (verb, rest) = (&*words[at], &words[at + 1..]);
        let definition = command.find_subcommand(verb)?;
        let end = rest.iter().position(|word| word == "--");
        let program = end.map_or(&[][..], |end| &rest[end + 1..]);
        let words = &rest[..end.unwrap_or(rest.len())];
        let (mut places, mut place) = (Vec::new(), 0);
        while let Some(word) = words.get(place) {
            match takes_next(definition, word) {
                Some(takes) => place += usize::from(takes),
                None => places.push(place),
            }
            place += 1;
        }
        Some(Self { verb, words, program, places })
    }

    fn program_as_kernel(&self) -> Option<(String, String)> {
        let mut places = self.places.iter().enumerate();
        let (number, &place) = places.find(|(_, place)| is_program(&self.words[**place]))?;
        let word = &self.words[place];
        let message = format!("`{word}` is a program, where a kernel is expected");
        let words = if number > 0 {
            [&self.words[..place], &["--".to_owned()], &self.words[place..], self.program].concat()
        } else {
            let kernel = self.places.get(1).map(|place| &self.words[*place]);
            let kernel = kernel.filter(|kernel| Path::new(kernel).is_file());
            let kernel = kernel.map_or("KERNEL", String::as_str);
            let begin = [kernel, "--", word].map(str::to_owned);
            [&begin[..], self.program].concat()
        };
        Some((message, self.help("a program comes after the kernels and two dashes", &words)))
    }

    /// Events that `--check` has not got, since they follow it as a word of their own.
    fn events(&self) -> Option<(String, String)> {
        let check = self.words.iter().position(|word| word == "--check")?;
        let word = self.words.get(check + 1)?;
        let events = word.parse::<EventGate>().is_ok() || word == "regions";
        if !events || Path::new(word).exists() {
            return None;
        }
        let message = format!("--check {word}: {word} is not what is checked, but a subject");
        let given = format!("--check={word}");
        let words = [&self.words[..check], &[given], &self.words[check + 2..]].concat();
        Some((message, self.help("events follow --check and an equals sign", &words)))
    }

    fn kernel_as_path(&self) -> Option<(String, String)> {
        let mut words = self.placed();
        let first = words.first().filter(|first| !is_path(first))?;
        let message = format!("`{first}` is a kernel, where a path is expected");
        if let Some(path) = words.iter().position(|word| is_path(word)) {
            words[..=path].rotate_right(1);
            return Some((message, self.help("the path comes first", &words)));
        }
        if !Path::new(first).exists() && lab_words(Path::new(first)).is_none() {
            return None;
        }
        let all = if words.len() > 1 { "compare" } else { "measure" };
        let told = format!("`pathmeter {all} {}` tells of all; then", command_line(&words));
        words.insert(0, "PATH".to_owned());
        Some(("no path is named".to_owned(), self.help(&told, &words)))
    }

    /// A row of a program is explained, and it comes first.
    fn kernel_as_row(&self) -> Option<(String, String)> {
        let mut words = self.placed();
        let is_kernel =
            |word: &String| Path::new(word).exists() || lab_words(Path::new(word)).is_some();
        self.program.first()?;
        let first = words.first().filter(|first| is_kernel(first))?;
        let message = format!("`{first}` is a kernel, where a row of the program is expected");
        match words.iter().position(|word| !is_kernel(word)) {
            Some(row) => words[..=row].rotate_right(1),
            None => words.insert(0, "ROW".to_owned()),
        }
        let words = [words, self.dashed()].concat();
        Some((message, self.help("the row comes first", &words)))
    }

    /// A word after an option that there is not may be its value.
    fn second_subject(&self, command: &Command) -> Option<(String, String)> {
        let longs = command.find_subcommand(self.verb)?.get_arguments().filter_map(Arg::get_long);
        let longs: Vec<&str> = longs.collect();
        let mut given = self.words.iter().filter_map(|word| word.strip_prefix("--"));
        if given.any(|word| !longs.contains(&word.split('=').next().unwrap_or_default())) {
            return None;
        }
        let words = self.placed();
        let (verb, more) = match words.len() {
            0 | 1 => return None,
            2 => ("compare", None),
            _ => ("report", Some(["-o".to_owned(), "report.html".to_owned()])),
        };
        let right = Self { verb, ..self.clone() };
        let help = right
            .help("several are compared", &[words, more.into_iter().flatten().collect()].concat());
        Some(("measure takes one subject".to_owned(), help))
    }

    /// The words that are neither options nor their values.
    fn placed(&self) -> Vec<String> {
        self.places.iter().map(|place| self.words[*place].clone()).collect()
    }

    /// Two dashes and the program.
    fn dashed(&self) -> Vec<String> {
        [&["--".to_owned()], self.program].concat()
    }

    fn files_as_commits(&self) -> Option<(String, String)> {
        let mut rest = self.words.to_vec();
        let mut taken = |option: &str| {
            let at = rest.iter().position(|word| word.starts_with(option))?;
            let value = rest[at][option.len()..].strip_prefix('=').map(str::to_owned);
            let end = at + if value.is_some() { 1 } else { 2 };
            let next = rest.get(at + 1).cloned();
            rest.splice(at..end.min(rest.len()), []);
            value.or(next)
        };
        let files = [taken("--good")?, taken("--bad")?];
        if !files.iter().all(|file| Path::new(file).is_file() && !is_commit(file)) {
            return None;
        }
        let message =
            format!("--good and --bad name commits, and {} are files", files.join(" and "));
        let words = [&files[..], &rest].concat();
        Some((message, self.help("files are named in order, without these options", &words)))
    }

    fn help(&self, rule: &str, words: &[String]) -> String {
        format!("{rule}: pathmeter {} {}", self.verb, command_line(words))
    }
}

/// Whether it names a path, or a window of one.
fn is_path(word: &str) -> bool {
    word.split('/').next().is_some_and(|path| Suite::Exact.find(path).is_some())
}

/// Whether the word after this one is its value; none if this one is no option.
fn takes_next(verb: &Command, word: &str) -> Option<bool> {
    let takes = |one: &Arg| one.get_action().takes_values() && !one.is_require_equals_set();
    let named = |is: &dyn Fn(&&Arg) -> bool| verb.get_arguments().find(is).is_some_and(takes);
    if let Some(long) = word.strip_prefix("--") {
        return Some(named(&|one| one.get_long() == Some(long)));
    }
    let short = word.strip_prefix('-').filter(|short| !short.is_empty())?;
    let mut letters = short.chars();
    let letter = letters.next();
    Some(letters.next().is_none() && named(&|one| one.get_short() == letter))
}

/// Whether the shell would execute this word: a program on PATH, and no file here.
fn is_program(word: &str) -> bool {
    let path = Path::new(word);
    if word.contains('/') {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let mut folders = std::env::split_paths(&folders);
        return is_executable(path) && folders.any(|folder| path.parent() == Some(&*folder));
    }
    let is_taken = path.exists() || lab_words(path).is_some();
    !is_taken && on_path(word).is_some()
}

/// Whether git, in this folder, knows a commit of this name.
fn is_commit(word: &str) -> bool {
    let commit = format!("{word}^{{commit}}");
    let found = Program::new("git").args(["rev-parse", "--verify", "--quiet", &commit]).output();
    found.is_ok_and(|found| found.status.success())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    /// The error of this command line and its advice, if its words are out of order.
    fn describe_error(line: &str) -> Option<String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let mut command = Cli::command();
        command.build();
        let failure = find_error(&command, &words)?;
        Some(format!("{failure}; {}", failure.advice().unwrap_or_default()))
    }

    #[test]
    fn a_program_without_two_dashes_or_before_the_kernel_is_recognised() {
        for (line, right) in [
            ("pathmeter run bzImage ls -R /", "pathmeter run bzImage -- ls -R /"),
            ("pathmeter -q run --cpu max a b sh -c x", "run --cpu max a b -- sh -c x"),
            ("pathmeter run a --lines /bin/sh -- b", "run a --lines -- /bin/sh b"),
            ("pathmeter run ls a -- -R", "pathmeter run KERNEL -- ls -R"),
            ("pathmeter run ls Cargo.toml -- -R", "pathmeter run Cargo.toml -- ls -R"),
            ("pathmeter settings bzImage ls", "pathmeter settings bzImage -- ls"),
        ] {
            let said = describe_error(line).unwrap_or_else(|| panic!("{line} is let pass"));
            assert!(said.ends_with(right), "{line}: {said}");
        }
    }

    #[test]
    fn events_without_an_equals_sign_and_a_kernel_before_its_path_are_recognised() {
        let events = describe_error("pathmeter compare --check slow a b --json").unwrap();
        assert!(events.ends_with("pathmeter compare --check=slow a b --json"), "{events}");
        let explained = describe_error("pathmeter explain Cargo.toml switch.yield --json").unwrap();
        assert!(explained.ends_with("pathmeter explain switch.yield Cargo.toml"), "{explained}");
        for (line, right) in [
            (
                "explain lab switch.yield",
                "the path comes first: pathmeter explain switch.yield lab",
            ),
            ("explain a/b c/d file.stat", "comes first: pathmeter explain file.stat a/b c/d"),
            (
                "explain Cargo.toml lab",
                "compare Cargo.toml lab` tells of all; then: pathmeter \
                explain PATH Cargo.toml lab",
            ),
            ("explain lab -- /bin/sh -c x", "first: pathmeter explain ROW lab -- /bin/sh -c x"),
            ("explain lab openat -- sh", "the row comes first: pathmeter explain openat lab -- sh"),
            ("measure a b --json", "several are compared: pathmeter compare a b"),
            ("measure a b c", "pathmeter report a b c -o report.html"),
        ] {
            let said =
                describe_error(&format!("pathmeter {line}")).unwrap_or_else(|| panic!("{line}"));
            assert!(said.ends_with(right), "{line}: {said}");
        }
    }

    #[test]
    fn what_is_in_order_is_let_pass() {
        for line in [
            "pathmeter",
            "pathmeter run bzImage -- ls -R /",
            "pathmeter run a b --file ls -- ls",
            "pathmeter run lab lab:iobitmap=lazy -- ls",
            "pathmeter compare --check base new",
            "pathmeter explain switch.yield lab",
            "pathmeter explain switch.yield/w lab --window w=a..b",
            "pathmeter measure ls",
            "pathmeter run a --only stat -- ./p",
            "pathmeter explain swich.yield lab",
            "pathmeter explain openat lab -- /bin/sh -c x",
        ] {
            assert_eq!(describe_error(line), None, "{line}");
        }
    }
}
