//! Programs of the user's machine that set something in the kernel, such as nft(8): each is run
//! once, before anything is measured, in a root of its own, which is gone when it has ended. All
//! that it has set stays.

use pathmeter_probes::{
    sys::{self, CStr, flag, nr},
    task::{self, Ended},
};
use pathmeter_wire::{
    archive::Records,
    job::{Job, Words},
    message::UnmetCause,
};

use crate::{
    file::Held,
    path::Path,
    pointers::pointers,
    refusal::{Refusal, kernel_refusal},
    unpack,
};

/// Where its root is, and where that has the kernel's file systems.
const PLACE: &[u8] = b"/tool\0";
/// Where that has the files of the user's program, if it is given them.
const FILES: CStr<'static> = CStr::new(b"files\0");
const OWN: [(&[u8], &[u8]); 2] = [(b"proc\0", b"proc\0"), (b"devtmpfs\0", b"dev\0")];
const SHARED: &[u8] = b"/sys\0";
/// File systems in there by which programs of this kind talk to the kernel; what is kept in them
/// must stay, so they do.
const IN_SHARED: [(&[u8], &[u8]); 3] = [
    (b"bpf\0", b"/sys/fs/bpf\0"),
    (b"securityfs\0", b"/sys/kernel/security\0"),
    (b"selinuxfs\0", b"/sys/fs/selinux\0"),
];
const HERE: CStr<'static> = CStr::new(b".\0");
const TOP: CStr<'static> = CStr::new(b"/\0");
/// Exit code of a child that could not become the program.
const NOT_EXECUTED: usize = 127;
/// Of what it wrote so much is told.
const MAX_OUTPUT: usize = 150;
/// Above all descriptors that the agent has.
const HIGH: usize = 16;

/// Executes the program in this file; what shows that it did as it was told.
pub(crate) fn execute(file: &[u8]) -> Result<Held, Refusal> {
    let job = read(file)?;
    execute_job(&job, None)?;
    Ok(Held::from_message(format_args!("{} took it", name(&job))))
}

/// Reads the program in this file, which stays in memory.
#[inline(never)]
pub(crate) fn read(file: &[u8]) -> Result<Job<'static>, Refusal> {
    let path = Path::of(b"", file.iter().copied());
    let unread =
        |error: i32| kernel_refusal(format_args!("its program can't be read (error {error})"));
    let fd = sys::open(path.as_c(), flag::O_RDONLY, 0).map_err(unread)?;
    let bytes = sys::map_file(fd).map_err(unread)?;
    let _ = sys::close(fd);
    let job =
        Job::read(bytes).map_err(|error| kernel_refusal(format_args!("its program: {error}")))?;
    for record in Records::of(job.archive) {
        record.map_err(|error| kernel_refusal(format_args!("its program: {error}")))?;
    }
    Ok(job)
}

/// Executes the program in a root of its own, which is gone then; these files of another program
/// are below `/files` there.
#[inline(never)]
pub(crate) fn execute_job(job: &Job<'_>, files: Option<&[u8]>) -> Result<(), Refusal> {
    make_root(job, files).map_err(|error| {
        kernel_refusal(format_args!(
            "there is no room for its program (error {error}): more --memory"
        ))
    })?;
    let ended = execute_here(job);
    let _ = sys::change_folder(TOP);
    let _ = sys::unmount(CStr::new(PLACE), flag::MNT_DETACH);
    ended
}

