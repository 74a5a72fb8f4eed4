//! `file.*`: the shortest ways through the virtual file system.
//!
//! Proof: open yields a descriptor and close gives it back; read returns a zero where a poison
//! stood; write reports that it took the byte; stat fills in the size that the file was given.

use crate::{
    arch::stat,
    clock,
    failure::{Failure, Outcome, prove, unsupported},
    path::Kind::Windows,
    probe::{Probes, row},
    report::ProbeReport,
    sys::{self, CStr, flag, nr},
    text::Text,
};

pub(crate) const PROBES: Probes = &[
    row(
        "file.open-close",
        Windows(51),
        "open(2) and close(2) of a file in the root file system",
        open_close,
    ),
    row("file.read-zero", Windows(51), "read(2) of one byte of /dev/zero", read_zero),
    row("file.write-null", Windows(51), "write(2) of one byte to /dev/null", write_null),
    row("file.stat", Windows(51), "stat(2) of a file in the root file system", stat),
];

const CONTENT: &[u8] = b"sixteen bytes...";
const POISON: u8 = 0xa5;

/// The path of a file in the root folder, with another name in each run.
///
/// Linux finds a name in a hash table, by the name and the address of its folder. One name for all
/// runs would have the same neighbours in it in every window, and others on a kernel whose root
/// folder lies elsewhere.
pub(crate) struct FilePath(Text<20>);

impl FilePath {
    /// The path of this run whose name contains this word.
    pub(crate) fn of(report: &ProbeReport, word: &str) -> Self {
        let run = report.bits() & 0xffff;
        Self(Text::format(format_args!("/path-{word}-{run:04x}\0")))
    }

    /// The path, for a system call.
    pub(crate) fn as_c(&self) -> CStr<'_> {
        CStr::new(self.0.as_bytes())
    }

    /// Where its first byte is: a string that ends in NUL, as long as `self` lives.
    pub(crate) fn address(&self) -> usize {
        self.0.as_bytes().as_ptr() as usize
    }
}

fn open_close(report: &mut ProbeReport) -> Outcome {
    let file = make_file(report)?;
    let path = file.address();
    report.execute(|| {
        let (cost, (fd, closed)) = clock::window(|| {
            // SAFETY: the path is a C string that lives; the descriptor is the one just opened.
            unsafe {
                let fd = sys::call(nr::OPEN, [path, flag::O_RDONLY, 0, 0, 0, 0]);
                (fd, sys::call(nr::CLOSE, [fd, 0, 0, 0, 0, 0]))
            }
        });
        prove!(sys::sorted(fd).is_ok() && closed == 0, "open returned {fd:#x}, close {closed:#x}");
        Ok(cost)
    })
}

fn read_zero(report: &mut ProbeReport) -> Outcome {
    let fd = device(b"/dev/zero\0", flag::O_RDONLY)?;
    let mut byte = [POISON];
    report.execute(|| {
        byte[0] = POISON;
        let place = byte.as_mut_ptr() as usize;
        // SAFETY: the kernel writes one byte to `byte`.
        let (cost, got) = clock::window(|| unsafe { sys::call(nr::READ, [fd, place, 1, 0, 0, 0]) });
        let seen = core::hint::black_box(&byte)[0];
        prove!(got == 1 && seen == 0, "read returned {got:#x} and left {seen:#x}");
        Ok(cost)
    })
}

fn write_null(report: &mut ProbeReport) -> Outcome {
    let fd = device(b"/dev/null\0", flag::O_WRONLY)?;
    let byte = [POISON];
    report.execute(|| {
        let place = byte.as_ptr() as usize;
        // SAFETY: the kernel reads one byte of `byte`.
        let (cost, put) =
            clock::window(|| unsafe { sys::call(nr::WRITE, [fd, place, 1, 0, 0, 0]) });
        prove!(put == 1, "write returned {put:#x}");
        Ok(cost)
    })
}

/// `struct stat`.
#[repr(C, align(8))]
struct Stat {
    before: [u64; stat::SIZE],
    size: u64,
    after: [u64; stat::WORDS - stat::SIZE - 1],
}

fn stat(report: &mut ProbeReport) -> Outcome {
    let file = make_file(report)?;
    let path = file.address();
    let mut stat =
        Stat { before: [0; stat::SIZE], size: 0, after: [0; stat::WORDS - stat::SIZE - 1] };
    report.execute(|| {
        stat.size = u64::MAX;
        let place = &raw mut stat as usize;
        // SAFETY: the path is a C string that lives; the kernel fills in one `struct stat`.
        let (cost, raw) =
            clock::window(|| unsafe { sys::call(nr::STAT, [path, place, 0, 0, 0, 0]) });
        let size = core::hint::black_box(&stat).size;
        prove!(raw == 0 && size == CONTENT.len() as u64, "stat returned {raw:#x}, size {size}");
        Ok(cost)
    })
}

fn make_file(report: &ProbeReport) -> Result<FilePath, Failure> {
    let flags = flag::O_WRONLY | flag::O_CREAT | flag::O_TRUNC;
    let file = FilePath::of(report, "file");
    let made = sys::open(file.as_c(), flags, 0o600).and_then(|fd| {
        sys::write(fd, CONTENT)?;
        sys::close(fd)
    });
    match made {
        Ok(_) => Ok(file),
        Err(error) => unsupported!("no file could be made in the root file system (error {error})"),
    }
}

fn device(path: &'static [u8], flags: usize) -> Result<usize, Failure> {
    sys::open(CStr::new(path), flags, 0).or_else(|error| {
        let name = core::str::from_utf8(path).unwrap_or_default().trim_end_matches('\0');
        unsupported!("{name} can't be opened (error {error}): no such driver in this kernel")
    })
}
