//! The guard of a session's control groups: it removes them when the command has ended, however
//! that ended. It is no descendant of the session's server, and is in none of the groups.

use core::fmt::Write;

use pathmeter_probes::{
    sys::{self, Timespec, errno, nr},
    text::Text,
};

use crate::ground::Refused;

/// Longest path of a group.
const MAX_PATH: usize = 4096;
/// How often, and for how long, it tries to remove a group whose processes are about to end.
const TRIES: usize = 1000;
const PAUSE: Timespec = Timespec { seconds: 0, nanoseconds: 20_000_000 };

/// Waits for the end of standard input, which the command holds open, and then removes so many
/// groups, each in the one before, of which this is the outermost.
pub(crate) fn watch(outermost: &[u8], depth: &[u8]) -> Result<(), Refused> {
    let text = |bytes| core::str::from_utf8(bytes).map_err(|_| Refused::ARGUMENTS);
    let (outermost, depth) = (text(outermost)?, text(depth)?);
    let depth: usize = depth.parse().map_err(|_| Refused::ARGUMENTS)?;
    // What a terminal sends to the command's process group is not for the guard.
    let _ = sys::new_session();
    let mut byte = [0];
    while matches!(sys::read(0, &mut byte), Ok(1) | Err(errno::EINTR)) {}
    (0..depth).rev().try_for_each(|level| remove(outermost, level))
}

/// Removes the group that has so many around it.
fn remove(outermost: &str, level: usize) -> Result<(), Refused> {
    let mut path: Text<MAX_PATH> = Text::format(format_args!("{outermost}"));
    let whole = (0..level).try_for_each(|_| path.write_str("/in"));
    whole.and_then(|()| path.write_str("\0")).map_err(|_| Refused::ARGUMENTS)?;
    let mut last = 0;
    for _ in 0..TRIES {
        let args = [path.as_bytes().as_ptr() as usize, 0, 0, 0, 0, 0];
        // SAFETY: the kernel reads one C string, which ends in the NUL just written.
        match unsafe { sys::checked(nr::RMDIR, args) } {
            Ok(_) | Err(errno::ENOENT) => return Ok(()),
            Err(error) => last = error,
        }
        let _ = sys::sleep(PAUSE);
    }
    Err(Refused { step: "rmdir", error: last })
}
