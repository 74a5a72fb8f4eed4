//! The setup header of a bzImage: where the payload and the version string are.
//!
//! ```text
//! 0                 real-mode setup code, (setup_sects + 1) * 512 bytes
//! └ 0x1f1..0x26c    setup header
//! setup end         protected-mode code, syssize * 16 bytes
//! └ payload_offset  payload, payload_length bytes: the packed vmlinux
//! ```
//!
//! Contract: bounds-checked; a [`Header`] exists only if the file is as long as the header claims.
//! Source: Linux `Documentation/arch/x86/boot.rst`, whose field names are kept.

use crate::elf;
use crate::error::ImageFault;
use crate::text;

const SETUP_SECTS: usize = 0x1f1;
const SYSSIZE: usize = 0x1f4;
const BOOT_FLAG: usize = 0x1fe;
const HEADER: usize = 0x202;
const VERSION: usize = 0x206;
const KERNEL_VERSION: usize = 0x20e;
const XLOADFLAGS: usize = 0x236;
const PAYLOAD_OFFSET: usize = 0x248;
const PAYLOAD_LENGTH: usize = 0x24c;

const BOOT_FLAG_MAGIC: [u8; 2] = [0x55, 0xaa];
const HEADER_MAGIC: &[u8] = b"HdrS";
const SECTOR_BYTES: u64 = 512;
const PARAGRAPH_BYTES: u64 = 16;
/// `setup_sects` of 0 stands for this, for very old kernels.
const DEFAULT_SETUP_SECTS: u8 = 4;
/// `kernel_version` counts from here.
const KERNEL_VERSION_BASE: usize = 0x200;

/// The first protocol with `payload_offset` and `payload_length`.
const PROTOCOL_WITH_PAYLOAD: u16 = 0x0208;
/// The first protocol with `xloadflags`.
const PROTOCOL_WITH_XLOADFLAGS: u16 = 0x020c;
/// `XLF_KERNEL_64`: there is a 64-bit entry point, so the kernel is 64-bit.
const XLF_KERNEL_64: u16 = 1 << 0;

/// A setup header whose file is whole.
pub(crate) struct Header {
    payload_start: usize,
    payload_end: usize,
    kernel_version: usize,
}

/// Whether the boot sector's flag and the header's magic are there.
pub(crate) fn has_setup_header(bytes: &[u8]) -> bool {
    has_boot_flag(bytes) && field(bytes, HEADER).is_some_and(|magic: [u8; 4]| magic == HEADER_MAGIC)
}

/// Whether this begins with any bootable sector.
pub(crate) fn has_boot_flag(bytes: &[u8]) -> bool {
    field(bytes, BOOT_FLAG) == Some(BOOT_FLAG_MAGIC)
}

/// Checks what came out of a payload as if it were a file of its own.
pub(crate) fn check_payload(vmlinux: &[u8]) -> Result<(), ImageFault> {
    if elf::is_elf(vmlinux) {
        elf::check(vmlinux)
    } else {
        Err(ImageFault::Malformed("the payload does not unpack to an ELF file"))
    }
}

impl Header {
    /// Reads the header of a file that [`has_setup_header`], and checks it against the file.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, ImageFault> {
        let has = bytes.len() as u64;
        check_protocol(bytes)?;
        let setup = setup_bytes(bytes)?;
        let system = u64::from(u32_at(bytes, SYSSIZE)?) * PARAGRAPH_BYTES;
        ImageFault::unless_fits("the bzImage", setup + system, has)?;
        let start = setup + u64::from(u32_at(bytes, PAYLOAD_OFFSET)?);
        let length = u64::from(u32_at(bytes, PAYLOAD_LENGTH)?);
        ImageFault::unless_fits("the payload of the bzImage", start + length, has)?;
        if length == 0 {
            return Err(ImageFault::Malformed("the bzImage's header gives no payload"));
        }
        let kernel_version = usize::from(u16_at(bytes, KERNEL_VERSION)?);
        let (payload_start, payload_end) = (index(start), index(start + length));
        Ok(Self { payload_start, payload_end, kernel_version })
    }

    /// The packed vmlinux that the image carries.
    pub(crate) fn payload<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8], ImageFault> {
        bytes
            .get(self.payload_start..self.payload_end)
            .ok_or(ImageFault::Malformed("the payload lies outside the bzImage"))
    }

    /// The `kernel_version` string: release, builder, build number and date.
    pub(crate) fn version_string(&self, bytes: &[u8]) -> Option<String> {
        if self.kernel_version == 0 {
            return None;
        }
        let tail = bytes.get(KERNEL_VERSION_BASE + self.kernel_version..)?;
        text::printable_line(tail)
    }
}

fn check_protocol(bytes: &[u8]) -> Result<(), ImageFault> {
    let version = u16_at(bytes, VERSION)?;
    if version < PROTOCOL_WITH_PAYLOAD {
        let [major, minor] = version.to_be_bytes();
        return Err(ImageFault::BootProtocolTooOld { major, minor });
    }
    // Between 2.08 and 2.11 only the payload tells; its ELF header is checked once it is unpacked.
    if version >= PROTOCOL_WITH_XLOADFLAGS && u16_at(bytes, XLOADFLAGS)? & XLF_KERNEL_64 == 0 {
        return Err(ImageFault::ThirtyTwoBit);
    }
    Ok(())
}

fn setup_bytes(bytes: &[u8]) -> Result<u64, ImageFault> {
    let [sectors] = required(bytes, SETUP_SECTS)?;
    let sectors = if sectors == 0 { DEFAULT_SETUP_SECTS } else { sectors };
    Ok((u64::from(sectors) + 1) * SECTOR_BYTES)
}

fn u16_at(bytes: &[u8], offset: usize) -> Result<u16, ImageFault> {
    required(bytes, offset).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], offset: usize) -> Result<u32, ImageFault> {
    required(bytes, offset).map(u32::from_le_bytes)
}

fn required<const N: usize>(bytes: &[u8], offset: usize) -> Result<[u8; N], ImageFault> {
    let (needs, has) = ((offset + N) as u64, bytes.len() as u64);
    field(bytes, offset).ok_or(ImageFault::Truncated { part: "the setup header", needs, has })
}

fn field<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk().copied()
}

/// An offset below a length that was already found to fit in memory.
fn index(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}
