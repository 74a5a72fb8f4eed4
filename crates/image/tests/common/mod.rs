//! Builders of kernel files, whole and broken, for the tests of this crate.

#![allow(dead_code, reason = "each test program uses its own part")]
#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

use std::io::Write as _;
use std::path::PathBuf;

use pathmeter_image::{ImageError, ImageFault, KernelImage};

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
    deb_saying(b"odd", name, data)
}

/// The same, with this `control.tar`.
pub(crate) fn deb_saying(control: &[u8], name: &str, data: &[u8]) -> Vec<u8> {
    let mut out = b"!<arch>\n".to_vec();
    for (name, data) in [("debian-binary", &b"2.0\n"[..]), ("control.tar", control), (name, data)] {
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

/// An RPM package with this payload and no metadata.
pub(crate) fn rpm(payload: &[u8]) -> Vec<u8> {
    rpm_saying(&[], payload)
}

/// The same, with these tags: number and strings.
pub(crate) fn rpm_saying(tags: &[(u32, &[&str])], payload: &[u8]) -> Vec<u8> {
    let mut out = b"\xed\xab\xee\xdb".to_vec();
    out.resize(96, 0);
    out.extend(rpm_header(&[(269, &["da39a3ee"])])); // a signature: RPMSIGTAG_SHA1
    out.resize(out.len().next_multiple_of(8), 0);
    out.extend(rpm_header(tags));
    out.extend(payload);
    out
}

fn rpm_header(tags: &[(u32, &[&str])]) -> Vec<u8> {
    const STRING_ARRAY: u32 = 8;
    let word = |number: usize| u32::try_from(number).unwrap().to_be_bytes();
    let (mut index, mut store) = (Vec::new(), Vec::new());
    for (tag, values) in tags {
        index.extend([tag.to_be_bytes(), STRING_ARRAY.to_be_bytes()].concat());
        index.extend([word(store.len()), word(values.len())].concat());
        values.iter().for_each(|value| store.extend([value.as_bytes(), b"\0"].concat()));
    }
    let intro = [&b"\x8e\xad\xe8\x01\0\0\0\0"[..], &word(tags.len()), &word(store.len())];
    [&intro.concat()[..], &index, &store].concat()
}

/// The cpio archive of an RPM package.
pub(crate) fn cpio(files: &[(&str, &[u8])]) -> Vec<u8> {
    use pathmeter_image::cpio::{Entry, archive};
    let file = |(name, data)| Entry::File { name, mode: 0o644, data };
    archive(&files.iter().copied().map(file).collect::<Vec<_>>())
}

/// The files of Fedora's kernel-core, in the order `rpmbuild` packs them.
pub(crate) fn core_files(vmlinuz: &[u8]) -> Vec<u8> {
    cpio(&[
        ("./lib/modules/6.1.0-fixture/System.map", b"ffffffff B The real System.map is elsewhere"),
        ("./lib/modules/6.1.0-fixture/config", b"CONFIG_FROM_PACKAGE=y\n"),
        ("./lib/modules/6.1.0-fixture/vmlinuz", vmlinuz),
        ("./usr/share/doc/kernel-core/README", b"last"),
    ])
}

/// Alpine's package: three tar archives, each a gzip stream, the first two without an end marker.
pub(crate) fn apk(metadata: &str, files: &[(&str, &[u8])]) -> Vec<u8> {
    let cut = |files: &[(&str, &[u8])]| {
        let mut whole = tar(files);
        whole.truncate(whole.len() - 1024);
        gzip(&whole)
    };
    let signature = cut(&[(".SIGN.RSA.builder.rsa.pub", b"signature")]);
    [signature, cut(&[(".PKGINFO", metadata.as_bytes())]), gzip(&tar(files))].concat()
}

/// An EFI program with these sections, as a unified kernel image is one.
pub(crate) fn efi(sections: &[(&[u8], &[u8])]) -> Vec<u8> {
    const HEADERS: usize = 0x400;
    let word = |number: usize| u32::try_from(number).unwrap().to_le_bytes();
    let mut image = vec![0; HEADERS];
    put(&mut image, 0, b"MZ");
    put(&mut image, 0x3c, &word(0x80));
    put(&mut image, 0x80, b"PE\0\0\x64\x86");
    put(&mut image, 0x86, &[u8::try_from(sections.len()).unwrap(), 0]);
    put(&mut image, 0x94, &[240, 0]); // SizeOfOptionalHeader
    put(&mut image, 0x98, &[0x0b, 0x02]); // PE32+
    put(&mut image, 0x104, &word(16)); // NumberOfRvaAndSizes
    for (number, (name, data)) in sections.iter().enumerate() {
        let at = 0x188 + number * 40;
        put(&mut image, at, name);
        let place = [data.len(), 0x1000 * (number + 1), data.len(), image.len()].map(word);
        put(&mut image, at + 8, &place.concat());
        image.extend(*data);
    }
    image
}

/// A unified kernel image as ukify makes it.
pub(crate) fn uki(kernel: &[u8]) -> Vec<u8> {
    efi(&[(b".osrel", b"ID=fixture\n"), (b".linux", kernel), (b".initrd", b"070701")])
}

pub(crate) fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
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
pub(crate) fn fault(bytes: &[u8]) -> ImageFault {
    fault_of(&OnDisk::new(bytes))
}

pub(crate) fn fault_of(file: &OnDisk) -> ImageFault {
    let error = file.load().unwrap_err();
    let message = error.to_string();
    assert!(message.starts_with(&format!("{}: ", file.path().display())), "{message}");
    assert!(message.contains("; "), "no next step: {message}");
    error.fault
}
