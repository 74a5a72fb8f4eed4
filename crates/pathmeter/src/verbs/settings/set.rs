//! Sets of settings: the bundled ones, and files of the user's in the same form.
//!
//! What contradicts itself is refused with its line: nothing is measured of a set that is wrong.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::failure::Failure;
use pathmeter_vm::Condition;
use serde::Deserialize;
use toml::Spanned;

use pathmeter_measure::condition::under::condition;
use pathmeter_model::suggestion::{add_suggestion, suggest};

/// Sets that are bundled, by name.
pub(crate) const BUNDLED: [(&str, &str); 5] = [
    ("mitigations", include_str!("../../../sets/mitigations.toml")),
    ("hardening", include_str!("../../../sets/hardening.toml")),
    ("debug", include_str!("../../../sets/debug.toml")),
    ("scheduling", include_str!("../../../sets/scheduling.toml")),
    ("security", include_str!("../../../sets/security.toml")),
];
/// Longest file of a set.
const MOST_BYTES: u64 = 1 << 20;
/// Most settings of a set: each is a kernel to boot.
const MOST_SETTINGS: usize = 256;

/// A set, read and checked.
#[derive(Clone, Debug)]
pub(crate) struct Set {
    /// Its name, or its file.
    pub(crate) name: String,
    pub(crate) title: String,
    /// All that it sets, by one setting, if there is one.
    pub(crate) all: Option<Entry>,
    pub(crate) settings: Vec<Entry>,
}

/// One setting, or a few that only act together.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) condition: Condition,
    /// The same as it is written, with one space between settings.
    pub(crate) text: String,
    /// Where the entry's setting is described.
    pub(crate) source: String,
    /// What it turns off, in words, if it turns something off.
    pub(crate) turns_off: Option<String>,
    /// Why no guest of pathmeter's can show what it costs.
    pub(crate) unseen: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    title: String,
    all: Option<WrittenEntry>,
    #[serde(default)]
    setting: Vec<WrittenEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct WrittenEntry {
    condition: Spanned<String>,
    source: String,
    turns_off: Option<String>,
    unseen: Option<String>,
}

impl Set {
    /// The bundled set of this name, or that in the file.
    ///
    /// # Errors
    /// There is none, or it contradicts itself; with the line.
    pub(crate) fn open(name: &str) -> Result<Self, Failure> {
        if let Some((_, text)) = BUNDLED.iter().find(|(bundled, _)| *bundled == name) {
            return Self::read(name, text);
        }
        let mut text = String::new();
        File::open(name)
            .and_then(|file| file.take(MOST_BYTES + 1).read_to_string(&mut text))
            .map_err(|error| {
                let names = BUNDLED.map(|(name, _)| name).join(", ");
                Failure::Usage {
                    message: format!("--set {name}: no bundled set, and no file ({error})"),
                    help: format!(
                        "{}the bundled sets are {names}; docs/guide/settings.md has the form",
                        suggest(name, &BUNDLED.map(|(name, _)| name))
                    ),
                }
            })?;
        if text.len() as u64 > MOST_BYTES {
            return Err(set_error(name, None, &format!("it has more than {MOST_BYTES} bytes")));
        }
        // Profiles of filters are found from where the user is, as on the command line.
        Self::read(&Path::new(name).display().to_string(), &text)
    }

    /// The settings, the one that stands for all first.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = &Entry> {
        self.all.iter().chain(&self.settings)
    }

    fn read(name: &str, text: &str) -> Result<Self, Failure> {
        let line = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
        let written: Written = toml::from_str(text).map_err(|error| {
            let message = add_suggestion(error.message());
            set_error(name, error.span().map(|span| line(span.start)), &message)
        })?;
        let entry = |written: WrittenEntry| {
            let at = line(written.condition.span().start);
            let condition = condition(written.condition.get_ref())
                .map_err(|error| set_error(name, Some(at), &error))?;
            if condition.is_default() {
                return Err(set_error(name, Some(at), "this sets nothing"));
            }
            let WrittenEntry { condition: text, source, turns_off, unseen } = written;
            let text = text.get_ref().split_whitespace().collect::<Vec<_>>().join(" ");
            let turns_off = turns_off.or_else(|| known_to_turn_off(&text));
            Ok::<_, Failure>((at, Entry { condition, text, source, turns_off, unseen }))
        };
        if written.setting.is_empty() || written.setting.len() > MOST_SETTINGS {
            return Err(set_error(name, None, &format!("a set has 1 to {MOST_SETTINGS} settings")));
        }
        let all = written.all.map(entry).transpose()?;
        let settings: Vec<_> = written.setting.into_iter().map(entry).collect::<Result<_, _>>()?;
        let mut lines: HashMap<String, usize> = HashMap::new();
        for (at, Entry { condition, .. }) in all.iter().chain(&settings) {
            if let Some(first) = lines.insert(condition.fingerprint(), *at) {
                let what = format!("{condition} stands in line {first} already");
                return Err(set_error(name, Some(*at), &what));
            }
        }
        Ok(Self {
            name: name.to_owned(),
            title: written.title,
            all: all.map(|(_, all)| all),
            settings: settings.into_iter().map(|(_, entry)| entry).collect(),
        })
    }
}

