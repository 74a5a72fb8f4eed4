//! A vmlinux, or a program, with debug information, asked for the functions at addresses of the
//! fixtures.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pathmeter_debuginfo::{DebugInfo, MAX_FRAMES, MAX_HOLDERS, Measured};
use pathmeter_fuzz::InMemory;

/// Where the fixtures' text begins.
const TEXT: u64 = 0xffff_ffff_8100_0000;

fuzz_target!(|bytes: &[u8]| {
    let file = InMemory::new(bytes).expect("a file in memory");
    let of_program = [DebugInfo::of_program(bytes), DebugInfo::of_debug_file(&file.path())];
    for program in of_program.iter().flatten() {
        for address in (TEXT..TEXT + 4).chain([0, u64::MAX]) {
            assert!(program.frames(address).len() <= MAX_FRAMES);
        }
    }
    let Ok(kernel) = DebugInfo::open(&file.path()) else { return };
    for address in (TEXT..TEXT + 4).chain([0, u64::MAX - 1, u64::MAX]) {
        assert!(kernel.frames(address).len() <= MAX_FRAMES);
    }
    let of_itself = Measured { banner: kernel.banner().map(str::to_owned), build_id: None };
    kernel.check_kernel(&file.path(), &of_itself).expect("a kernel is itself");
    for (name, holders) in kernel.holders(["schedule", "do_syscall_64"]) {
        assert!(!name.is_empty() && holders.len() <= MAX_HOLDERS, "{name}: {}", holders.len());
    }
});
