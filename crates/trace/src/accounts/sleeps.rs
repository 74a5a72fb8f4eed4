//! The sleeps of a run: in which rows and regions the program's tasks slept, and who woke them.

use std::io::Read;

use super::{Owner, Reader, RowKind};

/// Most sleeps of a run that are told apart; `plugin/program/sleeps.h` has as many.
pub(super) const MAX_SLEEPS: usize = 1 << 12;

/// How often tasks slept in one row or region, and were woken by one waker. A task sleeps if the
/// kernel switches away from it, and wakes it before it switches back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountSleep {
    /// Whose tasks they were that slept.
    pub owner: Owner,
    /// In which kind of row, or [`RowKind::Region`].
    pub kind: RowKind,
    /// Which of that kind, as in [`super::AccountRow`]; of a region the number of its name.
    pub id: u32,
    pub waker: Waker,
    pub count: u64,
    /// Steps from the wake-ups until the tasks ran, of whatever was executed meanwhile.
    pub steps: u64,
    /// Steps of the clock in which the CPU idled while they slept, but for those of the run's first
    /// wait.
    pub idle: u64,
    /// In how many of the sleeps that was.
    pub first: u64,
}

/// What woke a task that slept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Waker {
    /// Whose task executed it; of an interrupt [`Owner::Unknown`].
    pub owner: Owner,
    /// The kind of row that its work is in; of softirqs in a system call that call's.
    pub kind: RowKind,
    /// Which one of that kind it is.
    pub id: u32,
}

/// What the plugin knows of the sleeps of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccountSleeps {
    /// Why nothing is told of sleeps.
    pub sleepless: Option<Sleepless>,
    /// Whether it is unknown how long the CPU idled at a time.
    pub idle_unknown: bool,
    /// Steps of the clock in which it idled, but for the run's first wait.
    pub idle: u64,
    /// Those that it told apart.
    pub sleeps: Vec<AccountSleep>,
}

/// Why nothing is told of the sleeps of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Sleepless {
    /// By the numbers of `plugin/program/sleeps.h`.
    #[error("the kernel's symbol table has no try_to_wake_up")]
    WakeUp,
    /// A limit of the plugin's.
    #[error("they were of more than 4,095 kinds")]
    Kinds,
}

impl<R: Read> Reader<R> {
    pub(super) fn read_sleeps(&mut self) -> Result<(), &'static str> {
        let sleepless = match self.number()? {
            0 => None,
            1 => Some(Sleepless::WakeUp),
            2 => Some(Sleepless::Kinds),
            _ => return Err("sleeps are missing for an unknown reason"),
        };
        let (unknown, idle) = (self.number()?, self.number()?);
        self.account.sleeps =
            AccountSleeps { sleepless, idle_unknown: unknown != 0, idle, sleeps: Vec::new() };
        Ok(())
    }

    pub(super) fn sleep(&mut self) -> Result<(), &'static str> {
        let (owner, (kind, id)) = (self.owner()?, self.row_key()?);
        let (by, (by_kind, by_id)) = (self.owner()?, self.row_key()?);
        let (count, steps) = (self.number()?, self.number()?);
        let (idle, first) = (self.number()?, self.number()?);
        if kind == RowKind::Region {
            self.name_of(id.into())?;
        }
        if by_kind == RowKind::Region {
            return Err("a region wakes no task");
        }
        if self.account.sleeps.sleeps.len() == MAX_SLEEPS {
            return Err("a run has too many sleeps");
        }
        let waker = Waker { owner: by, kind: by_kind, id: by_id };
        let sleep = AccountSleep { owner, kind, id, waker, count, steps, idle, first };
        self.account.sleeps.sleeps.push(sleep);
        Ok(())
    }
}