/// What a condition turns off to which its set gives no words: those of a bundled set, or of the
/// condition itself if each of its settings ends in `=off`.
fn known_to_turn_off(text: &str) -> Option<String> {
    let bundled = BUNDLED.iter().filter_map(|(_, set)| toml::from_str::<Written>(set).ok());
    let mut entries = bundled.flat_map(|set| set.all.into_iter().chain(set.setting));
    let same = entries.find(|entry| entry.condition.get_ref() == text);
    let is_off = text.split_whitespace().all(|setting| setting.ends_with("=off"));
    same.and_then(|entry| entry.turns_off)
        .or_else(|| is_off.then(|| format!("what {text} turns off")))
}

fn set_error(name: &str, line: Option<usize>, what: &str) -> Failure {
    let line = line.map_or_else(String::new, |line| format!(":{line}"));
    Failure::Usage {
        message: format!("{name}{line}: {what}"),
        help: "docs/guide/settings.md has the form of a set".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bundled_set_is_one_and_names_its_sources() {
        for (name, _) in BUNDLED {
            let set = Set::open(name).unwrap();
            assert!(set.settings.iter().chain(&set.all).all(|entry| entry.source.len() > 10));
        }
    }

    #[test]
    fn what_a_setting_turns_off_has_words_of_its_set_or_of_a_bundled_one() {
        let words = |entry: &str| {
            let text = format!("title = \"t\"\n[[setting]]\nsource = \"s\"\n{entry}");
            Set::read("mine", &text).unwrap().settings[0].turns_off.clone()
        };
        let own = "condition = \"boot:nopti\"\nturns-off = \"my own words\"\n";
        assert_eq!(words(own).as_deref(), Some("my own words"));
        assert_eq!(words("condition = \"boot:nopti\"").as_deref(), Some("page table isolation"));
        let other = "condition = \"boot:a=off boot:b=off\"";
        assert_eq!(words(other).as_deref(), Some("what boot:a=off boot:b=off turns off"));
        for on in ["condition = \"boot:audit=1\"", "condition = \"boot:a=off boot:b=1\""] {
            assert_eq!(words(on), None, "{on}");
        }
        let mitigations = Set::open("mitigations").unwrap();
        assert!(mitigations.in_order().all(|entry| entry.turns_off.is_some()));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let entry =
            |condition: &str| format!("[[setting]]\ncondition = \"{condition}\"\nsource = \"s\"\n");
        for (settings, what) in [
            (entry("boot:a") + &entry("boot:a"), "mine:6: boot:a stands in line 3 already"),
            (entry("boot:a=1 boot:a=2"), "mine:3: boot:a=1 and boot:a=2 set the same"),
            (entry("boot:a") + &entry("a"), "mine:6: a: a setting is"),
            (entry("default"), "mine:3: this sets nothing"),
            (String::new(), "mine: a set has 1 to 256 settings"),
            ("[[settin]]\n".to_owned(), "mine:2: unknown field"),
            (
                entry("boot:a").replace("source", "sorce"),
                "mine:4: unknown field `sorce`, expected one of `condition`, `source`, \
                 `turns-off`, `unseen`; did you mean `source`?",
            ),
        ] {
            let error = Set::read("mine", &format!("title = \"t\"\n{settings}")).unwrap_err();
            assert!(error.to_string().starts_with(what), "{error}");
        }
        let text = format!("title = \"t\"\n{}", entry("bot:nopti"));
        let error = Set::read("mine", &text).unwrap_err().to_string();
        assert!(error.ends_with("; did you mean boot:nopti?"), "{error}");
        let error = Set::open("nonexistent").unwrap_err();
        assert!(error.advice().unwrap().contains("mitigations, hardening"));
    }
}
