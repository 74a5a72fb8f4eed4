//! The archive reads back, by a reader written from the format's description.

#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

use pathmeter_image::cpio::{Entry, archive};

#[derive(Debug, PartialEq, Eq)]
struct Member {
    name: String,
    /// ino, mode, uid, gid, nlink, mtime, filesize, devmajor, devminor, rdevmajor, rdevminor,
    /// namesize, check
    fields: [u32; 13],
    data: Vec<u8>,
}

fn read(archive: &[u8]) -> Vec<Member> {
    let mut members = Vec::new();
    let mut at = 0;
    loop {
        assert_eq!(&archive[at..at + 6], b"070701");
        assert_eq!(at % 4, 0, "headers are aligned");
        let field = |index: usize| {
            let start = at + 6 + index * 8;
            u32::from_str_radix(std::str::from_utf8(&archive[start..start + 8]).unwrap(), 16)
                .unwrap()
        };
        let fields: [u32; 13] = std::array::from_fn(field);
        let name_end = at + 110 + fields[11] as usize;
        assert_eq!(archive[name_end - 1], 0, "names end with NUL");
        let name = String::from_utf8(archive[at + 110..name_end - 1].to_vec()).unwrap();
        let data_start = name_end.next_multiple_of(4);
        let data_end = data_start + fields[6] as usize;
        let data = archive[data_start..data_end].to_vec();
        at = data_end.next_multiple_of(4);
        if name == "TRAILER!!!" {
            assert_eq!(at, archive.len(), "nothing follows the trailer");
            return members;
        }
        members.push(Member { name, fields, data });
    }
}

const ENTRIES: [Entry<'_>; 5] = [
    Entry::Directory { name: "dev", mode: 0o755 },
    Entry::CharDevice { name: "dev/console", mode: 0o600, major: 5, minor: 1 },
    Entry::File { name: "init", mode: 0o755, data: b"\x7fELF!" },
    Entry::File { name: "empty", mode: 0o644, data: b"" },
    Entry::Symlink { name: "lib64", target: "usr/lib64" },
];

#[test]
fn every_kind_of_entry_reads_back() {
    let member = |name: &str, fields, data: &[u8]| Member {
        name: name.to_owned(),
        fields,
        data: data.to_vec(),
    };
    let expected = [
        member("dev", [1, 0o040_755, 0, 0, 2, 0, 0, 0, 0, 0, 0, 4, 0], b""),
        member("dev/console", [2, 0o020_600, 0, 0, 1, 0, 0, 0, 0, 5, 1, 12, 0], b""),
        member("init", [3, 0o100_755, 0, 0, 1, 0, 5, 0, 0, 0, 0, 5, 0], b"\x7fELF!"),
        member("empty", [4, 0o100_644, 0, 0, 1, 0, 0, 0, 0, 0, 0, 6, 0], b""),
        member("lib64", [5, 0o120_777, 0, 0, 1, 0, 9, 0, 0, 0, 0, 6, 0], b"usr/lib64"),
    ];
    assert_eq!(read(&archive(&ENTRIES)), expected);
}

#[test]
fn no_entries_give_the_trailer_alone() {
    let empty = archive(&[]);
    assert_eq!(read(&empty), []);
    assert_eq!(empty.len(), 124);
}

#[test]
fn the_same_entries_give_the_same_bytes() {
    assert_eq!(archive(&ENTRIES), archive(&ENTRIES));
}