/// Makes the root, and has this process in it.
fn make_root(job: &Job<'_>, files: Option<&[u8]>) -> Result<(), i32> {
    let (place, kind) = (CStr::new(PLACE), CStr::new(b"tmpfs\0"));
    let _ = sys::mkdir(place, 0o755);
    sys::mount(kind, place, kind)?;
    sys::change_folder(place)?;
    unpack::files(job.archive)?;
    if let Some(files) = files {
        sys::mkdir(FILES, 0o755)?;
        sys::change_folder(FILES)?;
        unpack::files(files)?;
        sys::change_folder(CStr::new(b"..\0"))?;
    }
    // A program that does not need one must not fail for what a kernel lacks.
    for (kind, place) in OWN {
        let _ = sys::mkdir(CStr::new(place), 0o755);
        let _ = sys::mount(CStr::new(kind), CStr::new(place), CStr::new(kind));
    }
    for (kind, place) in IN_SHARED {
        let _ = sys::mount(CStr::new(kind), CStr::new(place), CStr::new(kind));
    }
    let _ = sys::mkdir(CStr::new(&SHARED[1..]), 0o755);
    sys::bind_mount(CStr::new(SHARED), CStr::new(&SHARED[1..])).map(drop)
}

/// Executes the program in the root that this process is in; why it failed.
fn execute_here(job: &Job<'_>) -> Result<(), Refusal> {
    let trouble = |trouble| (UnmetCause::Refused, trouble);
    let kept = sys::mapped();
    let (arguments, environment) =
        (pointers(job.arguments).map_err(trouble)?, pointers(job.environment).map_err(trouble)?);
    let failed = |error: i32| kernel_refusal(format_args!("it can't be executed (error {error})"));
    let output = sys::memory_file(CStr::new(b"output\0")).map_err(failed)?;
    let mut error = 0;
    let ended = task::in_child(|| {
        error = become_program(job.executable, [arguments, environment], output);
        NOT_EXECUTED
    });
    // SAFETY: only the pointers were mapped since, which nobody uses any more.
    unsafe { sys::unmap_since(kept) };
    let said = Said::read(output);
    let _ = sys::close(output);
    let (name, said) = (name(job), said.text());
    match ended {
        Err(error) => Err(failed(error)),
        Ok((_, Ended::Exit(_))) if error != 0 => Err(failed(error)),
        Ok((_, Ended::Exit(0))) => Ok(()),
        Ok((_, Ended::Exit(code))) => {
            Err(kernel_refusal(format_args!("{name} ends with {code}: {said}")))
        }
        Ok((_, Ended::Signal(signal))) => {
            Err(kernel_refusal(format_args!("signal {signal} ends {name}: {said}")))
        }
    }
}

/// In the child: returns only if that fails, the error number.
fn become_program(executable: &[u8], words: [usize; 2], output: usize) -> i32 {
    let become_it = || {
        let input = sys::open(CStr::new(b"dev/null\0"), flag::O_RDONLY, 0)?;
        for (number, file) in [input, output, output].into_iter().enumerate() {
            sys::duplicate(file, number + HIGH)?;
        }
        for number in 0..3 {
            sys::duplicate(number + HIGH, number)?;
        }
        sys::change_root(HERE)?;
        sys::change_folder(TOP)?;
        let args = [executable.as_ptr() as usize, words[0], words[1], 0, 0, 0];
        // SAFETY: all strings are terminated, and both arrays; they live for good.
        unsafe { sys::checked(nr::EXECVE, args) }
    };
    become_it().err().unwrap_or(0)
}

/// Its name, as the user gave it.
fn name<'a>(job: &Job<'a>) -> &'a str {
    let first = Words::iter(&job.arguments).next().unwrap_or_default();
    let first = first.strip_suffix(&[0]).unwrap_or(first);
    let name = first.rsplit(|byte| *byte == b'/').next().unwrap_or(first);
    core::str::from_utf8(name).unwrap_or("?")
}

/// The beginning of what a program wrote, in one line.
struct Said {
    text: [u8; MAX_OUTPUT],
    length: usize,
}

impl Said {
    fn read(file: usize) -> Self {
        let mut text = [0; MAX_OUTPUT];
        let length = sys::read_at(file, &mut text, 0).unwrap_or(0);
        for byte in &mut text[..length] {
            if !(b' '..=b'~').contains(byte) {
                *byte = b' ';
            }
        }
        Self { text, length }
    }

    fn text(&self) -> &str {
        core::str::from_utf8(&self.text[..self.length]).unwrap_or("?").trim_end()
    }
}
