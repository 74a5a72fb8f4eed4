//! Whether the kernel took a setting: what its own files show of it.
//!
//! The agent writes files and reads them back, and tells what it made otherwise; what a word of the
//! command line did is read where the table has it. What a kernel ignored is an error that names
//! what it has instead; what no file shows is unproved, and stays so in the document.

mod table;
#[cfg(test)]
mod tests;

use pathmeter_wire::condition::MAX_SHOWN_TEXT;
use serde::{Deserialize, Serialize};

use self::table::ROWS;

/// The parameters of the command line of which something is known here.
pub fn known_words() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.word)
}

/// What is known of a setting in the guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    pub setting: String,
    /// Whether the setting took effect.
    pub state: ProofState,
    /// The file that shows it, and what that reads; or why nothing does.
    pub shown: String,
}

/// Whether a setting took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProofState {
    /// The kernel shows that it did.
    Proved,
    /// Nothing shows whether it did.
    Unproved,
    /// The kernel shows that it makes no difference on this CPU.
    Moot,
}

/// A file that shows settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct File {
    folder: &'static str,
    name: &'static str,
    /// What a line of it must hold to be read.
    part: &'static str,
}

/// How a value is shown.
#[derive(Clone, Copy, Debug)]
enum Test {
    /// The text is the value; numbers and truth in any notation.
    Equal,
    /// The value is the word in brackets.
    Chosen,
    /// A line has one of these; `^` is its beginning, `$` its end.
    Any(&'static [&'static str]),
    /// The line's part with the first text in it, up to a semicolon, has one of these.
    State(&'static str, &'static [&'static str]),
    /// There is no such line.
    None,
    /// This is not in the text.
    Not(&'static str),
    /// The value is in a list with commas.
    Listed,
    /// The list has the value's words, and no others but those that are always there.
    Modules,
    /// The file is there at all.
    Exists,
    /// It reads 1, for a letter of the value.
    Letter,
    /// The agent compared it when it wrote it.
    Held,
    /// The agent tells it, and no file does.
    Told,
}

/// What shows a word of the command line with some of its values.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// The parameter of the command line.
    word: &'static str,
    /// Its values, `|` between them; none for a word without a value, `*` for all that no other
    /// row has.
    values: &'static str,
    file: File,
    test: Test,
    /// Where Linux's source does this.
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers of the table"))]
    source: &'static str,
    help: Option<&'static str>,
    /// What lists the values that can be chosen.
    listing: Option<File>,
    /// Memory of a guest without which the value can't be had, in MiB.
    memory_mib: u32,
}

/// A file to be read for a setting, and what it must show.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// Its path, and what a line must hold.
    pub(crate) path: String,
    pub(crate) part: &'static str,
    test: Test,
    help: Option<&'static str>,
    listing: Option<String>,
    memory_mib: u32,
}

/// What was read of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Read {
    path: String,
    part: &'static str,
    /// Its lines, or the error's number.
    text: Result<String, u64>,
}

/// What a file says of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Judged {
    Proved(String),
    Unproved(String),
    Moot(String),
    Ignored { what: String, help: Option<&'static str>, unseen: bool },
}

/// A setting that the kernel ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ignored {
    /// In words, what the kernel has.
    pub(crate) what: String,
    pub(crate) help: Option<&'static str>,
    /// Whether no guest like this one can have it.
    pub(crate) unseen: bool,
}

impl Question {
    /// A file that the agent wrote.
    pub(crate) fn held(path: String) -> Self {
        let (test, part) = (Test::Held, "");
        Self { path, part, test, help: None, listing: None, memory_mib: 0 }
    }

    /// A question that the agent answers in words, for a setting that no file shows.
    pub(crate) fn for_agent(setting: String) -> Self {
        Self { test: Test::Told, ..Self::held(setting) }
    }

    /// The files that show this word of the command line.
    pub(crate) fn of_word(word: &str) -> Vec<Self> {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let name = name.replace('-', "_");
        if let Some(sysctl) = name.strip_prefix("sysctl.") {
            return vec![Self::equal(format!("/proc/sys/{}", sysctl.replace('.', "/")))];
        }
        let of_word = || ROWS.iter().filter(|row| row.word == name);
        let mut rows: Vec<&Row> = of_word().filter(|row| row.is_for(value)).collect();
        if rows.is_empty() {
            rows = of_word().filter(|row| row.values == "*").collect();
        }
        if let ([], Some((module, parameter))) = (&rows[..], name.split_once('.'))
            && !["cgroup", "lsm"].contains(&module)
        {
            return vec![Self::equal(format!("/sys/module/{module}/parameters/{parameter}"))];
        }
        rows.into_iter().map(Self::of_row).collect()
    }

