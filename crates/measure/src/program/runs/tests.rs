use std::sync::Arc;

use pathmeter_model::{RowKind, Status};
use pathmeter_trace::{
    AccountCell, AccountProcess, AccountProcesses, AccountThread, AccountThreads, Event, EventCell,
    Events, Lost, Misuse, Owner, SlowInstruction, Symbols, ThreadOwner, UNNAMED, Unparted, VECTOR,
};

use super::*;
use crate::program::point_windows::ProgramWindows;

/// A kernel with the system call read under two names, and with little else.
fn kernel() -> KernelNames {
    let text = "\
ffffffff81000000 T __x64_sys_read
ffffffff81000040 T __ia32_sys_read
ffffffff81000080 T __do_softirq
ffffffff810000c0 T helper
ffffffff82000000 T __entry_text_start
ffffffff82000000 T entry_SYSCALL_64
ffffffff82000080 T asm_exc_page_fault
ffffffff82000180 T irq_entries_start
ffffffff82000800 T spurious_entries_start
ffffffff82000880 T __switch_to_asm
ffffffff820008c0 T ret_from_fork
ffffffff82000900 T __entry_text_end
";
    let places = KernelPlaces::find(text.as_bytes()).unwrap();
    let windows = ProgramWindows::default();
    KernelNames { places, symbols: Symbols::parse(text.as_bytes()).unwrap(), windows }
}

fn events(numbers: &[(Event, u64)]) -> Arc<Events> {
    Arc::new(numbers.iter().copied().collect())
}

fn row(kind: RowKind, id: u32, steps: u64) -> AccountRow {
    let (calls, instructions) = (1, steps - 1);
    let events = events(&[(Event::StringBytes, 8)]);
    AccountRow { kind, id, calls, steps, instructions, events, checks: 0, faults: 0 }
}

fn account(rows: Vec<AccountRow>) -> Account {
    Account { rows, ..Account::default() }
}

fn of(runs: Vec<Account>) -> Accounts {
    Accounts { runs: runs.into_iter().map(Ok).collect(), ..Accounts::default() }
}

fn account_error(accounts: Accounts, clocks: &[u64]) -> String {
    account_runs(accounts, clocks, &kernel(), AlsoCounted::default()).err().unwrap()
}

/// A region that was executed with these instructions.
fn region(name: &str, instructions: &[u64], unproved: u64) -> AccountRegion {
    let window = |instructions: &u64| RegionWindow {
        steps: *instructions + 1,
        instructions: *instructions,
        user: 3,
        events: events(&[(Event::Returns, 2)]),
    };
    AccountRegion {
        name: name.to_owned(),
        count: instructions.len() as u64,
        windows: instructions.iter().map(window).collect(),
        unproved,
        failed: Vec::new(),
    }
}

/// The regions of runs that had these, each as path.
fn regions_of(runs: Vec<Vec<AccountRegion>>) -> Vec<PathResult> {
    let clocks = vec![10; runs.len()];
    let with = |regions| Account { regions, ..account(vec![row(RowKind::User, 0, 10)]) };
    account_runs(
        of(runs.into_iter().map(with).collect()),
        &clocks,
        &kernel(),
        AlsoCounted::default(),
    )
    .unwrap()
    .regions
}

#[test]
fn rows_that_do_not_meet_the_clock_are_refused() {
    let run = || account(vec![row(RowKind::User, 0, 60), row(RowKind::Softirq, 0, 40)]);
    assert!(account_runs(of(vec![run()]), &[100], &kernel(), AlsoCounted::default()).is_ok());
    for clock in [0, 99, 101] {
        let told = account_error(of(vec![run()]), &[clock]);
        let words =
            format!("run 1: 100 steps were counted, but the guest's clock advanced by {clock}");
        assert!(told.starts_with(&words), "{told}");
    }
    let told = account_error(of(vec![run(), run()]), &[100, 99]);
    assert!(told.starts_with("run 2: "), "{told}");
    // Sums that no counter holds are no reason to panic.
    let huge = account(vec![row(RowKind::User, 0, u64::MAX), row(RowKind::Other, 0, 9)]);
    assert!(account_error(of(vec![huge]), &[8]).contains("steps were counted"));
}

#[test]
fn only_a_cpu_that_waited_was_idle() {
    let mut run = account(vec![row(RowKind::User, 0, 60)]);
    run.idled = 2;
    let read =
        account_runs(of(vec![run.clone()]), &[100], &kernel(), AlsoCounted::default()).unwrap();
    assert_eq!(read.runs[0].clock, RunClock { clock: 100, idle: 40 });
    assert!(account_error(of(vec![run]), &[59]).contains("60 steps were counted"));
}

