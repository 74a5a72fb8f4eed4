//! The lab kernel as a subject: how many CPUs its machine has, its policies on its command line, and its
//! own words when it stops.

use std::path::Path;

use pathmeter_vm::{Settings, VmError, Words};

use crate::exact::Image;
use crate::failure::Failure;
use crate::subject;

/// The lab kernel, as a subject asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lab {
    /// Its policies: `policy=value,…`.
    pub(crate) policies: String,
    /// CPUs of its machine, 1 or 2, which are no policy: results with other ones are not compared. The
    /// kernel knows eight, but more than two don't run exactly (`docs/exactness.md`).
    pub(crate) cpus: u32,
}

impl Lab {
    /// What `subject` asks for, if it is the lab kernel; of its words only `cpus=N` is known here, the
    /// kernel judges the others.
    pub(crate) fn asked_by(subject: &Path) -> Result<Option<Self>, Failure> {
        let Some(words) = subject::lab_words(subject) else { return Ok(None) };
        let (cpus, policies): (Vec<&str>, Vec<&str>) =
            words.split(',').partition(|word| word.starts_with("cpus="));
        let cpus = match cpus[..] {
            [] | ["cpus=1"] => Some(1),
            ["cpus=2"] => Some(2),
            _ => None,
        };
        match cpus {
            Some(cpus) => Ok(Some(Self { policies: policies.join(","), cpus })),
            None => Err(Failure::Usage {
                message: format!("{}: the lab kernel can't have these CPUs", subject.display()),
                help: "say cpus=1 or cpus=2, once: more CPUs would not run exactly".to_owned(),
            }),
        }
    }

    /// The guest's settings for it.
    pub(crate) fn settings(&self, usual: &Settings) -> Settings {
        let words = [&pathmeter_lab::command_line(&self.policies), &usual.append[..]].join(" ");
        let append = words.trim().to_owned();
        Settings { words: Words::None, append, cpus: self.cpus, ..usual.clone() }
    }
}

/// Why `image` could not be measured. The lab kernel checks its command line itself: what it says of
/// it is the user's mistake, or this machine's limit.
pub(crate) fn failure(image: &Image, error: VmError) -> Failure {
    if image.lab.is_none() {
        return Failure::measuring(&image.path, error);
    }
    let console = error.console().map(ToString::to_string).unwrap_or_default();
    let subject = image.path.display();
    if let Some((message, rest)) = said(&console, pathmeter_lab::BAD_COMMAND_LINE) {
        return Failure::Usage { message: format!("{subject}: {message}"), help: rest };
    }
    match said(&console, pathmeter_lab::UNSUPPORTED) {
        Some((reason, _)) => Failure::UnsupportedHere { subject: image.path.clone(), reason },
        None => Failure::measuring(&image.path, error),
    }
}

/// What the console says behind `mark`, and the lines before that: the valid policies.
fn said(console: &str, mark: &str) -> Option<(String, String)> {
    let lines: Vec<&str> = console
        .lines()
        .map(|line| line.trim_start().strip_prefix("| ").unwrap_or(line).trim_end())
        .filter(|line| !line.is_empty())
        .collect();
    let place = lines.iter().position(|line| line.starts_with(mark))?;
    let message = lines[place][mark.len()..].trim().to_owned();
    Some((message, lines[..place].join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_come_before_what_the_user_appends() {
        let usual = Settings { append: "test.x".to_owned(), ..Settings::default() };
        let line = |subject| asked(subject).unwrap().settings(&usual).command_line();
        assert_eq!((line("lab:a=b,c=d"), line("lab")), ("a=b c=d test.x".into(), "test.x".into()));
    }

    fn asked(subject: &str) -> Result<Lab, Failure> {
        Lab::asked_by(Path::new(subject)).map(Option::unwrap)
    }

    #[test]
    fn cpus_are_the_machines_wherever_the_word_stands() {
        let two = |policies: &str| Lab { policies: policies.to_owned(), cpus: 2 };
        assert_eq!(asked("lab:cpus=2").unwrap(), two(""));
        for subject in ["lab:cpus=2,a=b,c=d", "lab:a=b,cpus=2,c=d", "lab:a=b,c=d,cpus=2"] {
            assert_eq!(asked(subject).unwrap(), two("a=b,c=d"));
        }
        assert_eq!(asked("lab:max-cpus=9").unwrap().cpus, 1);
        assert_eq!(asked("lab:cpus=2").unwrap().settings(&Settings::default()).cpus, 2);
        assert_eq!(Lab::asked_by(Path::new("./lab:cpus=2")).unwrap(), None);
    }

    #[test]
    fn a_wrong_number_of_cpus_is_answered_with_the_right_ones() {
        for words in [
            "cpus=0",
            "cpus=3",
            "cpus=+2",
            "cpus=02",
            "cpus=x",
            "cpus=",
            "cpus=-1",
            "cpus=2,a=b,cpus=2",
        ] {
            let failure = asked(&format!("lab:{words}")).unwrap_err();
            assert_eq!(failure.exit(), crate::failure::Exit::Usage, "{words}");
            assert!(failure.advice().unwrap().contains("cpus=1 or cpus=2"), "{words}");
        }
    }

    #[test]
    fn the_kernels_own_words_are_found_on_its_console() {
        let console = "\n  | policies:\n  |   y=z\n  | lab: bad command line: no x";
        let (message, rest) = said(console, pathmeter_lab::BAD_COMMAND_LINE).unwrap();
        assert_eq!((&message[..], &rest[..]), ("no x", "policies:\n  y=z"));
        assert_eq!(said(console, pathmeter_lab::UNSUPPORTED), None);
    }
}
