//! A program, a library that one needs, `ld.so.conf`, a kernel module, and a debug file. Nothing is
//! packed beside the parents that it needs, and what is refused is named.
#![no_main]
#![allow(unreachable_pub, reason = "the tests' helpers are a module here")]

use std::ffi::OsString;
use std::fs::File;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use pathmeter_fuzz::InMemory;
use pathmeter_pack::modules::modules;
use pathmeter_pack::{Code, DebugMarks, PackError, PackedEntry, Packing, RESERVED, pack};

#[path = "../../../crates/pack/tests/common/mod.rs"]
mod common;

use common::{Elf, LIBRARY, PROGRAM, Root, at, name};

/// With a program that needs a library, and what the seeds need.
static ROOT: LazyLock<Root> = LazyLock::new(|| {
    let root = Root::with_loader();
    root.elf("/bin/library", &LIBRARY);
    root.elf("/bin/env", &LIBRARY);
    root.elf("/opt/libb.so", &LIBRARY);
    root.elf("/lib/libb.so", &LIBRARY);
    root.elf("/bin/program", &Elf { needed: &["liba.so", "libb.so"], ..PROGRAM });
    root
});

fuzz_target!(|bytes: &[u8]| {
    let file = InMemory::new(bytes).expect("a file in memory");
    check("/a", &file, "/a");
    check("/bin/program", &file, "/lib/liba.so");
    check("/bin/program", &file, "/etc/ld.so.conf");
    check_code(bytes, &file);
    let names = ["a".to_owned()];
    if let Err(error) = modules(&file.path(), &names, None) {
        assert!(matches!(error, PackError::Package(_) | PackError::NoModule { .. }), "{error}");
    }
});

/// The code and the debug file of what is in memory, and of what is in a file.
fn check_code(bytes: &[u8], file: &InMemory) {
    let file = File::open(file.path()).expect("a file in memory");
    let marks = [Some(DebugMarks::read(bytes)), DebugMarks::of_file(&file)];
    let names = marks.into_iter().flatten().filter_map(|marks| marks.link);
    assert!(names.into_iter().all(|link| !link.name.contains('/')));
    for code in [Code::read(bytes), Code::of_file(&file)].into_iter().flatten() {
        assert!(code.starts().is_sorted());
    }
}

/// Packs `program`, with the file at that path.
fn check(program: &str, file: &InMemory, path: &str) {
    let command = [OsString::from(program)];
    let (root, files) = (Some(ROOT.folder.path()), [at(file.path(), path)]);
    let Ok(packed) =
        pack(&Packing { command: &command, root, files: &files, ..Packing::default() })
    else {
        return;
    };
    let mut folders = vec![""];
    for entry in &packed.entries {
        let name = name(entry);
        let parent = name.rfind('/').map_or("", |end| &name[..end]);
        assert!(folders.contains(&parent) && !RESERVED.contains(&name), "{name}");
        if let PackedEntry::Directory { name, .. } = entry {
            folders.push(name);
        }
    }
    assert_eq!(packed.executable, program);
}
