//! What pid 1 does for a program of the user's: executes it in perturbed runs, each in a root file
//! system that is built anew, between two readings of the clock.
//!
//! The first reading is taken by the child that becomes the program, just before execve(2); the
//! second by the agent, once wait4(2) has told it that the program ended. What other processes the
//! program left are killed before the next run.
//!
//! Both readings stand right after their markers, in the architecture's own instructions.

use pathmeter_probes::Suite;
use pathmeter_probes::{
    clock, socket,
    sys::{self, CStr, flag, nr},
    task::{self, Ended},
    text::Text,
};
use pathmeter_wire::{
    Kind,
    condition::{Setting, SettingKind},
    job::Job,
    program::{MAX_OUTPUT, PERF_MAPS_ASKED, ProgramEnd, ProgramEnded, ProgramOutput},
};

use crate::{
    arch::{marked_end, marked_execve},
    bpf, condition,
    disk::Disk,
    guest,
    parcel::Parcel,
    perf_maps::PerfMaps,
    pointers::pointers,
    port::Port,
    restraint::Restraint,
    root::Roots,
    trouble::Trouble,
    uprobe::Uprobes,
};

/// Exit code of a child that could not become the program. What went wrong is in [`Launch`].
const NOT_EXECUTED: usize = 127;
/// Most bytes of each of the program's outputs that the host is sent.
const MOST_SENT: usize = 256 << 10;

/// Executes the job of this parcel.
pub(crate) fn run_all(port: &mut Port, parcel: &Parcel, job: &'static [u8]) -> Result<(), Trouble> {
    let job = Job::read(job)
        .map_err(|error| -> Trouble { Text::format(format_args!("the job: {error}")) })?;
    prepare();
    let (mut probes, mut disk) = (Uprobes::NONE, Disk::Memory);
    let of_run = |setting: Setting<'_>| match setting.kind {
        SettingKind::Disk => {
            disk = Disk::of((setting.name, setting.value), job.archive)?;
            Roots::tried(&job, disk)
        }
        _ => probes.add((setting.name, setting.value), job.archive),
    };
    if !condition::meet(port, of_run)? {
        return Ok(());
    }
    let mut maps = PerfMaps::new();
    parcel.announce_ready(port, Suite::Exact);
    let sends_maps = port.asks(PERF_MAPS_ASKED);
    let mut launch = Launch::new(&job)?;
    let roots = Roots::new(job.archive, disk)?;
    let mut told = Told::default();
    for number in 0..job.runs {
        roots.enter()?;
        probes.set().map_err(|(_, why)| why)?;
        run(port, (&job, roots.folder()), number, &mut launch, &mut told)?;
        maps.keep(u64::from(number));
        probes.remove();
        roots.leave()?;
    }
    if sends_maps {
        maps.send(port);
    }
    port.send_plain(Kind::Done, b"");
    Ok(())
}

/// What programs expect of a system beside its files.
fn prepare() {
    // A program that does not need them must not fail for what a kernel lacks.
    let _ = sys::set_host_name(b"pathmeter");
    let _ = socket::bring_loopback_up();
}

/// What becomes the program: pointers for execve(2), and what the child leaves to its parent, whose
/// memory it shares.
struct Launch {
    /// The address of its file's path.
    executable: usize,
    /// An array of strings, its own name first.
    arguments: usize,
    /// An array of strings like the arguments.
    environment: usize,
    /// What it is restrained by.
    restraint: Option<Restraint>,
    /// The clock, as the child read it.
    clock: u64,
    /// The error number, if the program could not be executed.
    error: i32,
}

impl Launch {
    fn new(job: &Job<'_>) -> Result<Self, Trouble> {
        Ok(Self {
            executable: job.executable.as_ptr() as usize,
            arguments: pointers(job.arguments)?,
            environment: pointers(job.environment)?,
            restraint: Restraint::read()?,
            clock: 0,
            error: 0,
        })
    }

    /// Becomes the program; returns only if that fails.
    ///
    /// Nothing stands between the marker, the reading of the clock and the system call that could
    /// fault: the memory that is written to was written to before.
    fn execute(&mut self) {
        let place = &raw mut self.clock;
        // SAFETY: the strings and both arrays are terminated and live for good; `place` is this
        // memory's own.
        let result = unsafe {
            place.write_volatile(0);
            marked_execve([self.executable, self.arguments, self.environment], place)
        };
        self.error = sys::sorted(result).err().unwrap_or(0);
    }
}

