//! The compressions of kernels and packages, as one table.
//!
//! Contract: decoding streams, allocates at most [`MAX_WINDOW_MIB`] of its own, and
//! [`unpack`] gives exactly the number of bytes that the payload's last four bytes promise or
//! fails.
//!
//! Sources: Linux `Documentation/arch/x86/boot.rst` (magic numbers) and `scripts/Makefile.lib`
//! (`size_append`: every method but gzip, whose own trailer ends with the size, gets four bytes).

use std::io::{self, BufRead, Read};

use bzip2::bufread::BzDecoder;
use flate2::bufread::MultiGzDecoder;
use lzma_rust2::{LzmaReader, XzReader};
use ruzstd::decoding::StreamingDecoder;

use crate::blocks::{BlockReader, Lz4Legacy, Lzop};
use crate::elf;
use crate::error::{ImageFault, first_bytes, invalid};
use crate::file::{reserve, too_large};
use crate::limits::{MAX_KERNEL_BYTES, MAX_WINDOW_MIB};

type Input<'a> = Box<dyn BufRead + 'a>;
type Output<'a> = Box<dyn Read + 'a>;

pub(crate) struct Codec {
    pub(crate) name: &'static str,
    magic: &'static [u8],
    /// The format itself ends with the unpacked size, so nothing was appended to it.
    ends_with_size: bool,
    open: for<'a> fn(Input<'a>) -> io::Result<Output<'a>>,
}

const CODECS: [Codec; 7] = [
    Codec {
        name: "gzip",
        magic: b"\x1f\x8b",
        ends_with_size: true,
        // Several streams: an apk is made of three, laid end to end.
        open: |input| Ok(Box::new(MultiGzDecoder::new(input))),
    },
    Codec {
        name: "bzip2",
        magic: b"BZh",
        ends_with_size: false,
        open: |input| Ok(Box::new(BzDecoder::new(input))),
    },
    Codec {
        name: "lzma",
        magic: b"\x5d\0\0",
        ends_with_size: false,
        open: |input| Ok(Box::new(LzmaReader::new_mem_limit(input, MAX_WINDOW_KIB, None)?)),
    },
    Codec {
        name: "xz",
        magic: b"\xfd7zXZ\0",
        ends_with_size: false,
        open: |input| Ok(Box::new(XzReader::new_mem_limit(input, false, MAX_WINDOW_KIB))),
    },
    Codec {
        name: "lzo",
        magic: b"\x89LZO\0\r\n\x1a\n",
        ends_with_size: false,
        open: |input| Ok(Box::new(BlockReader::new(Lzop::open(input)?))),
    },
    Codec {
        name: "lz4",
        magic: b"\x02\x21\x4c\x18",
        ends_with_size: false,
        open: |input| Ok(Box::new(BlockReader::new(Lz4Legacy::new(input)))),
    },
    Codec {
        name: "zstd",
        magic: b"\x28\xb5\x2f\xfd",
        ends_with_size: false,
        open: |input| {
            let decoder = StreamingDecoder::new_with_max_window_size(input, MAX_WINDOW_BYTES);
            Ok(Box::new(decoder.map_err(invalid)?))
        },
    },
];

const MAX_WINDOW_KIB: u32 = MAX_WINDOW_MIB << 10;
const MAX_WINDOW_BYTES: u64 = (MAX_WINDOW_MIB as u64) << 20;

/// The method by which data that begins with `head` is packed.
pub(crate) fn find(head: &[u8]) -> Option<&'static Codec> {
    CODECS.iter().find(|codec| head.starts_with(codec.magic))
}

/// The vmlinux in a bzImage's payload, of at most [`MAX_KERNEL_BYTES`].
pub(crate) fn unpack(payload: &[u8]) -> Result<Vec<u8>, ImageFault> {
    const PART: &str = "the unpacked kernel";
    if elf::is_elf(payload) {
        return Ok(payload.to_vec());
    }
    let codec = find(payload).ok_or_else(|| unknown("the kernel's payload", payload))?;
    let Some((packed, size)) = payload.split_last_chunk() else {
        return Err(codec.failed("the payload ends early"));
    };
    let size = u64::from(u32::from_le_bytes(*size));
    if size > MAX_KERNEL_BYTES {
        return Err(too_large(PART, MAX_KERNEL_BYTES, "build a smaller kernel"));
    }
    let packed = if codec.ends_with_size { payload } else { packed };
    let mut out = reserve(PART, size)?;
    codec.read_to_end(packed, size, &mut out).map_err(|error| codec.failed(&error))?;
    Ok(out)
}

/// What `data` unpacks to, by one of the seven methods: at most `limit_bytes`. What is not packed
/// is given back as it is.
///
/// # Errors
/// The data is damaged, or gives more.
pub fn unpacked(data: Vec<u8>, limit_bytes: u64) -> Result<Vec<u8>, ImageFault> {
    let out = match find(&data) {
        None => data,
        Some(codec) => {
            let mut out = Vec::new();
            let stream = codec.open(data.as_slice())?.take(limit_bytes + 1).read_to_end(&mut out);
            stream.map_err(|error| codec.failed(&error))?;
            out
        }
    };
    if out.len() as u64 > limit_bytes {
        return Err(too_large("the unpacked file", limit_bytes, "give a smaller one"));
    }
    Ok(out)
}

/// The fault for data of no known method.
pub(crate) fn unknown(part: &'static str, head: &[u8]) -> ImageFault {
    ImageFault::UnknownCompression { part, first: first_bytes(head) }
}

impl Codec {
    /// A stream of what `input` unpacks to.
    pub(crate) fn open<'a>(&self, input: impl BufRead + 'a) -> Result<Output<'a>, ImageFault> {
        (self.open)(Box::new(input)).map_err(|error| self.failed(&error))
    }

    /// The fault for data that this method can't decode.
    pub(crate) fn failed(&self, reason: &(impl ToString + ?Sized)) -> ImageFault {
        ImageFault::Decompression { codec: self.name, reason: reason.to_string() }
    }

    fn read_to_end(&self, packed: &[u8], size: u64, out: &mut Vec<u8>) -> io::Result<()> {
        // One byte more than promised is asked for, so that too many are noticed.
        (self.open)(Box::new(packed))?.take(size + 1).read_to_end(out)?;
        let got = out.len() as u64;
        match got.cmp(&size) {
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Less => {
                Err(invalid(format!("{got} bytes came out where the image gives {size}")))
            }
            std::cmp::Ordering::Greater => {
                Err(invalid(format!("more came out than the {size} bytes that the image gives")))
            }
        }
    }
}
