//! Layers of Landlock that allow all: what a measured process restricts itself by, so that each of
//! its accesses to a file is checked by every layer (landlock(7)).
//!
//! Each layer handles every right to files that the kernel knows, and has one rule, which allows
//! them all beneath `/`. Rights to networks are not handled: each rule names one port.

use pathmeter_probes::sys::{self, CStr, errno, flag, nr};

use crate::file::Held;
use crate::refusal::{Refusal, refused, unknown};

/// Rights to files of the first version; later ones add to them, bit by bit.
const LEAST_RIGHTS: u32 = 13;
/// More than any version has.
const MOST_RIGHTS: u32 = 32;
/// Landlock is in the kernel, and not among the modules that it was booted with.
const EOPNOTSUPP: i32 = 95;

/// Restricts this process, and its children, by so many layers.
#[inline(never)]
pub(crate) fn restrict(layers: u8) -> Result<(), i32> {
    let (set, rights) = ruleset()?;
    allow_all(set, rights)?;
    for _ in 0..layers {
        // SAFETY: takes no pointer.
        unsafe { sys::checked(nr::LANDLOCK_RESTRICT_SELF, [set, 0, 0, 0, 0, 0]) }?;
    }
    sys::close(set).map(drop)
}

/// A set without rules that handles all rights to files, and these.
fn ruleset() -> Result<(usize, u64), i32> {
    let mut made = Err(errno::EINVAL);
    for count in (LEAST_RIGHTS..=MOST_RIGHTS).rev() {
        let rights = (1_u64 << count) - 1;
        let args = [&raw const rights as usize, size_of_val(&rights), 0, 0, 0, 0];
        // SAFETY: the kernel reads a `struct landlock_ruleset_attr` of eight bytes, which are the
        // rights to files that it handles.
        made = unsafe { sys::checked(nr::LANDLOCK_CREATE_RULESET, args) }.map(|set| (set, rights));
        // A kernel does not take rights that it does not know.
        if made != Err(errno::EINVAL) {
            break;
        }
    }
    made
}

/// Adds the rule that allows these rights beneath `/`.
fn allow_all(set: usize, rights: u64) -> Result<(), i32> {
    const LANDLOCK_RULE_PATH_BENEATH: usize = 1;
    const O_PATH: usize = 0o10_000_000;
    /// `struct landlock_path_beneath_attr`.
    #[repr(C, packed)]
    struct Beneath {
        rights: u64,
        folder: i32,
    }
    let root = sys::open(CStr::new(b"/\0"), O_PATH | flag::O_RDONLY, 0)?;
    let rule = Beneath { rights, folder: (root as u32).cast_signed() };
    let args = [set, LANDLOCK_RULE_PATH_BENEATH, &raw const rule as usize, 0, 0, 0];
    // SAFETY: the kernel reads one `struct landlock_path_beneath_attr`.
    unsafe { sys::checked(nr::LANDLOCK_ADD_RULE, args) }?;
    sys::close(root).map(drop)
}

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
