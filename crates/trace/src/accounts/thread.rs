//! The threads of a run's processes, and what each of them did.

use std::io::Read;

use super::process::{MAX_PARTS, place};
use super::{AccountRow, Reader, UNNAMED};

/// Most threads of a run, and most bytes of a thread's name; `plugin/program/threads.h` and
/// `task_struct.h` have as many.
pub(super) const MAX_THREADS: usize = 256;
pub(super) const MAX_THREAD_NAME: u64 = 15;

/// A thread of a process of the program's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountThread {
    /// The place of its process among the run's.
    pub process: usize,
    /// Of a process's threads, the one with the smaller number was started first; 0 of its first
    /// one.
    pub order: u64,
    /// What the kernel called it last. The thread itself may have chosen that; empty if it is not
    /// known.
    pub name: String,
}

/// Whose work a row of a process's is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ThreadOwner {
    /// That of the run's thread at this place.
    Thread(usize),
    /// That of the threads of the process at this place that the plugin has no room for.
    Beyond(usize),
}

/// What the plugin knows of the threads of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccountThreads {
    /// Why threads were not told apart.
    pub unthreaded: Option<Unthreaded>,
    /// Those that it told apart, the first ones of processes included.
    pub threads: Vec<AccountThread>,
    /// How many more there were.
    pub beyond: u64,
    /// The rows of processes that it told apart once more, by whose work it is.
    pub parts: Vec<(ThreadOwner, AccountRow)>,
}

/// Why the rows of a process are not told apart by thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unthreaded {
    /// A limit of the plugin's; by the number of `plugin/program/threads.h`.
    #[error("they have more than 8,191 rows")]
    Rows,
}

impl<R: Read> Reader<R> {
    pub(super) fn read_threads(&mut self) -> Result<(), &'static str> {
        let unthreaded = match self.number()? {
            0 => None,
            1 => Some(Unthreaded::Rows),
            _ => return Err("threads are missing for an unknown reason"),
        };
        let beyond = self.number()?;
        self.account.threads = AccountThreads { unthreaded, beyond, ..Default::default() };
        Ok(())
    }

    pub(super) fn thread(&mut self) -> Result<(), &'static str> {
        let (process, order, length) = (self.process_place()?, self.number()?, self.number()?);
        if length > MAX_THREAD_NAME {
            return Err("a thread's name is too long");
        }
        let name = self.text(length)?;
        if self.account.threads.threads.len() == MAX_THREADS {
            return Err("a run has too many threads");
        }
        self.account.threads.threads.push(AccountThread { process, order, name });
        Ok(())
    }

    /// The place of the process whose number comes next.
    fn process_place(&mut self) -> Result<usize, &'static str> {
        let place = place(self.number()?);
        let known = place.filter(|place| *place < self.account.processes.processes.len());
        known.ok_or("a thread's process is unknown")
    }

    /// Whose work comes next, by the numbers of the process and the thread.
    fn thread_owner(&mut self) -> Result<ThreadOwner, &'static str> {
        let (process, thread) = (self.process_place()?, self.number()?);
        if thread == u64::from(UNNAMED) {
            return Ok(ThreadOwner::Beyond(process));
        }
        let place = place(thread).ok_or("a row's thread is unknown")?;
        match self.account.threads.threads.get(place) {
            Some(known) if known.process == process => Ok(ThreadOwner::Thread(place)),
            Some(_) => Err("a row's thread is another process's"),
            None => Err("a row's thread is unknown"),
        }
    }

    pub(super) fn thread_part(&mut self) -> Result<(), &'static str> {
        let owner = self.thread_owner()?;
        let row = self.row()?;
        if !row.kind.is_own_work() {
            return Err("a thread has work that is not its own");
        }
        if self.account.threads.parts.len() == MAX_PARTS {
            return Err("a run's threads have too many rows");
        }
        self.account.threads.parts.push((owner, row));
        Ok(())
    }
}
