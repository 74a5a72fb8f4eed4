//! Whatever a file holds, loading it returns, and within its memory bound.

#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write as _;

use common::{
    OnDisk, PACKED, VMLINUX, apk, bzimage, core_files, cpio, deb, deb_saying, gzip, package_files,
    payload, rpm, rpm_saying, tar, uki,
};
use pathmeter_image::{ImageFault, MAX_KERNEL_BYTES, MAX_WINDOW_MIB};
use proptest::prelude::*;

/// The system's allocator, which counts the bytes that each thread holds.
struct Watched;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static MOST_HELD: Cell<usize> = const { Cell::new(0) };
}

fn count_allocation(bytes: usize) {
    let held = HELD.get().wrapping_add(bytes);
    HELD.set(held);
    MOST_HELD.set(MOST_HELD.get().max(held));
}

fn count_release(bytes: usize) {
    // A thread may free what another one took.
    HELD.set(HELD.get().saturating_sub(bytes));
}

// SAFETY: every call is passed on unchanged.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_allocation(layout.size());
        // SAFETY: the caller keeps the contract of the same function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count_allocation(layout.size());
        // SAFETY: as above; passed on so that large zeroed blocks stay untouched.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count_release(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count_release(layout.size());
        count_allocation(size);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// The most bytes that loading `bytes` held at once.
fn most_held_loading(bytes: &[u8]) -> u64 {
    let file = OnDisk::new(bytes);
    let before = HELD.get();
    MOST_HELD.set(before);
    let _ = file.load();
    (MOST_HELD.get() - before) as u64
}

/// Loads, and checks the bound of the contract.
fn load_within_bounds(bytes: &[u8]) {
    // What else a decoder needs: tables, buffers and one block.
    const REST: u64 = 80 << 20;
    let window = u64::from(MAX_WINDOW_MIB) << 20;
    let held = most_held_loading(bytes);
    assert!(held <= bytes.len() as u64 + MAX_KERNEL_BYTES + window + REST, "{held} bytes");
}

/// One whole file of each kind.
fn whole_files() -> Vec<Vec<u8>> {
    let mut files: Vec<_> = PACKED.iter().map(|(name, ..)| bzimage(&payload(name))).collect();
    files.push(VMLINUX.to_vec());
    files.push(bzimage(VMLINUX));
    files.push(deb("data.tar", &package_files(&files[0])));
    files.push(deb("data.tar.gz", &gzip(&package_files(&files[0]))));
    files.push(rpm(&core_files(&files[0])));
    files.push(rpm_saying(&[(1000, &["kernel-core"])], &gzip(&core_files(&files[0]))));
    files.push(gzip(&package_files(&files[0])));
    files.push(apk("pkgname = linux-lts\n", &[("boot/vmlinuz-lts", &files[0])]));
    files.push(uki(&files[0]));
    files.extend(without_kernel());
    files
}

/// Packages that name the package with the kernel.
fn without_kernel() -> [Vec<u8>; 3] {
    let control = tar(&[("./control", b"Package: linux-image-1\nDepends: linux-binary-1\n")]);
    let tags: &[(u32, &[&str])] = &[
        (1000, &["kernel"]),
        (1001, &["6.8.5"]),
        (1002, &["301.fc40"]),
        (1049, &["kernel-core-uname-r", "kernel-modules-uname-r"]),
    ];
    [
        deb_saying(&control, "data.tar", &tar(&[("./usr/share/doc/x", b"")])),
        rpm_saying(tags, &cpio(&[])),
        apk("pkgname = linux-virt-dev\npkgver = 6.6-r0\norigin = linux-lts\n", &[]),
    ]
}

fn any_whole_file() -> impl Strategy<Value = Vec<u8>> {
    prop::sample::select(whole_files())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn arbitrary_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..2048)) {
        load_within_bounds(&bytes);
    }

    #[test]
    fn an_arbitrary_payload_is_survived(
        row in 0..PACKED.len(),
        tail in prop::collection::vec(any::<u8>(), 0..512),
    ) {
        load_within_bounds(&bzimage(&[&PACKED[row].1[..13], &tail].concat()));
    }

    #[test]
    fn a_cut_file_is_survived(file in any_whole_file(), at in any::<prop::sample::Index>()) {
        load_within_bounds(&file[..at.index(file.len())]);
    }

    #[test]
    fn changed_bytes_are_survived(
        mut file in any_whole_file(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        for (at, value) in changes {
            let at = at.index(file.len());
            file[at] = value;
        }
        load_within_bounds(&file);
    }

    #[test]
    fn changed_headers_are_survived(
        mut file in any_whole_file(),
        changes in prop::collection::vec((0_usize..0x280, any::<u8>()), 1..8),
    ) {
        for (at, value) in changes {
            let at = at % file.len();
            file[at] = value;
        }
        load_within_bounds(&file);
    }

    #[test]
    fn changed_payload_headers_are_survived(
        row in 0..PACKED.len(),
        changes in prop::collection::vec((4_usize..64, any::<u8>()), 1..4),
    ) {
        let mut payload = payload(PACKED[row].0);
        for (at, value) in changes {
            payload[at] = value;
        }
        load_within_bounds(&bzimage(&payload));
    }
}

#[test]
fn a_huge_tar_name_is_not_held_in_memory() {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::GNULongName);
    header.set_path("././@LongLink").unwrap();
    header.set_size(8 << 20);
    header.set_cksum();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(header.as_bytes()).unwrap();
    for _ in 0..8 {
        encoder.write_all(&vec![b'a'; 1 << 20]).unwrap();
    }
    let package = deb("data.tar.gz", &encoder.finish().unwrap());
    assert!(most_held_loading(&package) < 4 << 20);
    assert!(matches!(common::fault(&package), ImageFault::NoKernelInPackage { .. }));
}

#[test]
fn a_huge_cpio_name_is_refused_before_it_is_read() {
    let mut archive = cpio(&[("lib/modules/6.1/vmlinuz", VMLINUX)]);
    common::put(&mut archive, 94, b"10000000"); // namesize
    let package = rpm(&[archive, vec![b'a'; 1 << 20]].concat());
    assert!(most_held_loading(&package) < 4 << 20);
    assert!(matches!(common::fault(&package), ImageFault::Malformed(_)));
}

#[test]
fn a_huge_header_of_an_rpm_package_is_not_held_in_memory() {
    let name = "a".repeat(40 << 20);
    let package = rpm_saying(&[(1000, &[&name])], &cpio(&[]));
    assert!(most_held_loading(&package) < 4 << 20);
    assert!(matches!(common::fault(&package), ImageFault::NoKernelInPackage { holder: None }));
}

#[test]
fn a_payload_that_swells_beyond_its_promise_is_dropped_there() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for _ in 0..8 {
        encoder.write_all(&vec![0; 1 << 20]).unwrap();
    }
    let mut bomb = encoder.finish().unwrap();
    let end = bomb.len() - 4;
    common::put(&mut bomb, end, &1000_u32.to_le_bytes());
    let image = bzimage(&bomb);
    assert!(most_held_loading(&image) < 4 << 20);
    assert!(matches!(common::fault(&image), ImageFault::Decompression { .. }));
}
