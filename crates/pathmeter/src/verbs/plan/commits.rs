//! Commits of a git tree as kernels of a plan: which they are, and which of them are built.

use std::path::{Path, PathBuf};

use pathmeter_plan::{KernelFolder, KernelState, WantedCommits};

use crate::failure::Failure;
use crate::git;
use crate::screen::output::Screen;
use pathmeter_model::clean;

/// Most commits of a range: who forgets its beginning names all of a tree's.
const MOST: usize = 10_000;
/// Digits of a commit in the name of its kernel.
const DIGITS: usize = 12;

/// A commit that is to be measured.
pub(super) struct Commit {
    pub(super) hash: String,
    /// When it was committed, in seconds since 1970.
    pub(super) seconds: u64,
    /// The name of its kernel.
    pub(super) name: String,
}

/// The commits that a file of wishes names, in the order of their history, and their kernels.
pub(super) struct Commits<'a> {
    pub(super) wanted: &'a WantedCommits,
    pub(super) all: Vec<Commit>,
    pub(super) kernels: KernelFolder,
}

impl<'a> Commits<'a> {
    /// Asks git which they are. Paths are relative to the current folder.
    ///
    /// # Errors
    /// Git names none, or too many, or something else.
    pub(super) fn of(wanted: &'a WantedCommits) -> Result<Self, Failure> {
        let all = name_commits(&log(wanted)?).ok_or_else(|| {
            let what = format!("range = \"{}\": not a range of commits", clean(&wanted.range));
            usage_error(what, "name only what `git log` takes to choose commits, and no format")
        })?;
        match all.len() {
            0 => Err(usage_error(
                format!("{}: no commit in {}", wanted.tree, clean(&wanted.range)),
                "`git log` with the same range shows the same",
            )),
            MOST.. => Err(usage_error(
                format!("{}: {MOST} commits or more in {}", wanted.tree, clean(&wanted.range)),
                "name where the range begins: `range = \"v6.12..v6.13\"`",
            )),
            _ => {
                let kernels = Path::new(&wanted.kernels);
                let kernels = KernelFolder::of(kernels, &wanted.build, &wanted.image);
                Ok(Self { wanted, all, kernels })
            }
        }
    }

    /// The kernels of a plan: those of all commits but the ones that can't be built.
    ///
    /// # Errors
    /// A commit was not built yet, or none could be.
    pub(super) fn built(&self, file: &str, screen: &Screen) -> Result<Vec<PathBuf>, Failure> {
        let of = |state| self.all.iter().filter(move |it| self.kernels.state(&it.name) == state);
        let all = format!("{} commits of {}", self.all.len(), self.wanted.tree);
        let missing = of(KernelState::Missing).count();
        if missing > 0 {
            let help = format!("build them with `pathmeter plan build {file}`, and plan then");
            return Err(usage_error(format!("not built yet: {missing} of {all}"), &help));
        }
        let failed: Vec<&str> = of(KernelState::Failed).map(|it| &*it.name).collect();
        if let Some(first) = failed.first() {
            let log = self.kernels.log(first);
            screen.note(&format!(
                "left out, since the build failed: {} of {all}: {}; {} has the first one's output",
                failed.len(),
                failed.join(", "),
                log.display()
            ));
        }
        Ok(of(KernelState::Built).map(|it| self.kernels.kernel(&it.name)).collect())
    }
}

fn usage_error(message: String, help: &str) -> Failure {
    Failure::Usage { message, help: help.to_owned() }
}

/// What git prints of the commits: hash, seconds, and the time in UTC.
fn log(wanted: &WantedCommits) -> Result<String, Failure> {
    let range = shlex::split(&wanted.range).ok_or_else(|| {
        let what = format!("range = \"{}\": a quote has no end", clean(&wanted.range));
        usage_error(what, "for one: v6.12..v6.13")
    })?;
    let most = MOST.to_string();
    let mut arguments = vec![
        "log",
        "--reverse",
        "--topo-order",
        "--no-show-signature",
        "--date=format-local:%Y%m%d-%H%M%S",
        "--format=%H %ct %cd",
        "-n",
        &most,
    ];
    arguments.extend(range.iter().map(String::as_str));
    let printed = git::line(Path::new(&wanted.tree), &arguments)?;
    Ok(String::from_utf8_lossy(&printed).into_owned())
}

/// The commits, each with a name: names sort as commits do. Commits of one second are numbered.
fn name_commits(log: &str) -> Option<Vec<Commit>> {
    let mut commits: Vec<Commit> = Vec::new();
    let mut last = ("", 0);
    for line in log.lines() {
        let mut words = line.split(' ');
        let [hash, seconds, date] = [words.next()?, words.next()?, words.next()?];
        let is_hash = hash.len() >= 40 && hash.bytes().all(|digit| digit.is_ascii_hexdigit());
        if !is_hash || words.next().is_some() {
            return None;
        }
        last = if last.0 == date { (date, last.1 + 1) } else { (date, 0) };
        let number = if last.1 == 0 { String::new() } else { format!(".{:04}", last.1) };
        commits.push(Commit {
            hash: hash.to_owned(),
            seconds: seconds.parse().ok()?,
            name: format!("{date}{number}-{}", &hash[..DIGITS]),
        });
    }
    Some(commits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_as_commits_do_and_those_of_one_second_are_numbered() {
        let line = |digit: &str, date: &str| format!("{} 7 {date}\n", digit.repeat(40));
        let log = ["f", "b", "a"].map(|digit| line(digit, "20241117-221208")).concat();
        let log = log + &line("0", "20241117-221209");
        let commits = name_commits(&log).unwrap();
        let names: Vec<&str> = commits.iter().map(|it| &*it.name).collect();
        assert!(names.is_sorted());
        assert_eq!(names[1], "20241117-221208.0001-bbbbbbbbbbbb");
        assert_eq!(commits[3].seconds, 7);
        assert!(name_commits("nothing of the kind").is_none());
        assert!(name_commits(&line("../../", "x")).is_none());
    }
}
