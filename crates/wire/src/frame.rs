//! Frames: putting one around a payload, finding the next in a stream of bytes.

use crate::{Kind, crc32::crc32};

/// First bytes of every frame.
pub const MAGIC: [u8; 2] = *b"PM";
/// How many bytes precede the payload.
pub const HEADER: usize = 8;
/// How many bytes follow the payload.
pub const TRAILER: usize = 4;
/// Longest payload either side accepts, in bytes.
pub const MAX_PAYLOAD: usize = 32 * 1024;
/// The longest frame, in bytes.
pub const MAX_FRAME: usize = HEADER + MAX_PAYLOAD + TRAILER;

/// A frame whose length and checksum held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawFrame<'a> {
    pub kind: Kind,
    /// Its payload, not yet decoded.
    pub payload: &'a [u8],
    /// Bytes it took from the stream.
    pub length: usize,
}

/// Why bytes are not a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameError {
    /// The first bytes are not [`MAGIC`].
    Magic([u8; 2]),
    /// The kind is none of [`Kind`].
    Kind(u8),
    /// The length exceeds [`MAX_PAYLOAD`].
    Length(u32),
    Checksum,
}

impl core::fmt::Display for FrameError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Magic([a, b]) => write!(f, "bytes {a:02x} {b:02x} where a frame must begin"),
            Self::Kind(kind) => write!(f, "a frame of unknown kind {kind}"),
            Self::Length(length) => write!(f, "a frame that claims {length} bytes"),
            Self::Checksum => write!(f, "a frame whose checksum is wrong"),
        }
    }
}

impl core::error::Error for FrameError {}

/// Writes header and checksum around the `payload` bytes that already stand at `buffer[HEADER..]`.
/// Returns the whole frame, or `None` if the buffer is too small.
pub fn seal(buffer: &mut [u8], kind: Kind, payload: usize) -> Option<&[u8]> {
    let end = HEADER + payload;
    if payload > MAX_PAYLOAD || buffer.len() < end + TRAILER {
        return None;
    }
    buffer[..2].copy_from_slice(&MAGIC);
    buffer[2..4].copy_from_slice(&[kind as u8, 0]);
    buffer[4..HEADER].copy_from_slice(&u32::try_from(payload).ok()?.to_le_bytes());
    let sum = crc32(&buffer[..end]);
    buffer[end..end + TRAILER].copy_from_slice(&sum.to_le_bytes());
    Some(&buffer[..end + TRAILER])
}

/// The frame at the start of `stream`; `None` while its end hasn't arrived yet.
pub fn next_frame(stream: &[u8]) -> Result<Option<RawFrame<'_>>, FrameError> {
    let Some((header, rest)) = stream.split_first_chunk::<HEADER>() else {
        return Ok(None);
    };
    let [a, b, kind, _, length @ ..] = *header;
    if [a, b] != MAGIC {
        return Err(FrameError::Magic([a, b]));
    }
    let kind = Kind::from_u8(kind).ok_or(FrameError::Kind(kind))?;
    let length = u32::from_le_bytes(length);
    let size = usize::try_from(length).unwrap_or(usize::MAX);
    if size > MAX_PAYLOAD {
        return Err(FrameError::Length(length));
    }
    let Some((payload, rest)) = rest.split_at_checked(size) else {
        return Ok(None);
    };
    let Some(sum) = rest.first_chunk::<TRAILER>() else {
        return Ok(None);
    };
    if crc32(&stream[..HEADER + size]) != u32::from_le_bytes(*sum) {
        return Err(FrameError::Checksum);
    }
    Ok(Some(RawFrame { kind, payload, length: HEADER + size + TRAILER }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn framed(kind: Kind, payload: &[u8]) -> Vec<u8> {
        let mut buffer = vec![0; HEADER + payload.len() + TRAILER];
        buffer[HEADER..HEADER + payload.len()].copy_from_slice(payload);
        seal(&mut buffer, kind, payload.len()).unwrap().to_vec()
    }

    #[test]
    fn a_buffer_too_small_is_refused() {
        assert_eq!(seal(&mut [0; HEADER + TRAILER], Kind::Done, 1), None);
    }

    #[test]
    fn a_length_beyond_the_bound_is_refused_before_its_bytes_arrive() {
        let mut bytes = framed(Kind::Done, b"");
        bytes[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(next_frame(&bytes), Err(FrameError::Length(u32::MAX)));
    }

    proptest! {
        #[test]
        fn what_was_sealed_is_read_back(payload in prop::collection::vec(any::<u8>(), 0..600)) {
            let mut bytes = framed(Kind::Outcome, &payload);
            let whole = bytes.len();
            bytes.extend_from_slice(b"next");
            let frame = next_frame(&bytes).unwrap().unwrap();
            let seen = (frame.kind, frame.payload, frame.length);
            prop_assert_eq!(seen, (Kind::Outcome, &payload[..], whole));
        }

        #[test]
        fn a_cut_frame_is_awaited(
            payload in prop::collection::vec(any::<u8>(), 0..99), cut in 1_usize..40,
        ) {
            let bytes = framed(Kind::Begin, &payload);
            let cut = bytes.len().saturating_sub(cut);
            prop_assert_eq!(next_frame(&bytes[..cut]), Ok(None));
        }

        #[test]
        fn one_flipped_bit_is_noticed(
            payload in prop::collection::vec(any::<u8>(), 0..99),
            at in any::<prop::sample::Index>(),
            bit in 0_u8..8,
        ) {
            let mut bytes = framed(Kind::Begin, &payload);
            let at = at.index(bytes.len());
            prop_assume!(at != 3);
            bytes[at] ^= 1 << bit;
            let same = matches!(next_frame(&bytes), Ok(Some(frame)) if frame.payload == payload);
            prop_assert!(!same);
        }

        #[test]
        fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = next_frame(&bytes);
        }
    }
}
