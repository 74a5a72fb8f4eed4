//! The file: TOML, read strictly.

use std::collections::BTreeMap;
use std::fmt;

use pathmeter_trace::Event;
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use toml::Spanned;
use toml::value::Datetime;
use wildmatch::WildMatch;

use pathmeter_model::suggestion::add_suggestion;

use super::{Acceptance, Budget, Date, Increase, Limits, Rule, Section};
use crate::event_gate::unknown_event;

/// Most bytes of a file.
pub const MAX_BYTES: usize = 1 << 20;
/// The most rules and acceptances of one file.
const MAX_RULES: usize = 4096;

/// What is wrong with a budget.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct BudgetError {
    /// Line of the file, from 1, if it is about one.
    pub line: Option<usize>,
    pub what: String,
}

impl BudgetError {
    pub(crate) fn new(line: usize, what: String) -> Self {
        Self { line: Some(line), what }
    }

    fn of_all(what: &str) -> Self {
        Self { line: None, what: what.to_owned() }
    }
}

/// What the reader calls a type, and what people call it.
const PLAIN: [(&str, &str); 4] = [
    ("expected u64", "expected a number, not below 0 and without quotes"),
    ("expected a sequence", "expected [[accept]], in double brackets"),
    ("expected a map", "expected a table"),
    ("type: map", "type: table"),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    paths: BTreeMap<Spanned<String>, PathRules>,
    #[serde(default)]
    rows: BTreeMap<Spanned<String>, PathRules>,
    #[serde(default)]
    accept: Vec<Spanned<Accept>>,
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    rename_all = "kebab-case",
    expecting = "a table with max, max-increase or events"
)]
struct PathRules {
    max: Option<u64>,
    max_increase: Option<Increase>,
    events: Option<BTreeMap<Spanned<String>, OneRule>>,
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    rename_all = "kebab-case",
    expecting = "a table with max or max-increase"
)]
struct OneRule {
    max: Option<u64>,
    max_increase: Option<Increase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with path or row, reason and expires")]
struct Accept {
    path: Option<Spanned<String>>,
    row: Option<Spanned<String>>,
    reason: Spanned<String>,
    expires: Spanned<Datetime>,
}

/// Reads a budget from the bytes of a file.
///
/// # Errors
/// What is wrong, with the line. The caller adds the file's name.
pub fn parse_budget(bytes: &[u8]) -> Result<Budget, BudgetError> {
    if bytes.len() > MAX_BYTES {
        return Err(BudgetError::of_all(&format!("the file is larger than {MAX_BYTES} bytes")));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = lines(&bytes[..error.valid_up_to()]);
        BudgetError::new(line, "the file is not UTF-8".to_owned())
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let file: File = toml::from_str(text).map_err(|error| BudgetError {
        line: error.span().map(|span| line(text, span.start)),
        what: add_suggestion(&plain(&error.message().trim_end().replace('\n', " "))),
    })?;
    let budget = Reader::new(text).budget(&file)?;
    match budget.paths.patterns().chain(budget.rows.patterns()).count() {
        0 => Err(BudgetError::of_all("there is no rule in it")),
        many if many > MAX_RULES => {
            Err(BudgetError::of_all(&format!("there are {many} rules, over {MAX_RULES}")))
        }
        _ => Ok(budget),
    }
}

/// The reader's message about a type, in plain words.
fn plain(message: &str) -> String {
    if !message.starts_with("invalid ") {
        return message.to_owned();
    }
    PLAIN.iter().fold(message.to_owned(), |text, (type_, word)| text.replace(type_, word))
}

/// The line, from 1, in which byte `at` of the text is.
fn line(text: &str, at: usize) -> usize {
    lines(&text.as_bytes()[..at.min(text.len())])
}

/// How many lines `bytes` have begun.
fn lines(bytes: &[u8]) -> usize {
    bytes.split(|&byte| byte == b'\n').count()
}

struct Reader {
    /// The byte offset at which each line ends.
    ends: Vec<usize>,
}

impl Reader {
    fn new(text: &str) -> Self {
        Self { ends: text.match_indices('\n').map(|(at, _)| at).collect() }
    }

    fn line<T>(&self, of: &Spanned<T>) -> usize {
        1 + self.ends.partition_point(|end| *end < of.span().start)
    }

    fn budget(&self, file: &File) -> Result<Budget, BudgetError> {
        let (mut paths, mut rows) = (Section::new("path"), Section::new("row"));
        for (name, stated) in &file.paths {
            paths.rules.extend(self.path_rules(name, stated)?);
        }
        for (name, stated) in &file.rows {
            rows.rules.extend(self.path_rules(name, stated)?);
        }
        for accept in &file.accept {
            let (section, name) = match (&accept.get_ref().path, &accept.get_ref().row) {
                (Some(path), None) => (&mut paths, path),
                (None, Some(row)) => (&mut rows, row),
                _ => {
                    let what = "state either `path` or `row`";
                    return Err(BudgetError::new(self.line(accept), what.to_owned()));
                }
            };
            section.accepted.push(self.acceptance(name, accept.get_ref())?);
        }
        Ok(Budget { paths, rows })
    }

    fn path_rules(
        &self,
        name: &Spanned<String>,
        stated: &PathRules,
    ) -> Result<Vec<Rule>, BudgetError> {
        let mut rules = Vec::new();
        if let Some(limits) = limits(stated.max, stated.max_increase) {
            rules.push(self.rule(name, self.line(name), None, limits)?);
        }
        for (word, stated) in stated.events.iter().flatten() {
            let line = self.line(word);
            let limits = limits(stated.max, stated.max_increase)
                .ok_or_else(|| BudgetError::new(line, states_nothing(word.get_ref())))?;
            let event = event(word.get_ref(), line)?;
            if event == Event::Clock && limits.max_increase.is_some() {
                let what = "the clock is not compared: state `max`, or limit instructions";
                return Err(BudgetError::new(line, what.to_owned()));
            }
            rules.push(self.rule(name, line, Some(event), limits)?);
        }
        match rules.len() {
            0 => Err(BudgetError::new(self.line(name), states_nothing(name.get_ref()))),
            _ => Ok(rules),
        }
    }

    fn rule(
        &self,
        name: &Spanned<String>,
        line: usize,
        event: Option<Event>,
        limits: Limits,
    ) -> Result<Rule, BudgetError> {
        Ok(Rule { names: self.pattern(name)?, line, event, limits })
    }

    fn acceptance(
        &self,
        name: &Spanned<String>,
        accept: &Accept,
    ) -> Result<Acceptance, BudgetError> {
        let Accept { reason, expires, .. } = accept;
        if reason.get_ref().trim().is_empty() {
            return Err(BudgetError::new(self.line(reason), "the reason is empty".to_owned()));
        }
        let Datetime { date: Some(date), time: None, offset: None } = expires.get_ref() else {
            let what = "`expires` is a day such as 2027-03-31, without a time";
            return Err(BudgetError::new(self.line(expires), what.to_owned()));
        };
        let expires = day(*date).ok_or_else(|| {
            BudgetError::new(self.line(expires), format!("there is no day {date}"))
        })?;
        Ok(Acceptance {
            names: self.pattern(name)?,
            line: self.line(name),
            reason: reason.get_ref().clone(),
            expires,
        })
    }

    fn pattern(&self, name: &Spanned<String>) -> Result<WildMatch, BudgetError> {
        let text = name.get_ref();
        if text.is_empty() || text.chars().any(char::is_control) {
            let what = format!("`{}` is no name", text.escape_debug());
            return Err(BudgetError::new(self.line(name), what));
        }
        Ok(WildMatch::new(text))
    }
}

fn limits(max: Option<u64>, max_increase: Option<Increase>) -> Option<Limits> {
    (max.is_some() || max_increase.is_some()).then_some(Limits { max, max_increase })
}

fn states_nothing(name: &str) -> String {
    format!("{}: neither `max` nor `max-increase` is stated", name.escape_debug())
}

fn event(word: &str, line: usize) -> Result<Event, BudgetError> {
    Event::from_name(word).ok_or_else(|| BudgetError::new(line, unknown_event(word, &[])))
}

impl<'de> Deserialize<'de> for Increase {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IncreaseVisitor)
    }
}

