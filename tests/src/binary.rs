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

/// Builds it and learns from cargo where it is, whatever the target folder is.
fn build() -> PathBuf {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--release", "--package", "pathmeter", "--message-format=json"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success(), "pathmeter can't be built");
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().rev().find_map(executable).unwrap()
}

fn executable(message: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    message["executable"].as_str().map(PathBuf::from)
}
