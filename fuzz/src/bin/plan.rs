//! The plan that the host writes into the guest's root file system, and the agent reads.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pathmeter_wire::plan::{MAX_PLAN, Plan};

fuzz_target!(|bytes: &[u8]| {
    match Plan::read(bytes) {
        Ok(plan) => {
            let text = plan.to_string();
            assert!(text.len() <= MAX_PLAN);
            assert_eq!(Plan::read(text.as_bytes()).as_ref(), Ok(&plan));
            let paths = plan.suite().paths().len() - plan.skipped().count();
            let first = plan.order().take_while(|execution| execution.run == 0).count();
            assert!(first <= paths);
        }
        Err(error) => assert!(error.to_string().len() < 200),
    }
});
