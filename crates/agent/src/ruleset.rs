//! A ruleset of Landlock by which a measured process restricts itself, as the user's file has it.
//!
//! A rule about a file that the process does not have is left out, as Landlock's own tools leave it
//! out: policies name folders of several distributions.

use pathmeter_probes::sys::{self, CStr, errno, flag, nr};
use pathmeter_wire::ruleset::{Object, Rule, Ruleset};

/// Rights that a rule about a file may have which is no folder: execute, write, read, truncate,
/// ioctl (`<linux/landlock.h>`).
const OF_FILES: u64 = 1 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15;

/// Restricts this process, and its children.
pub(crate) fn restrict(ruleset: Ruleset<'_>) -> Result<(), i32> {
    let set = create(ruleset.handled)?;
    for rule in ruleset.rules() {
        match rule.object {
            Object::Beneath(path) => allow_beneath(set, rule, path)?,
            Object::Port(port) => allow_port(set, rule.rights, port)?,
        }
    }
    // SAFETY: takes no pointer.
    unsafe { sys::checked(nr::LANDLOCK_RESTRICT_SELF, [set, 0, 0, 0, 0, 0]) }?;
    sys::close(set).map(drop)
}

/// A set without rules. An older kernel does not take a longer structure, unless what it does not
/// know is zero, nor rights that it does not know.
fn create(handled: [u64; 3]) -> Result<usize, i32> {
    let args = [handled.as_ptr() as usize, size_of_val(&handled), 0, 0, 0, 0];
    // SAFETY: the kernel reads a `struct landlock_ruleset_attr` of 24 bytes.
    unsafe { sys::checked(nr::LANDLOCK_CREATE_RULESET, args) }
}

fn allow_beneath(set: usize, rule: Rule<'_>, path: &[u8]) -> Result<(), i32> {
    const LANDLOCK_RULE_PATH_BENEATH: usize = 1;
    const O_PATH: usize = 0o10_000_000;
    /// `struct landlock_path_beneath_attr`.
    #[repr(C, packed)]
    struct Beneath {
        rights: u64,
        file: i32,
    }
    let file = match sys::open(CStr::new(path), O_PATH | flag::O_RDONLY, 0) {
        Ok(file) => file,
        Err(errno::ENOENT) => return Ok(()),
        Err(error) => return Err(error),
    };
    let allow = |rights| {
        let attr = Beneath { rights, file: (file as u32).cast_signed() };
        let args = [set, LANDLOCK_RULE_PATH_BENEATH, &raw const attr as usize, 0, 0, 0];
        // SAFETY: the kernel reads one `struct landlock_path_beneath_attr`.
        unsafe { sys::checked(nr::LANDLOCK_ADD_RULE, args) }
    };
    let allowed = match allow(rule.rights) {
        // It has rights that only folders can have.
        Err(errno::EINVAL) if rule.rights & OF_FILES != 0 => allow(rule.rights & OF_FILES),
        allowed => allowed,
    };
    let _ = sys::close(file);
    allowed.map(drop)
}

fn allow_port(set: usize, rights: u64, port: u64) -> Result<(), i32> {
    const LANDLOCK_RULE_NET_PORT: usize = 2;
    let attr = [rights, port];
    let args = [set, LANDLOCK_RULE_NET_PORT, attr.as_ptr() as usize, 0, 0, 0];
    // SAFETY: the kernel reads one `struct landlock_net_port_attr`.
    unsafe { sys::checked(nr::LANDLOCK_ADD_RULE, args) }.map(drop)
}
