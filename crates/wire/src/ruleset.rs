//! A ruleset of Landlock, as `/filter` has it (`struct landlock_ruleset_attr`,
//! `<linux/landlock.h>`): the rights that it handles, to files, networks and scopes, of eight bytes
//! each; then its rules, each a byte for what it is about, eight bytes of rights that it allows,
//! and a path that ends in NUL, or eight bytes of a port.

/// The most bytes of a ruleset.
pub const MAX_RULESET: usize = 32 << 10;

const BENEATH: u8 = 1;
const PORT: u8 = 2;
const WORD: usize = 8;

/// A rule, which allows rights that are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule<'a> {
    /// The rights, as the kernel has them.
    pub rights: u64,
    /// What they are allowed for.
    pub object: Object<'a>,
}

/// What a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object<'a> {
    /// A file, or all that is beneath a folder: its path, with a NUL at the end and nowhere else.
    Beneath(&'a [u8]),
    /// A TCP port, by its number.
    Port(u64),
}

/// Hands `put` the pieces of a ruleset.
pub fn write<'a>(
    handled: [u64; 3],
    rules: impl Iterator<Item = Rule<'a>>,
    mut put: impl FnMut(&[u8]),
) {
    for rights in handled {
        put(&rights.to_le_bytes());
    }
    for Rule { rights, object } in rules {
        let kind = match object {
            Object::Beneath(_) => BENEATH,
            Object::Port(_) => PORT,
        };
        put(&[kind]);
        put(&rights.to_le_bytes());
        match object {
            Object::Beneath(path) => put(path),
            Object::Port(port) => put(&port.to_le_bytes()),
        }
    }
}

/// A ruleset as it was written.
#[derive(Clone, Copy, Debug)]
pub struct Ruleset<'a> {
    /// The rights that it handles, to files, networks and scopes.
    pub handled: [u64; 3],
    rules: &'a [u8],
}

impl<'a> Ruleset<'a> {
    /// Reads it; nothing if it is too short.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let (files, rest) = word(bytes)?;
        let (networks, rest) = word(rest)?;
        let (scopes, rules) = word(rest)?;
        Some(Self { handled: [files, networks, scopes], rules })
    }

    /// Its rules, as far as they are whole.
    pub fn rules(self) -> impl Iterator<Item = Rule<'a>> {
        let mut rest = self.rules;
        core::iter::from_fn(move || {
            let (rule, after) = rule(rest)?;
            rest = after;
            Some(rule)
        })
    }
}

fn rule(bytes: &[u8]) -> Option<(Rule<'_>, &[u8])> {
    let (kind, rest) = bytes.split_first()?;
    let (rights, rest) = word(rest)?;
    let (object, rest) = match *kind {
        BENEATH => {
            let end = rest.iter().position(|byte| *byte == 0)?;
            let (path, rest) = rest.split_at(end + 1);
            (Object::Beneath(path), rest)
        }
        PORT => {
            let (port, rest) = word(rest)?;
            (Object::Port(port), rest)
        }
        _ => return None,
    };
    Some((Rule { rights, object }, rest))
}

fn word(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (word, rest) = bytes.split_first_chunk::<WORD>()?;
    Some((u64::from_le_bytes(*word), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ruleset_is_read_as_it_was_written_and_ends_where_it_is_cut() {
        let rules = [
            Rule { rights: 13, object: Object::Beneath(b"/usr\0") },
            Rule { rights: 1, object: Object::Port(443) },
            Rule { rights: 1 << 14, object: Object::Beneath(b"/tmp\0") },
        ];
        let mut bytes = Vec::new();
        write([0xffff, 3, 1], rules.into_iter(), |piece| bytes.extend_from_slice(piece));
        let read = Ruleset::read(&bytes).unwrap();
        assert_eq!(read.handled, [0xffff, 3, 1]);
        assert!(read.rules().eq(rules));
        for length in 0..bytes.len() {
            let rules = Ruleset::read(&bytes[..length]).map(|it| it.rules().count());
            assert!(rules.unwrap_or(0) < 3, "{length} bytes");
        }
        bytes[24] = 9;
        assert_eq!(Ruleset::read(&bytes).unwrap().rules().count(), 0, "of no known kind");
    }
}
