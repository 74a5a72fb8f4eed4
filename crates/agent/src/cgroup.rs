//! The control group that what is measured is in, if the condition has limits of one, or says how
//! deep it is: so many groups, each in the one before.
//!
//! Limits are of the outermost group, and so of all that is in it. It is this process that is moved
//! to the innermost: all that it will start is in its group. The file system of groups is mounted
//! only meanwhile, so a program of the user's sees none.

use pathmeter_probes::sys::{self, CStr, errno, flag};
use pathmeter_wire::condition::{DEPTH, MAX_DEPTH};

use crate::file::{Held, contents, holds, words};
use crate::path::Path;
use crate::refusal::{Refusal, kernel_refusal, not_taken, unknown};

/// Where the control groups are mounted.
const PLACE: &[u8] = b"/cgroup\0";
/// The outermost group, and what further ones add to the path.
const OUTERMOST: &[u8] = b"/cgroup/measured";
static INNER: [[u8; 3]; MAX_DEPTH as usize] = [*b"/in"; MAX_DEPTH as usize];
/// Longest list of a kernel's controllers.
const MAX_CONTROLLERS: usize = 512;

/// Gives the outermost of `depth` groups this limit, or makes them if the setting is their number;
/// and moves this process to the innermost.
#[inline(never)]
pub(crate) fn set((file, value): (&[u8], &[u8]), depth: u32) -> Result<Held, Refusal> {
    mounted(|| {
        if file == DEPTH.as_bytes() {
            nest_mounted(depth)
        } else {
            limit_mounted(file, value, depth)
        }
    })
}

/// The group that all processes are in, as an open folder.
pub(crate) fn of_all() -> Result<usize, Refusal> {
    mounted(|| {
        sys::open(CStr::new(PLACE), flag::O_RDONLY, 0)
            .map_err(|error| kernel_refusal(format_args!("no group can be opened (error {error})")))
    })
}

/// Does this while control groups are mounted.
fn mounted<T>(what: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
    let place = CStr::new(PLACE);
    let _ = sys::mkdir(place, 0o755);
    let kind = CStr::new(b"cgroup2\0");
    sys::mount(kind, place, kind).map_err(|error| match error {
        errno::ENODEV => unknown("this kernel has no control groups of version 2"),
        error => kernel_refusal(format_args!("control groups can't be mounted (error {error})")),
    })?;
    let done = what();
    let _ = sys::unmount(place, flag::MNT_DETACH);
    done
}

#[inline(never)]
fn limit_mounted(file: &[u8], value: &[u8], depth: u32) -> Result<Held, Refusal> {
    let controller = file.split(|byte| *byte == b'.').next().unwrap_or_default();
    let mut list = [0; MAX_CONTROLLERS];
    if !controllers(&mut list)?.any(|listed| listed == controller) {
        return Err(unknown("this kernel has no such controller of control groups"));
    }
    enable(controller, depth)?;
    let path = path(1, file);
    write(&path, value).map_err(|error| match error {
        errno::ENOENT => unknown("a control group of this kernel has no such file"),
        error => not_taken(error),
    })?;
    let held = holds(&path, |held| has(held, value))?;
    move_in(depth)?;
    Ok(held)
}

/// Whether a file that reads so has the value.
fn has(held: &[u8], value: &[u8]) -> bool {
    if value.contains(&b'=') {
        // Of a device the file has all numbers by their names (`io.max`), in a line.
        let has_word = |line: &[u8], asked| words(line).any(|held| held == asked);
        let mut lines = held.split(|byte| *byte == b'\n');
        return lines.any(|line| words(value).all(|asked| has_word(line, asked)));
    }
    // Of two numbers the second has a default.
    let mut both = words(value).zip(words(held));
    let all = words(held).count() >= words(value).count();
    all && both.all(|(asked, held)| amount(asked) == amount(held))
}

/// Makes the groups, with all controllers in each, and shows where this process is then.
#[inline(never)]
fn nest_mounted(depth: u32) -> Result<Held, Refusal> {
    let mut list = [0; MAX_CONTROLLERS];
    controllers(&mut list)?.try_for_each(|controller| enable(controller, depth))?;
    make(depth)?;
    move_in(depth)?;
    let place = path(depth, b"");
    let place = place.as_text().strip_prefix(b"/cgroup").unwrap_or_default();
    let own = Path::from_parts(&[b"/proc/self/cgroup"]);
    holds(&own, |held| words(held).any(|line| line.strip_prefix(b"0::") == Some(place)))
}

