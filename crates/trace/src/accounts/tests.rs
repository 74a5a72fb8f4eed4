use proptest::prelude::*;

use super::process::{MAX_PARTS, MAX_PROCESSES};
use super::sleeps::MAX_SLEEPS;
use super::thread::{MAX_THREAD_NAME, MAX_THREADS};
use super::*;
use crate::LoosePoints;
use crate::c_header::{constants, header};

/// A stream, as the plugin writes it.
#[derive(Clone)]
pub(super) struct Stream(Vec<u8>);

impl Stream {
    pub(super) fn new() -> Self {
        Self(HEADER.to_vec())
    }

    pub(super) fn record(mut self, tag: u8, numbers: &[u64]) -> Self {
        self.0.push(tag);
        for number in numbers {
            self.put(*number);
        }
        self
    }

    fn put(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.0.push(number.to_le_bytes()[0]);
    }

    fn name(self, name: &[u8]) -> Self {
        let mut named = self.record(3, &[name.len() as u64]);
        named.0.extend_from_slice(name);
        named
    }

    fn thread(self, process: u64, order: u64, name: &[u8]) -> Self {
        let mut told = self.record(16, &[process, order, name.len() as u64]);
        told.0.extend_from_slice(name);
        told
    }

    pub(super) fn rows(self, idled: u64, rows: &[[u64; 12]]) -> Self {
        self.record(1, &[&[idled, rows.len() as u64][..], &rows.concat()].concat())
    }

    pub(super) fn read(&self) -> Accounts {
        accounts(&self.0[..])
    }

    /// Why it can't be read to its end, with so many runs before that.
    pub(super) fn fault(&self, runs: usize) -> &'static str {
        let read = self.read();
        assert_eq!(read.runs.len(), runs);
        read.fault.unwrap()
    }

    /// The only run, which must be readable.
    pub(super) fn run(&self) -> Account {
        let Accounts { mut runs, fault: None, .. } = self.read() else {
            panic!("{:?}", self.read())
        };
        assert_eq!(runs.len(), 1);
        runs.remove(0).unwrap()
    }
}

const NONE: u64 = UNNAMED as u64;

fn events(numbers: &[(Event, u64)]) -> Arc<Events> {
    Arc::new(numbers.iter().copied().collect())
}

fn window<const N: usize>(numbers: [(Event, u64); N]) -> RegionWindow {
    RegionWindow { steps: 50, instructions: 45, user: 40, events: events(&numbers) }
}

#[test]
fn events_are_those_of_the_classes_and_others() {
    let last = classes().position(|it| it == Event::MispredictedReturns).unwrap() as u64;
    let classed = [[1, 7, 1, 9, 0, 8, 5, 3, 7, 0, 0].as_slice(), &[2, 0, 4, last, 6]].concat();
    let stream = Stream::new().record(1, &[&[0, 1], &classed[..]].concat());
    let row = &stream.run().rows[0];
    let named: Vec<_> = Event::all().map(|event| (event.word(), row.events.of(event))).collect();
    let some: Vec<_> = named.into_iter().filter(|(_, number)| *number > 0).collect();
    let expected = [
        ("string-bytes", 8),
        ("mispredicted-returns", 6),
        ("data-lines", 5),
        ("data-pages", 3),
        ("line-visits", 7),
    ];
    let all = AlsoCounted { lines: true, returns: true };
    assert_eq!(some, [&expected[..], &[("popf", 4)]].concat());
    for (event, number) in some {
        assert!(counted_events(all).any(|counted| counted.word() == event), "{event} {number}");
    }
    let usual: Vec<Event> = counted_events(AlsoCounted::default()).collect();
    assert!(![Event::DataLines, Event::MispredictedReturns].iter().any(|it| usual.contains(it)));
    assert!(counted_events(all).is_sorted());
    // A class that there is not, and more classes than there are.
    let odd = |events: &[u64]| {
        let row = [&[1, 7, 1, 9, 0, 0, 0, 0, 0, 0, 0][..], events].concat();
        Stream::new().record(1, &[&[0, 1], &row[..]].concat()).fault(0)
    };
    let classes = classes().len() as u64;
    assert_eq!(odd(&[1, classes, 1]), "an event is unknown");
    assert_eq!(odd(&[classes + 1]), "it has more events than there are");
}

