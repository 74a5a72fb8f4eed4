//! Which program is packed, and which are refused and why.

mod common;

use std::collections::BTreeMap;

use common::{Elf, LIBRARY, LIBRARY_32, PROGRAM, Root, data, entry, message, target, words};
use pathmeter_pack::{PackError, Packed, PackedEntry, Packing, pack};

#[test]
fn the_hosts_ls_brings_its_loader_and_libc() {
    let command = words(&["/bin/ls", "-l", "a b"]);
    let packed = pack(&Packing { command: &command, ..Packing::default() }).unwrap();
    assert_eq!(packed.executable, "/bin/ls");
    assert_eq!(packed.arguments, [&b"/bin/ls"[..], b"-l", b"a b"]);
    let has = |part: &str| packed.entries.iter().any(|entry| common::name(entry).contains(part));
    assert!(has("ld-linux-x86-64.so.2") && has("libc.so.6"), "{:?}", packed.notes);
    let by_name = words(&["ls", "-l", "a b"]);
    let named = pack(&Packing { command: &by_name, ..Packing::default() }).unwrap();
    assert_eq!(named.arguments[0], b"ls");
    assert!(named.executable.ends_with("/ls"), "{}", named.executable);
}

#[test]
fn the_hosts_programs_stay_where_they_are() {
    let root = Root::new();
    root.elf("bin/real", &LIBRARY);
    root.link("link", "bin/real");
    let path = root.path("bin/../link");
    let command = [path.into_os_string()];
    let packed = pack(&Packing { command: &command, ..Packing::default() }).unwrap();
    let folder = root.folder.path().canonicalize().unwrap();
    let inside = folder.to_str().unwrap().trim_start_matches('/');
    assert_eq!(packed.executable, format!("/{inside}/link"));
    assert_eq!(target(&packed, &format!("{inside}/link")), Some("bin/real"));
    assert!(data(&packed, &format!("{inside}/bin/real")).is_some());
}

#[test]
fn a_program_is_looked_for_in_its_root() {
    let root = Root::new();
    root.file("/usr/local/bin/a", 0o644, "not executable");
    root.elf("/usr/bin/a", &LIBRARY);
    assert_eq!(root.pack(&["a"]).unwrap().executable, "/usr/bin/a");
    assert_eq!(root.pack(&["usr/./bin/a"]).unwrap().executable, "/usr/bin/a");
    assert_eq!(root.pack(&["usr/../../usr/bin/a"]).unwrap().executable, "/usr/bin/a");
    assert!(root.fault(&["ls"]).starts_with("ls: no such program in /usr/local/sbin:"));
}

#[test]
fn what_is_no_program_is_refused_with_a_reason() {
    let root = Root::new();
    root.file("/a/text", 0o755, "text");
    root.file("/a/data", 0o644, LIBRARY.bytes());
    root.file("/a/empty", 0o755, "");
    root.elf("/a/object.o", &Elf { kind: 1, ..LIBRARY });
    root.elf("/a/arm", &Elf { machine: 183, ..LIBRARY });
    root.elf("/a/x32", &Elf { machine: 62, ..LIBRARY_32 });
    root.file("/a/cut", 0o755, &PROGRAM.bytes()[..100]);
    root.link("/a/dangling", "nowhere");
    root.link("/a/circle", "circle");
    let cases = [
        ("/a", "a folder, not a program"),
        ("/a/text", "neither an ELF file nor a script"),
        ("/a/empty", "neither an ELF file nor a script"),
        ("/a/data", "not executable"),
        ("/a/object.o", "no program"),
        ("/a/arm", "made for aarch64 (arm64), not x86"),
        ("/a/x32", "made for x32, not x86"),
        ("/a/cut", "damaged: its program headers are outside the file"),
        ("/a/dangling", "no such file"),
        ("/a/missing", "no such file"),
        ("/a/text/below", "/a/text is no folder"),
        ("/a/circle", "lead in a circle"),
        ("/init", "pathmeter's own agent"),
    ];
    for (path, reason) in cases {
        let error = root.fault(&[path]);
        assert!(error.starts_with(path) && error.contains(reason), "{error}");
    }
    let none = pack(&Packing::default()).unwrap_err();
    assert!(matches!(none, PackError::NoProgram));
    assert!(matches!(root.pack(&[""]).unwrap_err(), PackError::NoProgram));
    assert!(message(&root.pack(&["/a/\u{1b}[31m"]).unwrap_err()).contains("\\u{1b}[31m"));
}

#[test]
fn five_scripts_may_be_each_others_interpreters() {
    let root = Root::new();
    root.elf("/e0", &LIBRARY);
    for number in 1..=6 {
        root.file(&format!("/e{number}"), 0o755, format!("#!/e{} -x\n", number - 1));
    }
    root.pack(&["/e5"]).unwrap();
    let error = root.fault(&["/e6"]);
    assert!(error.starts_with("/e1: its #! line is one too many"), "{error}");
    root.file("/circle", 0o755, "#!/circle\n");
    assert!(root.fault(&["/circle"]).contains("one too many"));
}

