//! What a user wants measured: subjects and commits × CPUs × conditions, and sets of settings under
//! these, × (all paths, or programs), in TOML.
//!
//! Contract: nothing is guessed. A key that there is not, and a subject that a plan can't have, are
//! errors with their line.

use serde::Deserialize;
use toml::Spanned;

/// A text, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    pub text: String,
    /// Its line in the file, from 1.
    pub line: usize,
}

/// A program to be run in guests, as `pathmeter run` takes it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WantedProgram {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The folder that is the guest's root.
    pub root: Option<String>,
    /// Files that are packed as well, each `SOURCE[:DESTINATION]`.
    #[serde(default)]
    pub file: Vec<String>,
    /// Variables of its environment, each `NAME=VALUE`.
    #[serde(default)]
    pub env: Vec<String>,
    /// The file that it reads from its standard input.
    pub stdin: Option<String>,
    /// The exit code that makes a run of it a measurement.
    #[serde(default)]
    pub exit_code: u8,
}

/// Commits of a git tree, each of which is a kernel to be built.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WantedCommits {
    /// The git tree that has the commits.
    pub tree: String,
    /// Which commits: words of `git log`, such as `v6.12..v6.13`.
    pub range: String,
    /// The shell's command that builds one, at the top of a tree that has it checked out.
    pub build: String,
    /// The kernel that a build leaves, in its tree.
    #[serde(default = "usual_image")]
    pub image: String,
    /// The folder that built kernels are kept in.
    #[serde(default = "usual_kernels")]
    pub kernels: String,
}

fn usual_image() -> String {
    "arch/x86/boot/bzImage".to_owned()
}

fn usual_kernels() -> String {
    "kernels".to_owned()
}

/// What is wanted; texts as they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Files and folders, patterns of them, and `lab:…`.
    pub subjects: Vec<Placed>,
    /// Commits to be built, each with its line.
    pub commits: Vec<(usize, WantedCommits)>,
    /// CPUs as `--cpu` takes them; empty for the usual one.
    pub cpus: Vec<Placed>,
    /// Conditions as `--under` takes them; empty for the default.
    pub under: Vec<Placed>,
    /// Sets of settings as `settings --set` takes them, under each of the conditions.
    pub sets: Vec<Placed>,
    /// Where modules are found; None for each kernel's own package.
    pub modules: Option<String>,
    /// MiB of memory; None for what is usual.
    pub memory: Option<u32>,
    /// Perturbed runs; None for what is usual.
    pub perturb: Option<u32>,
    /// Words that are added to the command line.
    pub append: Option<String>,
    /// Whether the paths are measured.
    pub paths: bool,
    pub programs: Vec<WantedProgram>,
}

/// Why there is no plan in a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{what}", .line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct WantedError {
    /// The line, from 1.
    pub line: Option<usize>,
    pub what: String,
    /// What would be right; empty where `what` says it.
    pub help: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    subjects: Vec<Spanned<String>>,
    #[serde(default)]
    git: Vec<Spanned<WantedCommits>>,
    #[serde(default)]
    cpus: Vec<Spanned<String>>,
    #[serde(default)]
    under: Vec<Spanned<String>>,
    #[serde(default)]
    sets: Vec<Spanned<String>>,
    modules: Option<String>,
    memory: Option<u32>,
    perturb: Option<u32>,
    append: Option<String>,
    paths: Option<bool>,
    #[serde(default)]
    program: Vec<Spanned<WantedProgram>>,
}

impl Wanted {
    /// Reads what is wanted.
    ///
    /// # Errors
    /// Something that a plan has not, or can't have.
    pub fn parse(text: &str) -> Result<Self, WantedError> {
        let line = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
        let written: Written = toml::from_str(text).map_err(|error| WantedError {
            line: error.span().map(|span| line(span.start)),
            what: error.message().to_owned(),
            help: "docs/guide/plans.md has the form of this file".to_owned(),
        })?;
        let placed = |texts: Vec<Spanned<String>>| -> Vec<Placed> {
            let place = |it: Spanned<String>| {
                let line = line(it.span().start);
                Placed { text: it.into_inner(), line }
            };
            texts.into_iter().map(place).collect()
        };
        let nothing = |program: &Spanned<WantedProgram>| program.get_ref().command.is_empty();
        if let Some(program) = written.program.iter().find(|program| nothing(program)) {
            let what = "this program's `command` is empty".to_owned();
            let help = "name it and its arguments: command = [\"ls\", \"-R\", \"/\"]".to_owned();
            return Err(WantedError { line: Some(line(program.span().start)), what, help });
        }
        // `settings` measures the paths beside a program.
        let paths = written.program.is_empty() || !written.sets.is_empty();
        let wanted = Self {
            subjects: placed(written.subjects),
            commits: written
                .git
                .into_iter()
                .map(|it| (line(it.span().start), it.into_inner()))
                .collect(),
            cpus: placed(written.cpus),
            under: placed(written.under),
            sets: placed(written.sets),
            modules: written.modules,
            memory: written.memory,
            perturb: written.perturb,
            append: written.append,
            paths: written.paths.unwrap_or(paths),
            programs: written.program.into_iter().map(Spanned::into_inner).collect(),
        };
        wanted.check()?;
        Ok(wanted)
    }

