//! Every fault has the file that shows it, and a message with a next step.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on shall end")]

mod common;

use common::{
    OnDisk, PACKED, VMLINUX, apk, bzimage, core_files, cpio, deb, deb_saying, efi, fault, fault_of,
    gzip, payload, put, rpm, rpm_saying, tar, uki, vmlinux_for, vmlinux_without_pvh,
};
use pathmeter_image::{ImageFault, LooksLike, MAX_FILE_BYTES, hash_file, load};

fn looks_like(bytes: &[u8]) -> String {
    match fault(bytes) {
        ImageFault::NotAKernel(seems) => seems.to_string(),
        other => panic!("{other:?}"),
    }
}

fn architecture(bytes: &[u8]) -> String {
    match fault(bytes) {
        ImageFault::OtherArchitecture(name) => name,
        other => panic!("{other:?}"),
    }
}

fn truncated_part(bytes: &[u8]) -> &'static str {
    match fault(bytes) {
        ImageFault::Truncated { part, needs, has } if needs > has => part,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_missing_file_cannot_be_opened() {
    let path = OnDisk::new(b"x").path().with_file_name("absent");
    for error in [load(&path).unwrap_err(), hash_file(&path).unwrap_err()] {
        assert!(matches!(error.fault, ImageFault::Open(_)), "{error}");
        assert!(error.to_string().contains("absent: cannot open"), "{error}");
    }
}

#[test]
fn a_device_is_no_file() {
    let path = "/dev/zero".as_ref();
    assert!(matches!(load(path).unwrap_err().fault, ImageFault::NotAFile));
    assert!(matches!(hash_file(path).unwrap_err().fault, ImageFault::NotAFile));
}

#[test]
fn a_folder_in_which_nothing_was_built_says_so() {
    for error in [load("/".as_ref()).unwrap_err(), hash_file("/".as_ref()).unwrap_err()] {
        assert!(matches!(error.fault, ImageFault::NoBuildIn));
        assert!(error.to_string().starts_with("/: a folder without arch/x86/boot/bzImage; "));
    }
}

#[test]
fn the_fault_of_a_build_folder_names_the_file_in_it() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("arch/x86/boot")).unwrap();
    std::fs::write(folder.path().join("arch/x86/boot/bzImage"), b"").unwrap();
    let error = load(folder.path()).unwrap_err();
    assert!(error.to_string().contains("/arch/x86/boot/bzImage: the file is empty"), "{error}");
}

#[test]
fn an_empty_file_says_so() {
    assert!(matches!(fault(b""), ImageFault::Empty));
}

#[test]
fn other_kinds_of_file_are_told_by_name() {
    let with_magic = |offset: usize, magic: &[u8]| {
        let mut bytes = vec![0xee; offset + magic.len() + 16];
        put(&mut bytes, offset, magic);
        bytes
    };
    assert_eq!(looks_like(b"just\nsome text"), "a text file");
    assert_eq!(looks_like(b"#!/bin/sh\n"), "a script");
    assert!(looks_like(&payload("gzip")).contains("gzip"));
    assert!(looks_like(&gzip(b"no archive")).contains("gzip"));
    assert!(looks_like(&efi(&[(b".text", b"code")])).contains("EFI program"));
    assert!(looks_like(&uki(&uki(&bzimage(VMLINUX)))).contains("EFI program"));
    assert!(looks_like(&with_magic(0x8001, b"CD001")).contains("ISO 9660"));
    assert!(looks_like(&with_magic(0x1fe, b"\x55\xaa")).contains("boot sector"));
    assert!(looks_like(&bzimage(VMLINUX)[..300]).contains("cut short"));
    assert!(looks_like(b"ADBd\0\0").contains("Alpine"));
    let unknown = fault(&[0xee, 0x01, 0x02]);
    assert!(
        matches!(&unknown, ImageFault::NotAKernel(LooksLike::Bytes(hex)) if hex == "ee 01 02"),
        "{unknown:?}"
    );
}

/// Bytes that this thread has read from files until now.
fn bytes_read() -> u64 {
    let counts = std::fs::read_to_string("/proc/thread-self/io").unwrap();
    let line = counts.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap();
    line.parse().unwrap()
}

#[test]
fn of_what_is_no_kernel_only_the_beginning_is_read() {
    const ENOUGH: u64 = 64 << 10;
    let files = [
        OnDisk::new(b"").grown_to(16 << 20),
        OnDisk::new(b"a text").grown_to(16 << 20),
        OnDisk::new(VMLINUX).grown_to(MAX_FILE_BYTES + 1),
        OnDisk::new(b"MZ").grown_to(MAX_FILE_BYTES + 1),
    ];
    let readers: [fn(&std::path::Path) -> bool; 2] =
        [|path| hash_file(path).is_err(), |path| load(path).is_err()];
    for (file, refused) in files.iter().flat_map(|file| readers.map(|reader| (file, reader))) {
        let before = bytes_read();
        assert!(refused(&file.path()));
        let read = bytes_read() - before;
        assert!(read < ENOUGH, "{read} bytes");
    }
}

