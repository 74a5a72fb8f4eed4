//! The start of a perturbed run, by pid 1: with other random numbers, other bases and other objects
//! of the kernel's held than the run before.

use pathmeter_probes::Round;
use pathmeter_probes::{
    far,
    sys::{self, nr},
    task::{self, Ended},
    text::Text,
};

use crate::{command, guest, holders::Holders, trouble::Trouble};

/// Random numbers reseeded from `number`, then `/paths` executed as a child, waited for. What its
/// probes leave becomes this process's children: they are taken from the list of processes
/// as they end, or later paths would find them in it.
///
/// The kernel first gets the time to free what the run before held: what it frees later than the
/// new holders allocate, and so which objects these get, would depend on the tick, which one
/// instruction more moves. The holders are made right after a tick, so none falls among them.
pub(crate) fn run(number: u32, round: Round) -> Result<(), Trouble> {
    guest::seed_random(u64::from(number));
    task::await_frees();
    task::await_tick();
    let _holders = Holders::of(number);
    match task::in_child_reaping(|| execute(number, round)) {
        Ok(Ended::Exit(0)) => Ok(()),
        other => Err(Text::format(format_args!("start {number} ended with {other:?}"))),
    }
}

/// Moves the bases of the next execution by amounts that follow from `number` alone, on any kernel.
///
/// The kernel's own randomisation would differ between two kernels whatever it is seeded with (the
/// release string is mixed into the pool), so it is switched off. Instead the mappings move with
/// the stack's size limit (Linux `mmap_base`).
fn place_bases(number: u32) {
    const ADDR_NO_RANDOMIZE: usize = 0x004_0000;
    const RLIMIT_STACK: usize = 3;
    let limits = [stack_limit(number), u64::MAX];
    // SAFETY: the first takes no pointer; for the second the kernel reads one `struct rlimit`.
    // Should a kernel lack either, its bases stay where it puts them.
    unsafe {
        let _ = sys::checked(nr::PERSONALITY, [ADDR_NO_RANDOMIZE, 0, 0, 0, 0, 0]);
        let place = limits.as_ptr() as usize;
        let _ = sys::checked(nr::SETRLIMIT, [RLIMIT_STACK, place, 0, 0, 0, 0]);
    }
}

/// Bytes of stack that a perturbed run is allowed, by its number: from 128 MiB to 64 TiB, in whole
/// pages. Run 0 keeps the bases as they are without randomisation.
fn stack_limit(number: u32) -> u64 {
    const LOWEST: u64 = 128 << 20;
    const HIGHEST: u64 = 64 << 40;
    const PAGE: u64 = 4096;
    match number {
        0 => LOWEST,
        _ => LOWEST + guest::scramble(u64::from(number)) % (HIGHEST - LOWEST) / PAGE * PAGE,
    }
}

/// Becomes `/paths NUMBER ROUND [far]`; returns only if that fails.
fn execute(number: u32, round: Round) -> usize {
    place_bases(number);
    let words = command::words(number, round);
    let [program, digits, round] = words.each_ref().map(|word| word.as_bytes().as_ptr() as usize);
    let far = if far::is_there() { command::FAR.as_ptr() as usize } else { 0 };
    let arguments = [program, digits, round, far, 0];
    let environment = [0_usize];
    let args = [program, arguments.as_ptr() as usize, environment.as_ptr() as usize, 0, 0, 0];
    // SAFETY: all strings and both arrays are terminated and live.
    let _ = unsafe { sys::checked(nr::EXECVE, args) };
    1
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathmeter_wire::message;

    #[test]
    fn stacks_are_of_whole_pages_within_bounds_and_differ() {
        let limits: Vec<u64> = (0..message::MAX_RUNS as u32).map(stack_limit).collect();
        assert_eq!(limits[0], 128 << 20);
        assert!(limits.iter().all(|limit| (128 << 20..64 << 40).contains(limit)));
        assert!(limits.iter().all(|limit| limit.is_multiple_of(4096)));
        let distinct: std::collections::BTreeSet<_> = limits.iter().collect();
        assert_eq!(distinct.len(), limits.len());
    }
}
