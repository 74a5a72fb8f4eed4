//! Reads the program plugin's stream (`docs/reference/program-format.md`): the rows of every run.

mod call_tree;
mod kind;
mod point_window;
mod process;
mod sleeps;
mod thread;

use std::collections::HashSet;
use std::io::Read;
use std::mem::take;
use std::sync::Arc;

pub use call_tree::{
    AccountNode, AccountNodeKind, AccountTree, CODE_PAGE_BYTES, CodePage, CodePlace, DEEPEST_CALL,
    MAX_NODES, TreeCell, TreeForm, code_hash,
};
pub(crate) use kind::KINDS;
pub use kind::RowKind;
pub use point_window::{AccountWindow, KernelWindow};
pub use process::{AccountProcess, AccountProcesses, Owner, Unparted};
pub use sleeps::{AccountSleep, AccountSleeps, Sleepless, Waker};
pub use thread::{AccountThread, AccountThreads, ThreadOwner, Unthreaded};

use crate::arch::classes::classes;
use crate::event::{Event, Events};

/// First bytes of the stream, with its version.
const HEADER: [u8; 8] = *b"PMPR\x07\0\0\0";
/// Most runs that are read: those that a result may have.
const MAX_RUNS: usize = 1024;
/// Executions of a region in one run that are kept one by one.
pub const MAX_WINDOWS: usize = 1024;
/// Such executions of all regions in one run: far more than programs mark, and no more than memory
/// has room for.
const MAX_ALL_WINDOWS: usize = 1 << 18;
/// Expectations of a region in one run that did not hold, and are kept.
const MAX_FAILED: usize = 16;
/// Longest name of a region, and most of them; `plugin/program/regions.h` has the same.
const MAX_NAME: u64 = 127;
const MAX_NAMES: usize = 1 << 12;
/// A cell's address that stands for all code of programs.
pub const USER_CODE: u64 = 1;
/// Most cells of a run, and of events as many; `plugin/program/cells.h` has half as many.
const MAX_CELLS: usize = 1 << 21;
/// Most wrong marks of a run that are kept.
const MAX_MISUSES: usize = 16;
/// Most rows of a run; `plugin/program/task.h` has fewer.
const MAX_ROWS: u64 = 1 << 13;

/// In the id of a region's cell: the rest is the number of a window between two points.
pub const FIRST_WINDOW: u32 = 1 << 16;
/// In the id of an interrupt: the rest is its vector.
pub const VECTOR: u32 = 0x10000;
/// An id that is not known.
pub const UNNAMED: u32 = u32::MAX;

/// One row of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountRow {
    pub kind: RowKind,
    /// Which of that kind: of system calls, exceptions and interrupts the number of the name, or of
    /// an interrupt without a name [`VECTOR`] and its vector; of page faults the error code's low
    /// five bits; 0 of kinds with one row.
    pub id: u32,
    pub calls: u64,
    /// Steps of the guest's clock.
    pub steps: u64,
    /// Instructions retired: fewer than steps by the iterations of string instructions.
    pub instructions: u64,
    /// Of the events that are counted in rows ([`counted_events`]) how many there were.
    pub events: Arc<Events>,
    /// Of the steps, those in which a string instruction only saw that it was done.
    pub checks: u64,
    /// Instructions that were begun or fetched and not executed, for a fault: in none of the steps.
    pub faults: u64,
}

/// A run, as the plugin saw it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// How often the CPU was told to wait.
    pub idled: u64,
    pub rows: Vec<AccountRow>,
    /// The regions that the program marked, in the order in which they first ended.
    pub regions: Vec<AccountRegion>,
    /// How it marked them wrongly.
    pub misuses: Vec<Misuse>,
    /// What each row executed where in the kernel's code, if that was asked for.
    pub cells: Vec<AccountCell>,
    /// Which of these were events, if cells were asked for.
    pub event_cells: Vec<EventCell>,
    /// The windows between two points of the kernel that were asked for.
    pub windows: Vec<AccountWindow>,
    pub processes: AccountProcesses,
    pub threads: AccountThreads,
    /// Where its tasks slept, and who woke them.
    pub sleeps: AccountSleeps,
    /// The calls of the rows whose tree was asked for.
    pub tree: Option<AccountTree>,
}

/// What a row executed in a block of the kernel's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountCell {
    pub kind: RowKind,
    /// Which of that kind, as in [`AccountRow`]; of a region the number of its name, or
    /// [`FIRST_WINDOW`] and the number of a window between two points of the kernel.
    pub id: u32,
    /// The block's first address; [`USER_CODE`] for all code of programs.
    pub address: u64,
    /// How often it was entered.
    pub times: u64,
    /// The number of instructions retired.
    pub instructions: u64,
}

