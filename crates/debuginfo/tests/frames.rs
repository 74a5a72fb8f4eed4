//! Frames of fixtures that are built like a vmlinux (`tests/fixtures/README.md`), and of damaged
//! ones.

#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

use std::path::{Path, PathBuf};

use pathmeter_debuginfo::{DebugInfo, DebugInfoError, DebugInfoFault, Measured, SourceFrame};
use proptest::prelude::*;

const CLI: u64 = 0xffff_ffff_8100_0000;
const STI: u64 = CLI + 1;
const BEYOND: u64 = CLI + 3;

const BANNER: &str =
    "Linux version 6.1.0-fixture (builder@host) (cc 1.0, ld 1.0) #1 SMP 2026-01-01";

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn fault(name: &str) -> DebugInfoFault {
    DebugInfo::open(&fixture(name)).unwrap_err().fault
}

/// Writes `bytes` to a file and opens that.
fn open_bytes(bytes: &[u8]) -> Result<DebugInfo, DebugInfoError> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    DebugInfo::open(file.path())
}

fn frame(function: &str, file: &str, line: u32, inlined: bool) -> SourceFrame {
    SourceFrame {
        function: Some(function.into()),
        file: Some(file.into()),
        line: Some(line),
        inlined,
    }
}

#[test]
fn an_inlined_instruction_has_a_frame_for_each_function_it_is_in() {
    for name in ["vmlinux.elf", "vmlinux.zlib"] {
        let kernel = DebugInfo::open(&fixture(name)).unwrap();
        let expected = [
            frame("pick_task_fair", "include/sched.h", 3, true),
            frame("pick_next_task", "kernel/main.c", 12, true),
            frame("schedule", "kernel/main.c", 17, false),
        ];
        assert_eq!(kernel.frames(CLI), expected, "{name}");
        assert_eq!(kernel.frames(STI), [frame("schedule", "kernel/main.c", 18, false)], "{name}");
    }
}

#[test]
fn an_inlined_function_is_in_all_that_hold_it() {
    for name in ["vmlinux.elf", "vmlinux.zlib"] {
        let kernel = DebugInfo::open(&fixture(name)).unwrap();
        // One directly, one by way of the other; the rest is called, or nowhere.
        let inlined = ["pick_next_task", "pick_task_fair"];
        let held = kernel.holders(inlined.into_iter().chain(["schedule", "pick", ""]));
        assert_eq!(held.len(), inlined.len(), "{name}");
        for inlined in inlined {
            assert_eq!(held[inlined], ["schedule".to_owned()].into(), "{name}, {inlined}");
        }
    }
}

#[test]
fn addresses_of_no_function_have_no_frames() {
    let kernel = DebugInfo::open(&fixture("vmlinux.elf")).unwrap();
    for address in [0, CLI - 1, BEYOND, u64::MAX] {
        assert_eq!(kernel.frames(address), []);
    }
}

#[test]
fn lines_of_another_build_are_refused() {
    let path = fixture("vmlinux.elf");
    let kernel = DebugInfo::open(&path).unwrap();
    assert_eq!(kernel.banner(), Some(BANNER));
    let check = |banner: &str| {
        let measured = Measured { banner: Some(banner.to_owned()), build_id: None };
        kernel.check_kernel(&path, &measured)
    };
    assert!(check(&format!("{BANNER}\n")).is_ok());
    assert!(check("6.1.0-fixture (builder@host) #1 SMP").is_ok());
    for other in [&BANNER.replace("#1", "#2"), "6.1.0-other"] {
        let error = check(other).unwrap_err();
        assert!(matches!(error.fault, DebugInfoFault::OtherKernel { .. }), "{error}");
    }
}

/// The fixture, as a copy that nothing but debug information was kept of: without data.
fn without_banner() -> Vec<u8> {
    let mut bytes = std::fs::read(fixture("vmlinux.elf")).unwrap();
    let at = bytes.windows(BANNER.len()).position(|it| it == BANNER.as_bytes()).unwrap();
    bytes[at..at + BANNER.len()].fill(0);
    bytes
}

#[test]
fn a_file_that_nothing_identifies_is_refused() {
    let kernel = open_bytes(&without_banner()).unwrap();
    let measured = Measured { banner: Some(BANNER.to_owned()), build_id: Some(vec![0xab]) };
    let error = kernel.check_kernel(Path::new("copy"), &measured).unwrap_err();
    assert!(matches!(error.fault, DebugInfoFault::Unidentified), "{error}");
    assert!(error.to_string().starts_with("copy: it can't be identified"), "{error}");
    // Of the lab kernel, say, nothing is known either.
    assert!(kernel.check_kernel(Path::new("copy"), &Measured::default()).is_ok());
}

