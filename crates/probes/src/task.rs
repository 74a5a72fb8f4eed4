//! Processes and threads for probes: children that are waited for, partners that end with their
//! probe.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::{
    arch::{clone_below, clone_onto},
    clock,
    failure::{Failure, broken, unsupported},
    sys::{self, Ret, Timespec, flag, nr},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It exited with this code.
    Exit(u32),
    /// It was killed by this signal.
    Signal(u32),
}

impl Ended {
    /// What wait4(2) tells by `status`: low 7 bits 0 is an exit, whose code stands in bits 8 to 15.
    pub(crate) fn of(status: u32) -> Self {
        if status.trailing_zeros() >= 7 {
            Self::Exit(status >> 8 & 0xff)
        } else {
            Self::Signal(status & 0x7f)
        }
    }
}

/// Forks; the child runs `body` and exits with what it returns. The child's number.
pub fn fork(body: impl FnOnce() -> usize) -> Ret {
    // SAFETY: fork copies the whole process, and the child never returns to the caller's frames.
    match unsafe { sys::checked(nr::FORK, [0; 6]) } {
        Ok(0) => sys::exit(body()),
        parent => parent,
    }
}

/// Stands for any child's number.
const ANY_CHILD: usize = usize::MAX;

/// Waits until the child `pid` has ended.
pub fn wait(pid: usize) -> Result<Ended, i32> {
    wait_for(pid).map(|(_, ended)| ended)
}

/// Waits until any child has ended.
pub fn wait_for_any() -> Result<Ended, i32> {
    wait(ANY_CHILD)
}

/// Waits for a child: its number, and how it ended.
fn wait_for(pid: usize) -> Result<(usize, Ended), i32> {
    let mut status = 0_u32;
    loop {
        let place = &raw mut status as usize;
        // SAFETY: the kernel writes one int to `status`.
        match unsafe { sys::checked(nr::WAIT4, [pid, place, 0, 0, 0, 0]) } {
            Err(sys::errno::EINTR) => {}
            Err(error) => return Err(error),
            Ok(child) => return Ok((child, Ended::of(status))),
        }
    }
}

/// Waits until the child `pid` has ended, and until then for every other that does: pid 1's
/// children are also the processes whose parents have ended.
fn wait_reaping(pid: usize) -> Result<Ended, i32> {
    loop {
        let (child, ended) = wait_for(ANY_CHILD)?;
        if child == pid {
            return Ok(ended);
        }
    }
}

/// Runs `body` in a child, for things that may kill the process that tries them.
pub fn trial(body: impl FnOnce() -> usize) -> Result<Ended, i32> {
    in_child(body).map(|(_, ended)| ended)
}

/// Runs `body` in a child process, which exits with what it returns, and waits for its end: the
/// child's number, and how it ended.
///
/// Unlike a forked one it shares the caller's memory: to copy an address space, and to free it
/// again, takes an interpreter longer than most paths do. All else is its own.
pub fn in_child(body: impl FnOnce() -> usize) -> Result<(usize, Ended), i32> {
    spawned_until(wait, body)
}

/// As [`in_child`]; meanwhile every other child that ends is taken from the list of processes, as
/// pid 1 has to do with those whose parents have ended.
pub fn in_child_reaping(body: impl FnOnce() -> usize) -> Result<Ended, i32> {
    spawned_until(wait_reaping, body).map(|(_, ended)| ended)
}

/// Runs `body` in a child process, and has `wait` wait for its end.
fn spawned_until(
    wait: impl FnOnce(usize) -> Result<Ended, i32>,
    body: impl FnOnce() -> usize,
) -> Result<(usize, Ended), i32> {
    let mut body = Some(body);
    let child = spawn_child(&mut body)?;
    match wait(child) {
        Ok(ended) => Ok((child, ended)),
        // It may still run, in frames that are about to be left.
        Err(_) => sys::exit(LOST),
    }
}

/// Exit code of a process that can't wait for its own child.
const LOST: usize = 102;

