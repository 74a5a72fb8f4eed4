//! The two formats that are frames around whole blocks: legacy LZ4 and lzop.
//!
//! ```text
//! lz4 -l   magic  { packed_size u32 LE, packed }…
//! lzop     magic  header  { size u32 BE, packed_size u32 BE, checksums, packed }…  0 u32
//! ```
//!
//! Contract: no block is allocated beyond its format's bound, whatever its header claims. Checksums
//! of lzop are passed over, as Linux does: the whole kernel's size is checked instead.
//!
//! Sources: Linux `lib/decompress_unlz4.c`, `lib/decompress_unlzo.c`; lz4's `lz4_Frame_format.md`
//! ("Legacy frame"); lzop's `src/conf.h` for the names of the flags.

use std::io::{self, BufRead, Read};

use crate::error::invalid;

/// A source of unpacked blocks.
pub(crate) trait Blocks {
    /// Replaces `out` with the next block; `false` at the end.
    fn next(&mut self, out: &mut Vec<u8>) -> io::Result<bool>;
}

/// Reads the blocks of `blocks` as one stream.
pub(crate) struct BlockReader<B> {
    blocks: B,
    block: Vec<u8>,
    /// How much of `block` has been given out.
    taken: usize,
}

impl<B: Blocks> BlockReader<B> {
    pub(crate) fn new(blocks: B) -> Self {
        Self { blocks, block: Vec::new(), taken: 0 }
    }
}

impl<B: Blocks> Read for BlockReader<B> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.block.len() {
            self.taken = 0;
            self.block.clear();
            if !self.blocks.next(&mut self.block)? {
                return Ok(0);
            }
        }
        let count = (&self.block[self.taken..]).read(out)?;
        self.taken += count;
        Ok(count)
    }
}

/// Every block of a legacy LZ4 frame unpacks to this, but for the last, which may be smaller.
const LZ4_BLOCK_BYTES: usize = 8 << 20;
/// `LZ4_compressBound` of a block: what it takes if nothing can be saved.
const LZ4_PACKED_BYTES: usize = LZ4_BLOCK_BYTES + LZ4_BLOCK_BYTES / 255 + 16;
/// Stands where a size would, at the start and between frames laid end to end.
const LZ4_LEGACY_MAGIC: u32 = 0x184c_2102;

/// The blocks of `lz4 -l`.
pub(crate) struct Lz4Legacy<R> {
    input: R,
    packed: Vec<u8>,
}

impl<R: BufRead> Lz4Legacy<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, packed: Vec::new() }
    }

    fn packed_size(&mut self) -> io::Result<Option<usize>> {
        loop {
            if self.input.fill_buf()?.is_empty() {
                return Ok(None);
            }
            let size = u32::from_le_bytes(array(&mut self.input)?);
            if size != LZ4_LEGACY_MAGIC {
                return bounded(size, LZ4_PACKED_BYTES).map(Some);
            }
        }
    }
}

impl<R: BufRead> Blocks for Lz4Legacy<R> {
    fn next(&mut self, out: &mut Vec<u8>) -> io::Result<bool> {
        let Some(size) = self.packed_size()? else { return Ok(false) };
        read_packed(&mut self.input, size, &mut self.packed)?;
        out.resize(LZ4_BLOCK_BYTES, 0);
        let count = lz4_flex::block::decompress_into(&self.packed, out).map_err(invalid)?;
        out.truncate(count);
        Ok(true)
    }
}

/// lzop's `MAX_BLOCK_SIZE`.
const LZOP_BLOCK_BYTES: usize = 64 << 20;
/// The magic, which the table of methods has compared.
const LZOP_MAGIC_BYTES: usize = 9;
/// From this version on the header has `version_needed`, `level` and `mtime_high`.
const LZOP_LONG_HEADER: u16 = 0x0940;

// Header flags.
const F_ADLER32_D: u32 = 1 << 0; // checksum of the unpacked data
const F_ADLER32_C: u32 = 1 << 1; // checksum of the packed data
const F_H_EXTRA_FIELD: u32 = 1 << 6;
const F_CRC32_D: u32 = 1 << 8;
const F_CRC32_C: u32 = 1 << 9;
const F_H_FILTER: u32 = 1 << 11;

/// Reads the blocks of lzop's format.
pub(crate) struct Lzop<R> {
    input: R,
    flags: u32,
    packed: Vec<u8>,
}

impl<R: BufRead> Lzop<R> {
    /// Reads the header, up to the first block.
    pub(crate) fn open(mut input: R) -> io::Result<Self> {
        skip(&mut input, LZOP_MAGIC_BYTES)?;
        let long = u16::from_be_bytes(array(&mut input)?) >= LZOP_LONG_HEADER;
        // lib_version, version_needed, method, level
        skip(&mut input, if long { 2 + 2 + 1 + 1 } else { 2 + 1 })?;
        let flags = u32::from_be_bytes(array(&mut input)?);
        if flags & (F_H_FILTER | F_H_EXTRA_FIELD) != 0 {
            return Err(invalid("lzop filters and extra fields are not used by Linux"));
        }
        // mode, mtime_low, mtime_high
        skip(&mut input, if long { 4 + 4 + 4 } else { 4 + 4 })?;
        let [name_bytes] = array(&mut input)?;
        // name, header checksum
        skip(&mut input, usize::from(name_bytes) + 4)?;
        Ok(Self { input, flags, packed: Vec::new() })
    }

