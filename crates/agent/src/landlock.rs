//! Layers of Landlock that allow all: what a measured process restricts itself by, so that each of
//! its accesses to a file is checked by every layer (landlock(7)).
//!
//! Each layer handles every right to files that the kernel knows, and has one rule, which allows
//! them all beneath `/`. Rights to networks are not handled: each rule names one port.

use pathmeter_probes::sys::{self, CStr, errno, flag, nr};

/// Rights to files of the first version; later ones add to them, bit by bit.
const LEAST_RIGHTS: u32 = 13;
/// More than any version has.
const MOST_RIGHTS: u32 = 32;

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
