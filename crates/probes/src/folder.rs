//! `file.*`: calls on files and folders in memory.
//!
//! Proof: a status has the file's size, or overwrites what stood in its place; what was opened or
//! duplicated can be closed once; what is created did not exist; a folder has the same entries in
//! every call. Whatever is made is removed again.

use crate::{
    failure::{Failure, Outcome, prove, tried},
    file::FilePath,
    path::Kind::Windows,
    probe::{Probes, row},
    report::ProbeReport,
    sys::{self, CStr, Ret, flag, nr},
    window,
};

pub(crate) const PROBES: Probes = &[
    row("file.fstat", Windows(13), "fstat of a file in memory", fstat),
    row("file.statx", Windows(13), "statx of a file in the root folder, in memory", statx),
    row("file.openat2-close", Windows(13), "openat2 of such a file, then close", openat2_close),
    row(
        "file.create-delete",
        Windows(13),
        "open that creates such a file, close, unlink",
        |report| create_delete(report, &[]),
    ),
    row(
        "file.create-delete+4k",
        Windows(7),
        "the same with a write of 4 KiB in between",
        |report| create_delete(report, &[POISON; 4096]),
    ),
    row(
        "file.close-range",
        Windows(13),
        "dup2 of eight descriptors, then close_range of them",
        close_range,
    ),
    row(
        "file.getdents",
        Windows(13),
        "lseek to the begin of a folder of ten files, then getdents64",
        getdents,
    ),
];

const CONTENT: &[u8] = b"sixteen bytes...";
const POISON: u8 = 0xa5;
const NEW: usize = flag::O_WRONLY | flag::O_CREAT | flag::O_EXCL;
const AT_FDCWD: usize = (-100_isize).cast_unsigned();

/// A call with a path, all else of which is a number.
fn with_path(number: usize, path: &[u8]) -> Ret {
    let path = if path.last() == Some(&0) { path } else { b"\0" };
    // SAFETY: the kernel reads a string that ends in NUL.
    unsafe { sys::checked(number, [path.as_ptr() as usize, 0, 0, 0, 0, 0]) }
}

fn unlink(path: &FilePath) -> Ret {
    // SAFETY: the kernel reads a string that ends in NUL.
    unsafe { sys::checked(nr::UNLINK, [path.address(), 0, 0, 0, 0, 0]) }
}

/// The path of the run's file in the root, where none is: a killed probe may have left one.
fn free_path(report: &ProbeReport) -> FilePath {
    let path = FilePath::of(report, "name");
    let _ = unlink(&path);
    path
}

/// The file, removed when this is dropped.
struct Made(FilePath);

impl Made {
    fn new(report: &ProbeReport) -> Result<Self, Failure> {
        let path = free_path(report);
        let file = tried("open of a file in the root", sys::open(path.as_c(), NEW, 0o600))?;
        let made = Self(path);
        tried("write", sys::write(file, CONTENT))?;
        let _ = sys::close(file);
        Ok(made)
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        let _ = unlink(&self.0);
    }
}

/// A file in memory without a name.
fn memory_file() -> Result<usize, Failure> {
    tried("memfd_create", sys::memory_file(CStr::new(b"pathmeter\0")))
}

fn fstat(report: &mut ProbeReport) -> Outcome {
    /// More words than any architecture's `struct stat` has.
    const WORDS: usize = 32;
    /// As inode number, the second word.
    const NOT_WRITTEN: u64 = u64::MAX;
    let file = memory_file()?;
    let mut status = [0_u64; WORDS];
    let place = status.as_mut_ptr();
    let outcome = window::each(report, || {
        // SAFETY: within `status`, where the kernel fills in one `struct stat`.
        unsafe {
            place.add(1).write_volatile(NOT_WRITTEN);
            let raw = sys::call(nr::FSTAT, [file, place as usize, 0, 0, 0, 0]);
            raw == 0 && place.add(1).read_volatile() != NOT_WRITTEN
        }
    });
    let _ = sys::close(file);
    outcome
}

/// `struct statx` as far as its size, in words of 64 bits.
#[repr(C)]
struct Statx {
    before: [u64; 5],
    size: u64,
    after: [u64; 26],
}

const _: () = assert!(size_of::<Statx>() == 256);

