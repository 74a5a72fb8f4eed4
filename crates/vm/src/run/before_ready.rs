//! What the agent tells before READY: what the kernel prints about its CPU, where it waits for its
//! parcel, and what it shows of the condition.

use pathmeter_wire::{
    Kind, RawFrame,
    message::{self, Memory},
    parcel::ROOM,
};

use crate::{
    Condition, Facts, Setting, Unmet, UnmetCause, VmError, condition::proof::Read, console::Tail,
    error::GuestCause, guest::Guest, run::outcome::printable,
};

/// Which part of its way to READY a guest goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It boots with its parcel, and is paused at READY.
    Whole,
    /// It boots without, and is paused at START.
    Boot,
    /// It has been handed its parcel, goes on from START, and is not paused at READY.
    Parcel,
}

/// What a frame before READY means.
enum BeforeReady {
    Kept,
    Arrived,
    Unmet,
    Fails(GuestCause),
}

/// Hears the agent until the end of the stage; the guest is under its condition then, but for
/// [`Stage::Boot`].
pub(crate) fn await_end<'a>(
    guest: &mut impl Guest,
    condition: &'a Condition,
    stage: Stage,
) -> Result<Told<'a>, VmError> {
    let asked = if stage == Stage::Boot { vec![] } else { condition.reads() };
    let mut told = Told {
        condition,
        stage,
        asked,
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
        match heard {
            BeforeReady::Kept => {}
            BeforeReady::Arrived => {
                if stage != Stage::Parcel {
                    guest.await_pause()?;
                }
                told.unmet = not_taken(&guest.printed(), condition);
                return Ok(told);
            }
            BeforeReady::Unmet => return Err(VmError::Unmet(told.unmet)),
            BeforeReady::Fails(cause) => return Err(guest.failure(cause)),
        }
    }
}

/// What the agent has told before READY.
pub(crate) struct Told<'a> {
    condition: &'a Condition,
    stage: Stage,
    /// Which files it shall show, and what of them.
    asked: Vec<(String, &'static str)>,
    /// What the kernel prints about its CPU.
    pub(crate) facts: Facts,
    /// What it has shown, in that order.
    pub(crate) read: Vec<Read>,
    /// Where it waits for its parcel.
    pub(crate) room: Option<Memory>,
    /// The settings that can't be had, each once.
    pub(crate) unmet: Vec<Unmet>,
}

impl Told<'_> {
    /// Reads a frame that comes before READY, and keeps what it tells.
    fn before_ready(&mut self, frame: &RawFrame<'_>) -> BeforeReady {
        let protocol = |what: String| BeforeReady::Fails(GuestCause::Protocol { what });
        let is_early = match frame.kind {
            Kind::Fact => self.stage == Stage::Parcel,
            Kind::Start => self.stage != Stage::Boot,
            Kind::Shown | Kind::Unmet | Kind::Ready => self.stage == Stage::Boot,
            _ => false,
        };
        if is_early {
            return protocol(format!("a frame {:?} now", frame.kind));
        }
        let heard = match frame.kind {
            Kind::Fact => message::read_fact(frame).map(|fact| self.fact(fact)),
            Kind::Shown => message::read_shown(frame).map(|shown| self.keep_shown_file(&shown)),
            Kind::Start => message::read_memory(frame, ROOM as u64).map(|room| {
                self.room = Some(room);
                BeforeReady::Arrived
            }),
            Kind::Unmet => message::read_unmet(frame).map(|unmet| self.unmet(&unmet)),
            kind => message::read_plain(frame).map(|text| match kind {
                Kind::Done if !self.unmet.is_empty() => BeforeReady::Unmet,
                Kind::Ready if self.is_ready() => BeforeReady::Arrived,
                Kind::Ready => protocol("READY before what was to be shown".to_owned()),
                Kind::Abort => BeforeReady::Fails(GuestCause::Abort { reason: text.to_owned() }),
                _ => protocol(format!("a frame {kind:?} before READY")),
            }),
        };
        heard.unwrap_or_else(|error| protocol(error.to_string()))
    }

    /// Keeps what the kernel prints about its CPU.
    fn fact(&mut self, (name, text): (&str, &[u8])) -> BeforeReady {
        if self.facts.take(name, text) {
            return BeforeReady::Kept;
        }
        let what = "more files about the CPU than there are".to_owned();
        BeforeReady::Fails(GuestCause::Protocol { what })
    }

    /// Whether all was told that is told before READY.
    fn is_ready(&self) -> bool {
        self.unmet.is_empty() && self.read.len() == self.asked.len()
    }

    /// Keeps what a file shows; each file comes once, in the order in which they were asked for.
    fn keep_shown_file(&mut self, shown: &message::Shown<'_>) -> BeforeReady {
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
        let named =
            place.and_then(|at| self.condition.agent_settings().nth(at)).map(ToString::to_string);
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

/// The words whose values the kernel did not take, as far as it printed anything about them.
fn not_taken(printed: &Tail, condition: &Condition) -> Vec<Unmet> {
    let of_line = |(setting, line): (&Setting, String)| {
        let what = format!("the kernel printed: {line}");
        Unmet { setting: setting.to_string(), cause: UnmetCause::Refused, what, help: None }
    };
    condition.complaints(printed).map(of_line).collect()
}
