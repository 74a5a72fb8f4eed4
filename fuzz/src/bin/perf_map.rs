//! A perf map of a JIT: each address that has a name lies in the code of that name, which the map
//! names from its beginning to its end.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pathmeter_pack::PerfMap;

fuzz_target!(|text: &[u8]| {
    let map = PerfMap::read(text);
    assert!(map.unread <= text.split_inclusive(|byte| *byte == b'\n').count());
    for address in [0, 1, 0x1000, 0x101f, 0x7f00_0000_0000, u64::MAX - 1, u64::MAX] {
        let Some(found) = map.function_at(address) else { continue };
        assert!(found.address <= address && address - found.address < found.size);
        for place in [found.address, found.address + (found.size - 1)] {
            assert_eq!(map.function_at(place), Some(found));
        }
    }
});
