//! Frameworks of benchmarks: how a program of each lists its benchmarks, executes one by name, and
//! tells that it did.
//!
//! Contract: data and pure functions. The names and all output come from the guest: a name is only
//! given back to the same program.
//!
//! Sources: those of each framework in its file; each was read, and its output taken from a run.

mod criterion;
mod divan;
mod go;
mod google;
mod libtest;
mod pytest;

use std::ffi::OsString;

/// All frameworks. The help, the completions and `docs/guide/benchmarks.md` have them from here.
pub const FRAMEWORKS: &[Framework] = &[
    criterion::FRAMEWORK,
    divan::FRAMEWORK,
    libtest::FRAMEWORK,
    google::FRAMEWORK,
    go::FRAMEWORK,
    pytest::FRAMEWORK,
];

/// Iterations of the run with fewer: Go executes one more than it is told, unless that is one.
const FEWER: u64 = 2;
/// Most iterations that can be asked for: with those of the run with fewer, four digits.
pub const MOST_ITERATIONS: u64 = 9_997;

/// A framework that benchmarks are written with.
#[derive(Clone, Copy, Debug)]
pub struct Framework {
    /// The word by which users name it.
    pub word: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// The words after the command that have it list its benchmarks.
    list: &'static [&'static str],
    /// Variables that it needs for the list.
    pub list_environment: &'static [&'static str],
    /// The names in this list.
    names: fn(&str) -> Vec<String>,
    /// The words after the command that have it execute one of them; see [`word_of`].
    one: &'static [&'static str],
    /// Whether the command's last word is where the benchmarks are, in place of which their names
    /// are given.
    last_word_is_place: bool,
    /// How an iteration is told from the rest.
    pub iteration: Iteration,
    /// Which benchmarks were executed, by the output of one that was asked for.
    executed: fn(&str, &str) -> Vec<Executed>,
}

/// How an iteration is told from the start, the setup and the end of its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Iteration {
    /// It can be executed any number of times. Its cost is the difference that so many iterations
    /// more make by default, divided by their number: a power of two, which rarely needs rounding.
    Counted(u64),
    /// It is executed once, in functions of the program by this pattern.
    Once(&'static str),
}

/// A benchmark that was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executed {
    pub name: String,
    /// How many iterations there were; the framework's own word.
    pub iterations: u64,
    /// How many of them the framework timed together. More than it was told, if it calibrates.
    pub together: u64,
    /// What went wrong in it, by its own word.
    pub error: Option<String>,
}

impl Executed {
    fn new(name: &str, iterations: u64) -> Self {
        Self { name: name.to_owned(), iterations, together: 1, error: None }
    }
}

impl Framework {
    /// The framework that the command line calls `word`.
    pub fn from_word(word: &str) -> Option<Self> {
        FRAMEWORKS.iter().copied().find(|it| it.word == word)
    }

    /// Whether it can be told how many iterations to execute.
    pub fn counts(&self) -> bool {
        matches!(self.iteration, Iteration::Counted(_))
    }

    /// The command that lists the benchmarks of `command`.
    pub fn listing(&self, command: &[OsString]) -> Vec<OsString> {
        command.iter().cloned().chain(self.list.iter().map(OsString::from)).collect()
    }

    /// The names in what such a command printed, each once, in its order.
    pub fn names(&self, output: &str) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in (self.names)(output) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The commands that execute the benchmark `name`: one, or with fewer and more iterations.
    /// The words of both have the same length, since their length is part of a program's cost.
    /// These are so many more, or as many as usual.
    pub fn commands(
        &self,
        command: &[OsString],
        name: &str,
        iterations: Option<u64>,
    ) -> Vec<Vec<OsString>> {
        let counts = match self.iteration {
            Iteration::Counted(usual) => vec![FEWER, FEWER + iterations.unwrap_or(usual)],
            Iteration::Once(_) => vec![1],
        };
        let kept = command.len() - usize::from(self.last_word_is_place && command.len() > 1);
        let one = |count: &u64| {
            let words = self.one.iter().map(|word| word_of(word, name, *count).into());
            command[..kept].iter().cloned().chain(words).collect()
        };
        counts.iter().map(one).collect()
    }

