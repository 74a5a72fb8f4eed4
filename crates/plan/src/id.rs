//! The ids of cells: 32 hexadecimal digits of a hash, in lower case.

use sha2::{Digest, Sha256};

/// How many digits an id has.
pub(crate) const DIGITS: usize = 32;

/// Whether this is an id, and so safe as the name of a file.
pub fn is_id(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// SHA-256 of `bytes`, in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_an_id_passes_for_one() {
        assert!(is_id(&sha256(b"")[..DIGITS]));
        for text in ["", "../etc/passwd", &"A".repeat(32), &"a".repeat(31), &"é".repeat(16)] {
            assert!(!is_id(text), "{text}");
        }
    }
}