#[test]
fn what_the_plugin_lost_or_did_not_see_is_told() {
    let good = || account(vec![row(RowKind::User, 0, 10)]);
    let fault = Accounts { fault: Some("it is cut short"), ..of(vec![good()]) };
    assert_eq!(account_error(fault, &[10]), "the plugin's stream can't be read: it is cut short");
    assert_eq!(account_error(of(vec![good()]), &[10, 10]), "the plugin saw 1 runs, the guest 2");
    let lost = Accounts { runs: vec![Ok(good()), Err(Lost::Limit("too much"))], ..of(Vec::new()) };
    assert_eq!(account_error(lost, &[10, 10]), "run 2: too much");
    let misuse = Misuse::OtherEnd("a".to_owned(), "b".to_owned());
    let wrong = Account { misuses: vec![misuse], ..good() };
    let told = account_error(of(vec![wrong]), &[10]);
    assert_eq!(told, "run 1: the region a ends while b is open, which began in it");
}

/// A run of these processes, each with one row of so many steps of its own code.
fn of_processes(names: &[&str], steps: &[u64]) -> Account {
    let parent = |place: usize| place.checked_sub(1).map(|_| 0);
    let process = |(place, name): (usize, &&str)| AccountProcess {
        parent: parent(place),
        order: place as u64,
        name: (*name).to_owned(),
        tasks: 1,
    };
    let part = |(place, steps): (usize, &u64)| {
        let owner = if place < names.len() { Owner::Process(place) } else { Owner::Beyond };
        (owner, row(RowKind::User, 0, *steps))
    };
    let parts: Vec<(Owner, AccountRow)> = steps.iter().enumerate().map(part).collect();
    let count = parts.len() as u64;
    let sum: u64 = steps.iter().sum();
    let whole = AccountRow {
        calls: count,
        instructions: sum - count,
        events: events(&[(Event::StringBytes, 8 * count)]),
        ..row(RowKind::User, 0, sum)
    };
    let processes = names.iter().enumerate().map(process).collect();
    let processes = AccountProcesses { processes, parts, beyond: 2, ..Default::default() };
    Account { processes, ..account(vec![whole, row(RowKind::Softirq, 0, 40)]) }
}

#[test]
fn each_process_has_its_part_of_own_work() {
    let run = || of_processes(&["sh", "a"], &[10, 20, 30]);
    let read = account_runs(of(vec![run()]), &[100], &kernel(), AlsoCounted::default()).unwrap();
    let of_run = &read.runs[0].processes;
    let steps: Vec<(&str, u64, u64)> =
        of_run.iter().map(|it| (&*it.process, it.threads, it.rows[0].steps)).collect();
    assert_eq!(steps, [("sh", 1, 10), ("sh/a", 1, 20), ("(more processes)", 0, 30)]);
    let note = &read.notes[0];
    assert!(note.starts_with("2 of its processes are one entry, (more processes)"), "{note}");
    // A step that is in no process.
    let mut odd = run();
    odd.processes.parts[1].1.steps -= 1;
    let told = account_error(of(vec![odd]), &[100]);
    assert_eq!(
        told,
        "run 1: the processes' rows of user code do not add up to it: that is worth a report"
    );
}

/// Two processes of 30 steps each, of which the first has three threads and more.
fn of_threads() -> Account {
    let whole = of_processes(&["sh", "a"], &[30, 30]);
    let thread = |process, order, name: &str| AccountThread { process, order, name: name.into() };
    let threads = vec![thread(0, 0, "sh"), thread(1, 0, "a"), thread(0, 9, "x"), thread(0, 4, "y")];
    let user = |owner, steps| {
        let all = AccountRow { calls: 0, instructions: steps, ..row(RowKind::User, 0, steps) };
        (owner, AccountRow { events: Arc::default(), ..all })
    };
    let first = |owner, steps, instructions| {
        (owner, AccountRow { instructions, ..row(RowKind::User, 0, steps) })
    };
    let parts = vec![
        first(ThreadOwner::Thread(0), 10, 9),
        user(ThreadOwner::Thread(2), 8),
        user(ThreadOwner::Beyond(0), 12),
        first(ThreadOwner::Thread(1), 30, 29),
    ];
    let threads = AccountThreads { threads, parts, beyond: 5, ..Default::default() };
    Account { threads, ..whole }
}

