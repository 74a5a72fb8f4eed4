//! `plan build`: builds the kernels of commits that have none yet.
//!
//! Contract: the user's tree stays as it is; commits are checked out in a clone beside it, which
//! shares its objects and is removed at the end. A commit is built, has the output of its failed
//! build, or is left as it was.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pathmeter_plan::FileStep;
use pathmeter_plan::KernelState;
use tempfile::TempDir;

use super::args::PlanBuildArgs;
use super::commits::{Commit, Commits};
use super::draft::read;
use super::loaded::{absolute, change_to, folder_of};
use super::node::{failed, format_counts, node};
use super::share;
use crate::build_command::{Built, build};
use crate::failure::{Exit, Failure};
use crate::git;
use crate::screen::output::{self, Screen};
use pathmeter_measure::interrupt;

/// A build that failed with less room than this is not the commit's fault, in bytes.
const ROOM: u64 = 64 << 20;

/// Builds the commits of this shard.
pub(super) fn run(args: &PlanBuildArgs, screen: &Screen) -> Result<Exit, Failure> {
    let wanted = read(&args.file)?;
    let home = absolute(&folder_of(&args.file))?;
    change_to(&home)?;
    if wanted.commits.is_empty() {
        return Err(Failure::Usage {
            message: format!("{}: there is no [[git]]", args.file.display()),
            help: "name a tree, a range and a command: docs/guide/plans.md".to_owned(),
        });
    }
    let chosen = share::choose_shard(args.shard, None)?;
    interrupt::listen();
    let mut tally = Tally::default();
    for (_, wanted) in &wanted.commits {
        let commits = Commits::of(wanted)?;
        let all: (&[Commit], fn(&Commit) -> &str) = (&commits.all, |commit| &commit.hash);
        let what = format!("commits of {}", wanted.tree);
        let mine = share::share(chosen.as_ref(), all, &what, screen);
        let limit = Duration::from_secs(args.build_timeout);
        let site = Site { commits: &commits, home: &home, limit, screen };
        site.build_all(&mine, &mut tally)?;
    }
    output::print(format!("{}\n", tally.format_summary()).as_bytes())?;
    Ok(tally.exit())
}

/// What came of the commits.
#[derive(Default)]
struct Tally {
    built: usize,
    there: usize,
    failed: usize,
    failed_before: usize,
    transient: usize,
}

impl Tally {
    fn format_summary(&self) -> String {
        let parts = [
            (self.built, "built"),
            (self.there, "there already"),
            (self.failed, "failed"),
            (self.failed_before, "failed before"),
            (self.transient, "to be tried again"),
        ];
        format_counts(parts.iter().map(|(number, _)| number).sum(), "commit", &parts)
    }

    fn exit(&self) -> Exit {
        match self {
            Self { transient: 1.., .. } => Exit::TryAgain,
            Self { failed: 1.., .. } => Exit::Unmeasured,
            _ => Exit::Done,
        }
    }
}

/// The commits of one tree, and how they are built.
struct Site<'a> {
    commits: &'a Commits<'a>,
    /// The folder of the file of wishes.
    home: &'a Path,
    limit: Duration,
    screen: &'a Screen,
}

/// What came of a build.
enum Outcome {
    Kernel(Vec<u8>),
    /// It gave none, for this reason; whether another try may help.
    None(String, bool),
}

