//! A kernel file: as it comes, as the payload of a bzImage, as the files of packages, as what a
//! package states about itself, and as the kernel in a unified kernel image.
#![no_main]
#![allow(unreachable_pub, reason = "the tests' helpers are a module here")]

use libfuzzer_sys::fuzz_target;
use pathmeter_fuzz::InMemory;

#[path = "../../../crates/image/tests/common/mod.rs"]
mod common;

use common::{VMLINUX, bzimage, cpio, deb, deb_saying, rpm, tar, uki};

fuzz_target!(|bytes: &[u8]| {
    // A payload ends with its unpacked size; this is what the fixtures unpack to.
    let size = u32::try_from(VMLINUX.len()).unwrap_or(u32::MAX).to_le_bytes();
    load(bytes);
    load(&bzimage(&[bytes, &size].concat()));
    load(&deb("data.tar", bytes));
    load(&deb("data.tar.zst", bytes));
    load(&deb_saying(&tar(&[("control", bytes)]), "data.tar", &tar(&[("a", b"")])));
    load(&tar(&[(".PKGINFO", bytes)]));
    load(&rpm(bytes));
    load(&rpm(&cpio(&[("boot/vmlinuz-1", bytes)])));
    load(&uki(bytes));
});

/// What is loaded is a kernel, and a file that is none is named with what is wrong.
fn load(bytes: &[u8]) {
    let file = InMemory::new(bytes).expect("a file in memory");
    if let Err(error) = pathmeter_image::load(&file.path()) {
        assert!(error.to_string().contains("/proc/self/fd/"), "{error}");
    }
}
