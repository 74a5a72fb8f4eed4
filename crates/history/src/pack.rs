//! Compression of a document's parts, each by an earlier one that is much like it.
//!
//! A path's part in one result is mostly that of the result before. As deflate's preset dictionary
//! (RFC 1951 with a window that is not empty) the earlier part makes the later one a few dozen
//! bytes.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

/// How far back a match of deflate reaches, in bytes: no more of a dictionary can be of use.
const WINDOW: usize = 1 << 15;

/// What is made room for at once, in bytes: most parts are smaller.
const USUAL: usize = 1 << 14;

/// `bytes` as raw deflate, by what `dictionary` has in common with them. None if the compressor
/// fails, which it does not.
pub(crate) fn pack(bytes: &[u8], dictionary: &[u8]) -> Option<Vec<u8>> {
    let mut compress = Compress::new(Compression::best(), false);
    if !dictionary.is_empty() {
        compress.set_dictionary(useful(dictionary)).ok()?;
    }
    let mut packed = Vec::with_capacity(bytes.len() / 2 + 64);
    loop {
        let done = usize::try_from(compress.total_in()).ok()?;
        match compress.compress_vec(bytes.get(done..)?, &mut packed, FlushCompress::Finish).ok()? {
            Status::StreamEnd => return Some(packed),
            Status::Ok | Status::BufError => packed.reserve(packed.capacity().max(64)),
        }
    }
}

/// What [`pack`] was given, of exactly `length` bytes. None if `packed` is not that.
pub(crate) fn unpack(packed: &[u8], dictionary: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut decompress = Decompress::new(false);
    if !dictionary.is_empty() {
        decompress.set_dictionary(useful(dictionary)).ok()?;
    }
    let mut bytes = Vec::new();
    // A length that is not true costs no more than what is really there.
    while bytes.len() <= length {
        let done = usize::try_from(decompress.total_in()).ok()?;
        let room = (bytes.capacity() * 2).max(USUAL).min(length + 1);
        bytes.reserve_exact(room.saturating_sub(bytes.len()));
        let (input, before) = (packed.get(done..)?, bytes.len());
        match decompress.decompress_vec(input, &mut bytes, FlushDecompress::Finish).ok()? {
            Status::StreamEnd => return (bytes.len() == length).then_some(bytes),
            // It wants bytes that are not there.
            Status::Ok | Status::BufError if bytes.len() == before => return None,
            Status::Ok | Status::BufError => {}
        }
    }
    None
}

fn useful(dictionary: &[u8]) -> &[u8] {
    &dictionary[dictionary.len().saturating_sub(WINDOW)..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_alike_takes_a_few_bytes() {
        let dictionary: Vec<u8> =
            (0..4000_u32).flat_map(|number| (number * number).to_string().into_bytes()).collect();
        let mut bytes = dictionary.clone();
        bytes[20_000] = b'x';
        assert!(pack(&bytes, &dictionary).unwrap().len() < 400);
        assert!(pack(&bytes, &[]).unwrap().len() > 5_000);
    }

    proptest! {
        #[test]
        fn what_was_packed_is_unpacked(
            bytes in proptest::collection::vec(any::<u8>(), 0..3000),
            repeats in 1_usize..40,
            dictionary in proptest::collection::vec(any::<u8>(), 0..3000),
        ) {
            let bytes = bytes.repeat(repeats);
            for dictionary in [&dictionary[..], &bytes] {
                let packed = pack(&bytes, dictionary).unwrap();
                prop_assert_eq!(unpack(&packed, dictionary, bytes.len()), Some(bytes.clone()));
                prop_assert_eq!(unpack(&packed, dictionary, bytes.len() + 1), None);
                if let Some(less) = bytes.len().checked_sub(1) {
                    prop_assert_eq!(unpack(&packed, dictionary, less), None);
                }
            }
        }

        #[test]
        fn no_bytes_panic(
            packed in proptest::collection::vec(any::<u8>(), 0..300),
            length in 0_usize..100_000,
        ) {
            let _ = unpack(&packed, b"dictionary", length);
        }
    }
}