fn statx(report: &mut ProbeReport) -> Outcome {
    const BASIC: usize = 0x7ff;
    let file = Made::new(report)?;
    let mut status = Statx { before: [0; 5], size: 0, after: [0; 26] };
    let size = &raw mut status.size;
    let args = [AT_FDCWD, file.0.address(), 0, BASIC, &raw mut status as usize, 0];
    // SAFETY: the path is a C string that lives; the kernel fills in one `struct statx`. As below.
    tried("statx", unsafe { sys::checked(nr::STATX, args) })?;
    window::each(report, || {
        // SAFETY: as above; the size is part of the status.
        unsafe {
            size.write_volatile(u64::MAX);
            let raw = sys::call(nr::STATX, args);
            raw == 0 && size.read_volatile() == CONTENT.len() as u64
        }
    })
}

fn openat2_close(report: &mut ProbeReport) -> Outcome {
    /// `struct open_how`: flags, mode, resolve.
    const HOW: [u64; 3] = [flag::O_RDONLY as u64, 0, 0];
    let file = Made::new(report)?;
    let how = HOW;
    let args = [AT_FDCWD, file.0.address(), how.as_ptr() as usize, size_of_val(&how), 0, 0];
    // SAFETY: the kernel reads a C string that lives and one `struct open_how`; the same below.
    let once = || unsafe { sys::checked(nr::OPENAT2, args) }.and_then(sys::close);
    tried("openat2", once())?;
    window::each(report, || once().is_ok())
}

fn create_delete(report: &mut ProbeReport, content: &[u8]) -> Outcome {
    let path = free_path(report);
    let once = || -> Ret {
        let file = sys::open(path.as_c(), NEW, 0o600)?;
        let written = if content.is_empty() { Ok(0) } else { sys::write(file, content) };
        sys::close(file)?;
        unlink(&path)?;
        written
    };
    tried("a file in the root", once())?;
    window::each(report, || once() == Ok(content.len()))
}

fn close_range(report: &mut ProbeReport) -> Outcome {
    /// Numbers that nobody else uses.
    const FIRST: usize = 64;
    const LAST: usize = FIRST + 7;
    let file = memory_file()?;
    let once = || -> Ret {
        for number in FIRST..=LAST {
            sys::duplicate(file, number)?;
        }
        // SAFETY: closes what was just opened.
        unsafe { sys::checked(nr::CLOSE_RANGE, [FIRST, LAST, 0, 0, 0, 0]) }
    };
    tried("close_range", once())?;
    window::last(report, once, |closed| {
        let left = (FIRST..=LAST).filter(|number| sys::close(*number).is_ok()).count();
        prove!(closed == Ok(0) && left == 0, "close_range gave {closed:?} and left {left}");
        Ok(())
    })?;
    let _ = sys::close(file);
    Ok(())
}

const FOLDER: &[u8] = b"/pathmeter-folder\0";
/// How many files are in the folder.
const FILES: u8 = 10;

/// The name of the file with this number.
fn name(number: u8) -> [u8; FOLDER.len() + 2] {
    let mut name = *b"/pathmeter-folder/0\0";
    name[FOLDER.len()] += number;
    name
}

/// The folder with its files, removed when this is dropped.
struct Folder;

impl Folder {
    fn new() -> Result<Self, Failure> {
        // One that a killed probe has left.
        drop(Self);
        tried("mkdir in the root", sys::mkdir(CStr::new(FOLDER), 0o755))?;
        let folder = Self;
        for number in 0..FILES {
            let file = sys::open(CStr::new(&name(number)), NEW, 0o600);
            let _ = sys::close(tried("open", file)?);
        }
        Ok(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        for number in 0..FILES {
            let _ = with_path(nr::UNLINK, &name(number));
        }
        let _ = with_path(nr::RMDIR, FOLDER);
    }
}

fn getdents(report: &mut ProbeReport) -> Outcome {
    /// Of an entry with a name of one character, which is the shortest, `.` and `..` included.
    const ENTRY: usize = 24;
    const FROM_BEGIN: usize = 0;
    let _files = Folder::new()?;
    let folder = tried("open", sys::open(CStr::new(FOLDER), flag::O_RDONLY, 0))?;
    let mut buffer = [0; 1024];
    let mut once = || {
        sys::seek(folder, 0, FROM_BEGIN)?;
        sys::entries(folder, &mut buffer)
    };
    let whole = tried("getdents64", once())?;
    prove!(whole == (usize::from(FILES) + 2) * ENTRY, "the entries have {whole} bytes");
    let outcome = window::each(report, || once() == Ok(whole));
    let _ = sys::close(folder);
    outcome
}
