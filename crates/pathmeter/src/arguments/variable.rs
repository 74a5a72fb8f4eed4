//! A variable of a program's environment, as `--env` has it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// `NAME=VALUE`, of any bytes.
pub(crate) fn variable(word: OsString) -> Result<(OsString, OsString), String> {
    let bytes = word.into_vec();
    match bytes.iter().position(|byte| *byte == b'=') {
        None | Some(0) => Err("it must be NAME=VALUE".to_owned()),
        Some(place) => {
            let (name, value) = (&bytes[..place], &bytes[place + 1..]);
            Ok((OsString::from_vec(name.to_vec()), OsString::from_vec(value.to_vec())))
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_variable_may_have_any_bytes() {
        let word = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        let read = variable(word(b"A==\xff")).unwrap();
        assert_eq!(read, (word(b"A"), word(b"=\xff")));
        assert_eq!(variable(word(b"A=")).unwrap(), (word(b"A"), word(b"")));
        assert!(variable(word(b"=b")).is_err());
        assert!(variable(word(b"ab")).is_err());
    }
}
