//! What the server gives to each process that it starts: the program's own file, its CPU and a
//! second one, and whether objects of System V's IPC are its own.

use core::{
    ptr::null,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use pathmeter_probes::{
    set_semaphores_end,
    sys::{self, nr},
    text::Text,
};

/// By which number the program's file is open.
static FILE: AtomicUsize = AtomicUsize::new(usize::MAX);
/// The CPU that the process is bound to.
static OWN: AtomicUsize = AtomicUsize::new(0);
/// The second CPU; no CPU has the number [`NONE`].
static SECOND: AtomicUsize = AtomicUsize::new(NONE);
/// 1 if the IPC namespace is the program's own.
static OWN_IPC: AtomicUsize = AtomicUsize::new(0);
const NONE: usize = u32::MAX as usize;

/// Keeps the four numbers, in the order of [`text`].
pub(crate) fn keep([file, own, second, own_ipc]: [u64; 4]) {
    FILE.store(file as usize, Relaxed);
    OWN.store(own as usize, Relaxed);
    SECOND.store(second as usize, Relaxed);
    OWN_IPC.store(own_ipc as usize, Relaxed);
    set_semaphores_end(own_ipc == 1);
}

/// The four numbers as an argument of a program, which ends in NUL.
pub(crate) fn text() -> Text<64> {
    let numbers = [&FILE, &OWN, &SECOND, &OWN_IPC].map(|number| number.load(Relaxed));
    let [file, own, second, own_ipc] = numbers;
    Text::format(format_args!("{file},{own},{second},{own_ipc}\0"))
}

/// The first CPU other than `first` that the caller may execute on, as a number to keep.
pub(crate) fn find_second_cpu(first: usize) -> u64 {
    allowed_cpus().find(|cpu| *cpu != first).unwrap_or(NONE) as u64
}

/// Whether the caller may execute on its own CPU and on no other.
pub(crate) fn is_bound() -> bool {
    let own = OWN.load(Relaxed);
    allowed_cpus().eq([own])
}

/// The CPUs that the caller may execute on, in ascending order.
fn allowed_cpus() -> impl Iterator<Item = usize> {
    let mut mask = [0_u64; 16];
    let args = [0, size_of_val(&mask), mask.as_mut_ptr() as usize, 0, 0, 0];
    // SAFETY: the kernel writes at most so many bytes to `mask`.
    let _ = unsafe { sys::checked(nr::SCHED_GETAFFINITY, args) };
    let is_set =
        move |cpu: &usize| mask.get(cpu / 64).is_some_and(|word| word >> (cpu % 64) & 1 == 1);
    (0..mask.len() * 64).filter(is_set)
}

/// A second CPU that the command may execute on, if there is one.
pub(crate) fn second_cpu() -> Option<usize> {
    Some(SECOND.load(Relaxed)).filter(|cpu| *cpu != NONE)
}

/// Executes the program's file afresh, with these arguments and this environment, which both end
/// in a null pointer. It returns only if that failed.
///
/// # Safety
/// All other pointers must be to C strings.
pub(crate) unsafe fn execute(arguments: &[*const u8], environment: &[*const u8]) {
    const AT_EMPTY_PATH: usize = 0x1000;
    let is_list = |list: &[*const u8]| list.last() == Some(&null());
    if !is_list(arguments) || !is_list(environment) {
        return;
    }
    let empty = c"".as_ptr() as usize;
    let (arguments, environment) = (arguments.as_ptr() as usize, environment.as_ptr() as usize);
    let args = [FILE.load(Relaxed), empty, arguments, environment, AT_EMPTY_PATH, 0];
    // SAFETY: the kernel reads C strings, by the caller's word, and two lists of them that end.
    let _ = unsafe { sys::checked(nr::EXECVEAT, args) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_handed_on() {
        keep([3, 4, 5, 1]);
        assert_eq!(text().as_bytes(), b"3,4,5,1\0");
        assert_eq!((second_cpu(), OWN_IPC.load(Relaxed)), (Some(5), 1));
        keep([3, 4, NONE as u64, 0]);
        assert_eq!((second_cpu(), OWN_IPC.load(Relaxed)), (None, 0));
    }

    #[test]
    fn a_second_cpu_is_another_one() {
        assert_ne!(find_second_cpu(0), 0);
    }
}
