//! Where rounds are played: a scene, the caches that a round may begin with, the references.

use std::cell::{Cell, RefCell};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fastrand::Rng;
use pathmeter_e2e::{Run, Running, Scene, built};

use super::outcome::Expected;

/// So long may a process live after its run, on a machine that is doing nothing else.
const GOODBYE: Duration = Duration::from_millis(500);
/// The same on one that runs other tests.
const LONG_GOODBYE: Duration = Duration::from_secs(10);
/// What the scene's folder holds between rounds.
const FURNITURE: &[&str] = &["cache", "out", "pathmeter", "tmp"];

/// What a round begins with.
#[derive(Clone, Copy, Debug)]
enum State {
    Empty,
    Snapshots,
    Whole,
}

/// The stage of all rounds.
pub(super) struct Stage {
    /// The scene in which the commands run.
    pub(super) scene: Scene,
    /// The commands, with what they must print.
    references: Vec<Expected>,
    /// The whole cache after all references.
    full: Scene,
    goodbye: Duration,
    longest_goodbye: Cell<Duration>,
    story: RefCell<Vec<String>>,
}

impl Stage {
    /// Runs the references without a cache, then with one, which must agree. `alone`: nothing else
    /// keeps the machine busy.
    pub(super) fn new(alone: bool) -> Self {
        let (base, nop) = (built("base"), built("nop"));
        let commands: [(_, &[&str]); 4] = [
            ("compare", &["lab", "lab:iobitmap=lazy", "--perturb", "1", "--json"]),
            ("compare", &[&base, &nop, "--perturb", "1", "--json"]),
            ("explain", &["file.stat", &base, "--json"]),
            ("run", &[&base, "--perturb", "1", "--json", "--", "/bin/true"]),
        ];
        let full = Scene::cold();
        let reference = |(verb, rest): (&'static str, &[&str])| {
            let rest = rest.iter().map(|&argument| argument.to_owned()).collect();
            let expected = Expected { verb, rest, stdout: String::new() };
            let uncached = full.run(&expected.with(&["--no-cache"]));
            let cached = full.run(&expected.with(&[]));
            assert_eq!(uncached.succeeded().stdout, cached.succeeded().stdout);
            Expected { stdout: cached.stdout, ..expected }
        };
        let references = commands.map(reference).into();
        let goodbye = if alone { GOODBYE } else { LONG_GOODBYE };
        let (longest_goodbye, story) = (Cell::default(), RefCell::default());
        Self { scene: Scene::cold(), references, full, goodbye, longest_goodbye, story }
    }

    /// Prepares the scene for a round.
    pub(super) fn begin(&self, rng: &mut Rng) {
        for name in FURNITURE {
            // It isn't there before the first round.
            let _ = fs::remove_dir_all(self.scene.path(name));
        }
        for name in ["cache/pathmeter", "out", "tmp"] {
            fs::create_dir_all(self.scene.path(name)).unwrap();
        }
        let state = [State::Empty, State::Snapshots, State::Whole][rng.usize(..3)];
        for name in self.full.cached() {
            let wanted = match state {
                State::Empty => false,
                State::Snapshots => !name.ends_with(".result"),
                State::Whole => true,
            };
            if wanted {
                fs::copy(self.full_cache().join(&name), self.cache().join(&name)).unwrap();
            }
        }
        self.tell(format!("{state:?}"));
    }

    /// What happened in the round, which is over.
    pub(super) fn end(&self) -> String {
        // Were a check to have failed while something ran, it would disturb the next round.
        self.scene.kill_all();
        self.story.take().join(", ")
    }

    /// Adds to the round's story.
    pub(super) fn tell(&self, what: impl Into<String>) {
        self.story.borrow_mut().push(what.into());
    }

    pub(super) fn cache(&self) -> PathBuf {
        self.scene.path("cache/pathmeter")
    }

    fn full_cache(&self) -> PathBuf {
        self.full.path("cache/pathmeter")
    }

    /// A random one of the references, which the round's story names.
    pub(super) fn any(&self, rng: &mut Rng) -> &Expected {
        let expected = &self.references[rng.usize(..self.references.len())];
        self.tell(format!("{} {}", expected.verb, expected.rest[0]));
        expected
    }

    /// The one that needs no file.
    pub(super) fn of_the_lab(&self) -> &Expected {
        &self.references[0]
    }

    /// The one that runs a program.
    pub(super) fn of_a_program(&self) -> &Expected {
        &self.references[3]
    }

    /// The command that must print `expected`, each of its steps limited to `seconds`.
    pub(super) fn command(&self, expected: &Expected, seconds: u64) -> Command {
        let mut command = self.scene.command(&[]);
        self.prepare(&mut command, expected, seconds);
        command
    }

    /// The same, run by `wrapper`, a program with its arguments.
    pub(super) fn wrapped(&self, wrapper: &[&str], expected: &Expected, seconds: u64) -> Command {
        let mut command = self.scene.marked(wrapper[0], &wrapper[1..]);
        command.arg(pathmeter_e2e::pathmeter());
        self.prepare(&mut command, expected, seconds);
        command
    }

    fn prepare(&self, command: &mut Command, expected: &Expected, seconds: u64) {
        command.args(expected.with(&["--timeout", &seconds.to_string()]));
        command.env("TMPDIR", self.scene.path("tmp"));
    }

    /// Waits for the end of a run, and of all that it started.
    pub(super) fn finish(&self, running: Running) -> Run {
        let run = running.wait();
        let lived = self.scene.await_nothing_running(self.goodbye);
        self.longest_goodbye.set(self.longest_goodbye.get().max(lived));
        run
    }

    /// The longest that a process lived after its run.
    pub(super) fn longest_goodbye(&self) -> Duration {
        self.longest_goodbye.get()
    }

    /// A reference comes out of what the round left of the cache, and no file is left.
    pub(super) fn assert_recovered(&self, rng: &mut Rng) {
        let expected = self.any(rng);
        let running = Running::start(self.command(expected, 60));
        let run = self.finish(running);
        assert_eq!(run.code, 0, "the reference afterwards: {}", run.stderr);
        expected.assert_kept(&run, &[]);
        self.scene.assert_cache_is_tidy();
        assert_eq!(names(&self.scene.path("tmp")), [""; 0], "left in the temporary folder");
        let left = names(&self.scene.path("out"));
        assert!(left.iter().all(|name| !name.starts_with('.')), "left beside the output: {left:?}");
        let mut found = names(&self.scene.path("."));
        found.retain(|name| !FURNITURE.contains(&&name[..]));
        assert_eq!(found, [""; 0], "left in the working folder");
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
}