/// How many events of one class a row executed in a block of the kernel's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventCell {
    pub kind: RowKind,
    /// Which of that kind, as in [`AccountCell`].
    pub id: u32,
    /// The block's first address; [`USER_CODE`] for all code of programs.
    pub address: u64,
    pub event: Event,
    pub number: u64,
}

/// A region of a program in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccountRegion {
    /// Its name, as the program has it.
    pub name: String,
    /// How often it was executed.
    pub count: u64,
    /// What was executed in it, the first [`MAX_WINDOWS`] times.
    pub windows: Vec<RegionWindow>,
    /// How many executions had no expectation.
    pub unproved: u64,
    /// The texts of the expectations that did not hold, each once.
    pub failed: Vec<String>,
}

/// One execution of a region: all that was executed from its begin to its end, by any task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionWindow {
    /// Steps of the guest's clock.
    pub steps: u64,
    /// The number of instructions retired.
    pub instructions: u64,
    /// Of these, those of the program's own code, or another's.
    pub user: u64,
    /// The events that are counted in rows, and how often.
    pub events: Arc<Events>,
}

impl RegionWindow {
    /// The events with those that follow from the other counts.
    pub fn all_events(&self) -> Events {
        let mut events = Events::clone(&self.events);
        events.add(Event::User, self.user);
        events.add(Event::Kernel, self.instructions.saturating_sub(self.user));
        events.add(Event::Clock, self.steps);
        events
    }
}

/// What the plugin counts only if it is asked for, since that takes longer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlsoCounted {
    /// The lines and pages of data that the kernel touches, each once a call; and visits of lines,
    /// by programs, too.
    pub lines: bool,
    /// The returns that a processor mispredicts.
    pub returns: bool,
}

/// The events that the plugin counts in rows and regions.
pub fn counted_events(also: AlsoCounted) -> impl Iterator<Item = Event> {
    let lines = [Event::DataLines, Event::DataPages, Event::LineVisits];
    let lines = lines.into_iter().filter(move |_| also.lines);
    let classes = classes().filter(|class| also.returns || *class != Event::MispredictedReturns);
    let mut counted: Vec<Event> =
        std::iter::once(Event::StringBytes).chain(lines).chain(classes).collect();
    counted.sort_unstable();
    counted.into_iter()
}

/// A region that was marked wrongly.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misuse {
    #[error("the region {0} ends where this thread has none open")]
    EndWithoutBegin(String),
    #[error("the region {0} ends while {1} is open, which began in it")]
    OtherEnd(String, String),
    #[error("the region {0} has no end: its thread ended, or the program did")]
    NotEnded(String),
    #[error("the region {0} is nested deeper than 16")]
    TooDeep(String),
    /// What it is called can't be read.
    #[error("a region has no name, or there are more than 4,096 of them")]
    NoName,
    /// An expectation that belongs to none.
    #[error("`{0}` is expected outside of any region")]
    Outside(String),
}

/// Why the plugin has no account of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    /// Code of the user's in the kernel, or the other way round.
    #[error("a way into the kernel or out of it was missed ({0})")]
    Track(&'static str),
    /// A limit of the plugin's.
    #[error("{0}")]
    Limit(&'static str),
    #[error("the plugin gave an unknown reason ({0})")]
    Unknown(u64),
}

impl Lost {
    /// By the numbers of `plugin/program/task.h`.
    fn of(number: u64) -> Self {
        match number {
            1 => Self::Track("user code in the kernel"),
            2 => Self::Track("kernel code in the program"),
            3 => Self::Limit("interrupts and exceptions are nested deeper than 16"),
            4 => Self::Limit("there were more than 16,384 tasks"),
            5 => Self::Limit("there were more than 4,095 kinds of rows"),
            6 => Self::Limit("the host had no memory left"),
            7 => Self::Track("a return without an entry"),
            8 => Self::Track("a page fault without an error code"),
            9 => Self::Track("no task switch was seen"),
            10 => Self::Limit("a block of code was too long to be followed"),
            number => Self::Unknown(number),
        }
    }
}

/// What was read of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accounts {
    /// The runs in their order.
    pub runs: Vec<Result<Account, Lost>>,
    /// The names of regions, by number.
    pub names: Vec<String>,
    /// The pages of the programs' code, by number, if a tree was asked for.
    pub pages: Vec<CodePage>,
    /// Why reading ended before the stream did.
    pub fault: Option<&'static str>,
}

/// Reads the plugin's stream to its end.
pub fn accounts(stream: impl Read) -> Accounts {
    let mut reader = Reader {
        stream: std::io::BufReader::new(stream),
        names: Vec::new(),
        account: Account::default(),
        windows: 0,
        pages: Vec::new(),
        events: HashSet::new(),
    };
    let mut accounts = Accounts::default();
    accounts.fault = reader.all(&mut accounts.runs).err();
    accounts.names = take(&mut reader.names);
    accounts.pages = take(&mut reader.pages);
    // Whoever writes must not wait for a reader that has gone.
    let _ = std::io::copy(&mut reader.stream, &mut std::io::sink());
    accounts
}

