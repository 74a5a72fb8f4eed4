//! The command `git`, executed in a tree.

use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::failure::Failure;
use pathmeter_model::clean;

/// What git prints, without white space at its end.
pub(crate) fn line(folder: &Path, arguments: &[&str]) -> Result<Vec<u8>, Failure> {
    let done = run(folder, arguments)?;
    if !done.status.success() {
        return Err(git_error(arguments, &done));
    }
    Ok(done.stdout.trim_ascii_end().to_vec())
}

/// Executes git in `folder`, in UTC and in English.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Result<Output, Failure> {
    let mut git = Command::new("git");
    git.arg("-C")
        .arg(folder)
        .args(arguments)
        .env("LC_ALL", "C")
        .env("TZ", "UTC0")
        .stdin(Stdio::null());
    // A terminal's Ctrl-C is for us: a checkout is not left half done.
    git.process_group(0);
    git.output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::Usage {
            message: "there is no git".to_owned(),
            help: "install git, or name ready kernels".to_owned(),
        },
        _ => Failure::System { doing: "starting git", error },
    })
}

/// The usage error of a git command that failed, with the first lines of what git says.
pub(crate) fn git_error(arguments: &[&str], done: &Output) -> Failure {
    let said = String::from_utf8_lossy(&done.stderr);
    let said: Vec<String> = said.lines().take(3).map(|line| clean(line.trim())).collect();
    let words = arguments.iter().take(2).copied().collect::<Vec<_>>().join(" ");
    Failure::Usage {
        message: format!("git {words}: {}", said.join(" ")),
        help: "the same command of git, given in the tree, may tell more".to_owned(),
    }
}