#[test]
fn an_interpreter_must_be_a_program_that_is_there() {
    let root = Root::new();
    root.file("/script", 0o755, "#!/bin/sh\n");
    assert_eq!(root.fault(&["/script"]), "/script needs the interpreter /bin/sh, which is missing");
    root.file("/bin/sh", 0o644, LIBRARY.bytes());
    assert_eq!(root.fault(&["/script"]), "/bin/sh: not executable");
    root.file("/script", 0o755, "#!sh\n");
    assert!(root.fault(&["/script"]).contains("relative path"));
    root.file("/script", 0o755, format!("#!/{}\n", "a".repeat(300)));
    assert!(root.fault(&["/script"]).contains("is cut"));
}

#[test]
fn what_env_starts_must_be_in_the_guests_path() {
    let root = Root::new();
    root.elf("/usr/bin/env", &LIBRARY);
    root.file("/script", 0o755, "#!/usr/bin/env -S A=1 tool -x\n");
    let error = root.fault(&["/script"]);
    assert!(error.starts_with("/script needs the program tool, which is in none of /usr/local"));
    root.elf("/opt/tool", &Elf { needed: &["liba.so"], ..PROGRAM });
    let env = [("PATH", "/bin:/opt")];
    let error = root.pack_with(&["/script"], &[], &env).unwrap_err();
    assert!(message(&error).starts_with("/opt/tool needs the dynamic loader"));
    root.elf("/opt/tool", &LIBRARY);
    root.pack_with(&["/script"], &[], &env).unwrap();
}

#[test]
fn a_script_of_the_host_brings_its_interpreter() {
    let root = Root::new();
    root.file("script", 0o755, "#!/usr/bin/env sh\n");
    let command = [root.path("script").into_os_string()];
    let packed = pack(&Packing { command: &command, ..Packing::default() }).unwrap();
    let sh = packed.entries.iter().any(|entry| common::name(entry).ends_with("bin/sh"));
    let env = packed.entries.iter().any(|entry| common::name(entry).ends_with("bin/env"));
    assert!(sh && env);
}

#[test]
fn the_environment_is_the_default_one_with_what_was_given() {
    let root = Root::new();
    root.elf("/a", &LIBRARY);
    let env = [("HOME", "/x"), ("A", "1=2"), ("A", "3")];
    let packed = root.pack_with(&["/a"], &[], &env).unwrap();
    let text: Vec<_> =
        packed.environment.iter().map(|each| String::from_utf8_lossy(each)).collect();
    let expected = [
        "A=3",
        "HOME=/x",
        "LANG=C.UTF-8",
        "LOGNAME=root",
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "PWD=/tmp",
        "TERM=dumb",
        "TZ=UTC",
        "USER=root",
    ];
    assert_eq!(text, expected);
    for bad in [("", "a"), ("a=b", "c"), ("a", "b\0")] {
        assert!(matches!(root.pack_with(&["/a"], &[], &[bad]), Err(PackError::Word { .. })));
    }
    assert!(matches!(root.pack(&["/a", "b\0c"]), Err(PackError::Word { .. })));
}

#[test]
fn the_same_files_give_the_same_result_and_modes_are_kept() {
    let make = || {
        let root = Root::with_loader();
        root.elf("/bin/program", &Elf { needed: &["liba.so"], ..PROGRAM });
        root.elf("/lib/liba.so", &LIBRARY);
        root.file("/bin/setuid", 0o4755, "x");
        std::fs::hard_link(root.path("/bin/setuid"), root.path("/bin/hard")).unwrap();
        root.link("/bin/link", "program");
        let packed = root.pack(&["/bin/program"]).unwrap();
        // Where the host has what is not made by pathmeter.
        assert_eq!(packed.sources["bin/program"], root.path("/bin/program"));
        assert_eq!(packed.sources.get("etc/passwd"), None);
        Packed { sources: BTreeMap::new(), ..packed }
    };
    let packed = make();
    assert_eq!(packed, make());
    let setuid =
        |name: &str| PackedEntry::File { name: name.to_owned(), mode: 0o4755, data: b"x".to_vec() };
    for name in ["bin/setuid", "bin/hard"] {
        assert_eq!(entry(&packed, name), Some(&setuid(name)));
    }
    let names: Vec<_> = packed.entries.iter().map(common::name).collect();
    assert!(names.is_sorted());
    let files = packed.entries.iter().filter(|entry| matches!(entry, PackedEntry::File { .. }));
    assert_eq!(packed.files, files.count() as u64);
}
