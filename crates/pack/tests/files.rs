//! Which other files are packed, and where.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;

use common::{Elf, LIBRARY, PROGRAM, Root, at, data, entry, message, target, words};
use pathmeter_pack::{FileArg, Note, PackError, Packed, PackedEntry, Packing, pack};

/// A root with a program that needs nothing, at `/a`.
fn root() -> Root {
    let root = Root::new();
    root.elf("/a", &LIBRARY);
    root
}

fn with(root: &Root, files: &[FileArg]) -> Result<Packed, PackError> {
    root.pack_with(&["/a"], files, &[])
}

/// Packs the host's program `/bin/true`, whose place is the host's.
fn on_host(files: &[FileArg]) -> Result<Packed, PackError> {
    pack(&Packing { command: &words(&["/bin/true"]), files, ..Packing::default() })
}

fn folder(name: &str, mode: u32) -> PackedEntry {
    PackedEntry::Directory { name: name.to_owned(), mode }
}

#[test]
fn a_destination_begins_at_the_last_colon_before_a_slash() {
    let parse = |word: &str| FileArg::parse(word.as_ref());
    let plain = |path: &str| FileArg { source: path.into(), destination: None };
    assert_eq!(parse("a"), plain("a"));
    assert_eq!(parse("a:b"), plain("a:b"));
    assert_eq!(parse(":/b"), plain(":/b"));
    assert_eq!(parse("a:/b"), at("a", "/b"));
    assert_eq!(parse("a:/b:/c"), at("a:/b", "/c"));
}

#[test]
fn files_and_folders_go_where_they_are_asked_to() {
    let (root, more) = (root(), Root::new());
    more.file("one", 0o640, "1");
    more.file("folder/two", 0o600, "2");
    more.file("folder/deep/three", 0o600, "3");
    more.link("folder/link", "../../outside");
    fs::set_permissions(more.path("folder"), fs::Permissions::from_mode(0o2750)).unwrap();
    let files = [at(more.path("one"), "/etc/"), at(more.path("folder"), "/data/x")];
    let packed = with(&root, &files).unwrap();
    assert_eq!(data(&packed, "etc/one"), Some(&b"1"[..]));
    assert_eq!(entry(&packed, "data"), Some(&folder("data", 0o755)));
    assert_eq!(entry(&packed, "data/x"), Some(&folder("data/x", 0o2750)));
    assert_eq!(data(&packed, "data/x/two"), Some(&b"2"[..]));
    assert_eq!(data(&packed, "data/x/deep/three"), Some(&b"3"[..]));
    assert_eq!(target(&packed, "data/x/link"), Some("../../outside"));
}

#[test]
fn without_a_destination_a_file_is_where_the_host_has_it() {
    let more = Root::new();
    more.file("real", 0o644, "1");
    more.link("link", "real");
    let inside = more.folder.path().canonicalize().unwrap();
    let inside = inside.to_str().unwrap().trim_start_matches('/');
    let file = FileArg { source: more.path("link"), destination: None };
    for packed in [on_host(std::slice::from_ref(&file)).unwrap(), with(&root(), &[file]).unwrap()] {
        let link = target(&packed, &format!("{inside}/link"));
        let is_own_file = data(&packed, &format!("{inside}/link")) == Some(b"1");
        assert!(link == Some("real") || is_own_file);
    }
}

#[test]
fn a_later_file_takes_the_place_of_an_earlier_one() {
    let (root, more) = (root(), Root::new());
    root.file("/etc/passwd", 0o644, "root's");
    root.link("/etc/link", "passwd");
    more.file("one", 0o644, "1");
    more.file("two", 0o644, "2");
    let passwd = |name: &str| at(more.path(name), "/etc/passwd");
    let packed = with(&root, &[passwd("one"), passwd("two")]).unwrap();
    assert_eq!(data(&packed, "etc/passwd"), Some(&b"2"[..]));
    let packed = with(&root, &[at(more.path("one"), "/etc/link")]).unwrap();
    assert_eq!(data(&packed, "etc/link"), Some(&b"1"[..]));
    assert_eq!(data(&packed, "etc/passwd"), Some(&b"root's"[..]));
}

#[test]
fn folders_are_merged_with_links_to_folders() {
    let (root, more) = (root(), Root::new());
    root.file("/usr/lib/there", 0o644, "");
    root.link("/lib", "usr/lib");
    more.file("lib/new", 0o644, "1");
    let packed = with(&root, &[at(more.folder.path(), "/")]).unwrap();
    assert_eq!(target(&packed, "lib"), Some("usr/lib"));
    assert_eq!(data(&packed, "usr/lib/new"), Some(&b"1"[..]));
    let packed = with(&root, &[at(more.path("lib/new"), "/lib/x/new")]).unwrap();
    assert_eq!(data(&packed, "usr/lib/x/new"), Some(&b"1"[..]));
}

