//! Executes a program on this machine under ptrace, and gathers the files that it opens or asks
//! about.
//!
//! Contract: only what was there before the program touched it is gathered, never a file that the
//! program made. When the search ends, so have the program and all processes that it began: the
//! kernel kills them together with the thread that traces them.
//!
//! Source: ptrace(2), `PTRACE_O_TRACESYSGOOD`, `PTRACE_GET_SYSCALL_INFO`, `PTRACE_O_EXITKILL`.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rustix::process::{WaitOptions, WaitStatus, wait};

/// How long the program may take; a server never ends.
pub(super) const LONGEST: Duration = Duration::from_secs(60);
/// Most bytes of a path (Linux `PATH_MAX`).
const LONGEST_PATH: usize = 4096;
/// Processes or threads that are traced at a time.
const MOST_TASKS: usize = 4096;
/// Files that are gathered, and files that are known to be the program's own.
const MOST_FILES: usize = 100_000;
/// The stopping signal at the beginning and the end of a call (`PTRACE_O_TRACESYSGOOD`).
const CALL_STOP: i32 = libc::SIGTRAP | 0x80;
/// Waits until it is traced, then becomes the program in its arguments.
const WRAPPER: &str = "kill -STOP $$; exec \"$0\" \"$@\"";
const SHELL: &str = "/bin/sh";
/// A code segment selector of 64-bit programs (Linux `__USER_CS`).
const CODE_64: u64 = 0x33;
/// The guest's own (docs/guide/own-programs.md): these of the host are not gathered.
const OF_THE_GUEST: [&str; 11] = [
    "/dev",
    "/proc",
    "/sys",
    "/etc/group",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/resolv.conf",
    "/etc/shadow",
];

/// A program of this machine, as a guest would execute it.
pub(super) struct Program {
    /// The absolute path of its file.
    pub(super) file: PathBuf,
    /// Its arguments, without its name.
    pub(super) arguments: Vec<OsString>,
    /// Its whole environment, `NAME=VALUE`.
    pub(super) environment: Vec<Vec<u8>>,
    /// The file of its standard input, if it has any.
    pub(super) stdin: Option<PathBuf>,
    /// Where it begins; what it finds there is not gathered.
    pub(super) folder: PathBuf,
}

/// What a program opened, and how it ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Search {
    /// The absolute paths of regular files.
    pub(super) files: BTreeSet<PathBuf>,
    pub(super) ended: Ended,
}

/// How a program ended here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Code(i32),
    Signal(i32),
    /// It was killed after [`LONGEST`].
    Late,
}

