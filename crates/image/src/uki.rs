//! A unified kernel image: an EFI program that carries a kernel in its section `.linux`.
//!
//! Contract: bounds-checked; a PE file without such a section is none.
//! Source: the UAPI Group's "Unified Kernel Image" specification.

use object::pe::{ImageDosHeader, ImageNtHeaders64};
use object::read::pe::ImageNtHeaders as _;

use crate::error::ImageFault;

const MAGIC: &[u8] = b"MZ";
const SECTION: &[u8] = b".linux";

/// Whether a file that begins with `head` may be one.
pub(crate) fn may_be(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// The kernel in `image`, if that is a unified kernel image; else `image` itself.
pub(crate) fn kernel(mut image: Vec<u8>) -> Result<Vec<u8>, ImageFault> {
    let Some((offset, size)) = section(&image) else { return Ok(image) };
    let end = u64::from(offset) + u64::from(size);
    ImageFault::unless_fits("section .linux of the kernel image", end, image.len() as u64)?;
    if size == 0 {
        return Err(ImageFault::Malformed("section .linux of the kernel image is empty"));
    }
    // In place: a second copy could be as large as the first.
    image.truncate(offset as usize + size as usize);
    image.drain(..offset as usize);
    Ok(image)
}

/// Offset and size of the section in the file.
fn section(image: &[u8]) -> Option<(u32, u32)> {
    if !may_be(image) {
        return None;
    }
    let mut offset = ImageDosHeader::parse(image).ok()?.nt_headers_offset().into();
    let (headers, _) = ImageNtHeaders64::parse(image, &mut offset).ok()?;
    let sections = headers.sections(image, offset).ok()?;
    let linux = sections.iter().find(|section| section.raw_name() == SECTION)?;
    Some(linux.pe_file_range())
}
