//! `--check[=EVENTS]`: which events fail a gate, and from which difference on.

use std::collections::HashSet;
use std::str::FromStr;

use pathmeter_model::{EventComparison, PathComparison, Verdict};
use pathmeter_report::{grouped, signed};
use pathmeter_trace::Event;

/// What fails a gate if the user names nothing: what costs whatever the machine, and many more
/// lines of data.
pub(crate) const USUAL: &str = "instructions,string-bytes,slow,data-lines:8";
/// The samples themselves: what a path's verdict is about.
const INSTRUCTIONS: &str = "instructions";
/// All classes of slow instructions.
const SLOW: &str = "slow";
/// Everything that makes the events of a path differ.
const ALL: &str = "all";

/// The events that fail a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GatedEvents(Vec<Gated>);

/// Events, and the largest difference that passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Gated {
    what: What,
    passes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Instructions,
    Slow,
    All,
    One(Event),
}

impl FromStr for GatedEvents {
    type Err = String;

    /// `EVENT[:N],…`
    fn from_str(text: &str) -> Result<Self, String> {
        text.split(',').map(Gated::read).collect::<Result<_, _>>().map(Self)
    }
}

impl Gated {
    fn read(text: &str) -> Result<Self, String> {
        let (word, passes) = text.split_once(':').unwrap_or((text, "0"));
        let passes = passes.parse().map_err(|_| format!("{passes} is not a number of events"))?;
        let what = match word {
            INSTRUCTIONS => What::Instructions,
            SLOW => What::Slow,
            ALL => What::All,
            word => What::One(Event::named(word).ok_or_else(|| {
                let words: Vec<_> = Event::all().map(Event::word).collect();
                format!(
                    "{word} is no event; there are {INSTRUCTIONS}, {SLOW}, {ALL}, {}",
                    words.join(", ")
                )
            })?),
        };
        Ok(Self { what, passes })
    }

    /// Whether `event` is one of these.
    fn holds(self, event: &EventComparison) -> bool {
        match (self.what, Event::named(&event.event)) {
            (What::Slow, Some(Event::Slow(_))) => true,
            (What::One(one), Some(event)) => one == event,
            (What::All, Some(_)) => event.counts(),
            _ => false,
        }
    }
}

impl GatedEvents {
    /// What fails a gate if the user names nothing.
    pub(crate) fn usual() -> Self {
        let gated = |what, passes| Gated { what, passes };
        Self(vec![
            gated(What::Instructions, 0),
            gated(What::One(Event::StringBytes), 0),
            gated(What::Slow, 0),
            gated(What::One(Event::DataLines), 8),
        ])
    }

    /// In which of them NEW is worse than BASE, and by how much; none if it is not worse.
    pub(crate) fn why(&self, path: &PathComparison) -> Vec<String> {
        let mut why = Vec::new();
        for gated in &self.0 {
            let own = matches!(gated.what, What::Instructions | What::All);
            if own && is_higher(path.verdict, path.difference, gated.passes) {
                why.push(own_numbers(path));
            }
            let events = path.events.iter().filter(|event| gated.holds(event));
            let worse = |event: &&EventComparison| {
                is_higher(event.verdict, Some(event.difference), gated.passes)
            };
            why.extend(events.filter(worse).map(of_event));
        }
        if path.verdict == Verdict::Broken {
            why.push(format!("broken: {}", path.reason.as_deref().unwrap_or("no reason given")));
        }
        // An event may be named by itself and by its class.
        let mut told = HashSet::new();
        why.retain(|text| told.insert(text.clone()));
        why
    }

    /// Whether NEW is worse than BASE in one of them, or broken.
    pub(crate) fn is_worse(&self, path: &PathComparison) -> bool {
        !self.why(path).is_empty()
    }

    /// Whether the user wants more than the instructions, and said so.
    pub(crate) fn wants_events(&self) -> bool {
        *self != Self::usual() && self.0.iter().any(|gated| gated.what != What::Instructions)
    }
}

