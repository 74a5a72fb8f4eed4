//! Bochs, and what it executes. This file finds it and learns its version.

mod debugger;
mod guest;
pub(crate) mod machine;
mod memory;
pub(crate) mod suite;
pub(crate) mod traces;
pub(crate) mod watch;

use std::path::{Path, PathBuf};

use pathmeter_vm::elsewhere::ask;
use pathmeter_vm::{Interrupt, VmError};

/// First major version that has CPUs of its own list only (3.1 was tried).
const FIRST_WITHOUT_GENERIC: u32 = 3;
/// What the program is called if the user does not say.
const NAME: &str = "bochs";
/// What to do about one that is not there, or is another program.
const INSTALL_HELP: &str = "install Bochs 2.7 or newer with its SDL display (Debian: bochs, \
    bochs-sdl, vgabios), or name another one with --bochs FILE";

/// A Bochs that can run guests.
#[derive(Clone, Debug)]
pub struct Bochs {
    path: PathBuf,
    /// Its version: `2.7`.
    pub version: String,
}

impl Bochs {
    /// The Bochs at `chosen`, or on `PATH`.
    ///
    /// # Errors
    /// [`VmError::Interpreter`]: it can't be run, or is something else.
    pub fn find(chosen: Option<&Path>, interrupt: &Interrupt) -> Result<Self, VmError> {
        let path = chosen.unwrap_or(Path::new(NAME)).to_owned();
        let absent = |how: String| {
            let why = format!("{}: {how}", path.display());
            VmError::Interpreter { why, help: Some(INSTALL_HELP) }
        };
        let answer = match ask(&path, &["--help"], vec![], interrupt) {
            Ok(answer) => answer.output + &answer.errors,
            Err(VmError::Interrupted) => return Err(VmError::Interrupted),
            Err(_) => return Err(absent("it can't be run".to_owned())),
        };
        let version = answer
            .split("Bochs x86 Emulator ")
            .nth(1)
            .and_then(|rest| rest.split_whitespace().next().map(str::to_owned));
        let version =
            version.ok_or_else(|| absent("it does not say that it is Bochs".to_owned()))?;
        if is_too_new(&version) {
            return Err(absent(format!(
                "it is version {version}, which can't put a CPU together from features"
            )));
        }
        Ok(Self { path, version })
    }
}

/// Whether it lacks the model `bx_generic` and the option `cpuid`, as 3.1 does.
fn is_too_new(version: &str) -> bool {
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    major.is_some_and(|major| major >= FIRST_WITHOUT_GENERIC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bochs_without_the_generic_cpu_is_too_new() {
        assert_eq!(["2.7", "2.8", "x"].map(is_too_new), [false; 3]);
        assert_eq!(["3.0", "3.1", "10"].map(is_too_new), [true; 3]);
    }
}
