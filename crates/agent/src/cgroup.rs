//! The control group that what is measured is in, if the condition has limits of one.
//!
//! It is this process that is moved there: all that it will start is in its group. The file system
//! of groups is mounted only meanwhile, so a program of the user's sees none.

use pathmeter_probes::sys::{self, CStr, errno, flag};

use crate::file::{Held, contents, holds, words};
use crate::path::Path;
use crate::refusal::{Refusal, not_taken, refused, unknown};

/// Where groups are mounted, and the group.
const PLACE: &[u8] = b"/cgroup\0";
const GROUP: &[u8] = b"/cgroup/measured\0";
/// Longest list of a kernel's controllers.
const MAX_CONTROLLERS: usize = 512;

/// Gives the group this limit, and moves this process there.
pub(crate) fn limit(file: &[u8], value: &[u8]) -> Result<Held, Refusal> {
    let place = CStr::new(PLACE);
    let _ = sys::mkdir(place, 0o755);
    let kind = CStr::new(b"cgroup2\0");
    sys::mount(kind, place, kind).map_err(|error| match error {
        errno::ENODEV => unknown("this kernel has no control groups of version 2"),
        error => refused(format_args!("control groups can't be mounted (error {error})")),
    })?;
    let limited = limit_mounted(file, value);
    let _ = sys::unmount(place, flag::MNT_DETACH);
    limited
}

fn limit_mounted(file: &[u8], value: &[u8]) -> Result<Held, Refusal> {
    enable(file.split(|byte| *byte == b'.').next().unwrap_or_default())?;
    // A second limit finds the group of the first one.
    match sys::mkdir(CStr::new(GROUP), 0o755) {
        Ok(_) | Err(errno::EEXIST) => {}
        Err(error) => return Err(refused(format_args!("no group can be made (error {error})"))),
    }
    let path = Path::of(b"/cgroup/measured/", file.iter().copied());
    write(&path, value).map_err(|error| match error {
        errno::ENOENT => unknown("a control group of this kernel has no such file"),
        error => not_taken(error),
    })?;
    let held = holds(&path, |held| {
        // Of two numbers the second has a default.
        let mut both = words(value).zip(words(held));
        let all = words(held).count() >= words(value).count();
        all && both.all(|(asked, held)| amount(asked) == amount(held))
    })?;
    let procs = Path::of(b"/cgroup/measured/cgroup.procs", core::iter::empty());
    write(&procs, b"0")
        .map_err(|error| refused(format_args!("no process can be moved there (error {error})")))?;
    Ok(held)
}

/// Has groups below the first one limit what this controller controls.
fn enable(controller: &[u8]) -> Result<(), Refusal> {
    let mut list = [0; MAX_CONTROLLERS];
    let path = CStr::new(b"/cgroup/cgroup.controllers\0");
    let length = contents(path, &mut list)
        .map_err(|error| refused(format_args!("no controllers are listed (error {error})")))?;
    if !words(&list[..length]).any(|word| word == controller) {
        return Err(unknown("this kernel has no such controller of control groups"));
    }
    let path = Path::of(b"/cgroup/cgroup.subtree_control", core::iter::empty());
    let mut word = [0; MAX_CONTROLLERS + 1];
    word[0] = b'+';
    word[1..=controller.len()].copy_from_slice(controller);
    write(&path, &word[..=controller.len()])
        .map_err(|error| refused(format_args!("it can't be enabled (error {error})")))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), i32> {
    let fd = sys::open(path.as_c(), flag::O_WRONLY, 0)?;
    let written = sys::write(fd, bytes);
    let _ = sys::close(fd);
    written.map(drop)
}

/// A value, as a number where it is one: the kernel takes `64M`, and holds `67108864`.
fn amount(word: &[u8]) -> Result<u64, &[u8]> {
    let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let shift = match &word[digits..] {
        b"" => 0,
        b"K" | b"k" => 10,
        b"M" | b"m" => 20,
        b"G" | b"g" => 30,
        _ => return Err(word),
    };
    let add = |sum: u64, byte: &u8| sum.checked_mul(10)?.checked_add(u64::from(byte - b'0'));
    let number = word[..digits].iter().try_fold(0, add).filter(|_| digits > 0);
    number.and_then(|number| number.checked_shl(shift)).ok_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_what_the_kernel_makes_of_it() {
        assert_eq!(amount(b"64M"), Ok(67_108_864));
        assert_eq!(amount(b"67108864"), amount(b"65536K"));
        assert_eq!(amount(b"max"), Err(&b"max"[..]));
        assert_eq!(amount(b""), Err(&b""[..]));
        assert_eq!(amount(b"99999999999999999999"), Err(&b"99999999999999999999"[..]));
    }
}