    /// Which benchmarks were executed, by the output of a command that was to execute `name`.
    pub fn find_executed(&self, output: &str, name: &str) -> Vec<Executed> {
        (self.executed)(output, name)
    }

    /// What was measured, as documents have it.
    pub fn description(&self, iterations: Option<u64>) -> String {
        match self.iteration {
            Iteration::Counted(usual) => {
                format!("{}, {} iterations", self.word, iterations.unwrap_or(usual))
            }
            Iteration::Once(_) => format!("{}, one iteration", self.word),
        }
    }
}

/// A word of a command: `{name}`, `{pattern}` for a regular expression that only the name matches,
/// `{levels}` for one of each part between slashes, `{count}` in four digits.
fn word_of(template: &str, name: &str, count: u64) -> String {
    match template.find('{').map(|at| template.split_at(at)) {
        Some((before, "{name}")) => format!("{before}{name}"),
        Some((before, "{pattern}")) => format!("{before}^{}$", escape(name)),
        Some((before, "{levels}")) => {
            let levels: Vec<String> =
                name.split('/').map(|level| format!("^{}$", escape(level))).collect();
            format!("{before}{}", levels.join("/"))
        }
        Some((before, after)) => {
            format!("{before}{}", after.replace("{count}", &format!("{count:04}")))
        }
        None => template.to_owned(),
    }
}

/// The text as a regular expression of POSIX, RE2 and ECMAScript alike.
fn escape(text: &str) -> String {
    let special = |c: char| r"\.+*?()|[]{}^$".contains(c);
    let word = |c: char| if special(c) { format!("\\{c}") } else { c.to_string() };
    text.chars().map(word).collect()
}

/// The names before `: benchmark` at the ends of lines, as libtest lists them, or `: bench`, as
/// Criterion 0.4 does.
fn listed_by_lines(output: &str) -> Vec<String> {
    let name = |line: &str| {
        let name = line.strip_suffix(": benchmark").or_else(|| line.strip_suffix(": bench"));
        name.map(str::to_owned)
    };
    output.lines().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The commands as one would type them.
    pub(super) fn typed(framework: Framework, command: &[&str], name: &str) -> Vec<String> {
        let command: Vec<OsString> = command.iter().map(OsString::from).collect();
        let text = |words: &Vec<OsString>| {
            let words: Vec<String> = words.iter().map(|it| it.to_str().unwrap().into()).collect();
            pathmeter_model::command_line(&words)
        };
        framework.commands(&command, name, Some(8)).iter().map(text).collect()
    }

    #[test]
    fn names_are_in_a_pattern_what_they_are() {
        assert_eq!(word_of("-f={pattern}", "a b/c[1].d", 1), r"-f=^a b/c\[1\]\.d$");
        assert_eq!(word_of("-f={levels}", "A/b.c/d", 1), r"-f=^A$/^b\.c$/^d$");
        assert_eq!(word_of("-n={count}x", "a", 10), "-n=0010x");
        assert_eq!(word_of("{name}", "{count}", 1), "{count}");
    }

    #[test]
    fn every_framework_has_its_own_word() {
        for framework in FRAMEWORKS {
            assert_eq!(Framework::from_word(framework.word).unwrap().about, framework.about);
        }
        assert!(Framework::from_word("junit").is_none());
    }

    #[test]
    fn a_name_that_is_listed_twice_is_measured_once() {
        let output = "b: benchmark\na: benchmark\nb: benchmark\n";
        assert_eq!(criterion::FRAMEWORK.names(output), ["b", "a"]);
    }

    #[test]
    fn commands_that_differ_in_the_count_are_equally_long() {
        for framework in FRAMEWORKS {
            let commands = typed(*framework, &["program", "place"], "a");
            assert!(commands.iter().all(|it| it.len() == commands[0].len()), "{commands:?}");
        }
    }
}