#[test]
fn each_thread_has_its_part_of_its_process() {
    let read =
        account_runs(of(vec![of_threads()]), &[100], &kernel(), AlsoCounted::default()).unwrap();
    let [sh, a] = &read.runs[0].processes[..] else { panic!("{:?}", read.runs[0].processes) };
    let steps = |process: &pathmeter_model::ProcessRun| -> Vec<(String, u64)> {
        let steps = |rows: &[ProgramRow]| rows.iter().map(|row| row.steps).sum();
        process.by_thread.iter().map(|it| (it.thread.clone(), steps(&it.rows))).collect()
    };
    let expected = [("sh:1", 10), ("sh:2", 0), ("sh:3", 8), ("sh:(more threads)", 12)];
    assert_eq!(steps(sh), expected.map(|(thread, steps)| (thread.to_owned(), steps)));
    assert_eq!(steps(a), [("sh/a:1".to_owned(), 30)]);
    let names: Vec<&str> = sh.by_thread.iter().map(|thread| &*thread.name).collect();
    assert_eq!(names, ["sh", "y", "x", ""]);
    assert!(read.notes[1].starts_with("5 of its threads are entries (more threads)"));
    // A step that is in no thread, and one in two.
    for wrong in [11, 13] {
        let mut odd = of_threads();
        odd.threads.parts[2].1.steps = wrong;
        let told = account_error(of(vec![odd]), &[100]);
        let text = "run 1: sh: the threads' rows of user code do not add up to it";
        assert!(told.starts_with(text), "{told}");
    }
}

#[test]
fn no_thread_has_the_name_of_a_process() {
    let thread = |process, order| AccountThread { process, order, name: String::new() };
    let whole = of_processes(&["sh", "a", "a:2"], &[10, 20, 30]);
    let parts = whole.processes.parts.iter().cloned().enumerate();
    let threads = AccountThreads {
        threads: vec![thread(0, 0), thread(1, 0), thread(2, 0), thread(1, 9)],
        parts: parts.map(|(place, (_, row))| (ThreadOwner::Thread(place), row)).collect(),
        ..Default::default()
    };
    let run = Account { threads, ..whole };
    let read = account_runs(of(vec![run]), &[100], &kernel(), AlsoCounted::default()).unwrap();
    let all = read.runs[0].processes.iter().flat_map(|process| &process.by_thread);
    let names: Vec<&str> = all.map(|thread| &*thread.thread).collect();
    assert_eq!(names, ["sh:1", "sh/a:1", "sh/a:2[2]", "sh/a:2:1"]);
}

#[test]
fn processes_that_are_not_told_apart_are_none_and_that_is_said() {
    let mut run = of_processes(&["sh"], &[60]);
    run.processes = AccountProcesses { unparted: Some(Unparted::Fields), ..Default::default() };
    let read = account_runs(of(vec![run]), &[100], &kernel(), AlsoCounted::default()).unwrap();
    assert_eq!(read.runs[0].processes, []);
    let note = &read.notes[0];
    assert!(note.starts_with("processes were not told apart: the kernel's records"), "{note}");
}

#[test]
fn rows_of_one_name_are_joined() {
    let places = kernel().places;
    let reads: Vec<u32> = (0..10).filter(|number| places.name(*number) == Some("read")).collect();
    assert_eq!(reads.len(), 2);
    let rows = reads.iter().map(|id| row(RowKind::Syscall, *id, 50)).collect();
    let read =
        account_runs(of(vec![account(rows)]), &[100], &kernel(), AlsoCounted::default()).unwrap();
    let [row] = &read.runs[0].rows[..] else { panic!("{:?}", read.runs[0].rows) };
    assert_eq!((row.kind, &*row.name), (RowKind::Syscall, "read"));
    assert_eq!((row.calls, row.steps, row.instructions), (2, 100, 98));
    assert_eq!(row.events[&Event::StringBytes], 16);
}

#[test]
fn lines_of_data_are_joined_if_they_were_counted() {
    let lines = || events(&[(Event::DataLines, 4)]);
    let row_of_call = |id| AccountRow { events: lines(), ..row(RowKind::Syscall, id, 50) };
    for (counted, lines) in [(false, 0), (true, 8)] {
        let also = AlsoCounted { lines: counted, ..AlsoCounted::default() };
        let run = account(vec![row_of_call(4000), row_of_call(4000)]);
        let read = account_runs(of(vec![run]), &[100], &kernel(), also).unwrap();
        assert_eq!(read.runs[0].rows[0].events.get(&Event::DataLines).copied().unwrap_or(0), lines);
    }
}

