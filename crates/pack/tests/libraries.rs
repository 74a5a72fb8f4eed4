//! A program's libraries are those that its loader would take.
//!
//! What a program with a root of its own needs is not seen in what is packed, which is the whole
//! root. So the loader and the library that is to be found are the test's, and a library that is
//! not to be found there needs one that is missing everywhere.

#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

mod common;

use common::{Elf, LIBRARY, LIBRARY_32, LOADER, PROGRAM, Root, at, data, entry, message};
use pathmeter_pack::Note;

/// What a library needs that must not be taken.
const WRONG: Elf<'_> = Elf { needed: &["libwrong.so"], ..LIBRARY };

/// The note of a library that was not found.
fn missing(library: &str, needed_by: &str) -> Note {
    Note::MissingLibrary { library: library.to_owned(), needed_by: needed_by.to_owned() }
}

/// Asserts that of the two folders the library is taken from the first.
fn assert_first(root: &Root, env: &[(&str, &str)], first: &str, second: &str, name: &str) {
    let of = |good: &str, bad: &str| {
        root.elf(&format!("{good}/{name}"), &LIBRARY);
        root.elf(&format!("{bad}/{name}"), &WRONG);
        root.pack_with(&["/bin/program"], &[], env)
    };
    of(first, second).unwrap();
    let error = message(&of(second, first).unwrap_err());
    assert!(error.contains("libwrong.so"), "{first} {second}: {error}");
}

#[test]
fn a_library_that_a_library_needs_must_be_there() {
    let root = Root::with_loader();
    root.elf("/bin/program", &Elf { needed: &["liba.so.1"], ..PROGRAM });
    root.elf("/lib/liba.so.1", &Elf { needed: &["libb.so.2"], ..LIBRARY });
    let error = root.fault(&["/bin/program"]);
    assert!(error.contains("/lib/liba.so.1 needs the library libb.so.2"), "{error}");
    assert!(error.contains("/lib/x86_64-linux-gnu, "), "{error}");
    root.elf("/usr/lib64/libb.so.2", &LIBRARY);
    root.pack(&["/bin/program"]).unwrap();
}

#[test]
fn an_rpath_is_for_what_libraries_need_too_and_a_runpath_is_not() {
    let root = Root::with_loader();
    root.elf("/opt/libb.so", &LIBRARY);
    root.elf("/opt/liba.so", &Elf { needed: &["libb.so"], ..LIBRARY });
    let program = Elf { needed: &["liba.so"], ..PROGRAM };
    root.elf("/bin/program", &Elf { rpath: Some("/opt"), ..program });
    root.pack(&["/bin/program"]).unwrap();
    root.elf("/bin/program", &Elf { runpath: Some("/opt"), ..program });
    let error = root.fault(&["/bin/program"]);
    assert!(error.contains("/opt/liba.so needs the library libb.so"), "{error}");
    // A library with a runpath takes no part in its program's rpath.
    root.elf("/bin/program", &Elf { rpath: Some("/opt"), ..program });
    root.elf("/opt/liba.so", &Elf { needed: &["libb.so"], runpath: Some("/no"), ..LIBRARY });
    let error = root.fault(&["/bin/program"]);
    assert!(error.contains("/opt/liba.so needs the library libb.so, which is in none of /no, "));
    // Nor does an rpath beside a runpath count.
    root.elf("/bin/program", &Elf { rpath: Some("/opt"), runpath: Some("/no"), ..program });
    assert!(root.fault(&["/bin/program"]).contains("liba.so"));
}

#[test]
fn folders_are_searched_in_the_order_of_the_loader() {
    let env = [("LD_LIBRARY_PATH", "relative:/env")];
    let none: [(&str, &str); 0] = [];
    let program = Elf { needed: &["liba.so"], ..PROGRAM };
    let fresh = |program: &Elf<'_>| {
        let root = Root::with_loader();
        root.file("/etc/ld.so.conf", 0o644, "include ld.so.conf.d/*.conf # more\n/second/\n");
        root.file("/etc/ld.so.conf.d/a.conf", 0o644, "/first\n");
        root.file("/etc/ld.so.conf.d/b.other", 0o644, "/never\n");
        root.elf("/bin/program", program);
        root
    };
    let rpath = Elf { rpath: Some("/own"), ..program };
    let runpath = Elf { runpath: Some("/own"), ..program };
    assert_first(&fresh(&rpath), &env, "/own", "/env", "liba.so");
    assert_first(&fresh(&runpath), &env, "/env", "/own", "liba.so");
    assert_first(&fresh(&runpath), &none, "/own", "/first", "liba.so");
    assert_first(&fresh(&program), &none, "/first", "/second", "liba.so");
    assert_first(&fresh(&program), &none, "/second", "/lib/x86_64-linux-gnu", "liba.so");
    assert_first(&fresh(&program), &none, "/lib64", "/usr/lib", "liba.so");
    let root = fresh(&program);
    root.elf("/never/liba.so", &LIBRARY);
    assert!(root.fault(&["/bin/program"]).contains("liba.so"));
}