struct IncreaseVisitor;

impl Visitor<'_> for IncreaseVisitor {
    type Value = Increase;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, not below 0, or a percentage such as \"0.5%\"")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Increase, E> {
        let number = u64::try_from(number);
        number
            .map(Increase::Number)
            .map_err(|_| E::invalid_value(de::Unexpected::Other("a negative number"), &self))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Increase, E> {
        let thousandths = thousandths(text).map(Increase::Thousandths);
        thousandths.ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

/// `0.5%` as 500: at most three decimals, and at most six digits before them.
fn thousandths(text: &str) -> Option<u64> {
    let number = text.strip_suffix('%')?.trim_end();
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || whole.len() > 6 || part.len() > 3 {
        return None;
    }
    Some(whole.parse::<u64>().ok()? * 1000 + format!("{part:0<3}").parse::<u64>().ok()?)
}

impl fmt::Display for Increase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Thousandths(parts) => {
                let text = format!("{}.{:03}", parts / 1000, parts % 1000);
                write!(f, "{}%", text.trim_end_matches('0').trim_end_matches('.'))
            }
        }
    }
}

/// A day as TOML has it.
fn day(date: toml::value::Date) -> Option<Date> {
    let year = i16::try_from(date.year).ok()?;
    let (month, day) = (i8::try_from(date.month).ok()?, i8::try_from(date.day).ok()?);
    Date::new(year, month, day).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> (Option<usize>, String) {
        let error = parse_budget(text.as_bytes()).unwrap_err();
        (error.line, error.what)
    }

    #[test]
    fn a_percentage_is_exact() {
        let texts = ["0%", "0.5%", "12.345 %", "100%", "0.050%"].map(thousandths);
        assert_eq!(texts, [Some(0), Some(500), Some(12_345), Some(100_000), Some(50)]);
        for text in ["", "%", "5", "-1%", "1.2345%", "1e3%", ".5%", "5.%", "nan%", "1234567%"] {
            assert_eq!(thousandths(text), None, "{text}");
        }
        let shown = [500, 12_345, 100_000, 0].map(|parts| Increase::Thousandths(parts).to_string());
        assert_eq!(shown, ["0.5%", "12.345%", "100%", "0%"]);
    }

    #[test]
    fn an_error_names_its_line() {
        let cases = [
            ("[paths.\"a.b\"]\nmax = 3\nmaks = 4\n", 3, "did you mean `max`?"),
            ("\n[path.\"a.b\"]\nmax = 3\n", 2, "unknown field `path`"),
            ("[paths.\"a.b\"]\nmax = -3\n", 2, "invalid value"),
            ("[paths.\"a.b\"]\n\nmax-increase = \"half\"\n", 3, "a percentage such as"),
            ("[paths.\"a.b\"]\nmax-increase = -1\n", 2, "a negative number"),
            ("[paths.\"a.b\"]\nmax = 3\n[paths.\"a.*\"]\n", 3, "a.*: neither `max` nor"),
            ("[paths.\"a.b\".events]\nlfense = { max = 1 }\n", 2, "did you mean lfence"),
            ("[paths.\"a.b\".events]\nlfence = {}\n", 2, "lfence: neither"),
            ("[paths.\"a.b\"]\nmax = 3\n[paths.\"a.b\"]\nmax = 4\n", 3, "duplicate"),
            ("[paths.\"\"]\nmax = 3\n", 1, "is no name"),
            ("[[accept]]\npath = \"a\"\nreason = \" \"\nexpires = 2027-01-01\n", 3, "reason"),
            ("[[accept]]\npath = \"a\"\nreason = \"x\"\nexpires = 07:00:00\n", 4, "a day such as"),
            ("[[accept]]\npath = \"a\"\nreason = \"x\"\nexpires = 2027-02-30\n", 4, ""),
            ("[[accept]]\npath = \"a\"\nreason = \"x\"\n", 1, "missing field `expires`"),
            ("[[accept]]\nreason = \"x\"\nexpires = 2027-01-01\n", 1, "either `path` or `row`"),
            ("[paths]\na = 3\n", 2, "integer `3`, expected a table with max, max-increase or"),
            ("[paths.a.events]\nrdpmc = 3\n", 2, "expected a table with max or max-increase"),
            ("[paths.a]\nmax = \"1%\"\n", 2, "expected a number, not below 0 and without"),
            ("[accept]\npath = \"a\"\n", 1, "type: table, expected [[accept]], in double"),
            ("[rows.mmap]\n", 1, "mmap: neither `max` nor"),
            ("[rows.mmap.events]\nlfense = { max = 1 }\n", 2, "lfense is no event"),
        ];
        for (text, line, words) in cases {
            let (found, what) = wrong(text);
            assert!(what.contains(words), "{text}: {what}");
            assert_eq!(found, Some(line), "{text}: {what}");
        }
    }

    #[test]
    fn what_is_no_budget_at_all_is_refused() {
        assert_eq!(wrong("").1, "there is no rule in it");
        assert!(wrong(&"#".repeat(MAX_BYTES + 1)).1.contains("larger"));
        let error = parse_budget(b"# fine\n# \xff\n").unwrap_err();
        assert_eq!((error.line, &*error.what), (Some(2), "the file is not UTF-8"));
        let many: Vec<String> = (0..5000).map(|n| format!("[paths.a{n}]\nmax = 1\n")).collect();
        assert!(wrong(&many.concat()).1.contains("5000 rules"));
    }

    #[test]
    fn an_editors_byte_order_mark_is_skipped() {
        assert!(parse_budget("\u{feff}[paths.a]\nmax = 1\n".as_bytes()).is_ok());
    }
}