/// Executes the program and gathers its files.
///
/// # Errors
/// The program can't be started or traced.
pub(super) fn search(program: &Program) -> io::Result<Search> {
    // A thread of its own: its end kills what is still traced.
    thread::scope(|scope| {
        let traced = scope.spawn(|| trace(program));
        traced.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn trace(program: &Program) -> io::Result<Search> {
    let mut child = start(program)?;
    let first = Pid::from_raw(child.id().cast_signed());
    let (ended, end) = mpsc::channel::<()>();
    let killed = thread::scope(|scope| {
        let watch = scope.spawn(move || {
            let is_late = matches!(end.recv_timeout(LONGEST), Err(RecvTimeoutError::Timeout));
            if is_late {
                // It may have ended just now.
                let _ = kill(first, Signal::SIGKILL);
            }
            is_late
        });
        let traced = Tracer::new(&program.folder).follow(first);
        drop(ended);
        let is_late = watch.join().unwrap_or(false);
        traced.map(|search| if is_late { Search { ended: Ended::Late, ..search } } else { search })
    });
    if killed.is_err() {
        // Not traced, it would stay stopped.
        let _ = child.kill();
        let _ = child.wait();
    }
    killed
}

/// Starts the program, which waits to be traced.
fn start(program: &Program) -> io::Result<std::process::Child> {
    let mut command = Command::new(SHELL);
    command.arg("-c").arg(WRAPPER).arg(&program.file).args(&program.arguments).env_clear();
    for variable in &program.environment {
        if let Some(at) = variable.iter().position(|byte| *byte == b'=') {
            let (name, value) = (&variable[..at], &variable[at + 1..]);
            command.env(OsStr::from_bytes(name), OsStr::from_bytes(value));
        }
    }
    let stdin = program.stdin.as_ref().map(File::open).transpose()?;
    command.stdin(stdin.map_or_else(Stdio::null, Stdio::from));
    command.stdout(Stdio::null()).stderr(Stdio::null()).current_dir(&program.folder);
    command.spawn()
}

/// What is known of the processes and threads that are traced.
struct Tracer {
    /// The folder in which the program began.
    folder: PathBuf,
    /// The call that each task is in, if that names a file that is there.
    tasks: HashMap<Pid, Option<PathBuf>>,
    /// Files that the program made, or emptied.
    made: BTreeSet<PathBuf>,
    files: BTreeSet<PathBuf>,
}

impl Tracer {
    fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            tasks: HashMap::new(),
            made: BTreeSet::new(),
            files: BTreeSet::new(),
        }
    }

    /// Traces the task, which waits, and all that it begins, until it ends.
    fn follow(mut self, first: Pid) -> io::Result<Search> {
        let (_, stopped) = await_stop(WaitOptions::UNTRACED)?;
        if stopped.stopping_signal() != Some(libc::SIGSTOP) {
            return Err(io::Error::other("the program did not start"));
        }
        let options = Options::PTRACE_O_TRACESYSGOOD
            | Options::PTRACE_O_TRACEFORK
            | Options::PTRACE_O_TRACEVFORK
            | Options::PTRACE_O_TRACECLONE
            | Options::PTRACE_O_TRACEEXEC
            | Options::PTRACE_O_EXITKILL;
        ptrace::seize(first, options)?;
        kill(first, Signal::SIGCONT)?;
        loop {
            let (pid, status) = await_stop(WaitOptions::empty())?;
            let code = status.exit_status().map(Ended::Code);
            let ended = code.or(status.terminating_signal().map(Ended::Signal));
            match ended {
                Some(ended) if pid == first => return Ok(Search { files: self.files, ended }),
                Some(_) => drop(self.tasks.remove(&pid)),
                None => self.go_on(pid, status),
            }
        }
    }

    /// Looks at why a task stopped, and lets it go on. A task that was killed meanwhile has nothing
    /// to go on with, which is no fault.
    fn go_on(&mut self, pid: Pid, status: WaitStatus) {
        let stopping = status.stopping_signal();
        let is_event = status.as_raw() >> 16 != 0;
        let signal = match stopping {
            Some(CALL_STOP) => {
                self.look_at_call(pid);
                None
            }
            // A new task's first stop, a new program, or that of a stopped group.
            _ if is_event => None,
            // The library has no real-time signals: these are dropped.
            other => other.and_then(|number| Signal::try_from(number).ok()),
        };
        if self.tasks.len() > MOST_TASKS {
            let _ = kill(pid, Signal::SIGKILL);
        }
        let _ = ptrace::syscall(pid, signal);
    }

    /// At the beginning of a call, notes the file that it names; at its end, gathers the file if
    /// the call succeeded.
    fn look_at_call(&mut self, pid: Pid) {
        let (Ok(info), Ok(registers)) = (ptrace::syscall_info(pid), ptrace::getregs(pid)) else {
            return;
        };
        if info.op == libc::PTRACE_SYSCALL_INFO_ENTRY {
            let named =
                if registers.cs == CODE_64 { find_named_file(pid, &registers) } else { None };
            let found = named.and_then(|named| self.find_input(named));
            self.tasks.insert(pid, found);
        } else if let Some(file) = self.tasks.insert(pid, None).flatten()
            && registers.rax.cast_signed() >= 0
            && self.files.len() < MOST_FILES
        {
            self.files.insert(file);
        }
    }

    /// The path of a file that the program reads, unless the guest has its own file there.
    fn find_input(&mut self, NamedFile { path, is_output }: NamedFile) -> Option<PathBuf> {
        let path = normalise(&path)?;
        let is_regular = fs::metadata(&path).is_ok_and(|it| it.is_file());
        if is_output || (!is_regular && !path.exists()) {
            if self.made.len() < MOST_FILES {
                self.made.insert(path);
            }
            return None;
        }
        let is_here = path.starts_with(&self.folder) || self.made.contains(&path);
        let is_guests = OF_THE_GUEST.iter().any(|own| path.starts_with(own));
        // A list has a name in each line.
        let is_listable = !path.as_os_str().as_bytes().contains(&b'\n');
        (is_regular && is_listable && !is_here && !is_guests).then_some(path)
    }
}

/// The next child or traced task of this thread that stopped or ended.
fn await_stop(options: WaitOptions) -> io::Result<(Pid, WaitStatus)> {
    let all = libc::__WALL | libc::__WNOTHREAD;
    let options = options | WaitOptions::from_bits_retain(all.cast_unsigned());
    loop {
        match wait(options) {
            Ok(Some((pid, status))) => return Ok((Pid::from_raw(pid.as_raw_pid()), status)),
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// A file that a call names.
struct NamedFile {
    path: PathBuf,
    /// Whether the call empties it or makes it anew.
    is_output: bool,
}

/// The file that a call of a 64-bit program names: syscalls(2) that open, execute or look.
fn find_named_file(pid: Pid, registers: &libc::user_regs_struct) -> Option<NamedFile> {
    let (first, second, third) = (registers.rdi, registers.rsi, registers.rdx);
    let here = libc::AT_FDCWD;
    let (folder, address, flags) = match registers.orig_rax.cast_signed() {
        libc::SYS_open => (here, first, second),
        libc::SYS_openat => (to_descriptor(first), second, third),
        // The flags are the first field of the structure, which is not read: how files are made
        // and emptied is seen from them being there.
        libc::SYS_openat2
        | libc::SYS_newfstatat
        | libc::SYS_faccessat
        | libc::SYS_faccessat2
        | libc::SYS_readlinkat
        | libc::SYS_statx
        | libc::SYS_execveat => (to_descriptor(first), second, 0),
        libc::SYS_execve
        | libc::SYS_stat
        | libc::SYS_lstat
        | libc::SYS_access
        | libc::SYS_readlink => (here, first, 0),
        _ => return None,
    };
    let name = read_text(pid, address).ok().filter(|name| !name.is_empty())?;
    let path = PathBuf::from(OsString::from_vec(name));
    let path = if path.is_absolute() { path } else { find_folder(pid, folder)?.join(path) };
    Some(NamedFile { path, is_output: flags & libc::O_TRUNC as u64 != 0 })
}

/// A file descriptor as the call takes it: the low half of a register.
#[allow(clippy::cast_possible_truncation, reason = "the kernel takes no more")]
fn to_descriptor(register: u64) -> i32 {
    register as i32
}

/// The folder that relative paths of a call begin at.
fn find_folder(pid: Pid, descriptor: i32) -> Option<PathBuf> {
    let link = match descriptor {
        libc::AT_FDCWD => format!("/proc/{pid}/cwd"),
        number => format!("/proc/{pid}/fd/{number}"),
    };
    fs::read_link(link).ok()
}

/// The bytes up to a NUL in the memory of a process.
fn read_text(pid: Pid, address: u64) -> io::Result<Vec<u8>> {
    let memory = File::open(format!("/proc/{pid}/mem"))?;
    let mut text = Vec::new();
    while text.len() < LONGEST_PATH {
        let mut part = [0; 256];
        // Up to a page's end at most: the next page may not be there.
        let at = address + text.len() as u64;
        let length = part.len().min(4096 - usize::try_from(at % 4096).unwrap_or(0));
        let read = memory.read_at(&mut part[..length], at)?;
        let end = part[..read].iter().position(|byte| *byte == 0);
        text.extend_from_slice(&part[..end.unwrap_or(read)]);
        if end.is_some() {
            return Ok(text);
        }
        if read == 0 {
            break;
        }
    }
    Err(ErrorKind::InvalidData.into())
}

/// The path without `.` and `..`: behind a link, `..` is not what stands before it.
fn normalise(path: &Path) -> Option<PathBuf> {
    if path.components().any(|part| part == Component::ParentDir) {
        return path.canonicalize().ok();
    }
    Some(path.components().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Executes `sh -c WORDS` in an empty folder.
    fn search_shell(words: &str) -> Search {
        let folder = tempfile::tempdir().unwrap();
        let program = Program {
            file: "/bin/sh".into(),
            arguments: vec!["-c".into(), words.into()],
            environment: vec![b"PATH=/usr/bin:/bin".to_vec()],
            stdin: None,
            folder: folder.path().to_owned(),
        };
        search(&program).unwrap()
    }

    #[test]
    fn files_that_processes_of_a_program_open_are_gathered() {
        let given = tempfile::NamedTempFile::new().unwrap();
        let path = given.path().display();
        let Search { files, ended } = search_shell(&format!("(cat < {path}; exit 3)"));
        assert_eq!(ended, Ended::Code(3));
        assert!(files.contains(given.path()), "{files:?}");
        assert!(files.iter().any(|file| file.ends_with("cat")), "{files:?}");
        assert!(files.iter().all(|file| file.is_absolute() && file.is_file()));
    }

    #[test]
    fn neither_what_a_program_makes_nor_what_each_guest_has_is_gathered() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let words =
            format!("echo 1 > {0}; cat {0} /etc/passwd /proc/version; kill -9 $$", out.display());
        let Search { files, ended } = search_shell(&words);
        assert_eq!(ended, Ended::Signal(9));
        assert!(!files.contains(&out), "{files:?}");
        assert!(!files.iter().any(|file| OF_THE_GUEST.iter().any(|own| file.starts_with(own))));
    }

    #[test]
    fn processes_that_a_program_leaves_behind_are_killed() {
        let folder = tempfile::tempdir().unwrap();
        let number = folder.path().join("number");
        search_shell(&format!("setsid sleep 1000 & echo $! > {}", number.display()));
        let number = fs::read_to_string(number).unwrap();
        let process = PathBuf::from(format!("/proc/{}/stat", number.trim()));
        let is_gone = || {
            let state = fs::read_to_string(&process).unwrap_or_default();
            state.is_empty() || state.contains(") Z ")
        };
        for _ in 0..500 {
            if is_gone() {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("it is still there");
    }
}