#[test]
fn a_file_can_be_the_program_or_its_library() {
    let more = Root::new();
    let loader = "/opt/guest-only/loader.so";
    let program = Elf { interpreter: Some(loader), needed: &["libonly.so"], ..PROGRAM };
    more.elf("loader", &LIBRARY);
    more.elf("program", &Elf { rpath: Some("/opt/guest-only"), ..program });
    more.elf("library", &LIBRARY);
    let files = [
        at(more.path("loader"), loader),
        at(more.path("program"), "/opt/guest-only/program"),
        at(more.path("library"), "/opt/guest-only/libonly.so"),
    ];
    let command = words(&["/opt/guest-only/program"]);
    pack(&Packing { command: &command, files: &files, ..Packing::default() }).unwrap();
    let error = pack(&Packing { command: &command, files: &files[..2], ..Packing::default() });
    assert!(message(&error.unwrap_err()).contains("libonly.so"));
}

#[test]
fn what_is_no_file_is_left_out_with_a_note() {
    let (root, more) = (root(), Root::new());
    more.file("folder/one", 0o644, "");
    let _socket = UnixListener::bind(more.path("folder/socket")).unwrap();
    let name: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"\xff");
    fs::write(more.path("folder").join(name), "").unwrap();
    std::os::unix::fs::symlink(name, more.path("folder/to-it")).unwrap();
    let packed = with(&root, &[at(more.path("folder"), "/f")]).unwrap();
    let path = |name: &str| more.path("folder").join(name).to_str().unwrap().to_owned();
    let expected = [
        Note::Special(path("socket")),
        Note::NotUtf8(path("to-it")),
        Note::NotUtf8(path("\u{fffd}")),
    ];
    assert_eq!(packed.notes, expected);
    assert!(data(&packed, "f/one").is_some());
    let error = with(&root, &[at(more.path("folder/socket"), "/f")]).unwrap_err();
    assert!(matches!(error, PackError::NotRegular { .. }));
}

#[test]
fn a_link_that_leads_to_nothing_in_the_guest_is_noted() {
    let more = Root::new();
    more.link("folder/link", "/no/such/file");
    more.link("folder/to-device", "/dev/null");
    let packed = on_host(&[at(more.path("folder"), "/f")]).unwrap();
    assert_eq!(packed.notes, [Note::Dangling("/f/link".to_owned())]);
    // Of many some are named.
    for name in ["folder/a", "folder/b", "folder/c", "folder/d"] {
        more.link(name, "/no/such/file");
    }
    let packed = on_host(&[at(more.path("folder"), "/f")]).unwrap();
    let named = ["/f/a", "/f/b", "/f/c"].map(|link| Note::Dangling(link.to_owned()));
    assert_eq!(packed.notes, [&named[..], &[Note::MoreDangling(2)]].concat());
}

#[test]
fn the_agents_names_are_refused_and_a_roots_own_are_replaced() {
    let (root, more) = (root(), Root::new());
    more.file("one", 0o644, "1");
    for name in ["/init", "/plan", "/plan/below", "/x/../init"] {
        let error = with(&root, &[at(more.path("one"), name)]).unwrap_err();
        assert!(matches!(error, PackError::Reserved { .. }), "{error}");
    }
    root.file("/init", 0o755, "root's own");
    root.file("/plan/data", 0o755, "root's own");
    let packed = root.pack(&["/a"]).unwrap();
    let notes = ["/init", "/plan"].map(|path| Note::Replaced(path.to_owned()));
    assert_eq!(packed.notes, notes);
    assert_eq!((entry(&packed, "init"), entry(&packed, "plan")), (None, None));
}

#[test]
fn files_where_the_kernels_are_mounted_are_refused_and_a_roots_are_left_out() {
    let (root, more) = (root(), Root::new());
    more.file("one", 0o644, "1");
    let error = with(&root, &[at(more.path("one"), "/proc/x")]).unwrap_err();
    assert!(matches!(error, PackError::Hidden { .. }), "{error}");
    root.file("/dev/file", 0o644, "");
    fs::create_dir(root.path("/proc")).unwrap();
    let packed = root.pack(&["/a"]).unwrap();
    assert_eq!(packed.notes, [Note::Hidden("/dev".to_owned())]);
    assert_eq!(entry(&packed, "dev/file"), None);
}

