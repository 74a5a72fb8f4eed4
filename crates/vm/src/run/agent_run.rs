//! A running guest: what its agent says while it runs the plan, run by run.

use pathmeter_probes::Suite;
use pathmeter_wire::{Kind, RawFrame, message, plan::Execution};

use crate::{
    Plan, Progress, Request, VmError,
    error::{GuestCause, Step},
    guest::Guest,
    run::outcome::Gathered,
    run::request::path_name,
};

/// What was heard of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AgentEvent {
    /// The agent begins a path.
    Begin,
    /// A path has been run once more.
    Outcome,
    /// All runs of paths are done.
    Done,
}

/// A running guest, and what came of its paths so far.
pub(crate) struct AgentRun<'a, G> {
    request: &'a Request<'a>,
    suite: Suite,
    of: u64,
    pub(crate) guest: G,
    gathered: Gathered,
    run: u64,
}

impl<'a, G: Guest> AgentRun<'a, G> {
    /// Lets the guest run, which is paused at READY and has `plan` to run.
    pub(crate) fn resume(
        request: &'a Request<'a>,
        mut guest: G,
        plan: &Plan,
    ) -> Result<Self, VmError> {
        guest.begin(Step::Run);
        guest.resume()?;
        Ok(Self::of(request, guest, plan))
    }

    /// Of the guest that has gone on from READY and has `plan` to run.
    pub(crate) fn of(request: &'a Request<'a>, guest: G, plan: &Plan) -> Self {
        let windows = plan.suite().paths().iter().map(|path| path.kind.samples());
        let windows: Vec<u32> = windows.collect();
        let gathered = Gathered::new(&windows, plan.runs());
        let of = plan.order().count() as u64;
        Self { request, suite: plan.suite(), of, guest, gathered, run: 0 }
    }

    /// Waits for what the agent says next.
    pub(crate) fn hear(&mut self) -> Result<AgentEvent, VmError> {
        let gathered = &mut self.gathered;
        match self.guest.next_frame(|frame| interpret(frame, gathered))? {
            Frame::Begin(place) => {
                let step = self.announce(place);
                // The limit holds for each run anew.
                if place.run == self.run {
                    self.guest.proceed(step);
                } else {
                    self.run = place.run;
                    self.guest.begin(step);
                }
                Ok(AgentEvent::Begin)
            }
            Frame::Outcome => {
                self.guest.proceed(Step::Run);
                Ok(AgentEvent::Outcome)
            }
            Frame::Done => Ok(AgentEvent::Done),
            Frame::Abort(reason) => Err(self.guest.failure(GuestCause::Abort { reason })),
            Frame::Wrong(what) => Err(self.guest.failure(GuestCause::Protocol { what })),
        }
    }

    fn announce(&self, place: message::Place) -> Step {
        let index = usize::try_from(place.path).unwrap_or(usize::MAX);
        let name = path_name(self.suite, index);
        let done = self.gathered.done();
        (self.request.progress)(Progress::Running { path: name, done, of: self.of });
        Step::Path { index, name: name.to_owned() }
    }

    /// Whether the path with this index has been run at least once.
    pub(crate) fn has_run(&self, index: usize) -> bool {
        self.gathered.has_run(index)
    }

    /// Whether this execution is over, or will not come.
    pub(crate) fn has_done(&self, execution: Execution) -> bool {
        self.gathered.has_done(execution)
    }

    /// What came of all paths.
    pub(crate) fn into_gathered(self) -> Gathered {
        self.gathered
    }
}

/// What one frame of the agent's means.
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
        _ => Ok(Frame::Wrong(format!("a frame {:?} now", frame.kind))),
    };
    match heard {
        Ok(_) if gathered.in_excess() => {
            Frame::Wrong("outcomes that the plan doesn't have".to_owned())
        }
        Ok(heard) => heard,
        Err(error) => Frame::Wrong(error.to_string()),
    }
}
