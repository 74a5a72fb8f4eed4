//! What the agent tells before READY: what the kernel prints about its CPU, and what it shows of
//! the condition.

use pathmeter_wire::{
    Kind, RawFrame,
    job::ROOM,
    message::{self, Memory},
};

use crate::{
    Condition, Facts, Setting, Unmet, UnmetCause, VmError,
    condition::proof::Read,
    console::Tail,
    error::GuestCause,
    run::{guest::Guest, outcome::printable},
};

/// What a frame before READY means.
enum BeforeReady {
    Fact { one_too_many: bool },
    Kept,
    Ready,
    Unmet,
    Fails(GuestCause),
}

/// The agent tells what the kernel prints about its CPU, says READY and pauses the guest, which is
/// under its condition.
pub(crate) fn await_ready<'a>(
    guest: &mut impl Guest,
    condition: &'a Condition,
) -> Result<Told<'a>, VmError> {
    let mut told = Told {
        condition,
        asked: condition.reads(),
        facts: Facts::default(),
        read: vec![],
        room: None,
        unmet: vec![],
    };
    loop {
        let heard = match guest.next_frame(|frame| told.before_ready(frame)) {
            // It was to tell whether there are more; so much is known.
            Err(VmError::Guest { .. }) if !told.unmet.is_empty() => BeforeReady::Unmet,
            heard => heard?,
        };
        let cause = match heard {
            BeforeReady::Fact { one_too_many: false } | BeforeReady::Kept => continue,
            BeforeReady::Fact { one_too_many: true } => {
                let what = "more files about the CPU than there are".to_owned();
                GuestCause::Protocol { what }
            }
            BeforeReady::Ready => {
                guest.await_pause()?;
                taken(&guest.printed(), condition)?;
                return Ok(told);
            }
            BeforeReady::Unmet => return Err(VmError::Unmet(told.unmet)),
            BeforeReady::Fails(cause) => cause,
        };
        return Err(guest.failure(cause));
    }
}

/// What the agent has told before READY.
pub(crate) struct Told<'a> {
    condition: &'a Condition,
    /// Which files it shall show, and what of them.
    asked: Vec<(String, &'static str)>,
    /// What the kernel prints about its CPU.
    pub(crate) facts: Facts,
    /// What it has shown, in that order.
    pub(crate) read: Vec<Read>,
    /// Where it may be handed a job.
    pub(crate) room: Option<Memory>,
    /// The settings that can't be had, each once.
    unmet: Vec<Unmet>,
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
            Kind::Room => match message::read_memory(frame, ROOM as u64) {
                Ok(room) if self.room.is_none() => {
                    self.room = Some(room);
                    BeforeReady::Kept
                }
                Ok(_) => protocol("a second place for a job".to_owned()),
                Err(error) => protocol(error.to_string()),
            },
            Kind::Unmet => match message::read_unmet(frame) {
                Ok(unmet) => self.unmet(&unmet),
                Err(error) => protocol(error.to_string()),
            },
            kind => match (kind, message::read_plain(frame)) {
                (Kind::Done, Ok(_)) if !self.unmet.is_empty() => BeforeReady::Unmet,
                (Kind::Ready, Ok(_)) if self.is_ready() => BeforeReady::Ready,
                (Kind::Ready, Ok(_)) => protocol("READY before what was to be shown".to_owned()),
                (Kind::Abort, Ok(reason)) => {
                    BeforeReady::Fails(GuestCause::Abort { reason: reason.to_owned() })
                }
                (_, Ok(_)) => protocol(format!("a frame {kind:?} before READY")),
                (_, Err(error)) => protocol(error.to_string()),
            },
        }
    }

    /// Whether all was told that is told before READY.
    fn is_ready(&self) -> bool {
        self.unmet.is_empty() && self.read.len() == self.asked.len()
    }

    /// Keeps what a file shows: each once, in their order.
    fn shown(&mut self, shown: &message::Shown<'_>) -> BeforeReady {
        let next = self.read.len();
        match self.asked.get(next) {
            Some((path, part)) if shown.file == next as u64 => {
                self.read.push(Read::new((path, part), shown.error, shown.text));
                BeforeReady::Kept
            }
            _ => BeforeReady::Fails(GuestCause::Protocol {
                what: "a file that was not asked for".to_owned(),
            }),
        }
    }

    /// Keeps which setting the agent could not have.
    fn unmet(&mut self, unmet: &message::Unmet<'_>) -> BeforeReady {
        let place = usize::try_from(unmet.setting).ok();
        let named = place.and_then(|at| self.condition.settings().get(at)).map(ToString::to_string);
        match named {
            Some(setting) if self.unmet.iter().all(|before| before.setting != setting) => {
                let what = printable(&String::from_utf8_lossy(unmet.what));
                self.unmet.push(Unmet { setting, cause: unmet.cause.into(), what, help: None });
                BeforeReady::Kept
            }
            _ => BeforeReady::Fails(GuestCause::Protocol {
                what: "a setting that was not asked for".to_owned(),
            }),
        }
    }
}

/// Whether the kernel took the values of its words, as far as it printed anything about them.
fn taken(printed: &Tail, condition: &Condition) -> Result<(), VmError> {
    let of_line = |(setting, line): (&Setting, String)| {
        let what = format!("the kernel printed: {line}");
        Unmet { setting: setting.to_string(), cause: UnmetCause::Refused, what, help: None }
    };
    let unmet: Vec<Unmet> = condition.complaints(printed).map(of_line).collect();
    if unmet.is_empty() { Ok(()) } else { Err(VmError::Unmet(unmet)) }
}
