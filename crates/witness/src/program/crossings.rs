//! The rows of a program's run, from where its kernel was entered and left and tasks were switched:
//! the rules of `plugin/program/account.h`, for a clock that was read at each of these places only.
//!
//! Each task has a stack of frames: its own code, and above it what it entered the kernel for. What
//! is executed belongs to the frame on top of the task that is current.

use std::collections::BTreeMap;

use pathmeter_trace::RowKind;

/// Deepest stack of frames, as the plugin's.
const MOST_FRAMES: usize = 16;

/// Where control went from one row to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Crossing {
    /// Steps of the clock until then.
    pub(crate) clock: u64,
    pub(crate) what: Crossed,
}

/// What happened where control went from one row to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Crossed {
    /// The run began, in the program's own code.
    Begin,
    /// The kernel was entered, for this row.
    Enter {
        /// What it was entered for.
        kind: RowKind,
        /// Which of that kind, as in [`pathmeter_trace::AccountRow`].
        id: u32,
    },
    /// It returned to where it was entered, or began a program.
    Return,
    /// A function whose executions are rows returned, if one was executed.
    FunctionEnd,
    /// From one task to another.
    Switch {
        /// Each task has another number.
        from: u64,
        to: u64,
    },
    /// The current task is new.
    NewTask,
    /// The run ended, in the agent's own code.
    End,
}

/// A row of a run, by the clock alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SteppedRow {
    pub(crate) kind: RowKind,
    /// Which of that kind, as in [`pathmeter_trace::AccountRow`].
    pub(crate) id: u32,
    pub(crate) calls: u64,
    pub(crate) steps: u64,
}

/// Why there are no rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Uncrossed {
    /// The clock goes backwards, or the run has no begin or no end.
    #[error("it has no begin, no end, or a clock that goes backwards")]
    NoRun,
    /// A return without an entry.
    #[error("the kernel returned to a program from where it was not entered")]
    NothingToReturnFrom,
    /// Too many entries without a return.
    #[error("the kernel was entered {MOST_FRAMES} times without a return")]
    TooDeep,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Program,
    NewKernel,
    Other,
}

struct Frame {
    kind: RowKind,
    id: u32,
    steps: u64,
}

struct Task {
    origin: Origin,
    /// Its own code is a program's.
    in_user: bool,
    frames: Vec<Frame>,
    user: u64,
    kernel: u64,
}

impl Task {
    fn new(origin: Origin) -> Self {
        let in_user = origin == Origin::Program;
        Self { origin, in_user, frames: Vec::new(), user: 0, kernel: 0 }
    }

    /// What is executed now belongs to this.
    fn current(&mut self) -> &mut u64 {
        match self.frames.last_mut() {
            Some(frame) => &mut frame.steps,
            None if self.in_user => &mut self.user,
            None => &mut self.kernel,
        }
    }
}

/// Calls and steps, by kind and id.
type Rows = BTreeMap<(RowKind, u32), (u64, u64)>;

struct Run {
    /// The agent has not called execve yet.
    launching: bool,
    last: u64,
    since_switch: u64,
    /// The task that began; its number is known at the first switch.
    current: Option<u64>,
    first: Task,
    tasks: BTreeMap<u64, Task>,
    rows: Rows,
}

/// The rows of a run. Their steps add up to all from its begin to its end.
///
/// # Errors
/// Something was missed.
pub(crate) fn stepped_rows(crossings: &[Crossing]) -> Result<Vec<SteppedRow>, Uncrossed> {
    let [first, middle @ .., last] = crossings else { return Err(Uncrossed::NoRun) };
    let ascending = crossings.windows(2).all(|pair| pair[0].clock <= pair[1].clock);
    if first.what != Crossed::Begin || last.what != Crossed::End || !ascending {
        return Err(Uncrossed::NoRun);
    }
    let mut run = Run {
        launching: true,
        last: first.clock,
        since_switch: 0,
        current: None,
        first: Task::new(Origin::Program),
        tasks: BTreeMap::new(),
        rows: Rows::new(),
    };
    for crossing in middle {
        run.cross(crossing)?;
    }
    run.settle(last.clock);
    let rows = run.close().into_iter();
    Ok(rows.map(|((kind, id), (calls, steps))| SteppedRow { kind, id, calls, steps }).collect())
}

impl Run {
    fn task(&mut self) -> &mut Task {
        match self.current {
            Some(number) => self.tasks.entry(number).or_insert_with(|| Task::new(Origin::Other)),
            None => &mut self.first,
        }
    }

