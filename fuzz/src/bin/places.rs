//! A kernel's places: each line of the plugin's table is one that it reads, in the order in which
//! it searches, and each number has its name.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pathmeter_trace::KernelPlaces;

fuzz_target!(|text: &[u8]| {
    let Ok(places) = KernelPlaces::find(text) else { return };
    let table = String::from_utf8(places.table(&[], &[])).unwrap();
    let mut before = 0;
    for line in table.lines().skip(1) {
        let words: Vec<&str> = line.split(' ').collect();
        let [letter, first, end, id] = words[..] else { panic!("{line}") };
        let [first, end] = [first, end].map(|word| u64::from_str_radix(word, 16).unwrap());
        assert!(before < first && first <= end, "{line}");
        before = first;
        if "fxti".contains(letter) {
            let number = u32::from_str_radix(id, 16).unwrap();
            assert!(places.name(number).is_some(), "{line}");
        }
    }
});