#[test]
fn an_elf_file_without_banner_and_note_is_a_program() {
    let mut program = vmlinux_without_pvh();
    while let Some(at) = program.windows(13).position(|text| text == b"Linux version") {
        put(&mut program, at, b"L");
        put(&mut program, at + 1, b"_");
    }
    assert_eq!(looks_like(&program), "an ELF program or library");
}

#[test]
fn an_object_file_is_no_kernel() {
    let mut object = VMLINUX.to_vec();
    put(&mut object, 0x38, &[0, 0]); // e_phnum
    assert_eq!(looks_like(&object), "an ELF program or library");
}

#[test]
fn a_vmlinux_without_pvh_note_asks_for_the_bzimage() {
    assert!(matches!(fault(&vmlinux_without_pvh()), ImageFault::NoPvhNote));
}

#[test]
fn a_bzimage_shorter_than_its_header_says_is_truncated() {
    let image = bzimage(&payload("xz"));
    assert_eq!(truncated_part(&image[..image.len() - 1]), "the bzImage");
    assert_eq!(truncated_part(&image[..0x210]), "the setup header");
}

#[test]
fn a_payload_beyond_the_file_is_truncated() {
    let mut image = bzimage(&payload("xz"));
    put(&mut image, 0x24c, &u32::MAX.to_le_bytes());
    assert_eq!(truncated_part(&image), "the payload of the bzImage");
}

#[test]
fn elf_parts_beyond_the_file_are_truncated() {
    assert_eq!(truncated_part(&VMLINUX[..40]), "the ELF header");
    assert_eq!(truncated_part(&VMLINUX[..100]), "the ELF program header table");
    assert_eq!(truncated_part(&VMLINUX[..VMLINUX.len() / 2]), "an ELF segment");
    let mut overflowing = VMLINUX.to_vec();
    put(&mut overflowing, 0x40 + 8, &u64::MAX.to_le_bytes()); // p_offset of the first segment
    assert_eq!(truncated_part(&overflowing), "an ELF segment");
}

#[test]
fn a_cut_package_is_truncated() {
    let package = deb("data.tar", &common::package_files(&bzimage(VMLINUX)));
    assert_eq!(truncated_part(&package[..package.len() - 1]), "a member of the package");
    assert_eq!(truncated_part(&package[..20]), "a member header of the package");
    let package = rpm_saying(&[(1000, &["kernel-core"])], b"");
    assert_eq!(truncated_part(&package[..package.len() - 1]), "a header of the package");
    assert_eq!(truncated_part(&package[..97]), "a header of the package");
    let packed = gzip(&core_files(&bzimage(VMLINUX)));
    let cut = fault(&rpm(&packed[..packed.len() / 2]));
    assert!(matches!(cut, ImageFault::Decompression { codec: "gzip", .. }), "{cut:?}");
}

#[test]
fn a_cut_unified_kernel_image_is_truncated() {
    let image = efi(&[(b".linux", &bzimage(VMLINUX))]);
    let part = "section .linux of the kernel image";
    assert_eq!(truncated_part(&image[..image.len() - 1]), part);
}

#[test]
fn a_32_bit_kernel_is_told_by_its_flags_or_its_vmlinux() {
    let mut flags = bzimage(VMLINUX);
    put(&mut flags, 0x236, &[0, 0]);
    let mut before_flags = bzimage(&vmlinux_for(1, 3));
    put(&mut before_flags, 0x206, &0x020b_u16.to_le_bytes());
    put(&mut before_flags, 0x236, &[0, 0]);
    for image in [flags, before_flags, vmlinux_for(1, 3), vmlinux_for(1, 62)] {
        assert!(matches!(fault(&image), ImageFault::ThirtyTwoBit));
    }
}

#[test]
fn kernels_of_other_processors_are_told_by_name() {
    let raw_image = |offset: usize, magic: &[u8]| {
        let mut image = vec![0; 4096];
        put(&mut image, 0, b"MZ");
        put(&mut image, offset, magic);
        image
    };
    assert_eq!(architecture(&raw_image(0x38, b"ARM\x64")), "aarch64 (arm64)");
    assert_eq!(architecture(&raw_image(0x38, b"RSC\x05")), "riscv");
    assert_eq!(architecture(&vmlinux_for(2, 183)), "aarch64 (arm64)");
    assert_eq!(architecture(&bzimage(&vmlinux_for(2, 243))), "riscv");
    assert_eq!(architecture(&vmlinux_for(2, 999)), "ELF machine 999");
    let mut big_endian = vmlinux_for(2, 22_u16.swap_bytes());
    put(&mut big_endian, 5, &[2]);
    assert_eq!(architecture(&big_endian), "s390x");
}

