//! What the agent tells before READY: what the kernel prints about its CPU, and what it shows of
//! the condition.

use pathmeter_wire::{Kind, RawFrame, message};

use crate::{
    Condition, Facts, Unmet, UnmetCause, VmError,
    condition::proof::Read,
    console::Tail,
    error::GuestCause,
    run::{guest::Guest, outcome::printable},
};

/// What a frame before READY means.
enum BeforeReady {
    Fact { one_too_many: bool },
    Shown,
    Ready,
    Unmet(Unmet),
    Fails(GuestCause),
}

/// The agent tells what the kernel prints about its CPU, says READY and pauses the guest, which is
/// under its condition.
pub(crate) fn await_ready(
    guest: &mut impl Guest,
    condition: &Condition,
) -> Result<(Facts, Vec<Read>), VmError> {
    let mut told =
        Told { condition, asked: condition.reads(), facts: Facts::default(), read: vec![] };
    loop {
        let heard = guest.next_frame(|frame| told.before_ready(frame))?;
        let cause = match heard {
            BeforeReady::Fact { one_too_many: false } | BeforeReady::Shown => continue,
            BeforeReady::Fact { one_too_many: true } => {
                let what = "more files about the CPU than there are".to_owned();
                GuestCause::Protocol { what }
            }
            BeforeReady::Ready => {
                guest.await_pause()?;
                taken(&guest.printed(), condition)?;
                return Ok((told.facts, told.read));
            }
            BeforeReady::Unmet(unmet) => return Err(VmError::Unmet(unmet)),
            BeforeReady::Fails(cause) => cause,
        };
        return Err(guest.failure(cause));
    }
}

/// What the agent has told before READY.
struct Told<'a> {
    condition: &'a Condition,
    /// Which files it shall show, and what of them.
    asked: Vec<(String, &'static str)>,
    facts: Facts,
    /// What it has shown, in that order.
    read: Vec<Read>,
}

impl Told<'_> {
    /// Reads a frame that comes before READY, and keeps what it tells.
    fn before_ready(&mut self, frame: &RawFrame<'_>) -> BeforeReady {
        let protocol = |what: String| BeforeReady::Fails(GuestCause::Protocol { what });
        match frame.kind {
            Kind::Fact => match message::read_fact(frame) {
                Ok((name, text)) => {
                    BeforeReady::Fact { one_too_many: !self.facts.take(name, text) }
                }
                Err(error) => protocol(error.to_string()),
            },
            Kind::Shown => match message::read_shown(frame) {
                Ok(shown) => self.shown(&shown),
                Err(error) => protocol(error.to_string()),
            },
            Kind::Unmet => unmet(frame, self.condition),
            kind => match (kind, message::read_plain(frame)) {
                (Kind::Ready, Ok(_)) if self.read.len() == self.asked.len() => BeforeReady::Ready,
                (Kind::Ready, Ok(_)) => protocol("READY before what was to be shown".to_owned()),
                (Kind::Abort, Ok(reason)) => {
                    BeforeReady::Fails(GuestCause::Abort { reason: reason.to_owned() })
                }
                (_, Ok(_)) => protocol(format!("a frame {kind:?} before READY")),
                (_, Err(error)) => protocol(error.to_string()),
            },
        }
    }

    /// Keeps what a file shows: each once, in their order.
    fn shown(&mut self, shown: &message::Shown<'_>) -> BeforeReady {
        let next = self.read.len();
        match self.asked.get(next) {
            Some((path, part)) if shown.file == next as u64 => {
                self.read.push(Read::new((path, part), shown.error, shown.text));
                BeforeReady::Shown
            }
            _ => BeforeReady::Fails(GuestCause::Protocol {
                what: "a file that was not asked for".to_owned(),
            }),
        }
    }
}

/// Which setting the agent could not have.
fn unmet(frame: &RawFrame<'_>, condition: &Condition) -> BeforeReady {
    let protocol = |what: String| BeforeReady::Fails(GuestCause::Protocol { what });
    let message::Unmet { setting, cause, what } = match message::read_unmet(frame) {
        Ok(unmet) => unmet,
        Err(error) => return protocol(error.to_string()),
    };
    let named = usize::try_from(setting).ok().and_then(|at| condition.settings().get(at));
    let what = printable(&String::from_utf8_lossy(what));
    named.map_or_else(
        || protocol("a setting that was not asked for".to_owned()),
        |setting| {
            let (setting, cause) = (setting.to_string(), cause.into());
            BeforeReady::Unmet(Unmet { setting, cause, what, help: None })
        },
    )
}

/// Whether the kernel took the values of its words, as far as it printed anything about them.
fn taken(printed: &Tail, condition: &Condition) -> Result<(), VmError> {
    let Some((setting, line)) = condition.complaint(printed) else { return Ok(()) };
    let (setting, cause) = (setting.to_string(), UnmetCause::Refused);
    let what = format!("the kernel printed: {line}");
    Err(VmError::Unmet(Unmet { setting, cause, what, help: None }))
}
