//! What the server gives to each process that it starts: the program's own file, its CPU and a
//! second one, and whether objects of System V's IPC are its own.

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use pathmeter_probes::{
    own,
    sys::{self, nr},
    text::Text,
};

/// The CPU that the process is bound to.
static OWN: AtomicUsize = AtomicUsize::new(0);
/// The second CPU; no CPU has the number [`NONE`].
static SECOND: AtomicUsize = AtomicUsize::new(NONE);
const NONE: usize = u32::MAX as usize;

/// Keeps the four numbers, in the order of [`text`].
pub(crate) fn keep([file, cpu, second, ipc]: [u64; 4]) {
    own::set_file(file as usize);
    OWN.store(cpu as usize, Relaxed);
    SECOND.store(second as usize, Relaxed);
    own::set_has_ipc(ipc == 1);
}

/// The four numbers as an argument of a program, which ends in NUL.
pub(crate) fn text() -> Text<64> {
    let [cpu, second] = [&OWN, &SECOND].map(|number| number.load(Relaxed));
    let (file, ipc) = (own::file_number(), u8::from(own::has_ipc()));
    Text::format(format_args!("{file},{cpu},{second},{ipc}\0"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_handed_on() {
        keep([3, 4, 5, 1]);
        assert_eq!(text().as_bytes(), b"3,4,5,1\0");
        assert_eq!((second_cpu(), own::has_ipc()), (Some(5), true));
        keep([3, 4, NONE as u64, 0]);
        assert_eq!((second_cpu(), own::has_ipc()), (None, false));
    }

    #[test]
    fn a_second_cpu_is_another_one() {
        assert_ne!(find_second_cpu(0), 0);
    }
}
