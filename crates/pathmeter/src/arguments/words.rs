//! A command that is one argument, written as for a shell.

use std::ffi::OsString;

/// The words of a command, at least one.
#[derive(Clone, Debug)]
pub(crate) struct Words(pub(crate) Vec<OsString>);

/// Splits it as a shell does, without expanding anything.
pub(crate) fn words(text: &str) -> Result<Words, String> {
    let words = shlex::split(text).ok_or("a quote has no end")?;
    if words.is_empty() {
        return Err("it has no word".to_owned());
    }
    Ok(Words(words.into_iter().map(OsString::from).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_as_a_shell_splits_it() {
        let Ok(Words(found)) = words("./sort -k '2 3' $HOME \"a b\"") else { panic!() };
        assert_eq!(found, ["./sort", "-k", "2 3", "$HOME", "a b"]);
        for (text, why) in [("", "it has no word"), ("  ", "it has no word"), ("a 'b", "a quote")] {
            assert!(words(text).is_err_and(|error| error.starts_with(why)), "{text}");
        }
    }
}
