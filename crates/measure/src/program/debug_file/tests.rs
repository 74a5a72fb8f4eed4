use std::fs;

use tempfile::TempDir;

use super::*;

const BUILD_ID: [u8; 4] = [0xab, 0xcd, 0xef, 0x01];

/// An ELF file of sections only: a build id, and a link to a debug file.
fn elf(build_id: &[u8], link: Option<(&str, u32)>) -> Vec<u8> {
    let names = b"\0.names\0.note.gnu.build-id\0.gnu_debuglink\0";
    let bytes = u32::try_from(build_id.len()).unwrap();
    let mut note: Vec<u8> = [4, bytes, 3].map(u32::to_le_bytes).concat();
    note.extend([b"GNU\0", build_id].concat());
    note.resize(note.len().next_multiple_of(4), 0);
    let (name, crc32) = link.unwrap_or_default();
    let mut of_link = name.as_bytes().to_vec();
    of_link.resize((name.len() / 4 + 1) * 4, 0);
    of_link.extend(crc32.to_le_bytes());
    // Each section: its name, its type, and what is in it.
    let mut sections: Vec<(u32, u32, &[u8])> = vec![(0, 0, b""), (1, 3, names)];
    sections.extend((!build_id.is_empty()).then_some((8, 7, &*note)));
    sections.extend(link.map(|_| (27, 1, &*of_link)));
    let bytes: usize = sections.iter().map(|it| it.2.len()).sum();
    let mut elf = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    elf.extend([3_u16, 62].map(u16::to_le_bytes).concat());
    elf.extend(1_u32.to_le_bytes());
    elf.extend([0, 0, 64 + bytes as u64].map(u64::to_le_bytes).concat());
    elf.extend(0_u32.to_le_bytes());
    let counts = [64, 0, 0, 64, u16::try_from(sections.len()).unwrap(), 1];
    elf.extend(counts.map(u16::to_le_bytes).concat());
    for (_, _, data) in &sections {
        elf.extend_from_slice(data);
    }
    let mut at = 64;
    for (name, kind, data) in sections {
        let length = data.len() as u64;
        elf.extend([name, kind].map(u32::to_le_bytes).concat());
        elf.extend([0, 0, at, length, 0, 4, 0].map(u64::to_le_bytes).concat());
        at += length;
    }
    elf
}

/// A root folder with the program `opt/program`, and what is found for it.
struct Root {
    folder: TempDir,
    program: Vec<u8>,
}

impl Root {
    fn of(program: Vec<u8>) -> Self {
        let root = Self { folder: tempfile::tempdir().unwrap(), program };
        root.write("opt/program", &root.program);
        root
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, data: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, data).unwrap();
        path
    }

    fn find(&self) -> DebugFile {
        let source = self.path("opt/program");
        let (name, data) = ("opt/program", &*self.program);
        DebugFile::find(&PackedFile { name, data, source: Some(&source) })
    }

    /// Why the only file that could be the debug file is not used.
    fn why(&self) -> String {
        let found = self.find();
        assert_eq!(found.path, None);
        let [(_, why)] = &found.unused[..] else { panic!("{found:?}") };
        why.clone()
    }
}

/// A program with a link to this debug file.
fn linked(build_id: &[u8], debug: &[u8]) -> Root {
    Root::of(elf(build_id, Some(("program.debug", crc32fast::hash(debug)))))
}

#[test]
fn a_link_leads_to_where_gdb_looks_for_it() {
    let places =
        ["opt/program.debug", "opt/.debug/program.debug", "usr/lib/debug/opt/program.debug"];
    for place in places {
        for build_id in [&BUILD_ID[..], &[]] {
            let debug = elf(build_id, None);
            let root = linked(build_id, &debug);
            assert_eq!(root.find(), DebugFile::default(), "nothing is there");
            let path = root.write(place, &debug);
            let found = root.find();
            assert_eq!((found.path, found.unused), (Some(path), vec![]), "{place}");
        }
    }
}

#[test]
fn a_file_of_another_place_in_the_guest_has_its_debug_file_beside_it() {
    let debug = elf(&[], None);
    let root = linked(&[], &debug);
    let path = root.write("opt/.debug/program.debug", &debug);
    let source = root.path("opt/program");
    let data = &*root.program;
    let file = PackedFile { name: "bin/renamed", data, source: Some(&source) };
    assert_eq!(DebugFile::find(&file).path, Some(path));
    // What pathmeter makes itself is in no folder.
    let file = PackedFile { name: "bin/renamed", data, source: None };
    assert_eq!(DebugFile::find(&file), DebugFile::default());
}

#[test]
fn a_build_id_leads_to_its_debug_file_before_a_link_does() {
    let debug = elf(&BUILD_ID, None);
    let root = linked(&BUILD_ID, &debug);
    root.write("opt/program.debug", &debug);
    let path = root.write("usr/lib/debug/.build-id/ab/cdef01.debug", &debug);
    assert_eq!(root.find().path, Some(path.clone()));
    // A newer file of the same build: what was read of it may be another.
    let before = root.find();
    fs::write(&path, [&debug[..], b"more"].concat()).unwrap();
    assert_ne!(root.find(), before);
    // The file by build id comes from another build, so the link decides.
    fs::write(&path, elf(&[1, 2], None)).unwrap();
    assert_eq!(root.find().path, Some(root.path("opt/program.debug")));
    fs::remove_file(root.path("opt/program.debug")).unwrap();
    assert_eq!(root.why(), "its build id is 0102, and not abcdef01");
    fs::write(&path, elf(&[], None)).unwrap();
    assert_eq!(root.why(), "it has no build id, and not abcdef01");
}

#[test]
fn a_foreign_debug_file_is_told_and_not_used() {
    let debug = elf(&BUILD_ID, None);
    let changed = [&debug[..], b"!"].concat();
    let (has, wanted) = (crc32fast::hash(&changed), crc32fast::hash(&debug));
    let root = linked(&BUILD_ID, &debug);
    root.write("opt/program.debug", &changed);
    let told = format!("its CRC-32 is {has:08x}, and .gnu_debuglink asks for {wanted:08x}");
    assert_eq!(root.why(), told);
    // A right one elsewhere is used all the same.
    let right = root.write("usr/lib/debug/opt/program.debug", &debug);
    assert_eq!((root.find().path, root.find().unused), (Some(right), vec![]));
    // A right checksum of another build.
    let other = elf(&[9], None);
    let root = linked(&BUILD_ID, &other);
    root.write("opt/program.debug", &other);
    assert_eq!(root.why(), "its build id is 09, and not abcdef01");
}

#[test]
fn what_is_no_debug_file_is_told_whatever_its_size() {
    let root = linked(&[], b"");
    let path = root.path("opt/program.debug");
    fs::create_dir(&path).unwrap();
    assert_eq!(root.why(), "it is no regular file");
    fs::remove_dir(&path).unwrap();
    // Nothing is written to the disk of either.
    let file = File::create(&path).unwrap();
    file.set_len(MOST_BYTES).unwrap();
    assert_eq!(root.why(), "it is no ELF file, or damaged");
    file.set_len(MOST_BYTES + 1).unwrap();
    assert_eq!(root.why(), "it has more than 2048 MiB");
    drop(file);
    let whole = elf(&BUILD_ID, Some(("a", 1)));
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        assert_eq!(root.find().path, None, "{length}");
    }
}

#[test]
fn a_program_is_not_its_own_debug_file() {
    let root = Root::of(elf(&[], Some(("program", 7))));
    assert_eq!(root.find(), DebugFile::default());
}
