//! Builders of kernel files, whole and broken, for the tests of this crate.

#![allow(dead_code, reason = "each test program uses its own part")]
#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

use std::io::Write as _;
use std::path::PathBuf;

use pathmeter_image::{Fault, ImageError, KernelImage};

pub(crate) const VMLINUX: &[u8] = include_bytes!("../fixtures/vmlinux.elf");
pub(crate) const CONFIG: &str = include_str!("../fixtures/config");
pub(crate) const RELEASE: &str = "6.1.0-fixture";
pub(crate) const VERSION: &str = "6.1.0-fixture (builder@host) #1 SMP 2026-01-01";

/// Name, packed bytes, and whether Linux's build appends the size.
pub(crate) const PACKED: [(&str, &[u8], bool); 7] = [
    ("gzip", include_bytes!("../fixtures/vmlinux.gz"), false),
    ("bzip2", include_bytes!("../fixtures/vmlinux.bz2"), true),
    ("lzma", include_bytes!("../fixtures/vmlinux.lzma"), true),
    ("xz", include_bytes!("../fixtures/vmlinux.xz"), true),
    ("lzo", include_bytes!("../fixtures/vmlinux.lzo"), true),
    ("lz4", include_bytes!("../fixtures/vmlinux.lz4"), true),
    ("zstd", include_bytes!("../fixtures/vmlinux.zst"), true),
];

/// The fixture's payload as the build of Linux lays it into a bzImage.
pub(crate) fn payload(name: &str) -> Vec<u8> {
    let (_, packed, append) = PACKED.iter().find(|row| row.0 == name).unwrap();
    let size: &[u8] = &u32::try_from(VMLINUX.len()).unwrap().to_le_bytes();
    if *append { [packed, size].concat() } else { packed.to_vec() }
}

/// A bzImage of boot protocol 2.15 around `payload`, for a 64-bit kernel.
pub(crate) fn bzimage(payload: &[u8]) -> Vec<u8> {
    const SETUP: usize = 1024;
    const STUB: usize = 64;
    let mut image = vec![0; SETUP + STUB];
    put(&mut image, 0, b"MZ");
    put(&mut image, 0x1f1, &[1]);
    put(&mut image, 0x1fe, &[0x55, 0xaa]);
    put(&mut image, 0x202, b"HdrS");
    put(&mut image, 0x206, &0x020f_u16.to_le_bytes());
    put(&mut image, 0x20e, &0x100_u16.to_le_bytes());
    put(&mut image, 0x236, &1_u16.to_le_bytes());
    put(&mut image, 0x248, &u32::try_from(STUB).unwrap().to_le_bytes());
    put(&mut image, 0x24c, &u32::try_from(payload.len()).unwrap().to_le_bytes());
    put(&mut image, 0x300, VERSION.as_bytes());
    image.extend(payload);
    image.resize(image.len().next_multiple_of(16), 0);
    let paragraphs = u32::try_from((image.len() - SETUP) / 16).unwrap();
    put(&mut image, 0x1f4, &paragraphs.to_le_bytes());
    image
}

/// The fixture with its PVH note made another one.
pub(crate) fn vmlinux_without_pvh() -> Vec<u8> {
    let mut vmlinux = VMLINUX.to_vec();
    let name = vmlinux.windows(4).position(|four| four == b"Xen\0").unwrap();
    put(&mut vmlinux, name - 4, &17_u32.to_le_bytes());
    vmlinux
}

/// The fixture for another class and machine.
pub(crate) fn vmlinux_for(class: u8, machine: u16) -> Vec<u8> {
    let mut vmlinux = VMLINUX.to_vec();
    put(&mut vmlinux, 4, &[class]);
    put(&mut vmlinux, 0x12, &machine.to_le_bytes());
    vmlinux
}

pub(crate) fn put(bytes: &mut [u8], offset: usize, value: &[u8]) {
    bytes[offset..offset + value.len()].copy_from_slice(value);
}

/// A tar of regular files.
pub(crate) fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, data) in files {
        let mut header = tar::Header::new_gnu();
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(data.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        builder.append(&header, *data).unwrap();
    }
    builder.into_inner().unwrap()
}

/// A Debian package whose data member is `data`, named `name`.
pub(crate) fn deb(name: &str, data: &[u8]) -> Vec<u8> {
    let mut out = b"!<arch>\n".to_vec();
    for (name, data) in
        [("debian-binary", &b"2.0\n"[..]), ("control.tar", &b"odd"[..]), (name, data)]
    {
        writeln!(out, "{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`", 0, 0, 0, 100_644, data.len())
            .unwrap();
        out.extend(data);
        out.resize(out.len().next_multiple_of(2), b'\n');
    }
    out
}

/// The files of a kernel package, in the order `dpkg-deb` packs them.
pub(crate) fn package_files(vmlinuz: &[u8]) -> Vec<u8> {
    tar(&[
        ("./boot/System.map-6.1.0-fixture", b"ffffffff B The real System.map is elsewhere"),
        ("./boot/config-6.1.0-fixture", b"CONFIG_FROM_PACKAGE=y\n"),
        ("./boot/vmlinuz-6.1.0-fixture", vmlinuz),
        ("./usr/lib/modules/6.1.0-fixture/modules.order", b""),
    ])
}

/// A file in a folder of its own, which goes when this is dropped.
pub(crate) struct OnDisk {
    folder: tempfile::TempDir,
}

impl OnDisk {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("kernel"), bytes).unwrap();
        Self { folder }
    }

    /// Makes the file longer without taking room on the disk.
    pub(crate) fn grown_to(self, bytes: u64) -> Self {
        let file = std::fs::OpenOptions::new().write(true).open(self.path()).unwrap();
        file.set_len(bytes).unwrap();
        self
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("kernel")
    }

    pub(crate) fn load(&self) -> Result<KernelImage, ImageError> {
        pathmeter_image::load(&self.path())
    }
}

pub(crate) fn load(bytes: &[u8]) -> Result<KernelImage, ImageError> {
    OnDisk::new(bytes).load()
}

/// The fault that loading `bytes` ends with; its message must name the file and a next step.
pub(crate) fn fault(bytes: &[u8]) -> Fault {
    fault_of(&OnDisk::new(bytes))
}

pub(crate) fn fault_of(file: &OnDisk) -> Fault {
    let error = file.load().unwrap_err();
    let message = error.to_string();
    assert!(message.starts_with(&format!("{}: ", file.path().display())), "{message}");
    assert!(message.contains("; "), "no next step: {message}");
    error.fault
}
