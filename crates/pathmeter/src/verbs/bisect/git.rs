//! The git tree that is bisected.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::failure::Failure;
use crate::git::{git_error, line, run};

/// The work tree that is bisected.
pub(super) struct Git {
    /// The folder at the top of the work tree.
    pub(super) top: PathBuf,
    /// Where git keeps what belongs to this work tree.
    pub(super) folder: PathBuf,
}

/// How far git's bisection is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// A commit is checked out, to be tried.
    Trying,
    Found(String),
    /// One of these, of which all but one were skipped.
    OneOf(Vec<String>),
}

impl Git {
    /// The tree around the current folder, fit for a bisection.
    pub(super) fn open() -> Result<Self, Failure> {
        let here = Path::new(".");
        let done = run(here, &["rev-parse", "--show-toplevel"])?;
        if !done.status.success() {
            return Err(no_tree(&done));
        }
        let top = done.stdout.trim_ascii_end().to_vec();
        let top = PathBuf::from(OsStr::from_bytes(&top));
        let folder = line(&top, &["rev-parse", "--absolute-git-dir"])?;
        let git = Self { folder: PathBuf::from(OsStr::from_bytes(&folder)), top };
        if git.text(&["rev-parse", "--is-shallow-repository"])? == "true" {
            return Err(Failure::Usage {
                message: "this clone is shallow: commits between GOOD and BAD may be missing"
                    .to_owned(),
                help: "fetch them with `git fetch --unshallow`".to_owned(),
            });
        }
        Ok(git)
    }

    /// The full name of a commit.
    pub(super) fn commit(&self, name: &str) -> Result<String, Failure> {
        let revision = format!("{name}^{{commit}}");
        self.text(&["rev-parse", "--verify", "--quiet", "--end-of-options", &revision]).map_err(
            |_| Failure::Usage {
                message: format!("{name} is no commit of this tree"),
                help: "name a tag, a branch or a hash".to_owned(),
            },
        )
    }

    /// Whether `later` comes after `earlier`.
    pub(super) fn is_ancestor(&self, earlier: &str, later: &str) -> Result<bool, Failure> {
        let done = run(&self.top, &["merge-base", "--is-ancestor", earlier, later])?;
        Ok(done.status.success())
    }

    /// Refuses a tree with changes: each step checks out another commit.
    pub(super) fn refuse_changes(&self) -> Result<(), Failure> {
        if self.text(&["status", "--porcelain", "--untracked-files=no"])?.is_empty() {
            return Ok(());
        }
        Err(Failure::Usage {
            message: "the tree has changes that are not committed".to_owned(),
            help: "commit or stash them; `git reset --hard` undoes those of a build".to_owned(),
        })
    }

    /// Whether a bisection is under way.
    pub(super) fn is_bisecting(&self) -> bool {
        self.folder.join("BISECT_START").exists()
    }

    /// Begins one; which commit is checked out now is what it ends with.
    pub(super) fn start(&self) -> Result<(), Failure> {
        self.text(&["bisect", "start"]).map(drop)
    }

    /// Checks out a commit, without its branch.
    pub(super) fn check_out(&self, commit: &str) -> Result<(), Failure> {
        self.text(&["checkout", "--quiet", "--detach", commit, "--"]).map(drop)
    }

    /// Tells git's bisection that a commit is `good`, `bad` or to be skipped (`skip`).
    pub(super) fn mark(&self, mark: &str, commit: &str) -> Result<(), Failure> {
        // Where only skipped commits are left it ends with 2, which the standing tells better.
        let done = run(&self.top, &["bisect", mark, commit])?;
        if done.status.success() || self.standing()? != Standing::Trying {
            return Ok(());
        }
        Err(git_error(&["bisect", mark], &done))
    }

    /// How far it is, by its log.
    pub(super) fn standing(&self) -> Result<Standing, Failure> {
        let log = self.text(&["bisect", "log"])?;
        let of = |prefix: &str| {
            let commits = log.lines().filter_map(|line| line.strip_prefix(prefix));
            let names = commits.filter_map(|rest| rest.split(']').next());
            names.map(str::to_owned).collect::<Vec<_>>()
        };
        if let Some(first) = of("# first bad commit: [").pop() {
            return Ok(Standing::Found(first));
        }
        match of("# possible first bad commit: [") {
            none if none.is_empty() => Ok(Standing::Trying),
            some => Ok(Standing::OneOf(some)),
        }
    }

    /// The commit that is checked out.
    pub(super) fn head(&self) -> Result<String, Failure> {
        self.text(&["rev-parse", "--verify", "HEAD"])
    }

    /// The first parent of a commit, if it has one.
    pub(super) fn parent(&self, commit: &str) -> Option<String> {
        self.text(&["rev-parse", "--verify", "--quiet", &format!("{commit}^")]).ok()
    }

    /// What people call it: twelve digits and its subject.
    pub(super) fn about(&self, commit: &str) -> Result<String, Failure> {
        self.text(&[
            "log",
            "-1",
            "--no-show-signature",
            "--abbrev=12",
            "--format=%h (\"%s\")",
            commit,
        ])
    }

    /// Who wrote it, and when.
    pub(super) fn author(&self, commit: &str) -> Result<String, Failure> {
        let format = "--format=%an <%ae>, %ad";
        self.text(&["log", "-1", "--no-show-signature", "--date=short", format, commit])
    }

    /// Files that git neither knows nor ignores.
    pub(super) fn strangers(&self) -> Result<Vec<String>, Failure> {
        let list = run(&self.top, &["ls-files", "--others", "--exclude-standard", "-z"])?;
        let names = list.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.filter_map(|name| String::from_utf8(name.to_vec()).ok()).collect())
    }

    /// Undoes what a build changed in files that git knows.
    pub(super) fn undo_changes(&self) -> Result<(), Failure> {
        self.text(&["reset", "--hard", "--quiet"]).map(drop)
    }

    /// Ends the bisection where it began.
    pub(super) fn reset(&self) -> Result<(), Failure> {
        self.text(&["bisect", "reset"]).map(drop)
    }

    fn text(&self, arguments: &[&str]) -> Result<String, Failure> {
        Ok(String::from_utf8_lossy(&line(&self.top, arguments)?).into_owned())
    }
}

/// That there is no work tree here, and what to do next.
fn no_tree(done: &Output) -> Failure {
    let here = std::env::current_dir().unwrap_or_else(|_| ".".into());
    let message = if String::from_utf8_lossy(&done.stderr).contains("not a git repository") {
        format!("{} is in no git tree, in which commits could be searched", here.display())
    } else {
        git_error(&["rev-parse", "--show-toplevel"], done).to_string()
    };
    let help = "go to the kernel's git tree (cd), and give the same command there; or name ready \
                kernels in order: pathmeter bisect OLD MIDDLE NEW --path PATH";
    Failure::Usage { message, help: help.to_owned() }
}
