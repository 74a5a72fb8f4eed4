//! The agent's own command line: how pid 1 starts a perturbed run.

use pathmeter_catalogue::Round;
use pathmeter_probes::text::Text;
use pathmeter_wire::plan;

use crate::trouble::Trouble;

/// What this process is to be.
#[derive(Debug)]
pub(crate) enum Command {
    /// Pid 1. It may have been given any arguments: the kernel hands on what it does not know.
    Init,
    /// One perturbed run of one round.
    Start {
        /// The run's number, from 0.
        number: u32,
        /// Which paths it executes.
        round: Round,
        /// Whether there is a far network namespace.
        has_far: bool,
    },
}

impl Command {
    /// Reads the arguments that the kernel passed.
    pub(crate) fn read(arguments: &[&[u8]]) -> Result<Self, Trouble> {
        let (words, has_far) = match arguments {
            [words @ .., b"far"] => (words, true),
            words => (words, false),
        };
        let [_, b"start", number, round] = words else { return Ok(Self::Init) };
        let name = *round;
        let round = Round::ALL.into_iter().find(|round| round.name().as_bytes() == name);
        match (plan::number(number), round) {
            (Some(number), Some(round)) => Ok(Self::Start { number, round, has_far }),
            _ => Err(Text::format(format_args!(
                "the agent does not understand its own arguments: start {} {}",
                core::str::from_utf8(number).unwrap_or("?"),
                core::str::from_utf8(name).unwrap_or("?"),
            ))),
        }
    }
}

/// A C string of a command line.
pub(crate) type Word = Text<16>;

/// The last word of a perturbed run's command line if there is a far network namespace.
pub(crate) const FAR: &[u8] = b"far\0";

/// The command line of a perturbed run; each word ends in NUL.
pub(crate) fn start(number: u32, round: Round) -> [Word; 4] {
    [
        Text::format(format_args!("/init\0")),
        Text::format(format_args!("start\0")),
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
            let words = start(number, round);
            let words = words.each_ref().map(|word| word.as_bytes().strip_suffix(b"\0").unwrap());
            let far = FAR.strip_suffix(b"\0").unwrap();
            for (words, far) in [(&words[..], false), (&[&words[..], &[far]].concat(), true)] {
                match Command::read(words) {
                    Ok(Command::Start { number: n, round: r, has_far }) => {
                        assert_eq!((n, r, has_far), (number, round, far));
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
    }

    #[test]
    fn pid_1_takes_any_arguments() {
        for words in [&[][..], &[&b"/init"[..]], &[b"/init", b"quiet", b"1", b"busy"]] {
            assert!(matches!(Command::read(words), Ok(Command::Init)));
        }
    }

    #[test]
    fn arguments_that_are_malformed_are_named() {
        let wrong: [[&[u8]; 2]; 4] =
            [[b"", b"busy"], [b"x", b"busy"], [b"1", b"lazy"], [b"1", b"\xff"]];
        for [number, round] in wrong {
            let trouble = Command::read(&[b"/init", b"start", number, round]).unwrap_err();
            let text = core::str::from_utf8(trouble.as_bytes()).unwrap();
            let given = [number, round].map(|word| core::str::from_utf8(word).unwrap_or("?"));
            assert!(text.ends_with(&format!("start {} {}", given[0], given[1])), "{text}");
        }
    }
}
