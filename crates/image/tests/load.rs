//! Whole kernel files of every kind load.

#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

mod common;

use std::io::Write as _;

use common::{
    CONFIG, PACKED, RELEASE, VMLINUX, apk, bzimage, core_files, cpio, deb, gzip, load,
    package_files, payload, rpm, tar, uki,
};
use pathmeter_image::{Boot, KernelImage, hash_file, vmlinux_of};

fn assert_is_fixture(kernel: &KernelImage, how: &str) {
    assert!(matches!(&kernel.boot, Boot::Pvh(elf) if elf == VMLINUX), "{how}: {:?}", kernel.boot);
    assert_eq!(kernel.release.as_deref(), Some(RELEASE), "{how}");
    assert_eq!(kernel.config.as_deref(), Some(CONFIG), "{how}");
    let banner = kernel.banner.as_deref().unwrap();
    assert!(banner.starts_with("Linux version 6.1.0-fixture"), "{how}: {banner}");
    assert!(banner.ends_with("#1 SMP 2026-01-01"), "{how}: {banner}");
}

#[test]
fn every_payload_compression_gives_the_pvh_vmlinux() {
    for (name, ..) in PACKED {
        assert_is_fixture(&load(&bzimage(&payload(name))).unwrap(), name);
    }
}

#[test]
fn an_uncompressed_payload_is_taken_as_it_is() {
    assert_is_fixture(&load(&bzimage(VMLINUX)).unwrap(), "plain");
}

#[test]
fn a_bare_vmlinux_with_a_pvh_note_is_taken_as_it_is() {
    assert_is_fixture(&load(VMLINUX).unwrap(), "vmlinux");
}

#[test]
fn relocations_after_the_vmlinux_stay() {
    let with_relocations = [VMLINUX, b"relocations"].concat();
    let kernel = load(&bzimage(&with_relocations)).unwrap();
    assert!(matches!(kernel.boot, Boot::Pvh(elf) if elf == with_relocations));
}

#[test]
fn a_bzimage_without_a_pvh_note_is_booted_as_it_is() {
    let image = bzimage(&common::vmlinux_without_pvh());
    let kernel = load(&image).unwrap();
    let Boot::BzImage { image: kept, vmlinux } = kernel.boot else { panic!("{:?}", kernel.boot) };
    assert!(kept == image && vmlinux.starts_with(b"\x7fELF"));
    assert_eq!(kernel.release.as_deref(), Some(RELEASE));
}

#[test]
fn a_signature_after_the_bzimage_does_no_harm() {
    let signed = [bzimage(&payload("lz4")), vec![0x30; 1500]].concat();
    assert_is_fixture(&load(&signed).unwrap(), "signed");
}

#[test]
fn a_release_outside_the_header_is_taken_from_the_banner() {
    let mut image = bzimage(&payload("gzip"));
    common::put(&mut image, 0x20e, &u16::MAX.to_le_bytes());
    assert_is_fixture(&load(&image).unwrap(), "version string beyond the end");
}

#[test]
fn terminal_escapes_end_the_version_string() {
    let mut image = bzimage(&payload("gzip"));
    common::put(&mut image, 0x300, b"6.1\x1b[2J");
    assert_eq!(load(&image).unwrap().release.as_deref(), Some("6.1"));
}

#[test]
fn every_packing_of_a_package_gives_its_kernel() {
    let files = package_files(&bzimage(&payload("xz")));
    let packed = [
        ("data.tar", files.clone()),
        ("data.tar.gz", gzip(&files)),
        ("data.tar.xz", xz(&files)),
        ("data.tar.zst", zstd(&files)),
    ];
    for (name, data) in packed {
        assert_is_fixture(&load(&deb(name, &data)).unwrap(), name);
    }
}

#[test]
fn every_packing_of_an_rpm_package_gives_its_kernel() {
    let files = core_files(&bzimage(&payload("zstd")));
    let packed = [
        ("none", files.clone()),
        ("gzip", gzip(&files)),
        ("xz", xz(&files)),
        ("zstd", zstd(&files)),
    ];
    for (name, data) in packed {
        assert_is_fixture(&load(&rpm(&data)).unwrap(), name);
    }
}

#[test]
fn a_package_made_by_rpmbuild_gives_its_kernel() {
    assert_is_fixture(&load(include_bytes!("fixtures/kernel-core.rpm")).unwrap(), "rpmbuild");
}