#[test]
fn a_boot_protocol_without_payload_fields_is_too_old() {
    let mut image = bzimage(VMLINUX);
    put(&mut image, 0x206, &0x0207_u16.to_le_bytes());
    assert!(matches!(fault(&image), ImageFault::BootProtocolTooOld { major: 2, minor: 7 }));
}

#[test]
fn headers_that_contradict_themselves_are_malformed() {
    let mut no_payload = bzimage(VMLINUX);
    put(&mut no_payload, 0x24c, &[0; 4]);
    let mut no_entry_size = VMLINUX.to_vec();
    put(&mut no_entry_size, 0x36, &[0, 0]); // e_phentsize
    let mut no_elf = VMLINUX.to_vec();
    put(&mut no_elf, 6, &[9]); // EI_VERSION
    let mut ar = deb("data.tar", b"");
    put(&mut ar, 8 + 58, b"??");
    let mut header = rpm(&core_files(VMLINUX));
    put(&mut header, 96, b"?");
    let mut archive = cpio(&[("a", b"data"), ("boot/vmlinuz-6.1", VMLINUX)]);
    put(&mut archive, 116, b"?"); // the second header's magic
    let cpio_cut = &cpio(&[("a", b"data")])[..113];
    let empty = uki(b"");
    let (archive, cpio_cut) = (rpm(&archive), rpm(cpio_cut));
    for bytes in [no_payload, no_entry_size, no_elf, ar, header, archive, cpio_cut, empty] {
        assert!(matches!(fault(&bytes), ImageFault::Malformed(_)), "{:?}", fault(&bytes));
    }
}

#[test]
fn a_payload_that_holds_no_elf_file_is_malformed() {
    let unpacked = b"no ELF file";
    let framed = [&[0xb0_u8][..], unpacked].concat(); // an LZ4 block of 11 literals
    let size = u32::try_from(framed.len()).unwrap().to_le_bytes();
    let packed = [b"\x02\x21\x4c\x18", &size[..], &framed, &11_u32.to_le_bytes()].concat();
    assert!(matches!(fault(&bzimage(&packed)), ImageFault::Malformed(_)));
}

#[test]
fn an_unknown_compression_shows_the_first_bytes() {
    let in_image = bzimage(b"\x1b\x01\x02\x03\x04\x05\x06\x07\x08\x09");
    let in_package = deb("data.tar.br", b"\x1b\x01\x02\x03\x04\x05\x06\x07\x08\x09");
    let in_rpm = rpm(b"\x1b\x01\x02\x03\x04\x05\x06\x07\x08\x09");
    for bytes in [in_image, in_package, in_rpm] {
        let fault = fault(&bytes);
        let ImageFault::UnknownCompression { first, .. } = fault else { panic!("{fault:?}") };
        assert_eq!(first, "1b 01 02 03 04 05 06 07");
    }
}

#[test]
fn damage_inside_any_payload_fails_to_unpack() {
    for (name, ..) in PACKED {
        let whole = payload(name);
        let size = &whole[whole.len() - 4..];
        let cut = [&whole[..whole.len() / 2], size].concat();
        let fault = fault(&bzimage(&cut));
        assert!(
            matches!(fault, ImageFault::Decompression { codec, .. } if codec == name),
            "{fault:?}"
        );
    }
}

#[test]
fn a_payload_of_another_size_than_promised_fails_to_unpack() {
    for (name, ..) in PACKED {
        for wrong in [VMLINUX.len() - 1, VMLINUX.len() + 1] {
            let mut payload = payload(name);
            let end = payload.len() - 4;
            put(&mut payload, end, &u32::try_from(wrong).unwrap().to_le_bytes());
            let fault = fault(&bzimage(&payload));
            assert!(matches!(fault, ImageFault::Decompression { .. }), "{name}: {fault:?}");
        }
    }
}

#[test]
fn a_package_without_kernel_says_so() {
    let files = tar(&[("./usr/share/doc/linux-image-amd64/copyright", b"")]);
    let packages =
        [deb("data.tar", &files), files.clone(), gzip(&files), rpm(&cpio(&[("a", b"")]))];
    for package in packages {
        assert!(matches!(fault(&package), ImageFault::NoKernelInPackage { holder: None }));
    }
    // A folder of that name is no kernel.
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Directory);
    header.set_path("boot/vmlinuz-6.1").unwrap();
    header.set_size(0);
    header.set_cksum();
    let folder = [&header.as_bytes()[..], &[0; 1024]].concat();
    let fault = fault(&deb("data.tar", &folder));
    assert!(matches!(fault, ImageFault::NoKernelInPackage { holder: None }), "{fault:?}");
}