/// The controllers that the kernel lists.
#[inline(never)]
fn controllers(list: &mut [u8]) -> Result<impl Iterator<Item = &[u8]>, Refusal> {
    let length = contents(CStr::new(b"/cgroup/cgroup.controllers\0"), list).map_err(|error| {
        kernel_refusal(format_args!("no controllers are listed (error {error})"))
    })?;
    Ok(words(&list[..length]))
}

/// Makes the groups that are not there yet.
#[inline(never)]
fn make(depth: u32) -> Result<(), Refusal> {
    (1..=depth).try_for_each(|level| match sys::mkdir(path(level, b"").as_c(), 0o755) {
        // A second limit finds the groups of the first one.
        Ok(_) | Err(errno::EEXIST) => Ok(()),
        Err(error) => Err(kernel_refusal(format_args!("no group can be made (error {error})"))),
    })
}

/// Makes the groups, each of which limits what this controller controls.
#[inline(never)]
fn enable(controller: &[u8], depth: u32) -> Result<(), Refusal> {
    let mut word = [0; MAX_CONTROLLERS + 1];
    word[0] = b'+';
    word[1..=controller.len()].copy_from_slice(controller);
    for level in 0..depth {
        make(level)?;
        write(&path(level, b"cgroup.subtree_control"), &word[..=controller.len()]).map_err(
            |error| {
                let controller = core::str::from_utf8(controller).unwrap_or("?");
                kernel_refusal(format_args!(
                    "the controller {controller} can't be enabled (error {error})"
                ))
            },
        )?;
    }
    make(depth)
}

/// Moves this process to the innermost group.
#[inline(never)]
fn move_in(depth: u32) -> Result<(), Refusal> {
    write(&path(depth, b"cgroup.procs"), b"0").map_err(|error| {
        kernel_refusal(format_args!("no process can be moved there (error {error})"))
    })
}

/// The file of this name in the group that is so deep; the group without a name. What all groups
/// are in has the depth 0.
#[inline(never)]
fn path(depth: u32, file: &[u8]) -> Path {
    let outer = if depth == 0 { &OUTERMOST[..PLACE.len() - 1] } else { OUTERMOST };
    let inner = INNER.get(1..depth as usize).unwrap_or_default().as_flattened();
    let slash: &[u8] = if file.is_empty() { b"" } else { b"/" };
    Path::from_parts(&[outer, inner, slash, file])
}

#[inline(never)]
fn write(path: &Path, bytes: &[u8]) -> Result<(), i32> {
    let fd = sys::open(path.as_c(), flag::O_WRONLY, 0)?;
    let written = sys::write(fd, bytes);
    let _ = sys::close(fd);
    written.map(drop)
}

/// A value, as a number where it is one: the kernel takes `64M`, and holds `67108864`.
#[inline(never)]
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
    fn a_file_has_a_value_by_its_place_or_by_its_names() {
        assert!(has(b"67108864\n", b"64M") && has(b"50000 100000\n", b"50000"));
        assert!(!has(b"max 100000\n", b"50000") && !has(b"\n", b"1"));
        let held = b"8:0 rbps=max wbps=9\n1:0 rbps=max wbps=1048576 riops=max wiops=max\n";
        assert!(has(held, b"1:0 wbps=1048576") && has(held, b"1:0 wbps=1048576 riops=max"));
        assert!(!has(held, b"8:0 wbps=1048576") && !has(held, b"1:0 wbps=104857"));
    }

    #[test]
    fn groups_are_each_in_the_one_before() {
        assert_eq!(path(0, b"a").as_text(), b"/cgroup/a");
        assert_eq!(path(1, b"a").as_text(), b"/cgroup/measured/a");
        assert_eq!(path(3, b"").as_text(), b"/cgroup/measured/in/in");
        let longest = path(MAX_DEPTH, b"cgroup.subtree_control");
        assert!(longest.as_text().ends_with(b"/cgroup.subtree_control"));
    }

    #[test]
    fn an_amount_is_what_the_kernel_makes_of_it() {
        assert_eq!(amount(b"64M"), Ok(67_108_864));
        assert_eq!(amount(b"67108864"), amount(b"65536K"));
        assert_eq!(amount(b"max"), Err(&b"max"[..]));
        assert_eq!(amount(b""), Err(&b""[..]));
        assert_eq!(amount(b"99999999999999999999"), Err(&b"99999999999999999999"[..]));
    }
}