#[test]
fn the_rows_of_two_runs_are_read_back() {
    let (big, timer) = (u64::MAX, u64::from(VECTOR | 0x30));
    let stream = Stream::new()
        .rows(
            3,
            &[[1, 7, 2, 100, 10, 8, 5, 0, 0, 2, 1, 0], [5, timer, 1, big, 0, 0, 0, 0, 0, 0, 0, 0]],
        )
        .rows(0, &[[0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0]]);
    let read = stream.read();
    assert_eq!((read.fault, read.runs.len()), (None, 2));
    let first = read.runs[0].as_ref().unwrap();
    assert_eq!(first.idled, 3);
    let row = AccountRow {
        kind: RowKind::Syscall,
        id: 7,
        calls: 2,
        steps: 100,
        instructions: 90,
        events: events(&[(Event::StringBytes, 8), (Event::DataLines, 5)]),
        checks: 2,
        faults: 1,
    };
    assert_eq!(first.rows[0], row);
    assert_eq!((first.rows[1].id, first.rows[1].instructions), (VECTOR | 0x30, big));
    assert_eq!(read.runs[1].as_ref().unwrap().rows.len(), 1);
}

#[test]
fn regions_belong_to_the_run_that_they_come_before() {
    let stream = Stream::new()
        .name(b"a")
        .name(b"b")
        .record(4, &[1, 50, 5, 40, 3, 0, 0, 0, 0, 1, 0])
        .record(4, &[0, 20, 0, 20, 0, 0, 0, 0, 0, 0, 0])
        .record(4, &[1, 60, 0, 50, 0, 0, 0, 0, 0, 0, 0])
        .rows(0, &[])
        .rows(0, &[]);
    let runs = stream.read().runs;
    let regions = &runs[0].as_ref().unwrap().regions;
    let names: Vec<_> = regions.iter().map(|region| &*region.name).collect();
    assert_eq!(names, ["b", "a"]);
    assert_eq!((regions[0].count, regions[0].unproved), (2, 1));
    let window = window([(Event::StringBytes, 3)]);
    assert_eq!(regions[0].windows[0], window);
    assert_eq!(runs[1].as_ref().unwrap().regions, []);
}

#[test]
fn expectations_that_failed_are_kept_once_and_within_bounds() {
    let mut stream = Stream::new().name(b"region");
    for number in 0..40 {
        stream = stream.name(format!("x == {number}").as_bytes());
    }
    for number in (1..=40).chain(1..=40) {
        stream = stream.record(5, &[0, number]);
    }
    let run = stream.rows(0, &[]).run();
    assert_eq!(run.regions[0].failed.len(), MAX_FAILED);
    assert_eq!(run.regions[0].failed[1], "x == 1");
}

