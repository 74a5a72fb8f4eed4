//! Short texts of bounded length, without an allocator.

use core::fmt;

/// Up to `N` bytes of UTF-8; what doesn't fit is cut off at a character's boundary.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Text<const N: usize> {
    length: u32,
    bytes: [u8; N],
}

impl<const N: usize> Text<N> {
    pub const EMPTY: Self = Self { length: 0, bytes: [0; N] };

    /// A text from `format_args!`.
    pub fn format(arguments: fmt::Arguments<'_>) -> Self {
        let mut text = Self::EMPTY;
        // Writing only fails when the text is full, and then the cut text is what we want.
        let _ = fmt::Write::write_fmt(&mut text, arguments);
        text
    }

    /// The bytes of the text.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length as usize).unwrap_or_default()
    }
}

impl<const N: usize> fmt::Write for Text<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let used = self.length as usize;
        let free = N.saturating_sub(used);
        let most = free.min(text.len());
        let fits = (0..=most).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        self.bytes[used..used + fits].copy_from_slice(&text.as_bytes()[..fits]);
        self.length += u32::try_from(fits).map_err(|_| fmt::Error)?;
        if fits == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(core::str::from_utf8(self.as_bytes()).unwrap_or("?"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_too_long_is_cut_between_characters() {
        assert_eq!(Text::<5>::format(format_args!("ab{}", "äöü")).as_bytes(), "abä".as_bytes());
    }
}