    fn of_row(row: &Row) -> Self {
        Self {
            path: row.file.path(),
            part: row.file.part,
            test: row.test,
            help: row.help,
            listing: row.listing.map(File::path),
            memory_mib: row.memory_mib,
        }
    }

    fn equal(path: String) -> Self {
        Self { test: Test::Equal, ..Self::held(path) }
    }

    /// What the agent is asked to read for it.
    pub(crate) fn reads(&self) -> impl Iterator<Item = (&str, &'static str)> {
        let listing = self.listing.iter().map(|path| (path.as_str(), ""));
        std::iter::once((self.path.as_str(), self.part)).chain(listing)
    }

    fn judge(&self, value: &str, read: &[Read], memory_mib: u32) -> Judged {
        let find =
            |path: &str, part: &str| read.iter().find(|it| it.path == path && it.part == part);
        let text = match find(&self.path, self.part).map(|read| &read.text) {
            Some(Ok(text)) => text.trim_end(),
            _ => return Judged::Unproved(format!("this kernel has no readable {}", self.path)),
        };
        let says = match text {
            "" if !self.part.is_empty() => {
                format!("{} has no line with {:?}", shown_as(&self.path), self.part)
            }
            text if matches!(self.test, Test::Told) => text.to_owned(),
            text => format!("{} reads {}", shown_as(&self.path), shown_text(text)),
        };
        match self.test.holds(value, text) {
            Some(Held::Yes) => Judged::Proved(says),
            Some(Held::Moot) => Judged::Moot(says),
            Some(Held::No) => {
                let listing = self.listing.as_ref().and_then(|path| find(path, ""));
                let listed = listing.and_then(|read| Some((&read.path, read.text.as_ref().ok()?)));
                let listed = listed.map_or_else(String::new, |(path, text)| {
                    format!("; {} reads {}", shown_as(path), shown_text(text.trim_end()))
                });
                let unseen = memory_mib < self.memory_mib;
                let help = self.help.filter(|_| unseen || self.memory_mib == 0);
                Judged::Ignored { what: says + &listed, help, unseen }
            }
            None => Judged::Unproved(says),
        }
    }
}

/// What a list of files makes of one setting with this value.
pub(crate) fn prove(
    setting: String,
    value: &str,
    questions: &[Question],
    (read, memory_mib): (&[Read], u32),
) -> Result<Proof, Ignored> {
    let mut proof = None;
    for question in questions {
        let (state, shown) = match question.judge(value, read, memory_mib) {
            Judged::Ignored { what, help, unseen } => return Err(Ignored { what, help, unseen }),
            Judged::Proved(shown) => (ProofState::Proved, shown),
            Judged::Unproved(shown) => (ProofState::Unproved, shown),
            Judged::Moot(shown) => (ProofState::Moot, shown),
        };
        let strength = |state| match state {
            ProofState::Proved => 2,
            ProofState::Unproved => 1,
            ProofState::Moot => 0,
        };
        if proof.as_ref().is_none_or(|(before, _)| strength(*before) < strength(state)) {
            proof = Some((state, shown));
        }
    }
    let nothing = || (ProofState::Unproved, "no known file of Linux shows it".to_owned());
    let (state, shown) = proof.unwrap_or_else(nothing);
    Ok(Proof { setting, state, shown })
}

/// Whether a text shows a value.
enum Held {
    Yes,
    No,
    Moot,
}

