//! What the program that executes probes has for itself: its file, which it can execute afresh, and
//! whether objects of System V's IPC end with it.

use core::{
    ptr::null,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
};

use crate::sys::{self, CStr, Ret, flag, nr};

/// Where a guest has the file.
const PLACE: &[u8] = b"/paths\0";
/// No descriptor has this number.
const NONE: usize = usize::MAX;

/// By which number the file is open; [`NONE`] in a guest, where it is at [`PLACE`].
static FILE: AtomicUsize = AtomicUsize::new(NONE);
static HAS_IPC: AtomicBool = AtomicBool::new(false);

/// Says by which number the program's file is open.
pub fn set_file(number: usize) {
    FILE.store(number, Relaxed);
}

/// That number.
pub fn file_number() -> usize {
    FILE.load(Relaxed)
}

/// Says whether objects of System V's IPC end with the program, or with its guest.
pub fn set_has_ipc(has: bool) {
    HAS_IPC.store(has, Relaxed);
}

/// Whether they do.
pub fn has_ipc() -> bool {
    HAS_IPC.load(Relaxed)
}

/// The program's file, open: its number.
pub(crate) fn file() -> Ret {
    match file_number() {
        NONE => sys::open(CStr::new(PLACE), flag::O_RDONLY, 0),
        number => Ok(number),
    }
}

/// Executes this file afresh, with these arguments and this environment, which both end in a null
/// pointer. It returns only if that failed.
///
/// # Safety
/// All other pointers must be to C strings.
pub unsafe fn execute(file: usize, arguments: &[*const u8], environment: &[*const u8]) {
    const AT_EMPTY_PATH: usize = 0x1000;
    let is_list = |list: &[*const u8]| list.last() == Some(&null());
    if !is_list(arguments) || !is_list(environment) {
        return;
    }
    let empty = c"".as_ptr() as usize;
    let (arguments, environment) = (arguments.as_ptr() as usize, environment.as_ptr() as usize);
    let args = [file, empty, arguments, environment, AT_EMPTY_PATH, 0];
    // SAFETY: the kernel reads C strings, by the caller's word, and two lists of them that end.
    let _ = unsafe { sys::checked(nr::EXECVEAT, args) };
}