/// Bytes of stack below the caller's frame that are left to the caller while it waits for a child
/// of [`spawn_child`]; the child's stack begins after them. The kernel maps 128 KiB below the first
/// frame of a program, and more as it is used.
const OWN_STACK: usize = 32 << 10;

/// Starts the child of [`in_child`]: its number. The caller must wait for its end before it uses
/// anything that `body` does, or leaves the frame that `body` stands in.
fn spawn_child<F: FnOnce() -> usize>(body: &mut Option<F>) -> Ret {
    /// Executes `body` in the child, which then ends.
    extern "C" fn enter<F: FnOnce() -> usize>(body: usize) -> ! {
        // SAFETY: the address of the caller's `body`, which nobody else uses meanwhile.
        let body = unsafe { (*(body as *mut Option<F>)).take() };
        sys::exit(body.map_or(0, |body| body()))
    }
    let entry: extern "C" fn(usize) -> ! = enter::<F>;
    let place = core::ptr::from_mut(body) as usize;
    // SAFETY: the child's stack is far enough below the caller's frames, and it never returns.
    let result = unsafe { clone_below::<OWN_STACK>(flag::CLONE_VM | flag::SIGCHLD, entry, place) };
    sys::sorted(result)
}

/// Memory that a probe shares with its partners; lives until the process ends.
#[repr(C)]
#[derive(Default)]
pub struct Board {
    /// Turns that the partner has taken; code that sees the turn also sees what was written before
    /// it.
    pub turns: AtomicU64,
    /// Futex word: whose turn it is, or a thread's number to be cleared when it ends.
    pub word: AtomicU32,
    /// A value that the partner leaves for the probe.
    pub value: AtomicU64,
}

impl Board {
    /// A board in freshly mapped shared memory.
    pub fn new() -> Result<&'static Self, Failure> {
        match sys::map(size_of::<Self>(), flag::MAP_SHARED) {
            // SAFETY: the mapping is page-aligned, large enough, zeroed (a valid Board) and never
            // unmapped; all access goes through atomics.
            Ok(address) => Ok(unsafe { &*(address as *const Self) }),
            Err(error) => unsupported!("no shared memory (mmap: error {error})"),
        }
    }

    /// Turns that the partner has taken so far.
    pub fn turns(&self) -> u64 {
        self.turns.load(Ordering::Acquire)
    }

    /// The partner takes a turn.
    pub fn take_turn(&self) {
        self.turns.fetch_add(1, Ordering::Release);
    }

    /// Sleeps until the partner has taken a turn: ever longer, since in elapsed time a busy host
    /// may keep the partner waiting; some 3 s in all.
    fn await_first_turn(&self) -> Result<(), Failure> {
        const SHORTEST: u64 = 100_000;
        const LOOKS: u32 = 15;
        for look in 0..LOOKS {
            if self.turns() > 0 {
                return Ok(());
            }
            sleep(SHORTEST << look)?;
        }
        broken!("the partner on CPU 1 does not begin")
    }
}

/// A process that plays the other end until dropped.
pub struct Partner {
    pid: usize,
}

impl Partner {
    /// Forks the partner: it sets itself up, then takes turns as `body` has it, for ever.
    pub fn process(body: impl FnOnce()) -> Result<Self, Failure> {
        let forked = fork(|| {
            // Should the probe die, its partner must not stay to disturb the next path.
            let _ = sys::prctl(flag::PR_SET_PDEATHSIG, flag::SIGKILL);
            body();
            0
        });
        match forked {
            Ok(pid) => Ok(Self { pid }),
            Err(error) => unsupported!("no partner (fork: error {error})"),
        }
    }

    /// [`Partner::process`] on CPU 1, where the guest has one. Returns when the partner is there,
    /// and has taken its first turn on the fresh `board`.
    ///
    /// It is forked on the caller's CPU, so the caller sleeps meanwhile: a real-time task would
    /// else keep it from getting there.
    pub fn on_second_cpu(board: &Board, body: impl FnOnce()) -> Result<Self, Failure> {
        const SECOND: usize = 1;
        // A trial, so that the caller stays where it is.
        let Ok(Ended::Exit(0)) = trial(|| usize::from(pin(SECOND).is_err())) else {
            return unsupported!("this guest has one CPU; lab:cpus=2 has two");
        };
        let partner = Self::process(|| {
            if pin(SECOND).is_ok() {
                body();
            }
        })?;
        board.await_first_turn()?;
        Ok(partner)
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        let _ = sys::kill(self.pid.cast_signed(), flag::SIGKILL);
        let _ = wait(self.pid);
    }
}

