//! A kernel's symbols: every address is answered, and a function begins at the address reported.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pathmeter_trace::{Resolve as _, Symbols, folded};

fuzz_target!(|text: &[u8]| {
    let Ok(symbols) = Symbols::parse(text) else { return };
    assert!(!symbols.is_empty());
    for address in [0, 1, u64::MAX / 2, 0xffff_ffff_8100_0001, u64::MAX] {
        let Some(found) = symbols.resolve(address) else { continue };
        let start = symbols.resolve(address - found.offset).map(|start| (start.name, start.offset));
        assert_eq!(start, Some((found.name, 0)));
        assert!(found.name.starts_with(folded(found.name)));
    }
});
