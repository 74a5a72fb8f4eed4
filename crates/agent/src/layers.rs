//! What shows that measured processes can restrict themselves by layers of Landlock, or why not.

use pathmeter_probes::sys::{self, errno, nr};

use crate::file::Held;
use crate::refusal::{Refusal, refused, unknown};

/// Landlock is in the kernel, and not among the modules that it was booted with.
const EOPNOTSUPP: i32 = 95;

/// What shows that a process took so many layers.
#[inline(never)]
pub(crate) fn shown(layers: u8) -> Result<Held, Refusal> {
    const LANDLOCK_CREATE_RULESET_VERSION: usize = 1;
    // SAFETY: takes no pointer with this flag.
    let version = unsafe {
        let args = [0, 0, LANDLOCK_CREATE_RULESET_VERSION, 0, 0, 0];
        sys::checked(nr::LANDLOCK_CREATE_RULESET, args)
    };
    let version = version.map_err(refusal)?;
    let plural = if layers == 1 { "" } else { "s" };
    Ok(Held::told(format_args!(
        "a process took {layers} layer{plural} of Landlock's version {version}"
    )))
}

/// Why a process can't restrict itself.
#[inline(never)]
pub(crate) fn refusal(error: i32) -> Refusal {
    match error {
        errno::ENOSYS => {
            unknown("this kernel has no Landlock (CONFIG_SECURITY_LANDLOCK, from 5.13)")
        }
        EOPNOTSUPP => refused(format_args!(
            "this kernel was booted without Landlock: give boot:lsm=landlock as well, or --append \
             lsm=landlock"
        )),
        error => refused(format_args!("a process can't restrict itself (error {error})")),
    }
}
