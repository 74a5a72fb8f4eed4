//! The files of a package other than its kernel.

#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

mod common;

use common::{OnDisk, apk, cpio, deb, gzip, rpm, tar};
use pathmeter_image::{Choice, ImageError, ImageFault, PackageFile, read_package, unpacked};

const LIMIT: u64 = 8;

/// Reads the files `a.ko` and `c.ko`, up to `last.ko`.
fn modules(package: &[u8]) -> Result<Vec<PackageFile>, ImageError> {
    let file = OnDisk::new(package);
    read_package(&file.path(), LIMIT, &mut |path| match path {
        path if path.ends_with("last.ko") => Choice::TakeLast,
        path if path.ends_with("a.ko") || path.ends_with("c.ko") => Choice::Take,
        _ => Choice::Skip,
    })
}

fn file(path: &str, data: &[u8]) -> PackageFile {
    PackageFile { path: path.to_owned(), data: data.to_vec() }
}

#[test]
fn chosen_files_are_read_from_every_kind_of_package() {
    let files: [(&str, &[u8]); 4] =
        [("a.ko", b"one"), ("large", b"123456789"), ("b/last.ko", b"two"), ("c.ko", b"three")];
    let expected = [file("a.ko", b"one"), file("b/last.ko", b"two")];
    let packages = [
        tar(&files),
        gzip(&tar(&files)),
        deb("data.tar", &tar(&files)),
        deb("data.tar.gz", &gzip(&tar(&files))),
        rpm(&cpio(&files)),
        apk("pkgname = linux\n", &files),
    ];
    for package in packages {
        assert_eq!(modules(&package).unwrap(), expected);
    }
}

#[test]
fn a_path_may_be_longer_than_a_tar_header() {
    let long = format!("{}a.ko", "long/".repeat(30));
    // GNU's form, which the crate `tar` writes.
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(3);
    builder.append_data(&mut header, &long, &b"one"[..]).unwrap();
    assert_eq!(modules(&builder.into_inner().unwrap()).unwrap(), [file(&long, b"one")]);
    // POSIX's: a record that states its own length.
    let record = format!(" path={long}\n");
    let length = record.len() + 3;
    let mut builder = tar::Builder::new(Vec::new());
    for (kind, path, data) in [
        (tar::EntryType::XHeader, "x", format!("{length}{record}").as_bytes()),
        (tar::EntryType::Regular, "cut", b"one"),
        (tar::EntryType::Regular, "owna.ko", b"two"),
    ] {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(kind);
        header.set_size(data.len() as u64);
        builder.append_data(&mut header, path, data).unwrap();
    }
    let expected = [file(&long, b"one"), file("owna.ko", b"two")];
    assert_eq!(modules(&builder.into_inner().unwrap()).unwrap(), expected);
}

#[test]
fn a_file_beyond_the_limit_and_what_is_no_package_are_refused() {
    let fault = |package: &[u8]| modules(package).unwrap_err().fault;
    let large = fault(&tar(&[("a.ko", b"123456789")]));
    assert!(matches!(large, ImageFault::TooLarge { .. }), "{large}");
    let text = fault(b"text");
    assert!(matches!(text, ImageFault::NotAPackage), "{text}");
}

#[test]
fn what_is_packed_is_unpacked_up_to_the_limit() {
    assert_eq!(unpacked(b"12345678".to_vec(), LIMIT).unwrap(), b"12345678");
    assert_eq!(unpacked(gzip(b"12345678"), LIMIT + 100).unwrap(), b"12345678");
    for large in [b"123456789".to_vec(), gzip(b"123456789")] {
        let fault = unpacked(large, LIMIT).unwrap_err();
        assert!(matches!(fault, ImageFault::TooLarge { .. }), "{fault}");
    }
    let damaged = unpacked(gzip(b"12345678")[..12].to_vec(), LIMIT).unwrap_err();
    assert!(matches!(damaged, ImageFault::Decompression { codec: "gzip", .. }), "{damaged}");
}
