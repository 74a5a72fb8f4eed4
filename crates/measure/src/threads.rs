//! Work done at once where threads can be had, and one after the other where a limit of the user's
//! or the container's leaves none.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, scope};

/// Does `one` in a thread and `other` here. Without a thread `one` is done here too, after `other`.
pub fn at_once<A: Send, B>(one: impl Fn() -> A + Sync, other: impl FnOnce() -> B) -> (A, B) {
    scope(|scope| {
        let thread = Builder::new().spawn_scoped(scope, &one);
        let other = other();
        let one = match thread {
            // If it panicked, so does this one.
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => one(),
        };
        (one, other)
    })
}

/// What `work` makes of the items, in their order; so many are worked on at a time. After a failure
/// no other is begun, since it would mostly meet them too: those are left out.
pub fn each<I, R, E>(
    items: I,
    at_a_time: usize,
    work: impl Fn(I::Item) -> Result<R, E> + Sync,
) -> Vec<Result<R, E>>
where
    I: IntoIterator<IntoIter: ExactSizeIterator + Send>,
    R: Send,
    E: Send,
{
    let items = items.into_iter();
    let threads = at_a_time.min(items.len());
    let (waiting, done) = (Mutex::new(items.enumerate()), Mutex::new(Vec::new()));
    let ended = AtomicBool::new(false);
    let next = || {
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if ended.load(Ordering::Relaxed) { None } else { waiting.next() }
    };
    let worker = || {
        while let Some((at, item)) = next() {
            let result = work(item);
            ended.fetch_or(result.is_err(), Ordering::Relaxed);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
        }
    };
    scope(|scope| {
        // Those that there are do it all.
        let _ = (1..threads).try_for_each(|_| Builder::new().spawn_scoped(scope, worker).map(drop));
        worker();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn each_is_done_so_many_at_a_time_and_told_in_order() {
        // If fewer were done at a time, it would not end.
        let barrier = Barrier::new(3);
        let done = each(0..9, 3, |number| {
            barrier.wait();
            Ok::<_, ()>(number * number)
        });
        assert_eq!(done, [0, 1, 4, 9, 16, 25, 36, 49, 64].map(Ok));
        assert_eq!(each(0..0, 3, Ok::<_, ()>), []);
        assert_eq!(each(0..2, 0, Ok::<_, ()>), [Ok(0), Ok(1)]);
    }

    #[test]
    fn after_a_failure_no_other_is_begun() {
        let work = |number| if number == 2 { Err(number) } else { Ok(number) };
        assert_eq!(each(0..9, 1, work), [Ok(0), Ok(1), Err(2)]);
    }
}
