//! Paths that are put together, as the kernel takes them.

use pathmeter_probes::sys::CStr;

/// Longest path of a file that belongs to a setting.
const MAX_PATH: usize = 256;

/// A path as a C string; cut short where it is too long, where nothing is found.
pub(crate) struct Path([u8; MAX_PATH]);

impl Path {
    pub(crate) fn of(folder: &[u8], rest: impl Iterator<Item = u8>) -> Self {
        let mut path = [0; MAX_PATH];
        let bytes = folder.iter().copied().chain(rest);
        path[..MAX_PATH - 1].iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
        Self(path)
    }

    /// The path of these parts, one after the other, cut to the longest path that fits.
    #[inline(never)]
    pub(crate) fn from_parts(parts: &[&[u8]]) -> Self {
        let mut path = Self([0; MAX_PATH]);
        let mut length = 0;
        for part in parts {
            let space = &mut path.0[length..MAX_PATH - 1];
            let fits = part.len().min(space.len());
            space[..fits].copy_from_slice(&part[..fits]);
            length += fits;
        }
        path
    }

    pub(crate) fn as_c(&self) -> CStr<'_> {
        CStr::new(&self.0)
    }

    /// Its bytes, without the NULs after them.
    pub(crate) fn as_text(&self) -> &[u8] {
        self.0.split(|byte| *byte == 0).next().unwrap_or_default()
    }

    /// Its bytes, with NULs after them.
    #[cfg(feature = "init")]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_too_long_still_ends() {
        let path = Path::of(b"/proc/sys/", core::iter::repeat_n(b'x', 1000));
        assert_eq!(path.0[MAX_PATH - 1], 0);
        assert_eq!(path.0[MAX_PATH - 2], b'x');
    }
}