#[test]
fn tokens_in_search_paths_are_replaced() {
    for path in ["$ORIGIN/../own", "${ORIGIN}/../own", "/opt/$LIB", "/opt/${LIB}/x"] {
        let root = Root::with_loader();
        root.elf("/bin/program", &Elf { needed: &["liba.so"], rpath: Some(path), ..PROGRAM });
        root.elf("/own/liba.so", &LIBRARY);
        root.elf("/opt/lib64/liba.so", &LIBRARY);
        root.elf("/opt/lib64/x/liba.so", &LIBRARY);
        root.pack(&["/bin/program"]).unwrap();
    }
    let root = Root::with_loader();
    root.elf("/bin/program", &Elf { needed: &["$ORIGIN/$PLATFORM/liba.so"], ..PROGRAM });
    root.elf("/bin/x86_64/liba.so", &LIBRARY);
    root.pack(&["/bin/program"]).unwrap();
    root.elf("/bin/program", &Elf { needed: &["own/liba.so"], ..PROGRAM });
    assert!(root.fault(&["/bin/program"]).contains("is named by a relative path"));
}

#[test]
fn a_programs_origin_is_where_its_file_is_not_the_link_to_it() {
    let root = Root::with_loader();
    root.elf("/opt/bin/program", &Elf { needed: &["liba.so"], rpath: Some("$ORIGIN"), ..PROGRAM });
    root.link("/bin/program", "/opt/bin/program");
    root.elf("/opt/bin/liba.so", &LIBRARY);
    root.pack(&["/bin/program"]).unwrap();
}

#[test]
fn a_library_of_another_mode_or_processor_is_passed_over() {
    let root = Root::with_loader();
    root.elf("/bin/program", &Elf { needed: &["liba.so"], ..PROGRAM });
    root.elf("/lib/x86_64-linux-gnu/liba.so", &LIBRARY_32);
    root.elf("/lib64/liba.so", &Elf { machine: 183, ..LIBRARY });
    root.file("/usr/lib64/liba.so", 0o644, "no ELF file");
    assert!(root.fault(&["/bin/program"]).contains("liba.so"));
    root.elf("/usr/lib/liba.so", &LIBRARY);
    root.pack(&["/bin/program"]).unwrap();
}

#[test]
fn a_32_bit_program_has_32_bit_libraries() {
    let root = Root::new();
    let loader = "/lib/ld-linux.so.2";
    root.elf(loader, &LIBRARY_32);
    let program = Elf { interpreter: Some(loader), needed: &["liba.so"], ..LIBRARY_32 };
    root.elf("/bin/program", &program);
    root.elf("/lib32/liba.so", &LIBRARY);
    assert!(root.fault(&["/bin/program"]).contains("/lib/i386-linux-gnu, "));
    root.elf("/lib32/liba.so", &LIBRARY_32);
    root.pack(&["/bin/program"]).unwrap();
}

#[test]
fn what_is_loaded_is_not_looked_for_again() {
    let root = Root::with_loader();
    // By the name that a library has for others; and in a circle.
    root.elf("/bin/program", &Elf { needed: &["/opt/a-1.so", "libb.so"], ..PROGRAM });
    root.elf("/opt/a-1.so", &Elf { soname: Some("liba.so"), needed: &["libb.so"], ..LIBRARY });
    root.elf("/lib/libb.so", &Elf { needed: &["liba.so", "libb.so"], ..LIBRARY });
    root.pack(&["/bin/program"]).unwrap();
}

#[test]
fn the_default_folders_can_be_ruled_out() {
    const NODEFLIB: u64 = 0x800;
    let root = Root::with_loader();
    root.elf("/bin/program", &Elf { needed: &["liba.so"], flags_1: NODEFLIB, ..PROGRAM });
    root.elf("/lib/liba.so", &LIBRARY);
    assert!(root.fault(&["/bin/program"]).contains("liba.so"));
}

#[test]
fn libraries_for_newer_processors_are_left_alone() {
    let root = Root::with_loader();
    root.elf("/bin/program", &Elf { needed: &["liba.so"], ..PROGRAM });
    root.elf("/lib64/glibc-hwcaps/x86-64-v3/liba.so", &LIBRARY);
    assert!(root.fault(&["/bin/program"]).contains("liba.so"));
}

