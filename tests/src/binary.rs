//! The command under test.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use serde_json::Value;

/// The command: `PATHMETER`, or else built by the cargo that runs the tests.
pub fn pathmeter() -> &'static Path {
    static BINARY: LazyLock<PathBuf> =
        LazyLock::new(|| env::var_os("PATHMETER").map_or_else(build, PathBuf::from));
    &BINARY
}

/// Builds it in the profile of these tests, and learns from cargo where it is, whatever the target
/// folder is. It is built by the words that the Makefile has for all tests, which have built it
/// already: alone it would have other features of some crates, which cargo would compile again.
fn build() -> PathBuf {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["test", "--locked", "--workspace", "--exclude", "pathmeter-agent"]);
    command.args(["--config", "profile.dev.panic=\"unwind\""]);
    command.args(["--test", "command", "--no-run"]);
    command.arg("--message-format=json").stderr(Stdio::inherit());
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "pathmeter can't be built");
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().find_map(executable).unwrap()
}

/// Where a message of cargo says that the command is.
fn executable(message: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    let is_command = message["target"]["kind"] == serde_json::json!(["bin"])
        && message["target"]["name"] == "pathmeter"
        && message["profile"]["test"] == false;
    message["executable"].as_str().filter(|_| is_command).map(PathBuf::from)
}
