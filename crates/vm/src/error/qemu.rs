//! Why there is no QEMU to run, and what the user can do about it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;

use crate::arch::{ASK_HELP, INSTALL_HELP, LACKS_HELP, OLD_HELP};
use crate::console::Tail;
use crate::machine::OLDEST;

/// QEMU prints its version in some 20 ms; a busy machine is given much longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// What to do about a QEMU that was killed.
pub(crate) const KILLED_HELP: &str = "\
    somebody killed it, or the system did because memory ran out (`dmesg` tells): end other \
    programs, or raise the memory limit of this session or container, and try again";

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    #[error("can't be run: {0}")]
    Run(#[from] std::io::Error),
    /// It did not end in time.
    #[error("did not answer within {} s", PATIENCE.as_secs())]
    Silent,
    /// It was killed, by somebody or for want of memory.
    #[error("was killed when it was asked about itself")]
    Killed,
}

/// Why there is no QEMU to run.
#[derive(Debug, thiserror::Error)]
pub enum QemuError {
    /// Not on PATH, or not where the user said.
    #[error("{} was not found{}", .path.display(), if has_folder(.path) { "" } else { " on PATH" })]
    Missing { path: PathBuf },
    /// It can't be executed, or doesn't answer.
    #[error("{} {error}", .path.display())]
    Ask {
        path: PathBuf,
        /// Why there was no answer.
        error: AskError,
    },
    /// It ran, but could not say its version.
    #[error("{} could not say its version ({how}){errors}", .path.display())]
    Mute {
        path: PathBuf,
        /// How the program ended, in words.
        how: String,
        /// The end of what it complained about.
        errors: Tail,
    },
    /// It ran, but said nothing that is a QEMU's version.
    #[error("{} is not QEMU: asked for its version it said {said:?}", .path.display())]
    Foreign {
        path: PathBuf,
        /// The beginning of its answer.
        said: String,
    },
    /// It was built without something, or may not use it here.
    #[error("{}: {means}{errors}", .path.display())]
    Lacks {
        path: PathBuf,
        /// What it lacks, in words.
        means: &'static str,
        /// The end of what it complained about.
        errors: Tail,
    },
    /// It has no name for something that a CPU profile has.
    #[error(
        "{} is QEMU {version}, which can't have the CPU {profile}: it lacks {missing}{}{}",
        .path.display(), since_words(*.since), nearest_words(*.nearest)
    )]
    Cpu {
        path: PathBuf,
        version: String,
        profile: Box<str>,
        /// What it has no name for.
        missing: String,
        /// The oldest tested version that has names for all of them, if one is known.
        since: Option<&'static str>,
        /// The profile most like it among those that it can have.
        nearest: Option<&'static str>,
    },
    /// Its version lacks what we need.
    #[error("{} is QEMU {version}; {}.{} or newer is needed", .path.display(), OLDEST.0, OLDEST.1)]
    Old { path: PathBuf, version: String },
}

impl QemuError {
    /// What the user can do about it.
    pub fn help(&self) -> &'static str {
        if let Self::Ask { error: AskError::Run(error), .. } = self
            && let Some(help) = shortage_help(error)
        {
            return help;
        }
        match self {
            Self::Ask { error: AskError::Killed, .. } => KILLED_HELP,
            Self::Old { .. } => OLD_HELP,
            Self::Lacks { .. } => LACKS_HELP,
            Self::Cpu { .. } => {
                "name a QEMU that has them with --qemu FILE, or another profile: `pathmeter doctor \
                 --profiles` says which ones this QEMU can have. In a profile of your own, take \
                 them out of `features`"
            }
            Self::Ask { .. } | Self::Mute { .. } => ASK_HELP,
            Self::Missing { .. } | Self::Foreign { .. } => INSTALL_HELP,
        }
    }
}

/// Which QEMU can have the CPU.
fn since_words(since: Option<&str>) -> String {
    since.map(|version| format!("; QEMU {version} or newer has them")).unwrap_or_default()
}

/// Which profile can be had instead.
fn nearest_words(nearest: Option<&str>) -> String {
    nearest
        .map(|name| format!("; the nearest profile that this one can have is {name}"))
        .unwrap_or_default()
}

/// What to do about an error that means that the host lacks something, and not the program.
pub(crate) fn shortage_help(error: &std::io::Error) -> Option<&'static str> {
    Some(match Errno::from_io_error(error)? {
        Errno::AGAIN => {
            "the limit on processes and threads is reached: raise it (`ulimit -u`, or the \
             container's pids limit), or end other programs"
        }
        Errno::FBIG => "the limit on the size of files is reached: raise it with `ulimit -f`",
        Errno::MFILE | Errno::NFILE | Errno::NOMEM => {
            "this machine has run out of something that starting a program takes: end other \
             programs, or raise the limits (`ulimit -a`)"
        }
        _ => return None,
    })
}

/// Whether this names a file and not a program on PATH.
pub(crate) fn has_folder(path: &Path) -> bool {
    path.components().count() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_qemu_that_can_not_have_a_cpu_says_which_one_can_and_what_it_can_have_itself() {
        let error = |since, nearest| {
            let (path, version) = ("q".into(), "7.2.22".to_owned());
            let (profile, missing) = ("zen3-guest".into(), "amd-psfd".to_owned());
            QemuError::Cpu { path, version, profile, missing, since, nearest }.to_string()
        };
        let head = "q is QEMU 7.2.22, which can't have the CPU zen3-guest: it lacks amd-psfd";
        assert_eq!(error(None, None), head);
        let other = "; QEMU 10.0 or newer has them; the nearest profile that this one can have is \
                     zen2-guest";
        assert_eq!(error(Some("10.0"), Some("zen2-guest")), format!("{head}{other}"));
    }
}