#[test]
fn musl_has_its_own_folders_and_is_its_own_library() {
    let loader = "/lib/ld-musl-x86_64.so.1";
    let root = Root::new();
    root.elf(loader, &LIBRARY);
    let needed = ["libc.so", "libc.musl-x86_64.so.1", "liba.so"];
    root.elf("/bin/program", &Elf { interpreter: Some(loader), needed: &needed, ..PROGRAM });
    root.elf("/usr/local/lib/liba.so", &LIBRARY);
    let packed = root.pack(&["/bin/program"]).unwrap();
    assert_eq!(entry(&packed, "etc/ld.so.cache"), None);
    root.file("/etc/ld-musl-x86_64.path", 0o644, "/opt/one\n/opt/two\n");
    let error = root.fault(&["/bin/program"]);
    assert!(error.ends_with("none of /opt/one, /opt/two"), "{error}");
    // A runpath is for what libraries need, too.
    let program = Elf { interpreter: Some(loader), needed: &["liba.so"], ..PROGRAM };
    root.elf("/bin/program", &Elf { runpath: Some("/own"), ..program });
    root.elf("/own/liba.so", &Elf { needed: &["libb.so"], ..LIBRARY });
    root.elf("/own/libb.so", &LIBRARY);
    root.pack(&["/bin/program"]).unwrap();
}

#[test]
fn what_glibc_loads_later_may_be_missing_or_lack_something() {
    let root = Root::with_loader();
    root.elf("/bin/program", &Elf { needed: &["libc.so.6"], ..PROGRAM });
    root.elf("/lib64/libc.so.6", &Elf { soname: Some("libc.so.6"), ..LIBRARY });
    assert_eq!(root.pack(&["/bin/program"]).unwrap().notes, []);
    root.elf("/lib64/libgcc_s.so.1", &Elf { needed: &["libno.so"], ..LIBRARY });
    let note = missing("libno.so", "/lib64/libgcc_s.so.1");
    assert_eq!(root.pack(&["/bin/program"]).unwrap().notes, [note]);
}

#[test]
fn what_is_preloaded_must_be_there() {
    let root = Root::with_loader();
    root.elf("/bin/program", &PROGRAM);
    let env = [("LD_PRELOAD", "/opt/liba.so libb.so")];
    root.elf("/opt/liba.so", &LIBRARY);
    let error = root.pack_with(&["/bin/program"], &[], &env).unwrap_err();
    assert!(message(&error).contains("libb.so"));
    root.elf("/lib/libb.so", &LIBRARY);
    root.pack_with(&["/bin/program"], &[], &env).unwrap();
}

#[test]
fn the_loaders_cache_names_what_is_outside_a_search_path() {
    let root = Root::with_loader();
    root.file("/etc/ld.so.conf", 0o644, "/conf\n");
    let needed = ["liba.so", "libb.so"];
    root.elf("/bin/program", &Elf { needed: &needed, rpath: Some("/own"), ..PROGRAM });
    root.elf("/own/liba.so", &LIBRARY);
    root.elf("/conf/libb.so", &LIBRARY);
    let packed = root.pack(&["/bin/program"]).unwrap();
    let cache = String::from_utf8_lossy(data(&packed, "etc/ld.so.cache").unwrap());
    assert!(cache.ends_with("\0libb.so\0/conf/libb.so\0"), "{cache:?}");
    root.file("/etc/ld.so.cache", 0o644, "the root's own");
    let packed = root.pack(&["/bin/program"]).unwrap();
    assert_eq!(data(&packed, "etc/ld.so.cache").unwrap(), b"the root's own");
}

#[test]
fn added_files_bring_their_libraries_and_what_is_missing_is_noted() {
    let root = Root::with_loader();
    root.elf("/bin/program", &Elf { rpath: Some("/own"), ..PROGRAM });
    root.elf("/own/liba.so", &LIBRARY);
    let more = Root::new();
    more.elf("one.so", &Elf { needed: &["liba.so", "libno.so"], ..LIBRARY });
    more.elf("other.so", &Elf { machine: 183, needed: &["libnever.so"], ..LIBRARY });
    more.elf("program", &Elf { needed: &["liba.so"], ..PROGRAM });
    let files = [at(more.path("one.so"), "/opt/one.so"), at(more.path("other.so"), "/opt/two")];
    let packed = root.pack_with(&["/bin/program"], &files, &[]).unwrap();
    let note = missing("libno.so", "/opt/one.so");
    assert_eq!(packed.notes, [note]);
    // A program does not take part in the rpath of another.
    let files = [at(more.path("program"), "/opt/program")];
    let error = root.pack_with(&["/bin/program"], &files, &[]).unwrap_err();
    assert!(message(&error).contains("/opt/program needs the library liba.so"));
}