    fn settle(&mut self, clock: u64) {
        let steps = clock.saturating_sub(self.last);
        self.last = clock;
        self.since_switch += steps;
        *self.task().current() += steps;
    }

    fn cross(&mut self, crossing: &Crossing) -> Result<(), Uncrossed> {
        // The instruction that returns, or loads the next task's stack, belongs to what it leaves.
        let leaves = matches!(crossing.what, Crossed::Return | Crossed::Switch { .. });
        let after = u64::from(leaves);
        self.settle(crossing.clock + after);
        match crossing.what {
            Crossed::Begin | Crossed::End => return Err(Uncrossed::NoRun),
            Crossed::Enter { kind, id } => {
                self.hand_over(kind);
                let frames = &mut self.task().frames;
                if frames.len() == MOST_FRAMES {
                    return Err(Uncrossed::TooDeep);
                }
                frames.push(Frame { kind, id, steps: 0 });
            }
            Crossed::Return => self.come_back()?,
            Crossed::FunctionEnd => {
                let top = self.task().frames.last().map(|frame| frame.kind);
                if top.is_some_and(RowKind::is_of_functions) {
                    self.close_frame();
                }
            }
            Crossed::Switch { from, to } => self.switch(from, to),
            Crossed::NewTask => self.begin_task(),
        }
        Ok(())
    }

    /// What was executed before the first system call was the agent's, then it is the program's.
    fn hand_over(&mut self, kind: RowKind) {
        let is_first = self.launching && kind == RowKind::Syscall && self.task().frames.is_empty();
        if is_first {
            self.launching = false;
            let steps = std::mem::take(&mut self.task().user);
            self.enter((RowKind::Agent, 0), 0, steps);
        }
    }

    fn come_back(&mut self) -> Result<(), Uncrossed> {
        if self.close_frame() {
            return Ok(());
        }
        let task = self.task();
        if task.in_user {
            return Err(Uncrossed::NothingToReturnFrom);
        }
        task.in_user = true;
        if task.origin == Origin::NewKernel {
            task.origin = Origin::Program;
        }
        Ok(())
    }

    /// Ends the frame on top; false if there is none.
    fn close_frame(&mut self) -> bool {
        let task = self.task();
        let Some(Frame { kind, id, steps }) = task.frames.pop() else { return false };
        // What an interrupt does is no task's own, and a function is a row in all tasks.
        let own = kind != RowKind::Interrupt && !kind.is_of_functions();
        if task.origin == Origin::Other && own {
            task.user += steps;
        } else {
            self.enter((kind, id), 1, steps);
        }
        true
    }

    fn enter(&mut self, row: (RowKind, u32), calls: u64, steps: u64) {
        if calls > 0 || steps > 0 {
            let row = self.rows.entry(row).or_default();
            *row = (row.0 + calls, row.1 + steps);
        }
    }

    fn switch(&mut self, from: u64, to: u64) {
        if self.current.is_none() {
            let first = std::mem::replace(&mut self.first, Task::new(Origin::Other));
            self.tasks.insert(from, first);
        }
        self.current = Some(to);
        self.since_switch = 0;
    }

    /// It has been since the switch to it, even if one with its number was there before.
    fn begin_task(&mut self) {
        let kernel = self.since_switch;
        let task = self.task();
        *task.current() = task.current().saturating_sub(kernel);
        self.close_task(false);
        *self.task() =
            Task { origin: Origin::NewKernel, in_user: false, kernel, ..Task::new(Origin::Other) };
    }

    /// All that the current task did goes to its rows.
    fn close_task(&mut self, is_agent: bool) {
        while self.close_frame() {}
        let task = self.task();
        let (origin, user, kernel) = (task.origin, task.user, task.kernel);
        let (of_user, of_kernel, calls) = match origin {
            Origin::Other if is_agent => (RowKind::Agent, RowKind::Agent, 0),
            Origin::Other => (RowKind::Other, RowKind::KernelThread, 0),
            Origin::NewKernel => (RowKind::User, RowKind::KernelThread, 0),
            Origin::Program => (RowKind::User, RowKind::NewTask, u64::from(kernel > 0)),
        };
        self.enter((of_user, 0), 0, user);
        self.enter((of_kernel, 0), calls, kernel);
    }

    fn close(mut self) -> Rows {
        let agent = self.current;
        if agent.is_none() {
            self.close_task(true);
        }
        for number in self.tasks.keys().copied().collect::<Vec<_>>() {
            self.current = Some(number);
            self.close_task(Some(number) == agent);
        }
        self.rows
    }
}

#[cfg(test)]
mod tests;
