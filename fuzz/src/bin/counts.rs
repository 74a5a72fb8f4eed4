//! A stream of counts: whatever it says, a window's numbers fit each other.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pathmeter_trace::{Event, count};

fuzz_target!(|bytes: &[u8]| {
    let counting = count(bytes);
    let distinct = counting.distinct.len();
    let mut windows = counting.paths.iter().flat_map(|path| &path.windows);
    assert!(windows.all(|window| window.events.is_none_or(|place| (place as usize) < distinct)));
    for window in &counting.distinct {
        let events = &window.events;
        assert!(events.of(Event::IndirectBranches) <= events.of(Event::TakenBranches));
        assert!(events.of(Event::CodePages) <= events.of(Event::CodeLines));
        assert!(events.retired() <= events.of(Event::Clock) || saturated(events.of(Event::Clock)));
    }
});

/// Numbers that no guest reaches stop at the largest.
fn saturated(number: u64) -> bool {
    number == u64::MAX
}
