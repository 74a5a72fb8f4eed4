//! What programs expect of every system, for a guest that is given none of it.
//!
//! Source of the time zone's form: RFC 9636.

use crate::cache;
use crate::libraries::Cached;
use crate::tree::{Node, Tree};

const FOLDERS: [(&str, u32); 12] = [
    ("dev", 0o755),
    ("dev/pts", 0o755),
    ("dev/shm", 0o1777),
    ("etc", 0o755),
    ("home", 0o755),
    ("proc", 0o555),
    ("root", 0o700),
    ("run", 0o755),
    ("sys", 0o555),
    ("tmp", 0o1777),
    ("var", 0o755),
    ("var/tmp", 0o1777),
];

const PASSWD: &[u8] = b"root:x:0:0:root:/root:/bin/sh\n\
    nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
const GROUP: &[u8] = b"root:x:0:\ntty:x:5:\nnogroup:x:65534:\n";
const HOSTS: &[u8] = b"127.0.0.1\tlocalhost\n::1\tlocalhost\n";
const NSSWITCH: &[u8] = b"passwd: files\ngroup: files\nshadow: files\nhosts: files\n\
    networks: files\nprotocols: files\nservices: files\n";

/// One block of a time zone's file: no transitions, one kind of time, which is UTC.
macro_rules! utc_block {
    () => {
        // Magic and version; 15 bytes for later; six counts: UT indicators, standard indicators,
        // leap seconds, transitions, kinds, characters. The kind: offset, summer time, name.
        "TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
         \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x04\
         \0\0\0\0\0\0UTC\0"
    };
}

/// The zone UTC: with times of 32 bits, of 64 bits, and as a rule.
const UTC: &[u8] = concat!(utc_block!(), utc_block!(), "\nUTC0\n").as_bytes();

const FILES: [(&str, &[u8]); 6] = [
    ("etc/group", GROUP),
    ("etc/hosts", HOSTS),
    ("etc/localtime", UTC),
    ("etc/nsswitch.conf", NSSWITCH),
    ("etc/passwd", PASSWD),
    ("etc/resolv.conf", b""),
];

/// The environment of a program to which no other is given.
pub(crate) const ENVIRONMENT: [(&str, &str); 8] = [
    ("HOME", "/root"),
    ("LANG", "C.UTF-8"),
    ("LOGNAME", "root"),
    ("PATH", PATH),
    ("PWD", "/tmp"),
    ("TERM", "dumb"),
    ("TZ", "UTC"),
    ("USER", "root"),
];

/// The search path for programs in the guest.
pub(crate) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Adds what is missing. A folder that is a link, or below one, is left as it is.
/// `cached` are the libraries that glibc's loader finds by its cache.
pub(crate) fn add(tree: &mut Tree, cached: &[Cached]) {
    for (path, mode) in FOLDERS {
        add_one(tree, path, Node::Directory { mode });
    }
    for (path, data) in FILES {
        add_one(tree, path, Node::File { mode: 0o644, data: data.to_vec(), source: None });
    }
    if !cached.is_empty() {
        add_one(
            tree,
            cache::PATH,
            Node::File { mode: 0o644, data: cache::of(cached), source: None },
        );
    }
}

fn add_one(tree: &mut Tree, path: &str, node: Node) {
    let above = crate::resolve::parent(path);
    let has_room = above.is_empty() || matches!(tree.get(above), Some(Node::Directory { .. }));
    if tree.get(path).is_none() && has_room {
        tree.put_own(path, node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_zone_is_as_long_as_its_counts_have_it() {
        // Twice a header of 44 bytes, a kind of 6 and a name of 4; then the rule.
        assert_eq!(UTC.len(), 2 * (44 + 6 + 4) + 6);
        assert_eq!(&UTC[54..59], b"TZif2");
    }
}