#[test]
fn rows_without_a_symbol_have_a_name_all_the_same() {
    let name = |kind, id| row_name(kind, id, &kernel().places);
    assert_eq!(name(RowKind::Syscall, UNNAMED), "stopped or unknown call");
    assert_eq!(name(RowKind::Exception, UNNAMED), "no handler entered");
    assert_eq!(name(RowKind::Syscall, 4000), "number 4000");
    assert_eq!(name(RowKind::Interrupt, VECTOR | 0x30), "timer");
    assert_eq!(name(RowKind::Interrupt, VECTOR | 0x34), "IRQ 4");
    assert_eq!(name(RowKind::Interrupt, VECTOR | 0xfd), "vector 0xfd");
    for (code, words) in [
        (0b00100, "read, page not present"),
        (0b00111, "write, protected page"),
        (0b10100, "execute, page not present"),
        (0b00010, "write, page not present, from the kernel"),
        (UNNAMED, "error code not seen"),
    ] {
        assert_eq!(name(RowKind::PageFault, code), words);
    }
}

#[test]
fn samples_are_of_the_later_runs_if_there_are_any() {
    let [path] = &regions_of(vec![vec![region("a", &[90, 50], 0)]])[..] else { panic!() };
    assert_eq!((&*path.path, &path.samples[..]), ("user.a", &[90, 50][..]));
    let runs = vec![vec![region("a", &[90], 1)], vec![region("a", &[50], 0)], Vec::new()];
    let [path] = &regions_of(runs)[..] else { panic!() };
    assert_eq!((path.status, &path.samples[..]), (Status::Ok, &[50][..]));
    let checks: Vec<_> = path.checks.iter().map(|check| &*check.value).collect();
    assert_eq!(checks, ["2", "3", "unproved in 1 of 2 executions"]);
}

#[test]
fn a_region_that_is_only_cold_or_that_failed_has_no_samples() {
    let cold = regions_of(vec![vec![region("a", &[90], 0)], Vec::new()]);
    assert_eq!((cold[0].status, cold[0].samples.len()), (Status::Failed, 0));
    let mut odd = region("b", &[5], 0);
    odd.failed = vec!["x == 1".to_owned()];
    // In whichever run it was.
    let failed =
        regions_of(vec![vec![region("b", &[5], 0)], vec![odd], vec![region("b", &[5], 0)]]);
    assert_eq!((failed[0].status, failed[0].samples.len()), (Status::Failed, 0));
    assert!(failed[0].reason.as_ref().unwrap().ends_with("x == 1"));
}

#[test]
fn the_functions_of_a_row_have_all_its_instructions() {
    let cell = |kind, instructions| AccountCell {
        kind,
        id: 0,
        address: 0xffff_ffff_8100_00c0,
        times: 1,
        instructions,
    };
    let with = |cells: Vec<AccountCell>| {
        let rows = vec![row(RowKind::User, 0, 60), row(RowKind::Softirq, 0, 40)];
        of(vec![Account { cells, ..account(rows) }])
    };
    let whole = vec![cell(RowKind::Softirq, 30), cell(RowKind::Softirq, 9)];
    assert!(account_runs(with(whole.clone()), &[100], &kernel(), AlsoCounted::default()).is_ok());
    let part = account_error(with(whole[..1].to_vec()), &[100]);
    assert!(part.starts_with("run 1: softirqs has 39 instructions, but 30 in its"), "{part}");
    let more = account_error(with([&whole[..], &[cell(RowKind::Agent, 5)]].concat()), &[100]);
    assert!(more.contains("5 instructions are in functions of pathmeter's own"), "{more}");
    // Regions overlap, and have no row in a run.
    let region = with([&whole[..], &[cell(RowKind::Region, 5)]].concat());
    assert!(account_runs(region, &[100], &kernel(), AlsoCounted::default()).is_ok());
}

#[test]
fn functions_are_of_the_later_run_that_has_the_rows_median() {
    let cell = |offset: u64, times, instructions| AccountCell {
        kind: RowKind::Softirq,
        id: 0,
        address: 0xffff_ffff_8100_00c0 + offset,
        times,
        instructions,
    };
    let costs = [9000, 30, 10, 20];
    let runs = costs.map(|instructions| Account {
        cells: vec![cell(0, 2, instructions), cell(8, 7, 100)],
        ..account(vec![row(RowKind::Softirq, 0, instructions + 101)])
    });
    let clocks = costs.map(|instructions| instructions + 101);
    let read = account_runs(of(runs.to_vec()), &clocks, &kernel(), AlsoCounted::default()).unwrap();
    let [row] = &read.functions[..] else { panic!() };
    let [function] = &row.functions[..] else { panic!("{row:?}") };
    // Only its first block is a call of it.
    let found = (&*function.function, function.calls, function.instructions);
    assert_eq!(found, ("helper", 2, 120), "of the last run");
}