/// Of which runs the host was told what they wrote.
#[derive(Default)]
struct Told {
    /// How the first run ended.
    first: Option<ProgramEnded>,
    /// Whether it was told of one that ended in another way.
    other: bool,
}

impl Told {
    /// Whether it is to be told of one that ended so: the first run, and the first that is unlike.
    fn wants(&mut self, how: ProgramEnded) -> bool {
        match self.first {
            None => {
                self.first = Some(how);
                true
            }
            Some(first) => first != how && !core::mem::replace(&mut self.other, true),
        }
    }
}

/// One run: the program, its end, what it wrote; first the kernel gets the time to free what the
/// run before left. Each run starts as long after a tick on any kernel.
fn run(
    port: &mut Port,
    (job, folder): (&Job<'_>, CStr<'_>),
    number: u32,
    launch: &mut Launch,
    told: &mut Told,
) -> Result<(), Trouble> {
    let run = u64::from(number);
    port.send_program_begin(run);
    task::await_tick();
    // From here on all is seen: the switch to the program's process too.
    clock::mark_path(0);
    task::await_frees();
    guest::seed_random(run);
    disturb_memory(run);
    let kept = sys::mapped();
    shift_memory(number);
    let files = Files::open(job)?;
    launch.error = 0;
    let ended = task::in_child(|| {
        files.take();
        bpf::let_go();
        become_program((job, folder), number, launch);
        NOT_EXECUTED
    });
    let clock: u64 = marked_end();
    let (_, ended) = ended.map_err(|error| -> Trouble {
        Text::format(format_args!("the program's process can't be made (error {error})"))
    })?;
    end_all_processes();
    // SAFETY: only `shift_memory` has mapped anything since, and nothing uses that.
    unsafe { sys::unmap_since(kept) };
    let how = match (launch.error, ended) {
        (0, Ended::Exit(code)) => ProgramEnded::Exit(code as u8),
        (0, Ended::Signal(signal)) => ProgramEnded::Signal(signal as u8),
        (error, _) => ProgramEnded::NotExecuted(u8::try_from(error).unwrap_or(u8::MAX)),
    };
    if told.wants(how) {
        files.send(port, run);
    }
    files.close();
    port.send_program_end(ProgramEnd { run, how, clock: clock.wrapping_sub(launch.clock) });
    Ok(())
}

/// Takes memory and gives it back, as many pages as follow from the run's number: so that the
/// kernel's lists of free pages and its counters of memory, which are brought up to date every so
/// many pages, are in another state in each run. What of a row depends on that then differs from
/// run to run, on any kernel, and does not pass for a difference between two.
fn disturb_memory(run: u64) {
    const PAGE: usize = 4096;
    const MOST: u64 = 512;
    if run == 0 {
        return;
    }
    for round in 0..3 {
        let pages = (guest::scramble(run * 8 + round) % MOST) as usize + 1;
        let mapped = sys::mapped();
        let Ok(address) = sys::map(pages * PAGE, flag::MAP_PRIVATE) else { return };
        for page in 0..pages {
            // SAFETY: in the mapping, which nobody else knows.
            unsafe { ((address + page * PAGE) as *mut u8).write_volatile(1) };
        }
        // SAFETY: as above, and it is not used any more.
        unsafe { sys::unmap_since(mapped) };
    }
}

/// In the child: the state that every run begins with, then the program.
fn become_program((job, folder): (&Job<'_>, CStr<'_>), number: u32, launch: &mut Launch) {
    let _ = sys::new_session();
    let _ = sys::change_folder(folder);
    place(number);
    let _ = sys::limit(flag::RLIMIT_FSIZE, job.file_limit);
    guest::shift_phase(number);
    if let Some(Err(error)) = launch.restraint.map(Restraint::install) {
        launch.error = error;
        return;
    }
    launch.execute();
}

/// Holds a few pages of memory that follow from the run's number, none in the first run.
///
/// The kernel counts pages of each kind by processor and adds them up every few pages (Linux
/// `mm/vmstat.c`, `__mod_node_page_state`), and takes its own objects from half used slabs. Which
/// system call it is in when that happens depends on all that was executed since the boot, the same
/// in each run: it would look like a difference of two kernels.
fn shift_memory(number: u32) {
    const MOST: u64 = 16;
    const PAGE: usize = 4096;
    let pages = if number == 0 { 0 } else { guest::scramble(u64::from(number)) % MOST };
    for page in 0..pages {
        // By turns, so that they don't become one mapping.
        let flags = if page % 2 == 0 { flag::MAP_PRIVATE } else { flag::MAP_SHARED };
        if let Ok(address) = sys::map(PAGE, flags) {
            // SAFETY: mapped just now, and known to nobody else.
            unsafe { (address as *mut u8).write_volatile(1) };
        }
    }
}

