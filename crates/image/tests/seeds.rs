//! Files that the fuzzer starts from (`fuzz/seeds/image/`), beside this crate's fixtures.
//!
//! `PATHMETER_BLESS=1 cargo test -p pathmeter-image` writes them anew.

#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

mod common;

use std::fs;
use std::path::Path;

use common::{apk, bzimage, core_files, deb, load, package_files, payload, rpm, uki};

#[test]
fn the_fuzzers_files_are_kernels_and_as_the_builders_make_them() {
    let kernel = bzimage(&payload("xz"));
    assert_seed("bzimage", &kernel);
    assert_seed("deb", &deb("data.tar", &package_files(&kernel)));
    // The target packs it up itself.
    assert_seed("data.tar", &package_files(&kernel));
    assert_seed("rpm", &rpm(&core_files(&kernel)));
    assert_seed("apk", &apk("pkgname = linux-lts\n", &[("boot/vmlinuz-lts", &kernel)]));
    assert_seed("uki", &uki(&kernel));
}

fn assert_seed(name: &str, bytes: &[u8]) {
    let whole = if name == "data.tar" { deb(name, bytes) } else { bytes.to_vec() };
    assert!(load(&whole).is_ok(), "{name} is no kernel");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/image").join(name);
    if std::env::var_os("PATHMETER_BLESS").is_some() {
        fs::write(&file, bytes).unwrap();
    }
    assert!(fs::read(&file).unwrap() == bytes, "{name} is stale: run with PATHMETER_BLESS=1");
}
