//! The program plugin's stream: whatever it says, the numbers of its rows fit each other, and what
//! is kept of it is bounded.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pathmeter_trace::{MAX_WINDOWS, accounts};

fuzz_target!(|bytes: &[u8]| {
    let accounts = accounts(bytes);
    for account in accounts.runs.iter().flatten() {
        assert!(account.rows.iter().all(|row| row.instructions <= row.steps));
        for region in &account.regions {
            assert!(region.windows.len() <= MAX_WINDOWS);
            assert!(region.windows.len() as u64 <= region.count);
            assert!(region.unproved <= region.count);
            assert!(accounts.names.contains(&region.name));
        }
    }
});
