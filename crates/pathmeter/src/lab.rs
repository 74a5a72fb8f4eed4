//! The lab kernel as a subject: its policies on its command line, and its own words when it stops.

use pathmeter_vm::{Settings, VmError, Words};

use crate::exact::Image;
use crate::failure::Failure;

/// The guest's settings for the lab kernel with these policies.
pub(crate) fn settings(usual: &Settings, policies: &str) -> Settings {
    let words = [&pathmeter_lab::command_line(policies), &usual.append[..]].join(" ");
    Settings { words: Words::None, append: words.trim().to_owned(), ..usual.clone() }
}

/// Why `image` could not be measured. The lab kernel checks its command line itself: what it says of
/// it is the user's mistake, or this machine's limit.
pub(crate) fn failure(image: &Image, error: VmError) -> Failure {
    if image.policies.is_none() {
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
        assert_eq!(settings(&usual, "a=b,c=d").command_line(), "a=b c=d test.x");
        assert_eq!(settings(&usual, "").command_line(), "test.x");
    }

    #[test]
    fn the_kernels_own_words_are_found_on_its_console() {
        let console = "\n  | policies:\n  |   y=z\n  | lab: bad command line: no x";
        let (message, rest) = said(console, pathmeter_lab::BAD_COMMAND_LINE).unwrap();
        assert_eq!((&message[..], &rest[..]), ("no x", "policies:\n  y=z"));
        assert_eq!(said(console, pathmeter_lab::UNSUPPORTED), None);
    }
}