struct Reader<R> {
    stream: R,
    /// Of regions and expectations, by number.
    names: Vec<String>,
    /// The run that is being read.
    account: Account,
    /// How many windows its regions have together.
    windows: usize,
    /// The pages of code of all runs.
    pages: Vec<CodePage>,
    /// Those that differ: most executions of a region have the same.
    events: HashSet<Arc<Events>>,
}

impl<R: Read> Reader<R> {
    fn all(&mut self, runs: &mut Vec<Result<Account, Lost>>) -> Result<(), &'static str> {
        let mut header = [0; HEADER.len()];
        self.stream.read_exact(&mut header).map_err(|_| "it is cut short")?;
        if header != HEADER {
            return Err("it does not begin as it should");
        }
        while let Some(tag) = self.byte()? {
            let run = match tag {
                1 => Ok(self.run()?),
                2 => Err(Lost::of(self.number()?)),
                _ => {
                    self.mark(tag)?;
                    continue;
                }
            };
            self.account = Account::default();
            self.windows = 0;
            if runs.len() == MAX_RUNS {
                return Err("it has too many runs");
            }
            runs.push(run);
        }
        Ok(())
    }

    fn run(&mut self) -> Result<Account, &'static str> {
        let idled = self.number()?;
        let count = self.number()?;
        if count > MAX_ROWS {
            return Err("a run has too many rows");
        }
        let rows = (0..count).map(|_| self.row()).collect::<Result<_, _>>()?;
        Ok(Account { idled, rows, ..take(&mut self.account) })
    }

    /// A record about regions, windows, cells, processes, sleeps, threads or a tree.
    fn mark(&mut self, tag: u8) -> Result<(), &'static str> {
        match tag {
            3 => self.new_name(),
            4 => self.region(),
            5 => {
                let region = self.number()?;
                let text = self.name()?;
                let region = self.region_of(region)?;
                if region.failed.len() < MAX_FAILED && !region.failed.contains(&text) {
                    region.failed.push(text);
                }
                Ok(())
            }
            6 => self.misuse(),
            7 => self.cell(),
            8 => self.read_point_window(),
            9 => self.passed(),
            10 => self.read_processes(),
            11 => self.process(),
            12 => self.part(),
            13 => self.read_sleeps(),
            14 => self.sleep(),
            15 => self.read_threads(),
            16 => self.thread(),
            17 => self.thread_part(),
            18 => self.code_page(),
            19 => self.read_tree(),
            20 => self.node(),
            21 => self.tree_cell(),
            22 => self.event_cell(),
            _ => Err("it has a record of an unknown kind"),
        }
    }

    fn new_name(&mut self) -> Result<(), &'static str> {
        let length = self.number()?;
        if length > MAX_NAME || self.names.len() == MAX_NAMES {
            return Err("a name is too long, or there are too many");
        }
        let name = self.text(length)?;
        self.names.push(name);
        Ok(())
    }

    /// The text of so many bytes that comes next; the length was checked.
    fn text(&mut self, length: u64) -> Result<String, &'static str> {
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        self.stream.read_exact(&mut bytes).map_err(|_| "it is cut short")?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn region(&mut self) -> Result<(), &'static str> {
        let name = self.number()?;
        let (steps, surplus, user) = (self.number()?, self.number()?, self.number()?);
        let memory = self.memory_events()?;
        let (held, failed) = (self.number()?, self.number()?);
        let events = self.events(memory)?;
        let instructions =
            steps.checked_sub(surplus).ok_or("a region has less than no instruction")?;
        let keep = self.windows < MAX_ALL_WINDOWS;
        let region = self.region_of(name)?;
        region.count += 1;
        region.unproved += u64::from(held == 0 && failed == 0);
        if keep && region.windows.len() < MAX_WINDOWS {
            region.windows.push(RegionWindow { steps, instructions, user, events });
            self.windows += 1;
        }
        Ok(())
    }

    /// The region whose name has this number.
    fn region_of(&mut self, name: u64) -> Result<&mut AccountRegion, &'static str> {
        let name = self.name_of(name)?;
        let known = self.account.regions.iter().position(|region| region.name == name);
        let at = known.unwrap_or(self.account.regions.len());
        if known.is_none() {
            self.account.regions.push(AccountRegion { name, ..AccountRegion::default() });
        }
        self.account.regions.get_mut(at).ok_or("a region is missing")
    }

    fn misuse(&mut self) -> Result<(), &'static str> {
        let what = self.number()?;
        let (name, other) = (self.name()?, self.name()?);
        let misuse = match what {
            1 => Misuse::EndWithoutBegin(name),
            2 => Misuse::OtherEnd(name, other),
            3 => Misuse::NotEnded(name),
            4 => Misuse::TooDeep(name),
            5 => Misuse::NoName,
            6 => Misuse::Outside(name),
            _ => return Err("a region is marked wrongly in an unknown way"),
        };
        if self.account.misuses.len() < MAX_MISUSES {
            self.account.misuses.push(misuse);
        }
        Ok(())
    }

    /// The name whose number comes next; empty for none.
    fn name(&mut self) -> Result<String, &'static str> {
        match self.number()? {
            number if number == u64::from(UNNAMED) => Ok(String::new()),
            number => self.name_of(number),
        }
    }

    fn name_of(&self, number: u64) -> Result<String, &'static str> {
        let name = usize::try_from(number).ok().and_then(|number| self.names.get(number));
        name.cloned().ok_or("it refers to a name that it has not told")
    }

    fn row_key(&mut self) -> Result<(RowKind, u32), &'static str> {
        let kind = usize::try_from(self.number()?).ok().and_then(|kind| KINDS.get(kind).copied());
        let kind = kind.ok_or("a row's kind is unknown")?;
        let id = u32::try_from(self.number()?).map_err(|_| "a row's id is out of range")?;
        Ok((kind, id))
    }

    fn cell(&mut self) -> Result<(), &'static str> {
        let (kind, id) = self.row_key()?;
        let (address, times) = (self.number()?, self.number()?);
        let (steps, surplus) = (self.number()?, self.number()?);
        // A string instruction that faults when it is begun goes on in a block that begins with
        // it: there its surplus is one too many, and here one too few, so that it may be below 0.
        let instructions = steps.wrapping_sub(surplus);
        if i64::try_from(instructions).is_err() {
            return Err("a cell has less than no instruction");
        }
        if self.account.cells.len() == MAX_CELLS {
            return Err("a run has too many cells");
        }
        self.account.cells.push(AccountCell { kind, id, address, times, instructions });
        Ok(())
    }

    fn event_cell(&mut self) -> Result<(), &'static str> {
        let (kind, id) = self.row_key()?;
        let address = self.number()?;
        let (event, number) = (self.class()?, self.number()?);
        if self.account.event_cells.len() == MAX_CELLS {
            return Err("a run has too many cells");
        }
        self.account.event_cells.push(EventCell { kind, id, address, event, number });
        Ok(())
    }

    /// The event whose number comes next.
    fn class(&mut self) -> Result<Event, &'static str> {
        let class = usize::try_from(self.number()?).ok();
        class.and_then(|class| classes().nth(class)).ok_or("an event is unknown")
    }

    fn row(&mut self) -> Result<AccountRow, &'static str> {
        let (kind, id) = self.row_key()?;
        if kind == RowKind::Region {
            return Err("a row's kind is unknown");
        }
        let calls = self.number()?;
        let steps = self.number()?;
        let surplus = self.number()?;
        let instructions =
            steps.checked_sub(surplus).ok_or("a row has less than no instruction")?;
        let memory = self.memory_events()?;
        let (checks, faults) = (self.number()?, self.number()?);
        let events = self.events(memory)?;
        Ok(AccountRow { kind, id, calls, steps, instructions, events, checks, faults })
    }

    /// The events of memory, which rows, regions and windows have in one order.
    fn memory_events(&mut self) -> Result<[(Event, u64); 4], &'static str> {
        let order = [Event::StringBytes, Event::DataLines, Event::DataPages, Event::LineVisits];
        let mut events = order.map(|event| (event, 0));
        for (_, number) in &mut events {
            *number = self.number()?;
        }
        Ok(events)
    }

    /// These, and those that come next, each by the number of its class.
    fn events<const N: usize>(
        &mut self,
        others: [(Event, u64); N],
    ) -> Result<Arc<Events>, &'static str> {
        let mut events = Events::from_iter(others);
        let count = self.number()?;
        if count > classes().len() as u64 {
            return Err("it has more events than there are");
        }
        for _ in 0..count {
            events.add(self.class()?, self.number()?);
        }
        if let Some(known) = self.events.get(&events) {
            return Ok(Arc::clone(known));
        }
        let events = Arc::new(events);
        if self.events.len() < MAX_ALL_WINDOWS {
            self.events.insert(Arc::clone(&events));
        }
        Ok(events)
    }

    /// The next byte; None at the end.
    fn byte(&mut self) -> Result<Option<u8>, &'static str> {
        let mut byte = [0];
        match self.stream.read(&mut byte) {
            Ok(0) => Ok(None),
            Ok(_) => Ok(Some(byte[0])),
            Err(_) => Err("it can't be read"),
        }
    }

    fn number(&mut self) -> Result<u64, &'static str> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?.ok_or("it is cut short")?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("it has a number of more than 64 bits")
    }
}

#[cfg(test)]
mod tests;