#[test]
fn functions_that_trade_instructions_add_up_to_their_row() {
    let cell = |address, instructions| AccountCell {
        kind: RowKind::Softirq,
        id: 0,
        address,
        times: 1,
        instructions,
    };
    // Medians of each function would be 20 and 20, of rows of 110, 40 and 110.
    let costs = [[1, 1], [100, 10], [20, 20], [10, 100]];
    let runs = costs.map(|[one, other]| Account {
        cells: vec![cell(0xffff_ffff_8100_0080, one), cell(0xffff_ffff_8100_00c0, other)],
        ..account(vec![row(RowKind::Softirq, 0, one + other + 1)])
    });
    let clocks = costs.map(|[one, other]| one + other + 1);
    let read = account_runs(of(runs.to_vec()), &clocks, &kernel(), AlsoCounted::default()).unwrap();
    let [functions] = &read.functions[..] else { panic!() };
    let sum: u64 = functions.functions.iter().map(|one| one.instructions).sum();
    assert_eq!((read.runs[1].rows[0].instructions, sum), (110, 110));
}

/// A cell of softirqs in the function at this address, and so many `lfence`.
fn fenced(address: u64, instructions: u64, lfences: u64) -> (AccountCell, EventCell) {
    let (kind, id) = (RowKind::Softirq, 0);
    let event = Event::Slow(SlowInstruction::Lfence);
    (
        AccountCell { kind, id, address, times: 1, instructions },
        EventCell { kind, id, address, event, number: lfences },
    )
}

/// A run of softirqs with these cells and so many `lfence`.
fn fencing(cells: &[(AccountCell, EventCell)], lfences: u64) -> Account {
    let (cells, event_cells): (Vec<_>, Vec<_>) = cells.iter().copied().unzip();
    let steps: u64 = cells.iter().map(|cell| cell.instructions).sum();
    let lfences = events(&[(Event::Slow(SlowInstruction::Lfence), lfences)]);
    let row = AccountRow { events: lfences, ..row(RowKind::Softirq, 0, steps + 1) };
    Account { cells, event_cells, ..account(vec![row]) }
}

#[test]
fn each_function_has_its_events() {
    let (softirq, helper) = (0xffff_ffff_8100_0080, 0xffff_ffff_8100_00c0);
    let cells = [fenced(softirq, 20, 1), fenced(helper, 10, 2), fenced(helper + 8, 9, 3)];
    let read = account_runs(of(vec![fencing(&cells, 6)]), &[40], &kernel(), AlsoCounted::default())
        .unwrap();
    let functions = read.functions[0].functions.iter();
    let lfence = Event::Slow(SlowInstruction::Lfence);
    let found: Vec<_> = functions.map(|one| (&*one.function, one.events[&lfence])).collect();
    assert_eq!(found, [("__do_softirq", 1), ("helper", 5)]);
}

#[test]
fn the_events_of_a_row_are_those_of_its_functions() {
    let cells = [fenced(0xffff_ffff_8100_00c0, 39, 3)];
    let less = account_error(of(vec![fencing(&cells, 4)]), &[40]);
    assert_eq!(
        less,
        "run 1: softirqs has 4 lfence, but 3 in its functions: that is worth a report"
    );
    let more = account_error(of(vec![fencing(&cells, 0)]), &[40]);
    assert!(more.starts_with("run 1: 3 lfence are in functions of softirqs, which has"), "{more}");
}

#[test]
fn a_region_tells_switches_if_the_kernels_wake_ups_are_known() {
    let names = |sleepless| {
        let regions = vec![region("a", &[5], 0)];
        let sleeps = AccountSleeps { sleepless, ..AccountSleeps::default() };
        let run = Account { regions, sleeps, ..account(vec![row(RowKind::User, 0, 10)]) };
        let read = account_runs(of(vec![run]), &[10], &kernel(), AlsoCounted::default()).unwrap();
        read.regions[0].events.clone().unwrap().names
    };
    let switches = ["sleeps", "preemptions", "wake-ups"];
    let told = names(None);
    assert!(switches.iter().all(|name| told.iter().any(|it| it == name)), "{told:?}");
    let told = names(Some(Sleepless::WakeUp));
    assert!(!switches.iter().any(|name| told.iter().any(|it| it == name)), "{told:?}");
}