impl Site<'_> {
    fn build_all(&self, mine: &[&Commit], tally: &mut Tally) -> Result<(), Failure> {
        let mut clone: Option<TempDir> = None;
        for commit in mine {
            // Another machine may have come to it meanwhile.
            match self.commits.kernels.state(&commit.name) {
                KernelState::Built => tally.there += 1,
                KernelState::Failed => tally.failed_before += 1,
                KernelState::Missing => {
                    let clone = match &mut clone {
                        Some(clone) => clone,
                        none => none.insert(self.prepare()?),
                    };
                    self.one(commit, clone.path(), tally)?;
                }
            }
        }
        Ok(())
    }

    /// A folder to build in, with a clone without files, which has its objects from the tree.
    fn prepare(&self) -> Result<TempDir, Failure> {
        // Before hours of building.
        self.commits.kernels.create().map_err(failed)?;
        let doing = "making a folder to build in";
        let folder = tempfile::Builder::new().prefix("pathmeter-build-").tempdir();
        let folder = folder.map_err(|error| Failure::System { doing, error })?;
        let tree = absolute(Path::new(&self.commits.wanted.tree))?;
        let [from, to] = [tree.as_path(), folder.path()].map(|path| path.display().to_string());
        let clone = ["clone", "--quiet", "--shared", "--no-checkout", "--", &*from];
        git::line(Path::new("."), &[&clone[..], &[&format!("{to}/tree")]].concat())?;
        Ok(folder)
    }

    fn one(&self, commit: &Commit, folder: &Path, tally: &mut Tally) -> Result<(), Failure> {
        let begin = Instant::now();
        let kernels = &self.commits.kernels;
        let name = &commit.name;
        match self.build(commit, folder)? {
            Outcome::Kernel(kernel) => {
                let seconds = begin.elapsed().as_secs();
                let told = if kernels.keep(name, &kernel).map_err(failed)? {
                    tally.built += 1;
                    format!("{name}: built in {seconds} s")
                } else {
                    tally.there += 1;
                    format!("{name}: another one was built meanwhile, and is kept")
                };
                self.screen.note(&told);
            }
            Outcome::None(why, true) => {
                tally.transient += 1;
                self.screen.note(&format!("{name}: {why}; another try may help"));
            }
            Outcome::None(why, false) => {
                let mut log = format!("{why}, on {}\n", node()).into_bytes();
                log.extend(fs::read(folder.join("log")).unwrap_or_default());
                kernels.fail(name, &log).map_err(failed)?;
                tally.failed += 1;
                let log = kernels.log(name);
                self.screen.note(&format!(
                    "{name}: {why}; {} has its output: remove it to try again",
                    log.display()
                ));
            }
        }
        Ok(())
    }

    /// Checks a commit out and builds it.
    fn build(&self, commit: &Commit, folder: &Path) -> Result<Outcome, Failure> {
        let tree = folder.join("tree");
        let check_out = ["checkout", "--quiet", "--force", "--detach", &commit.hash, "--"];
        git::line(&tree, &check_out)?;
        let image = tree.join(&self.commits.wanted.image);
        // A kernel of the commit before must not pass for this one's.
        match fs::remove_file(&image) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Failure::File { doing: FileStep::Removing, path: image, error });
            }
            _ => {}
        }
        let command = ["sh", "-c", &self.commits.wanted.build].map(OsString::from);
        let variables = self.variables(commit);
        let ended = build(&command, (&tree, &variables), &folder.join("log"), self.limit)?;
        Ok(match ended {
            Built::Done if image.is_file() => Outcome::Kernel(read_kernel(image)?),
            Built::Done => {
                Outcome::None(format!("the build left no {}", self.commits.wanted.image), false)
            }
            Built::Late => Outcome::None(Built::Late.describe_end(self.limit), true),
            failed @ Built::Failed(_) => {
                let full = if has_room(folder) { "" } else { ": the disk is full" };
                Outcome::None(failed.describe_end(self.limit) + full, !full.is_empty())
            }
        })
    }

    /// What the command finds in its environment: the folder of the wishes, and that by which a
    /// kernel has the same bytes whoever builds it and whenever
    /// (Documentation/kbuild/reproducible-builds.rst).
    fn variables(&self, commit: &Commit) -> [(&'static str, OsString); 6] {
        let who = || OsString::from("pathmeter");
        [
            ("PLAN_FOLDER", self.home.as_os_str().to_owned()),
            ("SOURCE_DATE_EPOCH", commit.seconds.to_string().into()),
            ("KBUILD_BUILD_TIMESTAMP", format!("@{}", commit.seconds).into()),
            ("KBUILD_BUILD_USER", who()),
            ("KBUILD_BUILD_HOST", who()),
            ("KBUILD_BUILD_VERSION", "1".into()),
        ]
    }
}

fn read_kernel(path: PathBuf) -> Result<Vec<u8>, Failure> {
    fs::read(&path).map_err(|error| Failure::File { doing: FileStep::Reading, path, error })
}

/// Whether a build in this folder had room.
fn has_room(folder: &Path) -> bool {
    let about = rustix::fs::statvfs(folder);
    about.is_ok_and(|it| it.f_bavail.saturating_mul(it.f_frsize) >= ROOM)
}
