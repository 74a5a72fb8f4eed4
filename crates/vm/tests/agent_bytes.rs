//! The agent's bytes, by which measurements are known to be of the same probes, do not depend on
//! names, comments and lines: a baseline survives that these change.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on shall end")]

#[allow(dead_code, reason = "a build script uses the rest")]
#[path = "../build/static_program.rs"]
mod static_program;

use std::fs;
use std::path::{Path, PathBuf};

use pathmeter_vm::PATHS;
use static_program::{compile, link};

const LIBRARIES: [&str; 3] = ["probes", "wire", "agent"];
/// Modules of probes that a table names and nothing else does.
const RENAMED: [&str; 5] = ["ipc", "mapping", "network", "poll", "uring"];

/// What a file is called in the copy and what it holds, by its place and its text.
type Edit<'a> = &'a dyn Fn(&Path, &str) -> (PathBuf, String);

/// Copies the sources of these crates, each changed by `edit`, which has its path and its text.
fn copy(from: &Path, to: &Path, edit: Edit<'_>) {
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let place = to.join(path.file_name().unwrap());
        if path.is_dir() {
            fs::create_dir_all(&place).unwrap();
            copy(&path, &place, edit);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let (place, text) = edit(&place, &fs::read_to_string(&path).unwrap());
            fs::write(place, text).unwrap();
        } else {
            fs::copy(&path, &place).unwrap();
        }
    }
}

/// The program of paths, of these sources.
fn build(crates: &Path, out: &Path) -> Vec<u8> {
    fs::create_dir_all(out).unwrap();
    for (built, library) in LIBRARIES.into_iter().enumerate() {
        let root = crates.join(library).join("src/lib.rs");
        compile(crates, out, library, &root, &LIBRARIES[..built], &["--crate-type=rlib"]).unwrap();
    }
    let root = crates.join("agent/src/main_paths.rs");
    link(crates, out, ("paths", &root), &LIBRARIES, ("", &[])).unwrap();
    fs::read(out.join("pathmeter_paths")).unwrap()
}

/// A comment more in each file, and other names for some modules, which stand elsewhere then.
fn refactor(path: &Path, text: &str) -> (PathBuf, String) {
    let mut text = format!("//! A comment more.\n//!\n{text}");
    if path.ends_with("probes/src/lib.rs") {
        for name in RENAMED {
            let (line, entry) = (format!("\nmod {name};"), format!("    {name}::PROBES"));
            assert!(text.contains(&line) && text.contains(&entry), "{name}");
            text = text.replace(&line, "").replace(&entry, &format!("    renamed_{name}::PROBES"));
            text = text.replace("\nuse probe::", &format!("\nmod renamed_{name};\nuse probe::"));
        }
    }
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap();
    let is_renamed = path.parent().unwrap().ends_with("probes/src") && RENAMED.contains(&name);
    let place = path.with_file_name(format!("renamed_{name}.rs"));
    (if is_renamed { place } else { path.to_owned() }, text)
}

#[test]
fn a_comment_and_another_name_change_no_byte_and_another_instruction_does() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let sources = |name: &str, edit: Edit<'_>| {
        let place = folder.path().join(name);
        for library in LIBRARIES {
            let place = place.join(library).join("src");
            fs::create_dir_all(&place).unwrap();
            copy(&crates.join(library).join("src"), &place, edit);
        }
        build(&place, &place.join("out"))
    };
    let refactored = sources("refactored", &refactor);
    assert!(refactored == PATHS, "the agent's bytes depend on a name or on a line");
    let other = sources("other", &|path, text| {
        let is_it = path.ends_with("agent/src/runtime.rs");
        let exit = if is_it { "sys::exit(102)" } else { "sys::exit(101)" };
        (path.to_owned(), text.replace("sys::exit(101)", exit))
    });
    assert!(other != PATHS, "another instruction has the same bytes");
    let has = |bytes: &[u8], text: &[u8]| bytes.windows(text.len()).any(|part| part == text);
    assert!(!has(PATHS, b".rs\0"), "a place in the source is in the agent");
}
