//! CRC-32 (IEEE 802.3, reflected, polynomial 0xEDB88320), bit by bit.
//!
//! Frames are a few hundred bytes, so no table: the agent stays small.

const POLYNOMIAL: u32 = 0xedb8_8320;

/// The checksum of `bytes`.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

fn step(crc: u32, _bit: u32) -> u32 {
    let mask = (crc & 1).wrapping_neg();
    (crc >> 1) ^ (POLYNOMIAL & mask)
}

#[cfg(test)]
mod tests {
    use super::crc32;

    #[test]
    fn agrees_with_the_published_check_value() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
    }
}
