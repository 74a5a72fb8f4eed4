//! What shows that measured processes can restrict themselves by Landlock, or why not.

use pathmeter_probes::sys::{self, errno, nr};

use crate::file::Held;
use crate::refusal::{Refusal, kernel_refusal, unknown};

/// Landlock is in the kernel, and not among the modules that it was booted with.
const EOPNOTSUPP: i32 = 95;
/// A structure has more than the kernel knows.
const E2BIG: i32 = 7;

/// Describes what a process took: this many layers, or the ruleset.
#[inline(never)]
pub(crate) fn describe_layers(layers: Option<u32>) -> Result<Held, Refusal> {
    let version = version().map_err(refusal)?;
    Ok(match layers {
        Some(1) => Held::from_message(format_args!(
            "a process took 1 layer of Landlock's version {version}"
        )),
        Some(layers) => Held::from_message(format_args!(
            "a process took {layers} layers of Landlock's version {version}"
        )),
        None => Held::from_message(format_args!(
            "a process took the ruleset, by Landlock's version {version}; rules about files that a \
             process does not have are left out"
        )),
    })
}

/// The kernel's version of Landlock.
fn version() -> sys::Ret {
    const LANDLOCK_CREATE_RULESET_VERSION: usize = 1;
    let args = [0, 0, LANDLOCK_CREATE_RULESET_VERSION, 0, 0, 0];
    // SAFETY: takes no pointer with this flag.
    unsafe { sys::checked(nr::LANDLOCK_CREATE_RULESET, args) }
}

/// Why a process can't restrict itself.
#[inline(never)]
pub(crate) fn refusal(error: i32) -> Refusal {
    match error {
        errno::ENOSYS => {
            unknown("this kernel has no Landlock (CONFIG_SECURITY_LANDLOCK, from 5.13)")
        }
        EOPNOTSUPP => kernel_refusal(format_args!(
            "this kernel was booted without Landlock: give boot:lsm=landlock as well, or --append \
             lsm=landlock"
        )),
        errno::EINVAL | E2BIG => match version() {
            Ok(version) => kernel_refusal(format_args!(
                "this kernel's Landlock has version {version}, which lacks rights that the ruleset \
                 handles"
            )),
            Err(error) => kernel_refusal(format_args!("Landlock tells no version (error {error})")),
        },
        error => kernel_refusal(format_args!("a process can't restrict itself (error {error})")),
    }
}
