//! Programs of this machine: where the shell finds a word, and which programs a shell's own words
//! name.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Shells that take words after `-c`.
const SHELLS: [&str; 5] = ["sh", "ash", "bash", "dash", "zsh"];
/// Words before a command of a shell.
const BEFORE: [&str; 10] = ["if", "then", "elif", "else", "while", "until", "do", "!", "exec", "{"];
/// What shells do themselves, though there are programs that do it, too.
const OWN: [&str; 9] = ["[", "cd", "echo", "false", "kill", "printf", "pwd", "test", "true"];

/// Whether this file can be executed.
pub(crate) fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

/// Where on PATH a program of this name is.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut files = std::env::split_paths(&folders).map(|folder| folder.join(name));
    files.find(|file| is_executable(file))
}

/// The programs that `sh -c` is told to execute, by their names, and the files and folders of this
/// machine that it names in full; none of another command.
pub(crate) fn of_shell(command: &[OsString]) -> BTreeMap<String, PathBuf> {
    let is_shell = |shell: &OsString| {
        let name = Path::new(shell).file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| SHELLS.contains(&name))
    };
    let words = command.iter().position(|word| word == "-c").and_then(|at| command.get(at + 1));
    let words = words.filter(|_| command.first().is_some_and(is_shell));
    let words = words.map(|words| words.to_string_lossy()).unwrap_or_default();
    let named = words.split(['|', '&', ';', '(', ')', '`', '\n']).filter_map(first);
    let programs = named.filter_map(|name| Some((name.to_owned(), file(name)?)));
    let is_end = |c: char| c.is_whitespace() || "|&;()`<\"'".contains(c);
    let whole = cut_outputs(&words).into_iter().flat_map(|part| part.split(is_end));
    let files = whole.filter(|word| is_named_file(word));
    programs.chain(files.map(|word| (word.to_owned(), PathBuf::from(word)))).collect()
}

/// The parts of a shell's words between the files that they write: each follows a `>`.
fn cut_outputs(words: &str) -> Vec<&str> {
    let mut parts = words.split('>');
    let first = parts.next();
    let behind = parts.map(|part| part.trim_start_matches(['&', '|', ' ']));
    let rest = behind.filter_map(|part| part.split_once(' ').map(|(_, rest)| rest));
    first.into_iter().chain(rest).collect()
}

/// Whether a word is a file or folder of this machine, two levels deep at least: `/usr` may well be
/// the guest's.
fn is_named_file(word: &str) -> bool {
    let path = Path::new(word);
    let made_in_guests = ["/dev", "/proc", "/sys", "/tmp"].iter().any(|it| path.starts_with(it));
    path.is_absolute() && path.components().count() > 2 && !made_in_guests && path.exists()
}

/// The name of a single command.
fn first(command: &str) -> Option<&str> {
    let mut words = command.split_whitespace();
    let name = words.find(|word| !BEFORE.contains(word) && !word.contains('='))?;
    (!OWN.contains(&name)).then_some(name)
}

fn file(name: &str) -> Option<PathBuf> {
    let path = Path::new(name);
    let full = (path.is_absolute() && is_executable(path)).then(|| path.to_owned());
    full.or_else(|| if name.contains('/') { None } else { on_path(name) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shells_words_name_the_programs_that_it_executes() {
        let named = |words: &[&str]| {
            let command: Vec<OsString> = words.iter().map(OsString::from).collect();
            of_shell(&command).into_keys().collect::<Vec<_>>()
        };
        assert_eq!(named(&["sh", "-c", "ls -R / | sort"]), ["ls", "sort"]);
        let script = "A=1 cat x > ls; if test -e y; then /bin/ls; fi; echo $(sort); no-program";
        assert_eq!(named(&["/bin/bash", "-e", "-c", script]), ["/bin/ls", "cat", "sort"]);
        assert_eq!(named(&["sh", "-c", "ls /usr/bin /usr /dev/null"]), ["/usr/bin", "ls"]);
        assert_eq!(
            named(&["sh", "-c", "ls /bin/cat >/etc/hosts 2>&1 /etc/passwd"]),
            ["/bin/cat", "/etc/passwd", "ls"]
        );
        assert!(named(&["sh", "ls"]).is_empty() && named(&["ls", "-c", "sort"]).is_empty());
    }
}
