//! A resumed guest: what its agent says while it walks the plan, start by start.

use pathmeter_wire::{Kind, RawFrame, message};

use crate::{
    Progress, Request, VmError,
    error::Step,
    guest::{Extra, Guest},
    measure::path_name,
    outcome::Gathered,
    snapshot::Snapshot,
};

/// What was heard of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// A path is begun.
    Begin,
    /// The path with this index has been walked once more.
    Outcome(usize),
    /// All starts are done.
    Done,
}

/// A running guest, and what came of its paths so far.
pub(crate) struct Walk<'a> {
    request: &'a Request<'a>,
    pub(crate) guest: Guest,
    gathered: Gathered,
    start: u64,
}

impl<'a> Walk<'a> {
    /// Restores the snapshot, QEMU being given `extra`, and lets the guest run.
    pub(crate) fn resume(
        request: &'a Request<'a>,
        snapshot: &Snapshot,
        extra: Extra,
    ) -> Result<Self, VmError> {
        let mut guest = snapshot.restore(request, extra)?;
        guest.begin(Step::Run);
        guest.resume()?;
        let windows: Vec<u32> = pathmeter_probes::paths().map(|path| path.windows).collect();
        Ok(Self { request, guest, gathered: Gathered::new(&windows, request.starts), start: 0 })
    }

    /// Waits for what the agent says next.
    pub(crate) fn hear(&mut self) -> Result<Heard, VmError> {
        let gathered = &mut self.gathered;
        match self.guest.next_frame(|frame| interpret(frame, gathered))? {
            Frame::Begin(place) => {
                let step = announce(self.request, place, self.gathered.walks());
                // The limit holds for each start anew.
                if place.start == self.start {
                    self.guest.step = step;
                } else {
                    self.start = place.start;
                    self.guest.begin(step);
                }
                Ok(Heard::Begin)
            }
            Frame::Outcome => {
                let step = std::mem::replace(&mut self.guest.step, Step::Run);
                let index = if let Step::Path { index, .. } = step { index } else { usize::MAX };
                Ok(Heard::Outcome(index))
            }
            Frame::Done => Ok(Heard::Done),
            Frame::Abort(reason) => Err(self.guest.gave_up(reason)),
            Frame::Wrong(what) => Err(self.guest.not_the_protocol(what)),
        }
    }

    /// Whether the path with this index has been walked at least once.
    pub(crate) fn has_walked(&self, index: usize) -> bool {
        self.gathered.has_walked(index)
    }

    /// What came of all paths.
    pub(crate) fn into_gathered(self) -> Gathered {
        self.gathered
    }
}

/// What one frame means.
enum Frame {
    Begin(message::Place),
    Outcome,
    Done,
    Abort(String),
    Wrong(String),
}

fn interpret(frame: &RawFrame<'_>, gathered: &mut Gathered) -> Frame {
    let heard = match frame.kind {
        Kind::Begin => message::read_begin(frame).map(|place| {
            gathered.begin(place);
            Frame::Begin(place)
        }),
        Kind::Outcome => message::read_outcome(frame, gathered).map(|()| Frame::Outcome),
        Kind::Done => message::read_plain(frame).map(|_| Frame::Done),
        Kind::Abort => message::read_plain(frame).map(|reason| Frame::Abort(reason.to_owned())),
        Kind::Ready | Kind::Symbols => Ok(Frame::Wrong(format!("a frame {:?} now", frame.kind))),
    };
    match heard {
        Ok(_) if gathered.in_excess() => {
            Frame::Wrong("outcomes that the plan doesn't have".to_owned())
        }
        Ok(heard) => heard,
        Err(error) => Frame::Wrong(error.to_string()),
    }
}

fn announce(request: &Request<'_>, place: message::Place, done: u64) -> Step {
    let index = usize::try_from(place.path).unwrap_or(usize::MAX);
    let name = path_name(index);
    let of = u64::from(request.starts) * pathmeter_probes::paths().count() as u64;
    (request.progress)(Progress::Walking { path: name, done, of });
    Step::Path { index, name: name.to_owned() }
}