    fn check(&self) -> Result<(), WantedError> {
        let refused = |line, what: &str, help: &str| {
            Err(WantedError { line, what: what.to_owned(), help: help.to_owned() })
        };
        if self.subjects.is_empty() && self.commits.is_empty() {
            let help = "name a kernel, a pattern or lab, or add a [[git]]";
            return refused(None, "`subjects` is empty", help);
        }
        if !self.paths && self.programs.is_empty() {
            let help = "leave out `paths = false`, or add a [[program]]";
            return refused(None, "neither paths nor programs are wanted", help);
        }
        match self.subjects.iter().find_map(|subject| Some((subject, unplanned(&subject.text)?))) {
            Some((subject, (what, help))) => {
                refused(Some(subject.line), &format!("{}: {what}", subject.text), help)
            }
            None => Ok(()),
        }
    }
}

/// Why a plan can't have this subject, and what to do; None if it can.
fn unplanned(subject: &str) -> Option<(&'static str, &'static str)> {
    if subject == "host" {
        return Some((
            "times of a machine are that machine's, and a plan's cells are the same on any",
            "`pathmeter host` measures them; name a file of this name ./host",
        ));
    }
    if subject.starts_with("git:") || subject.contains("..") && !subject.contains('/') {
        return Some((
            "a range of commits is no kernel",
            "name it in a [[git]], with the tree and the command that builds a commit",
        ));
    }
    subject.is_empty().then_some(("an empty name", "name a kernel, a pattern or lab"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_error(text: &str) -> String {
        Wanted::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn subjects_alone_want_all_paths_and_programs_alone_do_not() {
        let wanted = Wanted::parse("subjects = [\"lab\",\n  \"*.deb\"]").unwrap();
        assert!(wanted.paths && wanted.cpus.is_empty() && wanted.programs.is_empty());
        assert_eq!(wanted.subjects[1], Placed { text: "*.deb".into(), line: 2 });
        let text = "subjects = [\"lab\"]\n[[program]]\ncommand = [\"ls\"]\n";
        let wanted = Wanted::parse(text).unwrap();
        assert!(!wanted.paths && wanted.programs[0].exit_code == 0);
        assert!(Wanted::parse(&format!("paths = true\n{text}")).unwrap().paths);
        let with_sets = Wanted::parse(&format!("sets = [\"debug\"]\n{text}")).unwrap();
        assert!(with_sets.paths && with_sets.sets[0].text == "debug");
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line_and_those_that_there_are() {
        let told = parse_error("subjects = [\"lab\"]\n\ncpu = [\"zen3\"]\n");
        assert!(told.starts_with("line 3: unknown field `cpu`, expected one of "), "{told}");
        assert!(told.contains("`subjects`, `git`, `cpus`, `under`"), "{told}");
        let told = parse_error("subjects = [\"lab\"]\n[[program]]\ncommand = [\"ls\"]\nexit = 1\n");
        assert!(told.starts_with("line 4: unknown field `exit`"), "{told}");
    }

    #[test]
    fn what_a_plan_can_not_have_is_refused_with_its_line() {
        for (subject, what) in [
            ("host", "times of a machine"),
            ("v6.12..v6.13", "no kernel"),
            ("git:v6.12..v6.13", "no kernel"),
            ("", "an empty name"),
        ] {
            let told = parse_error(&format!("subjects = [\n  \"lab\",\n  \"{subject}\"]"));
            assert!(told.starts_with(&format!("line 3: {subject}: ")), "{told}");
            assert!(told.contains(what), "{told}");
        }
        let fine = "subjects = [\"../kernels/a..b.deb\", \"./host\", \"apt:linux-image-amd64\"]";
        assert!(Wanted::parse(fine).is_ok());
    }

    #[test]
    fn commits_alone_are_subjects_too() {
        let text = "\n[[git]]\ntree = \"linux\"\nrange = \"v1..v2\"\nbuild = \"make\"\n";
        let wanted = Wanted::parse(text).unwrap();
        let [(2, commits)] = &wanted.commits[..] else { panic!("{:?}", wanted.commits) };
        assert_eq!((&*commits.image, &*commits.kernels), ("arch/x86/boot/bzImage", "kernels"));
        let told = parse_error(&text.replace("build", "command"));
        assert!(told.starts_with("line 5: unknown field `command`"), "{told}");
    }

    #[test]
    fn a_plan_of_nothing_is_refused() {
        assert_eq!(parse_error("subjects = []"), "`subjects` is empty");
        assert!(parse_error("subjects = [\"lab\"]\npaths = false").contains("neither"));
        let told = parse_error("subjects = [\"lab\"]\n\n[[program]]\ncommand = []\n");
        assert!(told.starts_with("line 3: this program's `command` is empty"), "{told}");
        assert_eq!(parse_error(""), "`subjects` is empty");
    }
}
