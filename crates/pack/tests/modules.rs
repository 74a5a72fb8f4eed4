//! Modules are found with what they need, in the order in which they must be loaded.

#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

mod common;

use std::io::Write as _;
use std::path::Path;

use common::{Root, message};
use pathmeter_pack::PackError;
use pathmeter_pack::modules::{Module, modules};

const RELEASE: &str = "6.1.0-test";

/// A module's ELF file: header, `.modinfo`, names of sections, three section headers.
fn module(texts: &[&str]) -> Vec<u8> {
    let info: Vec<u8> = texts.iter().flat_map(|text| [text.as_bytes(), b"\0"].concat()).collect();
    let names = b"\0.modinfo\0.shstrtab\0";
    let (info_at, names_at) = (64, 64 + info.len());
    let sections_at = names_at + names.len();
    let mut out = b"\x7fELF\x02\x01\x01".to_vec();
    out.resize(16, 0);
    out.extend([1_u16.to_le_bytes(), 62_u16.to_le_bytes()].concat());
    out.extend(1_u32.to_le_bytes());
    let places = [0, 0, sections_at as u64];
    out.extend(places.iter().flat_map(|place| place.to_le_bytes()));
    out.extend(0_u32.to_le_bytes());
    out.extend([64_u16, 0, 0, 64, 3, 2].iter().flat_map(|half| half.to_le_bytes()));
    out.extend([&info[..], names].concat());
    let section = |name: u32, kind: u32, at: usize, size: usize| {
        let fields = [0, 0, at as u64, size as u64, 0, 1, 0];
        let fields = fields.iter().flat_map(|field: &u64| field.to_le_bytes());
        [name.to_le_bytes(), kind.to_le_bytes()].concat().into_iter().chain(fields).collect()
    };
    let headers: [Vec<u8>; 3] = [
        section(0, 0, 0, 0),
        section(1, 1, info_at, info.len()),
        section(10, 3, names_at, names.len()),
    ];
    [out, headers.concat()].concat()
}

/// A module that needs these others.
fn needing(depends: &str) -> Vec<u8> {
    let magic = format!("vermagic={RELEASE} SMP preempt mod_unload ");
    module(&["license=GPL", &format!("depends={depends}"), &magic])
}

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// A kernel's package with these files.
fn package(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (path, data) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(data.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, path, &data[..]).unwrap();
    }
    archive.into_inner().unwrap()
}

fn find(source: &Path, wanted: &[&str]) -> Result<Vec<Module>, PackError> {
    let names: Vec<String> = wanted.iter().map(|name| (*name).to_owned()).collect();
    modules(source, &names, Some(RELEASE))
}

fn names(modules: &[Module]) -> Vec<&str> {
    modules.iter().map(|module| &*module.name).collect()
}

fn fault(source: &Path, wanted: &[&str]) -> String {
    message(&find(source, wanted).unwrap_err())
}

/// Modules with needs, and a list of those that are part of the kernel.
fn files() -> Vec<(String, Vec<u8>)> {
    // Longer than a tar header has room for.
    let long = format!("kernel/{}", "long/".repeat(20));
    let files = [
        ("kernel/fs/top-level.ko".to_owned(), needing("middle,low-level")),
        (format!("{long}middle.ko.gz"), gzip(&needing("low_level"))),
        ("kernel/lib/low_level.ko".to_owned(), needing("")),
        ("kernel/lib/one.ko".to_owned(), needing("two")),
        ("kernel/lib/two.ko".to_owned(), needing("one")),
        ("kernel/lib/lonely.ko".to_owned(), needing("missing")),
        ("modules.builtin".to_owned(), b"kernel/fs/built-in.ko\n".to_vec()),
    ];
    files.map(|(path, data)| (format!("lib/modules/{RELEASE}/{path}"), data)).to_vec()
}

fn folder() -> Root {
    let root = Root::new();
    for (path, data) in files() {
        root.file(&path, 0o644, data);
    }
    root
}

#[test]
fn modules_come_after_those_that_they_need() {
    let root = folder();
    root.file("package.tar", 0o644, package(&files()));
    for source in [root.path("lib"), root.path("package.tar")] {
        let found = find(&source, &["top_level"]).unwrap();
        assert_eq!(names(&found), ["low_level", "middle", "top_level"]);
        assert_eq!(found[1].bytes, needing("low_level"));
        let found = find(&source, &["low-level", "built_in", "middle", "low_level"]).unwrap();
        assert_eq!(names(&found), ["low_level", "middle"]);
        assert_eq!(find(&source, &[]).unwrap(), []);
        let error = fault(&source, &["lonely"]);
        assert!(error.contains("no module missing"), "{error}");
        assert!(fault(&source, &["no"]).contains("no module no"));
        assert_eq!(fault(&source, &["one"]), "these modules need each other: one, two");
    }
}