/// Moves the bases of the program by amounts that follow from the run's number, as `start.rs` does
/// for a path's; by limits that a program can live with: a thread's stack is as large as the limit,
/// and must not be larger than the guest's memory (glibc `pthread_create`).
///
/// Should a kernel lack either call, its bases stay where it puts them.
fn place(number: u32) {
    const ADDR_NO_RANDOMIZE: usize = 0x004_0000;
    /// Up to this limit on the stack, mappings begin where they do with it.
    const LOWEST: u64 = 128 << 20;
    const PAGE: u64 = 4096;
    let limit = match number {
        0 => 8 << 20,
        _ => LOWEST + guest::scramble(u64::from(number)) % (64 << 20) / PAGE * PAGE,
    };
    // SAFETY: takes no pointer.
    let _ = unsafe { sys::checked(nr::PERSONALITY, [ADDR_NO_RANDOMIZE, 0, 0, 0, 0, 0]) };
    let _ = sys::limit(flag::RLIMIT_STACK, limit);
}

/// Kills what the program has left, and waits until it is gone.
fn end_all_processes() {
    /// As kill(2) has it.
    const EVERY_PROCESS: isize = -1;
    // By pid 1: every other process. Again after each wait, since one may have forked meanwhile.
    loop {
        let _ = sys::kill(EVERY_PROCESS, flag::SIGKILL);
        if task::wait_for_any().is_err() {
            return;
        }
    }
}

/// Above all descriptors that the agent has.
const HIGH: usize = 16;

/// The descriptors of a program's standard files.
struct Files {
    /// What the user gave it, or nothing.
    stdin: usize,
    /// A file in memory for the program's output.
    stdout: usize,
    /// A file in memory for the program's error output.
    stderr: usize,
}

impl Files {
    /// Opens the input, and makes the others.
    fn open(job: &Job<'_>) -> Result<Self, Trouble> {
        let stdin = match job.stdin {
            [0] => CStr::new(b"/dev/null\0"),
            path => CStr::new(path),
        };
        let opened = sys::open(stdin, flag::O_RDONLY, 0);
        let failed = |what: &str, error: i32| -> Trouble {
            Text::format(format_args!("the program's {what} can't be opened (error {error})"))
        };
        let file = |name: &'static [u8], what| {
            sys::memory_file(CStr::new(name)).map_err(|error| failed(what, error))
        };
        Ok(Self {
            stdin: opened.map_err(|error| failed("input", error))?,
            stdout: file(b"stdout\0", "output")?,
            stderr: file(b"stderr\0", "error output")?,
        })
    }

    /// Makes them this process's standard files, and closes all others.
    ///
    /// First all are copied to where none of them is: one may have another's number.
    fn take(&self) {
        for (number, file) in [self.stdin, self.stdout, self.stderr].into_iter().enumerate() {
            let _ = sys::duplicate(file, number + HIGH);
        }
        for number in 0..3 {
            let _ = sys::duplicate(number + HIGH, number);
        }
        for number in 3..HIGH + 3 {
            let _ = sys::close(number);
        }
    }

    /// Closes them in the agent itself.
    fn close(&self) {
        for file in [self.stdin, self.stdout, self.stderr] {
            let _ = sys::close(file);
        }
    }

    /// Sends the beginning of what was written.
    ///
    /// At least one piece for each file, even if it is empty: the host hears by it that there is
    /// no more.
    fn send(&self, port: &mut Port, run: u64) {
        for (file, is_error) in [(self.stdout, false), (self.stderr, true)] {
            let total = sys::seek(file, 0, flag::SEEK_END).unwrap_or(0) as u64;
            let mut piece = [0; MAX_OUTPUT];
            let mut sent = 0;
            while sent < MOST_SENT {
                let count = sys::read_at(file, &mut piece, sent).unwrap_or(0);
                let bytes = &piece[..count];
                if count > 0 || sent == 0 {
                    port.send_program_output(&ProgramOutput { run, is_error, total, bytes });
                }
                if count == 0 {
                    break;
                }
                sent += count;
            }
        }
    }
}
