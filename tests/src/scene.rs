//! A folder of a test's own, a cache, and the processes that were started for it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::{Run, Running, built, pathmeter};

/// Inherited by all processes of a scene, with the scene's folder as its value.
const MARK: &str = "PATHMETER_SCENE";
/// So long may QEMU take to die after pathmeter was killed.
const GRACE: Duration = Duration::from_secs(10);

/// Where a test runs the command.
pub struct Scene {
    folder: TempDir,
    cache: PathBuf,
}

impl Scene {
    /// A scene whose cache is empty.
    pub fn cold() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("cache");
        Self { folder, cache }
    }

    /// A scene with the cache that all tests share which aren't about caching. It holds `base` as
    /// it is measured by default.
    pub fn warm() -> Self {
        static WARMED: LazyLock<PathBuf> = LazyLock::new(warmed);
        Self { cache: WARMED.clone(), ..Self::cold() }
    }

    /// A file or folder of this name in the scene.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Makes a file in the scene.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.path(name), bytes).unwrap();
        self.path(name)
    }

    /// Makes a file in the scene that can be executed.
    pub fn executable(&self, name: &str, text: &str) -> String {
        let file = self.write(name, text);
        fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
        file.into_os_string().into_string().unwrap()
    }

    /// The command with `arguments`, in the scene's folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.marked(pathmeter(), arguments)
    }

    /// Any program, in the scene's folder, whose processes are the scene's.
    pub fn marked(&self, program: impl AsRef<Path>, arguments: &[&str]) -> Command {
        // Whoever runs the tests may ignore a signal, as `nohup` does, and that is inherited.
        let mut command = Command::new("/usr/bin/env");
        command.arg("--default-signal=HUP,INT,QUIT,TERM").arg(program.as_ref());
        command.args(arguments).current_dir(self.folder.path());
        command.env("XDG_CACHE_HOME", &self.cache).env(MARK, self.folder.path());
        // A row of a table is one line, however long.
        command.env("COLUMNS", "0");
        command
    }

    /// Starts the command and does not wait for it.
    pub fn start(&self, arguments: &[&str]) -> Running {
        Running::start(self.command(arguments))
    }

    /// Runs the command until it ends.
    pub fn run(&self, arguments: &[&str]) -> Run {
        self.run_command(self.command(arguments))
    }

    /// Runs a command made by this scene. However it ends, it may leave no process and no temporary
    /// file.
    pub fn run_command(&self, command: Command) -> Run {
        let run = Running::start(command).wait();
        self.assert_nothing_running();
        run
    }

    /// The names in the cache, sorted.
    pub fn cached(&self) -> Vec<String> {
        let entries = fs::read_dir(self.cache_folder()).into_iter().flatten().flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.retain(|name| name != TIMES);
        names.sort();
        names
    }

    /// The only file in the cache whose name ends so.
    pub fn cached_file(&self, suffix: &str) -> PathBuf {
        let names = self.cached();
        let mut found = names.iter().filter(|name| name.ends_with(suffix));
        let (Some(name), None) = (found.next(), found.next()) else {
            panic!("not one {suffix} in {names:?}");
        };
        self.cache_folder().join(name)
    }

    fn cache_folder(&self) -> PathBuf {
        self.cache.join("pathmeter")
    }

    /// Its cache may hold only whole snapshots, results, recordings and symbols.
    pub fn assert_cache_is_tidy(&self) {
        let whole = |name: &String| {
            let kind = Path::new(name).extension();
            let kinds = ["snapshot", "result", "recordings", "symbols"];
            kind.is_some_and(|kind| kinds.iter().any(|it| kind == *it))
        };
        let names = self.cached();
        assert!(names.iter().all(whole), "left in the cache: {names:?}");
    }

    /// The QEMUs that run for it now.
    pub fn guests(&self) -> Vec<u32> {
        let is_qemu = |process: &u32| {
            let name = fs::read_to_string(format!("/proc/{process}/comm"));
            name.is_ok_and(|name| name.starts_with("qemu-system"))
        };
        self.processes().into_iter().filter(is_qemu).collect()
    }

    /// Those of them that have a guest: the others are asked about themselves, and end.
    pub fn guests_at_work(&self) -> Vec<u32> {
        let is_at_work = |process: &u32| {
            let words = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
            words.split(|byte| *byte == 0).any(|word| word == b"-icount")
        };
        self.guests().into_iter().filter(is_at_work).collect()
    }

    /// Nothing may run for it any more.
    pub fn assert_nothing_running(&self) {
        assert_eq!(self.processes(), [0; 0], "still running");
    }

    /// Soon nothing may run for it any more.
    pub fn assert_nothing_running_soon(&self) {
        self.await_nothing_running(GRACE);
    }

    /// Within this time nothing may run for it any more; how long it took.
    pub fn await_nothing_running(&self, limit: Duration) -> Duration {
        let began = Instant::now();
        while !self.processes().is_empty() && began.elapsed() < limit {
            sleep(Duration::from_millis(10));
        }
        self.assert_nothing_running();
        began.elapsed()
    }

    /// Kills whatever runs for it.
    pub fn kill_all(&self) {
        for process in self.processes() {
            let process = Pid::from_raw(process.cast_signed()).unwrap();
            // It may have ended by itself.
            let _ = kill_process(process, Signal::KILL);
        }
        self.assert_nothing_running_soon();
    }

    /// All processes that carry its mark, by number.
    pub fn processes(&self) -> Vec<u32> {
        let mark = format!("{MARK}={}", self.folder.path().display());
        let marked = |process: &u32| {
            let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
        };
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        processes.filter(marked).collect()
    }
}

/// How long groups of paths took, which is kept beside the cache's entries.
const TIMES: &str = "group-times.json";

/// A cache that lasts as long as this process, in a place that the next one empties.
fn warmed() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let cache = program.with_extension("cache");
    // It isn't there the first time.
    let _ = fs::remove_dir_all(&cache);
    let scene = Scene { cache: cache.clone(), ..Scene::cold() };
    scene.run(&["measure", &built("base")]).succeeded();
    cache
}
