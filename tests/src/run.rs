//! A run of the command: while it lasts, and what it left.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::NamedTempFile;

/// After so long a run is stuck: many times what any takes, on busy processors too.
const DEADLINE: Duration = Duration::from_secs(5 * 60);
/// How often a run is looked at.
const TICK: Duration = Duration::from_millis(10);

/// A run that has ended, with what it printed.
#[derive(Debug)]
pub struct Run {
    /// Its exit code, or 128 and the number of the signal that ended it, as shells have it.
    pub code: i32,
    pub stdout: String,
    /// What it printed on stderr.
    pub stderr: String,
    pub elapsed: Duration,
    /// The most memory it had resident, without QEMU's, in KiB.
    pub peak_kib: u64,
}

impl Run {
    /// The JSON that it printed; it must have gone well.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.succeeded().stdout).unwrap()
    }

    /// Itself; it must have gone well.
    pub fn succeeded(&self) -> &Self {
        assert_eq!(self.code, 0, "{}", self.stderr);
        self
    }

    /// It must have ended with exit code 3, printed nothing on stdout and all `words` on stderr.
    pub fn assert_unmeasured(&self, words: &[&str]) {
        assert_eq!((self.code, &self.stdout[..]), (3, ""), "{}", self.stderr);
        self.assert_printed(&["pathmeter: error: "]);
        self.assert_printed(words);
    }

    /// It must have printed all `words` on stderr.
    pub fn assert_printed(&self, words: &[&str]) {
        for word in words {
            assert!(self.stderr.contains(word), "{word:?} is not in:\n{}", self.stderr);
        }
    }
}

/// A run that lasts. Dropping it kills it.
pub struct Running {
    child: Child,
    started: Instant,
    stdout: NamedTempFile,
    stderr: NamedTempFile,
    peak_kib: u64,
}

impl Running {
    /// Runs `command`, its output going to files, so that it never waits for us.
    pub fn start(mut command: Command) -> Self {
        let files = [NamedTempFile::new().unwrap(), NamedTempFile::new().unwrap()];
        let [stdout, stderr] = files;
        command.stdin(Stdio::null());
        command.stdout(stdout.reopen().unwrap()).stderr(stderr.reopen().unwrap());
        let (child, started) = (command.spawn().unwrap(), Instant::now());
        Self { child, started, stdout, stderr, peak_kib: 0 }
    }

    pub fn wait(mut self) -> Run {
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return self.ended(status);
            }
            self.tick("end");
        }
    }

    /// Waits until `happened`, which must be before it ends.
    pub fn until(&mut self, what: &str, happened: impl Fn() -> bool) {
        while !happened() {
            assert!(!self.has_ended(), "it ended before: {what}\n{}", self.stderr());
            self.tick(what);
        }
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits until it has printed `words` on stderr.
    pub fn until_printed(&mut self, words: &str) {
        let stderr = self.stderr.path().to_owned();
        self.until(words, || fs::read_to_string(&stderr).unwrap().contains(words));
    }

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal; if it has ended already, nothing happens.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    fn tick(&mut self, what: &str) {
        let is_stuck = self.started.elapsed() >= DEADLINE;
        assert!(!is_stuck, "waited too long: {what}\n{}", self.stderr());
        self.peak_kib = peak_kib(self.child.id()).unwrap_or(self.peak_kib);
        sleep(TICK);
    }

    fn stderr(&self) -> String {
        fs::read_to_string(self.stderr.path()).unwrap()
    }

    fn ended(&self, status: ExitStatus) -> Run {
        let code = status.code().or_else(|| Some(128 + status.signal()?)).unwrap();
        let (stdout, stderr) = (fs::read_to_string(self.stdout.path()).unwrap(), self.stderr());
        Run { code, stdout, stderr, elapsed: self.started.elapsed(), peak_kib: self.peak_kib }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only when it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The most memory that a process ever had resident: `VmHWM` of proc(5).
fn peak_kib(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
