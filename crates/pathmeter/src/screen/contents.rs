//! What the files that verbs write hold, and names of files that promise something else.

use std::path::Path;

use crate::failure::Failure;
use pathmeter_report::{FORMATS, Format};

#[derive(Clone, Copy)]
pub(crate) enum Contents {
    /// A single document in JSON.
    Json,
    /// Several documents in JSON, one a line.
    Lines,
    Svg,
    /// A page, or a picture if its name says so.
    Page,
    /// Stacks as flame graph tools read them, or a profile in callgrind's format.
    Text,
    /// The profile of a CPU.
    Toml,
    /// Rows in a format for other programs.
    Rows(Format),
}

/// An option that names a file, what is written to that, and the file if it is given.
#[derive(Clone, Copy)]
pub(crate) struct Output<'a> {
    pub(crate) option: &'static str,
    pub(crate) contents: Contents,
    pub(crate) file: Option<&'a Path>,
}

/// Ends of names that promise what no verb writes.
const OTHERS: [&str; 10] =
    ["docx", "gif", "jpeg", "jpg", "odt", "pdf", "png", "ps", "webp", "yaml"];

/// Ends of names that promise something else than a format does.
const OURS: [&str; 6] = ["htm", "html", "json", "jsonl", "svg", "toml"];

impl Contents {
    /// The ends that fit, the usual one first; any end that promises nothing fits, too.
    fn ends(self) -> Vec<&'static str> {
        match self {
            Self::Json => vec!["json"],
            Self::Lines => vec!["jsonl", "json", "txt"],
            Self::Svg => vec!["svg"],
            Self::Page => vec!["html", "htm", "svg"],
            Self::Text => vec!["txt"],
            Self::Toml => vec!["toml"],
            // All of them are texts.
            Self::Rows(format) => vec![format.ending, "txt"],
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Lines => "JSON, a document a line",
            Self::Svg => "SVG",
            Self::Page => "HTML or SVG",
            Self::Text => "text",
            Self::Toml => "TOML",
            Self::Rows(format) => format.word,
        }
    }
}

impl Output<'_> {
    /// Refuses a file whose name promises another format.
    ///
    /// # Errors
    /// It does.
    pub(crate) fn refuse_promise(&self) -> Result<(), Failure> {
        let Some(file) = self.file else { return Ok(()) };
        let end = file.extension().map(|end| end.to_string_lossy().to_lowercase());
        let is_format = |end: &str| FORMATS.iter().any(|format| format.ending == end);
        let promises = |end: &str| OTHERS.contains(&end) || OURS.contains(&end) || is_format(end);
        let ends = self.contents.ends();
        let Some(end) = end.filter(|end| promises(end) && !ends.contains(&&**end)) else {
            return Ok(());
        };
        let (option, words) = (self.option, self.contents.words());
        let message = match self.contents {
            Contents::Page => {
                format!("{}: a report can't be {}", file.display(), end.to_uppercase())
            }
            Contents::Rows(_) => format!("{}: {option} {words}= writes {words}", file.display()),
            _ => format!("{}: {option} writes {words}", file.display()),
        };
        Err(Failure::Usage { message, help: self.contents.help(&end, file) })
    }
}

impl Contents {
    /// What to do about a name with this end.
    fn help(self, end: &str, file: &Path) -> String {
        let own = self.ends()[0];
        let format = FORMATS.iter().find(|format| format.ending == end);
        match (self, format) {
            (Self::Page, _) => {
                "name FILE.html for the page, or FILE.svg for the heat map as a picture; \
                 `pathmeter compare` writes json, csv, markdown and others (--json, --write \
                 FORMAT=FILE); a browser prints the page to PDF"
                    .to_owned()
            }
            (Self::Json, _) if ["html", "svg"].contains(&end) => {
                format!("use pathmeter report SUBJECT… -o {}, or name a .json file", file.display())
            }
            (Self::Json | Self::Rows(_), Some(format)) => format!(
                "use --write {}={}, where a verb has it, or name a .{own} file",
                format.word,
                file.display()
            ),
            _ => format!("name a .{own} file"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_promise_what_the_file_holds_or_nothing() {
        let refuses = |contents, file: &str| {
            let (option, file) = ("--output", Some(Path::new(file)));
            Output { option, contents, file }.refuse_promise().is_err()
        };
        let csv = FORMATS.iter().copied().find(|format| format.word == "csv").unwrap();
        for (contents, good, bad) in [
            (Contents::Json, &["a.json", "a.JSON"][..], &["a.pdf", "a.toml", "a.csv", "a.txt"][..]),
            (Contents::Lines, &["a.jsonl", "a.json"], &["a.svg", "a.html"]),
            (Contents::Svg, &["a.svg", "a.SVG"], &["a.png", "a.PNG", "a.html", "a.json"]),
            (Contents::Page, &["a.html", "a.htm", "a.svg"], &["a.pdf", "a.json", "a.md"]),
            (Contents::Text, &["a.txt", "a.folded", "callgrind.out"], &["a.svg", "a.json"]),
            (Contents::Toml, &["a.toml"], &["a.json", "a.yaml"]),
            (Contents::Rows(csv), &["a.csv", "a.txt"], &["a.json", "a.xml", "a.pdf"]),
        ] {
            for file in [good, &["a", "-", "/dev/null", "a.out", "6.1.192"]].concat() {
                assert!(!refuses(contents, file), "{file}: {}", contents.words());
            }
            for file in bad {
                assert!(refuses(contents, file), "{file}: {}", contents.words());
            }
        }
    }
}