impl From<bool> for Held {
    fn from(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

impl Test {
    /// None if it can't be told.
    fn holds(self, value: &str, text: &str) -> Option<Held> {
        let list = || text.split([',', ' ', '\n']).map(str::trim);
        Some(match self {
            Self::Equal => return equal(value, text).map(Held::from),
            Self::Chosen => text.contains(&format!("[{value}]")).into(),
            // A line that is missing in the log may have been overwritten.
            Self::Any(_) if text.is_empty() => return None,
            Self::Any(patterns) => {
                text.lines().any(|line| patterns.iter().any(|it| matches(it, line))).into()
            }
            Self::State(after, patterns) => return state(after, patterns, text),
            Self::None => text.is_empty().into(),
            Self::Not(word) => list().all(|it| it != word).into(),
            Self::Listed => list().any(|it| it == value).into(),
            Self::Modules => modules(value, text).into(),
            Self::Exists | Self::Held | Self::Told => Held::Yes,
            Self::Letter => (text == "1").into(),
        })
    }
}

impl Row {
    fn is_for(&self, value: &str) -> bool {
        match self.test {
            Test::Letter => is_letter_of(self.values, value),
            _ => self.values.split('|').any(|it| it == value),
        }
    }
}

/// Whether a list of letters has this one; no list stands for the usual ones.
fn is_letter_of(letter: &str, letters: &str) -> bool {
    let letters = if letters.is_empty() { "FZPU" } else { letters };
    letters.chars().all(|c| c.is_ascii_alphabetic()) && letters.to_uppercase().contains(letter)
}

/// States of a CPU on which a mitigation has nothing to do, or can do nothing.
const MOOT: [&str; 4] = [
    "Not affected",
    "Mitigation: SMT disabled",
    "Mitigation: TSX disabled",
    "Vulnerable: No microcode",
];

fn state(after: &str, patterns: &[&str], text: &str) -> Option<Held> {
    let line = text.lines().next().unwrap_or_default();
    let part = line.split([';']).map(str::trim).find(|part| part.contains(after))?;
    if MOOT.iter().any(|state| part.ends_with(state)) {
        return Some(Held::Moot);
    }
    if part.starts_with("Unknown") {
        return None;
    }
    Some(patterns.iter().any(|it| matches(it, part)).into())
}

/// Whether a text has a pattern, in which `^` is its beginning and `$` its end.
fn matches(pattern: &str, text: &str) -> bool {
    match (pattern.strip_prefix('^'), pattern.strip_suffix('$')) {
        (Some(_), Some(_)) => text == &pattern[1..pattern.len() - 1],
        (Some(begin), None) => text.starts_with(begin),
        (None, Some(end)) => text.ends_with(end),
        (None, None) => text.contains(pattern),
    }
}

/// Modules that a kernel that has them always lists.
const ALWAYS: [&str; 4] = ["lockdown", "capability", "ima", "evm"];

fn modules(value: &str, text: &str) -> bool {
    let asked: Vec<&str> = value.split(',').filter(|it| !it.is_empty()).collect();
    let listed: Vec<&str> = text.trim().split(',').collect();
    let is_asked = |it: &&str| asked.contains(it) || ALWAYS.contains(it);
    asked.iter().all(|it| listed.contains(it)) && listed.iter().all(is_asked)
}

/// Whether two notations are of one value; None if they differ and it can't be told.
fn equal(value: &str, text: &str) -> Option<bool> {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    if words(value) == words(text) || text.trim() == value {
        return Some(true);
    }
    let text = text.trim();
    match (truth(value), truth(text), number(value), number(text)) {
        (Some(one), Some(other), ..) => Some(one == other),
        (_, _, Some(one), Some(other)) => Some(one == other),
        // A name that differs is another choice; anything else may be another notation.
        (None, None, None, None) if is_name(value) && is_name(text) => Some(false),
        _ => None,
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
}

/// As the kernel reads it (`kstrtobool`); a parameter without a value is true.
fn truth(text: &str) -> Option<bool> {
    match text {
        "" | "1" | "y" | "Y" | "on" => Some(true),
        "0" | "n" | "N" | "off" => Some(false),
        _ => None,
    }
}

fn number(text: &str) -> Option<i64> {
    text.strip_prefix("0x").map_or_else(|| text.parse(), |it| i64::from_str_radix(it, 16)).ok()
}

impl File {
    fn path(self) -> String {
        format!("{}{}", self.folder, self.name)
    }
}

impl Read {
    /// What the agent sent of a file, which is not believed: without control characters, and no
    /// more than it may send.
    pub(crate) fn new((path, part): (&str, &'static str), error: u64, text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(&text[..text.len().min(MAX_SHOWN_TEXT)]);
        let is_log = path == "/dev/kmsg";
        let line = |line: &str| {
            let line = if is_log { line.split_once(';').map_or(line, |(_, it)| it) } else { line };
            line.chars().filter(|c| !c.is_control()).collect::<String>()
        };
        let text = text.lines().map(line).collect::<Vec<_>>().join("\n");
        let text = if error == 0 { Ok(text) } else { Err(error) };
        Self { path: path.to_owned(), part, text }
    }
}

/// A path as people are told it.
fn shown_as(path: &str) -> &str {
    if path == "/dev/kmsg" {
        return "the kernel's log";
    }
    path.strip_prefix("/sys/devices/system/cpu/").unwrap_or(path)
}

/// The first line of a text.
fn shown_text(text: &str) -> String {
    match text.lines().next().map(str::trim) {
        None | Some("") => "nothing".to_owned(),
        Some(line) => format!("{line:?}"),
    }
}