/// Bytes of stack for a thread; its code is a loop around one system call.
const THREAD_STACK: usize = 16 * 1024;

/// clone(2) flags of a POSIX thread, its number cleared and woken at its end:
/// VM, FS, FILES, SIGHAND, THREAD, SYSVSEM, `PARENT_SETTID`, `CHILD_CLEARTID`.
const THREAD: usize = 0x100 | 0x200 | 0x400 | 0x800 | 0x1_0000 | 0x4_0000 | 0x10_0000 | 0x20_0000;

/// A stack for [`spawn`].
pub fn thread_stack() -> Result<usize, Failure> {
    match sys::map(THREAD_STACK, flag::MAP_PRIVATE) {
        Ok(address) => Ok(address + THREAD_STACK),
        Err(error) => unsupported!("no stack for a thread (mmap: error {error})"),
    }
}

/// Starts a thread on the stack below `top` that runs `entry(argument)`, which must not return.
/// The kernel puts the thread's number into `word` before this returns, and clears and wakes it
/// when the thread ends.
///
/// # Safety
/// `top` must be the top of a stack from [`thread_stack`] that no living thread uses; `argument`
/// must be what `entry` expects, valid as long as the thread lives.
pub unsafe fn spawn(
    top: usize,
    word: &'static AtomicU32,
    entry: extern "C" fn(usize) -> !,
    argument: usize,
) -> Ret {
    // SAFETY: the child has an own stack with nothing of ours on it, and never returns.
    let result = unsafe { clone_onto(top, THREAD, word.as_ptr(), entry, argument) };
    sys::sorted(result)
}

/// Ends the calling thread only.
pub fn exit_thread() -> ! {
    loop {
        // SAFETY: takes no pointer; does not return.
        unsafe { sys::call(nr::EXIT, [0; 6]) };
    }
}

/// futex(2): sleeps while `word` holds `expected`.
#[inline(always)]
pub fn futex_wait(word: &AtomicU32, expected: u32) -> usize {
    let address = word.as_ptr() as usize;
    // SAFETY: the kernel only reads the word.
    unsafe { sys::call(nr::FUTEX, [address, flag::FUTEX_WAIT, expected as usize, 0, 0, 0]) }
}

/// futex(2): wakes one that sleeps on `word`.
#[inline(always)]
pub fn futex_wake(word: &AtomicU32) -> usize {
    // SAFETY: the kernel only uses the word's address.
    unsafe { sys::call(nr::FUTEX, [word.as_ptr() as usize, flag::FUTEX_WAKE, 1, 0, 0, 0]) }
}

/// Gives the kernel time for what is left to do of what came before: memory freed after a grace
/// period, work put off to a tick. The caller, a FIFO task, is an ordinary one meanwhile, since the
/// kernel's own threads must get their turn.
#[cfg(not(feature = "batch"))]
pub fn settle() -> Result<(), Failure> {
    ordinary()?;
    await_frees();
    fifo()
}

/// Three ticks of a kernel with 250 a second, in which it frees memory after a grace period. The
/// caller is an ordinary task.
///
/// The time is filled with instructions rather than slept away: whenever the CPU idles, QEMU moves
/// the clock on from another thread, and there is a race in that (`docs/explanation/exactness.md`).
pub fn await_frees() {
    const LONG_ENOUGH: u64 = 12_000_000;
    clock::busy(LONG_ENOUGH);
}

