//! The processes of a run, and what each of them did.

use std::io::Read;

use super::{AccountRow, Reader, UNNAMED};

/// Most processes of a run, and most rows of all of them; `plugin/program/processes.h` and
/// `parts.h` have as many.
pub(super) const MAX_PROCESSES: usize = 64;
pub(super) const MAX_PARTS: usize = 1 << 13;

/// A process of the program's: the first one, or one that another started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountProcess {
    /// Which of the run's processes started it, by its place among them; None of the first.
    pub parent: Option<usize>,
    /// Of those with one parent, the one with the smaller number was started first.
    pub order: u64,
    /// The last program that it executed, as the kernel calls that: the first 15 bytes of its
    /// file's name. Empty if it is not known.
    pub name: String,
    /// How many threads it had, ended ones included.
    pub tasks: u64,
}

/// Whose work a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// That of the run's process at this place.
    Process(usize),
    /// That of the processes that the plugin has no room for.
    Beyond,
    /// That of processes that the program did not start, or of which the start was not seen.
    Unknown,
}

/// What the plugin knows of the processes of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccountProcesses {
    /// Why processes were not told apart.
    pub unparted: Option<Unparted>,
    /// Those that it told apart, each after its parent.
    pub processes: Vec<AccountProcess>,
    /// How many more there were.
    pub beyond: u64,
    /// How many tasks became programs that it knows no process of.
    pub unseen: u64,
    /// The rows of own work once more, by whose work it is.
    pub parts: Vec<(Owner, AccountRow)>,
}

/// Why the rows of a run are not told apart by process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unparted {
    /// By the numbers of `plugin/program/processes.h`.
    #[error(
        "the kernel's records of its tasks are laid out in an unknown way, as with \
         CONFIG_RANDSTRUCT"
    )]
    Fields,
    /// A limit of the plugin's.
    #[error("they have more than 8,191 rows")]
    Rows,
}

impl<R: Read> Reader<R> {
    pub(super) fn read_processes(&mut self) -> Result<(), &'static str> {
        let unparted = match self.number()? {
            0 => None,
            1 => Some(Unparted::Fields),
            2 => Some(Unparted::Rows),
            _ => return Err("processes are missing for an unknown reason"),
        };
        let (beyond, unseen) = (self.number()?, self.number()?);
        self.account.processes =
            AccountProcesses { unparted, beyond, unseen, ..Default::default() };
        Ok(())
    }

    pub(super) fn process(&mut self) -> Result<(), &'static str> {
        let (parent, order) = (self.number()?, self.number()?);
        let (name, tasks) = (self.name()?, self.number()?);
        let parent = place(parent);
        let known = &mut self.account.processes.processes;
        if known.len() == MAX_PROCESSES {
            return Err("a run has too many processes");
        }
        match parent {
            Some(parent) if parent >= known.len() => {
                return Err("a process comes before its parent");
            }
            None if !known.is_empty() => return Err("a process has no parent"),
            parent => known.push(AccountProcess { parent, order, name, tasks }),
        }
        Ok(())
    }

    /// Whose work comes next, by the number of the process.
    pub(super) fn owner(&mut self) -> Result<Owner, &'static str> {
        match self.number()? {
            0 => Ok(Owner::Unknown),
            number if number == u64::from(UNNAMED) => Ok(Owner::Beyond),
            number => match place(number) {
                Some(place) if place < self.account.processes.processes.len() => {
                    Ok(Owner::Process(place))
                }
                _ => Err("a row's process is unknown"),
            },
        }
    }

    pub(super) fn part(&mut self) -> Result<(), &'static str> {
        let owner = self.owner()?;
        let row = self.row()?;
        if !row.kind.is_own_work() {
            return Err("a process has work that is not its own");
        }
        if self.account.processes.parts.len() == MAX_PARTS {
            return Err("a run's processes have too many rows");
        }
        self.account.processes.parts.push((owner, row));
        Ok(())
    }
}

/// Where the process, or thread, with this number, from 1, stands; None for 0.
pub(super) fn place(number: u64) -> Option<usize> {
    usize::try_from(number).unwrap_or(usize::MAX).checked_sub(1)
}
