//! The program plugin's stream: whatever it says, the numbers of its rows fit each other, and what
//! is kept of it is bounded.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pathmeter_trace::{MAX_WINDOWS, Owner, ThreadOwner, accounts};

fuzz_target!(|bytes: &[u8]| {
    let accounts = accounts(bytes);
    for account in accounts.runs.iter().flatten() {
        assert!(account.rows.iter().all(|row| row.instructions <= row.steps));
        let (processes, parts) = (&account.processes.processes, &account.processes.parts);
        for (place, process) in processes.iter().enumerate() {
            assert!(process.parent.is_none_or(|parent| parent < place));
            assert_eq!(process.parent.is_none(), place == 0);
        }
        for (owner, row) in parts {
            assert!(row.kind.is_own_work() && row.instructions <= row.steps);
            assert!(!matches!(owner, Owner::Process(place) if *place >= processes.len()));
        }
        let (threads, parts) = (&account.threads.threads, &account.threads.parts);
        assert!(threads.len() <= 256);
        assert!(threads.iter().all(|thread| thread.process < processes.len()));
        for (owner, row) in parts {
            assert!(row.kind.is_own_work() && row.instructions <= row.steps);
            match owner {
                ThreadOwner::Thread(place) => assert!(*place < threads.len()),
                ThreadOwner::Beyond(process) => assert!(*process < processes.len()),
            }
        }
        for region in &account.regions {
            assert!(region.windows.len() <= MAX_WINDOWS);
            assert!(region.windows.len() as u64 <= region.count);
            assert!(region.unproved <= region.count);
            assert!(accounts.names.contains(&region.name));
        }
    }
});