/// A module with more to state.
fn stating(texts: &[&str]) -> Vec<u8> {
    let magic = format!("vermagic={RELEASE} SMP ");
    module(&[texts, &[&magic]].concat())
}

#[test]
fn what_a_module_prefers_comes_before_it_if_it_is_there() {
    let root = Root::new();
    let file = |name: &str, texts: &[&str]| root.file(&format!("{name}.ko"), 0o644, stating(texts));
    file("top", &["softdep=pre: named sum-256 built-in no post: after", "depends=lib"]);
    file("lib", &["softdep=pre: top"]);
    file("named", &["depends=below,absent"]);
    file("below", &[]);
    file("after", &[]);
    file("sum_avx", &["alias=sum_256", "alias=other"]);
    file("sum_generic", &["alias=sum-256"]);
    file("unlike", &["alias=built_in"]);
    root.file("modules.builtin.modinfo", 0o644, "x.alias=built-in\0x.license=GPL\0");
    let found = find(root.folder.path(), &["top"]).unwrap();
    assert_eq!(names(&found), ["below", "named", "sum_generic", "lib", "top"]);
    let optional: Vec<_> = found.iter().map(|module| module.optional).collect();
    assert_eq!(optional, [true, true, true, false, false]);
    // What is asked for as well is not optional, and then all that it needs must be there.
    let both = find(root.folder.path(), &["top", "below"]).unwrap();
    assert!(!both[0].optional && both[1].optional);
    assert!(fault(root.folder.path(), &["named", "top"]).contains("no module absent"));
    assert!(fault(root.folder.path(), &["top", "named"]).contains("no module absent"));
}

#[test]
fn a_module_for_another_kernel_is_refused() {
    let root = folder();
    let other = module(&["depends=", "vermagic=6.2.0 SMP "]);
    root.file("lib/modules/6.2.0/other.ko", 0o644, &other);
    let error = fault(&root.path("lib"), &["other"]);
    assert!(error.contains("other.ko is made for the kernel 6.2.0, and this one is 6.1.0-test"));
    let any = modules(&root.path("lib"), &["other".to_owned()], None).unwrap();
    assert_eq!(any[0].bytes, other);
    // Of two by one name the kernel's own is taken, wherever it stands in order.
    root.file("lib/modules/6.2.0/low_level.ko", 0o644, &other);
    root.file("lib/modules/5.0/low_level.ko", 0o644, &other);
    find(&root.path("lib"), &["low_level"]).unwrap();
}

#[test]
fn what_is_no_module_is_refused_with_a_reason() {
    let root = Root::new();
    let cut = &needing("")[..100];
    let cases: [(&str, &[u8], &str); 6] = [
        ("text", b"text", "no ELF object file"),
        ("empty", b"", "no ELF object file"),
        ("cut", cut, "no section .modinfo"),
        ("program", &common::PROGRAM.bytes(), "no ELF object file"),
        ("bare", &module(&["depends="]), "names no kernel"),
        ("packed", &gzip(&needing(""))[..40], "unpacking gzip failed"),
    ];
    for (name, data, reason) in cases {
        root.file(&format!("{name}.ko"), 0o644, data);
        let error = fault(root.folder.path(), &[name]);
        assert!(error.contains(reason), "{error}");
    }
    let zeroes = std::fs::File::create(root.path("huge.ko")).unwrap();
    zeroes.set_len((64 << 20) + 1).unwrap();
    assert!(fault(root.folder.path(), &["huge"]).contains("larger than 64 MiB"));
}

#[test]
fn more_modules_than_the_limit_are_refused() {
    let root = Root::new();
    for number in 0..513 {
        root.file(&format!("m{number}.ko"), 0o644, needing(&format!("m{}", number + 1)));
    }
    assert!(fault(root.folder.path(), &["m0"]).contains("more than 512 modules"));
}

#[test]
fn a_source_that_is_none_is_named() {
    let root = Root::new();
    root.file("text", 0o644, "text");
    let error = find(&root.path("text"), &["a"]).unwrap_err();
    assert!(error.to_string().contains("not a package"), "{error}");
    assert!(fault(&root.path("no"), &["a"]).contains("cannot read"));
}
