//! What a file that is no kernel is instead, by magic numbers, so that the error can name it.
//!
//! Sources: Linux `Documentation/arch/arm64/booting.rst`,
//! `Documentation/arch/riscv/boot-image-header.rst`, `arch/loongarch/kernel/head.S`,
//! `drivers/firmware/efi/libstub/zboot-header.S`; each format's own specification for the rest.

use crate::bzimage;
use crate::error::{ImageFault, LooksLike, first_bytes};

/// Boot images of other processors: offset, magic, name.
const OTHER_ARCHITECTURES: [(usize, &[u8], &str); 5] = [
    (0x38, b"ARM\x64", "aarch64 (arm64)"),
    (0x30, b"RISCV\0\0\0", "riscv"),
    (0x38, b"RSC\x05", "riscv"),
    (0x38, b"\xcd\x23\x82\x81", "loongarch"),
    (0x24, b"\x18\x28\x6f\x01", "arm (32-bit)"),
];

/// Other kinds of file: offset, magic, name. The first that matches is told.
const OTHER_KINDS: [(usize, &[u8], &str); 20] = [
    (0x04, b"zimg", "an EFI zboot image, which no x86 kernel is"),
    (
        0x00,
        b"MZ",
        "an EFI program without a kernel in it, or a bzImage cut short in its first sector",
    ),
    (0x00, b"\x1f\x8b", "a gzip file (unpack it first)"),
    (0x00, b"\xfd7zXZ\0", "an xz file (unpack it first)"),
    (0x00, b"\x28\xb5\x2f\xfd", "a zstd file (unpack it first)"),
    (0x00, b"BZh", "a bzip2 file (unpack it first)"),
    (0x00, b"\x02\x21\x4c\x18", "an lz4 file (unpack it first)"),
    (0x00, b"\x04\x22\x4d\x18", "an lz4 file (unpack it first)"),
    (0x00, b"\x89LZO", "an lzop file (unpack it first)"),
    (0x00, b"\x5d\0\0", "an lzma file (unpack it first)"),
    (0x00, b"PK\x03\x04", "a zip file (unpack it first)"),
    (0x00, b"drpm", "a delta RPM (make the whole package of it first: applydeltarpm)"),
    (0x00, b"ADB", "an Alpine package of format 3 (unpack it first: apk extract)"),
    (0x00, b"070701", "a cpio archive, such as an initramfs"),
    (0x00, b"!<thin>\n", "a static library"),
    (0x00, b"\x27\x05\x19\x56", "a U-Boot image"),
    (0x00, b"\xd0\x0d\xfe\xed", "a device tree"),
    (0x00, b"QFI\xfb", "a qcow2 disk image"),
    (0x8001, b"CD001", "an ISO 9660 disk image"),
    (0x00, b"#!", "a script"),
];

/// Enough of a file's beginning for [`describe`]: the magic number of ISO 9660 stands last.
pub(crate) const HEAD_BYTES: usize = 33 << 10;

/// How much of the start must be text for the file to be called text.
const TEXT_SAMPLE_BYTES: usize = 512;

/// The fault for a file that is none of the kinds that can be read.
pub(crate) fn describe(bytes: &[u8]) -> ImageFault {
    if let Some(name) = look_up(bytes, &OTHER_ARCHITECTURES) {
        return ImageFault::OtherArchitecture(name.to_owned());
    }
    let seems = look_up(bytes, &OTHER_KINDS).or_else(|| guess(bytes));
    ImageFault::NotAKernel(
        seems.map_or_else(|| LooksLike::Bytes(first_bytes(bytes)), LooksLike::Known),
    )
}

fn look_up(bytes: &[u8], table: &[(usize, &[u8], &'static str)]) -> Option<&'static str> {
    let matches = |offset: usize, magic: &[u8]| {
        bytes.get(offset..).is_some_and(|tail| tail.starts_with(magic))
    };
    table.iter().find(|(offset, magic, _)| matches(*offset, magic)).map(|(_, _, name)| *name)
}

/// Kinds without a magic number of their own.
fn guess(bytes: &[u8]) -> Option<&'static str> {
    let is_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    if bzimage::has_boot_flag(bytes) {
        Some("a boot sector or disk image without Linux's setup header")
    } else if bytes.iter().take(TEXT_SAMPLE_BYTES).all(is_text) {
        Some("a text file")
    } else {
        None
    }
}