/// A folder as a JDK's: what the launcher loads by its path has no place in any search path.
#[test]
fn a_library_of_that_name_elsewhere_in_a_folder_is_there() {
    let root = Root::with_loader();
    let more = Root::new();
    let launcher = Elf { needed: &["libjli.so"], runpath: Some("$ORIGIN/../lib"), ..PROGRAM };
    more.elf("bin/java", &launcher);
    more.elf("lib/libjli.so", &LIBRARY);
    let needed = ["libjvm.so", "libno.so"];
    more.elf("lib/libjava.so", &Elf { needed: &needed, runpath: Some("$ORIGIN"), ..LIBRARY });
    let notes = |jvm: &Elf<'_>| {
        more.elf("lib/server/libjvm.so", jvm);
        let jdk = at(more.folder.path(), "/jdk");
        root.pack_with(&["/jdk/bin/java"], &[jdk], &[]).unwrap().notes
    };
    let by = "/jdk/lib/libjava.so";
    let no = missing("libno.so", by);
    let jvm = Elf { soname: Some("libjvm.so"), ..LIBRARY };
    assert_eq!(notes(&jvm), std::slice::from_ref(&no));
    // The loader knows a library that was loaded by its path by its own name, not by its file's.
    let both = [missing("libjvm.so", by), no];
    assert_eq!(notes(&LIBRARY), both);
    assert_eq!(notes(&Elf { soname: Some("libjvm.so"), ..LIBRARY_32 }), both);
    // musl's does not.
    let loader = "/lib/ld-musl-x86_64.so.1";
    root.elf(loader, &LIBRARY);
    more.elf("bin/java", &Elf { interpreter: Some(loader), rpath: Some("/jdk/lib"), ..launcher });
    assert_eq!(notes(&jvm), both);
}

#[test]
fn what_a_program_in_a_folder_lacks_is_noted_and_is_an_error_if_it_was_named() {
    let root = Root::with_loader();
    root.elf("/bin/program", &PROGRAM);
    let more = Root::new();
    let loader = Some("/lib/ld-linux.so.2");
    more.elf("bin/helper", &Elf { interpreter: loader, needed: &["libc.so.6"], ..LIBRARY_32 });
    more.elf("bin/arm", &Elf { machine: 40, ..LIBRARY_32 });
    more.elf("bin/lacking", &Elf { needed: &["libno.so", "liba.so"], ..PROGRAM });
    more.elf("lib/lib32.so", &Elf { needed: &["libc.so.6"], ..LIBRARY_32 });
    root.elf("/lib/liba.so", &Elf { needed: &["libalso.so"], ..LIBRARY });
    let packed = root.pack_with(&["/bin/program"], &[at(more.folder.path(), "/opt")], &[]).unwrap();
    let no_loader = "/opt/bin/helper needs the dynamic loader /lib/ld-linux.so.2, which is missing";
    assert_eq!(
        packed.notes,
        [
            missing("libalso.so", "/lib/liba.so"),
            Note::Incomplete(no_loader.to_owned()),
            missing("libno.so", "/opt/bin/lacking"),
            missing("libc.so.6", "/opt/lib/lib32.so"),
        ]
    );
    for name in ["opt/bin/helper", "opt/bin/arm", "opt/bin/lacking", "opt/lib/lib32.so"] {
        assert!(data(&packed, name).is_some(), "{name} is not packed");
    }
    let named = at(more.path("bin/helper"), "/opt/helper");
    let error = root.pack_with(&["/bin/program"], &[named], &[]).unwrap_err();
    assert_eq!(message(&error), no_loader.replace("bin/", ""));
    // With its loader and its libraries the helper is whole.
    root.elf("/lib/ld-linux.so.2", &LIBRARY_32);
    root.elf("/lib/libc.so.6", &LIBRARY_32);
    let packed = root.pack_with(&["/bin/program"], &[at(more.folder.path(), "/opt")], &[]).unwrap();
    assert_eq!(
        packed.notes,
        [missing("libalso.so", "/lib/liba.so"), missing("libno.so", "/opt/bin/lacking")]
    );
}

#[test]
fn a_loader_must_be_there_and_of_the_programs_mode() {
    let root = Root::new();
    root.elf("/bin/program", &PROGRAM);
    let error = format!("/bin/program needs the dynamic loader {LOADER}, which is missing");
    assert_eq!(root.fault(&["/bin/program"]), error);
    root.elf(LOADER, &LIBRARY_32);
    assert_eq!(root.fault(&["/bin/program"]), error);
    root.elf("/bin/program", &Elf { interpreter: Some("lib/loader"), ..PROGRAM });
    assert!(root.fault(&["/bin/program"]).contains("lib/loader"));
}