#[test]
fn a_build_id_decides_between_builds_of_one_banner() {
    let path = fixture("vmlinux.build-id");
    let kernel = DebugInfo::open(&path).unwrap();
    let check = |build_id: u64| {
        let build_id = Some(build_id.to_be_bytes().to_vec());
        let measured = Measured { banner: Some(BANNER.to_owned()), build_id };
        kernel.check_kernel(&path, &measured)
    };
    assert!(check(0x0123_4567_89ab_cdef).is_ok());
    let error = check(0x0123_4567_89ab_cdee).unwrap_err();
    assert!(matches!(error.fault, DebugInfoFault::OtherBuild { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("vmlinux.build-id: made for another build"), "{text}");
    assert!(text.contains("0123456789abcdef, that of"), "{text}");
}

#[test]
fn a_program_has_the_lines_of_what_it_brings_or_of_its_debug_file() {
    for name in ["vmlinux.elf", "vmlinux.zlib", "vmlinux.split"] {
        let bytes = std::fs::read(fixture(name)).unwrap();
        let own = DebugInfo::of_program(&bytes).unwrap();
        let beside = DebugInfo::of_debug_file(&fixture(name)).unwrap();
        for program in [own, beside] {
            // Without the `.dwo` file there are lines, and no functions.
            let frame = program.frames(STI).pop().unwrap();
            assert_eq!(frame.file.as_deref(), Some("kernel/main.c"), "{name}");
            assert_eq!(frame.line, Some(18), "{name}");
        }
    }
    let of_memory = |bytes: &[u8]| DebugInfo::of_program(bytes).unwrap_err();
    let stripped = std::fs::read(fixture("vmlinux.stripped")).unwrap();
    assert!(matches!(of_memory(&stripped), DebugInfoFault::NoDwarf));
    assert!(matches!(of_memory(b"#!/bin/sh"), DebugInfoFault::NotElf));
    assert!(matches!(of_memory(b""), DebugInfoFault::NotElf));
    let of_file = |name: &str| DebugInfo::of_debug_file(&fixture(name)).unwrap_err();
    assert!(matches!(of_file("."), DebugInfoFault::NotAFile));
    assert!(matches!(of_file("absent"), DebugInfoFault::Open(_)));
}

#[test]
fn a_program_cut_short_gives_no_wrong_lines() {
    let whole = std::fs::read(fixture("vmlinux.elf")).unwrap();
    for length in (0..whole.len()).step_by(7) {
        DebugInfo::of_program(&whole[..length]).unwrap_err();
    }
}

#[test]
fn a_program_that_unpacks_to_more_than_memory_in_all_is_refused() {
    let mut packed = std::fs::read(fixture("vmlinux.zlib")).unwrap();
    // Each section may be as large, and all together may not.
    claim_sizes(&mut packed, 1 << 30);
    let error = DebugInfo::of_program(&packed).unwrap_err();
    assert!(matches!(error, DebugInfoFault::TooLarge { limit_mib: 2048, .. }), "{error}");
}

#[test]
fn files_without_lines_say_how_to_get_them() {
    let stripped = DebugInfo::open(&fixture("vmlinux.stripped")).unwrap_err().to_string();
    assert!(stripped.contains("CONFIG_DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT=y"), "{stripped}");
    assert!(stripped.contains("-dbg package"), "{stripped}");
    assert!(matches!(fault("vmlinux.split"), DebugInfoFault::SplitDwarf));
    assert!(matches!(fault("module.ko"), DebugInfoFault::NotAKernel("an object file or module")));
    assert!(matches!(fault("main.c"), DebugInfoFault::NotElf));
    assert!(matches!(fault("."), DebugInfoFault::NotAFile));
    assert!(matches!(fault("absent"), DebugInfoFault::Open(_)));
}

#[test]
fn a_file_cut_short_is_never_taken_for_a_whole_one() {
    let whole = std::fs::read(fixture("vmlinux.elf")).unwrap();
    for length in (0..whole.len()).step_by(7) {
        open_bytes(&whole[..length]).unwrap_err();
    }
}

/// Gives every compressed section this size, unpacked.
fn claim_sizes(packed: &mut [u8], size: u64) {
    // Elf64_Chdr: type 1 (zlib), size, alignment; then the stream, which zlib begins with 0x78.
    let is_header = |at: &usize| {
        packed[*at..].starts_with(&[1, 0, 0, 0, 0, 0, 0, 0]) && packed[at + 24] == 0x78
    };
    let headers: Vec<usize> = (0..packed.len() - 24).filter(is_header).collect();
    assert!(headers.len() > 2);
    for at in headers {
        packed[at + 8..at + 16].copy_from_slice(&size.to_le_bytes());
    }
}

#[test]
fn a_section_that_claims_to_unpack_to_more_than_memory_is_refused() {
    let mut packed = std::fs::read(fixture("vmlinux.zlib")).unwrap();
    claim_sizes(&mut packed, 1 << 40);
    let error = open_bytes(&packed).unwrap_err();
    assert!(matches!(error.fault, DebugInfoFault::TooLarge { limit_mib: 2048, .. }), "{error}");
}

proptest! {
    #[test]
    fn flipped_bits_never_panic(flips in prop::collection::vec(any::<(u16, u8)>(), 1..8)) {
        let mut bytes = std::fs::read(fixture("vmlinux.elf")).unwrap();
        for (at, bits) in flips {
            let at = usize::from(at) % bytes.len();
            bytes[at] ^= bits;
        }
        if let Ok(program) = DebugInfo::of_program(&bytes) {
            for address in [CLI, STI, BEYOND] {
                prop_assert!(program.frames(address).len() <= pathmeter_debuginfo::MAX_FRAMES);
            }
        }
        if let Ok(kernel) = open_bytes(&bytes) {
            for address in [CLI, STI, BEYOND] {
                prop_assert!(kernel.frames(address).len() <= pathmeter_debuginfo::MAX_FRAMES);
            }
        }
    }
}