    /// Bytes of checksums before a block's data.
    fn checksum_bytes(&self, is_packed: bool) -> usize {
        let of_unpacked = [F_ADLER32_D, F_CRC32_D];
        let of_packed: &[u32] = if is_packed { &[F_ADLER32_C, F_CRC32_C] } else { &[] };
        let set = of_unpacked.iter().chain(of_packed).filter(|flag| self.flags & **flag != 0);
        set.count() * size_of::<u32>()
    }
}

impl<R: BufRead> Blocks for Lzop<R> {
    fn next(&mut self, out: &mut Vec<u8>) -> io::Result<bool> {
        let size = bounded(u32::from_be_bytes(array(&mut self.input)?), LZOP_BLOCK_BYTES)?;
        if size == 0 {
            return Ok(false);
        }
        // A block that would have grown is stored as it is.
        let packed_size = bounded(u32::from_be_bytes(array(&mut self.input)?), size)?;
        let checksums = self.checksum_bytes(packed_size < size);
        skip(&mut self.input, checksums)?;
        if packed_size == size {
            read_packed(&mut self.input, size, out)?;
            return Ok(true);
        }
        read_packed(&mut self.input, packed_size, &mut self.packed)?;
        out.resize(size, 0);
        let count = lzokay::decompress::decompress(&self.packed, out).map_err(invalid)?;
        if count == size {
            Ok(true)
        } else {
            Err(invalid("a block is shorter than its header claims"))
        }
    }
}

fn bounded(size: u32, limit: usize) -> io::Result<usize> {
    let size = size as usize;
    if size <= limit { Ok(size) } else { Err(invalid("a block is larger than the format allows")) }
}

/// Reads `size` bytes, growing `out` only as data really comes.
fn read_packed(input: &mut impl Read, size: usize, out: &mut Vec<u8>) -> io::Result<()> {
    out.clear();
    let count = input.take(size as u64).read_to_end(out)?;
    if count == size { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn array<const N: usize>(input: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn skip(input: &mut impl Read, count: usize) -> io::Result<()> {
    let skipped = io::copy(&mut input.take(count as u64), &mut io::sink())?;
    if skipped == count as u64 { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked<B: Blocks>(blocks: B) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        BlockReader::new(blocks).read_to_end(&mut out).map(|_| out)
    }

    /// A header as lzop 1.04 writes it, with `flags`, before `blocks`.
    fn lzop(flags: u32, blocks: &[u8]) -> io::Result<Vec<u8>> {
        let start: &[u8] = b"\x89LZO\0\r\n\x1a\n\x10\x40\x20\xa0\x09\x40\x03\x09";
        let mode_times_name_checksum = [0; 4 + 4 + 4 + 1 + 4];
        let file = [start, &flags.to_be_bytes(), &mode_times_name_checksum, blocks].concat();
        unpacked(Lzop::open(&file[..])?)
    }

    #[test]
    fn legacy_lz4_goes_on_over_blocks_and_frames() {
        // One token each: three literals.
        let frame = b"\x02\x21\x4c\x18\x04\0\0\0\x30abc\x04\0\0\0\x30def";
        let file = [&frame[..], &frame[..]].concat();
        assert_eq!(unpacked(Lz4Legacy::new(&file[..])).unwrap(), b"abcdefabcdef");
    }

    #[test]
    fn legacy_lz4_refuses_a_block_beyond_the_bound() {
        let file = b"\x02\x21\x4c\x18\xff\xff\xff\x7f";
        assert_eq!(
            unpacked(Lz4Legacy::new(&file[..])).unwrap_err().kind(),
            io::ErrorKind::InvalidData
        );
    }

    #[test]
    fn legacy_lz4_cut_in_a_block_is_an_error() {
        let file = b"\x02\x21\x4c\x18\x04\0\0\0\x30ab";
        assert_eq!(
            unpacked(Lz4Legacy::new(&file[..])).unwrap_err().kind(),
            io::ErrorKind::UnexpectedEof
        );
    }

    #[test]
    fn lzop_blocks_may_be_stored_and_carry_checksums() {
        let stored = b"\0\0\0\x03\0\0\0\x03sum1abc\0\0\0\x03\0\0\0\x03sum2def\0\0\0\0";
        assert_eq!(lzop(F_ADLER32_D, stored).unwrap(), b"abcdef");
        assert_eq!(lzop(F_CRC32_D | F_CRC32_C, stored).unwrap(), b"abcdef");
    }

    #[test]
    fn lzop_refuses_blocks_beyond_the_bound() {
        let too_large = b"\x04\0\0\x01\0\0\0\x01x";
        let grown = b"\0\0\0\x01\0\0\0\x02xy";
        for blocks in [&too_large[..], &grown[..]] {
            assert_eq!(lzop(0, blocks).unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
    }

    #[test]
    fn lzop_refuses_what_linux_never_writes() {
        for flag in [F_H_FILTER, F_H_EXTRA_FIELD] {
            assert_eq!(lzop(flag, b"").unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
    }
}
