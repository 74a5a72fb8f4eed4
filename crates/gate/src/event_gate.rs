//! `--check[=EVENTS]`: which events fail a gate, and from which difference on.

use std::collections::HashSet;
use std::str::FromStr;

use pathmeter_model::suggestion::suggest;
use pathmeter_model::{EventComparison, GateReason, PathComparison, Verdict};
use pathmeter_report::{grouped, signed};
use pathmeter_trace::Event;

/// What fails a gate if the user names nothing: what costs whatever the machine, and many more
/// lines of data.
pub const USUAL: &str = "instructions,string-bytes,slow,data-lines:8";
/// The samples themselves: what a path's verdict is about.
const INSTRUCTIONS: &str = "instructions";
/// All classes of slow instructions.
const SLOW: &str = "slow";
/// Everything that makes the events of a path differ.
const ALL: &str = "all";

/// The events that fail a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventGate(Vec<EventLimit>);

/// Events, and the largest difference that passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EventLimit {
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

impl FromStr for EventGate {
    type Err = String;

    /// `EVENT[:N],…`
    fn from_str(text: &str) -> Result<Self, String> {
        text.split(',').map(EventLimit::read).collect::<Result<_, _>>().map(Self)
    }
}

/// That there is no event of this name, which ones there are beside `others`, and which was
/// probably meant.
pub(crate) fn unknown_event(word: &str, others: &[&'static str]) -> String {
    let words: Vec<&str> = others.iter().copied().chain(Event::all().map(Event::word)).collect();
    let there = format!("{} is no event; there are {}", word.escape_debug(), words.join(", "));
    format!("{there}; {}", suggest(word, &words)).trim_end_matches([';', ' ']).to_owned()
}

impl EventLimit {
    fn read(text: &str) -> Result<Self, String> {
        let (word, passes) = text.split_once(':').unwrap_or((text, "0"));
        let passes = passes.parse().map_err(|_| format!("{passes} is not a number of events"))?;
        let what = match word {
            INSTRUCTIONS => What::Instructions,
            SLOW => What::Slow,
            ALL => What::All,
            "clock" => {
                return Err(format!("the clock is not compared: name {INSTRUCTIONS}"));
            }
            word if word.ends_with('%') => {
                return Err(format!(
                    "{word} is no event; use --threshold {}",
                    &word[..word.len() - 1]
                ));
            }
            word => {
                let unknown = || unknown_event(word, &[INSTRUCTIONS, SLOW, ALL]);
                What::One(Event::from_name(word).ok_or_else(unknown)?)
            }
        };
        Ok(Self { what, passes })
    }

    /// Whether `event` is one of these.
    fn holds(self, event: &EventComparison) -> bool {
        match (self.what, Event::from_name(&event.event)) {
            (What::Slow, Some(Event::Slow(_))) => true,
            (What::One(one), Some(event)) => one == event,
            (What::All, Some(_)) => event.counts(),
            _ => false,
        }
    }
}

impl EventGate {
    /// What fails a gate if the user names nothing.
    pub fn usual() -> Self {
        let gated = |what, passes| EventLimit { what, passes };
        Self(vec![
            gated(What::Instructions, 0),
            gated(What::One(Event::StringBytes), 0),
            gated(What::Slow, 0),
            gated(What::One(Event::DataLines), 8),
        ])
    }

    /// In which of them NEW is worse than BASE, and by how much; none if it is not worse.
    pub fn why(&self, path: &PathComparison) -> Vec<GateReason> {
        let mut why = Vec::new();
        for gated in &self.0 {
            let own = matches!(gated.what, What::Instructions | What::All);
            if own && is_higher(path.verdict, path.difference, gated.passes) {
                why.push(own_numbers(path, gated.passes));
            }
            let events = path.events.iter().filter(|event| gated.holds(event));
            let worse = |event: &&EventComparison| {
                is_higher(event.verdict, Some(event.difference), gated.passes)
            };
            why.extend(events.filter(worse).map(|event| of_event(path, event, gated.passes)));
        }
        if path.verdict == Verdict::Broken {
            let reason = path.reason.as_deref().unwrap_or("no reason given");
            let (row, why_broken) = (path.path.clone(), format!("broken: {reason}"));
            why.push(GateReason { row, why: why_broken, ..GateReason::default() });
        }
        // An event may be named by itself and by its class.
        let mut told = HashSet::new();
        why.retain(|reason| told.insert(reason.why.clone()));
        why
    }

    /// The events that the user named one by one; none if nothing was named.
    pub fn named_events(&self) -> impl Iterator<Item = Event> + '_ {
        let chosen = self.0.iter().filter(|_| self.wants_events());
        chosen.filter_map(|gated| match gated.what {
            What::One(event) => Some(event),
            What::Instructions | What::Slow | What::All => None,
        })
    }

    /// Whether the user wants more than the instructions, and said so.
    pub fn wants_events(&self) -> bool {
        *self != Self::usual() && self.0.iter().any(|gated| gated.what != What::Instructions)
    }
}

