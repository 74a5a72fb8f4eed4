//! The command line of `/paths`: how pid 1 starts a perturbed run.

use pathmeter_probes::Round;
use pathmeter_probes::text::Text;
use pathmeter_wire::plan;

use crate::trouble::Trouble;

/// One perturbed run of one round.
#[derive(Debug)]
pub(crate) struct Command {
    /// The run's number, from 0.
    pub(crate) number: u32,
    pub(crate) round: Round,
    /// Whether there is a far network namespace.
    pub(crate) has_far: bool,
}

impl Command {
    /// Reads the arguments that pid 1 passed, the program's name first.
    pub(crate) fn read(arguments: &[&[u8]]) -> Result<Self, Trouble> {
        let (words, has_far) = match arguments {
            [words @ .., b"far"] => (words, true),
            words => (words, false),
        };
        let (number, name) = match words {
            [_, number, name] => (*number, *name),
            _ => (&b""[..], &b""[..]),
        };
        let round = Round::ALL.into_iter().find(|round| round.name().as_bytes() == name);
        match (plan::number(number), round) {
            (Some(number), Some(round)) => Ok(Self { number, round, has_far }),
            _ => Err(Text::format(format_args!(
                "/paths does not understand its arguments: {} {}",
                core::str::from_utf8(number).unwrap_or("?"),
                core::str::from_utf8(name).unwrap_or("?"),
            ))),
        }
    }
}

/// A C string of a command line.
#[cfg(feature = "init")]
pub(crate) type Word = Text<16>;

/// The last word of a perturbed run's command line if there is a far network namespace.
#[cfg(feature = "init")]
pub(crate) const FAR: &[u8] = b"far\0";

/// The command line of a perturbed run; each word ends in NUL.
#[cfg(feature = "init")]
pub(crate) fn words(number: u32, round: Round) -> [Word; 3] {
    [
        Text::format(format_args!("/paths\0")),
        Text::format(format_args!("{number}\0")),
        Text::format(format_args!("{}\0", round.name())),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_perturbed_run_understands_how_it_is_started() {
        for (number, round) in [(0, Round::Busy), (7, Round::Idle), (u32::MAX, Round::Idle)] {
            let words = words(number, round);
            let words = words.each_ref().map(|word| word.as_bytes().strip_suffix(b"\0").unwrap());
            let far = FAR.strip_suffix(b"\0").unwrap();
            for (words, far) in [(&words[..], false), (&[&words[..], &[far]].concat(), true)] {
                let read = Command::read(words).unwrap();
                assert_eq!((read.number, read.round, read.has_far), (number, round, far));
            }
        }
    }

    #[test]
    fn arguments_that_are_malformed_are_named() {
        let wrong: [&[&[u8]]; 7] = [
            &[],
            &[b"/paths"],
            &[b"/paths", b"1", b"busy", b"more"],
            &[b"/paths", b"", b"busy"],
            &[b"/paths", b"x", b"busy"],
            &[b"/paths", b"1", b"lazy"],
            &[b"/paths", b"1", b"\xff"],
        ];
        for words in wrong {
            let trouble = Command::read(words).unwrap_err();
            let text = core::str::from_utf8(trouble.as_bytes()).unwrap();
            assert!(text.starts_with("/paths does not understand its arguments: "), "{text}");
        }
    }
}