/// The package that has the kernel, by the metadata in `bytes`.
fn holder(bytes: &[u8]) -> String {
    match fault(bytes) {
        ImageFault::NoKernelInPackage { holder: Some(holder) }
        | ImageFault::DebugPackage { holder: Some(holder) } => holder,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_package_without_kernel_names_the_one_that_has_it() {
    let stub = b"Package: linux-image-6.16-amd64\nDepends: linux-base,\n linux-binary-6.16-amd64\n";
    for control in [tar(&[("./control", stub)]), gzip(&tar(&[("control", stub)]))] {
        let package = deb_saying(&control, "data.tar", &tar(&[("./usr/share/doc/x", b"")]));
        assert_eq!(holder(&package), "linux-binary-6.16-amd64");
    }
    let arch = "pkgname = linux-headers\npkgbase = linux\npkgver = 6.9.1.arch1-1\n";
    assert_eq!(holder(&tar(&[(".PKGINFO", arch.as_bytes())])), "linux-6.9.1.arch1-1");
    let alpine = "pkgname = linux-lts-dev\npkgver = 6.6.30-r0\norigin = linux-lts\n";
    assert_eq!(holder(&apk(alpine, &[("usr/src/x", b"x")])), "linux-lts-6.6.30-r0");
}

#[test]
fn an_rpm_package_without_kernel_names_the_one_of_its_build() {
    let core = "kernel-core-6.8.5-301.fc40.x86_64";
    let named = |name, needs| {
        rpm_saying(
            &[(1000, name), (1001, &["6.8.5"]), (1002, &["301.fc40"]), (1049, needs)],
            &cpio(&[("./usr/lib/debug/lib/modules/6.8.5/vmlinux", b"symbols")]),
        )
    };
    let error = fault(&named(&["kernel"], &["kernel-modules-uname-r", "kernel-core-uname-r"]));
    assert_eq!(
        error.to_string(),
        format!("this package holds debug symbols; give {core}, which has the kernel")
    );
    assert_eq!(holder(&named(&["kernel-debuginfo"], &["kernel-debuginfo-common"])), core);
}

#[test]
fn a_package_of_debug_symbols_says_so() {
    let files = tar(&[("./usr/lib/debug/boot/vmlinux-6.1.0-fixture", b"symbols")]);
    assert!(matches!(fault(&deb("data.tar", &files)), ImageFault::DebugPackage { holder: None }));
}

#[test]
fn the_fault_of_a_kernel_in_a_package_is_the_kernels() {
    let files = common::package_files(&vmlinux_for(2, 183));
    assert!(matches!(fault(&deb("data.tar", &files)), ImageFault::OtherArchitecture(_)));
}

#[test]
fn what_is_too_large_is_not_read() {
    let file = OnDisk::new(VMLINUX).grown_to(MAX_FILE_BYTES + 1);
    assert!(matches!(fault_of(&file), ImageFault::TooLarge { part: "the file", .. }));

    let mut huge = payload("xz");
    let end = huge.len() - 4;
    put(&mut huge, end, &u32::MAX.to_le_bytes());
    assert!(matches!(fault(&bzimage(&huge)), ImageFault::TooLarge { limit_mib: 512, .. }));

    let mut package = deb("data.tar", b"");
    let size = package.len() - 12;
    put(&mut package, size, b"1073741825");
    let file = OnDisk::new(&package).grown_to(2 << 30);
    assert!(matches!(fault_of(&file), ImageFault::TooLarge { limit_mib: 1024, .. }));

    let mut header = tar::Header::new_gnu();
    header.set_path("boot/vmlinuz-6.1").unwrap();
    header.set_size((512 << 20) + 1);
    header.set_cksum();
    let fault = fault(&deb("data.tar", header.as_bytes()));
    assert!(
        matches!(fault, ImageFault::TooLarge { part: "vmlinuz in the package", .. }),
        "{fault:?}"
    );
}

#[test]
fn no_more_than_a_bound_is_unpacked_of_a_package() {
    let mut header = tar::Header::new_gnu();
    header.set_path("usr/share/bomb").unwrap();
    header.set_size(4 << 30);
    header.set_cksum();
    // The file goes on in zeros, which take no room on the disk.
    let file = OnDisk::new(header.as_bytes()).grown_to((1 << 30) + (1 << 20));
    let fault = fault_of(&file);
    assert!(matches!(fault, ImageFault::TooLarge { limit_mib: 1024, .. }), "{fault:?}");
}