/// `instructions 3,300 → 3,333 (+33, higher)`.
fn own_numbers(path: &PathComparison, passes: u64) -> GateReason {
    let event = path.unit.to_string();
    let why = match (path.base, path.new, path.difference) {
        (Some(base), Some(new), Some(difference)) => {
            change(&event, [base, new], difference, path.verdict)
        }
        _ => path.verdict.to_string(),
    };
    let (base, new, difference) = (path.base, path.new, path.difference);
    GateReason { base, new, difference, ..admitted(path, event, passes, why) }
}

fn of_event(path: &PathComparison, event: &EventComparison, passes: u64) -> GateReason {
    let EventComparison { event, base, new, difference, verdict } = event;
    let why = change(event, [*base, *new], *difference, *verdict);
    GateReason {
        base: Some(*base),
        new: Some(*new),
        difference: Some(*difference),
        ..admitted(path, event.clone(), passes, why)
    }
}

/// A reason of `--check`'s own, without numbers.
fn admitted(path: &PathComparison, event: String, passes: u64, why: String) -> GateReason {
    GateReason {
        row: path.path.clone(),
        event: Some(event),
        max_increase: Some(passes.to_string()),
        why,
        ..GateReason::default()
    }
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
    use pathmeter_model::example;

    fn gate(text: &str) -> EventGate {
        text.parse().unwrap()
    }

    fn event(word: &str, difference: i64, verdict: Verdict) -> EventComparison {
        let base = 100;
        let new = base + difference.unsigned_abs();
        EventComparison { event: word.to_owned(), base, new, difference, verdict }
    }

    fn worse(gate: &EventGate, path: &PathComparison) -> bool {
        !gate.why(path).is_empty()
    }

    fn path(verdict: Verdict, difference: i64, events: Vec<EventComparison>) -> PathComparison {
        let difference = Some(difference);
        PathComparison { verdict, difference, events, ..example::row("a.b", 300, 300) }
    }

    #[test]
    fn the_usual_gate_takes_slow_instructions_and_many_lines() {
        let usual = gate(USUAL);
        let with = |word, difference| {
            let events = vec![event(word, difference, Verdict::Higher)];
            worse(&usual, &path(Verdict::EventsDiffer, 0, events))
        };
        assert!(with("lfence", 1) && with("string-bytes", 1) && with("data-lines", 9));
        assert!(!with("data-lines", 8) && !with("loads", 100) && !with("indirect-branches", 1));
        assert!(worse(&usual, &path(Verdict::Higher, 1, vec![])));
        assert!(worse(&usual, &path(Verdict::LongerTail, 9, vec![])));
        assert!(!worse(&usual, &path(Verdict::ShorterTail, -9, vec![])));
        let less = vec![event("lfence", -1, Verdict::Lower)];
        assert!(!worse(&usual, &path(Verdict::Lower, -1, less)));
        assert!(!usual.wants_events());
        assert_eq!(usual, EventGate::usual());
    }

    #[test]
    fn a_gate_of_ones_own_takes_what_is_named() {
        let own = gate("instructions:10,indirect-branches");
        assert!(!worse(&own, &path(Verdict::Higher, 10, vec![])));
        assert!(worse(&own, &path(Verdict::Higher, 11, vec![])) && own.wants_events());
        let indirect = vec![event("indirect-branches", 1, Verdict::Higher)];
        assert!(worse(&own, &path(Verdict::EventsDiffer, 0, indirect.clone())));
        assert!(worse(&gate("all"), &path(Verdict::EventsDiffer, 0, indirect)));
        let loads = vec![event("loads", 9, Verdict::Higher)];
        assert!(!worse(&gate("all"), &path(Verdict::Same, 0, loads)));
    }

    #[test]
    fn the_clock_is_refused_since_it_is_not_compared() {
        assert!("clock".parse::<EventGate>().is_err());
        assert_eq!(gate("loads,slow").named_events().collect::<Vec<_>>(), [Event::Loads]);
        assert_eq!(EventGate::usual().named_events().count(), 0);
    }

    #[test]
    fn what_is_no_event_is_answered_with_those_there_are() {
        let wrong = |text: &str| text.parse::<EventGate>().unwrap_err();
        assert!(wrong("instruction").contains("no event; there are instructions, slow, all, user"));
        assert_eq!(wrong("1%"), "1% is no event; use --threshold 1");
        assert_eq!(wrong("loads:many"), "many is not a number of events");
    }
}
