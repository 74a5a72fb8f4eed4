//! What is counted of a window: its events.
//!
//! Retired instructions are what a processor's counter of *instructions retired* would say (Intel
//! SDM volume 3, "Architectural performance events", `INST_RETIRED.ANY`): one that faults is
//! counted when it is executed again, and a repeated string instruction once. The other events are
//! what makes equal numbers of instructions cost differently. `docs/reference/events.md` explains
//! each.

use std::{borrow::Cow, collections::HashMap, fmt, sync::LazyLock};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::SlowInstruction;

/// Something that a window has a number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// Retired instructions in user mode.
    User,
    /// Retired instructions in the kernel.
    Kernel,
    /// Bytes moved, stored, loaded or compared by repeated string instructions.
    StringBytes,
    /// Steps of the guest's clock in repeated string instructions: one an iteration.
    StringSteps,
    Loads,
    Stores,
    LoadBytes,
    StoreBytes,
    /// Accesses that lie in two lines of 64 bytes.
    SplitAccesses,
    /// Jumps, branches, calls and returns that were taken.
    TakenBranches,
    /// Of these, jumps and calls to an address from a register or from memory.
    IndirectBranches,
    /// Of the taken branches, the returns.
    Returns,
    /// Of these, returns to another address than the one after the last call that has not returned.
    MispredictedReturns,
    /// Distinct lines of 64 bytes whose data were accessed.
    DataLines,
    /// Distinct pages of 4 KiB whose data were accessed.
    DataPages,
    /// Accesses to data of another line of 64 bytes than the access before, of rows and regions of
    /// a program.
    LineVisits,
    /// Distinct lines of 64 bytes from which instructions were executed.
    CodeLines,
    /// Distinct pages of 4 KiB from which instructions were executed.
    CodePages,
    /// Steps of the guest's clock: an instruction is one, and so is each further iteration of a
    /// repeated string instruction.
    Clock,
    /// Times that the CPU was told to wait for an interrupt. What time passes then is no work.
    Halts,
    /// Steps of the guest's clock that passed while the CPU waited: with [`Self::Clock`] they are
    /// the window's time.
    Idle,
    /// Times that a task of a program slept: the kernel switched away from it, and woke it before
    /// it switched back.
    Sleeps,
    /// Times that the kernel switched away from such a task and back without waking it.
    Preemptions,
    /// Times that such a task was woken.
    WakeUps,
    /// Slow instructions of one class.
    Slow(SlowInstruction),
}

/// What a change of an event means where the instructions are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A cost that the number of instructions hides: every change counts.
    Cost,
    /// Memory that is touched. It may vary a little with the layout of data.
    Footprint,
    /// Code that is touched. It varies with the layout of code, which any change moves.
    Placement,
    /// What the instructions are made of. It explains, and costs nothing of its own.
    Detail,
}

/// The events without a class of slow instructions.
const PLAIN: [Event; 24] = [
    Event::User,
    Event::Kernel,
    Event::StringBytes,
    Event::StringSteps,
    Event::Loads,
    Event::Stores,
    Event::LoadBytes,
    Event::StoreBytes,
    Event::SplitAccesses,
    Event::TakenBranches,
    Event::IndirectBranches,
    Event::Returns,
    Event::MispredictedReturns,
    Event::DataLines,
    Event::DataPages,
    Event::LineVisits,
    Event::CodeLines,
    Event::CodePages,
    Event::Clock,
    Event::Halts,
    Event::Idle,
    Event::Sleeps,
    Event::Preemptions,
    Event::WakeUps,
];

impl Event {
    /// How many events there are.
    pub const COUNT: usize = PLAIN.len() + SlowInstruction::ALL.len();

    /// All events, in the order of tables and documents.
    pub fn all() -> impl Iterator<Item = Self> {
        PLAIN.into_iter().chain(SlowInstruction::ALL.iter().copied().map(Self::Slow))
    }

    /// Its place in [`Self::all`].
    pub(crate) fn index(self) -> usize {
        match self {
            Self::Slow(slow) => PLAIN.len() + slow as usize,
            plain => PLAIN.iter().position(|one| *one == plain).unwrap_or_default(),
        }
    }

    /// The event that documents call `word`; None if there is none.
    pub fn from_name(word: &str) -> Option<Self> {
        static NAMED: LazyLock<HashMap<&str, Event>> =
            LazyLock::new(|| Event::all().map(|event| (event.word(), event)).collect());
        NAMED.get(word).copied()
    }