#[test]
fn executions_beyond_the_bounds_are_counted_and_not_kept() {
    let mut stream = Stream::new();
    let regions = (MAX_ALL_WINDOWS / MAX_WINDOWS) as u64 + 1;
    for number in 0..regions {
        stream = stream.name(format!("r{number}").as_bytes());
    }
    for number in 0..regions {
        for _ in 0..MAX_WINDOWS + 2 {
            stream = stream.record(4, &[number, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
        }
    }
    let run = stream.rows(0, &[]).run();
    assert!(run.regions.iter().all(|region| region.count == MAX_WINDOWS as u64 + 2));
    let kept = |region: &AccountRegion| region.windows.len();
    assert_eq!(run.regions.iter().map(kept).sum::<usize>(), MAX_ALL_WINDOWS);
    assert_eq!((kept(&run.regions[0]), run.regions.last().map(kept)), (MAX_WINDOWS, Some(0)));
}

#[test]
fn each_wrong_mark_is_told_by_its_names() {
    let names = || Stream::new().name(b"one").name(b"two");
    for (number, name, other, words) in [
        (1, 0, NONE, "the region one ends where this thread has none open"),
        (2, 0, 1, "the region one ends while two is open"),
        (3, 1, NONE, "the region two has no end"),
        (4, 1, NONE, "the region two is nested deeper than 16"),
        (5, NONE, NONE, "a region has no name"),
        (6, 0, NONE, "`one` is expected outside of any region"),
    ] {
        let run = names().record(6, &[number, name, other]).rows(0, &[]).run();
        assert!(run.misuses[0].to_string().starts_with(words), "{}", run.misuses[0]);
    }
    let many = (0..100).fold(names(), |stream, _| stream.record(6, &[1, 0, NONE]));
    assert_eq!(many.rows(0, &[]).run().misuses.len(), MAX_MISUSES);
}

#[test]
fn windows_between_two_points_are_read_back() {
    let run = Stream::new()
        .record(8, &[3, 50, 5, 40, 3, 7, 0, 0, 1, 0])
        .record(8, &[3, 20, 0, 0, 0, 0, 0, 0, 0, 0])
        .record(9, &[3, 6, 10, 11, 12, 13, 14])
        .record(9, &[0, 0, 0, 1, 0, 0, 0])
        .rows(0, &[])
        .run();
    let [seen, never] = &run.windows[..] else { panic!("{:?}", run.windows) };
    let counts = window([(Event::StringBytes, 3), (Event::DataLines, 7)]);
    assert_eq!(seen.windows[0], KernelWindow { counts, ended: true });
    assert_eq!((seen.number, seen.count, seen.windows[1].ended), (3, 6, false));
    let loose = LoosePoints {
        overlapping: 10,
        ends: 11,
        omitted: 4,
        elsewhere: 13,
        hidden: 14,
        misplaced: 0,
    };
    assert_eq!((seen.loose, seen.outside), (loose, 12));
    assert_eq!((never.number, never.count, never.loose.ends), (0, 0, 1));
}

#[test]
fn no_more_windows_are_taken_than_the_plugin_tells() {
    let plugin = constants("program/window_marks.c");
    assert_eq!(plugin["MOST_TOLD"], MAX_WINDOWS as u64);
    let one = |stream: Stream| stream.record(8, &[0, 1, 0, 1, 0, 0, 0, 0, 1, 0]);
    let most = (0..=MAX_WINDOWS).fold(Stream::new(), |stream, _| one(stream));
    let run = most.clone().rows(0, &[]).run();
    assert_eq!(run.windows[0].windows.len(), MAX_WINDOWS + 1);
    assert_eq!(one(most).fault(0), "a window comes too often");
}

#[test]
fn cells_are_read_back() {
    let address = 0xffff_ffff_8100_0040;
    let run = Stream::new().record(7, &[11, 2, address, 4, 30, 3]).rows(0, &[]).run();
    let kind = RowKind::Region;
    assert_eq!(run.cells, [AccountCell { kind, id: 2, address, times: 4, instructions: 27 }]);
    let begun_four_times = [11, 2, address, 4, 6, 2_u64.wrapping_neg()];
    let run = Stream::new().record(7, &begun_four_times).rows(0, &[]).run();
    assert_eq!(run.cells[0].instructions, 8, "two of four faulted and went on elsewhere");
}

#[test]
fn events_in_cells_are_read_back() {
    let address = 0xffff_ffff_8100_0040;
    let lfence = Event::from_name("lfence").unwrap();
    let class = classes().position(|event| event == lfence).unwrap() as u64;
    let run = Stream::new().record(22, &[1, 2, address, class, 3]).rows(0, &[]).run();
    let kind = RowKind::Syscall;
    assert_eq!(run.event_cells, [EventCell { kind, id: 2, address, event: lfence, number: 3 }]);
}

/// A row of own work as a process has it.
const READ: [u64; 12] = [1, 7, 2, 100, 10, 8, 0, 0, 0, 0, 0, 0];

/// Two processes, of which the first, `a`, started the other one, `b`.
fn family() -> Stream {
    let names = Stream::new().name(b"a").name(b"b");
    names.record(10, &[0, 3, 4]).record(11, &[0, 0, 0, 2]).record(11, &[1, 9, 1, 1])
}

#[test]
fn processes_and_their_rows_belong_to_the_run_that_they_come_before() {
    let part = |stream: Stream, process| stream.record(12, &[&[process], &READ[..]].concat());
    let stream = [1, 2, 0, NONE].into_iter().fold(family(), part).rows(0, &[]).rows(0, &[]);
    let runs = stream.read().runs;
    let AccountProcesses { unparted, processes, beyond, unseen, parts } =
        runs[0].as_ref().unwrap().processes.clone();
    assert_eq!((unparted, beyond, unseen), (None, 3, 4));
    let process = |parent, order, name: &str, tasks| AccountProcess {
        parent,
        order,
        name: name.to_owned(),
        tasks,
    };
    assert_eq!(processes, [process(None, 0, "a", 2), process(Some(0), 9, "b", 1)]);
    let owners: Vec<Owner> = parts.iter().map(|(owner, _)| *owner).collect();
    let (first, second) = (Owner::Process(0), Owner::Process(1));
    assert_eq!(owners, [first, second, Owner::Unknown, Owner::Beyond]);
    assert!(parts.iter().all(|(_, row)| (row.calls, row.instructions) == (2, 90)));
    assert_eq!(runs[1].as_ref().unwrap().processes, AccountProcesses::default());
    let lost = family().record(2, &[4]).rows(0, &[]).read().runs;
    assert_eq!(lost[1].as_ref().unwrap().processes, AccountProcesses::default());
    for (reason, why) in [(1, Unparted::Fields), (2, Unparted::Rows)] {
        let run = Stream::new().record(10, &[reason, 0, 0]).rows(0, &[]).run();
        assert_eq!(run.processes.unparted, Some(why));
    }
}

#[test]
fn processes_that_can_not_be_are_refused() {
    let part = |process: u64, row: &[u64]| {
        family().record(12, &[&[process], row].concat()).rows(0, &[]).fault(0)
    };
    assert_eq!(part(3, &READ), "a row's process is unknown");
    assert_eq!(part(u64::MAX, &READ), "a row's process is unknown");
    let kind = |kind| [&[kind], &READ[1..]].concat();
    for of_none in [5, 6, 8, 9, 10] {
        assert_eq!(part(1, &kind(of_none)), "a process has work that is not its own");
    }
    assert_eq!(part(1, &kind(11)), "a row's kind is unknown");
    let process = |fields: &[u64]| family().record(11, fields).fault(0);
    assert_eq!(process(&[3, 1, 0, 1]), "a process comes before its parent");
    assert_eq!(process(&[u64::MAX, 1, 0, 1]), "a process comes before its parent");
    assert_eq!(process(&[0, 1, 0, 1]), "a process has no parent");
    assert_eq!(process(&[1, 1, 2, 1]), "it refers to a name that it has not told");
    let reason = Stream::new().record(10, &[3, 0, 0]).fault(0);
    assert_eq!(reason, "processes are missing for an unknown reason");
}

#[test]
fn neither_processes_nor_their_rows_are_without_end() {
    let more = |stream: Stream, _| stream.record(11, &[1, 9, NONE, 1]);
    let most = (2..MAX_PROCESSES).fold(family(), more);
    let run = most.clone().rows(0, &[]).run();
    assert_eq!(run.processes.processes.len(), MAX_PROCESSES);
    assert_eq!(run.processes.processes[2].name, "");
    assert_eq!(more(most, 0).fault(0), "a run has too many processes");
    let more = |stream: Stream, _| stream.record(12, &[&[1], &READ[..]].concat());
    let most = (0..MAX_PARTS).fold(family(), more);
    assert_eq!(most.clone().rows(0, &[]).run().processes.parts.len(), MAX_PARTS);
    assert_eq!(more(most, 0).fault(0), "a run's processes have too many rows");
}

/// Of the two processes the first has three threads, of which one started before another that was
/// told first, and the second one has one.
fn threads() -> Stream {
    let first = family().record(15, &[0, 5]).thread(1, 0, b"a");
    first.thread(2, 0, b"b").thread(1, 12, b"worker\xff").thread(1, 11, b"")
}

fn thread_part(stream: Stream, process: u64, thread: u64) -> Stream {
    stream.record(17, &[&[process, thread], &READ[..]].concat())
}

#[test]
fn threads_and_their_rows_belong_to_the_run_that_they_come_before() {
    let parts = [(1, 1), (1, 3), (2, 2), (1, NONE)];
    let part = |stream, (process, thread)| thread_part(stream, process, thread);
    let runs = parts.into_iter().fold(threads(), part).rows(0, &[]).rows(0, &[]).read().runs;
    let AccountThreads { unthreaded, threads, beyond, parts } =
        runs[0].as_ref().unwrap().threads.clone();
    assert_eq!((unthreaded, beyond), (None, 5));
    let thread = |process, order, name: &str| {
        let name = name.to_owned();
        AccountThread { process, order, name }
    };
    let all =
        [thread(0, 0, "a"), thread(1, 0, "b"), thread(0, 12, "worker\u{fffd}"), thread(0, 11, "")];
    assert_eq!(threads, all);
    let owners: Vec<ThreadOwner> = parts.iter().map(|(owner, _)| *owner).collect();
    let told = ThreadOwner::Thread;
    assert_eq!(owners, [told(0), told(2), told(1), ThreadOwner::Beyond(0)]);
    assert!(parts.iter().all(|(_, row)| (row.calls, row.instructions) == (2, 90)));
    assert_eq!(runs[1].as_ref().unwrap().threads, AccountThreads::default());
    let run = Stream::new().record(15, &[1, 0]).rows(0, &[]).run();
    assert_eq!(run.threads.unthreaded, Some(Unthreaded::Rows));
}

#[test]
fn threads_that_can_not_be_are_refused() {
    let part = |process, thread| thread_part(threads(), process, thread).fault(0);
    assert_eq!(part(0, 1), "a thread's process is unknown");
    assert_eq!(part(3, 1), "a thread's process is unknown");
    assert_eq!(part(NONE, NONE), "a thread's process is unknown");
    assert_eq!(part(1, 0), "a row's thread is unknown");
    assert_eq!(part(1, 5), "a row's thread is unknown");
    assert_eq!(part(1, u64::MAX), "a row's thread is unknown");
    assert_eq!(part(1, 2), "a row's thread is another process's");
    for of_none in [5, 6, 8, 9, 10] {
        let row = [&[1, 1, of_none], &READ[1..]].concat();
        let fault = threads().record(17, &row).fault(0);
        assert_eq!(fault, "a thread has work that is not its own");
    }
    assert_eq!(threads().thread(0, 1, b"").fault(0), "a thread's process is unknown");
    assert_eq!(threads().thread(3, 1, b"").fault(0), "a thread's process is unknown");
    let longest = [b'x'; 16];
    assert_eq!(longest.len() as u64, MAX_THREAD_NAME + 1);
    assert_eq!(threads().thread(1, 1, &longest).fault(0), "a thread's name is too long");
    let reason = Stream::new().record(15, &[2, 0]).fault(0);
    assert_eq!(reason, "threads are missing for an unknown reason");
}

#[test]
fn neither_threads_nor_their_rows_are_without_end() {
    let most = (4..MAX_THREADS).fold(threads(), |stream, _| stream.thread(1, 20, b"x"));
    assert_eq!(most.clone().rows(0, &[]).run().threads.threads.len(), MAX_THREADS);
    assert_eq!(most.thread(1, 20, b"x").fault(0), "a run has too many threads");
    let most = (0..MAX_PARTS).fold(threads(), |stream, _| thread_part(stream, 1, 1));
    assert_eq!(most.clone().rows(0, &[]).run().threads.parts.len(), MAX_PARTS);
    assert_eq!(thread_part(most, 1, 1).fault(0), "a run's threads have too many rows");
}

/// A sleep of the first process in the system call 7, ended by the second one in an interrupt.
const SLEEP: [u64; 10] = [1, 1, 7, 2, 5, 3, 4, 400, 9_000, 1];

#[test]
fn sleeps_belong_to_the_run_that_they_come_before() {
    let region = [&[1, 11, 0], &SLEEP[3..]].concat();
    let stream = family().record(13, &[0, 1, 70]).record(14, &SLEEP).record(14, &region);
    let runs = stream.rows(0, &[]).rows(0, &[]).read().runs;
    let AccountSleeps { sleepless, idle_unknown, idle, sleeps } =
        runs[0].as_ref().unwrap().sleeps.clone();
    assert_eq!((sleepless, idle_unknown, idle), (None, true, 70));
    let waker = Waker { owner: Owner::Process(1), kind: RowKind::Interrupt, id: 3 };
    let (owner, kind) = (Owner::Process(0), RowKind::Syscall);
    let read =
        AccountSleep { owner, kind, id: 7, waker, count: 4, steps: 400, idle: 9_000, first: 1 };
    let region = AccountSleep { kind: RowKind::Region, id: 0, ..read.clone() };
    assert_eq!(sleeps, [read, region]);
    assert_eq!(runs[1].as_ref().unwrap().sleeps, AccountSleeps::default());
    for (reason, why) in [(1, Sleepless::WakeUp), (2, Sleepless::Kinds)] {
        let run = Stream::new().record(13, &[reason, 0, 0]).rows(0, &[]).run();
        assert_eq!(run.sleeps.sleepless, Some(why));
    }
}

#[test]
fn sleeps_that_can_not_be_are_refused() {
    let with = |at: usize, value: u64| {
        let mut sleep = SLEEP;
        sleep[at] = value;
        family().record(14, &sleep).fault(0)
    };
    assert_eq!(with(0, 3), "a row's process is unknown");
    assert_eq!(with(3, 3), "a row's process is unknown");
    assert_eq!(with(1, KINDS.len() as u64), "a row's kind is unknown");
    assert_eq!(with(4, KINDS.len() as u64), "a row's kind is unknown");
    assert_eq!(with(4, 11), "a region wakes no task");
    let mut region = SLEEP;
    (region[1], region[2]) = (11, 2);
    assert_eq!(family().record(14, &region).fault(0), "it refers to a name that it has not told");
    let reason = Stream::new().record(13, &[3, 0, 0]).fault(0);
    assert_eq!(reason, "sleeps are missing for an unknown reason");
    let most = (0..MAX_SLEEPS).fold(family(), |stream, _| stream.record(14, &SLEEP));
    assert_eq!(most.clone().rows(0, &[]).run().sleeps.sleeps.len(), MAX_SLEEPS);
    assert_eq!(most.record(14, &SLEEP).fault(0), "a run has too many sleeps");
}

#[test]
fn a_lost_run_is_one_and_takes_its_regions_along() {
    let stream = Stream::new().name(b"a").record(4, &[0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    let read = stream.record(2, &[4]).rows(0, &[]).read();
    assert_eq!(read.runs[0], Err(Lost::of(4)));
    assert_eq!(read.runs[1].as_ref().unwrap().regions, []);
}

#[test]
fn what_is_no_stream_is_refused_by_what_is_wrong() {
    let good = || Stream::new().name(b"a");
    let row = [1, 7, 2, 100, 10, 8, 5, 0, 0, 2, 1, 0];
    let unknown = KINDS.len() as u64;
    for (stream, runs, fault) in [
        (Stream(b"PM".to_vec()), 0, "it is cut short"),
        (Stream(b"PMPR\x06\0\0\0".to_vec()), 0, "it does not begin as it should"),
        (good().record(23, &[]), 0, "it has a record of an unknown kind"),
        (good().rows(0, &[]).record(0, &[]), 1, "it has a record of an unknown kind"),
        (good().record(1, &[0, MAX_ROWS + 1]), 0, "a run has too many rows"),
        (
            good().rows(0, &[[unknown, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]),
            0,
            "a row's kind is unknown",
        ),
        (good().rows(0, &[[11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]), 0, "a row's kind is unknown"),
        (
            good().rows(0, &[[1, 1 << 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]),
            0,
            "a row's id is out of range",
        ),
        (
            good().rows(0, &[[1, 0, 1, 5, 6, 0, 0, 0, 0, 0, 0, 0]]),
            0,
            "a row has less than no instruction",
        ),
        (good().record(3, &[MAX_NAME + 1]), 0, "a name is too long, or there are too many"),
        (
            good().record(4, &[1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0]),
            0,
            "it refers to a name that it has not told",
        ),
        (
            good().record(4, &[0, 1, 2, 1, 0, 0, 0, 0, 0, 0, 0]),
            0,
            "a region has less than no instruction",
        ),
        (good().record(5, &[0, 4]), 0, "it refers to a name that it has not told"),
        (good().record(6, &[7, 0, 0]), 0, "a region is marked wrongly in an unknown way"),
        (good().record(7, &[unknown, 0, 1, 1, 1, 0]), 0, "a row's kind is unknown"),
        (good().record(7, &[1, 0, 1, 1, 1, 2]), 0, "a cell has less than no instruction"),
        (good().record(22, &[unknown, 0, 1, 0, 1]), 0, "a row's kind is unknown"),
        (good().record(22, &[1, 0, 1, 64, 1]), 0, "an event is unknown"),
        (
            good().record(8, &[0, 1, 2, 1, 0, 0, 0, 0, 1, 0]),
            0,
            "a window has less than no instruction",
        ),
        (
            good().record(8, &[32, 1, 0, 1, 0, 0, 0, 0, 1, 0]),
            0,
            "a window's number is out of range",
        ),
        (good().record(9, &[32, 0, 0, 0, 0, 0, 0]), 0, "a window's number is out of range"),
        (Stream([&good().0[..], &[2], &[0xff; 10]].concat()), 0, "it has a number of more than 64"),
        (good().rows(0, &[row]).record(3, &[3]), 1, "it is cut short"),
    ] {
        assert!(stream.fault(runs).starts_with(fault), "{fault}: {}", stream.fault(runs));
    }
}

#[test]
fn neither_names_nor_runs_are_without_end() {
    let names = (0..=MAX_NAMES).fold(Stream::new(), |stream, _| stream.name(b"x"));
    assert_eq!(names.fault(0), "a name is too long, or there are too many");
    let runs = (0..=MAX_RUNS).fold(Stream::new(), |stream, _| stream.rows(0, &[]));
    assert_eq!(runs.fault(MAX_RUNS), "it has too many runs");
}

#[test]
fn a_stream_cut_anywhere_has_the_runs_before_that() {
    let one = thread_part(threads(), 1, 3)
        .record(12, &[&[2], &READ[..]].concat())
        .record(13, &[0, 0, 9])
        .record(14, &SLEEP)
        .record(4, &[0, 300, 0, 1, 0, 0, 0, 0, 0, 0, 0])
        .rows(0, &[[0; 12]]);
    let whole =
        one.clone().record(6, &[1, 0, NONE]).rows(1, &[[4, 5, 600, 700, 0, 0, 0, 0, 0, 0, 0, 0]]);
    let expected = whole.read().runs;
    for length in 0..whole.0.len() {
        let read = Stream(whole.0[..length].to_vec()).read();
        let runs = usize::from(length >= one.0.len());
        assert_eq!(read.runs, expected[..runs], "{length}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = accounts(&bytes[..]);
        let read = accounts(&[&HEADER[..], &bytes].concat()[..]);
        for account in read.runs.iter().flatten() {
            prop_assert!(account.rows.iter().all(|row| row.instructions <= row.steps));
            prop_assert!(account.misuses.len() <= MAX_MISUSES);
            let AccountProcesses { processes, parts, .. } = &account.processes;
            let is_known = |owner: &Owner| match owner {
                Owner::Process(place) => *place < processes.len(),
                Owner::Beyond | Owner::Unknown => true,
            };
            prop_assert!(parts.iter().all(|(owner, _)| is_known(owner)));
            let AccountThreads { threads, parts, .. } = &account.threads;
            prop_assert!(threads.iter().all(|thread| thread.process < processes.len()));
            let is_known = |owner: &ThreadOwner| match owner {
                ThreadOwner::Thread(place) => *place < threads.len(),
                ThreadOwner::Beyond(process) => *process < processes.len(),
            };
            prop_assert!(parts.iter().all(|(owner, _)| is_known(owner)));
        }
    }
}

// ---- Numbers that the plugin has too ------------------------------------------------------------

#[test]
fn rows_have_the_plugins_numbers() {
    let plugin = constants("program/task.h");
    for (kind, name) in [
        (RowKind::User, "USER"),
        (RowKind::Syscall, "SYSCALL"),
        (RowKind::Syscall32, "SYSCALL_32"),
        (RowKind::PageFault, "PAGE_FAULT"),
        (RowKind::Exception, "EXCEPTION"),
        (RowKind::Interrupt, "INTERRUPT"),
        (RowKind::Softirq, "SOFTIRQ"),
        (RowKind::NewTask, "NEW_TASK"),
        (RowKind::KernelThread, "KERNEL_THREAD"),
        (RowKind::Agent, "AGENT"),
        (RowKind::Other, "OTHER_PROCESS"),
        (RowKind::Region, "REGION_OF_PROGRAM"),
        (RowKind::InterpreterFault, "INTERPRETER_FAULT"),
    ] {
        let place = KINDS.iter().position(|other| *other == kind);
        assert_eq!(place.map(|place| place as u64), Some(plugin[name]), "{name}");
    }
    let mut others =
        (0..).zip(KINDS).skip_while(|(number, _)| *number <= plugin["INTERPRETER_FAULT"]);
    assert!(others.all(|(_, kind)| kind.is_of_functions()));
}

#[test]
fn the_kinds_are_those_of_the_streams_document() {
    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/program-format.md");
    let text = std::fs::read_to_string(document).unwrap();
    let table = text.split("\n| kind | row | id |\n").nth(1).unwrap();
    let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
    let numbers: Vec<&str> = rows.filter_map(|row| row.split(' ').nth(1)).collect();
    let kinds: Vec<String> = (0..KINDS.len()).map(|number| number.to_string()).collect();
    assert_eq!(numbers, kinds, "docs/reference/program-format.md has a row for each kind");
}

#[test]
fn reasons_have_the_plugins_numbers() {
    let plugin = constants("program/task.h");
    let last = plugin["UNSEEN_CODE"];
    for (name, words) in [
        ("USER_CODE_IN_KERNEL", "user code in the kernel"),
        ("KERNEL_CODE_IN_USER", "kernel code in the program"),
        ("TOO_DEEP", "nested deeper"),
        ("TOO_MANY_TASKS", "tasks"),
        ("TOO_MANY_ROWS", "rows"),
        ("NO_MEMORY", "memory"),
        ("NOTHING_TO_RETURN_FROM", "a return without an entry"),
        ("NO_ERROR_CODE", "error code"),
        ("NO_TASK", "no task switch"),
        ("UNSEEN_CODE", "too long to be followed"),
    ] {
        let text = Lost::of(plugin[name]).to_string();
        assert!(text.contains(words), "{name}: {text}");
    }
    assert!(matches!(Lost::of(last), Lost::Limit(_)));
    assert_eq!(Lost::of(last + 1), Lost::Unknown(last + 1));
    assert_eq!(Lost::of(plugin["NOT_LOST"]), Lost::Unknown(0));
}

#[test]
fn wrong_marks_and_records_have_the_plugins_numbers() {
    let plugin = constants("program/regions.h");
    let misuse = |name: &str| {
        let stream = Stream::new().name(b"a").name(b"b");
        stream.record(6, &[plugin[name], 0, 1]).rows(0, &[]).run().misuses.remove(0)
    };
    let (a, b) = ("a".to_owned(), "b".to_owned());
    assert_eq!(misuse("END_WITHOUT_BEGIN"), Misuse::EndWithoutBegin(a.clone()));
    assert_eq!(misuse("OTHER_END"), Misuse::OtherEnd(a.clone(), b));
    assert_eq!(misuse("NOT_ENDED"), Misuse::NotEnded(a.clone()));
    assert_eq!(misuse("TOO_MANY_OPEN"), Misuse::TooDeep(a.clone()));
    assert_eq!(misuse("NO_NAME"), Misuse::NoName);
    assert_eq!(misuse("OUTSIDE_REGION"), Misuse::Outside(a));
    let tags =
        ["NAME", "REGION", "FAILED", "MISUSE", "WINDOW", "PASSED", "PROCESSES", "PROCESS", "PART"];
    assert_eq!(tags.map(|name| plugin[name]), [3, 4, 5, 6, 8, 9, 10, 11, 12]);
    assert_eq!(["SLEEPS", "SLEEP"].map(|name| plugin[name]), [13, 14]);
    assert_eq!(["THREADS", "THREAD", "THREAD_PART"].map(|name| plugin[name]), [15, 16, 17]);
    assert_eq!(plugin["EVENT_CELL"], 22);
    let program = constants("program/run.c");
    assert_eq!(["RUN", "LOST", "CELL"].map(|name| program[name]), [1, 2, 7]);
}

#[test]
fn what_the_plugin_may_write_is_read() {
    let (account, regions, cells) =
        (constants("program/task.h"), constants("program/regions.h"), constants("program/cells.h"));
    assert_eq!((MAX_NAME, MAX_NAMES as u64), (regions["LONGEST_NAME"], regions["MOST_NAMES"]));
    let windows = constants("program/windows.h");
    assert_eq!(windows["FIRST_WINDOW_NAME"], u64::from(FIRST_WINDOW));
    assert!(u64::from(FIRST_WINDOW) > regions["MOST_NAMES"]);
    assert_eq!(
        constants("kernel/points.h")["MOST_WINDOWS"],
        crate::kernel::points::MAX_WINDOWS as u64
    );
    assert!(account["MOST_ROWS"] <= MAX_ROWS);
    assert_eq!(cells["MOST_CELLS"], MAX_CELLS as u64);
    let processes = constants("program/processes.h");
    assert_eq!(processes["MOST_PROCESSES"], process::MAX_PROCESSES as u64);
    assert_eq!(constants("program/parts.h")["MOST_PARTS"], process::MAX_PARTS as u64);
    assert_eq!((processes["NO_PROCESS"], processes["FIRST_PROCESS"]), (0, 1));
    assert_eq!((processes["NO_FIELDS"], processes["TOO_MANY_PARTS"]), (1, 2));
    let threads = constants("program/threads.h");
    assert_eq!(threads["MOST_THREADS"], MAX_THREADS as u64);
    assert_eq!(constants("program/task_struct.h")["LONGEST_TASK_NAME"], MAX_THREAD_NAME);
    assert_eq!((threads["NO_THREAD"], threads["TOO_MANY_THREAD_PARTS"]), (0, 1));
    assert!(header("program/task.h").contains("#define BEYOND UINT32_MAX"));
    let sleeps = constants("program/sleeps.h");
    assert_eq!(sleeps["MOST_SLEEPS"], MAX_SLEEPS as u64);
    assert_eq!((sleeps["NO_WAKE_UP"], sleeps["TOO_MANY_SLEEPS"]), (1, 2));
    // The numbers in the texts.
    assert_eq!((account["MOST_FRAMES"], regions["MOST_REGIONS"]), (16, 16));
    assert_eq!((account["MOST_TASKS"] / 2, account["MOST_ROWS"] - 1), (16_384, 4095));
    assert!(header("program/task.h").contains("#define UNNAMED UINT32_MAX"));
    assert!(header("program/places.h").contains(&format!("#define VECTOR {VECTOR:#x}")));
}