/// `instructions 3,300 → 3,333 (+33, higher)`.
fn own_numbers(path: &PathComparison) -> String {
    let (Some(base), Some(new)) = (path.base, path.new) else { return path.verdict.to_string() };
    change(&path.unit.to_string(), [base, new], path.difference.unwrap_or_default(), path.verdict)
}

fn of_event(event: &EventComparison) -> String {
    change(&event.event, [event.base, event.new], event.difference, event.verdict)
}

/// What went from one number to another.
fn change(what: &str, sides: [u64; 2], difference: i64, verdict: Verdict) -> String {
    let [base, new] = sides.map(grouped);
    format!("{what} {base} → {new} ({}, {verdict})", signed(difference))
}

/// A new mode is worse wherever it lies: how often it comes is not known.
fn is_higher(verdict: Verdict, difference: Option<i64>, passes: u64) -> bool {
    match verdict {
        Verdict::Higher | Verdict::LongerTail => {
            difference.is_none_or(|more| more > 0 && more.unsigned_abs() > passes)
        }
        Verdict::ModeAppeared => difference.is_none_or(|more| more.unsigned_abs() > passes),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathmeter_model::Unit;

    fn gate(text: &str) -> GatedEvents {
        text.parse().unwrap()
    }

    fn event(word: &str, difference: i64, verdict: Verdict) -> EventComparison {
        let base = 100;
        let new = base + difference.unsigned_abs();
        EventComparison { event: word.to_owned(), base, new, difference, verdict }
    }

    fn path(verdict: Verdict, difference: i64, events: Vec<EventComparison>) -> PathComparison {
        PathComparison {
            path: "a.b".to_owned(),
            unit: Unit::Instructions,
            base: Some(300),
            new: Some(300),
            difference: Some(difference),
            percent: None,
            verdict,
            reason: None,
            base_values: 1,
            new_values: 1,
            events,
            moved: None,
            pairs: None,
            work: None,
            base_at_least: false,
            new_at_least: false,
        }
    }

    #[test]
    fn the_usual_gate_takes_slow_instructions_and_many_lines() {
        let usual = gate(USUAL);
        let with = |word, difference| {
            let events = vec![event(word, difference, Verdict::Higher)];
            usual.is_worse(&path(Verdict::EventsDiffer, 0, events))
        };
        assert!(with("lfence", 1) && with("string-bytes", 1) && with("data-lines", 9));
        assert!(!with("data-lines", 8) && !with("loads", 100) && !with("indirect-branches", 1));
        assert!(usual.is_worse(&path(Verdict::Higher, 1, vec![])));
        assert!(usual.is_worse(&path(Verdict::LongerTail, 9, vec![])));
        assert!(!usual.is_worse(&path(Verdict::ShorterTail, -9, vec![])));
        let less = vec![event("lfence", -1, Verdict::Lower)];
        assert!(!usual.is_worse(&path(Verdict::Lower, -1, less)));
        assert!(!usual.wants_events());
        assert_eq!(usual, GatedEvents::usual());
    }

    #[test]
    fn a_gate_of_ones_own_takes_what_is_named() {
        let own = gate("instructions:10,indirect-branches");
        assert!(!own.is_worse(&path(Verdict::Higher, 10, vec![])));
        assert!(own.is_worse(&path(Verdict::Higher, 11, vec![])) && own.wants_events());
        let indirect = vec![event("indirect-branches", 1, Verdict::Higher)];
        assert!(own.is_worse(&path(Verdict::EventsDiffer, 0, indirect.clone())));
        assert!(gate("all").is_worse(&path(Verdict::EventsDiffer, 0, indirect)));
        let loads = vec![event("loads", 9, Verdict::Higher)];
        assert!(!gate("all").is_worse(&path(Verdict::Same, 0, loads)));
    }

    #[test]
    fn what_is_no_event_is_answered_with_those_there_are() {
        let wrong = |text: &str| text.parse::<GatedEvents>().unwrap_err();
        assert!(wrong("instruction").contains("no event; there are instructions, slow, all, user"));
        assert_eq!(wrong("loads:many"), "many is not a number of events");
    }
}
