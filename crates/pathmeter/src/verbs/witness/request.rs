//! What the arguments of `witness` come to.

use std::path::{Path, PathBuf};

use pathmeter_measure::subject::Subject;
use pathmeter_vm::Cpu;
use pathmeter_witness::WITNESS_CPU;

use super::args::WitnessArgs;
use crate::arguments::GuestArgs;
use crate::command_line::given::{Given, Need, Needs};
use crate::failure::Failure;
use crate::screen::output::Screen;
use crate::subject_files::find_files;

/// What options need to change something.
pub(crate) const NEEDS: Needs =
    &[(&["perturb", "FilesArgs"], Need::Program), (&["command"], Need::Kernel)];

/// The kernels, and how guests run in both interpreters.
pub(super) struct Request {
    pub(super) names: Vec<PathBuf>,
    pub(super) guest: GuestArgs,
}

impl Request {
    /// # Errors
    /// Whatever of the command line can't be had.
    pub(super) fn new<'a>(
        args: &'a mut WitnessArgs,
        given: &Given<'_>,
        screen: &Screen,
    ) -> Result<(Self, &'a WitnessArgs), Failure> {
        given.refuse_idle(NEEDS)?;
        find_files(&mut args.kernels, screen)?;
        let args = &*args;
        let guest = with_common_cpu(&args.guest)?;
        let names = args.kernels.iter().map(|name| kernel(name)).collect::<Result<Vec<_>, _>>()?;
        Ok((Self { names, guest }, args))
    }
}

/// A subject, which must be a kernel.
fn kernel(name: &Path) -> Result<PathBuf, Failure> {
    match Subject::open(name)? {
        Subject::Kernel(path) => Ok(path),
        Subject::Result(_) => Err(Failure::Usage {
            message: format!("{} is a result", name.display()),
            help: "name a kernel: it is executed in two interpreters".to_owned(),
        }),
    }
}

/// The arguments, with the CPU that both interpreters have.
fn with_common_cpu(guest: &GuestArgs) -> Result<GuestArgs, Failure> {
    if guest.cpus().next().is_none() {
        return Ok(GuestArgs { cpu: vec![Cpu::from_name(WITNESS_CPU)], ..guest.clone() });
    }
    Err(Failure::Usage {
        message: "--cpu can't be chosen here".to_owned(),
        help: "both interpreters have the same CPU: what each can execute of it".to_owned(),
    })
}
