//! Files of the user's that are read whole, and so with a bound: `/dev/zero` has no end.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The bytes of a file, of which it may have so many.
///
/// # Errors
/// The file can't be read, or is longer.
pub fn read_bounded(file: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(file)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it has more than {most} bytes")));
    }
    Ok(bytes)
}

/// The text of a file, of which it may have so many bytes.
///
/// # Errors
/// The file can't be read, is longer, or is not UTF-8.
pub fn read_bounded_text(file: &Path, most: u64) -> io::Result<String> {
    let text = String::from_utf8(read_bounded(file, most)?);
    text.map_err(|_| io::Error::other("it is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_an_end_is_refused_at_the_bound() {
        let told = read_bounded(Path::new("/dev/zero"), 10).unwrap_err().to_string();
        assert_eq!(told, "it has more than 10 bytes");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "0123456789").unwrap();
        assert_eq!(read_bounded_text(file.path(), 10).unwrap(), "0123456789");
        assert!(read_bounded(file.path(), 9).is_err());
        std::fs::write(file.path(), b"\xff").unwrap();
        assert!(read_bounded_text(file.path(), 9).is_err());
    }
}
