//! Files that the fuzzer starts from (`fuzz/seeds/pack/`).
//!
//! `PATHMETER_BLESS=1 cargo test -p pathmeter-pack` writes them anew.

#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

mod common;

use std::fs;
use std::path::Path;

use common::{Elf, LIBRARY, LIBRARY_32, PROGRAM, Root};

#[test]
fn the_fuzzers_files_are_programs_and_as_the_builders_make_them() {
    let needing = Elf { needed: &["libb.so"], ..PROGRAM };
    assert_seed("rpath", &Elf { rpath: Some("$ORIGIN/../lib:/$LIB"), ..needing }.bytes());
    assert_seed("runpath", &Elf { runpath: Some("/opt"), soname: Some("a"), ..needing }.bytes());
    assert_seed("library", &LIBRARY.bytes());
    assert_seed("library-32", &LIBRARY_32.bytes());
    assert_seed("script", b"#!/bin/library -x\n");
    assert_seed("env", b"#!/bin/env -S -i A=1 library\n");
}

fn assert_seed(name: &str, bytes: &[u8]) {
    let root = Root::with_loader();
    root.elf("/bin/library", &LIBRARY);
    root.elf("/bin/env", &LIBRARY);
    root.elf("/opt/libb.so", &LIBRARY);
    root.elf("/lib/libb.so", &LIBRARY);
    root.file("/a", 0o755, bytes);
    root.pack(&["/a"]).unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/pack").join(name);
    if std::env::var_os("PATHMETER_BLESS").is_some() {
        fs::write(&file, bytes).unwrap();
    }
    assert!(fs::read(&file).unwrap() == bytes, "{name} is stale: run with PATHMETER_BLESS=1");
}