    /// What a change of it means.
    pub fn role(self) -> Role {
        match self {
            Self::StringBytes
            | Self::SplitAccesses
            | Self::IndirectBranches
            | Self::MispredictedReturns
            | Self::Idle
            | Self::Sleeps
            | Self::WakeUps
            | Self::Slow(_) => Role::Cost,
            Self::DataLines | Self::DataPages => Role::Footprint,
            Self::CodeLines | Self::CodePages => Role::Placement,
            _ => Role::Detail,
        }
    }

    /// Whether it is about switches between the tasks of a program, so that paths have none.
    pub fn is_of_tasks(self) -> bool {
        matches!(self, Self::Sleeps | Self::Preemptions | Self::WakeUps)
    }

    /// Whether only rows and regions of a program have it.
    pub fn is_of_programs(self) -> bool {
        self.is_of_tasks() || self == Self::LineVisits
    }

    /// Whether it is a class of instructions, so that it is known which function executes it.
    pub fn is_class(self) -> bool {
        matches!(self, Self::IndirectBranches | Self::MispredictedReturns | Self::Slow(_))
    }

    /// Whether versions of QEMU count it differently: some accesses of complex instructions are
    /// made by helpers, which not every version shows to a plugin.
    pub fn depends_on_qemu(self) -> bool {
        matches!(
            self,
            Self::Loads
                | Self::Stores
                | Self::LoadBytes
                | Self::StoreBytes
                | Self::SplitAccesses
                | Self::DataLines
                | Self::DataPages
                | Self::LineVisits
        )
    }

    /// The word that documents and tables use.
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Kernel => "kernel",
            Self::StringBytes => "string-bytes",
            Self::StringSteps => "string-steps",
            Self::Loads => "loads",
            Self::Stores => "stores",
            Self::LoadBytes => "load-bytes",
            Self::StoreBytes => "store-bytes",
            Self::SplitAccesses => "split-accesses",
            Self::TakenBranches => "taken-branches",
            Self::IndirectBranches => "indirect-branches",
            Self::Returns => "returns",
            Self::MispredictedReturns => "mispredicted-returns",
            Self::DataLines => "data-lines",
            Self::DataPages => "data-pages",
            Self::LineVisits => "line-visits",
            Self::CodeLines => "code-lines",
            Self::CodePages => "code-pages",
            Self::Clock => "clock",
            Self::Halts => "halts",
            Self::Idle => "idle",
            Self::Sleeps => "sleeps",
            Self::Preemptions => "preemptions",
            Self::WakeUps => "wake-ups",
            Self::Slow(slow) => slow.word(),
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// An event is serialized as its word.
impl Serialize for Event {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let word = Cow::<str>::deserialize(from)?;
        Self::from_name(&word).ok_or_else(|| D::Error::custom(format!("`{word}` is no event")))
    }
}

impl JsonSchema for Event {
    fn schema_name() -> Cow<'static, str> {
        "Event".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<_> = Self::all().map(Self::word).collect();
        json_schema!({ "description": "The name of an event.", "type": "string", "enum": words })
    }
}

/// A number for each event.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Events([u64; Event::COUNT]);

impl Default for Events {
    fn default() -> Self {
        Self([0; Event::COUNT])
    }
}

impl Events {
    /// How many there were of one event.
    pub fn of(&self, event: Event) -> u64 {
        self.0[event.index()]
    }

    /// Retired instructions, of user code and kernel together.
    pub fn retired(&self) -> u64 {
        self.of(Event::User).saturating_add(self.of(Event::Kernel))
    }

    pub(crate) fn add(&mut self, event: Event, number: u64) {
        let count = &mut self.0[event.index()];
        *count = count.saturating_add(number);
    }
}

impl FromIterator<(Event, u64)> for Events {
    fn from_iter<T: IntoIterator<Item = (Event, u64)>>(numbers: T) -> Self {
        let mut events = Self::default();
        numbers.into_iter().for_each(|(event, number)| events.add(event, number));
        events
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_event_has_its_place_and_a_word_of_its_own() {
        let words: HashSet<_> = Event::all().map(Event::word).collect();
        assert_eq!((words.len(), Event::all().count()), (Event::COUNT, Event::COUNT));
        for (place, event) in Event::all().enumerate() {
            assert_eq!((event.index(), Event::from_name(event.word())), (place, Some(event)));
        }
        assert_eq!(Event::from_name("nothing"), None);
        // Who sorts events has them in the order of documents.
        assert!(Event::all().is_sorted());
    }

    #[test]
    fn retired_is_user_and_kernel_together() {
        let mut events = Events::default();
        events.add(Event::User, 3);
        events.add(Event::Kernel, u64::MAX);
        assert_eq!((events.of(Event::User), events.retired()), (3, u64::MAX));
    }
}