#[test]
fn two_kinds_for_one_path_are_refused() {
    let (root, more) = (root(), Root::new());
    root.file("/etc/file", 0o644, "");
    root.file("/etc/folder/x", 0o644, "");
    more.file("one", 0o644, "1");
    more.link("links/folder", "x");
    let cases = [
        (
            at(more.path("one"), "/etc/folder"),
            "a file was to be packed there, and there is a folder",
        ),
        (
            at(more.path("links"), "/etc/file"),
            "a folder was to be packed there, and there is a file",
        ),
        (at(more.path("links"), "/etc"), "a link was to be packed there, and there is a folder"),
        (at(more.path("one"), "/etc/file/one"), "/etc/file is no folder"),
    ];
    for (file, reason) in cases {
        let error = message(&with(&root, &[file]).unwrap_err());
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn a_source_or_destination_that_cannot_be_is_refused() {
    let (root, more) = (root(), Root::new());
    let huge = fs::File::create(more.path("huge")).unwrap();
    huge.set_len((1 << 30) + 1).unwrap();
    more.file("one", 0o644, "1");
    let cases = [
        (at(more.path("no"), "/x"), "no such file"),
        (at(more.path("huge"), "/x"), "1073741825 bytes, and at most 1073741824"),
        (at("/proc/version", "/x"), "its size changed while it was read"),
        (at("/proc/self/mem", "/x"), "cannot read"),
        (at("/dev/null", "/x"), "not a regular file"),
        (at(more.path("one"), "x"), "not an absolute path"),
        (at(more.path("one"), &format!("/{}", "x/".repeat(2048))), "the path is too long"),
    ];
    for (file, reason) in cases {
        let error = message(&with(&root, &[file]).unwrap_err());
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn the_standard_input_has_a_place_of_its_own() {
    let (root, more) = (root(), Root::new());
    more.file("input", 0o600, "in");
    more.link("link", "input");
    let command = words(&["/a"]);
    let (stdin, bad) = (more.path("link"), more.path("no"));
    let packing =
        Packing { command: &command, root: Some(root.folder.path()), ..Packing::default() };
    let packed = pack(&Packing { stdin: Some(&stdin), ..packing }).unwrap();
    let path = packed.stdin.clone().unwrap();
    assert_eq!(data(&packed, path.trim_start_matches('/')), Some(&b"in"[..]));
    assert_eq!(root.pack(&["/a"]).unwrap().stdin, None);
    for bad in [&*bad, more.folder.path()] {
        message(&pack(&Packing { stdin: Some(bad), ..packing }).unwrap_err());
    }
}

#[test]
fn what_every_program_expects_is_there_unless_it_is_given() {
    let root = root();
    let packed = root.pack(&["/a"]).unwrap();
    for (name, mode) in [("tmp", 0o1777), ("var/tmp", 0o1777), ("dev/shm", 0o1777), ("root", 0o700)]
    {
        assert_eq!(entry(&packed, name), Some(&folder(name, mode)));
    }
    assert!(data(&packed, "etc/passwd").unwrap().starts_with(b"root:x:0:0:"));
    assert!(data(&packed, "etc/localtime").unwrap().ends_with(b"\nUTC0\n"));
    root.file("/etc/passwd", 0o644, "own");
    root.link("/etc/localtime", "nowhere");
    root.link("/var", "tmp");
    let packed = root.pack(&["/a"]).unwrap();
    assert_eq!(data(&packed, "etc/passwd"), Some(&b"own"[..]));
    assert_eq!(target(&packed, "etc/localtime"), Some("nowhere"));
    assert_eq!((target(&packed, "var"), entry(&packed, "var/tmp")), (Some("tmp"), None));
}

#[test]
fn no_link_leads_out_of_a_root() {
    const SECRET: &str = "of the host";
    let outside = Root::new();
    outside.elf("a", &LIBRARY);
    outside.file("secret", 0o755, SECRET);
    let root = Root::new();
    let up = format!("{}{}", "../".repeat(30), outside.path("a").display());
    root.link("/up", &up);
    root.link("/absolute", outside.path("a"));
    root.link("/folder", outside.folder.path());
    root.link("/top", "/..");
    for path in ["/up", "/absolute", "/folder/a", "/top/folder/a", "/top/../up", "/bin/ls"] {
        let error = root.pack(&[path]).unwrap_err();
        assert!(matches!(error, PackError::Missing { .. }), "{path}: {error}");
    }
    // The same path in the root is what the links lead to.
    root.elf(outside.path("a").to_str().unwrap(), &LIBRARY);
    for path in ["/up", "/absolute", "/folder/a", "/top/folder/a", "/top/../up"] {
        let packed = root.pack(&[path]).unwrap();
        let is_secret = |entry| data(&packed, common::name(entry)) == Some(SECRET.as_bytes());
        assert!(!packed.entries.iter().any(is_secret));
    }
    // An added file follows the root's links, in the root.
    let packed =
        root.pack_with(&["/up"], &[at(outside.path("secret"), "/folder/new")], &[]).unwrap();
    let inside = outside.path("new");
    assert!(data(&packed, inside.to_str().unwrap().trim_start_matches('/')).is_some());
    assert!(!inside.exists());
}

#[test]
fn a_file_takes_the_place_of_a_folder_that_only_the_host_has() {
    let more = Root::new();
    more.file("folder/inside", 0o644, "1");
    let place = more.path("folder").canonicalize().unwrap();
    let to = place.to_str().unwrap();
    let packing = |files: &[FileArg]| {
        let command = words(&[to]);
        pack(&Packing { command: &command, files, ..Packing::default() })
    };
    let packed = packing(&[at("/bin/true", to)]).unwrap();
    assert_eq!(packed.executable, to);
    assert!(data(&packed, to.trim_start_matches('/')).is_some());
    // A folder that is packed has files that the user asked for.
    let both = [FileArg { source: place.clone(), destination: None }, at("/bin/true", to)];
    assert!(matches!(packing(&both), Err(PackError::Collision { .. })));
}