#[test]
fn a_hard_link_without_data_in_an_rpm_package_is_passed_over() {
    let image = bzimage(&payload("xz"));
    let files = [("./boot/vmlinuz-6.1.0", &b""[..]), ("./lib/modules/6.1.0/vmlinuz", &image)];
    assert_is_fixture(&load(&rpm(&cpio(&files))).unwrap(), "hard link");
}

#[test]
fn packed_tar_archives_are_packages() {
    let image = bzimage(&payload("zstd"));
    let arch = tar(&[
        (".PKGINFO", b"pkgname = linux\npkgbase = linux\n"),
        ("usr/lib/modules/6.1.0/vmlinuz", &image),
    ]);
    let signature = tar(&[(".SIGN.RSA.builder.rsa.pub", b"signature")]);
    let files = [("boot/config-lts", &b"CONFIG_A=y\n"[..]), ("boot/vmlinuz-lts", &image)];
    let packages = [
        ("pkg.tar", arch.clone()),
        ("pkg.tar.gz", gzip(&arch)),
        ("pkg.tar.xz", xz(&arch)),
        ("pkg.tar.zst", zstd(&arch)),
        ("apk", apk("pkgname = linux-lts\n", &files)),
        ("signed apk with end marks", [gzip(&signature), gzip(&tar(&files))].concat()),
    ];
    for (name, package) in packages {
        assert_is_fixture(&load(&package).unwrap(), name);
    }
}

#[test]
fn a_unified_kernel_image_gives_the_kernel_in_it() {
    let image = bzimage(&payload("lz4"));
    assert_is_fixture(&load(&uki(&image)).unwrap(), "alone");
    let fedora = cpio(&[("./lib/modules/6.1.0/vmlinuz-virt.efi", &uki(&image))]);
    assert_is_fixture(&load(&rpm(&fedora)).unwrap(), "in a package");
}

#[test]
fn a_build_folder_gives_its_bzimage_and_vmlinux() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(vmlinux_of(folder.path()), None);
    let (boot, vmlinux) = (folder.path().join("arch/x86/boot"), folder.path().join("vmlinux"));
    std::fs::create_dir_all(&boot).unwrap();
    std::fs::write(boot.join("bzImage"), bzimage(&payload("gzip"))).unwrap();
    std::fs::write(&vmlinux, VMLINUX).unwrap();
    assert_is_fixture(&pathmeter_image::load(folder.path()).unwrap(), "folder");
    assert_eq!(hash_file(folder.path()).unwrap(), hash_file(&boot.join("bzImage")).unwrap());
    assert_eq!((vmlinux_of(folder.path()), vmlinux_of(&boot)), (Some(vmlinux), None));
    assert_eq!(vmlinux_of(&boot.join("bzImage")), None);
}

#[test]
fn a_kernel_without_ikconfig_has_the_config_of_its_package() {
    let mut vmlinux = VMLINUX.to_vec();
    let marker = vmlinux.windows(8).position(|eight| eight == b"IKCFG_ST").unwrap();
    common::put(&mut vmlinux, marker, b"________");
    let image = bzimage(&vmlinux);
    for package in [deb("data.tar", &package_files(&image)), rpm(&core_files(&image))] {
        let kernel = load(&package).unwrap();
        assert_eq!(kernel.config.as_deref(), Some("CONFIG_FROM_PACKAGE=y\n"));
    }
}

#[test]
fn a_kernel_among_the_modules_of_a_package_is_found() {
    let image = bzimage(&payload("zstd"));
    let files = common::tar(&[("./usr/lib/modules/6.1.0/vmlinuz", &image)]);
    assert_is_fixture(&load(&deb("data.tar", &files)).unwrap(), "modules");
}

#[test]
fn nothing_after_the_kernel_is_unpacked() {
    let files = package_files(&bzimage(&payload("xz")));
    let kernel_end = files.len() - 512 - 1024; // the header of modules.order, the end of the tar
    let cut = gzip(&files[..kernel_end]);
    assert_is_fixture(&load(&deb("data.tar.gz", &cut)).unwrap(), "cut after the kernel");
    let files = core_files(&bzimage(&payload("xz")));
    let next = files.windows(6).rposition(|six| six == b"./usr/").unwrap() - 110;
    assert_is_fixture(&load(&rpm(&gzip(&files[..next]))).unwrap(), "cut after the kernel");
}

fn xz(data: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(1);
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn zstd(data: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(data, ruzstd::encoding::CompressionLevel::Fastest)
}
