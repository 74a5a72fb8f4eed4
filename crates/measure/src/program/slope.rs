//! What `run --slope` names: a word among a program's arguments, and the numbers that stand in its
//! place.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use crate::error::MeasureError;

/// Most numbers: the program is measured with each.
const MOST: usize = 64;

/// A word of a program's arguments, and the numbers that are put in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramSlope {
    pub word: String,
    /// The numbers, which ascend, each as the user wrote it.
    pub steps: Vec<(u64, String)>,
}

impl ProgramSlope {
    /// Reads `N=25,50,100`.
    ///
    /// # Errors
    /// What is no word with numbers, or too few numbers to tell a slope.
    pub fn parse(text: &str) -> Result<Self, String> {
        let shape = || {
            format!("{text}: --slope takes a word of PROGRAM's arguments and numbers: N=25,50,100")
        };
        let (word, list) = text.split_once('=').ok_or_else(shape)?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !word.starts_with(|c: char| c.is_ascii_alphabetic()) || !word.chars().all(is_name) {
            return Err(shape());
        }
        let step = |digits: &str| Ok((number(digits)?, digits.to_owned()));
        let steps: Vec<(u64, String)> = list
            .split(',')
            .map(step)
            .collect::<Result<_, String>>()
            .map_err(|what| format!("{text}: {what}"))?;
        if !steps.is_sorted_by(|one, next| one.0 < next.0) {
            return Err(format!("{text}: each number must be larger than the one before"));
        }
        if !(2..=MOST).contains(&steps.len()) {
            return Err(format!("{text}: a slope needs 2 to {MOST} numbers"));
        }
        Ok(Self { word: word.to_owned(), steps })
    }

    /// Refuses a program, with its arguments, of which no argument has the word.
    ///
    /// # Errors
    /// None has it.
    pub fn check(&self, command: &[OsString]) -> Result<(), MeasureError> {
        let has_word = |argument: &OsString| self.replace_word("", argument.as_bytes()).is_some();
        if command.iter().skip(1).any(has_word) {
            return Ok(());
        }
        let word = &self.word;
        Err(MeasureError::Request {
            message: format!("--slope: no argument of the program is {word}, or has {{{word}}}"),
            help: format!("put the word where a number is to be: -- PROGRAM {word}"),
        })
    }

    /// The program's name and arguments with these digits in place of the word. The name itself is
    /// no argument.
    #[must_use]
    pub fn replace_words(&self, command: &[OsString], digits: &str) -> Vec<OsString> {
        let replace = |(at, word): (usize, &OsString)| {
            let replaced = self.replace_word(digits, word.as_bytes()).filter(|_| at > 0);
            replaced.map_or_else(|| word.clone(), OsString::from_vec)
        };
        command.iter().enumerate().map(replace).collect()
    }

    /// The argument with these digits in place of the word, if it is the word or has it in braces.
    fn replace_word(&self, digits: &str, argument: &[u8]) -> Option<Vec<u8>> {
        if argument == self.word.as_bytes() {
            return Some(digits.as_bytes().to_vec());
        }
        let braced = format!("{{{}}}", self.word).into_bytes();
        let (mut put, mut rest) = (Vec::new(), argument);
        while let Some(at) = rest.windows(braced.len()).position(|part| part == braced) {
            put.extend([&rest[..at], digits.as_bytes()].concat());
            rest = &rest[at + braced.len()..];
        }
        put.extend(rest);
        (rest.len() < argument.len()).then_some(put)
    }
}

/// A number of decimal digits, and nothing else. It is below 2^32, so that functions of it, which
/// have its square, can be computed exactly.
fn number(digits: &str) -> Result<u64, String> {
    let is_decimal = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_decimal {
        return Err(format!("{digits:?} is no number"));
    }
    digits.parse::<u32>().map(u64::from).map_err(|_| format!("{digits} is over {}", u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slope() -> ProgramSlope {
        ProgramSlope::parse("N=5,010,20").unwrap()
    }

    fn replace(argument: &str) -> Option<String> {
        let replaced = slope().replace_word("010", argument.as_bytes());
        replaced.map(|word| String::from_utf8(word).unwrap())
    }

    #[test]
    fn numbers_are_put_as_they_are_written() {
        let steps = [(5, "5"), (10, "010"), (20, "20")];
        assert_eq!(slope().steps, steps.map(|(number, digits)| (number, digits.to_owned())));
        assert_eq!(replace("N").as_deref(), Some("010"));
        assert_eq!(replace("--count={N}").as_deref(), Some("--count=010"));
        assert_eq!(replace("{N}x{N}").as_deref(), Some("010x010"));
    }

    #[test]
    fn what_only_contains_the_letters_is_left_as_it_is() {
        for argument in ["", "NN", "-N", "n", "{NN}", "{ N }", "$N", "{N"] {
            assert_eq!(replace(argument), None, "{argument}");
        }
    }

    #[test]
    fn the_program_itself_is_no_argument() {
        let command = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        slope().check(&command(&["a", "b", "N"])).unwrap();
        for words in [&["N"][..], &["{N}", "x"], &["a"], &[]] {
            let refused = slope().check(&command(words)).unwrap_err().to_string();
            assert!(refused.contains("no argument of the program is N, or has {N}"), "{refused}");
        }
        let replaced = slope().replace_words(&command(&["N", "N", "{N}"]), "20");
        assert_eq!(replaced, command(&["N", "20", "20"]));
    }

    #[test]
    fn what_is_no_word_with_numbers_is_named() {
        for (text, why) in [
            ("25,50", "N=25,50,100"),
            ("=25,50", "N=25,50,100"),
            ("1=25,50", "N=25,50,100"),
            ("landlock:{1,2}", "N=25,50,100"),
            ("a b=1,2", "N=25,50,100"),
            ("N=", "\"\" is no number"),
            ("N=1,x", "\"x\" is no number"),
            ("N=1,+2", "\"+2\" is no number"),
            ("N=1, 2", "\" 2\" is no number"),
            ("N=-1,2", "\"-1\" is no number"),
            ("N=1.5,2", "\"1.5\" is no number"),
            ("N=1,4294967296", "4294967296 is over 4294967295"),
            ("N=1,1", "larger than the one before"),
            ("N=25,025", "larger than the one before"),
            ("N=2,1", "larger than the one before"),
            ("N=25", "2 to 64 numbers"),
        ] {
            let told = ProgramSlope::parse(text).unwrap_err();
            assert!(told.starts_with(text) && told.contains(why), "{told}");
        }
        let many: Vec<String> = (1..=65).map(|number: u32| number.to_string()).collect();
        assert!(ProgramSlope::parse(&format!("N={}", many.join(","))).is_err());
    }
}