/// Until the next tick, so that as many instructions after it have the same ticks among them on any
/// kernel, however long that took to boot.
///
/// It executes instructions rather than sleeps, for the reason above, and looks at the processor's
/// own clock for an interrupt among them: a question to the kernel takes an interpreter far longer.
/// A kernel without the clock that it asks then has no ticks to wait for, and none that is alive
/// takes so many looks to the next one: the slowest ticks 100 times a second.
pub fn await_tick() {
    const ENOUGH: u32 = 1 << 16;
    /// Instructions between two looks, and how many show an interrupt: a tick takes thousands.
    const STEP: u64 = 500;
    const INTERRUPTED: u64 = 3 * STEP;
    let Ok(last) = sys::last_tick() else { return };
    let mut before = clock::stamp();
    for _ in 0..ENOUGH {
        clock::busy(STEP);
        let now = clock::stamp();
        if now.wrapping_sub(before) > INTERRUPTED && sys::last_tick() != Ok(last) {
            return;
        }
        before = now;
    }
}

/// On a live host the kernel has had that time, between two processes that execute a path.
#[cfg(feature = "batch")]
pub fn settle() -> Result<(), Failure> {
    Ok(())
}

/// Sleeps for so many nanoseconds, where the time slept is part of the path or the path idles
/// anyway.
pub fn sleep(nanoseconds: u64) -> Result<(), Failure> {
    const SECOND: u64 = 1_000_000_000;
    let time = Timespec {
        seconds: (nanoseconds / SECOND).cast_signed(),
        nanoseconds: (nanoseconds % SECOND).cast_signed(),
    };
    match sys::sleep(time) {
        Ok(_) => Ok(()),
        Err(error) => broken!("nanosleep failed (error {error})"),
    }
}

/// Lets the kernel's thread for softirqs (`ksoftirqd`) come to an end, if it has been left
/// something.
///
/// Real-time tasks that keep a CPU busy starve it; and while it waits for the CPU, Linux leaves it
/// all softirqs, the next packet's too. So one tick at the wrong moment would make every later
/// window of a network path more expensive by two task switches. Giving way once as an ordinary
/// task ends that.
pub fn let_softirqs_finish() -> Result<(), Failure> {
    ordinary()?;
    let _ = sys::sched_yield();
    fifo()
}

/// Real-time priority of probe and partner: above threaded softirqs (1), below the kernel's own
/// (50).
const PRIORITY: i32 = 2;

/// Makes the caller, and what it forks from now on, a `SCHED_FIFO` task. On a live host one that
/// may not stays an ordinary one: the paths' own proofs tell whether that will do.
pub fn fifo() -> Result<(), Failure> {
    let scheduled = schedule(flag::SCHED_FIFO, PRIORITY);
    #[cfg(feature = "batch")]
    let scheduled = scheduled.or_else(|_| ordinary());
    scheduled
}

/// The same for paths that ordinary tasks can't take, since their kernel lets one that yields go
/// on.
#[cfg(feature = "batch")]
pub fn real_time() -> Result<(), Failure> {
    schedule(flag::SCHED_FIFO, PRIORITY)
}
#[cfg(not(feature = "batch"))]
pub use fifo as real_time;

/// Makes the caller an ordinary task, with a fresh time slice.
pub fn ordinary() -> Result<(), Failure> {
    schedule(flag::SCHED_OTHER, 0)
}

fn schedule(policy: usize, priority: i32) -> Result<(), Failure> {
    let place = &raw const priority as usize;
    // SAFETY: the kernel reads one `struct sched_param`, an int.
    match unsafe { sys::checked(nr::SCHED_SETSCHEDULER, [0, policy, place, 0, 0, 0]) } {
        Ok(_) => Ok(()),
        Err(error) => unsupported!("scheduling policy {policy} is refused (error {error})"),
    }
}

/// Pins the caller, and what it forks from now on, to one CPU.
pub fn pin(cpu: usize) -> Ret {
    let mut mask = [0_u64; 16];
    if let Some(word) = mask.get_mut(cpu / 64) {
        *word = 1 << (cpu % 64);
    }
    let args = [0, size_of_val(&mask), mask.as_ptr() as usize, 0, 0, 0];
    // SAFETY: the kernel reads `mask`.
    unsafe { sys::checked(nr::SCHED_SETAFFINITY, args) }
}
